//! Assumptions of a rule.

use std::sync::Arc;

/// Assumption that a value of the pattern has a property in every run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumed {
    pub what: Assumption,
    /// Name of the value in the rule.
    pub value: Arc<str>,
}

/// Property of a value that a rule assumes without proof; the page of the rule states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assumption {
    /// No element is infinite or NaN.
    Finite,
    /// No element is NaN.
    NotNan,
    /// The value has elements: no axis has size 0.
    Nonempty,
    /// No element is so large that an intermediate result overflows its type.
    Bounded,
    /// Every element is greater than 0.
    Positive,
    /// Every element is a valid index.
    InRange,
    /// No element leads to a tie, where rounding would decide between two results.
    Untied,
    /// The value is a region that covers every axis but the last two in full.
    WholeElsewhere,
}

impl Assumption {
    /// All assumptions.
    pub const ALL: [Assumption; 8] = [
        Assumption::Finite,
        Assumption::NotNan,
        Assumption::Nonempty,
        Assumption::Bounded,
        Assumption::Positive,
        Assumption::InRange,
        Assumption::Untied,
        Assumption::WholeElsewhere,
    ];

    /// Returns the name of the assumption in rules.
    pub fn name(self) -> &'static str {
        match self {
            Assumption::Finite => "finite",
            Assumption::NotNan => "not_nan",
            Assumption::Nonempty => "nonempty",
            Assumption::Bounded => "bounded",
            Assumption::Positive => "positive",
            Assumption::InRange => "in_range",
            Assumption::Untied => "untied",
            Assumption::WholeElsewhere => "whole_elsewhere",
        }
    }

    /// Returns a description for users.
    pub fn meaning(self) -> &'static str {
        match self {
            Assumption::Finite => "has neither infinities nor NaN",
            Assumption::NotNan => "has no NaN",
            Assumption::Nonempty => "is not empty",
            Assumption::Bounded => "has no elements large enough for an intermediate result to overflow",
            Assumption::Positive => "has only elements greater than 0",
            Assumption::InRange => "has only indices that are in range",
            Assumption::Untied => "causes no ties in rounding",
            Assumption::WholeElsewhere => "is a region that covers all axes but the last two in full",
        }
    }
}
