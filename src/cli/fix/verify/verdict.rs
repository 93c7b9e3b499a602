//! What runs of both models come to, and how it is said.

use indexmap::IndexMap;

use super::compare::{Compared, Precision};
use super::finding;
use crate::diag::{Finding, Level};

/// What was seen of all runs.
#[derive(Debug, Default)]
pub struct Verdict {
    /// Whether there are sizes to choose, which then are said.
    has_sizes: bool,
    /// The unsafe fixes that were applied.
    unsafe_rules: Vec<String>,
    /// Why the input did not run, where it did not.
    pub refusal: String,
    /// Sizes at which the result runs, and the input does not.
    pub only_after: Vec<usize>,
    /// Sizes at which all that was compared is equal.
    equal: Vec<usize>,
    /// Sizes at which something is not, and what.
    changed: Vec<(usize, String)>,
    /// Each output, with how far it was from what it was before.
    outputs: IndexMap<String, Distance>,
}

/// How far an output was off at most.
#[derive(Clone, Debug, PartialEq)]
enum Distance {
    Random,
    None,
    Within { largest: f64, allowed: String },
}

fn sizes(sizes: &[usize]) -> String {
    let noun = if sizes.len() == 1 { "size" } else { "sizes" };
    let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
    format!("{noun} {}", sizes.join(", "))
}

impl Verdict {
    pub fn new(has_sizes: bool, unsafe_rules: Vec<String>) -> Self {
        Verdict { has_sizes, unsafe_rules, ..Verdict::default() }
    }

    /// What may have become of numbers.
    pub fn precision(&self) -> Precision {
        if self.unsafe_rules.is_empty() { Precision::Kept } else { Precision::Lowered }
    }

    /// At how many sizes both ran.
    pub fn runs(&self) -> usize {
        self.equal.len() + self.changed.len()
    }

    /// An output that differs from one run to the next before anything was changed.
    pub fn random(&mut self, name: &str) {
        self.outputs.insert(name.to_owned(), Distance::Random);
    }

    /// Takes in how an output compares; what differs.
    pub fn output(&mut self, name: &str, compared: Compared) -> Option<String> {
        let known = self.outputs.entry(name.to_owned()).or_insert(Distance::None);
        match (compared, &*known) {
            (Compared::Different(what), _) => return Some(format!("output `{name}`: {what}")),
            (Compared::Close { largest, .. }, Distance::Within { largest: known, .. })
                if largest <= *known => {}
            (Compared::Close { largest, allowed }, _) => *known = Distance::Within { largest, allowed },
            (Compared::Same, _) => {}
        }
        None
    }

    /// Both ran. An error where they differ, and no unsafe fix explains it.
    pub fn ran(&mut self, size: usize, differences: Vec<String>) -> Result<(), Box<Finding>> {
        let Some(first) = differences.into_iter().next() else {
            self.equal.push(size);
            return Ok(());
        };
        if self.unsafe_rules.is_empty() {
            let error = finding(Level::Error, format!("the results differ{}: {first}", self.at(&[size])));
            return Err(Box::new(
                error.help("this is a fault of onnx-fix: please report it, if possible with the model"),
            ));
        }
        self.changed.push((size, first));
        Ok(())
    }

    pub fn does_not_run(&self, size: usize, error: &str) -> Finding {
        let message = format!("the result does not run{}, as the input did: {error}", self.at(&[size]));
        let finding = finding(Level::Error, message);
        if self.unsafe_rules.is_empty() {
            return finding;
        }
        finding.help(format!("this is the doing of an unsafe fix: {}", self.unsafe_rules.join(", ")))
    }

    /// ` at sizes 2, 3`, where there are sizes.
    fn at(&self, at: &[usize]) -> String {
        if self.has_sizes { format!(" at {}", sizes(at)) } else { String::new() }
    }

    /// What is said in the end.
    pub fn findings(&self) -> Vec<Finding> {
        let mut said = Vec::new();
        let random = self.outputs.iter().filter(|(_, distance)| **distance == Distance::Random);
        said.extend(random.map(|(name, _)| {
            finding(Level::Info, format!("output `{name}` is not compared: it is random before already"))
        }));
        let is_compared = self.outputs.values().any(|distance| *distance != Distance::Random);
        match (self.runs(), is_compared) {
            (0, _) => {
                let message = format!(
                    "nothing could be compared: the input does not run on random data: {}",
                    self.refusal
                );
                said.push(finding(Level::Warning, message));
            }
            (_, false) => {
                let message = "nothing was compared: no output is the same in two runs of the input";
                said.push(finding(Level::Warning, message.to_owned()));
            }
            (_, true) => said.extend(self.compared()),
        }
        if !self.only_after.is_empty() {
            let at = sizes(&self.only_after);
            // What the input states is the only size that it takes.
            let why = if self.has_sizes { "where the input does not" } else { "which it leaves free" };
            said.push(finding(Level::Info, format!("the result runs at {at}, {why}")));
        }
        said
    }

    fn compared(&self) -> Vec<Finding> {
        let mut said = Vec::new();
        if !self.equal.is_empty() {
            let at = self.at(&self.equal);
            let message =
                format!("ONNX Runtime gives equal results before and after{at}: {}", self.distances());
            let equal = finding(Level::Info, message);
            let allowed = self.outputs.values().filter_map(|distance| match distance {
                Distance::Within { allowed, .. } => Some(allowed),
                _ => None,
            });
            said.push(match allowed.into_iter().next() {
                Some(allowed) => equal.note(format!("{allowed}: sums in another order round differently")),
                None => equal,
            });
        }
        if let Some((_, what)) = self.changed.first() {
            let at: Vec<usize> = self.changed.iter().map(|(size, _)| *size).collect();
            let rules = self.unsafe_rules.join(", ");
            let message =
                format!("the results differ{}, as an unsafe fix may change them: {what}", self.at(&at));
            said.push(finding(Level::Warning, message).note(format!("unsafe fixes applied: {rules}")));
        }
        said
    }

    /// `` `y` bit for bit, `z` within 3e-7 ``
    fn distances(&self) -> String {
        let outputs = self.outputs.iter().filter_map(|(name, distance)| match distance {
            Distance::Random => None,
            Distance::None => Some(format!("`{name}` bit for bit")),
            Distance::Within { largest, .. } => Some(format!("`{name}` within {largest:.1e}")),
        });
        outputs.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_faults_unless_an_unsafe_fix_was_asked_for() {
        let difference = || vec!["output `y`: element 0 was 1 and is 2".to_owned()];
        let mut safe = Verdict::new(true, Vec::new());
        let error = safe.ran(3, difference()).expect_err("a safe fix keeps results");
        assert_eq!(error.message, "the results differ at size 3: output `y`: element 0 was 1 and is 2");
        let mut risky = Verdict::new(true, vec!["FIX010 a-fix".to_owned()]);
        risky.output("y", Compared::Same);
        assert!(risky.ran(3, difference()).is_ok() && risky.ran(2, Vec::new()).is_ok());
        let said: Vec<String> = risky.findings().into_iter().map(|finding| finding.message).collect();
        let expected = [
            "ONNX Runtime gives equal results before and after at size 2: `y` bit for bit",
            "the results differ at size 3, as an unsafe fix may change them: output `y`: element 0 was 1 and is 2",
        ];
        assert_eq!(said, expected);
    }
}
