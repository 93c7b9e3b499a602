//! Transfer functions of the range analysis: magnitudes and origins of the outputs of each operator.

use super::numbers::{Narrow, extent_of_constant};
use super::value_range::{Origin, Size, ValueRange};
use crate::graph::{AttrValue, ElemType, Model, Node, NodeId};
use crate::infer::Facts;
use crate::schema::operator::{Work, operator};

/// Maximum number of elements whose sum is assumed to stay in range without much loss of precision.
pub const FEW: i64 = 1024;

/// Returns the facts of the float32 outputs of a node; `None` if an input has not been analyzed yet.
pub fn made(
    model: &Model,
    facts: &Facts,
    id: NodeId,
    operand: &dyn Fn(usize) -> Option<Option<ValueRange>>,
    narrow: Narrow,
) -> Option<ValueRange> {
    let node = &model.nodes[id];
    let operands: Vec<Option<ValueRange>> = (0..node.inputs.len())
        .map(|at| operand(at).map_or(Some(None), |known| known.map(Some)))
        .collect::<Option<_>>()?;
    let call = Call { model, facts, id, node, operands, narrow };
    let mut made = call.size_and_guard();
    made.origin = call.origin();
    made.is_meant = call.is_meant();
    Some(made)
}

/// Node with the facts of its inputs.
struct Call<'a> {
    model: &'a Model,
    facts: &'a Facts,
    id: NodeId,
    node: &'a Node,
    /// Facts of the inputs; `None` for an input that is absent or not float32.
    operands: Vec<Option<ValueRange>>,
    narrow: Narrow,
}

