//! Lowering of `torch.vmap`: a Scan over the batch axis.
//!
//! `torch.export` records the nodes between `_vmap_increment_nesting` and `_vmap_decrement_nesting` with
//! the shapes of one sample. `_add_batch_dim` splits a tensor into samples, and `_remove_batch_dim` stacks
//! the samples.

use rustc_hash::FxHashSet;

use super::alias::{Link, link, operands};
use super::body;
use super::builder::{Builder, declared};
use crate::graph::{AttrValue, Attribute};
use crate::torch::{Argument, Node, NodeId, Trace, ValueId};

const START: &str = "_vmap_increment_nesting";
const END: &str = "_vmap_decrement_nesting";

/// Returns the name of a function of `torch._functorch.predispatch`.
fn function(node: &Node) -> Option<&str> {
    let is_functorch = node.op.is("torch", "_functorch");
    node.op.overload.strip_prefix("predispatch.").filter(|_| is_functorch)
}

/// Returns true if a node loads PyTorch's own code, and computes nothing.
pub fn is_mark(node: &Node) -> bool {
    function(node) == Some("lazy_load_decompositions")
}

/// Splits nodes into single nodes and the outermost regions of `torch.vmap`, with their marks.
pub fn units<'t>(trace: &Trace, nodes: &'t [NodeId]) -> Vec<&'t [NodeId]> {
    let (mut units, mut rest) = (Vec::new(), nodes);
    while !rest.is_empty() {
        let (unit, after) = rest.split_at(length(trace, rest));
        units.push(unit);
        rest = after;
    }
    units
}

/// Returns the number of nodes of the first unit; 1 for a region without an end.
fn length(trace: &Trace, nodes: &[NodeId]) -> usize {
    let mut depth = 0;
    for (at, &id) in nodes.iter().enumerate() {
        match function(trace.node(id)) {
            Some(START) => depth += 1,
            Some(END) if depth > 0 => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    1
}

/// A tensor that is split into samples, or stacked from samples, along an axis.
struct Batched {
    argument: Argument,
    axis: i64,
    output: ValueId,
}

/// The contents of a region.
#[derive(Default)]
struct Region<'t> {
    split: Vec<Batched>,
    stacked: Vec<Batched>,
    /// Nodes and inner regions that depend on the sample.
    of_sample: Vec<&'t [NodeId]>,
    /// Values that differ between samples.
    samples: FxHashSet<ValueId>,
}

impl Region<'_> {
    /// Returns the values outside the region with which a stacked tensor may share elements.
    fn bases(&self, trace: &Trace, stacked: &Batched) -> Vec<ValueId> {
        let (mut bases, mut seen) = (Vec::new(), FxHashSet::default());
        let mut open: Vec<ValueId> = trace.as_value(&stacked.argument).into_iter().collect();
        while let Some(value) = open.pop() {
            if !seen.insert(value) {
                continue;
            }
            if let Some(split) = self.split.iter().find(|split| split.output == value) {
                bases.extend(trace.as_value(&split.argument));
            } else if !self.samples.contains(&value) {
                bases.push(value);
            } else if let Some(node) = trace.producer(value).map(|node| trace.node(node))
                && (function(node).is_some()
                    || node.op.in_place_of().is_some()
                    || link(trace, node, value) != Link::Copy)
            {
                open.extend(operands(trace, node));
            }
        }
        bases
    }
}

impl<'t> Builder<'t> {
    /// Lowers a region of `torch.vmap` to a Scan. Nodes that do not depend on the sample precede the Scan.
    pub fn vmap(&mut self, region: &'t [NodeId]) -> Result<(), String> {
        let [start, inside @ .., _] = region else { return Ok(()) };
        let randomness = self.trace.node(*start).inputs.get(1).map(|input| self.trace.see(&input.argument));
        if !matches!(randomness, Some(Argument::Str(text)) if &**text == "error") {
            return Err("its argument `randomness` is not \"error\"".to_owned());
        }
        let region = self.region(inside)?;
        let Some(last) = region.stacked.last().map(|stacked| stacked.output) else { return Ok(()) };
        let operands = region.split.iter().map(|split| self.both(&split.argument));
        let operands = operands.collect::<Result<Vec<_>, _>>()?;
        if operands.is_empty() {
            return Err("none of its inputs has a batch axis".to_owned());
        }
        let body = self.body(|builder| builder.sample(&region))?;
        for &value in &region.samples {
            self.writes.forget(value);
            self.values.remove(&value);
            self.imaginary.remove(&value);
        }
        self.at = self.trace.producer(last);
        let axes = |batched: &[Batched]| {
            let axes =
                batched.iter().flat_map(|one| std::iter::repeat_n(one.axis, self.parts(one.output).len()));
            AttrValue::Ints(axes.collect())
        };
        let (split, stacked) = (axes(&region.split), axes(&region.stacked));
        let operands: Vec<_> = operands.concat().into_iter().map(Some).collect();
        let mut attrs = body::scan(body, operands.len());
        attrs.push(Attribute::new("scan_input_axes", split));
        attrs.push(Attribute::new("scan_output_axes", stacked));
        let outputs: Vec<ValueId> = region.stacked.iter().map(|stacked| stacked.output).collect();
        self.results(&outputs, "Scan", operands, attrs);
        for stacked in &region.stacked {
            let bases = region.bases(self.trace, stacked);
            if !bases.is_empty() {
                self.writes.may_share(stacked.output, bases);
            }
        }
        Ok(())
    }

