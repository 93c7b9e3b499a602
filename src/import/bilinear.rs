//! Products of complex numbers: operators that are linear in each of their first two operands.
//!
//! The real operator is applied to the parts of the operands, and the products are added or subtracted.

use super::argument;
use super::builder::{Builder, declared};
use super::names::Names;
use super::part::Part;
use crate::graph::ValueId;
use crate::torch::Node;

/// Operators that are linear in each of their first two operands. A bias may follow.
static BILINEAR: Names = Names::new("
    _convolution bmm conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d convolution cross
    cumulative_trapezoid dot ger inner kron linalg_cross linalg_matmul linalg_vecdot linear matmul mm mv outer tensordot
    trapezoid trapz vdot");

/// Bilinear operators that conjugate their first operand.
const CONJUGATING: [&str; 2] = ["linalg_vecdot", "vdot"];

impl Builder<'_> {
    /// Lowers a bilinear operator on complex numbers; returns `false` for any other node.
    pub(super) fn bilinear(&mut self, node: &Node) -> Result<bool, String> {
        // With a constant step `dx`, an integral is linear.
        let is_bilinear = |base: &&str| BILINEAR.contains(base) && &*node.op.overload != "dx";
        let base = node.op.aten().filter(is_bilinear);
        let (Some(base), [first, second, ..], &[output]) = (base, &*node.inputs, &*node.outputs) else {
            return Ok(false);
        };
        let are_complex = [first, second].map(|input| self.is_complex_argument(&input.argument));
        let mut called = |part| {
            self.part = part;
            argument::called(self, node)
        };
        let (real, imaginary) = (called(Part::Real)?, called(Part::Imaginary)?);
        self.part = Part::Real;
        let parts = [&real.inputs, &imaginary.inputs];
        let ty = declared(&self.trace.value(output).ty);
        let bias = |part: usize| parts[part].get(2..).unwrap_or_default();
        let product = |builder: &mut Self, a: usize, b: usize, bias: &[Option<ValueId>]| {
            let factors = [parts[a][0], parts[b][1]];
            let operands = factors.into_iter().chain(bias.iter().copied()).collect();
            builder.aten(&real.op, operands, real.attrs.clone(), ty.clone())
        };
        let (plus, minus) = if CONJUGATING.contains(&base) { ("Sub", "Add") } else { ("Add", "Sub") };
        let sum = |builder: &mut Self, op: &str, terms: [ValueId; 2]| {
            let sum = builder.onnx(op, terms.map(Some).to_vec(), Vec::new());
            builder.declare(sum, ty.clone());
            sum
        };
        let mut whole = product(self, 0, 0, bias(0));
        if are_complex == [true, true] {
            let subtracted = product(self, 1, 1, &[]);
            whole = sum(self, minus, [whole, subtracted]);
        }
        let turned = match are_complex {
            [true, false] if plus == "Add" => product(self, 1, 0, bias(1)),
            [false, _] => product(self, 0, 1, bias(1)),
            _ => {
                let [one, other] = [product(self, 0, 1, bias(1)), product(self, 1, 0, &[])];
                sum(self, plus, [one, other])
            }
        };
        self.define(output, Part::Real, whole);
        self.define(output, Part::Imaginary, turned);
        Ok(true)
    }
}
