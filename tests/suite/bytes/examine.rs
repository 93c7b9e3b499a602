//! Runs the tools on a file, without the command line.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use clap::Parser;
use onnx_lint::cli::catalog::{Catalog, Extent};
use onnx_lint::cli::config::Config;
use onnx_lint::cli::fix::program::imported;
use onnx_lint::cli::lint::args::Args;
use onnx_lint::cli::lint::baseline::Baseline;
use onnx_lint::cli::lint::settings::Settings;
use onnx_lint::cli::output::When;
use onnx_lint::diag::render::{Format, Look, Run, render};
use onnx_lint::diag::{Finding, Level};
use onnx_lint::evidence::{self, Input};
use onnx_lint::fix::{Options, fix};
use onnx_lint::graph::Model;
use onnx_lint::graph::syntax::Source;
use onnx_lint::lint::{LintOptions, lint_model};
use onnx_lint::read;
use onnx_lint::read::external::DataFolders;
use onnx_lint::read::sniff::{Kind, sniff};
use onnx_lint::rule_tests::RuleTest;
use onnx_lint::rules::registry::RuleSet;
use onnx_lint::write;

use super::Reader;
use super::seeds::{TRACED, whole};

/// Name of the file with external data.
pub const WEIGHTS: &str = "weights.bin";

/// The tools, with loaded rules and settings.
pub struct Tools {
    settings: Settings,
    catalog: Catalog,
    /// A model to test rules, configurations and baselines on.
    model: Model,
    findings: Vec<Finding>,
    /// TorchScript graphs to convert with the tested files of weights.
    traced: Vec<Vec<u8>>,
}

impl Tools {
    /// Loads the rules, settings and models.
    pub fn new() -> Tools {
        let catalog = Catalog::load(&[], Extent::Fixing, When::Never).expect("the built-in rules are valid");
        let settings = Settings::new(&arguments(), &Config::default(), &catalog).expect("settings");
        let (model, _) = read::text::read(include_str!("seeds/control.onnxtxt"));
        let model = model.expect("a model");
        let findings = lint_model(&model, &LintOptions::default());
        Tools { settings, catalog, model, findings, traced: whole(TRACED, ".torchir.txt") }
    }

    /// Reads a file and runs the tools on it; `number` selects the output format and the options.
    pub fn examine(&self, reader: Reader, number: u64, bytes: &[u8], folder: &Path) {
        let path = folder.join(file_name(reader));
        fs::write(&path, bytes).expect("the file is writable");
        match reader {
            Reader::Evidence(Kind::Log | Kind::Python) => self.lint(&path, number),
            Reader::Evidence(kind @ (Kind::Pt2 | Kind::TorchScript)) => {
                self.lint(&path, number);
                self.import(kind, bytes, None, number);
            }
            Reader::State => {
                for graph in &self.traced {
                    self.import(Kind::TorchScript, graph, Some(&path), number);
                }
            }
            Reader::Evidence(_) => {
                self.lint(&path, number);
                self.fix(&path, bytes, number);
            }
            Reader::External => {
                // The file may be shorter than the model declares.
                let weights = vec![0; 84 >> (number % 4)];
                fs::write(folder.join(WEIGHTS), weights).expect("the file is writable");
                self.lint(&path, number);
                self.fix(&path, bytes, number);
            }
            Reader::Rules => self.apply(bytes),
            Reader::Config => {
                if let Ok(Some(config)) = Config::read(&path)
                    && let Ok(settings) = Settings::new(&arguments(), &config, &self.catalog)
                {
                    let input = Input::new(&path, true);
                    self.findings.iter().for_each(|finding| {
                        settings.shows(&input, &mut finding.clone());
                    });
                }
            }
            Reader::Baseline => {
                if let Ok(baseline) = Baseline::read(&path) {
                    baseline.remove_known(&mut self.findings.clone());
                }
            }
        }
    }

    fn lint(&self, path: &Path, number: u64) {
        let input = Input::new(path, true);
        let linted = evidence::lint(&input, &self.settings.lint_options(&input), &self.findings);
        let format = Format::ALL[(number % Format::ALL.len() as u64) as usize];
        let run = Run {
            files: std::slice::from_ref(&input.name),
            findings: &linted.findings,
            pages: &[],
            models: &[],
        };
        render(run, format, Look::default());
    }

    /// Converts a program to a model.
    fn import(&self, kind: Kind, bytes: &[u8], weights: Option<&Path>, number: u64) {
        let bytes = Bytes::copy_from_slice(bytes);
        match imported(
            "net",
            kind,
            bytes,
            weights,
            &[],
            DataFolders::at(Path::new(".")),
            self.catalog.rules(),
        ) {
            Ok(Ok(file)) => self.write(file.model, number),
            Ok(Err(_)) => {}
            // The tools report a panic with these words.
            Err(failure) => assert!(!failure.message().contains("please report"), "{failure:?}"),
        }
    }

    fn fix(&self, path: &Path, bytes: &[u8], number: u64) {
        let bytes = Bytes::copy_from_slice(bytes);
        let (model, findings) = read::any::model(sniff(&path.to_string_lossy(), &bytes), bytes);
        let is_sound = findings.iter().all(|finding| finding.level < Level::Error);
        if let Some(model) = model.filter(|_| is_sound) {
            self.write(model, number);
        }
    }

    /// Fixes or converts a model, and writes it.
    fn write(&self, model: Model, number: u64) {
        let options = match number % 4 {
            0 => Options::default(),
            1 => Options { opset: Some(13), ..Options::default() },
            2 => Options { opset: Some(21), optimize: false, ..Options::default() },
            _ => Options { unsafe_fixes: true, infer_shapes: true, ..Options::default() },
        };
        let outcome = fix(model, &options, self.catalog.rules());
        write::onnx::Encodable::new(&outcome.model).encode();
    }

    /// Reads rules, and applies them.
    fn apply(&self, bytes: &[u8]) {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        let mut rules = RuleSet::default();
        rules.add([Source::new("mine.rule", text)]);
        for rule in rules.iter() {
            for example in &rule.examples {
                // The example may fail, but must not panic.
                let _ = RuleTest::new(rule, &rules).check(example);
            }
        }
        let rules = Arc::new(rules);
        lint_model(&self.model, &LintOptions { rules: rules.clone(), ..LintOptions::default() });
        fix(self.model.clone(), &Options::default(), &rules);
    }
}

fn arguments() -> Args {
    Args::parse_from(["onnx-lint", "--severity", "hint"])
}

/// Returns a file name from which the tools recognize the format for a reader.
pub fn file_name(reader: Reader) -> &'static str {
    match reader {
        Reader::Evidence(Kind::OnnxText) => "net.onnxtxt",
        Reader::Evidence(Kind::Textproto) => "net.textproto",
        Reader::Evidence(Kind::Json) => "net.json",
        Reader::Evidence(Kind::Pt2) => "net.pt2",
        Reader::Evidence(Kind::TorchScript) => "net.torchir.txt",
        Reader::Evidence(Kind::Log) => "net.log",
        Reader::Evidence(Kind::Python) => "net.py",
        Reader::Evidence(_) | Reader::External => "net.onnx",
        Reader::State => "weights",
        Reader::Rules => "net.rule",
        Reader::Config => "onnx-lint.toml",
        Reader::Baseline => "baseline.json",
    }
}
