//! Collects the comparisons of all runs and reports them.

use indexmap::IndexMap;
use ort::value::TensorElementType;
use serde::Serialize;

use super::compare::{Compared, Precision};
use super::finding;
use crate::diag::{Finding, Level};

/// The promise that the second model must keep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Promise {
    /// Equal results.
    #[default]
    Equal,
    /// These unsafe fixes were applied.
    UnsafeFixes(Vec<String>),
    /// No promise: the models may be unrelated.
    Nothing,
}

impl Promise {
    /// Returns the unsafe fixes that were applied.
    fn unsafe_rules(&self) -> &[String] {
        match self {
            Promise::UnsafeFixes(rules) => rules,
            Promise::Equal | Promise::Nothing => &[],
        }
    }
}

/// The comparison of two unrelated models.
#[derive(Clone, Debug, Serialize)]
pub struct Seen {
    /// The engine that ran the models.
    pub by: &'static str,
    /// Whether the models have symbolic dimensions; without any, sizes have no meaning.
    pub has_sizes: bool,
    /// Sizes at which all compared outputs are equal.
    pub equal: Vec<usize>,
    /// Sizes at which an output differs or the second model fails, with a description.
    pub different: Vec<(usize, String)>,
    /// Differences within the tolerance, and reasons why outputs were not compared.
    pub notes: Vec<String>,
}

/// The observations of all runs.
#[derive(Debug, Default)]
pub struct Verdict {
    /// Whether there are symbolic dimensions; if so, messages name their sizes.
    has_sizes: bool,
    promise: Promise,
    /// The type that replaces float32.
    narrowed: Option<TensorElementType>,
    /// The error of the last failed run of the input model.
    pub refusal: String,
    /// Sizes at which the fixed model runs and the input model does not.
    pub only_after: Vec<usize>,
    /// Sizes at which all compared outputs are equal.
    equal: Vec<usize>,
    /// Sizes at which an output differs or the second model fails, with a description.
    changed: Vec<(usize, String)>,
    /// The maximum difference of each output between both models.
    outputs: IndexMap<String, Distance>,
}

/// The maximum difference of an output between both models, over all runs.
#[derive(Clone, Debug, PartialEq)]
enum Distance {
    Random,
    /// The elements cannot be read.
    Unread,
    None,
    Within {
        largest: f64,
        allowed: String,
    },
}

impl Distance {
    /// Returns the reason why an output was not compared; `None` if it was.
    fn obstacle(&self) -> Option<&'static str> {
        match self {
            Distance::Random => Some("it is random"),
            Distance::Unread => Some("its type has no elements that can be read"),
            Distance::None | Distance::Within { .. } => None,
        }
    }
}

fn too_coarse(ty: &str) -> String {
    format!("values of the model exceed the range or precision of {ty}: leave out --to")
}

fn sizes(sizes: &[usize]) -> String {
    let noun = if sizes.len() == 1 { "size" } else { "sizes" };
    let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
    format!("{noun} {}", sizes.join(", "))
}

impl Verdict {
    /// Returns an empty verdict.
    pub fn new(has_sizes: bool, promise: Promise) -> Self {
        Verdict { has_sizes, promise, ..Verdict::default() }
    }

    /// Sets the type that replaces float32.
    pub fn narrowed(self, narrowed: Option<TensorElementType>) -> Self {
        Verdict { narrowed, ..self }
    }

    /// Returns the observations without a judgment.
    pub fn into_seen(self) -> Seen {
        let mut notes: Vec<String> = self.not_compared().collect();
        let is_compared = self.is_compared();
        if self.runs() == 0 {
            notes.push(format!("the first model does not run on random inputs: {}", self.refusal));
        } else if is_compared && !self.equal.is_empty() {
            notes.push(self.distances());
        }
        // Without a comparison, no size counts as equal.
        let equal = if is_compared { self.equal } else { Vec::new() };
        Seen { by: "ONNX Runtime", has_sizes: self.has_sizes, equal, different: self.changed, notes }
    }

    /// Returns the loss of precision that the changes may cause.
    pub fn precision(&self) -> Precision {
        match self.narrowed {
            Some(narrowed) => Precision::Narrowed(narrowed),
            None if self.promise.unsafe_rules().is_empty() => Precision::Kept,
            None => Precision::Lowered,
        }
    }

    /// Returns a sentence for each output that was not compared.
    fn not_compared(&self) -> impl Iterator<Item = String> {
        let obstacles = self.outputs.iter().filter_map(|(name, distance)| Some((name, distance.obstacle()?)));
        obstacles.map(|(name, why)| format!("output `{name}` is not compared: {why}"))
    }

    /// Returns true if an output was compared.
    fn is_compared(&self) -> bool {
        self.outputs.values().any(|distance| distance.obstacle().is_none())
    }

    /// Returns the number of recorded runs of both models.
    pub fn runs(&self) -> usize {
        self.equal.len() + self.changed.len()
    }

    /// Records an output that is random in the input model.
    pub fn random(&mut self, name: &str) {
        self.outputs.insert(name.to_owned(), Distance::Random);
    }

    /// Records the comparison of an output; returns a description if it differs.
    pub fn output(&mut self, name: &str, compared: Compared) -> Option<String> {
        let known = self.outputs.entry(name.to_owned()).or_insert(Distance::None);
        match (compared, &*known) {
            (Compared::Different(what), _) => return Some(format!("output `{name}`: {what}")),
            (Compared::Close { largest, .. }, Distance::Within { largest: known, .. })
                if largest <= *known => {}
            (Compared::Close { largest, allowed }, _) => *known = Distance::Within { largest, allowed },
            (Compared::Unread, _) => *known = Distance::Unread,
            (Compared::Same, _) => {}
        }
        None
    }

