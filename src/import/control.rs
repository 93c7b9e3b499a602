//! Higher-order operators: branches, loops, and annotated regions.

use super::argument::operand;
use super::body;
use super::builder::{Builder, declared, tensor_type};
use super::part::Part;
use crate::graph::{AttrValue, Attribute, ElemType, Tensor, ValueId};
use crate::torch::{self, Argument, BlockId, NodeId};

/// The real part of an operand and, if it is complex, its imaginary part.
pub(super) type Parts = Vec<ValueId>;

/// Operators that run their subgraph exactly once, so that it can be inlined.
const MARKS: [&str; 6] = [
    "wrap",
    "wrap_with_autocast",
    "wrap_with_set_grad_enabled",
    "tag_activation_checkpoint",
    "hints_wrapper",
    "invoke_subgraph",
];

impl Builder<'_> {
    /// Lowers a node that has subgraphs.
    pub fn control(&mut self, id: NodeId) -> Result<(), String> {
        let node = self.trace.node(id);
        let not_yet =
            || Err(format!("`{}` has subgraphs, and is not a known higher-order operator", node.op));
        if &*node.op.namespace != "higher_order" {
            return not_yet();
        }
        let given: Vec<Argument> = node.inputs.iter().map(|input| input.argument.clone()).collect();
        let lists: Vec<&[Argument]> = given.iter().filter_map(|given| self.trace.list(given)).collect();
        let blocks = &*node.blocks;
        match (&*node.op.name, blocks, lists.as_slice()) {
            (name, &[block], lists) if MARKS.contains(&name) => {
                let plain = given.iter().filter(|given| matches!(given, Argument::Value(_)));
                let plain: Vec<Argument> = plain.cloned().collect();
                self.inline(
                    id,
                    block,
                    lists.first().map_or(&*plain, |list| if plain.is_empty() { list } else { &plain }),
                )
            }
            ("cond", &[yes, no], lists) => {
                let condition = self.truth(given.first())?;
                let operands = lists.first().copied().unwrap_or_default();
                self.branches(id, condition, [yes, no], operands)
            }
            ("while_loop", &[test, body], [carried, rest @ ..]) => {
                let rest = rest.concat();
                self.while_loop(id, [test, body], carried, &rest)
            }
            ("map_impl", &[body], [scanned, rest @ ..]) => self.scan(id, body, &[], scanned, &rest.concat()),
            ("scan", &[body], [carried, scanned, rest @ ..]) => {
                self.scan(id, body, carried, scanned, &rest.concat())
            }
            _ => not_yet(),
        }
    }

    /// Inlines a subgraph into the current graph; its inputs become aliases of the operands.
    fn inline(&mut self, id: NodeId, block: BlockId, operands: &[Argument]) -> Result<(), String> {
        let inputs = &self.trace.block(block).inputs;
        if inputs.len() != operands.len() {
            return Err("it does not have one operand for each input of its subgraph".to_owned());
        }
        for (&input, operand) in inputs.iter().zip(operands) {
            if let Argument::Value(value) = operand {
                self.writes.unite(input, *value);
            }
        }
        self.nodes(block);
        let outputs = &self.trace.block(block).outputs;
        for (&result, output) in self.trace.node(id).outputs.iter().zip(outputs) {
            match output {
                Argument::Value(value) => self.writes.unite(result, *value),
                _ => return Err("one of its subgraphs returns a value that is not a tensor".to_owned()),
            }
        }
        Ok(())
    }

    fn branches(
        &mut self,
        id: NodeId,
        condition: ValueId,
        blocks: [BlockId; 2],
        operands: &[Argument],
    ) -> Result<(), String> {
        let operands = self.all(operands)?;
        let mut attrs = Vec::new();
        for (name, block) in ["then_branch", "else_branch"].into_iter().zip(blocks) {
            let graph = self.body(|builder| {
                builder.enter(block, &operands)?;
                let made = builder.left(block)?;
                builder.give(made);
                Ok(())
            })?;
            attrs.push(Attribute::new(name, AttrValue::Graph(graph)));
        }
        self.results(&self.trace.node(id).outputs, "If", vec![Some(condition)], attrs);
        Ok(())
    }

    fn while_loop(
        &mut self,
        id: NodeId,
        [test, body]: [BlockId; 2],
        carried: &[Argument],
        rest: &[Argument],
    ) -> Result<(), String> {
        let (carried, rest) = (self.all(carried)?, self.all(rest)?);
        self.enter(test, &[&*carried, &*rest].concat())?;
        let first = self.tested(test)?;
        let graph = self.body(|builder| {
            builder.body_input("round", tensor_type(ElemType::Int64, Vec::new()));
            builder.body_input("again", tensor_type(ElemType::Bool, Vec::new()));
            let own = builder.own_inputs(body, carried.len());
            builder.enter(body, &[&*own, &*rest].concat())?;
            let made = builder.left(body)?;
            let kept: Vec<Parts> = made.iter().map(|(_, parts)| parts.clone()).collect();
            builder.enter(test, &[&*kept, &*rest].concat())?;
            let again = builder.tested(test)?;
            builder.give_one(again, tensor_type(ElemType::Bool, Vec::new()));
            builder.give(made);
            Ok(())
        })?;
        let inputs = [None, Some(first)].into_iter().chain(carried.concat().into_iter().map(Some)).collect();
        let attrs = vec![Attribute::new("body", AttrValue::Graph(graph))];
        self.results(&self.trace.node(id).outputs, "Loop", inputs, attrs);
        Ok(())
    }

    fn scan(
        &mut self,
        id: NodeId,
        body: BlockId,
        carried: &[Argument],
        scanned: &[Argument],
        rest: &[Argument],
    ) -> Result<(), String> {
        let (carried, scanned, rest) = (self.all(carried)?, self.all(scanned)?, self.all(rest)?);
        let graph = self.body(|builder| {
            let own = builder.own_inputs(body, carried.len() + scanned.len());
            builder.enter(body, &[&*own, &*rest].concat())?;
            let made = builder.left(body)?;
            builder.give(made);
            Ok(())
        })?;
        let scanned = scanned.concat();
        let attrs = body::scan(graph, scanned.len());
        let inputs = carried.concat().into_iter().chain(scanned).map(Some).collect();
        self.results(&self.trace.node(id).outputs, "Scan", inputs, attrs);
        Ok(())
    }

    /// Returns the current values of the operands of a subgraph.
    fn all(&mut self, operands: &[Argument]) -> Result<Vec<Parts>, String> {
        operands.iter().map(|operand| self.both(operand)).collect()
    }

    /// Returns the current value of an operand: its real part, and its imaginary part if it is complex.
    pub(super) fn both(&mut self, given: &Argument) -> Result<Parts, String> {
        let value = operand(self, given)?.ok_or("one of its operands is missing")?;
        Ok([value].into_iter().chain(self.imaginary_of(given)).collect())
    }

    /// Binds the inputs of a block to values.
    fn enter(&mut self, block: BlockId, operands: &[Parts]) -> Result<(), String> {
        let inputs = &self.trace.block(block).inputs;
        if inputs.len() != operands.len() {
            return Err("it does not have one operand for each input of its subgraph".to_owned());
        }
        for (&input, parts) in inputs.iter().zip(operands) {
            self.writes.forget(input);
            for (&value, part) in parts.iter().zip([Part::Real, Part::Imaginary]) {
                self.define(input, part, value);
            }
        }
        Ok(())
    }

    /// Lowers the nodes of a block, and returns its outputs.
    fn left(&mut self, block: BlockId) -> Result<Vec<(torch::ValueId, Parts)>, String> {
        self.nodes(block);
        let outputs = &self.trace.block(block).outputs;
        let one = |output: &Argument| match output {
            Argument::Value(value) => Ok((*value, self.both(output)?)),
            _ => Err("one of its subgraphs returns a value that is not a tensor".to_owned()),
        };
        outputs.iter().map(one).collect()
    }

    /// Lowers a condition block, and returns its result as a 0-d boolean.
    fn tested(&mut self, block: BlockId) -> Result<ValueId, String> {
        self.nodes(block);
        self.truth(self.trace.block(block).outputs.first())
    }

    /// Returns a condition as a 0-d tensor, as ONNX requires.
    fn truth(&mut self, argument: Option<&Argument>) -> Result<ValueId, String> {
        let argument = argument.ok_or("its condition is missing")?;
        let value = operand(self, argument)?.ok_or("its condition is missing")?;
        if self.known(value).1 == Some(0) {
            return Ok(value);
        }
        let none = self.constant(Tensor::int64s(vec![0], &[]));
        Ok(self.onnx("Reshape", vec![Some(value), Some(none)], Vec::new()))
    }

    /// Adds subgraph inputs for the first `count` inputs of a block.
    fn own_inputs(&mut self, block: BlockId, count: usize) -> Vec<Parts> {
        let inputs: Vec<_> = self.trace.block(block).inputs.iter().copied().take(count).collect();
        let own = |input| {
            let name = self.trace.value(input).name.clone();
            let parts = if self.is_complex(input) { 2 } else { 1 };
            let made = |_| self.body_input(&name, declared(&self.trace.value(input).ty));
            (0..parts).map(made).collect()
        };
        inputs.into_iter().map(own).collect()
    }

    /// Adds outputs to the current subgraph.
    fn give(&mut self, made: Vec<(torch::ValueId, Parts)>) {
        for (of, parts) in made {
            for value in parts {
                self.give_one(value, declared(&self.trace.value(of).ty));
            }
        }
    }
}
