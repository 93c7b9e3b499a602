//! Lints a model and prints its warnings and errors: `cargo run --example lint -- model.onnx`.

use std::error::Error;
use std::process::ExitCode;

use onnx_lint::diag::render::{self, Look};
use onnx_lint::{Finding, Level, LintOptions};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("pass a model")?;
    let file = onnx_lint::open(path)?;
    let options = LintOptions { folders: Some(file.folders.clone()), ..LintOptions::default() };
    let mut findings: Vec<Finding> = onnx_lint::lint(&file.model, &options);
    findings.retain(|finding| finding.level >= Level::Warning);
    findings.iter_mut().for_each(|finding| finding.file = file.name.clone());
    print!("{}", render::findings(&findings, Look::default()));
    Ok(ExitCode::from(u8::from(!findings.is_empty())))
}
