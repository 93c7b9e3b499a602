//! Size constraints: values that nodes require of dynamic sizes.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::dynamic_dims::DynamicDims;
use super::reachability::Reach;
use crate::analyses::LintContext;
use crate::graph::dim::{Answer, Dim};
use crate::graph::{ElemType, Node, Owner, ValueId};
use crate::infer::{Fact, Size};
use crate::schema::operator;

/// Size constraint: the value of a dynamic size at which a node computes the intended result.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// Index of the input that a finding points at, usually the one with the constant.
    pub input: usize,
    /// Dynamic size, or an expression over dynamic sizes.
    pub size: Dim,
    /// Value that `size` must have.
    pub fixed: Dim,
    /// Kind of the constraint.
    pub kind: Kind,
}

/// Kind of a size constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The inputs must have equal sizes on an axis, or the dynamic size must be 1.
    Broadcast,
    /// The inputs must have equal sizes on an axis.
    Equal,
    /// The element counts of the input and the target of a Reshape must be equal.
    Elements,
    /// A Reshape has a constant for the dynamic size, and -1 for a later axis: it runs, but mixes up rows.
    Moves,
    /// Like `Moves`, but the Reshape fails unless its constants divide the element count.
    Divides,
    /// Like `Divides`, but if all dynamic sizes are `at`, some block of the result has a part of a row.
    Mixes { at: i64 },
    /// A Reshape has -1 for the batch, and constants for the dynamic sizes of later axes.
    Leads,
    /// The batch axis is resampled to a static number of rows.
    Resamples,
    /// The axis is split into two parts, at half of the required size. The two parts of the axis must have
    /// equal sizes, or the second part must have size 1.
    Halves,
    /// The given model output is declared with the dynamic size.
    Declared(ValueId),
}

/// Origin of a required size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Maker {
    /// An input that depends only on constants.
    Here,
    /// An input that depends on model inputs: an earlier node made its size static.
    Before,
}

/// Finder of size constraints.
pub struct Demands<'a> {
    /// Model to lint.
    pub cx: &'a LintContext<'a>,
    /// Dynamic sizes of the model inputs.
    pub free: &'a DynamicDims<'a>,
    /// Reachability of the values of the model.
    pub reach: &'a Reach,
}

