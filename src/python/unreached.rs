//! Remarks about functions that no `forward` of the file reaches, but that may be part of a model.

use crate::diag::{Finding, Level};

use super::interpreter::Interpreter;
use super::parameters::{Guess, Parameter, guess, parameters};
use super::program::ClassKind;

/// Names of functions that exports are assumed not to run, such as the training steps of Lightning.
const NOT_EXPORTED: [&str; 12] = [
    "backward",
    "collate_fn",
    "configure_optimizers",
    "evaluate",
    "loss",
    "predict_step",
    "setup_context",
    "symbolic",
    "test_step",
    "train",
    "training_step",
    "validation_step",
];

impl<'t> Interpreter<'t> {
    /// Evaluates functions that no `forward` of the file reaches, and that may be part of a model.
    ///
    /// Other files may call the functions, and methods may override those of a class in another file. It is unknown
    /// whether a model runs the functions, so the findings have at most level info.
    pub fn remark_on_rest(&mut self) {
        self.remark_on(0..self.program.functions.len());
    }

    /// Evaluates the other methods of the class of `method` that may be part of a model.
    ///
    /// Returns all other methods of the class. Without a class, or if the class has a `forward` in this file,
    /// evaluates nothing and returns an empty list.
    pub fn remark_on_siblings(&mut self, method: usize) -> Vec<usize> {
        let class = self.program.functions[method].class;
        let Some(class) = class.filter(|class| self.program.method(*class, "forward").is_none()) else {
            return vec![];
        };
        let methods = self.program.classes[class].methods.values().copied();
        let siblings: Vec<usize> = methods.filter(|index| *index != method).collect();
        self.remark_on(siblings.iter().copied());
        siblings
    }

    fn remark_on(&mut self, functions: impl IntoIterator<Item = usize>) {
        let known = (std::mem::take(&mut self.findings), std::mem::take(&mut self.within));
        for index in functions {
            if !self.reached[index] && self.may_be_of_model(index) {
                self.run_root(index);
            }
        }
        let found = std::mem::replace(&mut self.findings, known.0);
        let within = std::mem::replace(&mut self.within, known.1);
        for (finding, within) in found.into_iter().zip(within) {
            let is_known = |other: &Finding| other.code == finding.code && other.source == finding.source;
            if !self.findings.iter().any(is_known) {
                self.findings.push(Finding { level: finding.level.min(Level::Info), ..finding });
                self.within.push(within);
            }
        }
    }

    /// Returns true if a function that is not called may be part of a model.
    fn may_be_of_model(&self, index: usize) -> bool {
        let function = &self.program.functions[index];
        let is_private = function.name.starts_with("__") || NOT_EXPORTED.contains(&function.name);
        let around = self.program.class_around(index);
        let is_nested = self.program.is_nested(index) && around.is_none();
        if is_private || self.program.is_scripted(index) || is_nested {
            return false;
        }
        let class = function.class.or(around);
        let inherits = class.is_none_or(|class| {
            let class = &self.program.classes[class];
            class.kind == ClassKind::Module || class.kind == ClassKind::Other && !class.bases.is_empty()
        });
        // Without annotations, a top-level function may be training code.
        let takes = |one: &Parameter| {
            let written = one.annotation.is_some() || class.is_some();
            written && guess(one, function.node, self.source) == Guess::Tensor
        };
        inherits && parameters(function.node, self.source).iter().any(takes)
    }
}
