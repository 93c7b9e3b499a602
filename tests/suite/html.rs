//! `--output-format html`: self-contained, valid and accessible pages.

use std::collections::BTreeSet;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::tool::Sandbox;

/// An element with its attributes.
pub struct Element {
    pub name: String,
    attributes: Vec<(String, String)>,
}

impl Element {
    fn of(start: &BytesStart) -> Self {
        let attributes = start.attributes().map(|attribute| {
            let attribute = attribute.expect("a well-formed attribute");
            (attribute.key.as_ref().to_owned(), attribute.value.to_string())
        });
        Element { name: start.name().as_ref().to_owned(), attributes: attributes.collect() }
    }

    /// Returns the value of an attribute.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Returns the elements of a well-formed page, in order.
pub fn elements(page: &str) -> Vec<Element> {
    let body = page.strip_prefix("<!DOCTYPE html>\n").expect("a page of HTML");
    let mut reader = Reader::from_str(body);
    let mut found = Vec::new();
    loop {
        match reader.read_event().unwrap_or_else(|error| panic!("{error} at {}", reader.buffer_position())) {
            Event::Start(start) | Event::Empty(start) => found.push(Element::of(&start)),
            Event::Eof => return found,
            _ => {}
        }
    }
}

/// Checks the properties of every page: landmarks, unique ids, links and headings.
fn check(page: &str) -> Vec<Element> {
    let elements = elements(page);
    let count = |name: &str| elements.iter().filter(|element| element.name == name).count();
    for landmark in ["header", "nav", "main", "footer", "h1", "title"] {
        assert!(count(landmark) >= 1, "the page has no {landmark}");
    }
    assert_eq!((count("main"), count("h1"), count("link"), count("img")), (1, 1, 0, 0));
    // The only script is the search, which only a page with findings has.
    assert_eq!(count("script"), count("article").min(1));
    let mut ids = BTreeSet::new();
    for id in elements.iter().filter_map(|element| element.get("id")) {
        assert!(ids.insert(id), "duplicate id `{id}`");
    }
    let mut heading = 0;
    for element in &elements {
        for key in ["src", "href", "style", "onclick"] {
            let value = element.get(key);
            assert!(value.is_none_or(|value| key == "href" && value.starts_with('#')), "{key} = {value:?}");
        }
        let named = ["aria-labelledby", "href"].into_iter().filter_map(|key| element.get(key));
        for id in named.flat_map(str::split_whitespace) {
            assert!(ids.contains(id.trim_start_matches('#')), "no element has the id {id}");
        }
        if matches!(element.name.as_str(), "nav" | "article" | "section" | "svg") {
            assert!(
                element.get("aria-label").or(element.get("aria-labelledby")).is_some(),
                "{}",
                element.name
            );
        }
        if let Some(level) = element.name.strip_prefix('h').and_then(|level| level.parse::<u32>().ok()) {
            assert!(level <= heading + 1, "h{level} follows h{heading}");
            heading = level;
        }
    }
    elements
}

#[test]
fn page_shows_locations_graphs_and_fixes() {
    let sandbox = Sandbox::checkout(17, true);
    let ran =
        sandbox.lint(&["models", "--path-map", "/app=src", "--output-format", "html", "--severity", "hint"]);
    assert_eq!((ran.status, &*ran.stderr), (1, ""));
    let elements = check(&ran.stdout);
    let count = |name: &str| elements.iter().filter(|element| element.name == name).count();
    assert!(count("article") > 12 && count("svg") > 12, "{} and {}", count("article"), count("svg"));
    let page = &ran.stdout;
    assert!(page.contains("<mark>x.reshape(2, 12)</mark>"), "the line of Python is missing");
    assert!(
        page.contains("<summary>Before and after <code>onnx-fix --select EXP001") && page.contains("<ins>+"),
        "the fix is missing"
    );
    assert!(
        page.contains("id=\"rule-EXP001\"") && page.contains("<a href=\"#rule-EXP001\">"),
        "the page of the rule is missing"
    );
    assert!(page.contains("Finding at Reshape"), "the description of the graph is missing");
    assert!(page.contains("<span class=\"number\">60</span>"), "the line number is missing");
    assert!(page.contains("<dt>Opset</dt><dd>17</dd>"), "the summary of the model is missing");
}

#[test]
fn page_without_findings_is_valid_and_names_are_escaped() {
    let evil = "<ir_version: 8, opset_import: [\"\" : 17]>\nmain (float[N] x) => (float[N] y) {\n  \
        [\"<script>alert(1)</script>\"] y = Relu (\"</style><b>\")\n}\n";
    let sandbox = Sandbox::new(&[("sound.onnxtxt", crate::tool::SOUND), ("evil.onnxtxt", evil)]);
    let page = sandbox.lint(&["sound.onnxtxt", "--output-format", "html"]).stdout;
    check(&page);
    assert!(page.contains("All checks passed.") && page.contains("sound.onnxtxt: no findings"), "{page}");
    let page = sandbox.lint(&["evil.onnxtxt", "--output-format", "html"]).stdout;
    check(&page);
    assert!(!page.contains("<script>") && !page.contains("</style><b>"), "{page}");
}

#[test]
fn graphs_of_standard_input_are_drawn() {
    let clumsy = Sandbox::new(&[]);
    let page =
        clumsy.lint_stdin(&["-", "--severity", "hint", "--output-format", "html"], crate::tool::CLUMSY);
    let elements = check(&page.stdout);
    assert!(elements.iter().any(|element| element.name == "svg"), "{}", page.stdout);
    // Safe fixes need no option.
    assert!(page.stdout.contains("<code>onnx-fix --select OPT101</code>"), "{}", page.stdout);
}

/// Even with very many findings, the page is valid and its size is limited.
#[test]
fn page_for_ten_thousand_nodes_is_bounded() {
    let mut text =
        "<ir_version: 8, opset_import: [\"\" : 17]>\nmain (float[A,B] x0) => (float[A,B] x10000) {\n"
            .to_owned();
    for at in 0..5_000 {
        let (from, between, to) = (2 * at, 2 * at + 1, 2 * at + 2);
        text += &format!(
            "  x{between} = Transpose <perm = [1, 0]> (x{from})\n  x{to} = Transpose <perm = [1, 0]> (x{between})\n"
        );
    }
    let sandbox = Sandbox::new(&[("deep.onnxtxt", &(text + "}\n"))]);
    let ran = sandbox.lint(&["deep.onnxtxt", "--output-format", "html", "--severity", "hint"]);
    check(&ran.stdout);
    assert!(ran.stdout.len() < 4 << 20, "{} bytes", ran.stdout.len());
}
