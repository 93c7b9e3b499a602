//! Snapshot tests: the same findings in every format.

use std::sync::Arc;

use super::{Format, Look, Run, render};
use crate::diag::finding::Anchor;
use crate::diag::{
    Applicability, Finding, GraphPlace, Level, Place, Position, Rewrite, SourcePlace, TextPlace,
};

fn graph(node: &str, position: (u32, u32), text: &str, meant: &str) -> GraphPlace {
    let start = text.find(meant).expect("the text contains the marked part");
    GraphPlace {
        graph: Arc::from("main"),
        node: Arc::from(node),
        position,
        text: Arc::from(text),
        span: (start as u32, (start + meant.len()) as u32),
        at: None,
    }
}

fn baked() -> Finding {
    let place = graph("/Reshape", (1, 2), r#""2" = Reshape ("in0", {2,12})"#, "{2,12}");
    let source = SourcePlace {
        file: Arc::from("src/pitfalls.py"),
        line: 60,
        column: 16,
        width: 16,
        code: Some(Arc::from("        return x.reshape(2, 12)")),
        function: Some(Arc::from("forward")),
        cell: None,
    };
    let message = "`Reshape` fixes the batch at 2, but input `in0` has a dynamic batch";
    let finding = Finding::new("EXP001", "baked-shape", Level::Error, message, Place::Graph(place))
        .label("2 is the traced size of `batch`; at batch 3 this fails, or mixes up rows")
        .source(Some(source))
        .help("write x.reshape(x.shape[0], 12), or x.flatten(1)")
        .fix(Applicability::Safe, "replaces {2,12} by {0,12}");
    let anchor = Anchor { module: Arc::from(""), op: Arc::from("Reshape") };
    let rewrite = Rewrite {
        applicability: Applicability::Safe,
        start: Position { line: 60, column: 26 },
        end: Position { line: 60, column: 27 },
        text: "x.shape[0]".to_owned(),
    };
    Finding { anchor, is_here: true, rewrite: Some(rewrite), ..finding }
}

fn nested() -> Finding {
    let text = "mul = Mul (half, full)";
    let place = GraphPlace {
        graph: Arc::from("main/If_3.then_branch"),
        ..graph("/encoder/layers.0/Mul", (12, 140), text, "full")
    };
    let made = graph("/encoder/Cast", (7, 140), "half = Cast <to=10> (x)", "half");
    let message = "`Mul` gets float16 and float, which its schema binds to one type";
    Finding::new("DTY001", "dtype-mismatch", Level::Error, message, Place::Graph(place))
        .label("this is float")
        .related(Place::Graph(made), "float16 comes from here")
        .note("ONNX Runtime refuses to load the model:\nType parameter (T) is bound to different types")
        .fix(Applicability::Unsafe, "casts `full` to float16")
}

fn logged() -> Finding {
    let text = TextPlace { line: 3, column: 3, width: 4, text: Arc::from("  %7 : <unreadable & odd>") };
    Finding::new("REA001", "unreadable-part", Level::Warning, "a line could not be read", Place::Text(text))
}

/// Renders findings at graphs, files, bytes and texts, in two files; a third file has no findings.
fn check(format: Format) {
    let in_file = |finding: Finding, file: &str| Finding { file: Arc::from(file), ..finding };
    let whole =
        Finding::new("SPC002", "unknown-fields", Level::Info, "the file has unknown parts", Place::File);
    let byte = Finding::new("OPT001", "dead-node", Level::Hint, "bytes are left over", Place::Offset(500));
    let findings = [
        in_file(baked(), "out/Baked Batch.onnx"),
        in_file(nested(), "out/Baked Batch.onnx"),
        in_file(whole, "out/Baked Batch.onnx"),
        in_file(byte, "out/Baked Batch.onnx"),
        in_file(logged(), "trace.log"),
    ];
    let files = [Arc::from("out/Baked Batch.onnx"), Arc::from("sound.onnx"), Arc::from("trace.log")];
    let text =
        render(Run { files: &files, findings: &findings, pages: &[], models: &[] }, format, Look::default());
    let text = text.replace(env!("CARGO_PKG_VERSION"), "VERSION");
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots/render"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(format.name(), text));
}

#[test]
fn every_format_matches_its_snapshot() {
    Format::ALL.into_iter().for_each(check);
}

#[test]
fn every_format_is_documented() {
    let page = include_str!("../../../docs/formats.md");
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
    for format in Format::ALL.into_iter().chain(Format::TABLES) {
        let name = format!("`{}`", format.name());
        assert!(rows.iter().any(|row| row.contains(&name)), "docs/formats.md has no row for {name}");
    }
}

#[test]
fn colors_are_only_used_on_request() {
    let findings = [baked()];
    let run = Run { files: &[], findings: &findings, pages: &[], models: &[] };
    let colours = Look { colour: true, ..Look::default() };
    for format in Format::ALL {
        assert!(!render(run, format, Look::default()).contains('\u{1b}'));
    }
    assert!(render(run, Format::Full, colours).contains("\u{1b}["));
    assert!(render(run, Format::Concise, colours).contains("\u{1b}["));
}

#[test]
fn documents_without_findings_are_valid() {
    let files = [Arc::from("sound.onnx")];
    for format in [Format::Json, Format::Sarif, Format::Gitlab, Format::Rdjson] {
        let text =
            render(Run { files: &files, findings: &[], pages: &[], models: &[] }, format, Look::default());
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{}", format.name());
    }
    assert_eq!(
        render(Run { files: &files, findings: &[], pages: &[], models: &[] }, Format::Full, Look::default()),
        "All checks passed.\n"
    );
}

#[test]
fn output_is_wrapped_to_the_terminal_width() {
    let findings = [baked(), nested(), logged()];
    let look = Look { width: Some(60), ..Look::default() };
    let text = render(Run { files: &[], findings: &findings, pages: &[], models: &[] }, Format::Full, look);
    let long: Vec<&str> = text.lines().filter(|line| line.chars().count() > 60).collect();
    assert!(long.is_empty(), "{long:#?}");
    assert!(text.contains("   |                         ^^^^^^\n   | 2 is the traced size"), "{text}");
}

#[test]
fn quiet_output_has_no_summary() {
    let look = Look { quiet: true, ..Look::default() };
    for format in [Format::Full, Format::Concise] {
        assert_eq!(render(Run { files: &[], findings: &[], pages: &[], models: &[] }, format, look), "");
    }
}
