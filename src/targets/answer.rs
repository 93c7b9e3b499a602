//! Support of a node by a target: yes, no, or unknown.

use std::sync::Arc;

use super::profile::{Closed, Evidence, EvidenceKind, Line, Profile};
use crate::rules::eval::Env;
use crate::rules::host::Host;
use crate::rules::matcher;

/// Support of a node by a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The node is supported.
    Yes,
    /// The node is not supported, for the given reason.
    No(Refusal),
    /// Support is unknown.
    Unknown,
}

/// Reason why a target does not support a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Evidence for the lack of support.
    pub evidence: Arc<Evidence>,
    /// Reason, as the predicate of a sentence about the operator: "is not supported where rank(X) == 5".
    pub why: String,
}

/// Node whose support is queried.
pub struct Query<'a, H: Host> {
    /// Graph or e-graph that contains the node.
    pub host: &'a H,
    /// The node in `host`.
    pub node: H::Node,
    /// Domain of the operator, `""` for ai.onnx.
    pub domain: &'a str,
    /// Name of the operator.
    pub op: &'a str,
    /// [`crate::schema::Schema::epoch`] of the node; `None` if the operator has no schema.
    pub epoch: Option<u16>,
}

impl Profile {
    /// Returns whether the target supports a node.
    ///
    /// Stronger evidence takes precedence; for equal evidence, lines that exclude a node come first. Among
    /// lines of equal evidence and verdict, a line that applies decides; if none applies and one is
    /// undecided, support is unknown. It is also unknown if no line, supported domain or complete list
    /// covers the node.
    pub fn ask<H: Host>(&self, asked: &Query<H>) -> Answer {
        let lines = self.lines_of(asked.domain, asked.op);
        for known in EvidenceKind::ALL {
            let here =
                || lines.iter().filter(|line| line.evidence.kind == known && line.epoch == asked.epoch);
            for is_taken in [false, true] {
                let mut is_open = false;
                for line in here().filter(|line| line.is_taken == is_taken) {
                    match line.holds(asked) {
                        Some(true) if is_taken => return Answer::Yes,
                        Some(true) => return Answer::No(line.refusal()),
                        Some(false) => {}
                        None => is_open = true,
                    }
                }
                if is_open {
                    return Answer::Unknown;
                }
            }
            if asked.epoch.is_some() && self.takes_domain(known, asked.domain) {
                return Answer::Yes;
            }
            if let Some(closed) = self.closed.iter().find(|closed| closed.evidence.kind == known) {
                let why = otherwise(lines.iter().filter(|line| line.epoch == asked.epoch), closed);
                return Answer::No(Refusal { evidence: closed.evidence.clone(), why });
            }
        }
        Answer::Unknown
    }

    /// Returns true if evidence of this kind states that all operators of a domain are supported.
    fn takes_domain(&self, known: EvidenceKind, domain: &str) -> bool {
        self.domains.iter().any(|(taken, evidence)| evidence.kind == known && **taken == *domain)
    }
}

/// Returns whether all items are true; `None` if no item is false and some item is `None`.
fn all(answers: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let answers: Vec<Option<bool>> = answers.collect();
    match answers.contains(&Some(false)) {
        true => Some(false),
        false => (!answers.contains(&None)).then_some(true),
    }
}

/// Returns the reason why a node is not supported if no line of a complete list applies to it.
fn otherwise<'l>(lines: impl Iterator<Item = &'l Line>, closed: &Closed) -> String {
    let taken = lines.filter(|line| line.is_taken);
    let mut taken: Vec<&str> = taken.filter_map(|line| Some(&*line.test.as_ref()?.text)).collect();
    taken.dedup();
    match (taken.is_empty(), &closed.because) {
        (false, _) => format!("is only supported where {}", taken.join(", or ")),
        (true, Some(because)) => because.to_string(),
        (true, None) => "is not listed as supported".to_owned(),
    }
}

impl Line {
    /// Evaluates the test of a line; `None` if the test is undecided.
    fn holds<H: Host>(&self, asked: &Query<H>) -> Option<bool> {
        let Some(test) = &self.test else { return Some(true) };
        let found = matcher::find_at(asked.host, &test.direction, asked.node);
        let answer = |found| {
            let mut env = Env::new(asked.host, found);
            all(test.conditions.iter().map(|one| env.truth(one)))
        };
        if test.direction.pattern.nodes.len() == 1 {
            // Commutative operands match in two orders; the first match has the order of the specification.
            return answer(found.first()?);
        }
        let misses = found.iter().map(|found| answer(found).map(|is_so| !is_so));
        all(misses).map(|is_missed| !is_missed)
    }

    fn refusal(&self) -> Refusal {
        let why = match (&self.because, &self.test) {
            (Some(because), _) => because.to_string(),
            (None, Some(test)) => format!("is not supported where {}", test.text),
            (None, None) => "is not supported".to_owned(),
        };
        Refusal { evidence: self.evidence.clone(), why }
    }
}
