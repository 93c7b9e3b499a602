//! The language server, run as a process like in an editor.

use serde_json::{Value, json};

use crate::editor::Editor;
use crate::tool::Sandbox;

const MODEL: &str = "<ir_version: 8, opset_import: [\"\" : 17]>
g (float[N,4] x) => (float[N,4] y) {
  t = Neg (x)
  y = Add (t, ghost)
}
";

#[test]
fn text_models_have_diagnostics_hover_definition_rename_and_formatting() {
    let sandbox = Sandbox::new(&[]);
    let mut editor = Editor::new(&sandbox);
    let found = editor.open("net.onnxtxt", MODEL);
    assert!(found.iter().any(|finding| finding.contains("@4:")), "{found:?}");
    assert_eq!(editor.change("net.onnxtxt", [3, 14, 3, 19], "t"), [""; 0]);

    let hover = editor.ask("textDocument/hover", editor.at("net.onnxtxt", 2, 7)).expect("a hover");
    let text = hover["contents"]["value"].as_str().expect("Markdown");
    assert!(text.starts_with("**Neg** of ai.onnx, since opset 13\n\n```\nNeg (X: T) => (Y: T)\n"), "{text}");
    let hover = editor.ask("textDocument/hover", editor.at("net.onnxtxt", 2, 2)).expect("a hover");
    assert_eq!(hover["contents"]["value"], "```\nt: float[N, 4]\n```");

    let definition = editor.ask("textDocument/definition", editor.at("net.onnxtxt", 3, 11));
    assert_eq!(definition.expect("a place")["range"]["start"], json!({ "line": 2, "character": 2 }));
    let context = json!({ "includeDeclaration": true });
    let mut params = editor.at("net.onnxtxt", 2, 2);
    params["context"] = context;
    let references = editor.ask("textDocument/references", params).expect("places");
    assert_eq!(references.as_array().expect("an array").len(), 3);

    let mut params = editor.at("net.onnxtxt", 2, 2);
    params["newName"] = json!("a b");
    let edit = editor.ask("textDocument/rename", params.clone()).expect("an edit");
    let edits = edit["changes"][editor.uri("net.onnxtxt")].as_array().expect("edits").clone();
    assert_eq!(edits.len(), 3);
    assert_eq!(edits[0]["newText"], "\"a b\"");
    params["newName"] = json!("y");
    assert_eq!(editor.ask("textDocument/rename", params), Err("there is already a value `y`".to_owned()));

    let options = json!({ "tabSize": 2, "insertSpaces": true });
    let document = json!({ "uri": editor.uri("net.onnxtxt") });
    let formatting = json!({ "textDocument": document, "options": options });
    let edits = editor.ask("textDocument/formatting", formatting).expect("edits");
    let printed = edits[0]["newText"].as_str().expect("a text");
    assert!(printed.ends_with("{\n   t = Neg (x)\n   y = Add (t, t)\n}\n"), "{printed}");
    editor.close();
}

const MIXED: &str = "<ir_version: 8, opset_import: [\"\" : 17]>
g (float16[N,4] x, float[4] w) => (float16[N,4] y) {
  y = Add (x, w)
}
";

#[test]
fn code_action_fixes_a_finding() {
    let sandbox = Sandbox::new(&[]);
    let mut editor = Editor::new(&sandbox);
    assert_eq!(editor.open("net.onnxtxt", MIXED), ["DTY001@3:15-16"]);
    let range = json!({ "start": { "line": 2, "character": 2 }, "end": { "line": 2, "character": 16 } });
    let diagnostic = json!({ "range": range, "code": "DTY001", "message": "" });
    let document = json!({ "uri": editor.uri("net.onnxtxt") });
    let context = json!({ "diagnostics": [diagnostic] });
    let params = json!({ "textDocument": document, "range": range, "context": context });
    let actions = editor.ask("textDocument/codeAction", params).expect("actions");
    let edit = &actions[0]["edit"]["changes"][editor.uri("net.onnxtxt")][0];
    let fixed = edit["newText"].as_str().expect("a text").to_owned();
    assert!(fixed.contains("Cast"), "{fixed}");
    assert_eq!(editor.change("net.onnxtxt", [0, 0, 99, 0], &fixed), [""; 0]);
    editor.close();
}

const TRACED: &str = "import torch


class Net(torch.nn.Module):
    def forward(self, x):
        return x.reshape(x.shape[0], -1) * x.max().item()
";

#[test]
fn python_has_diagnostics_and_code_actions() {
    let sandbox = Sandbox::new(&[]);
    let mut editor = Editor::new(&sandbox);
    let found = editor.open("net.py", TRACED);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("EXP002@6:"), "{found:?}");

    let hover = editor.ask("textDocument/hover", editor.at("net.py", 5, 48)).expect("a hover");
    let page = hover["contents"]["value"].as_str().expect("Markdown");
    assert!(page.contains("EXP002"), "{page}");

    let range = hover["range"].clone();
    let diagnostic = json!({ "range": range, "code": "EXP002", "message": "" });
    let params = json!({
        "textDocument": { "uri": editor.uri("net.py") },
        "range": range,
        "context": { "diagnostics": [diagnostic] },
    });
    let actions = editor.ask("textDocument/codeAction", params).expect("actions");
    assert_eq!(actions[0]["title"], "write `x.max()` (results may differ)");
    let written = &actions[0]["edit"]["changes"][editor.uri("net.py")][0];
    let columns = ["start", "end"].map(|end| written["range"][end]["character"].as_u64());
    assert_eq!((&written["newText"], columns), (&json!("x.max()"), [Some(43), Some(57)]));
    let edit = &actions[1]["edit"]["changes"][editor.uri("net.py")][0];
    assert_eq!(edit["newText"], "  # onnx-lint: ignore[EXP002]");
    let at = edit["range"]["start"]["character"].as_u64().expect("a column") as u32;
    assert_eq!(editor.change("net.py", [5, at, 5, at], "  # onnx-lint: ignore[EXP002]: one value"), [""; 0]);
    editor.close();
}

