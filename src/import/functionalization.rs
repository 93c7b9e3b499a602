//! Functionalization: an in-place write defines new SSA values for the tensor and for its bases.
//!
//! If the written tensor is a view, its elements are scattered into the base. All other views of
//! the base become stale; they are recomputed when they are next read.

use super::alias::{Link, is_tensor_list, link, operands};
use super::builder::Builder;
use super::part::Part;
use super::writes::View;
use crate::torch::{self, Definition, Node, NodeId};

/// Maximum nesting depth of view recomputation.
const MAX_DEPTH: usize = 64;

impl Builder<'_> {
    /// Recomputes a view if its root was written to after the view was last computed.
    pub fn refresh(&mut self, value: torch::ValueId) -> Result<(), String> {
        let root = self.writes.root(value);
        if let Some(others) = self.writes.unsure.get(&root)
            && others.iter().any(|&(other, seen)| self.writes.count(other) > seen)
        {
            let name = &self.trace.value(value).name;
            return Err(format!("`{name}` may share its elements with a tensor that was mutated later"));
        }
        let now = self.writes.count(root);
        let (mut stale, mut at) = (Vec::new(), value);
        while self.writes.seen(at) < now {
            let Some(&view) = self.writes.views.get(&at) else { break };
            stale.push(view.node);
            at = view.base;
        }
        if self.writes.depth >= MAX_DEPTH {
            return Err("it reads views of mutated tensors that are nested too deeply".to_owned());
        }
        self.writes.depth += 1;
        let made = stale.into_iter().rev().try_for_each(|node| {
            self.remake(node)?;
            for &output in &self.trace.node(node).outputs {
                self.writes.seen.insert(output, now);
            }
            Ok(())
        });
        self.writes.depth -= 1;
        made
    }

    /// Records the views that a node creates, and applies its writes.
    pub fn write(&mut self, id: NodeId) -> Result<(), String> {
        let node = self.trace.node(id);
        let first = node.inputs.first().map(|input| &input.argument);
        if node.op.in_place_of().is_some() {
            let Some(operand) = self.trace.receiver(node) else {
                return Err("it writes into more than one tensor".to_owned());
            };
            let Some(&result) = node.outputs.first() else {
                return Err("its result is not recorded".to_owned());
            };
            return self.written(node, self.writes.of(operand), result);
        }
        if let Some(name) = self.statistics(node) {
            return Err(format!("it updates the statistics in `{name}` in training mode"));
        }
        for (place, &output) in node.outputs.iter().enumerate() {
            self.writes.forget(output);
            match link(self.trace, node, output) {
                Link::Copy => {}
                Link::View if first.is_some_and(|first| !is_tensor_list(self.trace, first)) => {
                    let Some(base) = self.trace.receiver(node) else { continue };
                    let base = self.writes.of(base);
                    let (root, count) = (self.writes.root(base), self.writes.count(base));
                    self.writes.views.insert(output, View { base, node: id, place });
                    self.writes.roots.insert(output, root);
                    self.writes.seen.insert(output, count);
                    self.writes.viewed.insert(base);
                }
                Link::View | Link::Perhaps => self.writes.may_share(output, operands(self.trace, node)),
            }
        }
        Ok(())
    }

    /// Returns the name of the buffer that a normalization layer updates in training mode.
    fn statistics(&self, node: &Node) -> Option<&str> {
        let flag = match node.op.aten()? {
            "batch_norm" | "native_batch_norm" | "_native_batch_norm_legit" => "training",
            "instance_norm" => "use_input_stats",
            _ => return None,
        };
        let given = |name: &str| node.inputs.iter().find(|input| input.name.as_deref() == Some(name));
        let trains = given(flag).is_some_and(|flag| self.trace.bool(&flag.argument) != Some(false));
        let kept = self.trace.as_value(&given("running_mean")?.argument).filter(|_| trains)?;
        let kept = self.trace.value(self.writes.root(self.writes.of(kept)));
        (kept.definition == Definition::Lifted).then_some(&*kept.name)
    }

    /// Applies an in-place operator: `result` replaces `operand`.
    fn written(
        &mut self,
        node: &Node,
        operand: torch::ValueId,
        result: torch::ValueId,
    ) -> Result<(), String> {
        self.writes.forget(result);
        if node.op.writes().is_none() {
            return self.reshaped(node, operand, result);
        }
        self.replaced(operand, result)
    }

    /// Replaces the elements of `operand` by those of `result`, and scatters them into its bases.
    pub fn replaced(&mut self, operand: torch::ValueId, result: torch::ValueId) -> Result<(), String> {
        let root = self.writes.root(operand);
        if self.writes.unsure.contains_key(&root) {
            return Err("it writes into a tensor that may share its elements with another one".to_owned());
        }
        if !self.is_of_this_graph(root) {
            return Err("it writes, inside a subgraph, into a tensor from outside of it".to_owned());
        }
        let (mut path, mut at) = (Vec::new(), operand);
        while let Some(&view) = self.writes.views.get(&at) {
            self.refresh(view.base)?;
            path.push((at, view));
            at = view.base;
        }
        self.rename(operand, result);
        for (child, view) in path.iter().copied() {
            if self.is_complex(child) != self.is_complex(view.base) {
                return Err("it writes into the real or imaginary part of a complex tensor".to_owned());
            }
            for part in [Part::Real, Part::Imaginary] {
                let (Some(child), Some(base)) = (self.part(child, part), self.part(view.base, part)) else {
                    continue;
                };
                let base = self.base_with(&view, base, child)?;
                self.define(view.base, part, base);
            }
        }
        let now = self.writes.count(root) + 1;
        self.writes.counts.insert(root, now);
        for value in path.iter().map(|(child, _)| *child).chain([root]) {
            self.writes.seen.insert(value, now);
        }
        self.writes.unite(result, operand);
        let is_outside = match self.trace.value(root).definition {
            Definition::Input(block, _) => block == self.trace.body,
            Definition::Node(..) => false,
            Definition::Lifted | Definition::Missing => true,
        };
        if is_outside && !self.writes.outside.contains(&root) {
            self.writes.outside.push(root);
        }
        Ok(())
    }

    /// Applies an in-place operator that does not write elements, such as `squeeze_` or `detach_`.
    fn reshaped(
        &mut self,
        node: &Node,
        operand: torch::ValueId,
        result: torch::ValueId,
    ) -> Result<(), String> {
        let writes = &mut self.writes;
        if matches!(node.op.in_place_of(), Some("detach" | "requires_grad")) {
            writes.unite(result, operand);
            return Ok(());
        }
        let is_shared = writes.views.contains_key(&operand)
            || writes.viewed.contains(&operand)
            || writes.unsure.contains_key(&operand);
        if is_shared {
            return Err(
                "it reshapes, in place, a tensor that may share its elements with another one".to_owned()
            );
        }
        if !matches!(self.trace.value(operand).definition, Definition::Node(..)) {
            return Err("it reshapes, in place, an input, parameter or buffer".to_owned());
        }
        // Later uses of the operand refer to the result.
        writes.unite(operand, result);
        Ok(())
    }

    /// Sets the parts of `value` to those of `to`.
    fn rename(&mut self, value: torch::ValueId, to: torch::ValueId) {
        for part in [Part::Real, Part::Imaginary] {
            if let Some(made) = self.part(to, part) {
                self.define(value, part, made);
            }
        }
    }
}
