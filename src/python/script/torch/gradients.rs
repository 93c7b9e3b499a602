//! Tensors that require gradients, which `numpy()` refuses.

use std::rc::Rc;

use super::super::super::syntax::{everything, field, text};
use super::super::calls::Args;
use super::super::faults::{Fault, LINE_RAISES};
use super::super::generators::CONTEXT;
use super::super::machine::{Machine, Stop};
use super::super::tensor::{DType, Role, Tensor};
use super::super::value::Value;
use crate::diag::rule_ids;

/// Code that may stop the recording of gradients.
const STOPS: [&str; 13] = [
    "requires_grad",
    "grad_enabled",
    "freeze",
    "non_differentiable",
    "grad_mode",
    "__array__",
    "__enter__",
    "torch._C",
    "quantiz",
    "peft",
    "detach_",
    "from_pretrained",
    // The mode of a context in a generator is also that of its caller.
    "yield",
];

impl<'t> Machine<'t> {
    /// Returns true if PyTorch certainly records operators for gradients.
    pub fn records_gradients(&self) -> bool {
        let keeps = |context: &Value<'t>| match context {
            Value::Name(path) => &**path == CONTEXT,
            other => self.library_class(other).is_some_and(|class| class.ends_with("autocast")),
        };
        self.contexts.iter().all(keeps)
    }

    /// Returns the result of a layer of `torch.nn`, which requires gradients if its weight does.
    pub fn trained(&self, result: Value<'t>, weight: &Tensor<'t>) -> Value<'t> {
        match result {
            Value::Tensor(tensor) if weight.role == Role::Parameter && self.records_gradients() => {
                Value::Tensor(Rc::new(Tensor { needs_grad: true, ..(*tensor).clone() }))
            }
            other => other,
        }
    }

    /// Returns true if a parameter of the script has a second argument, which may be `requires_grad`.
    fn has_frozen_parameters(&self) -> bool {
        self.files.iter().any(|file| {
            everything(file.tree.root_node()).into_iter().any(|node| {
                let callee = field(node, "function").filter(|_| node.kind() == "call");
                callee.is_some_and(|callee| text(callee, &file.text).ends_with("Parameter"))
                    && field(node, "arguments").is_some_and(|list| list.named_child_count() > 1)
            })
        })
    }

    /// Reports `numpy()` of a tensor that requires gradients.
    pub fn check_numpy(&self, x: &Tensor<'t>, args: &Args<'t>) -> Result<(), Stop> {
        let is_known = x.needs_grad
            && x.dtype.is_some_and(DType::is_float)
            && self.examples.is_empty()
            && args.all().next().is_none()
            && !args.open
            && self.records_gradients()
            && self.is_unconditional();
        if !is_known
            || self.may_replace_forward()
            || self.is_patched("numpy")
            || self.is_patched("data")
            || self.has_frozen_parameters()
            || self.mentions(&STOPS)
        {
            return Ok(());
        }
        let fault = Fault {
            rule: rule_ids::ARGUMENT_TYPE,
            kind: "RuntimeError",
            note: LINE_RAISES,
            ..Fault::shape(
                "`numpy()` of a tensor that requires gradients raises",
                "run the model in `with torch.no_grad():`, or write `.detach().numpy()`",
            )
        };
        Err(self.fault(args.node, fault))
    }
}
