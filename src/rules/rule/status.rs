//! Status of a rule in its life: preview, stable or deprecated.

use std::sync::Arc;

/// Status of a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RuleStatus {
    /// New: applied only with `--preview`, and may change in any release.
    Preview,
    #[default]
    Stable,
    /// To be removed, but still applied. Contains the code of its successor, if there is one.
    Deprecated(Option<Arc<str>>),
}

impl RuleStatus {
    /// Names of all statuses.
    pub const NAMES: [&str; 3] = ["preview", "stable", "deprecated"];

    /// Returns the status that a rule declares by these words; `None` if the name is unknown.
    pub fn of_words(name: &str, successor: Option<&str>) -> Option<RuleStatus> {
        match name {
            "preview" => Some(RuleStatus::Preview),
            "stable" => Some(RuleStatus::Stable),
            "deprecated" => Some(RuleStatus::Deprecated(successor.map(Arc::from))),
            _ => None,
        }
    }

    /// Returns the name of the status.
    pub fn name(&self) -> &'static str {
        match self {
            RuleStatus::Preview => "preview",
            RuleStatus::Stable => "stable",
            RuleStatus::Deprecated(_) => "deprecated",
        }
    }

    /// Returns the code of the rule that replaces a deprecated one, if there is one.
    pub fn successor(&self) -> Option<&str> {
        match self {
            RuleStatus::Deprecated(successor) => successor.as_deref(),
            _ => None,
        }
    }

    /// Returns true if the rule is applied only with `--preview`.
    pub fn is_preview(&self) -> bool {
        *self == RuleStatus::Preview
    }

    /// Returns the remark to show in rule lists and on the rule's page; `None` for a stable rule.
    pub fn remark(&self) -> Option<String> {
        match self {
            RuleStatus::Preview => Some("preview: applied only with --preview".to_owned()),
            RuleStatus::Stable => None,
            RuleStatus::Deprecated(Some(successor)) => Some(format!("deprecated: use {successor}")),
            RuleStatus::Deprecated(None) => Some("deprecated: will be removed".to_owned()),
        }
    }
}
