//! Faults: exceptions that the script certainly raises, with their findings.

use std::rc::Rc;

use tree_sitter::Node;

use crate::diag::counted;
use crate::diag::rule::RuleId;
use crate::diag::{Finding, Level, Place, SourcePlace, rule_ids};

use super::super::syntax::one_line;
use super::calls::Args;
use super::machine::{Machine, Raised, Stop};
use super::release::Release;
use super::torch::names::{is_missing, similar};
use super::value::{Function, Value};

/// Note of a fault that is no call.
pub const LINE_RAISES: &str = "this line raises when the script runs";

/// A fault without its place.
#[derive(Clone, Debug)]
pub struct Fault {
    pub rule: RuleId,
    /// Name of the exception.
    pub kind: &'static str,
    pub message: String,
    pub note: &'static str,
    pub help: String,
}

impl Fault {
    /// A fault of shapes.
    pub fn shape(message: impl Into<String>, help: impl Into<String>) -> Self {
        Fault {
            rule: rule_ids::SHAPE_MISMATCH,
            kind: "RuntimeError",
            message: message.into(),
            note: "the call raises when the script runs",
            help: help.into(),
        }
    }

    /// A fault of dtypes.
    pub fn dtype(message: impl Into<String>, help: impl Into<String>) -> Self {
        Fault { rule: rule_ids::DTYPE_MISMATCH, ..Fault::shape(message, help) }
    }

    /// A fault of devices.
    pub fn device(message: impl Into<String>, help: impl Into<String>) -> Self {
        Fault { rule: rule_ids::DEVICE_MISMATCH, ..Fault::shape(message, help) }
    }
}

impl<'t> Machine<'t> {
    /// Reports the exception that ends the script, or records that a budget is exhausted.
    pub fn end(&mut self, stop: Stop) {
        match stop {
            Stop::Raised(raised) => self.tell(raised.finding),
            Stop::Exhausted => self.exhausted = true,
        }
    }

    /// Adds findings that were not added before, unless findings are suppressed.
    /// Of two findings of a rule at one place, the more severe one is kept.
    pub fn tell(&mut self, findings: impl IntoIterator<Item = Finding>) {
        for finding in findings {
            if self.quiet > 0 {
                continue;
            }
            let is_known =
                |known: &&mut Finding| known.code == finding.code && known.source == finding.source;
            match self.findings.iter_mut().find(is_known) {
                Some(known) if known.level >= finding.level => {}
                Some(known) => *known = finding,
                None => self.findings.push(finding),
            }
        }
    }

    /// Returns the exception of a fault at `node`.
    pub fn fault(&self, node: Node<'t>, fault: Fault) -> Stop {
        let finding = self.finding(node, &fault);
        Stop::Raised(Box::new(Raised { kind: fault.kind.to_owned(), finding: Some(finding) }))
    }

    /// Returns the finding of a fault: at `node`, or at the call in the script that leads to it.
    fn finding(&self, node: Node<'t>, fault: &Fault) -> Finding {
        let there = self.place(self.file(), node);
        let outer = self.frames.iter().find_map(|frame| frame.call);
        // A device mismatch is placed at the call of the model, because the script chooses the devices of the
        // model and of the example there.
        let model = self.frames.iter().find(|frame| frame.this.is_some()).and_then(|frame| frame.call);
        let caller = model.or(outer).filter(|_| fault.rule == rule_ids::DEVICE_MISMATCH);
        let here = match caller {
            Some((file, call)) => self.place(file, call),
            None => self.in_script(node).unwrap_or_else(|| there.clone()),
        };
        let mut finding =
            fault.rule.at(Level::Error).finding(fault.message.clone(), Place::Source(here.clone()));
        finding = finding.note(fault.note).help(fault.help.clone());
        let mut related: Vec<(SourcePlace, &str)> = vec![];
        if there.file != here.file || caller.is_some() {
            related.push((there, "raised here"));
        }
        related.extend(self.layers.last().map(|(file, node)| (self.place(*file, *node), "the layer")));
        related.extend(self.examples.iter().map(|(file, node)| (self.place(*file, *node), "the example")));
        related.extend(outer.map(|(file, node)| (self.place(file, node), "called here")));
        let mut lines = vec![(here.file.clone(), here.line)];
        for (place, message) in related {
            let line = (place.file.clone(), place.line);
            if !lines.contains(&line) {
                lines.push(line);
                finding = finding.related(Place::Source(place), message);
            }
        }
        finding
    }

    /// Returns the place of `node`, or of the innermost call in the script that leads to it.
    ///
    /// The place is that of the call if `node` is in another file.
    fn in_script(&self, node: Node<'t>) -> Option<SourcePlace> {
        if self.file() == 0 {
            return Some(self.place(0, node));
        }
        let calls = self.frames.iter().rev().filter_map(|frame| frame.call);
        let (file, call) = calls.into_iter().find(|(file, _)| *file == 0)?;
        Some(self.place(file, call))
    }

    /// Returns the exception for a name that a module of PyTorch does not have.
    pub fn missing_name(&self, path: &str, name: &str, node: Node<'t>) -> Option<Stop> {
        if !is_missing(path, name) {
            return None;
        }
        let help = match similar(path, name) {
            Some(other) => format!("write `{other}`"),
            None => "see the reference of PyTorch for its name".to_owned(),
        };
        let message = format!("`{path}` has no attribute `{name}`");
        let fault = Fault {
            rule: rule_ids::UNKNOWN_ATTRIBUTE,
            kind: "AttributeError",
            ..Fault::shape(message, help)
        };
        Some(self.fault(node, fault))
    }

