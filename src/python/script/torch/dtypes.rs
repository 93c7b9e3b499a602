//! Dtypes that operators require.

use tree_sitter::Node;

use super::super::calls::Args;
use super::super::faults::Fault;
use super::super::machine::{Machine, Stop};
use super::super::release::Release;
use super::super::tensor::{DType, Tensor};
use super::super::value::Value;
use super::super::words::lists;

/// Functions and layers that raise for integers and booleans, by their names in lower case.
///
/// PyTorch 2.15 was run with int32, int64, uint8 and bool on the CPU. Older releases were not run.
const FLOATING_ONLY: &str = "
    leaky_relu elu celu selu gelu silu mish hardswish hardsigmoid softplus logsigmoid softshrink hardshrink rrelu
    softmax log_softmax softmin normalize glu mean std var norm nanmean layer_norm batch_norm group_norm
    instance_norm leakyrelu logsoftmax batchnorm1d batchnorm2d batchnorm3d layernorm groupnorm instancenorm1d
    instancenorm2d instancenorm3d prelu";

/// Functions with a mask, which must be boolean.
const MASKED: [&str; 3] = ["masked_fill", "masked_scatter", "masked_select"];

impl<'t> Machine<'t> {
    /// Reports an operand of a dtype that a function or layer does not support.
    pub fn check_dtypes(&self, name: &str, x: &Tensor<'t>, args: &Args<'t>) -> Result<(), Stop> {
        let lower = name.to_ascii_lowercase();
        let is_floating_only = lists(FLOATING_ONLY, &lower);
        let is_whole = |dtype: &DType| !dtype.is_float() && !dtype.is_complex();
        // A `dtype` argument converts the operand first.
        if is_floating_only
            && self.release == Release::NEWEST
            && let Some(dtype) = x.dtype.filter(is_whole)
            && args.keyword("dtype").is_none()
            && args.positional.len() < 3
            // Some functions return an empty tensor at once.
            && x.numel() != Some(0)
        {
            let message = format!("`{name}` expects a floating-point tensor, gets {}", dtype.name());
            let help = "convert the operand first: `x.float()`";
            return Err(self.fault(args.node, Fault::dtype(message, help)));
        }
        match args.get(1, "mask") {
            Some(Value::Tensor(mask)) if MASKED.contains(&name) => self.check_mask(name, mask, args.node),
            _ => Ok(()),
        }
    }

    /// Reports a mask that is not boolean.
    pub fn check_mask(&self, name: &str, mask: &Tensor<'t>, node: Node<'t>) -> Result<(), Stop> {
        // `where` still accepts uint8, and older releases accept it elsewhere.
        let accepts_bytes = name == "where" || self.release != Release::NEWEST;
        let is_accepted = |dtype: DType| dtype == DType::Bool || dtype == DType::UInt8 && accepts_bytes;
        match mask.dtype.filter(|dtype| !is_accepted(*dtype)) {
            Some(dtype) => {
                let message = format!("`{name}` expects a boolean mask, gets {}", dtype.name());
                let help = "compare first, as in `mask == 0`, or convert the mask: `mask.bool()`";
                Err(self.fault(node, Fault::dtype(message, help)))
            }
            None => Ok(()),
        }
    }
}