impl Demands<'_> {
    /// Returns the size constraints of a node.
    ///
    /// Sizes that an earlier node made static are left to [`Demands::of_handed_on`], because the earlier node
    /// is at fault.
    pub fn of(&self, node: &Node) -> Vec<Demand> {
        if !node.domain().is_empty() {
            return Vec::new();
        }
        match &*node.op_type {
            "Reshape" => self.reshape(node).into_iter().collect(),
            "Expand" => self.expand(node),
            "Resize" => self.resize(node).into_iter().collect(),
            "Concat" => self.concat(node, Maker::Here),
            "MatMul" => self
                .pairs(node, 2, Maker::Here)
                .into_iter()
                .chain(self.contracted(node, Maker::Here))
                .collect(),
            "Gemm" => self.bias(node).into_iter().collect(),
            "Split" => self.split(node).into_iter().collect(),
            "Squeeze" => self.squeeze(node).into_iter().collect(),
            "GRU" | "LSTM" | "RNN" => self.recurrent(node),
            op if broadcasts(op) => self.pairs(node, 0, Maker::Here),
            _ => Vec::new(),
        }
    }

    /// Returns the size constraints that inputs made static by earlier nodes cause at a node.
    pub fn of_handed_on(&self, node: &Node) -> Vec<Demand> {
        match &*node.op_type {
            _ if !node.domain().is_empty() => Vec::new(),
            "Concat" => self.concat(node, Maker::Before),
            "MatMul" => self.contracted(node, Maker::Before).into_iter().collect(),
            op if broadcasts(op) => self.pairs(node, 0, Maker::Before),
            _ => Vec::new(),
        }
    }

    /// Returns the shape of a node input.
    pub(super) fn dims(&self, node: &Node, input: usize) -> Option<&[Size]> {
        self.cx.input(node, input)?.dims()
    }

    /// Whether an input depends only on constants, so that the node itself causes the fault.
    fn is_cause(&self, node: &Node, input: usize) -> bool {
        self.is_made(node, input, Maker::Here)
    }

    fn is_made(&self, node: &Node, input: usize, maker: Maker) -> bool {
        let depends = node.input(input).map(|value| self.reach.depends_on_inputs(value));
        depends == Some(maker == Maker::Before)
    }

    /// Returns the constraint that `size` equals the constant `fixed`.
    ///
    /// Returns `None` if the two sizes are proved always equal or never equal, or if a symbol of `size` is
    /// not from a model input. A constant axis of size 1 that broadcasts causes no constraint.
    pub(super) fn demand(&self, input: usize, size: &Size, fixed: &Size, kind: Kind) -> Option<Demand> {
        let (size, fixed) = (size.as_ref()?, fixed.as_ref()?);
        let number = fixed.as_const()?;
        if kind == Kind::Broadcast && number == 1 || self.free.lost(size, fixed).is_none() {
            return None;
        }
        let open = size.equals(fixed, &self.cx.facts.bounds) == Answer::Unknown;
        open.then(|| Demand { input, size: size.clone(), fixed: fixed.clone(), kind })
    }

    /// Returns the size constraints of inputs that broadcast along all axes except the last `core`.
    fn pairs(&self, node: &Node, core: usize, maker: Maker) -> Vec<Demand> {
        let mut found = Vec::new();
        // Each input is compared with the distinct shapes of all inputs: even a node with many inputs has few
        // distinct shapes. Equal shapes cause no constraint.
        let shapes = (0..node.inputs.len()).filter_map(|input| self.dims(node, input));
        let shapes: IndexSet<&[Size], FxBuildHasher> = shapes.collect();
        for fixed in (0..node.inputs.len()).filter(|&input| self.is_made(node, input, maker)) {
            let Some(of_fixed) = self.dims(node, fixed) else { continue };
            for &of_other in &shapes {
                let axes = of_fixed.iter().rev().zip(of_other.iter().rev()).skip(core);
                let demands = axes.filter_map(|(k, size)| self.demand(fixed, size, k, Kind::Broadcast));
                let is_mask = self.cx.input(node, fixed).and_then(Fact::elem) == Some(ElemType::Bool);
                let is_baked = |demand: &Demand| is_mask || self.is_more_than_a_parameter(of_fixed, demand);
                found.extend(demands.filter(is_baked));
            }
        }
        found
    }

    /// Returns the size constraint of a left matrix on the contracted axis: `torch.ones(5, 5).tril() @ x`.
    ///
    /// The right matrix is not checked, because a constant right matrix is usually a weight.
    fn contracted(&self, node: &Node, maker: Maker) -> Option<Demand> {
        let ([.., _, columns], [.., rows, _]) =
            (self.dims(node, 0).filter(|_| self.is_made(node, 0, maker))?, self.dims(node, 1)?)
        else {
            return None;
        };
        self.demand(0, rows, columns, Kind::Equal)
    }

    /// Whether a constant has a traced size, and is not a parameter with one value per feature.
    ///
    /// A constant with at most one axis longer than 1 counts as a parameter, unless the constraint is on a batch size.
    fn is_more_than_a_parameter(&self, constant: &[Size], demand: &Demand) -> bool {
        let one = Some(Dim::known(1));
        let along = constant.iter().filter(|size| **size != one).count();
        along > 1 || self.free.lost(&demand.size, &demand.fixed).is_some_and(|free| free.axis == 0)
    }

    /// Returns the size constraint of the third input of Gemm, which broadcasts to the product.
    fn bias(&self, node: &Node) -> Option<Demand> {
        let transposed = node.attr("transA").and_then(|trans| trans.as_int()).unwrap_or(0) != 0;
        let [rows, _] = self.dims(node, 2).filter(|_| self.is_cause(node, 2))? else { return None };
        let size = self.dims(node, 0)?.get(usize::from(transposed))?;
        self.demand(2, size, rows, Kind::Broadcast)
    }

    /// Returns the size constraint of Split: the sizes of its parts must sum to that of the axis.
    fn split(&self, node: &Node) -> Option<Demand> {
        let sizes = match node.attr("split").and_then(|sizes| sizes.as_ints()) {
            Some(sizes) => sizes.to_vec(),
            None => {
                let sizes = self.elements(node, 1)?.into_iter();
                sizes.map(|size| size.as_ref()?.as_const()).collect::<Option<_>>()?
            }
        };
        let axis = self.axis(node.attr("axis").and_then(|axis| axis.as_int()).unwrap_or(0), node)?;
        let (input, sum) = (usize::from(node.input(1).is_some()), Dim::known(sizes.iter().sum()));
        self.demand(input, self.dims(node, 0)?.get(axis)?, &Some(sum), Kind::Equal)
    }

    /// Returns the size constraint of Squeeze: the batch size must be 1.
    ///
    /// Axes other than the batch are not reported, nor are nodes in subgraphs, which may check the size.
    fn squeeze(&self, node: &Node) -> Option<Demand> {
        if matches!(self.cx.model.graphs[node.graph].owner, Owner::Node(_)) {
            return None;
        }
        let axes = match node.attr("axes").and_then(|axes| axes.as_ints()) {
            Some(axes) => axes.to_vec(),
            None => {
                let axes = self.elements(node, 1)?.into_iter();
                axes.map(|axis| axis.as_ref()?.as_const()).collect::<Option<_>>()?
            }
        };
        let one = Some(Dim::known(1));
        let demand =
            |axis: i64| self.demand(0, self.dims(node, 0)?.get(self.axis(axis, node)?)?, &one, Kind::Equal);
        let is_batch = |demand: &Demand| {
            self.free.lost(&demand.size, &demand.fixed).is_some_and(|free| free.named && free.axis == 0)
        };
        axes.into_iter().filter_map(demand).find(is_batch)
    }

    /// Returns an axis of the first input, counted from the start.
    fn axis(&self, axis: i64, node: &Node) -> Option<usize> {
        let rank = i64::try_from(self.dims(node, 0)?.len()).ok()?;
        usize::try_from(if axis < 0 { axis + rank } else { axis }).ok()
    }

    fn expand(&self, node: &Node) -> Vec<Demand> {
        let (Some(of_data), Some(target)) = (self.dims(node, 0), self.elements(node, 1)) else {
            return Vec::new();
        };
        let axes = || of_data.iter().rev().zip(target.iter().rev());
        let by_target = axes().filter_map(|(size, k)| self.demand(1, size, k, Kind::Broadcast));
        // If the target is dynamic, the input can be a constant of the traced size, such as zeros for a state.
        let is_constant = self.is_cause(node, 0);
        let by_data =
            axes().filter(|_| is_constant).filter_map(|(k, size)| self.demand(0, size, k, Kind::Broadcast));
        by_target.chain(by_data.filter(|demand| self.is_more_than_a_parameter(of_data, demand))).collect()
    }

    fn concat(&self, node: &Node, maker: Maker) -> Vec<Demand> {
        let Some(axis) = node.attr("axis").and_then(|axis| axis.as_int()) else { return Vec::new() };
        let mut found = Vec::new();
        let mut sizes: Option<Vec<Vec<(usize, &Size)>>> = None;
        for fixed in (0..node.inputs.len()).filter(|&input| self.is_made(node, input, maker)) {
            let Some(of_fixed) = self.dims(node, fixed) else { continue };
            let along = if axis < 0 { axis + of_fixed.len() as i64 } else { axis };
            let sizes = sizes.get_or_insert_with(|| self.distinct_sizes(node, of_fixed.len()));
            let axes = of_fixed.iter().zip(sizes).enumerate().filter(|(axis, _)| *axis as i64 != along);
            for (_, (k, sizes)) in axes {
                let others = sizes.iter().filter(|(other, _)| *other != fixed);
                found.extend(others.filter_map(|(_, size)| self.demand(fixed, size, k, Kind::Equal)));
            }
        }
        found
    }

    /// Returns the distinct sizes of each axis among the inputs of this rank.
    ///
    /// Each size comes with the first input that has it. The number of sizes per axis is limited, so that the work is
    /// linear in the number of inputs.
    fn distinct_sizes(&self, node: &Node, rank: usize) -> Vec<Vec<(usize, &Size)>> {
        const DISTINCT: usize = 8;
        let mut sizes: Vec<Vec<(usize, &Size)>> = vec![Vec::new(); rank];
        for input in 0..node.inputs.len() {
            let dims = self.dims(node, input).filter(|dims| dims.len() == rank);
            for (size, known) in dims.unwrap_or_default().iter().zip(&mut sizes) {
                if known.len() < DISTINCT && !known.iter().any(|(_, other)| *other == size) {
                    known.push((input, size));
                }
            }
        }
        sizes
    }

    /// Returns the size constraints of recurrent layers with `layout` 0.
    ///
    /// Initial states and sequence lengths must have the batch size of the sequence.
    fn recurrent(&self, node: &Node) -> Vec<Demand> {
        let is_default_layout = node.attr("layout").and_then(|layout| layout.as_int()).unwrap_or(0) == 0;
        let Some([_, batch, _]) = self.dims(node, 0).filter(|_| is_default_layout) else { return Vec::new() };
        let batch_of = [(4, 0), (5, 1), (6, 1)];
        let made_here = batch_of.into_iter().filter(|&(input, _)| self.is_cause(node, input));
        let sizes = made_here.filter_map(|(input, axis)| Some((input, self.dims(node, input)?.get(axis)?)));
        sizes.filter_map(|(input, k)| self.demand(input, batch, k, Kind::Equal)).collect()
    }

    /// Returns the elements of an integer input.
    fn elements(&self, node: &Node, input: usize) -> Option<Vec<Size>> {
        self.cx.input(node, input).and_then(Fact::as_ints)
    }

    /// Returns the size constraint of Resize, if it resamples the batch axis.
    ///
    /// Resize interpolates along every axis whose size changes, even the batch axis.
    fn resize(&self, node: &Node) -> Option<Demand> {
        let (size, sizes) = (self.dims(node, 0)?.first()?, self.elements(node, 3)?);
        let is_whole = node.attr("axes").is_none() && node.attr("keep_aspect_ratio_policy").is_none();
        let demand = self.demand(3, size, sizes.first()?, Kind::Resamples)?;
        let is_batch = self.free.lost(&demand.size, &demand.fixed).is_some_and(|free| free.axis == 0);
        (is_whole && is_batch).then_some(demand)
    }
}

/// Returns the name of a node input.
pub fn input_name<'a>(cx: &LintContext<'a>, node: &Node, input: usize) -> &'a str {
    node.input(input).map_or("", |value: ValueId| cx.name(value))
}

/// Whether the inputs of an ONNX operator broadcast.
pub fn broadcasts(op: &str) -> bool {
    operator("", op).is_some_and(|operator| operator.broadcasts())
}
