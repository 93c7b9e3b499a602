//! All rules that there are: those of the rule files, and those about evidence that is no graph.

use std::collections::BTreeMap;
use std::io::stderr;
use std::path::PathBuf;
use std::sync::Arc;

use super::{Failure, output};
use crate::diag::{Finding, Level, render};
use crate::graph::syntax::suggest::{closest, counted};
use crate::lint::builtin;
use crate::rules::registry::RuleSet;

/// A rule, as far as the command line has to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    pub name: String,
    pub level: Level,
    /// "safe" or "unsafe", where onnx-fix does something about it.
    pub fix: Option<&'static str>,
    pub summary: String,
}

/// Every rule, by its code.
#[derive(Clone, Debug)]
pub struct Catalogue {
    known: BTreeMap<String, Known>,
    rules: Arc<RuleSet>,
}

/// How much of the rules that are built in is read; their codes and names are known in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Those that say something of a model.
    Linting,
    /// All, without examples, and without their places in their files.
    Fixing,
    /// All, with their examples.
    Pages,
}

/// A row of the table below: code, name, level, summary.
type Row = (&'static str, &'static str, Level, &'static str);

/// Rules about evidence other than a graph, and about reading itself.
const EVIDENCE: [Row; 35] = [
    ("DTY002", "float64-promotion", Level::Warning, "A region is computed in double between floats."),
    ("EXP001", "baked-shape", Level::Error, "A constant stands where a free dimension flows."),
    ("EXP002", "item-baked", Level::Warning, "The value of a tensor became a constant."),
    ("EXP003", "in-place-shape-alias", Level::Error, "Changing a copy of a size changed the size itself."),
    ("EXP004", "in-place-view-lost", Level::Error, "A write into a view has no effect on what it views."),
    ("EXP005", "numpy-constant", Level::Warning, "A NumPy or Python value became a constant."),
    ("EXP006", "traced-branch", Level::Warning, "Only one way of an `if` on a tensor was exported."),
    ("EXP007", "unrolled-loop", Level::Warning, "A loop was unrolled for the traced length."),
    ("EXP008", "dropped-input", Level::Warning, "An input of `forward` takes no part."),
    ("EXP009", "constant-output", Level::Warning, "An output depends on no input."),
    ("EXP010", "training-mode", Level::Error, "A layer was exported in training mode."),
    ("EXP011", "dict-output", Level::Info, "The keys of a dict of outputs are gone."),
    ("EXP012", "tensor-data", Level::Warning, "`.data` hides a value from the trace."),
    ("EXP013", "one-hot-depth", Level::Error, "The depth of a OneHot is not positive."),
    ("EXP014", "lost-symbol", Level::Info, "The exporter lost track of the name of a dimension."),
    ("EXP016", "export-failed", Level::Error, "The export stopped with an exception."),
    ("IDX001", "negative-index", Level::Error, "A constant index is negative where that does not work."),
    ("IDX002", "index-put-rank", Level::Warning, "The written value has another rank than the place."),
    (
        "IDX003",
        "index-put-non-consecutive",
        Level::Warning,
        "Tensors that index a write have a slice between.",
    ),
    ("IDX004", "index-put-broadcast", Level::Warning, "The written value is broadcast over the place."),
    ("IDX005", "boolean-mask", Level::Info, "A mask makes a shape that depends on the data."),
    ("INT001", "internal-error", Level::Error, "onnx-lint itself failed on this file."),
    ("OPS001", "unsupported-op", Level::Error, "An operator has no form in ONNX."),
    ("OPS003", "python-op", Level::Error, "A Python function stands in the graph."),
    ("OPS004", "aten-fallback", Level::Error, "An operator of PyTorch was exported as it is."),
    ("OPS005", "target-unsupported", Level::Error, "A runtime that the model is bound for does not load it."),
    ("OPV006", "not-convertible", Level::Error, "The model has no form in the wanted opset."),
    ("OPV007", "resize-semantics-changed", Level::Warning, "Resize means another thing in this opset."),
    ("REA001", "unreadable-part", Level::Warning, "A part of the evidence could not be read."),
    ("RUL001", "bad-rule", Level::Error, "A rule file has a fault."),
    ("SPC001", "unreadable-model", Level::Error, "The file cannot be read as a model at all."),
    ("SPC002", "unknown-fields", Level::Info, "The file has fields that this version does not know."),
    ("SPC003", "bad-onnx-text", Level::Error, "ONNX text has a fault of syntax."),
    ("VER001", "results-differ", Level::Error, "The result of onnx-fix computes other values."),
    ("VER002", "results-compared", Level::Info, "What --verify compared, or why it could not."),
];

impl Catalogue {
    /// The rules that are built in, and those in `folders`. Faults of those are said on standard error.
    pub fn load(folders: &[PathBuf], extent: Extent) -> Result<Self, Failure> {
        let (mut rules, mut faults) = match extent {
            Extent::Pages => RuleSet::embedded(),
            Extent::Linting => (RuleSet::for_linting(), Vec::new()),
            Extent::Fixing => (RuleSet::without_examples(), Vec::new()),
        };
        for folder in folders {
            let found = rules.add_folder(folder);
            faults.extend(found.map_err(|error| Failure::at(folder, format!("--rules: {error}")))?);
        }
        if faults.iter().any(|fault| fault.level == Level::Error) {
            return Err(bad_rules(&faults));
        }
        Ok(Catalogue { known: known(&rules), rules: Arc::new(rules) })
    }

    /// The rules of rule files.
    pub fn rules(&self) -> &Arc<RuleSet> {
        &self.rules
    }

    /// In the order of their codes.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Known)> {
        self.known.iter().map(|(code, known)| (code.as_str(), known))
    }

    /// The codes of the rules of this code or name: what one rule finds, another may mend under its name.
    pub fn codes(&self, code_or_name: &str) -> Vec<&str> {
        let meant = |(code, known): &(&str, &Known)| {
            code.eq_ignore_ascii_case(code_or_name) || known.name == code_or_name
        };
        self.iter().filter(meant).map(|(code, _)| code).collect()
    }

    /// Whether some code begins with `prefix`.
    pub fn has_prefix(&self, prefix: &str) -> bool {
        self.known.range(prefix.to_owned()..).next().is_some_and(|(code, _)| code.starts_with(prefix))
    }

    /// The code or name closest to `word`, if any is close.
    pub fn suggest(&self, word: &str) -> Option<&str> {
        closest(word, self.iter().flat_map(|(code, known)| [code, known.name.as_str()]))
    }
}

fn known(rules: &RuleSet) -> BTreeMap<String, Known> {
    let row = |(code, name, level, summary): Row| {
        (code.to_owned(), Known { name: name.to_owned(), level, fix: None, summary: summary.to_owned() })
    };
    let detected = builtin::rules().map(|rule| row((rule.code, rule.name, rule.level, "")));
    let headers = RuleSet::headers().map(|(code, name)| row((code, name, Level::Hint, "")));
    // What a file says of a rule goes before: it is later.
    let written = rules.iter().map(|rule| {
        let (name, summary) = (rule.name.to_string(), rule.summary().to_owned());
        (rule.code.to_string(), Known { name, level: rule.severity, fix: rule.listed().fix, summary })
    });
    headers.chain(detected).chain(EVIDENCE.into_iter().map(row)).chain(written).collect()
}

fn bad_rules(faults: &[Finding]) -> Failure {
    eprint!("{}", render::findings(faults, output::colour(&stderr())));
    let count = faults.iter().filter(|fault| fault.level == Level::Error).count();
    Failure::new(format!("the rules have {}", counted(count, "fault")))
}
