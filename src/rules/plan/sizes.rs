//! Computes sizes at run time, for lists of a rewrite that contain symbolic dimensions.
//!
//! A rule that states a size, as in `Reshape (x, shape(y))`, need not distinguish static and dynamic
//! programs. A static size becomes a constant; new nodes compute a symbolic size from the shapes of inputs.

use std::sync::Arc;

use super::{Item, Made, Plan, PlannedOp};
use crate::graph::dim::{Dim, Form};
use crate::graph::{AttrValue, Attribute, ElemType};
use crate::infer::eval::Array;
use crate::rules::bindings::Match;
use crate::rules::datum::Datum;
use crate::rules::eval::Env;
use crate::rules::host::Host;
use crate::schema;

/// Opset of the nodes that compute sizes, equal to the opset of lowered programs.
const OPSET: u16 = 18;

/// Returns a plan that replaces outputs of a node by Expand nodes; the outputs have no elements.
/// Returns `None` if the sizes of the outputs cannot be computed from the sizes of inputs.
pub(super) fn empty<H: Host>(
    host: &H,
    node: H::Node,
    values: &[(H::Value, ElemType, Vec<Dim>)],
) -> Option<Plan<H::Value, H::Node>> {
    let found = Match::of_node(node);
    let mut env = Env::new(host, &found);
    let mut outputs = Vec::new();
    for (value, elem, dims) in values {
        let zero = Arc::new(Array::zeros(*elem, Vec::new()).ok()?);
        let zero = env.draft.add_value(Made::Constant(zero));
        let dims = Datum::List(dims.iter().cloned().map(Datum::from).collect());
        let sizes = env.constant_of(&dims, Some(ElemType::Int64))?;
        outputs.push((*value, env.node_of("Expand", vec![zero, sizes], Vec::new())?));
    }
    let (nodes, values, tensors) = env.draft.into_made().ok()?;
    Some(Plan { found, nodes, values, tensors, outputs })
}

