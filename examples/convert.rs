//! Converts a model to another opset: `cargo run --example convert -- model.onnx 13 out.onnx`.

use std::error::Error;

use onnx_lint::{FixOptions, Level, RuleSet};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [from, opset, to] = args.as_slice() else {
        return Err("pass a model, an opset and an output file".into());
    };
    let file = onnx_lint::open(from)?;
    let options = FixOptions { opset: Some(opset.parse()?), ..FixOptions::default() };
    let outcome = onnx_lint::fix(file.model.clone(), &options, &RuleSet::patterns());
    if let Some(why) = outcome.findings.iter().find(|finding| finding.level == Level::Error) {
        return Err(why.message.clone().into());
    }
    file.saving().save(&outcome.model, to)?;
    let report = &outcome.report;
    println!("{} nodes became {}, by {} rules", report.nodes.before, report.nodes.after, report.rules.len());
    Ok(())
}
