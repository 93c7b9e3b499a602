//! All rules that there are.

use std::collections::BTreeMap;

use crate::diag::Level;

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

/// Rules that no rule file holds, because what they speak of comes before there is a graph.
const READING: [(&str, &str, Level, &str); 8] = [
    ("EXP016", "export-failed", Level::Error, "The export stopped with an exception."),
    ("INT001", "internal-error", Level::Error, "onnx-lint itself failed on this file."),
    ("REA001", "unreadable-part", Level::Warning, "A part of the evidence could not be read."),
    ("SPC001", "unreadable-model", Level::Error, "The file cannot be read as a model at all."),
    ("SPC002", "unknown-fields", Level::Info, "The file has fields that this version does not know."),
    ("SPC003", "bad-onnx-text", Level::Error, "ONNX text has a fault of syntax."),
    (
        "SPC004",
        "external-data-escapes-folder",
        Level::Error,
        "External data lies outside of the model's folder.",
    ),
    (
        "SPC005",
        "external-data-missing",
        Level::Error,
        "External data is not there, or shorter than declared.",
    ),
];

impl Catalogue {
    /// The rules of the tool itself.
    pub fn built_in() -> Self {
        let known = |&(code, name, level, summary): &(&str, &str, Level, &str)| {
            (code.to_owned(), Known { name: name.to_owned(), level, summary: summary.to_owned() })
        };
        Catalogue { rules: READING.iter().map(known).collect() }
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
