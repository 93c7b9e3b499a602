//! Every constraint of an operator is violated by an example, which the linter reports.

use std::collections::BTreeSet;

use onnx_lint::graph::syntax::{self, Source};
use onnx_lint::lint::{LintOptions, lint_model};
use onnx_lint::schema::constraints::{self, Kind};

/// Examples, separated by empty lines: a line `# OPERATOR: constraint as written`, then a graph.
///
/// ONNX Runtime rejects these models, except those with a second comment, which paraphrases the specification.
const EXAMPLES: &str = include_str!("constraints.txt");

/// An example of a violated constraint.
struct Example {
    /// Operator and constraint, as in the first line.
    title: &'static str,
    text: &'static str,
}

fn examples() -> impl Iterator<Item = Example> {
    EXAMPLES.split("\n\n").filter_map(|example| {
        let (title, text) = example.trim().strip_prefix("# ")?.split_once('\n')?;
        Some(Example { title, text })
    })
}

#[test]
fn every_example_has_an_error() {
    let mut wrong = Vec::new();
    for Example { title, text } in examples() {
        let parsed = syntax::parse(&Source::new(title, text));
        assert_eq!(parsed.findings, [], "{title}");
        let findings = lint_model(&parsed.model.unwrap_or_default(), &LintOptions::default());
        let errors: Vec<_> = findings
            .iter()
            .filter(|finding| matches!(&*finding.code, "SHP001" | "SPC036" | "QDQ002" | "IDX004"))
            .collect();
        if errors.len() != 1 {
            wrong.push(format!("{title}: {errors:?}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_example_is_of_a_constraint() {
    let mut stale = Vec::new();
    for Example { title, .. } in examples() {
        let (op, text) = title.split_once(": ").unwrap_or_default();
        let mut domains = constraints::operators().into_iter().filter(|(_, name)| *name == op);
        let is_of = |domain| constraints::constraints(domain, op).iter().any(|line| line.text == text);
        if !domains.any(|(domain, _)| is_of(domain)) {
            stale.push(title);
        }
    }
    assert_eq!(stale, Vec::<&str>::new());
}

#[test]
fn every_constraint_has_an_example() {
    let shown: BTreeSet<&str> =
        examples().filter_map(|example| Some(example.title.split_once(": ")?.1)).collect();
    let mut missing = Vec::new();
    for (domain, op) in constraints::operators() {
        let lines = constraints::constraints(domain, op).iter();
        let lines = lines.filter(|line| !matches!(line.kind, Kind::Let(..)) && !shown.contains(line.text));
        missing.extend(lines.map(|line| format!("{op}: {}", line.text)));
    }
    assert_eq!(missing, Vec::<String>::new());
}
