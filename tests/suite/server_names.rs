//! Completion, symbols, definitions, hovers and fixes of the language server.

use serde_json::{Value, json};

use crate::editor::Editor;
use crate::tool::Sandbox;

/// Opens a text with the cursor at `|`, and asks for completions there. Returns the labels.
fn completions(editor: &mut Editor, file: &str, marked: &str) -> Vec<String> {
    let offset = marked.find('|').expect("a mark");
    let text = marked.replacen('|', "", 1);
    editor.open(file, &text);
    let params = position(editor, file, &text, offset);
    let found = editor.ask("textDocument/completion", params).expect("completions");
    let label = |item: &Value| item["label"].as_str().expect("a label").to_owned();
    found.as_array().expect("an array").iter().map(label).collect()
}

/// Returns the parameters of a request about a byte offset of an ASCII text.
fn position(editor: &Editor, file: &str, text: &str, offset: usize) -> Value {
    let line = text[..offset].matches('\n').count();
    let start = text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
    editor.at(file, line as u32, (offset - start) as u32)
}

/// Returns the Markdown of the hover at the first occurrence of a word.
fn hover(editor: &mut Editor, file: &str, text: &str, word: &str) -> String {
    let params = position(editor, file, text, text.find(word).expect("the word is there") + 1);
    let hover = editor.ask("textDocument/hover", params).expect("a hover");
    hover["contents"]["value"].as_str().unwrap_or_default().to_owned()
}

#[track_caller]
fn check(found: &[String], expected: &[&str], unexpected: &[&str]) {
    let has = |word: &str| found.iter().any(|label| label == word);
    assert!(expected.iter().all(|word| has(word)), "{expected:?} in {found:?}");
    assert!(!unexpected.iter().any(|word| has(word)), "{unexpected:?} not in {found:?}");
}

#[test]
fn onnx_text_completes_operators_attributes_values_and_types() {
    let sandbox = Sandbox::new(&[]);
    let mut editor = Editor::new(&sandbox);
    let head = "<ir_version: 8, opset_import: [\"\" : 17]>\n";
    let net =
        |nodes: &str| format!("{head}g (float[N,4] x) => (float[N,4] y) {{\n  t = Neg (x)\n  {nodes}\n}}\n");
    let mut at = |text: &str| completions(&mut editor, "net.onnxtxt", text);
    // Gelu, which needs opset 20, and Upsample, which is deprecated, are not proposed.
    check(&at(&net("y = Ge|")), &["Gemm", "com.microsoft"], &["Gelu", "Upsample", "axis"]);
    check(&at(&net("y = com.microsoft.|")), &["FusedMatMul", "Gelu"], &["Gemm"]);
    check(&at(&net("y = Gemm <alpha = 0.5, |")), &["transA", "beta"], &["alpha", "Gemm"]);
    check(&at(&net("y = Conv <auto_pad = |> (x, t)")), &["\"SAME_UPPER\""], &["strides"]);
    check(&at(&net("y = Add (x, |")), &["x", "t"], &["y", "Gemm"]);
    check(&at(&net("y = Constant <value = |>")), &["float16", "int64"], &[]);
    check(&at(&format!("{head}g (|")), &["float16", "optional"], &["Gemm"]);
    check(&at(&format!("{head}g (float[N] x) => (bf|")), &["bfloat16"], &["x"]);
    check(&at("<ir_version: 8, |"), &["opset_import", "producer_name"], &["Gemm"]);
    check(&at(&net("y = Neg (x) # G|")), &[], &["Gemm"]);
    editor.close();
}

#[test]
fn rule_files_complete_keywords_operators_attributes_and_functions() {
    let sandbox = Sandbox::new(&[]);
    let mut editor = Editor::new(&sandbox);
    let mut at = |text: &str| completions(&mut editor, "own.rule", text);
    let rule = |entries: &str| {
        format!("language 3\n\nfn twice(x) = Add (x, x)\n\nrule OWN001 own {{\n  {entries}\n")
    };
    check(&at("language 3\n|"), &["rule", "fn", "defaults"], &["match"]);
    check(&at(&rule("sev|")), &["severity", "match", "example"], &["rule", "Add"]);
    check(&at(&rule("severity |")), &["hint", "error"], &["match"]);
    check(&at(&rule("phase |")), &["simplify", "lower"], &["hint"]);
    check(&at(&rule("fixes |")), &["EXP001"], &["match"]);
    check(&at(&rule("assume |")), &["finite", "in_range"], &["match"]);
    check(&at(&rule("detect builtin::|")), &["baked_shape"], &["match"]);
    check(&at(&rule("match y = Tra|")), &["Transpose", "com.microsoft"], &["severity"]);
    check(&at(&rule("match { y = Softmax@1 <|")), &["axis"], &["Add"]);
    check(&at(&rule("match { y = Add (Tr|")), &["Transpose"], &["match"]);
    check(&at(&rule("match { y = Transpose <perm = @p> (x) }  where is_identity(@|")), &["p"], &["x"]);
    check(&at(&rule("match y = Neg (x)  where { ra|")), &["rank", "dtype", "float16"], &["Transpose"]);
    check(&at(&rule("match y = Neg (x)  rewrite tw|")), &["twice", "Abs"], &[]);
    check(&at(&rule("example \"a\" { g (float[A] x) => (float[A] y) { y = Re|")), &["Relu"], &["twice"]);
    check(
        &at(&rule("example \"a\" { g (float[A] x) => (float[A] y) { y = Relu (x) } } eq|")),
        &["equivalent"],
        &[],
    );
    editor.close();
}

