//! `docs/pytorch.py`: faulty examples on the pages of rules have findings, fixed examples have none.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::tool::Sandbox;

/// Suffix in the heading of an example whose fault is not visible in Python alone.
const MODEL: &str = ", visible only in the model";

#[test]
fn pytorch_examples_of_rule_pages_match_the_findings() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/pytorch.py");
    let text = std::fs::read_to_string(path).expect("the file exists");
    let mut parts = text.split("\n# ");
    let imports = parts.next().expect("the imports above the first part");
    let sandbox = Sandbox::new(&[]);
    let mut shown: BTreeMap<String, bool> = BTreeMap::new();
    for part in parts {
        let (title, code) = part.split_once('\n').expect("a title");
        let (rule, which) = title.split_once(' ').expect("a rule, and before or after");
        let name = format!("{rule}-{}.py", which.trim_end_matches(MODEL));
        sandbox.write(&name, format!("{imports}\n{code}"));
        shown.insert(name, which == "before");
    }
    let ran = sandbox.lint(&[".", "--isolated", "--severity", "info", "--output-format", "json"]);
    let found: Vec<Value> =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    for (name, is_found) in &shown {
        let codes: Vec<&str> =
            found.iter().filter(|one| one["file"] == **name).filter_map(|one| one["code"].as_str()).collect();
        let expected = if *is_found { vec![&name[..6]] } else { Vec::new() };
        assert_eq!(codes, expected, "{name}");
    }
    assert!(shown.values().filter(|found| **found).count() > 12, "{shown:?}");
    for code in shown.keys().filter_map(|name| name.strip_suffix("-after.py")) {
        let page = sandbox.lint(&["--explain", code]).stdout;
        assert!(page.contains("\n## In PyTorch\n\nBefore:\n\n```python\n"), "{page}");
    }
}
