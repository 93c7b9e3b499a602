//! Lints a model with custom rules from a folder, in addition to the built-in ones:
//! `cargo run --example own_rules -- rules/ model.onnx`.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use onnx_lint::{Level, LintOptions, RuleSet};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [folder, model] = args.as_slice() else { return Err("pass a folder of rules and a model".into()) };
    let mut rules = RuleSet::for_linting();
    let faults = rules.add_folder(Path::new(folder))?;
    if let Some(fault) = faults.iter().find(|fault| fault.level == Level::Error) {
        return Err(format!("{}: {}", fault.file, fault.message).into());
    }
    let file = onnx_lint::open(model)?;
    let options = LintOptions { rules: Arc::new(rules), ..LintOptions::default() };
    for finding in onnx_lint::lint(&file.model, &options) {
        println!("{} {}: {}", finding.level, finding.code, finding.message);
    }
    Ok(())
}