const SUBGRAPH: &str = "<ir_version: 8, opset_import: [\"\" : 17]>
main (float[N] x, bool c) => (float[N] y) <float[1] w = {1}> {
  t = Mul (x, w)
  y = If (c) <then_branch = a () => (p) { p = Abs (t) }, else_branch = b () => (q) { q = Relu (x) }>
}
";

/// Returns a symbol and its children as `name: detail [children]`.
fn outline(symbols: &Value) -> String {
    let one = |symbol: &Value| {
        let inner =
            symbol.get("children").filter(|inner| inner.as_array().is_some_and(|all| !all.is_empty()));
        let inner = inner.map_or_else(String::new, |inner| format!(" [{}]", outline(inner)));
        format!(
            "{}: {}{inner}",
            symbol["name"].as_str().expect("a name"),
            symbol["detail"].as_str().unwrap_or("")
        )
    };
    symbols.as_array().expect("an array").iter().map(one).collect::<Vec<_>>().join("; ")
}

#[test]
fn documents_have_symbols() {
    let sandbox = Sandbox::new(&[]);
    let mut editor = Editor::new(&sandbox);
    editor.open("net.onnxtxt", SUBGRAPH);
    editor.open("own.rule", RULES);
    let mut symbols = |file: &str| {
        let document = json!({ "textDocument": { "uri": editor.uri(file) } });
        outline(&editor.ask("textDocument/documentSymbol", document).expect("symbols"))
    };
    assert_eq!(
        symbols("net.onnxtxt"),
        "main: graph [x: input float[N]; c: input bool; w: initializer float[1]; t: Mul; \
         y: If [a: graph [p: Abs]; b: graph [q: Relu]]]"
    );
    assert_eq!(
        symbols("own.rule"),
        "flipped: Negates a value.; OWN001 double-negation: Removes two Negs. [both: example]"
    );
    editor.close();
}

const RULES: &str = "language 3

## Negates a value.
fn flipped(x, @unused) = Neg (x)

## Removes two Negs.
rule OWN001 double-negation {
  severity hint
  phase simplify
  safety exact
  message \"`{t}` is negated twice\"
  help \"remove both\"
  match {
    t = Neg@6 (x)
    y = Transpose <perm = @p> (t)
  }
  where is_identity(@p) and rank(x) == len(@p)
  rewrite flipped (x, 1)
  example \"both\" {
    g (float[A,B] x) => (float[A,B] y) { t = Neg (x)  y = Transpose <perm = [0,1]> (t) }
  } no_match
}
";

#[test]
fn names_in_rule_files_have_definitions_and_short_hovers() {
    let library = "language 3\n## Triples.\nfn tripled(x) = Add (x, Add (x, x))\n";
    let sandbox = Sandbox::new(&[("rules/lib/own.rule", library)]);
    let mut editor = Editor::new(&sandbox);
    let file = "rules/own/own.rule";
    let rules = RULES.replace("flipped (x, 1)", "tripled (flipped (x, 1))");
    editor.open(file, &rules);
    let mut definition = |word: &str| {
        let params = position(&editor, file, &rules, rules.rfind(word).expect("it is there") + 1);
        let found = editor.ask("textDocument/definition", params).expect("an answer");
        let name =
            found["uri"].as_str().unwrap_or_default().rsplit('/').next().unwrap_or_default().to_owned();
        let start = &found["range"]["start"];
        format!("{name}:{}:{}", start["line"], start["character"])
    };
    assert_eq!(definition("flipped (x"), "own.rule:3:3");
    assert_eq!(definition("tripled"), "own.rule:2:3");
    assert_eq!(definition("p)\n  rewrite"), "own.rule:14:27");
    assert_eq!(definition("x) == len"), "own.rule:13:15");

    let mut hover = |word: &str| hover(&mut editor, file, &rules, word);
    assert!(hover("Neg@6").starts_with("**Neg** of ai.onnx, since opset 6\n"), "{}", hover("Neg@6"));
    assert_eq!(hover("perm = @p"), "**perm** of Transpose: `ints`");
    assert!(
        hover("is_identity").ends_with("Whether a permutation is the identity."),
        "{}",
        hover("is_identity")
    );
    assert_eq!(hover("flipped (x"), "```onnx-rule\nfn flipped(x, @unused)\n```\nNegates a value.");
    assert!(hover("phase").starts_with("**phase**: when the rewrite runs"), "{}", hover("phase"));
    assert!(hover("exact").starts_with("**exact**: results are equal in every bit"), "{}", hover("exact"));
    editor.close();
}

