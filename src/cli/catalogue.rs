//! All rules that there are.

use std::collections::BTreeMap;

use crate::diag::Level;
use crate::lint::builtin;

/// A rule, as far as the command line has to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    pub name: String,
    pub level: Level,
    pub summary: String,
}

/// Every rule, by its code.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    rules: BTreeMap<String, Known>,
}

/// A row of the table below: code, name, level, summary.
type Row = (&'static str, &'static str, Level, &'static str);

/// Rules about evidence other than a graph, and about reading itself.
const EVIDENCE: [Row; 32] = [
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
    ("OPV006", "not-convertible", Level::Error, "The model has no form in the wanted opset."),
    ("OPV007", "resize-semantics-changed", Level::Warning, "Resize means another thing in this opset."),
    ("REA001", "unreadable-part", Level::Warning, "A part of the evidence could not be read."),
    ("RUL001", "bad-rule", Level::Error, "A rule file has a fault."),
    ("SPC001", "unreadable-model", Level::Error, "The file cannot be read as a model at all."),
    ("SPC002", "unknown-fields", Level::Info, "The file has fields that this version does not know."),
    ("SPC003", "bad-onnx-text", Level::Error, "ONNX text has a fault of syntax."),
];

impl Catalogue {
    /// The rules of the tool itself.
    pub fn built_in() -> Self {
        let graph = builtin::rules().map(|rule| (rule.code, rule.name, rule.level, ""));
        let rules = graph.chain(EVIDENCE).map(|(code, name, level, summary)| {
            (code.to_owned(), Known { name: name.to_owned(), level, summary: summary.to_owned() })
        });
        Catalogue { rules: rules.collect() }
    }

    /// In the order of their codes.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Known)> {
        self.rules.iter().map(|(code, known)| (code.as_str(), known))
    }

    /// The code of the rule of this code or name.
    pub fn code(&self, code_or_name: &str) -> Option<&str> {
        self.iter()
            .find(|(code, known)| *code == code_or_name || known.name == code_or_name)
            .map(|(code, _)| code)
    }

    /// Whether some code begins with `prefix`.
    pub fn has_prefix(&self, prefix: &str) -> bool {
        self.rules.range(prefix.to_owned()..).next().is_some_and(|(code, _)| code.starts_with(prefix))
    }

    /// The code or name closest to `word`, if any is close.
    pub fn suggest(&self, word: &str) -> Option<&str> {
        let words = self.iter().flat_map(|(code, known)| [code, known.name.as_str()]);
        let near = words.map(|known| (strsim::damerau_levenshtein(known, word), known));
        near.min().filter(|(distance, _)| *distance <= word.len().div_ceil(3)).map(|(_, known)| known)
    }
}
