//! Sizes that the tracing exporter needs as constants, such as the kernel of a pooling.

use tree_sitter::Node;

use crate::diag::{Level, Place, rule_ids};

use super::super::syntax::one_line;
use super::machine::Machine;
use super::record::Record;
use super::tensor::Dim;

impl<'t> Machine<'t> {
    /// Records sizes that the exporter needs as constants, while a model runs with other sizes.
    pub fn note_constants(&mut self, sizes: &[Dim], node: Node<'t>) {
        let file = self.file();
        if let Some(record) = &mut self.record {
            record.constants.push((file, node, sizes.to_vec()));
        }
    }

    /// Reports sizes that follow a dynamic axis in a replay, although the exporter needs constants.
    pub fn report_constants(&mut self, example: &Record<'t>, replay: &Record<'t>) {
        let is_same = example.constants.len() == replay.constants.len()
            && example.constants.iter().zip(&replay.constants).all(|(a, b)| (a.0, a.1) == (b.0, b.1));
        if !is_same {
            return;
        }
        let differs = |a: &[Dim], b: &[Dim]| {
            a.len() != b.len() || a.iter().zip(b).any(|(a, b)| a.is_some() && b.is_some() && a != b)
        };
        for ((file, node, before), (_, _, after)) in example.constants.iter().zip(&replay.constants) {
            if !differs(before, after) || self.keeps_scripts(*file) {
                continue;
            }
            let shown = one_line(*node, self.source(*file));
            let message =
                format!("`{shown}` takes a size from a dynamic axis, but the exporter needs a constant");
            let place = Place::Source(self.place(*file, *node));
            let finding = rule_ids::UNSUPPORTED_OPERATOR.at(Level::Error).finding(message, place);
            let finding = finding
                .note("the tracing exporter raises, because the size is a tensor of the graph")
                .help("use an operator for the whole axis: `x.mean((2, 3))`, `F.adaptive_avg_pool2d(x, 1)`");
            let finding = self.with_export(finding, *file);
            self.tell([finding]);
        }
    }
}
