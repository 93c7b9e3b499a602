//! Locations of findings: paths in the repository, and columns of a line.

use serde_json::Value;

use crate::tool::{Ran, Sandbox};

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// Returns the text that a range of columns covers.
fn covered(sandbox: &Sandbox, file: &str, line: &Value, columns: (&Value, &Value)) -> String {
    let text = String::from_utf8(sandbox.read(file)).expect("UTF-8");
    let number = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("not a number: {value}")) as usize;
    let line = text.lines().nth(number(line) - 1).expect("a line of the file");
    let (start, end) = (number(columns.0), number(columns.1));
    line.chars().skip(start - 1).take(end - start).collect()
}

#[test]
fn locations_of_pitfalls_exist_and_cover_the_expression() {
    let sandbox = Sandbox::new(&[(".git/HEAD", "")]);
    sandbox.bring("tests/pitfalls/pitfalls.py", "src/pitfalls.py");
    sandbox.bring("tests/pitfalls/export.py", "src/export.py");
    let exported = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pitfalls/exported"));
    for entry in exported.expect("a folder") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        sandbox.bring(&format!("tests/pitfalls/exported/{name}"), &format!("models/{name}"));
    }
    let arguments = [".", "--path-map", "/app=src"];
    let ran = sandbox.lint(&[&arguments[..], &["--output-format", "json"]].concat());
    let found = json(&ran);
    let found = found.as_array().expect("an array");
    assert!(found.len() > 150, "{}", found.len());
    for finding in found {
        let source = &finding["source"];
        let Some(file) = source["file"].as_str() else { continue };
        let meant = covered(&sandbox, file, &source["line"], (&source["column"], &source["end_column"]));
        assert!(!meant.is_empty() && !meant.contains("# ") && !meant.starts_with([' ', '#']), "{meant:?}");
        assert!(!meant.starts_with("return ") && !meant.starts_with("if "), "{meant:?}");
    }

    let ran = sandbox.lint(&[&arguments[..], &["--output-format", "sarif"]].concat());
    let sarif = json(&ran);
    let results = sarif["runs"][0]["results"].as_array().expect("an array");
    assert_eq!(results.len(), found.len());
    for result in results {
        let place = &result["locations"][0]["physicalLocation"];
        let uri = place["artifactLocation"]["uri"].as_str().expect("a URI");
        assert!(sandbox.path(uri).is_file(), "{uri}");
        let region = &place["region"];
        if uri.ends_with(".py") {
            let columns = (&region["startColumn"], &region["endColumn"]);
            assert!(!covered(&sandbox, uri, &region["startLine"], columns).is_empty());
        }
    }
}

#[test]
fn every_format_reports_the_columns_of_the_expression() {
    let sandbox = Sandbox::checkout(17, true);
    let says = |format: &str, expected: &str| {
        let arguments = ["models/BakedBatch.onnx", "--path-map", "/app=src", "--output-format", format];
        let ran = sandbox.lint(&arguments);
        assert!(ran.stdout.contains(expected), "{format}: {}", ran.stdout);
    };
    says("full", "  --> src/pitfalls.py:60:16\n");
    says("full", "|                ^^^^^^^^^^^^^^^^ exported as node `/Reshape`\n");
    says("github", "::error file=src/pitfalls.py,line=60,col=16,endColumn=32,");
    says("gitlab", "\"path\": \"src/pitfalls.py\"");
    says("azure", "sourcepath=src/pitfalls.py;linenumber=60;columnnumber=16;");
    says("checkstyle", "<file name=\"src/pitfalls.py\">");
    says("junit", ">src/pitfalls.py:60:16: `Reshape` fixes");
    says("rdjson", "\"path\": \"src/pitfalls.py\"");
    says("json", "\"column\": 16,\n      \"end_column\": 32,");
}

/// If a recorded path does not exist here, the finding is located in the model instead.
#[test]
fn findings_without_source_are_located_in_the_model() {
    let sandbox = Sandbox::checkout(17, false);
    let ran = sandbox.lint(&["models/BakedBatch.onnx", "--output-format", "github"]);
    assert!(ran.stdout.starts_with("::error file=models/BakedBatch.onnx,title="), "{}", ran.stdout);
    assert!(ran.stdout.contains("%0APython: /app/pitfalls.py:60"), "{}", ran.stdout);
    let found = json(&sandbox.lint(&["models/BakedBatch.onnx", "--output-format", "json"]));
    assert_eq!(found[0]["source"]["column"], Value::Null);
}

#[test]
fn paths_for_services_are_relative_to_the_repository_root() {
    let sandbox = Sandbox::checkout(17, true);
    let folder = sandbox.path("src");
    let path_map = format!("/app={}", folder.display());
    let model = sandbox.path("models/BakedBatch.onnx").display().to_string();
    let github = sandbox.lint(&[&*model, "--path-map", &path_map, "--output-format", "github"]);
    assert!(github.stdout.starts_with("::error file=src/pitfalls.py,line=60,"), "{}", github.stdout);
    assert!(github.stdout.contains("in models/BakedBatch.onnx"), "{}", github.stdout);
}

