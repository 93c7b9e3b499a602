//! EXP019: GRU nodes of PyTorch that apply the reset gate before the recurrent product.

use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::exporter::is_pytorch;
use crate::analyses::locate::Part;
use crate::diag::Sink;
use crate::diag::rule_ids::GRU_RESET_GATE;

/// Detector of EXP019.
pub const DETECTOR: Detector = Detector { rules: &[GRU_RESET_GATE], run };

fn run(cx: &LintContext, sink: &mut Sink) {
    if !is_pytorch(cx.model) {
        return;
    }
    for (id, node) in cx.nodes().filter(|(_, node)| node.is("GRU")) {
        let after = node.attr("linear_before_reset").and_then(|after| after.as_int()).unwrap_or(0) != 0;
        if !after {
            let message = "`GRU` applies the reset gate before the recurrent product, PyTorch after it";
            let finding = cx.at_node(GRU_RESET_GATE, id, Part::Whole, message);
            sink.extend([finding
                .label("`linear_before_reset` is 0")
                .help("set the attribute `linear_before_reset` to 1, or update the exporter")]);
        }
    }
}
