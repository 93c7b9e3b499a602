//! `onnx-lint site`: consistent, self-contained pages.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use walkdir::WalkDir;

use crate::html::{Element, elements};
use crate::tool::Sandbox;

/// A generated site: the elements of each page, the names of all files, and their size in bytes.
struct Pages {
    elements: BTreeMap<String, Vec<Element>>,
    files: BTreeSet<String>,
    bytes: usize,
}

fn read(folder: &Path) -> Pages {
    let mut pages = Pages { elements: BTreeMap::new(), files: BTreeSet::new(), bytes: 0 };
    for entry in WalkDir::new(folder).into_iter().map(|entry| entry.expect("an entry")) {
        if !entry.file_type().is_file() {
            continue;
        }
        let name = entry
            .path()
            .strip_prefix(folder)
            .expect("the path is below the folder")
            .to_string_lossy()
            .replace('\\', "/");
        let content = std::fs::read(entry.path()).expect("the file is readable");
        pages.bytes += content.len();
        if name.ends_with(".html") {
            let text = String::from_utf8(content).expect("UTF-8");
            pages.elements.insert(name.clone(), elements(&text));
        }
        pages.files.insert(name);
    }
    pages
}

/// Resolves a link to a file of the site and an anchor in it.
fn target(page: &str, link: &str) -> (String, Option<String>) {
    let (path, anchor) =
        link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor.to_owned())));
    if path.is_empty() {
        return (page.to_owned(), anchor);
    }
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            ".." => assert!(parts.pop().is_some(), "{page}: {link} leaves the site"),
            part => parts.push(part),
        }
    }
    (parts.join("/"), anchor)
}

#[test]
fn all_links_of_the_site_resolve() {
    let sandbox = Sandbox::new(&[]);
    let ran = sandbox.lint(&["site", "pages"]);
    assert_eq!((ran.status, &*ran.stdout, &*ran.stderr), (0, "", ""));
    let pages = read(&sandbox.path("pages"));
    let rules = sandbox.lint(&["--list-rules", "--all"]).stdout;
    for code in rules.lines().filter_map(|line| line.split_whitespace().next()) {
        assert!(pages.elements.contains_key(&format!("rules/{code}.html")), "{code} has no page");
    }
    let ids = |page: &str| -> BTreeSet<&str> {
        pages.elements[page].iter().filter_map(|element| element.get("id")).collect()
    };
    let mut linked = BTreeSet::from(["index.html".to_owned()]);
    for (page, elements) in &pages.elements {
        let headings = elements.iter().filter(|element| element.name == "h1").count();
        assert_eq!(headings, 1, "{page}");
        for element in elements {
            assert!(!matches!(&*element.name, "script" | "iframe" | "object"), "{page}: {}", element.name);
            assert!(element.get("style").is_none(), "{page}");
            let outside = element.get("href").is_some_and(|link| link.starts_with("https://"));
            // External links are allowed, external resources are not.
            if outside && element.name == "a" {
                continue;
            }
            for link in [element.get("href"), element.get("src")].into_iter().flatten() {
                let (file, anchor) = target(page, link);
                assert!(pages.files.contains(&file), "{page}: {link} is a broken link");
                if let Some(anchor) = anchor {
                    assert!(ids(&file).contains(&*anchor), "{page}: the anchor of {link} does not exist");
                }
                linked.insert(file);
            }
        }
    }
    let lost: Vec<&String> = pages.files.iter().filter(|file| !linked.contains(*file)).collect();
    assert!(lost.is_empty(), "no link to {lost:?}");
    assert!(pages.bytes < 12 << 20, "{} bytes", pages.bytes);
}

/// The site includes pages of custom rules.
#[test]
fn custom_rules_have_pages() {
    let sandbox = Sandbox::new(&[]);
    sandbox.bring("docs/recipes/rknn.rule", "own/rknn.rule");
    assert_eq!(sandbox.lint(&["site", "pages", "--rules", "own"]).status, 0);
    let page = String::from_utf8(sandbox.read("pages/rules/RKN001.html")).expect("UTF-8");
    assert!(page.contains("<h1>RKN001 ceil-on-rknn</h1>"), "{page}");
    let index = String::from_utf8(sandbox.read("pages/rules/index.html")).expect("UTF-8");
    assert!(index.contains("<a href=\"RKN001.html\">"), "{index}");
    let ran = sandbox.lint(&["site", "own/rknn.rule"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.starts_with("error: own/rknn.rule/index.html: cannot be written: "), "{ran:?}");
}
