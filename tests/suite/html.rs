//! `--output-format html`: a page that stands alone, hangs together, and can be read by keyboard and by ear.

use std::collections::BTreeSet;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::tool::Sandbox;

/// An element with its attributes, and how many are around it.
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

    pub fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// The elements of a page, in their order: it must be well-formed.
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

/// Holds what every page promises.
fn check(page: &str) -> Vec<Element> {
    let elements = elements(page);
    let count = |name: &str| elements.iter().filter(|element| element.name == name).count();
    for landmark in ["header", "nav", "main", "footer", "h1", "title"] {
        assert!(count(landmark) >= 1, "there is no {landmark}");
    }
    assert_eq!((count("main"), count("h1"), count("script"), count("link"), count("img")), (1, 1, 0, 0, 0));
    let mut ids = BTreeSet::new();
    for id in elements.iter().filter_map(|element| element.get("id")) {
        assert!(ids.insert(id), "`{id}` is there twice");
    }
    let mut heading = 0;
    for element in &elements {
        for key in ["src", "href", "style", "onclick"] {
            let value = element.get(key);
            assert!(value.is_none_or(|value| key == "href" && value.starts_with('#')), "{key} = {value:?}");
        }
        let named = ["aria-labelledby", "href"].into_iter().filter_map(|key| element.get(key));
        for id in named.flat_map(str::split_whitespace) {
            assert!(ids.contains(id.trim_start_matches('#')), "nothing is called {id}");
        }
        if matches!(element.name.as_str(), "nav" | "article" | "section" | "svg") {
            assert!(
                element.get("aria-label").or(element.get("aria-labelledby")).is_some(),
                "{}",
                element.name
            );
        }
        if let Some(level) = element.name.strip_prefix('h').and_then(|level| level.parse::<u32>().ok()) {
            assert!(level <= heading + 1, "h{level} comes after h{heading}");
            heading = level;
        }
    }
    elements
}

#[test]
fn a_page_shows_places_graphs_and_fixes() {
    let sandbox = Sandbox::checkout(17, true);
    let ran =
        sandbox.lint(&["models", "--path-map", "/app=src", "--output-format", "html", "--severity", "hint"]);
    assert_eq!((ran.status, &*ran.stderr), (1, ""));
    let elements = check(&ran.stdout);
    let count = |name: &str| elements.iter().filter(|element| element.name == name).count();
    assert!(count("article") > 12 && count("svg") > 12, "{} and {}", count("article"), count("svg"));
    let page = &ran.stdout;
    assert!(page.contains("<mark>x.reshape(2, 12)</mark>"), "the line of Python");
    assert!(
        page.contains("<summary>Before and after <code>onnx-fix --select EXP001") && page.contains("<ins>+"),
        "a fix"
    );
    assert!(page.contains("id=\"rule-EXP001\"") && page.contains("<a href=\"#rule-EXP001\">"), "its page");
    assert!(page.contains("Finding at Reshape"), "the graph in words");
}

#[test]
fn nothing_found_is_a_page_too_and_names_are_text() {
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
fn standard_input_is_drawn_too() {
    let clumsy = Sandbox::new(&[]);
    let page =
        clumsy.lint_stdin(&["-", "--severity", "hint", "--output-format", "html"], crate::tool::CLUMSY);
    let elements = check(&page.stdout);
    assert!(elements.iter().any(|element| element.name == "svg"), "{}", page.stdout);
    // What is safe is done unasked.
    assert!(page.stdout.contains("<code>onnx-fix --select OPT101</code>"), "{}", page.stdout);
}

/// As many findings as there may be: the page stays in its bounds, and hangs together.
#[test]
fn ten_thousand_nodes_make_a_page() {
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
