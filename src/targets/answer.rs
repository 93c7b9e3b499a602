//! Whether a target takes a node: yes, no, or not known.

use std::sync::Arc;

use super::profile::{Closed, Evidence, Known, Line, Profile};
use crate::rules::eval::Env;
use crate::rules::host::Host;
use crate::rules::matcher;

/// What is known of a node at a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is taken.
    Yes,
    /// It is not, and why.
    No(Refusal),
    /// Nothing tells.
    Unknown,
}

/// Why a target does not take a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// How it is known.
    pub evidence: Arc<Evidence>,
    /// What follows the operator: "is not taken where rank(X) == 5".
    pub why: String,
}

/// A node as it is asked about.
pub struct Asked<'a, H: Host> {
    /// Where it stands.
    pub host: &'a H,
    /// Which one it is there.
    pub node: H::Node,
    /// Its domain, `""` for ai.onnx.
    pub domain: &'a str,
    /// Its operator.
    pub op: &'a str,
    /// The first version of the epoch that it means; `None` where its operator has no schema.
    pub epoch: Option<u16>,
}

impl Profile {
    /// Whether the target takes a node. What is known better goes before; among what is known as well, what is
    /// refused goes before what is taken. Where a condition cannot be decided, nothing is known.
    pub fn ask<H: Host>(&self, asked: &Asked<H>) -> Answer {
        let lines = self.lines_of(asked.domain, asked.op);
        for known in Known::ALL {
            let here =
                || lines.iter().filter(|line| line.evidence.known == known && line.epoch == asked.epoch);
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
            if let Some(closed) = self.closed.iter().find(|closed| closed.evidence.known == known) {
                let why = otherwise(lines.iter().filter(|line| line.epoch == asked.epoch), closed);
                return Answer::No(Refusal { evidence: closed.evidence.clone(), why });
            }
        }
        Answer::Unknown
    }

    /// Whether all operators of a domain are known to be taken.
    fn takes_domain(&self, known: Known, domain: &str) -> bool {
        self.domains.iter().any(|(taken, evidence)| evidence.known == known && **taken == *domain)
    }
}

/// Whether all are true; `None` where that cannot be decided.
fn all(answers: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let answers: Vec<Option<bool>> = answers.collect();
    match answers.contains(&Some(false)) {
        true => Some(false),
        false => (!answers.contains(&None)).then_some(true),
    }
}

/// Why a node is refused that no line of those about its operator takes.
fn otherwise<'l>(lines: impl Iterator<Item = &'l Line>, closed: &Closed) -> String {
    let taken = lines.filter(|line| line.is_taken);
    let mut taken: Vec<&str> = taken.filter_map(|line| Some(&*line.test.as_ref()?.text)).collect();
    taken.dedup();
    match (taken.is_empty(), &closed.because) {
        (false, _) => format!("is taken only where {}", taken.join(", or ")),
        (true, Some(because)) => because.to_string(),
        (true, None) => "is not among the operators that are taken".to_owned(),
    }
}

impl Line {
    /// `None` where it cannot be decided.
    fn holds<H: Host>(&self, asked: &Asked<H>) -> Option<bool> {
        let Some(test) = &self.test else { return Some(true) };
        let found = matcher::find_at(asked.host, &test.direction, asked.node);
        let answer = |found| {
            let mut env = Env::new(asked.host, found);
            all(test.conditions.iter().map(|one| env.truth(one)))
        };
        if test.direction.pattern.nodes.len() == 1 {
            // Operands have their names in the order of the specification, which the first match has.
            return answer(found.first()?);
        }
        let misses = found.iter().map(|found| answer(found).map(|is_so| !is_so));
        all(misses).map(|is_missed| !is_missed)
    }

    fn refusal(&self) -> Refusal {
        let why = match (&self.because, &self.test) {
            (Some(because), _) => because.to_string(),
            (None, Some(test)) => format!("is not taken where {}", test.text),
            (None, None) => "is not taken".to_owned(),
        };
        Refusal { evidence: self.evidence.clone(), why }
    }
}
