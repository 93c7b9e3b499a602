//! What a rule takes for granted.

use std::sync::Arc;

/// What a rule takes for granted of a value of its pattern, whatever the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    pub what: Assumption,
    /// The name of the value in the rule.
    pub value: Arc<str>,
}

/// What no fact of a graph can tell, and users have to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assumption {
    /// No infinity and no NaN among its elements.
    Finite,
    /// No NaN among its elements.
    NotNan,
    /// It has elements: no axis is of size 0.
    Nonempty,
    /// No element is so great that a step on the way overflows its type.
    Moderate,
    /// No element is 0 or below it.
    Positive,
    /// Each element, as an index, names a place that is there.
    InRange,
    /// No element leads just to the middle between two results, where rounding decides.
    Untied,
    /// As a region, it is all of every axis but the last two.
    WholeElsewhere,
}

impl Assumption {
    pub const ALL: [Assumption; 8] = [
        Assumption::Finite,
        Assumption::NotNan,
        Assumption::Nonempty,
        Assumption::Moderate,
        Assumption::Positive,
        Assumption::InRange,
        Assumption::Untied,
        Assumption::WholeElsewhere,
    ];

    /// Its name in a rule.
    pub fn name(self) -> &'static str {
        match self {
            Assumption::Finite => "finite",
            Assumption::NotNan => "not_nan",
            Assumption::Nonempty => "nonempty",
            Assumption::Moderate => "moderate",
            Assumption::Positive => "positive",
            Assumption::InRange => "in_range",
            Assumption::Untied => "untied",
            Assumption::WholeElsewhere => "whole_elsewhere",
        }
    }

    /// What it says of a value, for people.
    pub fn meaning(self) -> &'static str {
        match self {
            Assumption::Finite => "has neither infinities nor NaN",
            Assumption::NotNan => "has no NaN",
            Assumption::Nonempty => "is not empty",
            Assumption::Moderate => "has no elements so great that a step in between overflows",
            Assumption::Positive => "has only elements above 0",
            Assumption::InRange => "has only indices of places that are there",
            Assumption::Untied => "leads to no tie: nowhere to just the middle between two results",
            Assumption::WholeElsewhere => "is a region of the last two axes, and of all others in full",
        }
    }
}
