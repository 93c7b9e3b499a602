//! The rules of CONTRIBUTING.md for comments, messages and rules that a test can check.

use regex::Regex;

use crate::tidy::{self, File};

/// Openings that replace a noun with a clause, so that a reader has to guess it.
const OPENINGS: &str =
    r"^(What|That|Those|Of|Lets|Has|As above|Whoever|Which|Who|How|Nor|Nothing|All that|Takes \w+ to be)\b";

/// Words to avoid, each with its replacement.
const GLOSSARY: [(&str, &str); 12] = [
    (r"\bcomputed beforehand\b", "constant-folded"),
    (r"\btaken from what is equal\b", "merged with an equal node"),
    (r"\btakes? (no )?part\b", "is (un)used"),
    (r"\bfree (size|dimension|axis|axes)\b", "dynamic dimension"),
    (r"\b(stands?|stood) in the (file|model)\b", "is in the file"),
    (r"\bhas no form\b", "is not supported"),
    (r"\b(is|are|was|were) asked for\b", "is requested"),
    (r"\bnobody knows\b", "is unknown"),
    (r"\bthat which\b", "a noun"),
    (r"\bmend(s|ed|ing|ings)?\b", "fix, repair"),
    (r"\bwhoever\b", "a noun"),
    (
        r"\b(colour|behaviour|initialise|optimise|quantise|normalise|catalogue|licence|centre|neighbour)",
        "American spelling",
    ),
];

/// Longest first line of a doc comment or rule page, in characters.
const MAX_SUMMARY: usize = 100;

/// Text of a file that people read, with its line.
struct Passage {
    place: String,
    text: String,
    /// Whether the text is the first line of a comment, page or string.
    is_opening: bool,
    /// Whether the text is the first line of a doc comment or of a rule's page.
    is_summary: bool,
}

/// Returns the files that people write, except this one, which contains the banned words.
fn files(folders: &[&str], extension: &str) -> Vec<File> {
    let is_written = |file: &File| {
        let is_generated =
            ["src/schema/table/", "/target/", "node_modules"].iter().any(|part| file.path.contains(part));
        !is_generated && file.path != file!()
    };
    tidy::files(folders, extension).into_iter().filter(is_written).collect()
}

/// Returns the lines of a file that are comments.
fn comments(name: &str, text: &str) -> Vec<Passage> {
    let mut found = Vec::new();
    let mut before = "";
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let mark = ["///", "//!", "##", "//", "# "].into_iter().find(|mark| line.starts_with(mark));
        let is_comment = mark.is_some_and(|mark| match name.rsplit('.').next() {
            Some("rs") => mark.starts_with('/'),
            _ => mark.starts_with('#'),
        });
        let mark = mark.filter(|_| is_comment).unwrap_or_default();
        if is_comment {
            found.push(Passage {
                place: format!("{name}:{}", index + 1),
                text: line[mark.len()..].trim().to_owned(),
                is_opening: before != mark,
                is_summary: before != mark && matches!(mark, "///" | "//!" | "##"),
            });
        }
        before = mark;
    }
    found
}

/// Returns the string literals of a file that are on one line and contain a space.
fn strings(name: &str, text: &str) -> Vec<Passage> {
    let literal = Regex::new(r#""((?:[^"\\]|\\.)*)""#).expect("a valid pattern");
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("//") || line.trim_start().starts_with('#') {
            continue;
        }
        for text in literal.captures_iter(line).map(|captures| captures[1].to_owned()) {
            if text.contains(' ') {
                let place = format!("{name}:{}", index + 1);
                found.push(Passage { place, text, is_opening: true, is_summary: false });
            }
        }
    }
    found
}

fn passages() -> Vec<Passage> {
    let rust = files(&["src", "tests", "benches", "examples", "python/src", "web/src"], "rs");
    let rules = files(&["rules"], "rule");
    rust.iter()
        .chain(&rules)
        .flat_map(|File { path, text }| comments(path, text).into_iter().chain(strings(path, text)))
        .collect()
}

#[test]
fn comments_and_messages_open_with_a_noun_or_a_verb() {
    let banned = Regex::new(OPENINGS).expect("a valid pattern");
    let is_riddle = |passage: &&Passage| passage.is_opening && banned.is_match(&passage.text);
    let faults: Vec<String> = passages().iter().filter(is_riddle).map(show).collect();
    assert!(faults.is_empty(), "{} open with a clause:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn summaries_have_at_most_100_characters() {
    let is_long = |passage: &&Passage| passage.is_summary && passage.text.chars().count() > MAX_SUMMARY;
    let faults: Vec<String> = passages().iter().filter(is_long).map(show).collect();
    assert!(faults.is_empty(), "{} summaries are too long:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn comments_and_messages_use_the_terms_of_the_glossary() {
    let glossary =
        GLOSSARY.map(|(word, term)| (Regex::new(&format!("(?i){word}")).expect("a valid pattern"), term));
    let code = Regex::new("`[^`]*`").expect("a valid pattern");
    let mut faults = Vec::new();
    for passage in passages() {
        let prose = code.replace_all(&passage.text, "``");
        for (word, term) in &glossary {
            if let Some(found) = word.find(&prose) {
                faults.push(format!("{}: `{}`: use {term}", passage.place, found.as_str()));
            }
        }
    }
    assert!(faults.is_empty(), "{} words of an earlier language:\n{}", faults.len(), faults.join("\n"));
}

/// Every `pub` function, type, trait, constant and static of `src/` has a doc comment.
/// Generated files are not checked.
#[test]
fn public_items_are_documented() {
    let item =
        Regex::new(r"^\s*pub(\([a-z: ]+\))? (const |unsafe )*(fn|struct|enum|trait|const|static|type) [^$]")
            .expect("a valid pattern");
    let mut faults = Vec::new();
    for File { path: name, text } in files(&["src"], "rs") {
        let mut is_documented = false;
        for (index, line) in text.lines().enumerate() {
            if item.is_match(line) && !is_documented {
                faults.push(format!("{name}:{}: {}", index + 1, line.trim()));
            }
            let line = line.trim();
            let is_attribute = line.starts_with("#[") || line.ends_with(")]");
            is_documented = line.starts_with("///") || is_documented && is_attribute;
        }
    }
    assert!(faults.is_empty(), "{} items without a doc comment:\n{}", faults.len(), faults.join("\n"));
}

fn show(passage: &Passage) -> String {
    format!("{}: {}", passage.place, passage.text)
}
