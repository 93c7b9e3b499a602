//! Memory sharing: views, and results of in-place operators.

use super::trace::{Definition, Node, NodeId, Origin, Trace, ValueId};
use super::types::TensorType;

/// Whether a view covers all elements of its base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Every element of the base.
    Whole,
    /// Only some elements of the base.
    Part,
}

/// The tensor that a view is part of, and how much of it the view covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Base {
    pub value: ValueId,
    pub coverage: Coverage,
}

/// The bases of all views in a trace.
#[derive(Debug)]
pub struct Views {
    bases: Vec<Option<Base>>,
    /// The root of each value's chain of bases; values with equal roots share memory.
    roots: Vec<ValueId>,
}

impl Views {
    /// Finds the views of a trace.
    pub fn of(trace: &Trace) -> Self {
        let mut bases: Vec<Option<Base>> = vec![None; trace.values.len()];
        let mut roots: Vec<ValueId> = (0..trace.values.len() as u32).map(ValueId).collect();
        // Bases are defined before their views, so one pass finds all roots.
        for (id, node) in trace.nodes() {
            let Some(base) = base_of(trace, node) else { continue };
            for &output in &node.outputs {
                if is_defined_before(trace, base.value, id) {
                    bases[output.index()] = Some(base);
                    roots[output.index()] = roots[base.value.index()];
                }
            }
        }
        Views { bases, roots }
    }

    /// Returns the tensor whose storage a value shares; `None` if the value is not a view.
    pub fn base(&self, value: ValueId) -> Option<Base> {
        self.bases[value.index()]
    }

    /// Returns the root of the value's chain of bases; the value shares the memory of the root.
    pub fn root(&self, value: ValueId) -> ValueId {
        self.roots[value.index()]
    }

    /// Returns true if two values certainly share elements.
    ///
    /// They do if one is a view of the other, or if one covers the whole common base of both.
    pub fn overlap(&self, a: ValueId, b: ValueId) -> bool {
        let (of_a, of_b) = (self.ancestry(a), self.ancestry(b));
        let common = of_a.iter().find_map(|&(value, whole_a)| {
            of_b.iter().find(|&&(other, _)| other == value).map(|&(_, whole_b)| whole_a || whole_b)
        });
        common == Some(true)
    }

    /// Returns `value` and its bases, nearest first; the flag tells whether `value` covers the whole base.
    fn ancestry(&self, value: ValueId) -> Vec<(ValueId, bool)> {
        let mut chain = vec![(value, true)];
        let (mut at, mut whole) = (value, true);
        while let Some(base) = self.base(at) {
            whole &= base.coverage == Coverage::Whole;
            chain.push((base.value, whole));
            at = base.value;
        }
        chain
    }
}

fn is_defined_before(trace: &Trace, value: ValueId, node: NodeId) -> bool {
    match trace.value(value).definition {
        Definition::Node(producer, _) => producer < node,
        _ => true,
    }
}

/// Returns the base of a node's outputs. In-place operators return the tensor that they wrote to.
fn base_of(trace: &Trace, node: &Node) -> Option<Base> {
    let value = trace.receiver(node)?;
    if node.op.is("prim", "ListUnpack") {
        return Some(Base { value, coverage: Coverage::Part });
    }
    let coverage = match node.op.aten()? {
        _ if node.op.in_place_of().is_some() => Coverage::Whole,
        "view" | "view_as" | "unsqueeze" | "squeeze" | "transpose" | "swapaxes" | "swapdims" | "permute"
        | "movedim" | "moveaxis" | "t" | "numpy_T" | "expand" | "expand_as" | "broadcast_to"
        | "unflatten" | "detach" | "alias" | "lift_fresh" | "view_as_real" | "view_as_complex" => {
            Coverage::Whole
        }
        "reshape" | "reshape_as" | "flatten" | "contiguous" if is_contiguous(trace, value) => Coverage::Whole,
        "select" | "slice" | "narrow" | "diagonal" | "unfold" | "as_strided" | "chunk" | "split"
        | "split_with_sizes" | "tensor_split" | "unbind" | "real" | "imag" => Coverage::Part,
        _ => return None,
    };
    Some(Base { value, coverage })
}

fn is_contiguous(trace: &Trace, value: ValueId) -> bool {
    trace.value(value).ty.tensor().is_some_and(TensorType::is_contiguous)
}

/// Returns the tensor that the tracing exporter updates when `value` is written to in place.
///
/// Like `torch/csrc/jit/passes/onnx/pattern_conversion`, the search follows `select` and `slice` to their
/// bases, but no other view, and stops at values with a Python name. With `row = y[0]`, `row.add_(1)` does
/// not change `y`, but `y[0].add_(1)` does (tested with PyTorch 2.15).
pub fn written_through(trace: &Trace, mut value: ValueId) -> ValueId {
    debug_assert_eq!(trace.origin, Origin::TorchScript);
    while let Some(node) = trace.producer(value).map(|id| trace.node(id)) {
        match (node.op.aten(), trace.receiver(node)) {
            (Some("select" | "slice"), Some(base)) if !has_name(trace, value) => value = base,
            _ => break,
        }
    }
    value
}

/// Returns true if a value has a Python name, as `%row` but not `%12`.
fn has_name(trace: &Trace, value: ValueId) -> bool {
    !trace.value(value).name.starts_with(|first: char| first.is_ascii_digit())
}