const FAULTS: &str = "<ir_version: 8, opset_import: [\"\" : 17]>
g (float16[N,4] x, float[4] w) => (float16[N,4] y) {
  t = Add (x, w)
  u = Mul (t, w)
  y = Identity (u)
}
";

/// Returns the text of the first edit of an action.
fn new_text(editor: &Editor, file: &str, action: &Value) -> String {
    let edits = &action["edit"]["changes"][editor.uri(file)];
    edits[0]["newText"].as_str().expect("a text").to_owned()
}

#[test]
fn all_safe_fixes_of_onnx_text_are_one_action() {
    let sandbox = Sandbox::new(&[]);
    let mut editor = Editor::new(&sandbox);
    let found = editor.open("net.onnxtxt", FAULTS);
    assert_eq!(found.iter().filter(|finding| finding.starts_with("DTY001@")).count(), 2, "{found:?}");
    let range = json!({ "start": { "line": 2, "character": 14 }, "end": { "line": 2, "character": 15 } });
    let actions = editor.actions("net.onnxtxt", &range, "DTY001", &[]);
    let titles: Vec<&str> = actions.iter().filter_map(|action| action["title"].as_str()).collect();
    assert_eq!(
        titles,
        ["onnx-fix: fix DTY001", "accept DTY001 on this line", "onnx-lint: apply all safe fixes"]
    );
    let only = editor.actions("net.onnxtxt", &range, "DTY001", &["source.fixAll"]);
    assert_eq!(only.len(), 1);
    assert_eq!(only[0]["kind"], "source.fixAll");
    let fixed = new_text(&editor, "net.onnxtxt", &only[0]);
    let left = editor.change("net.onnxtxt", [0, 0, 99, 0], &fixed);
    assert_eq!(left, [""; 0], "{fixed}");
    assert_eq!(editor.actions("net.onnxtxt", &range, "DTY001", &["refactor"]), [Value::Null; 0]);
    editor.close();
}

#[test]
fn every_safe_fix_of_onnx_text_has_an_action_that_resolves_it() {
    // Each model has a finding with a safe fix.
    let head = "<ir_version: 8, opset_import: [\"\" : 17]>\n";
    let models = [
        "g (float[N,4] x) => (float[2,4] y) { y = Relu (x) }",
        "g (float[N] x) => (float[N] y) { y = Relu (t)  t = Neg (x) }",
        "g (float16[N] x, float[1] w) => (float16[N] y) { y = Mul (x, w) }",
        "g (float[A,B] x) => (float[A,B] y) { t = Transpose <perm=[1,0]> (x)  y = Transpose <perm=[1,0]> (t) }",
    ];
    let sandbox = Sandbox::new(&[("onnx-lint.toml", "severity = \"hint\"\n")]);
    let mut editor = Editor::new(&sandbox);
    for (at, model) in models.iter().enumerate() {
        let file = format!("net{at}.onnxtxt");
        let found = editor.open(&file, &format!("{head}{model}\n"));
        let code = found.first().expect("a finding")[..6].to_owned();
        let range = json!({ "start": { "line": 1, "character": 0 }, "end": { "line": 1, "character": 1 } });
        let actions = editor.actions(&file, &range, &code, &[]);
        let titled = format!("onnx-fix: fix {code}");
        let action = actions.iter().find(|action| action["title"] == titled);
        let fixed = new_text(&editor, &file, action.unwrap_or_else(|| panic!("{code}: {actions:?}")));
        let left = editor.change(&file, [0, 0, 99, 0], &fixed);
        assert!(!left.iter().any(|finding| finding.starts_with(&code)), "{code}: {left:?}\n{fixed}");
    }
    editor.close();
}

#[test]
fn safe_rewrites_of_python_are_one_action() {
    let sandbox = Sandbox::new(&[]);
    let mut editor = Editor::new(&sandbox);
    let script = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        \
                  y = x.data + 1\n        return y.data\n";
    let found = editor.open("net.py", script);
    let range = json!({ "start": { "line": 5, "character": 0 }, "end": { "line": 5, "character": 1 } });
    let actions = editor.actions("net.py", &range, "EXP012", &["source.fixAll"]);
    assert_eq!(actions.len(), 1, "{found:?}");
    let edits = actions[0]["edit"]["changes"][editor.uri("net.py")].as_array().expect("edits").clone();
    let texts: Vec<&Value> = edits.iter().map(|edit| &edit["newText"]).collect();
    assert_eq!(texts, ["x.detach()", "y.detach()"]);
    editor.close();
}

#[test]
fn old_rule_files_can_be_upgraded() {
    let sandbox = Sandbox::new(&[]);
    let mut editor = Editor::new(&sandbox);
    let old = RULES.replace("language 3", "language 2").replace("no_match", "unchanged");
    editor.open("own.rule", &old);
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 1 } });
    let actions = editor.actions("own.rule", &range, "RUL001", &[]);
    assert_eq!(actions[0]["title"], "upgrade to rule language 3");
    assert_eq!(new_text(&editor, "own.rule", &actions[0]), RULES);
    editor.close();
}
