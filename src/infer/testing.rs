//! Test helpers that compare inferred facts of textual models.

use super::driver::{Facts, Options, infer};
use crate::graph::Model;
use crate::read;

/// Opset version of graphs without a header.
const OPSET: i64 = 23;

fn model(text: &str) -> Model {
    let whole = match text.trim_start().starts_with('<') {
        true => text.to_owned(),
        false => format!(
            "<ir_version: 10, opset_import: [\"\" : {OPSET}, \"ai.onnx.ml\" : 5, \"com.microsoft\" : 1]>\n{text}"
        ),
    };
    let (model, findings) = read::text::read(&whole);
    assert!(findings.is_empty(), "{findings:?}\n{whole}");
    model.expect("a model")
}

fn facts(model: &Model) -> Facts {
    infer(model, Options::default())
}

/// Infers a model, or a graph at [`OPSET`], and asserts facts of its values and that it has no faults.
///
/// An expected fact is `name: float[n, 4]` for a type, or `name = [n, 4]` for the elements of an integer tensor.
#[track_caller]
pub fn check(text: &str, expected: &[&str]) {
    let model = model(text);
    let facts = facts(&model);
    let faults: Vec<String> = facts.faults.iter().map(|(_, fault)| fault.to_string()).collect();
    assert!(faults.is_empty(), "{faults:?}");
    for line in expected {
        let by_value = line.split_once(" = ");
        let (name, wanted) =
            by_value.or_else(|| line.split_once(": ")).expect("`name: type` or `name = value`");
        let found = model.values.iter().find(|(_, value)| &*value.name == name);
        let (id, _) = found.unwrap_or_else(|| panic!("no value {name}"));
        let said = match by_value {
            Some(_) => {
                facts[id].as_ints().map_or("?".to_owned(), |elements| super::Shape::new(elements).to_string())
            }
            None => facts[id].to_string(),
        };
        assert_eq!(said, wanted, "{name}");
    }
}

/// Runs inference on a graph of one node, and asserts the facts of its outputs.
/// `expected` separates the facts by `; `.
#[track_caller]
pub fn check_call(inputs: &str, call: &str, expected: &str) {
    let outputs: Vec<String> = (0..expected.split("; ").count()).map(|at| format!("y{at}")).collect();
    let list = outputs.join(", ");
    let lines: Vec<String> =
        outputs.iter().zip(expected.split("; ")).map(|(name, fact)| format!("{name}: {fact}")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    check(&format!("g ({inputs}) => ({list}) {{ {list} = {call} }}"), &lines);
}

/// Runs inference on a model or graph, and asserts the texts of its faults.
#[track_caller]
pub fn check_faults(text: &str, expected: &[&str]) {
    let model = model(text);
    let found: Vec<String> = facts(&model).faults.iter().map(|(_, fault)| fault.to_string()).collect();
    assert_eq!(found, expected);
}

/// Infers a model or graph, and asserts the declared types that contradict the inferred ones.
#[track_caller]
pub fn check_contradictions(text: &str, expected: &[&str]) {
    let model = model(text);
    let facts = facts(&model);
    let found: Vec<String> = facts
        .contradictions
        .iter()
        .map(|c| format!("{}: {} is {}: {}", model.values[c.value].name, c.declared, c.inferred, c.what))
        .collect();
    assert_eq!(found, expected);
}
