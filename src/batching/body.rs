//! Subgraphs of nodes: each one has its own scope and its own patch.

use super::cx::{Cx, Scope};
use super::finish;
use super::layout::Layout;
use super::obstacle::{Kind, Reason, Result};
use crate::graph::{GraphId, ValueId};

/// Subgraph whose nodes are rewritten, but whose outputs do not have their final layouts yet.
pub(super) struct Body {
    /// Scope with the patch.
    pub scope: Scope,
    /// Outputs, with their current layouts.
    pub outputs: Vec<(ValueId, Layout)>,
}

/// Returns an error whose obstacle is already recorded.
pub(super) fn reported<T>() -> Result<T> {
    Err(Reason { kind: Kind::Unknown, text: String::new() })
}

impl Cx<'_> {
    /// Rewrites a subgraph whose inputs have the layouts `inputs`.
    pub fn body(&mut self, graph: GraphId, inputs: &[Layout]) -> Result<Body> {
        let model = self.model;
        for (port, &layout) in model.graphs[graph].inputs.iter().zip(inputs) {
            self.layouts.insert(port.value, layout);
        }
        let before = self.obstacles.len();
        let outer = std::mem::replace(&mut self.scope, Scope::new(model, graph));
        self.nodes();
        let scope = std::mem::replace(&mut self.scope, outer);
        if self.obstacles.len() > before {
            return reported();
        }
        let outputs = model.graphs[graph].outputs.iter().map(|port| (port.value, self.layout(port.value)));
        let outputs: Vec<(ValueId, Layout)> = outputs.collect();
        if outputs.iter().any(|(value, _)| self.lost.contains(value)) {
            return reported();
        }
        Ok(Body { scope, outputs })
    }

    /// Converts the outputs of a subgraph to `layouts`, and stores the patch of the subgraph.
    pub fn settle(&mut self, body: Body, layouts: &[Layout]) -> Result<()> {
        let outer = std::mem::replace(&mut self.scope, body.scope);
        self.scope.node = None;
        let mut settled = Ok(());
        for (&(value, _), &layout) in body.outputs.iter().zip(layouts) {
            settled = settled.and_then(|()| finish::rebind(self, value, layout));
        }
        let scope = std::mem::replace(&mut self.scope, outer);
        settled?;
        let patch = finish::patch(self, scope);
        self.done.push(patch);
        Ok(())
    }
}
