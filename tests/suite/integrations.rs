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

/// `Cargo.toml` sets the version; other files repeat it where their format requires it.
#[test]
fn all_files_have_the_version_of_the_workspace() {
    let version = env!("CARGO_PKG_VERSION");
    let expected = [
        ("editors/vscode/package.json", format!("\n  \"version\": \"{version}\",")),
        ("editors/vscode/package-lock.json", format!("\n  \"version\": \"{version}\",")),
        ("web/npm/package.json", format!("\n  \"version\": \"{version}\",")),
        (".pre-commit-hooks.yaml", format!("[\"onnx-lint=={version}\"]")),
        ("action.yml", format!("\n    default: {version}\n")),
        ("install.sh", format!("\nversion={version}\n")),
        ("docs/integrations.md", format!("rev: v{version}\n")),
        ("docs/integrations.md", format!("onnx-lint@v{version}\n")),
        ("CHANGELOG.md", format!("\n## [{version}] - ")),
        ("Cargo.toml", format!("\nversion = \"{version}\"\n")),
    ];
    for (name, text) in expected {
        assert!(file(name).contains(&text), "{name} does not contain {text:?}");
    }
    let manifests = ["Cargo.toml", "python/Cargo.toml", "web/Cargo.toml"].map(file);
    let others = manifests.iter().flat_map(|text| text.lines()).filter(|line| line.starts_with("version = "));
    assert_eq!(others.count(), 1, "a package of the workspace sets its own version");
    assert!(file("python/pyproject.toml").contains("dynamic = [\"version\"]"));
}

/// A build that names no commit prints the version alone.
#[test]
fn commands_print_their_version() {
    let sandbox = Sandbox::new(&[]);
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(sandbox.lint(&["--version"]).stdout, format!("onnx-lint {version}\n"));
    assert_eq!(sandbox.fix(&["--version"]).stdout, format!("onnx-fix {version}\n"));
    assert_eq!(sandbox.diff(&["--version"]).stdout, format!("onnx-diff {version}\n"));
}

/// The script of the action uses existing options.
#[test]
fn github_action_uses_existing_options() {
    let action = file("action.yml");
    let sandbox = Sandbox::new(&[("net.onnxtxt", FAULTY)]);
    let formats: Vec<&str> = action.lines().filter(|line| line.contains("format=(")).collect();
    assert_eq!(formats.len(), 2);
    for line in formats {
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
