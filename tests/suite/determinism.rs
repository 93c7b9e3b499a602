//! Output depends only on the input.
//! The number of threads and properties of a process, such as hash seeds and addresses, have no effect.

use std::ffi::OsStr;

use onnx_lint::diag::render::Format;

use crate::tool::{Ran, Sandbox};

/// Number of repeated runs, with varying numbers of threads.
const RUNS: usize = 10;

const THREADS: [&str; 3] = ["1", "2", "4"];

/// Folder with many files of several input formats.
const EXPORTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pitfalls/exported");

/// One file of each kind, all with findings.
const ONE_OF_EACH: [&str; 4] = [
    "BakedBatch.ts17.onnx",
    "DictOutput.torchir.txt",
    "DataDependentBranch.dynamo.log",
    "DoubleConstant.pt2",
];

const MODELS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/models/torch-exports");

fn lint(arguments: &[&str], threads: &str) -> Ran {
    let sandbox = Sandbox::new(&[]);
    let ran = sandbox
        .lint_with(&[arguments, &["--exit-zero"]].concat(), &[("RAYON_NUM_THREADS", OsStr::new(threads))]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{arguments:?}");
    ran
}

/// All output of onnx-fix: the model, the report, the messages, and the diff.
#[derive(PartialEq, Eq)]
struct Fixed {
    ran: Ran,
    model: Vec<u8>,
    report: Vec<u8>,
    diff: Ran,
}

fn fix(model: &str, options: &[&str], threads: &str) -> Fixed {
    let sandbox = Sandbox::new(&[]);
    let path = format!("{MODELS}/{model}");
    let run = |arguments: &[&str]| {
        let arguments = [&[&*path], options, arguments].concat();
        sandbox.fix_with(&arguments, &[("RAYON_NUM_THREADS", OsStr::new(threads))])
    };
    let ran = run(&["-o", "out.onnx", "--report", "report.json"]);
    assert_eq!(ran.status, 0, "{model} {options:?}: {}", ran.stderr);
    Fixed {
        ran,
        model: sandbox.read("out.onnx"),
        report: sandbox.read("report.json"),
        diff: run(&["--diff"]),
    }
}

#[test]
fn findings_do_not_depend_on_run_or_threads() {
    let arguments = [EXPORTED, "--output-format", "json"];
    let first = lint(&arguments, THREADS[0]);
    for run in 1..RUNS {
        let threads = THREADS[run % THREADS.len()];
        assert!(lint(&arguments, threads) == first, "run {run}, with {threads} threads, differs");
    }
    let with_jobs = [&arguments[..], &["--jobs", "3"]].concat();
    assert!(lint(&with_jobs, THREADS[0]) == first, "three jobs differ");
    let models = [MODELS, "--output-format", "json"];
    assert!(lint(&models, THREADS[0]) == lint(&models, THREADS[2]), "large models differ");
}

#[test]
fn output_formats_do_not_depend_on_threads() {
    // The format of one model does not support several files.
    for format in Format::ALL.into_iter().filter(|format| !format.is_of_one_model()).map(Format::name) {
        let files = ONE_OF_EACH.map(|file| format!("{EXPORTED}/{file}"));
        let arguments = [&files.each_ref().map(String::as_str)[..], &["--output-format", format]].concat();
        let [first, rest @ ..] = THREADS.map(|threads| lint(&arguments, threads));
        assert!(!first.stdout.is_empty(), "{format}");
        assert!(rest.iter().all(|ran| *ran == first), "{format} differs");
    }
}

#[track_caller]
fn check_fix(model: &str, options: &[&str]) {
    let first = fix(model, options, THREADS[0]);
    for run in 1..RUNS {
        let threads = THREADS[run % THREADS.len()];
        assert!(fix(model, options, threads) == first, "run {run}, with {threads} threads, differs");
    }
}

#[test]
fn fixes_do_not_depend_on_run_or_threads() {
    check_fix("nn_gru_unrolled.ts17.onnx", &[]);
}

#[test]
fn conversions_do_not_depend_on_run_or_threads() {
    check_fix("hf_whisper_enc.ts17.onnx", &["--opset", "13", "--infer-shapes", "--unsafe-fixes"]);
}