impl<H: Host> Env<'_, H> {
    /// Returns a value with the elements of `datum`: 0-D for a dimension, 1-D for a list.
    /// Returns `None` if the elements cannot be computed from the sizes of inputs.
    pub(super) fn computed(&mut self, datum: &Datum, elem: ElemType) -> Option<Item<H::Value>> {
        let sized = self.host.sized(*self.found.nodes.last()?);
        if sized.is_empty() {
            return None;
        }
        let value = match datum {
            Datum::Dim(dim) => {
                let size = self.size(dim, &sized)?;
                let axis = self.integers(&[0])?;
                self.node_of("Squeeze", vec![size, axis], Vec::new())?
            }
            Datum::List(items) => self.list_of_sizes(items, &sized)?,
            _ => return None,
        };
        match elem {
            ElemType::Int64 => Some(value),
            _ => {
                let to = Attribute::new("to", AttrValue::Int(elem.number().into()));
                self.node_of("Cast", vec![value], vec![to])
            }
        }
    }

    /// Concatenates sizes.
    /// Neighboring axes of one value, and neighboring constants, become a single input of the Concat.
    fn list_of_sizes(&mut self, items: &[Datum], sized: &[H::Value]) -> Option<Item<H::Value>> {
        let dims: Option<Vec<Dim>> = items.iter().map(dim).collect();
        let dims = dims?;
        let (mut parts, mut rest) = (Vec::new(), dims.as_slice());
        while let Some(first) = rest.first() {
            let known: Vec<i64> = rest.iter().map_while(Dim::as_const).collect();
            let taken = if !known.is_empty() {
                parts.push(self.integers(&known)?);
                known.len()
            } else if let Some((value, axis)) = self.source(first, sized) {
                let more = rest.iter().enumerate().take_while(|(n, dim)| self.is_at(dim, value, axis + n));
                let count = more.count();
                parts.push(self.shape_of(value, axis, count)?);
                count
            } else {
                parts.push(self.size(first, sized)?);
                1
            };
            rest = &rest[taken..];
        }
        match parts.as_slice() {
            [only] => Some(*only),
            _ => self.node_of("Concat", parts, vec![Attribute::new("axis", AttrValue::Int(0))]),
        }
    }

    /// Returns a 1-D value whose only element is a size.
    fn size(&mut self, dim: &Dim, sized: &[H::Value]) -> Option<Item<H::Value>> {
        if let Some((value, axis)) = self.source(dim, sized) {
            return self.shape_of(value, axis, 1);
        }
        match dim.form()? {
            Form::Known(known) => self.integers(&[known]),
            Form::Symbol(_) => None,
            Form::Min(operands) => self.folded("Min", &operands, sized),
            Form::Max(operands) => self.folded("Max", &operands, sized),
            Form::FloorDiv(numerator, divisor) => {
                let is_natural = numerator.at_least(&Dim::known(0), self.host.bounds()).is_always();
                let (a, b) = (self.size(&numerator, sized)?, self.size(&divisor, sized)?);
                // Div rounds toward zero, and Mod has the sign of the divisor.
                let whole = if is_natural {
                    a
                } else {
                    let rest = self.node_of("Mod", vec![a, b], Vec::new())?;
                    self.node_of("Sub", vec![a, rest], Vec::new())?
                };
                self.node_of("Div", vec![whole, b], Vec::new())
            }
            Form::Sum(terms) => {
                let mut sum = None;
                for (coefficient, factors) in terms {
                    let mut product = match coefficient {
                        1 if !factors.is_empty() => None,
                        _ => Some(self.integers(&[coefficient])?),
                    };
                    for factor in &factors {
                        let factor = self.size(factor, sized)?;
                        product = Some(self.joined("Mul", product, factor)?);
                    }
                    sum = Some(self.joined("Add", sum, product?)?);
                }
                sum
            }
        }
    }

    fn folded(&mut self, op: &str, operands: &[Dim], sized: &[H::Value]) -> Option<Item<H::Value>> {
        let mut result = None;
        for operand in operands {
            let operand = self.size(operand, sized)?;
            result = Some(self.joined(op, result, operand)?);
        }
        result
    }

    fn joined(
        &mut self,
        op: &str,
        left: Option<Item<H::Value>>,
        right: Item<H::Value>,
    ) -> Option<Item<H::Value>> {
        match left {
            Some(left) => self.node_of(op, vec![left, right], Vec::new()),
            None => Some(right),
        }
    }

    /// Returns the first of the `sized` values with an axis of size `dim`, and the axis.
    fn source(&self, dim: &Dim, sized: &[H::Value]) -> Option<(H::Value, usize)> {
        sized.iter().find_map(|&value| {
            let axes = self.host.fact(value).dims()?.len();
            (0..axes).find(|&axis| self.is_at(dim, value, axis)).map(|axis| (value, axis))
        })
    }

    fn is_at(&self, dim: &Dim, value: H::Value, axis: usize) -> bool {
        let size = self.host.fact(value).dims().and_then(|dims| dims.get(axis)?.as_ref());
        dim.as_const().is_none() && size == Some(dim)
    }

    fn shape_of(&mut self, value: H::Value, axis: usize, count: usize) -> Option<Item<H::Value>> {
        let bound =
            |name: &str, at: usize| i64::try_from(at).ok().map(|at| Attribute::new(name, AttrValue::Int(at)));
        let mut attrs = Vec::new();
        if axis > 0 {
            attrs.push(bound("start", axis)?);
        }
        if Some(axis + count) != self.host.fact(value).rank() {
            attrs.push(bound("end", axis + count)?);
        }
        self.node_of("Shape", vec![Item::Old(value)], attrs)
    }

    fn integers(&mut self, numbers: &[i64]) -> Option<Item<H::Value>> {
        let list = Datum::List(numbers.iter().copied().map(Datum::Int).collect());
        self.constant_of(&list, Some(ElemType::Int64))
    }

    fn node_of(
        &mut self,
        op: &str,
        inputs: Vec<Item<H::Value>>,
        attrs: Vec<Attribute>,
    ) -> Option<Item<H::Value>> {
        let schema = schema::lookup("", op, OPSET)?;
        let op = PlannedOp { domain: "".into(), name: op.into(), schema: Some(schema) };
        Some(self.draft.add_node(op, inputs, attrs))
    }
}

fn dim(datum: &Datum) -> Option<Dim> {
    match datum {
        Datum::Int(known) => Some(Dim::known(*known)),
        Datum::Dim(dim) => Some(dim.clone()),
        _ => None,
    }
}