/// Findings of a model are shown in its Python source, and disappear with the model.
#[test]
fn findings_of_models_appear_in_their_python_sources() {
    let sandbox = Sandbox::new(&[("onnx-lint.toml", "path-map = { \"/app\" = \"src\" }\n")]);
    sandbox.bring("tests/pitfalls/pitfalls.py", "src/pitfalls.py");
    sandbox.bring("tests/pitfalls/exported/BakedBatch.ts17.onnx", "models/net.onnx");
    let mut editor = Editor::new(&sandbox);
    let found = editor.diagnostics("src/pitfalls.py");
    assert!(found.iter().any(|finding| finding.starts_with("EXP001@")), "{found:?}");
    std::fs::remove_file(sandbox.path("models/net.onnx")).expect("the file exists");
    let changes = json!([{ "uri": editor.uri("models/net.onnx"), "type": 3 }]);
    editor.tell("workspace/didChangeWatchedFiles", json!({ "changes": changes }));
    assert_eq!(editor.diagnostics("src/pitfalls.py"), [""; 0]);
    editor.close();
}

#[test]
fn rule_files_have_diagnostics_and_unknown_requests_fail() {
    let sandbox = Sandbox::new(&[]);
    let mut editor = Editor::new(&sandbox);
    let found = editor.open("own.rule", "language 3\nrule X1 bad: simplify\nmatch y = Neg(x\n");
    assert!(!found.is_empty());
    let unknown = editor.ask("textDocument/nonsense", Value::Null);
    assert_eq!(unknown, Err("`textDocument/nonsense` is not supported".to_owned()));
    editor.close();
}

/// After many edits, findings equal those of a fresh start.
#[test]
fn many_edits_leave_no_stale_state() {
    let sandbox = Sandbox::new(&[]);
    let mut editor = Editor::new(&sandbox);
    let first = editor.open("net.onnxtxt", MODEL);
    for _ in 0..200 {
        assert_eq!(editor.change("net.onnxtxt", [3, 14, 3, 19], "t"), [""; 0]);
        assert_eq!(editor.change("net.onnxtxt", [3, 14, 3, 15], "ghost"), first);
    }
    editor.close();
}

#[test]
fn findings_in_onnx_text_can_be_suppressed() {
    let sandbox = Sandbox::new(&[]);
    let mut editor = Editor::new(&sandbox);
    assert_eq!(editor.open("net.onnxtxt", MODEL), ["SPC012@4:15-20"]);
    let range = json!({ "start": { "line": 3, "character": 14 }, "end": { "line": 3, "character": 19 } });
    let diagnostic = json!({ "range": range, "code": "SPC012", "message": "" });
    let document = json!({ "uri": editor.uri("net.onnxtxt") });
    let context = json!({ "diagnostics": [diagnostic] });
    let params = json!({ "textDocument": document, "range": range, "context": context });
    let actions = editor.ask("textDocument/codeAction", params).expect("actions");
    let action = actions.as_array().expect("an array").last().expect("an action");
    assert_eq!(action["title"], "accept SPC012 on this line");
    let edit = &action["edit"]["changes"][editor.uri("net.onnxtxt")][0];
    assert_eq!(edit["newText"], "  # onnx-lint: ignore[SPC012]");
    assert_eq!(editor.change("net.onnxtxt", [3, 20, 3, 20], "  # onnx-lint: ignore[SPC012]"), [""; 0]);
    let unused = editor.change("net.onnxtxt", [3, 14, 3, 19], "t");
    assert_eq!(unused, ["SUP001@4:19-46"]);
    editor.close();
}

#[test]
fn warnings_in_rules_can_be_suppressed() {
    let rule = |comment: &str| {
        format!(
            "language 2\n\n## Negated.\n##\n## **Why**  Why.\nrule OWN001 negated {{\n  severity hint\n  \
             message \"`{{x}}`\"\n  match {{ y = Transpose <perm = @p> (x) }}{comment}\n  \
             example \"a\" {{ g (float[A,B] x) => (y) {{ y = Transpose (x) }} }} finds \"`x`\"\n  \
             example \"b\" {{ g (float[A] x) => (y) {{ y = Neg (x) }} }} finds nothing\n}}\n"
        )
    };
    let sandbox = Sandbox::new(&[]);
    let mut editor = Editor::new(&sandbox);
    let found = editor.open("own.rule", &rule(""));
    assert!(found.iter().any(|finding| finding.starts_with("RUL001@9:")), "{found:?}");
    let found = editor.open("other.rule", &rule("  # onnx-lint: ignore[RUL001]"));
    assert!(!found.iter().any(|finding| finding.starts_with("RUL001@9:")), "{found:?}");
    editor.close();
}
