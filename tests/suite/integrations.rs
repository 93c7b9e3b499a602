//! Integrations: the pre-commit hook, shell completions, man pages, and the GitHub Action.

use crate::tool::{FAULTY, SOUND, Sandbox};

fn file(name: &str) -> String {
    let path = format!("{}/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the value of a key in a YAML file, on the only line with that key.
fn value<'t>(yaml: &'t str, key: &str) -> &'t str {
    let mut lines = yaml.lines().filter_map(|line| line.trim().strip_prefix(key)?.strip_prefix(": "));
    let found = lines.next().unwrap_or_else(|| panic!("the file has no `{key}`"));
    assert!(lines.next().is_none(), "the file has more than one `{key}`");
    found
}

/// Runs the entry of the hook as pre-commit does.
/// The arguments are the files of a commit that match the pattern of the hook.
#[test]
fn pre_commit_hook_fails_only_on_new_findings() {
    let hooks = file(".pre-commit-hooks.yaml");
    let entry: Vec<&str> = value(&hooks, "entry").split(' ').collect();
    let [tool, options @ ..] = &entry[..] else { panic!("no entry") };
    assert_eq!(*tool, "onnx-lint");
    let pattern = value(&hooks, "files");
    let endings: Vec<&str> = pattern.split(['(', ')']).nth(1).expect("the endings").split('|').collect();
    let takes = |name: &str| name.rsplit('.').next().is_some_and(|ending| endings.contains(&ending));
    let sandbox = Sandbox::new(&[
        (".git/HEAD", ""),
        ("pyproject.toml", "[tool.onnx-lint]\nbaseline = \"known.json\"\nexclude = [\"third_party\"]\n"),
        ("models/known.onnxtxt", FAULTY),
        ("models/sound.onnxtxt", SOUND),
        ("third_party/theirs.onnxtxt", FAULTY),
    ]);
    assert_eq!(sandbox.lint(&["models", "--baseline", "known.json", "--write-baseline"]).status, 0);
    sandbox.write("models/new.onnxtxt", FAULTY);
    let commit = |files: &[&str]| {
        assert!(files.iter().all(|file| takes(file)), "{files:?}");
        sandbox.lint(&[options, files].concat())
    };
    let known = commit(&["models/known.onnxtxt", "models/sound.onnxtxt", "third_party/theirs.onnxtxt"]);
    assert_eq!((known.status, known.stdout.as_str()), (0, "All checks passed.\n"), "{known:?}");
    let new = commit(&["models/known.onnxtxt", "models/new.onnxtxt"]);
    assert_eq!(new.status, 1);
    assert!(new.stdout.contains("models/new.onnxtxt") && !new.stdout.contains("models/known"), "{new:?}");
    assert_eq!(commit(&["third_party/theirs.onnxtxt"]).status, 0);
}

/// The script of the action uses existing options.
#[test]
fn github_action_uses_existing_options() {
    let action = file("action.yml");
    let sandbox = Sandbox::new(&[("net.onnxtxt", FAULTY)]);
    for line in action.lines().filter(|line| line.contains("format=(")) {
        let options = line
            .split(['(', ')'])
            .nth(1)
            .expect("the content of the brackets")
            .replace("\"$SARIF\"", "out.sarif");
        let options: Vec<&str> = options.split(' ').collect();
        assert_eq!(sandbox.lint(&[&options[..], &["net.onnxtxt"]].concat()).status, 1, "{options:?}");
    }
    assert!(String::from_utf8_lossy(&sandbox.read("out.sarif")).contains("SPC012"));
}

#[test]
fn completions_and_man_pages_have_the_options() {
    let sandbox = Sandbox::new(&[]);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let lint = sandbox.lint(&["--generate", shell]);
        assert!(lint.status == 0 && lint.stdout.contains("path-map"), "{shell}: {lint:?}");
        let diff = sandbox.diff(&["--generate", shell]);
        assert!(diff.status == 0 && diff.stdout.contains("output-format"), "{shell}: {diff:?}");
        let fix = sandbox.fix(&["--generate", shell]);
        assert!(fix.status == 0 && fix.stdout.contains("unsafe-fixes"), "{shell}: {fix:?}");
    }
    let page = sandbox.fix(&["--generate", "man"]).stdout;
    assert!(page.contains(".TH onnx-fix 1") && page.contains("unsafe\\-fixes"), "{page}");
    assert_eq!(sandbox.lint(&["--generate", "tcsh"]).status, 2);
}