/// Services show the page of a rule beside its findings.
#[test]
fn sarif_includes_the_pages_of_rules() {
    let sandbox = Sandbox::checkout(17, true);
    let sarif = json(&sandbox.lint(&["models", "--path-map", "/app=src", "--output-format", "sarif"]));
    let rules = sarif["runs"][0]["tool"]["driver"]["rules"].as_array().expect("an array").clone();
    assert!(rules.len() > 5, "{}", rules.len());
    for rule in &rules {
        let id = rule["id"].as_str().expect("a text");
        let markdown = rule["help"]["markdown"].as_str().unwrap_or_else(|| panic!("{id} has no page"));
        assert!(markdown.starts_with(&format!("# {id} ")), "{markdown}");
        assert!(rule["help"]["text"].as_str().is_some_and(|text| text.contains("Why")), "{rule}");
        let level = rule["defaultConfiguration"]["level"].as_str().unwrap_or("");
        assert!(["error", "warning", "note"].contains(&level), "{rule}");
    }
    for result in sarif["runs"][0]["results"].as_array().expect("an array") {
        let index = result["ruleIndex"].as_u64().expect("an index") as usize;
        assert_eq!(result["ruleId"], rules[index]["id"]);
    }
}

/// With a `docs-url`, rules in SARIF link to their pages.
#[test]
fn sarif_links_to_the_documentation() {
    let sandbox = Sandbox::checkout(17, true);
    let rules = |sandbox: &Sandbox| {
        let ran = sandbox.lint(&["models/BakedBatch.onnx", "--output-format", "sarif"]);
        json(&ran)["runs"][0]["tool"]["driver"]["rules"].clone()
    };
    assert_eq!(rules(&sandbox)[0]["helpUri"], Value::Null);
    sandbox.write("onnx-lint.toml", "docs-url = \"https://example.org/docs/\"\n");
    assert_eq!(rules(&sandbox)[0]["helpUri"], "https://example.org/docs/rules/EXP001.html");
}

/// A Python line that several models share has one annotation.
///
/// Services limit the number of annotations.
#[test]
fn annotations_are_grouped_by_line() {
    let sandbox = Sandbox::new(&[]);
    sandbox.bring("tests/pitfalls/pitfalls.py", "src/pitfalls.py");
    for name in ["a", "b", "c"] {
        sandbox.bring("tests/pitfalls/exported/BakedBatch.ts17.onnx", &format!("{name}.onnx"));
    }
    let arguments = ["a.onnx", "b.onnx", "c.onnx", "--path-map", "/app=src", "--output-format", "github"];
    let ran = sandbox.lint(&arguments);
    assert_eq!(ran.stdout.lines().count(), 1, "{}", ran.stdout);
    assert!(
        ran.stdout.contains("%0A2 more like this, at `/Reshape` of b.onnx, `/Reshape` of c.onnx"),
        "{}",
        ran.stdout
    );
}

/// Model Explorer data refers to nodes, but not to files.
#[test]
fn model_explorer_output_requires_one_model() {
    let sandbox = Sandbox::checkout(17, true);
    let overlay = ["--output-format", "model-explorer"];
    let ran = sandbox.lint(&[&["models/BakedBatch.onnx", "src"][..], &overlay].concat());
    let reshape = &json(&ran)["main_graph"]["results"]["/Reshape"];
    assert_eq!((ran.status, &reshape["value"]), (1, &Value::from("error: EXP001 baked-shape")));
    let ran = sandbox.lint(&[&["models"][..], &overlay].concat());
    assert_eq!((ran.status, &*ran.stdout), (2, ""));
    assert!(
        ran.stderr.contains(
            "--output-format model-explorer takes the findings of one model: pass `models/BakedBatch.onnx` or"
        ),
        "{ran:?}"
    );
}

/// Path of a text model with faults in the main graph, a subgraph, a function and a declaration.
const TEXT: &str = "tests/suite/baselines/net.onnxtxt";

#[test]
fn findings_in_onnx_text_have_the_line_and_column_of_the_file() {
    let sandbox = Sandbox::new(&[]);
    sandbox.bring(TEXT, "net.onnxtxt");
    let arguments = ["net.onnxtxt", "--select", "SPC012,OPT002", "--output-format", "json"];
    let found = json(&sandbox.lint(&arguments));
    let covered: Vec<String> = found
        .as_array()
        .expect("an array")
        .iter()
        .map(|finding| {
            let at = &finding["location"];
            let text = covered(&sandbox, "net.onnxtxt", &at["line"], (&at["column"], &at["end_column"]));
            format!("{}: {text}", at["line"])
        })
        .collect();
    assert_eq!(covered, ["3: float[4] unused", "5: ghost", "8: phantom", "15: missing"]);
}

