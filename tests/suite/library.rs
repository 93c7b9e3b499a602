//! The public API of the library: opening and saving models, and its errors.

use onnx_lint::files::ModelFormat;
use onnx_lint::{ModelFile, OpenError, SaveError, Saving};

use crate::tool::{SOUND, Sandbox};

/// Returns a model with an initializer of 600 floats.
fn weighty() -> String {
    let numbers = vec!["1"; 600].join(",");
    format!(
        "<ir_version: 8, opset_import: [\"\" : 17]>\nmain (float[600] x) => (float[600] y)\n\
         <float[600] w = {{{numbers}}}> {{\n  y = Add (x, w)\n}}\n"
    )
}

fn open(sandbox: &Sandbox, name: &str) -> ModelFile {
    onnx_lint::open(sandbox.path(name)).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the error for a file that cannot be opened, without its directory.
fn refusal(sandbox: &Sandbox, name: &str) -> String {
    let error = onnx_lint::open(sandbox.path(name)).expect_err("the file is invalid");
    error.to_string().replace(&format!("{}/", sandbox.path("").to_string_lossy().trim_end_matches('/')), "")
}

#[test]
fn all_file_formats_preserve_a_model() {
    let sandbox = Sandbox::new(&[("net.onnxtxt", SOUND)]);
    let file = open(&sandbox, "net.onnxtxt");
    assert_eq!((file.form, file.findings.as_slice()), (ModelFormat::OnnxText, &[][..]));
    let forms = [
        ("a.onnx", ModelFormat::Binary),
        ("a.textproto", ModelFormat::Textproto),
        ("a.json", ModelFormat::Json),
    ];
    for (name, form) in forms.into_iter().chain([("a", ModelFormat::Binary)]) {
        onnx_lint::save(&file.model, sandbox.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(open(&sandbox, name).form, form);
        let again = onnx_lint::write::text::write(&open(&sandbox, name).model);
        assert_eq!(again, onnx_lint::write::text::write(&file.model), "{name}");
    }
    // A name without an extension keeps the original format.
    file.saving().save(&file.model, sandbox.path("b")).expect("the file is writable");
    assert_eq!(open(&sandbox, "b").form, ModelFormat::OnnxText);
}

#[test]
fn open_errors_have_file_position_and_reason() {
    let broken = SOUND.replace("Relu (x)", "Relu (x");
    let sandbox = Sandbox::new(&[("broken.onnxtxt", &broken), ("empty.onnx", ""), ("page.json", "{}")]);
    assert_eq!(refusal(&sandbox, "no.onnx"), "no.onnx: cannot be read: no such file or directory");
    assert_eq!(refusal(&sandbox, "empty.onnx"), "empty.onnx: the file is empty");
    let nothing = "page.json: unrecognized file type";
    assert_eq!(refusal(&sandbox, "page.json"), nothing);
    let message = refusal(&sandbox, "broken.onnxtxt");
    assert!(message.starts_with("broken.onnxtxt:4:1: "), "{message}");
    let error = onnx_lint::open(sandbox.path("broken.onnxtxt")).expect_err("a bracket is missing");
    assert!(matches!(error, OpenError::Faulty { findings } if !findings.is_empty()));
}

#[test]
fn external_data_is_saved_beside_the_model_and_copied() {
    let sandbox = Sandbox::new(&[("net.onnxtxt", &weighty()), ("out/net.onnx.data", "something else")]);
    let model = open(&sandbox, "net.onnxtxt").model;
    let saving = Saving { external: true, ..Saving::default() };
    saving.save(&model, sandbox.path("net.onnx")).expect("the file is writable");
    assert_eq!(sandbox.read("net.onnx.data").len(), 2400);

    let file = open(&sandbox, "net.onnx");
    let error = file.saving().save(&file.model, sandbox.path("out/net.onnx"));
    assert!(matches!(error, Err(SaveError::Taken { .. })), "{error:?}");
    file.saving().save(&file.model, sandbox.path("copy/net.onnx")).expect("the data is copied");
    assert_eq!(sandbox.read("copy/net.onnx.data"), sandbox.read("net.onnx.data"));
    // Without the source directory, external data is looked up in the target directory.
    let error = onnx_lint::save(&file.model, sandbox.path("net.data/net.onnx")).expect_err("no data there");
    assert_eq!(
        error.to_string(),
        "the external data of a tensor is in `net.onnx.data`, which does not exist"
    );
    assert!(!sandbox.path("net.data").exists() && !sandbox.path("out/net.onnx").exists());
}

#[test]
fn failed_save_leaves_no_files() {
    let sandbox = Sandbox::new(&[("net.onnxtxt", SOUND)]);
    let model = open(&sandbox, "net.onnxtxt").model;
    let error =
        onnx_lint::save(&model, sandbox.path("no/net.onnx")).expect_err("the directory does not exist");
    assert!(error.to_string().contains("net.onnx: cannot be written: no such directory `"), "{error}");
    assert_eq!(sandbox.files(), ["net.onnxtxt"]);
}