impl Call<'_> {
    /// Returns the facts of all float32 inputs.
    fn given(&self) -> impl Iterator<Item = ValueRange> + '_ {
        self.operands.iter().flatten().copied()
    }

    /// Returns the facts of an input, by default those of ordinary data.
    fn at(&self, index: usize) -> ValueRange {
        self.operands.get(index).copied().flatten().unwrap_or(ValueRange::DATA)
    }

    /// Returns facts that hold for all float32 inputs.
    fn joined(&self) -> Option<ValueRange> {
        self.given().reduce(|a, b| a.join(b, self.narrow))
    }

    /// Returns the element type of an input.
    fn elem(&self, index: usize) -> Option<ElemType> {
        self.facts[self.node.input(index)?].elem()
    }

    fn work(&self) -> Option<Work> {
        operator(self.node.domain(), &self.node.op_type).map(|operator| operator.work)
    }

    /// Returns true if the node calls an ai.onnx operator with one of the given names.
    fn is(&self, names: &[&str]) -> bool {
        self.node.domain().is_empty() && names.contains(&&*self.node.op_type)
    }

    /// Returns the origin of the outputs.
    fn origin(&self) -> Origin {
        if self.is(&["Cast", "CastLike"]) && self.operands.first().is_none_or(Option::is_none) {
            return match self.elem(0) {
                Some(ElemType::Bool) => Origin::Constants,
                // Float16 and bfloat16 represent 8-bit integers, such as pixels, exactly.
                Some(ElemType::Uint8 | ElemType::Int8) => Origin::Data,
                Some(elem) if elem.is_integer() => Origin::Integers,
                _ => Origin::Data,
            };
        }
        let all = self.given().map(|reach| reach.origin).max();
        match all {
            Some(Origin::Integers) if self.work() == Some(Work::Product) && !self.is_outer() => Origin::Data,
            Some(origin) if self.work().is_some() => origin,
            Some(_) => Origin::Data,
            None if self.is(&["Constant", "ConstantOfShape", "EyeLike", "OneHot"]) => Origin::Constants,
            None => Origin::Data,
        }
    }

    /// Returns true for a product without summation, such as that of positions and frequencies.
    fn is_outer(&self) -> bool {
        if self.is(&["MatMul"]) {
            let dims = self.node.input(0).and_then(|value| self.facts[value].dims());
            let last = dims.and_then(|dims| dims.last()?.as_ref()?.as_const());
            return last == Some(1);
        }
        let Some(AttrValue::String(text)) = self.node.attr("equation") else { return false };
        let text = String::from_utf8_lossy(text);
        let Some((from, to)) = text.split_once("->") else { return false };
        from.chars().filter(|letter| letter.is_alphabetic()).all(|letter| to.contains(letter))
    }

    /// Returns true if the node derives from a cast from a 16-bit type, without a product in between.
    fn is_meant(&self) -> bool {
        let is_narrow = |elem| matches!(elem, Some(ElemType::Float16 | ElemType::Bfloat16));
        if self.is(&["Cast", "CastLike"]) && is_narrow(self.elem(0)) {
            return true;
        }
        self.work() != Some(Work::Product) && self.given().any(|reach| reach.is_meant)
    }

    /// Returns the facts of the outputs; the caller replaces `origin` and `is_meant`.
    fn size_and_guard(&self) -> ValueRange {
        let sized = |size| ValueRange::of(size, Origin::Data);
        if !self.node.domain().is_empty() {
            return sized(Size::Ordinary);
        }
        let (a, b) = (self.at(0), self.at(1));
        let is_square = self.node.input(0) == self.node.input(1);
        match &*self.node.op_type {
            "Constant" => ValueRange::constant(extent_of_constant(self.model, self.id), self.narrow),
            "ConstantOfShape" => match self.node.attrs.is_empty() {
                true => sized(Size::AtMost(0.0)),
                false => ValueRange::constant(extent_of_constant(self.model, self.id), self.narrow),
            },
            "Cast" | "CastLike" if self.operands.first().is_none_or(Option::is_none) => {
                sized(match self.elem(0) {
                    Some(ElemType::Bool) => Size::AtMost(1.0),
                    Some(ElemType::Uint8 | ElemType::Int8) => Size::AtMost(255.0),
                    _ => Size::Ordinary,
                })
            }
            "DequantizeLinear" => sized(match self.elem(0).and_then(greatest) {
                Some(most) => self.product(Size::AtMost(2.0 * most), b.size),
                None => Size::Ordinary,
            }),
            "Add" | "Sub" | "Max" | "Min" | "Clip" | "Where" | "Sum" | "Mean" => {
                let guard = self.given().map(|reach| reach.guard).fold(f64::INFINITY, f64::min);
                let size = match &*self.node.op_type {
                    "Add" | "Sub" | "Sum" => self.given().map(|x| x.size).reduce(|a, b| self.sum(a, b)),
                    "Clip" => self.clipped(),
                    _ => self.joined().map(|reach| reach.size),
                };
                ValueRange { guard, ..sized(size.unwrap_or(Size::Ordinary)) }
            }
            "Mul" if is_square => sized(self.power(a.size, 2.0)),
            "Mul" => sized(self.product(a.size, b.size)),
            "Div" => sized(self.quotient(a, b)),
            "Pow" => ValueRange { guard: self.guard_of_power(a), ..sized(self.pow(a)) },
            "Sqrt" => ValueRange { guard: a.guard.sqrt(), ..sized(root(a.size)) },
            "Exp" => sized(self.exponential(a.size)),
            "Sigmoid" | "Tanh" | "Softmax" | "Erf" | "Sin" | "Cos" | "HardSigmoid" | "Softsign" | "Sign" => {
                sized(Size::AtMost(1.0))
            }
            "ReduceSum" | "ReduceL1" | "CumSum" => sized(self.sum_of(a.size)),
            "ReduceSumSquare" => sized(self.power(a.size, 2.0)),
            "ReduceProd" | "CumProd" => sized(Size::Wide),
            "Log"
            | "Reciprocal"
            | "LogSoftmax"
            | "ReduceL2"
            | "ReduceLogSum"
            | "ReduceLogSumExp"
            | "Acosh"
            | "Asinh"
            | "Atan"
            | "LpNormalization"
            | "MeanVarianceNormalization"
            | "LayerNormalization"
            | "RMSNormalization"
            | "InstanceNormalization"
            | "GroupNormalization"
            | "BatchNormalization"
            | "LRN" => sized(Size::Ordinary),
            "Sinh" | "Cosh" => sized(self.exponential(a.size)),
            _ if self.work() == Some(Work::Product) => sized(Size::Ordinary),
            // Outputs of data movement, selection, averages and activations are no larger than the inputs.
            _ => self.joined().unwrap_or(sized(Size::Ordinary)),
        }
    }

    /// Returns the magnitude of a sum of two values.
    fn sum(&self, a: Size, b: Size) -> Size {
        match (a, b) {
            (Size::AtMost(a), Size::AtMost(b)) => at_most(a + b),
            // The sum is ordinary data unless the constant is so large that addends would be lost.
            (Size::AtMost(most), Size::Ordinary) | (Size::Ordinary, Size::AtMost(most)) => {
                if most <= self.narrow.room {
                    Size::Ordinary
                } else {
                    at_most(most.max(2.0 * self.narrow.largest))
                }
            }
            _ => a.join(b, self.narrow),
        }
    }

    /// Returns the magnitude of a product of two values.
    fn product(&self, a: Size, b: Size) -> Size {
        match (a, b) {
            (Size::AtMost(a), Size::AtMost(b)) => at_most(a * b),
            _ => a.join(b, self.narrow),
        }
    }

    /// Returns the magnitude of a quotient.
    fn quotient(&self, a: ValueRange, b: ValueRange) -> Size {
        match (a.size, b.size) {
            (Size::Wide, Size::Wide) => Size::Ordinary,
            (Size::AtMost(most), _) if b.least > 0.0 => at_most(most / b.least),
            (size, _) if b.least > 0.0 && 1.0 / b.least > self.narrow.largest => {
                size.join(Size::Wide, self.narrow)
            }
            (Size::AtMost(_), _) => Size::Ordinary,
            (size, _) => size,
        }
    }

    /// Returns the magnitude of a Clip: that of both bounds if it fits, else that of the input.
    fn clipped(&self) -> Option<Size> {
        let bounds = [1, 2].map(|at| self.operands.get(at).copied().flatten());
        match bounds {
            [Some(low), Some(high)] => {
                let cut = low.size.join(high.size, self.narrow);
                Some(if cut.fits(self.narrow) { cut } else { self.at(0).size })
            }
            _ => Some(self.at(0).size),
        }
    }

    /// Returns the exponent of a Pow if all its elements are one known constant.
    fn exponent(&self) -> Option<f64> {
        let fact = &self.facts[self.node.input(1)?];
        let numbers = fact.as_const()?.f64s().ok()?;
        let first = *numbers.first()?;
        numbers.iter().all(|&x| x == first).then_some(first)
    }

    /// Returns the magnitude of a Pow.
    fn pow(&self, a: ValueRange) -> Size {
        match self.exponent() {
            Some(exponent) if exponent > 1.0 => self.power(a.size, exponent),
            Some(exponent) if exponent > 0.0 => root(a.size),
            // A negative exponent mostly gives the reciprocal square root of a normalization.
            Some(_) => Size::Ordinary,
            None => Size::Wide,
        }
    }

    /// Returns the guard of a Pow.
    fn guard_of_power(&self, a: ValueRange) -> f64 {
        match self.exponent() {
            Some(exponent) if (0.0..=1.0).contains(&exponent) => a.guard.powf(exponent),
            _ => f64::INFINITY,
        }
    }

    /// Returns the magnitude of a power with an exponent above 1.
    fn power(&self, size: Size, exponent: f64) -> Size {
        match size {
            Size::AtMost(most) => at_most(most.powf(exponent)),
            Size::Ordinary | Size::Wide if self.is_wider() => Size::Ordinary,
            Size::Ordinary | Size::Wide => Size::Wide,
        }
    }

    /// Returns the magnitude of an exponential.
    fn exponential(&self, size: Size) -> Size {
        match size {
            Size::AtMost(most) if most.exp() <= self.narrow.largest => at_most(most.exp()),
            _ if self.is_wider() || self.is_below_zero() => Size::Ordinary,
            _ => Size::Wide,
        }
    }

    /// Returns true if the narrow type has the range of float32.
    fn is_wider(&self) -> bool {
        self.narrow.elem == ElemType::Bfloat16
    }

    /// Returns true if the input is a value minus its maximum, as in a decomposed Softmax.
    fn is_below_zero(&self) -> bool {
        let model = self.model;
        let producer = |value| model.producer(value).map(|(node, _)| &model.nodes[node]);
        let difference = self.node.input(0).and_then(producer).filter(|node| node.is("Sub"));
        let parts = difference.and_then(|node| node.input(0).zip(node.input(1)));
        let Some((whole, greatest)) = parts else { return false };
        producer(greatest).is_some_and(|node| node.is("ReduceMax") && node.input(0) == Some(whole))
    }

    /// Returns the magnitude of a reduction by summation.
    fn sum_of(&self, size: Size) -> Size {
        match (size, summed(self.model, self.facts, self.id)) {
            (Size::AtMost(most), Some(count)) => at_most(most * count as f64),
            (Size::Ordinary, Some(count)) if count <= FEW => Size::Ordinary,
            _ if self.is_wider() => Size::Ordinary,
            _ => Size::Wide,
        }
    }
}

