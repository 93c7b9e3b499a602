//! The status of rules: previews, and deprecated rules with a successor.

use std::ffi::OsStr;
use std::path::Path;

use serde_json::Value;

use crate::tool::{Ran, SOUND, Sandbox};

const TWICE: &str = "<ir_version: 8, opset_import: [\"\" : 17]>\n\
    main (float[N,4] x) => (float[N,4] y) {\n  t = Abs (x)\n  y = Abs (t)\n}\n";

/// Returns a rule file with one rule of this status about two Abs.
fn rule(status: &str) -> String {
    format!(
        "language 3\n\n## Removes an Abs of an Abs.\nrule ZZZ100 absolute-twice {{\n  {status}\n  severity warning\n  \
         phase simplify\n  safety exact\n  message \"`{{x}}` is made absolute twice\"\n  help \"remove one Abs\"\n  \
         match {{ y = Abs (Abs (x)) }}\n  rewrite {{ y = Abs (x) }}\n  \
         example \"twice\" {{ g (float[A] x) => (float[A] y) {{ t = Abs (x)  y = Abs (t) }} }} equivalent\n  \
         example \"once\" {{ g (float[A] x) => (float[A] y) {{ t = Neg (x)  y = Abs (t) }} }} no_match\n}}\n"
    )
}

fn sandbox(status: &str) -> Sandbox {
    Sandbox::new(&[("net.onnxtxt", TWICE), ("own/own.rule", &rule(status))])
}

fn lint(sandbox: &Sandbox, arguments: &[&str]) -> Ran {
    sandbox.lint(&[&["net.onnxtxt", "--rules", "own", "--ignore", "OPT"], arguments].concat())
}

#[test]
fn preview_is_reported_and_fixed_only_with_the_option() {
    let sandbox = sandbox("status preview");
    let without = lint(&sandbox, &[]);
    assert_eq!((without.status, &*without.stderr), (0, ""), "{without:?}");
    let with = lint(&sandbox, &["--preview"]);
    assert_eq!(with.status, 1, "{with:?}");
    assert!(with.stdout.contains("ZZZ100"), "{with:?}");

    let selected = lint(&sandbox, &["--select", "ZZZ100"]);
    let warning = "warning: --select: ZZZ100 (absolute-twice) is a preview, which only --preview applies\n";
    assert_eq!((selected.status, &*selected.stderr), (0, warning));
    let family = lint(&sandbox, &["--select", "ZZZ"]);
    assert_eq!((family.status, &*family.stderr), (0, ""), "{family:?}");

    let fix = |arguments: &[&str]| {
        sandbox.fix(&[&["net.onnxtxt", "--rules", "own", "--ignore", "OPT", "--check"], arguments].concat())
    };
    assert_eq!(fix(&[]).status, 0, "{:?}", fix(&[]));
    assert_eq!(fix(&["--preview"]).status, 1, "{:?}", fix(&["--preview"]));

    sandbox.write("onnx-lint.toml", "preview = true\nrules = [\"own\"]\nignore = [\"OPT\"]\n");
    assert_eq!(sandbox.lint(&["net.onnxtxt"]).status, 1);
    assert_eq!(sandbox.fix(&["net.onnxtxt", "--check"]).status, 1);
    assert_eq!(sandbox.lint(&["net.onnxtxt", "--isolated"]).status, 0);
}

#[test]
fn deprecated_rule_is_applied_with_a_warning_that_names_its_successor() {
    let sandbox = sandbox("status deprecated by OPT102");
    let plain = lint(&sandbox, &[]);
    assert_eq!((plain.status, &*plain.stderr), (1, ""), "{plain:?}");
    for word in ["ZZZ100", "absolute-twice"] {
        let selected = lint(&sandbox, &["--select", word]);
        let warning = "warning: --select: ZZZ100 (absolute-twice) is deprecated; use OPT102\n";
        assert_eq!((selected.status, &*selected.stderr), (1, warning), "{selected:?}");
    }
    let extended = lint(&sandbox, &["--extend-select", "ZZZ100"]);
    assert!(extended.stderr.starts_with("warning: --extend-select: ZZZ100"), "{extended:?}");
    let fixed = sandbox.fix(&["net.onnxtxt", "--rules", "own", "--select", "ZZZ100", "--check"]);
    assert!(fixed.stderr.contains("is deprecated; use OPT102"), "{fixed:?}");
    sandbox.write("onnx-lint.toml", "rules = [\"own\"]\nselect = [\"ZZZ100\"]\n");
    let configured = sandbox.lint(&["net.onnxtxt"]);
    assert!(configured.stderr.starts_with("warning: `select` in "), "{configured:?}");
}