    /// Analyzes a region, and lowers its nodes that do not depend on the sample.
    fn region(&mut self, inside: &'t [NodeId]) -> Result<Region<'t>, String> {
        let trace = self.trace;
        let mut region = Region::default();
        for unit in units(trace, inside) {
            let node = trace.node(unit[0]);
            let is_sample = |value: &ValueId| region.samples.contains(value);
            match function(node) {
                Some("_add_batch_dim") => {
                    let split = self.batched(node, 1, node.inputs.first().map(|input| &input.argument))?;
                    region.samples.insert(split.output);
                    region.split.push(split);
                }
                Some("_remove_batch_dim") => {
                    let whole = node.outputs.first().map(|&output| Argument::Value(output));
                    region.stacked.push(self.batched(node, 3, whole.as_ref())?);
                }
                _ if unit.len() > 1
                    || !node.blocks.is_empty()
                    || trace.values_read(node).iter().any(is_sample) =>
                {
                    let outputs = unit.iter().flat_map(|&id| &trace.node(id).outputs);
                    region.samples.extend(outputs);
                    region.of_sample.push(unit);
                }
                _ if node.writes_out()
                    || node
                        .op
                        .in_place_of()
                        .is_some_and(|name| !matches!(name, "detach" | "requires_grad")) =>
                {
                    return Err("it contains a write into a tensor without a batch axis".to_owned());
                }
                _ => self.sequence(unit),
            }
        }
        Ok(region)
    }

    /// Returns the operand, result and batch axis of a node; `whole` is the tensor that has this axis.
    fn batched(&self, node: &Node, at: usize, whole: Option<&Argument>) -> Result<Batched, String> {
        let unknown = || "its batch axes are not known".to_owned();
        let argument = node.inputs.first().map(|input| input.argument.clone());
        let axis = node.inputs.get(at).and_then(|input| self.trace.int(&input.argument));
        let rank = whole.and_then(|whole| self.trace.value(self.trace.as_value(whole)?).ty.shape());
        let (Some(argument), Some(axis), Some(rank), Some(&output)) =
            (argument, axis, rank.map(|shape| shape.len() as i64), node.outputs.first())
        else {
            return Err(unknown());
        };
        let axis = if axis < 0 { axis + rank } else { axis };
        if !(0..rank).contains(&axis) {
            return Err(unknown());
        }
        Ok(Batched { argument, axis, output })
    }

    /// Adds the nodes of one sample to the current subgraph.
    fn sample(&mut self, region: &Region<'t>) -> Result<(), String> {
        let trace = self.trace;
        for split in &region.split {
            self.writes.forget(split.output);
            let value = trace.value(split.output);
            for &part in self.parts(split.output) {
                let input = self.body_input(&value.name, declared(&value.ty));
                self.define(split.output, part, input);
            }
        }
        let writes = |builder: &Self| -> usize {
            region.split.iter().map(|split| builder.writes.count(split.output)).sum()
        };
        let before = writes(self);
        for unit in &region.of_sample {
            self.sequence(unit);
        }
        if writes(self) > before {
            return Err("it contains a write into one of its inputs".to_owned());
        }
        for stacked in &region.stacked {
            let parts = self.both(&stacked.argument)?;
            let of = trace.as_value(&stacked.argument).ok_or("one of its results is not a tensor")?;
            for part in parts {
                self.give_one(part, declared(&trace.value(of).ty));
            }
        }
        Ok(())
    }
}
