//! Tests of logs whose exceptions have no line in the model, with sources of the export script.

use super::*;

const SCRIPT: &str = "import torch\nfrom net.model import Net\n\ntorch.export.export(Net(), (x,))\n";
const FIXES: &str = "        return x.reshape(4, 12)\n";
const CALLS: &str = "        return torch.special.bessel_j0(x)\n";

/// Returns the traceback for a specialized size, raised from line 4 of `run.py`.
fn violated(called: &str) -> String {
    let message = "Constraints violated (L['x'].size()[0])!\n  - You marked L['x'].size()[0] as dynamic but \
                   your code specialized it to be a constant (4).";
    raised(called, &format!("torch._dynamo.exc.UserError: {message}"))
}

fn unsupported(operator: &str) -> String {
    let message = format!("Exporting the operator '{operator}' to ONNX opset version 17 is not supported");
    raised(
        "torch.export.export(Net(), (x,))",
        &format!("torch.onnx.errors.UnsupportedOperatorError: {message}"),
    )
}

fn raised(called: &str, error: &str) -> String {
    format!(
        "Traceback (most recent call last):\n  File \"/app/run.py\", line 4, in <module>\n    {called}\n  File \
         \"/venv/lib/python3.11/site-packages/torch/export/__init__.py\", line 5, in export\n    raise e\n{error}\n"
    )
}

fn module(class: &str, body: &str) -> String {
    format!("class {class}(nn.Module):\n    def forward(self, x):\n{body}")
}

/// Returns the `file:line` found for a log named `name`, with `files` mapped to `/app`.
fn blamed(name: &str, log: &str, files: &[(&str, &str)]) -> Option<String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (file, text) in files {
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().expect("a file's folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    let map = vec![("/app".to_owned(), folder.path().to_str().expect("a UTF-8 path").to_owned())];
    let found = super::super::remarks(log, name, &SourceFiles::new(map, vec![]));
    let [remark] = &found[..] else { panic!("one remark: {found:?}") };
    let place = remark.place.as_ref()?;
    assert!(!remark.certain, "a line found by a search is uncertain");
    assert!(place.code.is_some(), "the place has the text of the line");
    Some(format!("{}:{}", place.file, place.line))
}

const EXPORTED: &str = "torch.export.export(Net(), (x,))";

#[test]
fn line_in_an_imported_file_is_found() {
    let model = module("Net", FIXES);
    let files = [("run.py", SCRIPT), ("net/model.py", model.as_str())];
    assert_eq!(blamed("export.log", &violated(EXPORTED), &files).as_deref(), Some("/app/net/model.py:3"));
}

#[test]
fn script_that_changed_after_the_export_is_not_searched() {
    let model = module("Net", FIXES);
    let files = [("run.py", SCRIPT), ("net/model.py", model.as_str())];
    assert_eq!(blamed("export.log", &violated("torch.export.export(Other(), (x,))"), &files), None);
    assert_eq!(blamed("export.log", &violated(EXPORTED), &files[1..]), None);
}

#[test]
fn model_with_the_name_of_the_log_is_preferred() {
    let other = module("Other", "        return x\n");
    let model = format!("{other}{}", module("Net", FIXES));
    let files = [("run.py", SCRIPT), ("net/model.py", model.as_str())];
    let log = violated(EXPORTED);
    assert_eq!(blamed("logs/net.pt2.log", &log, &files).as_deref(), Some("/app/net/model.py:6"));
    // Any of the models may have been exported.
    assert_eq!(blamed("export.log", &log, &files), None);
    // No line of the exported model makes a size static.
    assert_eq!(blamed("other.log", &log, &files), None);
}

#[test]
fn equally_likely_lines_are_not_reported() {
    let model = module("Net", &format!("        a = x.view(4, 12)\n{FIXES}"));
    let files = [("run.py", SCRIPT), ("net/model.py", model.as_str())];
    assert_eq!(blamed("export.log", &violated(EXPORTED), &files), None);
    // If the log is named after the class, the first of the equally likely lines is reported.
    assert_eq!(blamed("Net.log", &violated(EXPORTED), &files).as_deref(), Some("/app/net/model.py:3"));
    let likelier = module("Net", &format!("        a = torch.ones(4, 12)\n{FIXES}"));
    let files = [("run.py", SCRIPT), ("net/model.py", likelier.as_str())];
    assert_eq!(blamed("export.log", &violated(EXPORTED), &files).as_deref(), Some("/app/net/model.py:4"));
}

#[test]
fn operator_called_by_only_one_model_is_found() {
    let model = format!("{}{}", module("Other", "        return x\n"), module("Net", CALLS));
    let files = [("run.py", SCRIPT), ("net/model.py", model.as_str())];
    let log = unsupported("aten::special_bessel_j0");
    assert_eq!(blamed("export.log", &log, &files).as_deref(), Some("/app/net/model.py:6"));
    let model = format!("{}{}", module("Other", CALLS), module("Net", CALLS));
    let files = [("run.py", SCRIPT), ("net/model.py", model.as_str())];
    assert_eq!(blamed("export.log", &log, &files), None);
    assert_eq!(blamed("net.log", &log, &files).as_deref(), Some("/app/net/model.py:6"));
    assert_eq!(blamed("net.log", &unsupported("aten::relu"), &files), None);
}
