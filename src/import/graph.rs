//! Construction of the `aten` graph of a program, in which tensors and computed numbers are values.

use super::builder::Builder;
use super::imported::Imported;
use super::part::Part;
use super::{argument, blocked, promote, vmap};
use crate::diag::Finding;
use crate::graph::ValueId;
use crate::read::pt2::Exported;
use crate::schema::aten;
use crate::torch;

/// Builds the graph of a program, most of whose nodes have the domain `aten`.
pub fn build(exported: &Exported) -> Result<Imported, Vec<Finding>> {
    let mut builder = Builder::new(&exported.trace);
    builder.inputs(exported)?;
    builder.nodes(exported.trace.body);
    if builder.blockers.is_empty()
        && let Err((of, why)) = builder.outputs(exported)
    {
        let maker = of.and_then(|value| builder.trace.producer(value));
        builder.blockers.push(match maker {
            Some(node) => blocked::at(builder.trace, node, &why),
            None => blocked::program(&why),
        });
    }
    if builder.blockers.is_empty() { Ok(builder.finish()) } else { Err(builder.blockers) }
}

impl<'t> Builder<'t> {
    fn finish(self) -> Imported {
        let sizes = self.trace.values.iter().filter_map(|value| value.ty.shape()).flatten();
        let traced = sizes.filter_map(|size| match size {
            torch::Size::Symbol { name, traced } => Some((name.clone(), (*traced)?)),
            _ => None,
        });
        let traced = traced.collect();
        Imported { model: self.model, origins: self.origins, traced, remarks: self.remarks }
    }

    /// Adds the nodes of a block to the current graph.
    pub fn nodes(&mut self, block: torch::BlockId) {
        self.sequence(&self.trace.block(block).nodes);
    }

    /// Adds consecutive nodes to the current graph; a region of `torch.vmap` becomes one node.
    pub fn sequence(&mut self, nodes: &'t [torch::NodeId]) {
        for unit in vmap::units(self.trace, nodes) {
            let Err(why) = self.unit(unit) else { continue };
            self.blockers.push(match unit {
                [id] => blocked::at(self.trace, *id, &why),
                region => blocked::region(self.trace, region, &why),
            });
            for &id in unit {
                self.pretend(id);
            }
        }
    }

    fn unit(&mut self, unit: &'t [torch::NodeId]) -> Result<(), String> {
        match unit {
            [id] => self.node(*id),
            region => self.vmap(region),
        }
    }

    fn node(&mut self, id: torch::NodeId) -> Result<(), String> {
        let node = self.trace.node(id);
        self.at = Some(id);
        if !node.blocks.is_empty() {
            return self.control(id);
        }
        if node.is_check() || vmap::is_mark(node) {
            return Ok(());
        }
        if node.writes_out() && !node.outputs.is_empty() {
            return self.write_out(id);
        }
        if let Some(why) = node.is_opaque() {
            return Err(why.to_owned());
        }
        self.make(node)?;
        self.write(id)
    }

    /// Adds the nodes that compute the results of a trace node.
    pub(super) fn make_plain(&mut self, node: &torch::Node) -> Result<(), String> {
        if self.computes_complex(node) {
            return self.complex_node(node);
        }
        if self.recurrent(node)? || self.grouped(node)? || self.polynomial(node)? || self.stepwise(node)? {
            return Ok(());
        }
        let said = argument::called(self, node)?;
        let outputs: Vec<ValueId> =
            node.outputs.iter().map(|&output| self.output(output, Part::Real)).collect();
        let inputs = promote::promoted(self, &said.op, said.inputs);
        let domain = if said.is_known { aten::DOMAIN.to_owned() } else { node.op.namespace.to_string() };
        self.add((&domain, &said.op), inputs, outputs.iter().copied().map(Some).collect(), said.attrs);
        for (&of, &value) in node.outputs.iter().zip(&outputs) {
            self.define(of, Part::Real, value);
        }
        Ok(())
    }

    /// Recomputes a node after its operands have changed.
    pub fn remake(&mut self, id: torch::NodeId) -> Result<(), String> {
        let (at, part) = (self.at, self.part);
        (self.at, self.part) = (Some(id), Part::Real);
        let made = self.make(self.trace.node(id));
        (self.at, self.part) = (at, part);
        made
    }

    /// Defines placeholder outputs for a failed node to avoid cascading errors.
    fn pretend(&mut self, id: torch::NodeId) {
        for &output in &self.trace.node(id).outputs {
            for part in [Part::Real, Part::Imaginary] {
                let value = self.output(output, part);
                self.define(output, part, value);
            }
        }
    }
}