/// Returns an upper bound of the magnitude of an element type of at most 8 bits.
fn greatest(elem: ElemType) -> Option<f64> {
    Some(match elem {
        ElemType::Float8e5m2 | ElemType::Float8e5m2fnuz => 57344.0,
        ElemType::Float8e4m3fn | ElemType::Float8e4m3fnuz => 448.0,
        elem if elem.bits()? <= 8 => 255.0,
        _ => return None,
    })
}

/// Returns the magnitude of a value whose upper bound is `most`.
fn at_most(most: f64) -> Size {
    if most.is_finite() { Size::AtMost(most) } else { Size::Wide }
}

/// Returns the magnitude of a root.
fn root(size: Size) -> Size {
    match size {
        Size::AtMost(most) => at_most(most.sqrt().max(most.min(1.0))),
        Size::Ordinary | Size::Wide => Size::Ordinary,
    }
}

/// Returns the number of summed elements per output element of a reduction, if it is known.
pub fn summed(model: &Model, facts: &Facts, id: NodeId) -> Option<i64> {
    let node = &model.nodes[id];
    let size = |value: Option<_>| -> Option<i64> {
        let dims = facts[value?].dims()?;
        dims.iter().try_fold(1i64, |product, dim| product.checked_mul(dim.as_ref()?.as_const()?))
    };
    if !node.is("CumSum")
        && let (Some(before), Some(after)) = (size(node.input(0)), size(node.output(0)))
        && after > 0
    {
        return Some(before / after);
    }
    let dims = facts[node.input(0)?].dims()?;
    let axes = match node.attr("axes") {
        Some(AttrValue::Ints(axes)) => axes.clone(),
        _ => facts[node.input(1)?].as_const()?.as_i64s().ok()?,
    };
    axes.iter().try_fold(1i64, |product, &axis| {
        let axis = if axis < 0 { axis + dims.len() as i64 } else { axis };
        let dim = dims.get(usize::try_from(axis).ok()?)?.as_ref()?.as_const()?;
        product.checked_mul(dim)
    })
}
