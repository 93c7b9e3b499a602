//! Subgraphs of the recorded program, and tensors that they may share with it.

use super::interpreter::{Interpreter, Snapshot};
use super::recorder::Recorder;
use crate::graph::Tensor;
use crate::import::alias::{Link, link, operands};
use crate::torch::{Block, BlockId, Definition, Input, NodeId, Op, Type, ValueId};

impl Recorder {
    /// Opens a block for a subgraph; returns the block that was current.
    pub fn open(&mut self) -> BlockId {
        let block = BlockId(self.trace.blocks.len() as u32);
        self.trace.blocks.push(Block::default());
        self.depth += 1;
        std::mem::replace(&mut self.block, block)
    }

    /// Closes the current block, and returns it.
    pub fn close(&mut self, outer: BlockId) -> BlockId {
        self.depth -= 1;
        std::mem::replace(&mut self.block, outer)
    }

    /// Creates a value that [`Recorder::subgraphs`] will define.
    pub fn pending(&mut self, name: &str, ty: Type) -> ValueId {
        self.value(name, ty, Definition::Missing)
    }

    /// Adds a node with subgraphs; `results` are pending values.
    pub fn subgraphs(&mut self, op: Op, inputs: Vec<Input>, blocks: [BlockId; 2], results: Vec<ValueId>) {
        let id = NodeId(self.trace.nodes.len() as u32);
        self.node(op, inputs, Vec::new());
        for (place, result) in (0u32..).zip(&results) {
            self.trace.values[result.index()].definition = Definition::Node(id, place);
        }
        for block in blocks {
            self.trace.blocks[block.index()].owner = Some(id);
        }
        let node = &mut self.trace.nodes[id.index()];
        (node.outputs, node.blocks) = (results, blocks.to_vec());
    }

    /// Adds a 0-d tensor that stands for a number of this type.
    pub fn lift_as(&mut self, name: &str, tensor: Tensor, ty: Type) -> ValueId {
        let value = self.lift(name, tensor);
        self.trace.values[value.index()].ty = ty;
        value
    }

    /// Records which tensors the results of a node may share their elements with.
    pub(super) fn link(&mut self, id: NodeId) {
        let node = self.trace.node(id);
        for &output in &node.outputs {
            let is_written = node.op.in_place_of().is_some();
            if is_written || link(&self.trace, node, output) != Link::Copy {
                let receiver = self.trace.receiver(node).filter(|_| is_written);
                let operands = receiver.map_or_else(|| operands(&self.trace, node), |one| vec![one]);
                let roots = operands.into_iter().flat_map(|value| self.roots_of(value)).collect();
                self.roots.insert(output, roots);
            }
        }
    }

    /// Returns the tensors that a tensor may be a view of; the tensor itself if it has its own elements.
    fn roots_of(&self, value: ValueId) -> Vec<ValueId> {
        self.roots.get(&value).cloned().unwrap_or_else(|| vec![value])
    }

    /// Returns whether two values are one object; views of one tensor may or may not be.
    pub fn is_same(&self, a: ValueId, b: ValueId) -> Result<bool, String> {
        let (x, y) = (self.roots_of(a), self.roots_of(b));
        match a == b || !x.iter().any(|root| y.contains(root)) {
            true => Ok(a == b),
            false => Err("it tests whether two tensors are one object".to_owned()),
        }
    }

    /// Marks a tensor that enters or leaves a subgraph: another value may share its elements.
    pub fn share(&mut self, value: ValueId) {
        let roots = self.roots_of(value);
        self.shared.extend(roots);
    }

    /// Checks that a write into a tensor has no effects on values that the program does not record.
    ///
    /// # Errors
    /// Returns the reason why the tensor must not be written to.
    pub fn writes(&self, value: ValueId) -> Result<(), &'static str> {
        let roots = self.roots_of(value);
        if roots.iter().any(|root| self.shared.contains(root)) {
            return Err("it writes into a tensor that a branch or loop that depends on data may share");
        }
        match roots.iter().find_map(|root| self.fixed.get(root)) {
            Some(why) => Err(why),
            None => Ok(()),
        }
    }
}

impl Interpreter<'_> {
    /// Returns a copy of the recorded program.
    ///
    /// # Errors
    /// Returns the reason why no further copies are made.
    pub fn snapshot(&mut self) -> Result<Snapshot, &'static str> {
        self.charge(4 * (self.recorder.trace.nodes.len() + self.recorder.trace.values.len()))?;
        Ok(Snapshot {
            recorder: self.recorder.clone(),
            lifted: self.lifted.clone(),
            kept: self.kept.clone(),
            paths: self.paths.clone(),
        })
    }

    /// Drops everything that was recorded since a snapshot.
    pub fn restore(&mut self, snapshot: Snapshot) {
        self.recorder = snapshot.recorder;
        self.lifted = snapshot.lifted;
        self.kept = snapshot.kept;
        self.paths = snapshot.paths;
    }
}