#[test]
fn every_format_locates_findings_in_onnx_text() {
    let sandbox = Sandbox::new(&[]);
    sandbox.bring(TEXT, "net.onnxtxt");
    let says = |format: &str, expected: &str| {
        let ran = sandbox.lint(&["net.onnxtxt", "--output-format", format]);
        assert!(ran.stdout.contains(expected), "{format}: {}", ran.stdout);
    };
    says("full", " --> net.onnxtxt:8:17\n  |\n8 |       p = Relu (phantom)\n  |                 ^^^^^^^ ");
    says("concise", "\nnet.onnxtxt:8:17: error[SPC012] ");
    says("json-lines", "\"line\":8,\"column\":17,\"end_column\":24,\"code\":\"      p = Relu (phantom)\"");
    says("github", "::error file=net.onnxtxt,line=8,col=17,endColumn=24,");
    says("azure", "sourcepath=net.onnxtxt;linenumber=8;columnnumber=17;");
    says("checkstyle", "<error line=\"8\" column=\"17\" ");
    says("junit", ">net.onnxtxt:8:17: ");
    says("gitlab", "\"begin\": 8\n");
    says("rdjson", "\"start\": {\n            \"line\": 8,\n            \"column\": 17\n");
    says("sarif", "\"startLine\": 8,\n                  \"startColumn\": 17,\n");
    says("html", "net.onnxtxt:8:17");
}

#[test]
fn concise_lines_start_with_file_line_and_column() {
    let sandbox = Sandbox::checkout(17, true);
    sandbox.bring(TEXT, "net.onnxtxt");
    sandbox.write("cut.onnx", &sandbox.read("models/BakedBatch.onnx")[..100]);
    let lines = |arguments: &[&str]| -> Vec<String> {
        let ran = sandbox.lint(&[arguments, &["--output-format", "concise", "--quiet"]].concat());
        ran.stdout.lines().map(str::to_owned).collect()
    };
    let everywhere = [lines(&["."]), lines(&[".", "--path-map", "/app=src", "--severity", "hint"])].concat();
    assert!(everywhere.len() > 60, "{}", everywhere.len());
    for line in everywhere {
        let parts: Vec<&str> = line.splitn(4, ':').collect();
        assert!(sandbox.path(parts[0]).is_file(), "{line}");
        let is_number = |text: &str| text.parse::<u32>().is_ok_and(|number| number > 0);
        assert!(is_number(parts[1]) && is_number(parts[2]) && parts[3].contains("] "), "{line}");
    }
    let model = ["models/BakedBatch.onnx"];
    let [without] = &lines(&model)[..] else { panic!("one finding") };
    assert!(
        without.starts_with("models/BakedBatch.onnx:1:1: error[EXP001] [*] `Reshape` fixes"),
        "{without}"
    );
    assert!(without.ends_with(" (node /Reshape, Python /app/pitfalls.py:60)"), "{without}");
    let [with] = &lines(&[&model[..], &["--path-map", "/app=src"]].concat())[..] else {
        panic!("one finding")
    };
    assert!(with.starts_with("src/pitfalls.py:60:16: error[EXP001] [*] `Reshape` fixes"), "{with}");
    assert!(with.ends_with(" (node /Reshape, models/BakedBatch.onnx)"), "{with}");
}

/// A line with weights may have many megabytes, so reports do not repeat long lines.
#[test]
fn a_long_line_is_named_but_not_shown() {
    let name = "x".repeat(5000);
    let text = format!(
        "<ir_version: 8, opset_import: [\"\" : 17]>\nmain (float[N] {name}) => (float[N] y) {{ y = Add ({name}, ghost) }}\n"
    );
    let sandbox = Sandbox::new(&[("net.onnxtxt", &text)]);
    let full = sandbox.lint(&["net.onnxtxt"]).stdout;
    let column = text.lines().nth(1).and_then(|line| line.find("ghost")).expect("it is there") + 1;
    assert!(full.contains(&format!("--> net.onnxtxt:2:{column}\n")), "{full}");
    assert!(full.contains("^^^^^ no value in scope has this name"), "{full}");
    assert!(full.len() < 2000, "{full}");
    let location = &json(&sandbox.lint(&["net.onnxtxt", "--output-format", "json"]))[0]["location"];
    assert_eq!((&location["column"], &location["code"]), (&Value::from(column), &Value::Null));
    let sarif = sandbox.lint(&["net.onnxtxt", "--output-format", "sarif"]).stdout;
    assert!(sarif.contains(&format!("\"startColumn\": {column},")) && !sarif.contains(&name), "{sarif}");
}
