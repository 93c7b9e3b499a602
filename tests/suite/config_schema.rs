//! Tests that `editors/onnx-lint.schema.json` has exactly the keys of the configuration.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::tool::{Ran, SOUND, Sandbox};

fn schema() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/editors/onnx-lint.schema.json");
    serde_json::from_str(&std::fs::read_to_string(path).expect("the file exists")).expect("JSON")
}

/// Runs the tool with a configuration.
fn lint(config: &Value) -> Ran {
    let config = toml::to_string(config).expect("a table");
    let baseline = r#"{"version": 2, "findings": []}"#;
    let sandbox = Sandbox::new(&[("net.onnxtxt", SOUND), ("onnx-lint.toml", &config), ("src/net.py", "")]);
    sandbox.write("known.json", baseline);
    sandbox.lint(&["net.onnxtxt"])
}

/// Returns the keys in the error message for an unknown key.
fn expected(ran: &Ran) -> BTreeSet<String> {
    let (_, keys) = ran.stderr.split_once("expected one of ").unwrap_or_else(|| panic!("{ran:?}"));
    let keys = keys.lines().next().unwrap_or_default().split(", ");
    keys.map(|key| key.trim_matches('`').to_owned()).collect()
}

fn keys(properties: &Value) -> BTreeSet<String> {
    properties.as_object().expect("an object").keys().cloned().collect()
}

#[test]
fn schema_has_exactly_the_keys_of_the_configuration() {
    let schema = schema();
    assert_eq!(keys(&schema["properties"]), expected(&lint(&json!({ "no-such-key": 1 }))));
    let suppress = &schema["properties"]["suppress"]["items"]["properties"];
    let ran = lint(&json!({ "suppress": [{ "rules": ["EXP"], "no-such-key": 1 }] }));
    assert_eq!(keys(suppress), expected(&ran));
}

/// The tool accepts the examples in the schema, and rejects values of other types.
#[test]
fn schema_examples_are_accepted_and_other_types_rejected() {
    let schema = schema();
    for (key, property) in schema["properties"].as_object().expect("an object") {
        let with = |value: Value| Value::Object(Map::from_iter([(key.clone(), value)]));
        let examples = property["examples"].as_array().unwrap_or_else(|| panic!("{key} has no example"));
        for example in examples {
            let ran = lint(&with(example.clone()));
            assert!(!ran.stderr.contains("onnx-lint.toml"), "{key} = {example}: {ran:?}");
        }
        let ran = lint(&with(json!({ "a": { "b": true } })));
        assert!(ran.status == 2 && ran.stderr.contains("onnx-lint.toml"), "{key}: {ran:?}");
    }
}