#[test]
fn lists_and_pages_show_the_status() {
    let sandbox = sandbox("status deprecated by OPT102");
    let list = |format: &[&str]| {
        sandbox.lint(&[&["--list-rules", "--rules", "own", "--select", "ZZZ,OPT101"], format].concat()).stdout
    };
    assert!(list(&[]).contains("Removes an Abs of an Abs. [deprecated: use OPT102]\n"), "{}", list(&[]));
    let rules: Value = serde_json::from_str(&list(&["--output-format", "json"])).expect("JSON");
    let status = |at: usize| (rules[at]["status"].as_str(), rules[at]["successor"].as_str());
    assert_eq!(status(0), (Some("stable"), None));
    assert_eq!(status(1), (Some("deprecated"), Some("OPT102")));
    let page = sandbox.lint(&["--explain", "ZZZ100", "--rules", "own"]).stdout;
    assert!(page.contains("\nStatus: deprecated: use OPT102.\n"), "{page}");
}

#[test]
fn faulty_status_is_an_error_of_the_rule() {
    for (status, message) in [
        ("status prevew", "`prevew` is not a valid status; did you mean `preview`?"),
        ("status deprecated by abc", "`abc` is not a rule code"),
        ("status stable\n  status preview", "`status` is given twice"),
    ] {
        let ran = lint(&sandbox(status), &[]);
        assert_eq!(ran.status, 2, "{ran:?}");
        assert!(ran.stderr.contains(message), "{message}: {}", ran.stderr);
    }
}

/// Copies the rule files below a folder, with changed texts.
fn copied(from: &Path, to: &Path, change: &dyn Fn(String) -> String) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copied(&path, &target, change);
        } else if path.extension().is_some_and(|end| end == "rule") {
            std::fs::write(target, change(std::fs::read_to_string(&path).expect("a text"))).expect("a file");
        }
    }
}

#[test]
fn built_in_rules_and_analyses_can_be_previews() {
    let sandbox = Sandbox::new(&[("net.onnxtxt", TWICE), ("sound.onnxtxt", SOUND)]);
    let faulty = SOUND.replace("Relu (x)", "Add (x, ghost)");
    sandbox.write("faulty.onnxtxt", faulty);
    let change = |text: String| {
        let head = |text: &str, code: &str| {
            text.find(&format!("rule {code} ")).map(|at| at + text[at..].find('{').unwrap_or(0) + 1)
        };
        let mut text = text;
        for code in ["SPC012", "OPT101"] {
            if let Some(at) = head(&text, code) {
                text.insert_str(at, "\n  status preview");
            }
        }
        text
    };
    copied(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/rules")), &sandbox.path("rules"), &change);
    let folder = sandbox.path("rules");
    let environment: [(&str, &OsStr); 1] = [("ONNX_LINT_RULES", folder.as_os_str())];
    let lint = |arguments: &[&str]| sandbox.lint_with(arguments, &environment);
    assert!(lint(&["faulty.onnxtxt", "--preview"]).stdout.contains("SPC012"));
    assert_eq!(lint(&["faulty.onnxtxt"]).status, 0, "{:?}", lint(&["faulty.onnxtxt"]));
    let listed = lint(&["--list-rules", "--select", "SPC012,OPT101"]).stdout;
    assert_eq!(listed.matches("[preview: applied only with --preview]").count(), 2, "{listed}");
}