    /// Records a run of both models. Fails if their outputs differ although equal outputs are promised.
    pub fn ran(&mut self, size: usize, differences: Vec<String>) -> Result<(), Box<Finding>> {
        let Some(first) = differences.into_iter().next() else {
            self.equal.push(size);
            return Ok(());
        };
        if self.promise == Promise::Equal {
            let error = finding(Level::Error, format!("the results differ{}: {first}", self.at(&[size])));
            return Err(Box::new(error.help(match self.narrowed {
                Some(TensorElementType::Bfloat16) => too_coarse("bfloat16"),
                Some(_) => too_coarse("float16"),
                None => "a rule of `--rules` may be wrong: run without it; otherwise, please report this bug of onnx-fix, if possible \
                         with the model"
                    .to_owned(),
            })));
        }
        self.changed.push((size, first));
        Ok(())
    }

    /// Records that the second model fails on inputs that the first accepts.
    /// The failure is an error unless the promise is [`Promise::Nothing`].
    pub fn does_not_run(&mut self, size: usize, error: &str) -> Result<(), Box<Finding>> {
        if self.promise == Promise::Nothing {
            self.changed.push((size, format!("the second model does not run: {error}")));
            return Ok(());
        }
        let message =
            format!("the fixed model does not run{}, but the input model does: {error}", self.at(&[size]));
        let finding = finding(Level::Error, message);
        let rules = self.promise.unsafe_rules();
        Err(Box::new(match rules.is_empty() {
            true => finding,
            false => finding
                .help(format!("run onnx-fix without --unsafe-fixes, which applied {}", rules.join(", "))),
        }))
    }

    /// Returns the sizes as text (` at sizes 2, 3`); empty if the models have no symbolic dimensions.
    fn at(&self, at: &[usize]) -> String {
        if self.has_sizes { format!(" at {}", sizes(at)) } else { String::new() }
    }

    /// Returns the findings of the whole comparison.
    pub fn findings(&self) -> Vec<Finding> {
        let mut said = Vec::new();
        said.extend(self.not_compared().map(|why| finding(Level::Info, why)));
        match (self.runs(), self.is_compared()) {
            (0, _) => {
                let message = format!(
                    "no output was compared: the input model does not run on random inputs: {}",
                    self.refusal
                );
                said.push(finding(Level::Warning, message));
            }
            (_, false) => {
                let is_random = |distance: &Distance| *distance == Distance::Random;
                let why = match self.outputs.values().all(is_random) {
                    true => "each output is random",
                    false => "no output can be compared",
                };
                said.push(finding(Level::Warning, format!("no output was compared: {why}")));
            }
            (_, true) => said.extend(self.compared()),
        }
        if !self.only_after.is_empty() {
            let at = sizes(&self.only_after);
            // An input model without symbolic dimensions runs only at its static sizes.
            let why = if self.has_sizes {
                "at which the input model does not run"
            } else {
                "but the input model runs only at its static sizes"
            };
            said.push(finding(Level::Info, format!("the fixed model runs at {at}, {why}")));
        }
        said
    }

    fn compared(&self) -> Vec<Finding> {
        let mut said = Vec::new();
        if !self.equal.is_empty() {
            let at = self.at(&self.equal);
            let what = if self.narrowed.is_some() {
                "results equal within the precision of the type"
            } else {
                "equal results"
            };
            let message = format!("ONNX Runtime gives {what} before and after{at}: {}", self.distances());
            let equal = finding(Level::Info, message);
            let allowed = self.outputs.values().filter_map(|distance| match distance {
                Distance::Within { allowed, .. } => Some(allowed),
                _ => None,
            });
            said.push(match allowed.into_iter().next() {
                Some(allowed) if self.narrowed.is_some() => equal.note(allowed.clone()),
                Some(allowed) => {
                    equal.note(format!("{allowed}: sums in a different order round differently"))
                }
                None => equal,
            });
        }
        if let Some((_, what)) = self.changed.first() {
            let at: Vec<usize> = self.changed.iter().map(|(size, _)| *size).collect();
            let rules = self.promise.unsafe_rules().join(", ");
            let message =
                format!("the results differ{}, as an unsafe fix may change them: {what}", self.at(&at));
            said.push(finding(Level::Warning, message).note(format!("unsafe fixes applied: {rules}")));
        }
        said
    }

    /// Returns the differences of compared outputs, such as `` `y` exactly, `z` within 3.0e-7 ``.
    fn distances(&self) -> String {
        let outputs = self.outputs.iter().filter_map(|(name, distance)| match distance {
            Distance::Random | Distance::Unread => None,
            Distance::None => Some(format!("`{name}` exactly")),
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
        let mut safe = Verdict::new(true, Promise::Equal);
        let error = safe.ran(3, difference()).expect_err("a safe fix keeps results");
        assert_eq!(error.message, "the results differ at size 3: output `y`: element 0 was 1 and is 2");
        let mut risky = Verdict::new(true, Promise::UnsafeFixes(vec!["FIX010 a-fix".to_owned()]));
        risky.output("y", Compared::Same);
        assert!(risky.ran(3, difference()).is_ok() && risky.ran(2, Vec::new()).is_ok());
        let said: Vec<String> = risky.findings().into_iter().map(|finding| finding.message).collect();
        let expected = [
            "ONNX Runtime gives equal results before and after at size 2: `y` exactly",
            "the results differ at size 3, as an unsafe fix may change them: output `y`: element 0 was 1 and is 2",
        ];
        assert_eq!(said, expected);
    }
}