    /// Returns the exception for an attribute that a class of the script, an `nn.Module`, does not have.
    pub fn no_attribute(&self, _object: &Value<'t>, class: usize, name: &str, node: Node<'t>) -> Stop {
        let class = self.heap.class(class).map_or("", |class| class.name);
        let message = format!("`{class}` has no attribute `{name}`");
        let help = match name {
            "module" => "remove `.module`, which only wrappers such as `nn.DataParallel` have".to_owned(),
            _ => format!("define `self.{name}` in `__init__`, or correct the name"),
        };
        let fault = Fault {
            rule: rule_ids::UNKNOWN_ATTRIBUTE,
            kind: "AttributeError",
            note: LINE_RAISES,
            ..Fault::shape(message, help)
        };
        self.fault(node, fault)
    }

    /// Reports a branch on the elements of a tensor in a model that `torch.export` exports.
    pub fn check_branch(&self, value: &Value<'t>, condition: Node<'t>) -> Result<(), Stop> {
        let what = "branches on data, which torch.export does not support";
        let fault = Fault {
            rule: rule_ids::TRACED_BRANCH,
            note: "torch.export follows no branch that depends on the data of a tensor, and raises",
            ..Fault::shape(what, "compute both branches and select with `torch.where`, or use `torch.cond`")
        };
        self.depends_on_data(value, condition, fault)
    }

    /// Reports code that needs a Python number, but gets a tensor, in a model that `torch.export` exports.
    pub fn needs_number(&self, value: &Value<'t>, node: Node<'t>) -> Result<(), Stop> {
        let what = "needs a number, but its operand depends on data";
        let fault = Fault {
            rule: rule_ids::ITEM_BAKED,
            note: "torch.export has no number for a value that depends on data, and raises",
            ..Fault::shape(what, "compute with tensors, such as a mask, instead of a Python number")
        };
        self.depends_on_data(value, node, fault)
    }

    /// Reports `int` and `float` of a tensor that depends on an input of `torch.export.export`.
    ///
    /// PyTorch 2.15 raises for each such call, unless it exports the bytecode (`strict=True`), as `torch.onnx.export`
    /// also does.
    pub fn converts_data(&self, value: &Value<'t>, node: Node<'t>) -> Result<(), Stop> {
        let is_strict = self.exports.last().is_none_or(|call| {
            call.exporter != "torch.export.export"
                || call.named("strict").is_some_and(|flag| flag.value != Value::Bool(false))
        });
        let varies = value.tensor().is_some_and(|tensor| tensor.varies && !self.is_changed(tensor));
        if is_strict || !varies || self.release != Release::NEWEST {
            return Ok(());
        }
        let fault = Fault {
            rule: rule_ids::ITEM_BAKED,
            note: "torch.export converts no value that depends on data, and raises",
            ..Fault::shape(
                "needs a number, but its operand depends on data",
                "use `.item()` alone, which torch.export records, or export with `strict=True`",
            )
        };
        self.depends_on_data(value, node, fault)
    }

    /// Reports a node that needs a Python value, but gets a tensor, in a model that `torch.export` exports.
    /// The message of `fault` is a predicate, which follows the quoted code of the node.
    fn depends_on_data(&self, value: &Value<'t>, node: Node<'t>, fault: Fault) -> Result<(), Stop> {
        let is_scripted = self.frames.iter().any(|frame| frame.file != 0);
        if !self.is_program || is_scripted || !matches!(value, Value::Tensor(_)) {
            return Ok(());
        }
        let shown = one_line(node, self.source(self.file()));
        let message = format!("`{shown}` {}", fault.message);
        Err(self.fault(node, Fault { message, ..fault }))
    }

    /// Returns the finding for arguments that do not fit the parameters of `forward`.
    ///
    /// Returns `None` for any other function, because the interpreter does not follow all ways of calling it.
    pub fn arguments_fault(
        &self,
        function: &Function<'t>,
        missing: Option<&str>,
        keywords: &[(Rc<str>, Value<'t>)],
        extra: usize,
        args: &Args<'t>,
    ) -> Option<Finding> {
        if function.name != "forward" {
            return None;
        }
        let message = match (missing, keywords.first()) {
            (_, Some((name, _))) => format!("`forward` has no parameter `{name}`"),
            (Some(name), None) => format!("`forward` gets no argument for its parameter `{name}`"),
            (None, None) => {
                let more = counted(extra, "more positional argument");
                format!("`forward` gets {more} than it has parameters")
            }
        };
        let fault = Fault {
            rule: rule_ids::FORWARD_ARGUMENTS,
            kind: "TypeError",
            ..Fault::shape(message, "pass one example for each parameter of `forward`, in their order")
        };
        let (file, call) = self.frames.last().and_then(|frame| frame.call)?;
        let mut finding = self.finding(function.node, &fault);
        let place = self.place(file, if file == self.file() { args.node } else { call });
        if finding.source.as_ref().is_some_and(|source| source.line != place.line) && file == 0 {
            let definition = std::mem::replace(&mut finding.place, Place::Source(place.clone()));
            finding.source = Some(place);
            finding = finding.related(definition, "`forward` is defined here");
        }
        Some(finding)
    }
}
