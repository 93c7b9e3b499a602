//! Alias analysis: results that share elements with an operand, and writes through such views.

use super::argument::{self, Called};
use super::builder::{Builder, declared};
use super::names::Names;
use super::part::Part;
use super::writes::View;
use crate::graph::{AttrValue, Attribute, Tensor, ValueId};
use crate::torch::{self, Argument, Node, TensorType, Trace};

/// Alias relation between a result and an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// The result has its own elements.
    Copy,
    /// The result shares the operand's elements.
    View,
    /// The result may share elements with an operand.
    Perhaps,
}

/// Operators whose results are views of their first operand, whatever its memory layout.
static VIEWS: Names = Names::new("
    _conj _neg_view _reshape_alias _unsafe_view adjoint alias as_strided atleast_1d atleast_2d atleast_3d broadcast_to chunk
    conj detach diagonal dsplit expand expand_as hsplit imag lift_fresh linalg_diagonal mH mT matrix_H moveaxis movedim
    narrow numpy_T permute positive real select slice split split_with_sizes squeeze swapaxes swapdims t tensor_split
    transpose unbind unflatten unfold unsqueeze view view_as view_as_complex view_as_real vsplit");

/// Operators that copy only if the memory layout requires it.
static LAID_OUT: Names = Names::new("contiguous flatten ravel reshape reshape_as");

/// Operators whose results may share elements with an operand.
static SOMETIMES: Names = Names::new("
    _cast_Byte _cast_Char _cast_Double _cast_Float _cast_Half _cast_Int _cast_Long _cast_Short broadcast_tensors
    cartesian_prod chain_matmul channel_shuffle combinations conj_physical einsum meshgrid pixel_shuffle pixel_unshuffle
    resolve_conj resolve_neg sum_to_size unsafe_chunk unsafe_split unsafe_split_with_sizes");

/// Operators that are the identity outside of training.
static TRAINING: Names = Names::new("alpha_dropout dropout feature_alpha_dropout feature_dropout");

/// Returns the alias relation of a node's result to its operands.
pub fn link(trace: &Trace, node: &Node, output: torch::ValueId) -> Link {
    let Some(name) = node.op.in_place_of().or(node.op.aten()) else { return Link::Copy };
    let tensor = |value: torch::ValueId| trace.value(value).ty.tensor();
    let operand = trace.receiver(node);
    let has_list = operand.is_none();
    let given = |name: &str| node.inputs.iter().find(|input| input.name.as_deref() == Some(name));
    let is = |name: &str, at: usize| trace.argument(node, at, name).and_then(|given| trace.bool(given));
    match name {
        // A contraction of several operands has its own elements; a permutation of one operand may be a view.
        "einsum" if operands(trace, node).len() > 1 => Link::Copy,
        // An overload that takes a list of tensors may return views of the members.
        "atleast_1d" | "atleast_2d" | "atleast_3d" if has_list => Link::Perhaps,
        name if SOMETIMES.contains(name) => Link::Perhaps,
        name if VIEWS.contains(name) => Link::View,
        "contiguous" if given("memory_format").is_some() => Link::Perhaps,
        name if LAID_OUT.contains(name) => laid_out(operand.and_then(tensor), tensor(output)),
        name if TRAINING.contains(name) => match is("train", 2) {
            Some(false) => Link::View,
            _ => Link::Perhaps,
        },
        "to" | "type_as" => {
            let [from, to] = [operand, Some(output)].map(|value| value.and_then(tensor)?.elem);
            match (from, to) {
                (Some(from), Some(to)) if from != to => Link::Copy,
                _ if given("copy").is_some_and(|copy| trace.bool(&copy.argument) == Some(true)) => Link::Copy,
                (Some(_), Some(_)) if given("memory_format").is_none() => Link::View,
                _ => Link::Perhaps,
            }
        }
        _ => Link::Copy,
    }
}

/// Alias relation for operators that copy only if the memory layout requires it.
///
/// A contiguous operand is not copied. If only the result is contiguous, the operand was copied.
fn laid_out(operand: Option<&TensorType>, result: Option<&TensorType>) -> Link {
    let is_known = |tensor: &&TensorType| tensor.strides.is_some();
    match (operand.filter(is_known), result.filter(is_known)) {
        (Some(operand), _) if operand.is_contiguous() => Link::View,
        (Some(_), Some(result)) if result.is_contiguous() => Link::Copy,
        (Some(_), Some(_)) => Link::View,
        _ => Link::Perhaps,
    }
}

impl Builder<'_> {
    /// Returns the new value of the base after a write has replaced the elements of the view by `child`.
    pub fn base_with(&mut self, view: &View, base: ValueId, child: ValueId) -> Result<ValueId, String> {
        let node = self.trace.node(view.node);
        let name = node.op.in_place_of().or(node.op.aten()).unwrap_or_default();
        self.part = Part::Real;
        let mut call = argument::called(self, node)?;
        let (op, inputs, attrs) = match name {
            "alias" | "detach" | "lift_fresh" | "positive" | "to" | "type_as" | "contiguous" => {
                return Ok(child);
            }
            name if TRAINING.contains(name) => return Ok(child),
            "view" if &*node.op.overload == "dtype" => return Err(unreachable_by(node)),
            "view" | "view_as" | "reshape" | "reshape_as" | "flatten" | "unflatten" | "ravel" | "squeeze"
            | "unsqueeze" | "atleast_1d" | "atleast_2d" | "atleast_3d" | "_unsafe_view"
            | "_reshape_alias" => ("view_as", vec![Some(child), Some(base)], Vec::new()),
            "t" | "numpy_T" | "mT" | "transpose" | "swapaxes" | "swapdims" => {
                call.inputs[0] = Some(child);
                (&*call.op, call.inputs, call.attrs)
            }
            "permute" => {
                let dims = inverse(&call).ok_or_else(|| unreachable_by(node))?;
                ("permute", vec![Some(child)], vec![Attribute::new("dims", AttrValue::Ints(dims))])
            }
            "movedim" | "moveaxis" => {
                for attr in &mut call.attrs {
                    attr.name = if &*attr.name == "source" { "destination" } else { "source" }.into();
                }
                (&*call.op, vec![Some(child)], call.attrs)
            }
            "select" | "slice" | "diagonal" => {
                call.inputs.insert(1, Some(child));
                call.inputs[0] = Some(base);
                let op = match name {
                    "select" => "select_scatter",
                    "slice" => "slice_scatter",
                    _ => "diagonal_scatter",
                };
                (op, call.inputs, call.attrs)
            }
            "unbind" => {
                let place = self.constant(Tensor::int64s(Vec::new(), &[view.place as i64]));
                let dim = Attribute::new("dim", AttrValue::Int(int(&call, "dim").unwrap_or(0)));
                ("select_scatter", vec![Some(base), Some(child), Some(place)], vec![dim])
            }
            "narrow" | "split" | "split_with_sizes" | "chunk" | "tensor_split" => {
                let dim = int(&call, "dim").unwrap_or(0);
                let range = self.range(node, view, dim).ok_or_else(|| unreachable_by(node))?;
                let [start, end, step] = [range.0, range.1, 1]
                    .map(|number| Some(self.constant(Tensor::int64s(Vec::new(), &[number]))));
                let dim = Attribute::new("dim", AttrValue::Int(dim));
                ("slice_scatter", vec![Some(base), Some(child), start, end, step], vec![dim])
            }
            _ => return Err(unreachable_by(node)),
        };
        Ok(self.aten(op, inputs, attrs, declared(&self.trace.value(view.base).ty)))
    }

    /// Returns the start and end of a view along `dim`, if both are constant.
    fn range(&self, node: &Node, view: &View, dim: i64) -> Option<(i64, i64)> {
        let size = |value: torch::ValueId| {
            let shape = self.trace.value(value).ty.shape()?;
            let dim = if dim < 0 { dim + shape.len() as i64 } else { dim };
            shape.get(usize::try_from(dim).ok()?)?.fixed()
        };
        if node.op.aten() == Some("narrow") {
            let start = self.trace.int(self.trace.argument(node, 2, "start")?)?;
            let start = if start < 0 { start.checked_add(size(view.base)?)? } else { start };
            return Some((start, start.checked_add(size(*node.outputs.first()?)?)?));
        }
        let before = node.outputs.iter().take(view.place).map(|&part| size(part));
        let start = before.sum::<Option<i64>>()?;
        Some((start, start + size(node.outputs[view.place])?))
    }
}

fn unreachable_by(node: &Node) -> String {
    format!("it writes into a view created by `{}`, and the effect on its base cannot be expressed", node.op)
}

fn int(call: &Called, name: &str) -> Option<i64> {
    call.attrs.iter().find(|attr| &*attr.name == name).and_then(|attr| match attr.value {
        AttrValue::Int(int) => Some(int),
        _ => None,
    })
}

/// Returns the inverse of the permutation in the attribute `dims`.
fn inverse(call: &Called) -> Option<Vec<i64>> {
    let attr = call.attrs.iter().find(|attr| &*attr.name == "dims")?;
    let AttrValue::Ints(dims) = &attr.value else { return None };
    let mut inverse = vec![None; dims.len()];
    for (place, &dim) in dims.iter().enumerate() {
        let dim = if dim < 0 { dim + dims.len() as i64 } else { dim };
        *inverse.get_mut(usize::try_from(dim).ok()?)? = Some(place as i64);
    }
    inverse.into_iter().collect()
}

/// Returns the tensors among the arguments of a node, including members of lists.
pub fn operands(trace: &Trace, node: &Node) -> Vec<torch::ValueId> {
    let is_tensor = |value: &torch::ValueId| trace.value(*value).ty.tensor().is_some();
    trace.values_read(node).into_iter().filter(is_tensor).collect()
}

/// Returns true if an argument is a list that contains tensors.
pub fn is_tensor_list(trace: &Trace, argument: &Argument) -> bool {
    let is_tensor = |member: &Argument| match member {
        Argument::Value(value) => trace.value(*value).ty.tensor().is_some(),
        _ => false,
    };
    matches!(argument, Argument::List(members) if members.iter().any(is_tensor))
}
