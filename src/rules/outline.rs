//! Locates the items of a rule file and the entries of its rules, without interpreting them.
//!
//! `build.rs` includes this file to index rules without parsing them, so it must not use the rest of
//! the crate.
//! A test checks that the outline agrees with the parser.

/// Outline of a rule file: its items by kind, each in the order written.
#[derive(Debug, Default)]
pub struct Outline<'t> {
    /// `defaults { … }`.
    pub defaults: Vec<&'t str>,
    /// Names and texts of the definitions `fn name(…) …` and `pattern name(…) …`.
    pub functions: Vec<(&'t str, &'t str)>,
    pub rules: Vec<Outlined<'t>>,
}

/// Outline of a rule.
#[derive(Debug)]
pub struct Outlined<'t> {
    /// Docs: the `## …` lines above it.
    pub docs: Vec<&'t str>,
    pub code: &'t str,
    pub name: &'t str,
    /// `rule CODE name {`.
    pub header: &'t str,
    /// Entries, each with its keyword in the current language.
    pub entries: Vec<(&'t str, &'t str)>,
}

/// Keywords that begin an item of a file.
pub const ITEMS: [&str; 5] = ["language", "defaults", "fn", "pattern", "rule"];

/// Keywords that begin an entry of a rule.
pub const KEYWORDS: [&str; 18] = [
    "also", "status", "severity", "phase", "safety", "at", "since", "fixes", "message", "help", "match",
    "where", "let", "assume", "rewrite", "detect", "example", "but",
];

/// Keywords of language 2, each with the keyword that replaces it.
pub const OLD_KEYWORDS: [(&str, &str); 2] = [("mends", "fixes"), ("given", "assume")];

/// Keywords of examples, which are skipped when built-in rules are loaded.
pub const EXAMPLES: [&str; 2] = ["example", "but"];

/// Outlines a rule file, which must have no faults.
pub fn outline(text: &str) -> Outline<'_> {
    let mut outline = Outline::default();
    let starts: Vec<usize> = line_starts(text, 0).filter(|&at| ITEMS.contains(&word(&text[at..]))).collect();
    for (index, &start) in starts.iter().enumerate() {
        let end = starts.get(index + 1).map_or(text.len(), |&next| next - docs_above(&text[..next]).1);
        let item = text[start..end].trim_end();
        let rest = item[word(item).len()..].trim_start();
        match word(item) {
            "defaults" => outline.defaults.push(item),
            "fn" | "pattern" => outline.functions.push((word(rest), item)),
            "rule" => outline.rules.push(rule(item, docs_above(&text[..start]).0)),
            _ => {}
        }
    }
    outline
}

fn rule<'t>(item: &'t str, docs: Vec<&'t str>) -> Outlined<'t> {
    let open = item.find('{').map_or(item.len(), |at| at + 1);
    let mut words = item[..open].split_whitespace().skip(1);
    let (code, name) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let close = item.rfind('}').unwrap_or(item.len());
    let starts: Vec<usize> = word_starts(&item[..close], open);
    let entries = starts.iter().enumerate().map(|(index, &start)| {
        let end = starts.get(index + 1).copied().unwrap_or(close);
        let entry = item[start..end].trim_end();
        (current(word(entry)), entry)
    });
    Outlined { docs, code, name, header: &item[..open], entries: entries.collect() }
}

impl<'t> Outlined<'t> {
    /// Returns the text of an entry after its keyword.
    pub fn entry(&self, keyword: &str) -> Option<&'t str> {
        let (_, text) = self.entries.iter().find(|(word, _)| *word == keyword)?;
        Some(text[word(text).len()..].trim_start())
    }

    /// Returns the codes and names of the rule: its own, and those of the entries `also CODE name if …`.
    pub fn codes(&self) -> impl Iterator<Item = (&'t str, &'t str)> {
        let others = self.entries.iter().filter(|(keyword, _)| *keyword == "also").map(|(_, text)| {
            let mut words = text.split_whitespace().skip(1);
            (words.next().unwrap_or_default(), words.next().unwrap_or_default())
        });
        std::iter::once((self.code, self.name)).chain(others)
    }
}

/// Skips white space and comments.
pub fn skip_blank(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        match text.strip_prefix('#') {
            Some(comment) => text = comment.find('\n').map_or("", |end| &comment[end..]),
            None => return text,
        }
    }
}

/// Skips a bracket with its content, a string, or one character.
pub fn skip_value(text: &str) -> &str {
    let mut scan = Scan::new(text, 0);
    while scan.next().is_some() && scan.depth > 0 {}
    &text[scan.at..]
}

/// Returns true for a character that words can contain: a letter, a digit or `_`.
pub fn is_word(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}

/// Returns the leading word of a text.
pub fn word(text: &str) -> &str {
    let end = text.find(|char: char| !is_word(char)).unwrap_or(text.len());
    &text[..end]
}

/// Returns the starts of lines outside of brackets and comments, beginning at `from`.
fn line_starts(text: &str, from: usize) -> impl Iterator<Item = usize> {
    let mut scan = Scan::new(text, from);
    let mut at_start = true;
    std::iter::from_fn(move || {
        loop {
            let (at, char) = scan.next()?;
            let starts = at_start && !char.is_whitespace();
            at_start = char == '\n' || (at_start && char.is_whitespace());
            if starts && scan.depth_before == 0 {
                return Some(at);
            }
        }
    })
}

/// Returns the starts of rule entries: keywords outside of brackets, except the `at` of an example.
fn word_starts(text: &str, from: usize) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut scan = Scan::new(text, from);
    let mut in_word = false;
    while let Some((at, char)) = scan.next() {
        let begins = is_word(char) && !in_word && scan.depth_before == 0;
        // `aten.where` contains no keyword.
        in_word = is_word(char) || matches!(char, '@' | '-' | '.');
        if begins && is_keyword(word(&text[at..])) && is_entry(text, from, at) {
            starts.push(at);
        }
    }
    starts
}

/// Returns true for a keyword of an entry, in this or the previous version of the language.
pub fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word) || OLD_KEYWORDS.iter().any(|(old, _)| *old == word)
}

/// Returns the current keyword for a keyword of language 2; returns any other keyword unchanged.
fn current(keyword: &str) -> &str {
    OLD_KEYWORDS.iter().find(|(old, _)| *old == keyword).map_or(keyword, |(_, new)| new)
}

/// Returns true if the keyword at `at` begins an entry.
///
/// A value may have the name of a keyword (`help = Relu (x)`), and the
/// `at` in `example "…" at opset 13` does not begin an entry.
fn is_entry(text: &str, from: usize, at: usize) -> bool {
    let after = text[at + word(&text[at..]).len()..].trim_start();
    let is_value = after.starts_with(['=', ',', '.', '?']);
    let in_example = text[from..at].trim_end().ends_with('"') && text[at..].starts_with("at opset");
    !is_value && !in_example
}

/// Iterator over the characters outside of comments, with the bracket depth.
/// The iterator skips the content of strings and returns only their opening quotes.
struct Scan<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    /// Bracket depth before the last returned character.
    depth_before: usize,
}

impl<'t> Scan<'t> {
    fn new(text: &'t str, from: usize) -> Self {
        Scan { text, at: from, depth: 0, depth_before: 0 }
    }

    fn next(&mut self) -> Option<(usize, char)> {
        loop {
            let at = self.at;
            let char = self.text[at..].chars().next()?;
            self.at += char.len_utf8();
            self.depth_before = self.depth;
            match char {
                '#' => self.at = self.text[at..].find('\n').map_or(self.text.len(), |end| at + end),
                '"' => {
                    self.string();
                    return Some((at, char));
                }
                '{' | '(' | '[' => self.depth += 1,
                '}' | ')' | ']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            if char != '#' {
                return Some((at, char));
            }
        }
    }

    /// Skips a string after its opening quote.
    fn string(&mut self) {
        let mut escaped = false;
        for char in self.text[self.at..].chars() {
            self.at += char.len_utf8();
            match char {
                '\\' if !escaped => escaped = true,
                '"' if !escaped => return,
                _ => escaped = false,
            }
        }
    }
}

/// Returns the `## …` lines at the end of a text, and their length in bytes.
pub fn docs_above(text: &str) -> (Vec<&str>, usize) {
    let mut docs = Vec::new();
    let mut start = text.len();
    while let Some(above) = text[..start].strip_suffix('\n') {
        let begin = above.rfind('\n').map_or(0, |newline| newline + 1);
        let Some(doc) = above[begin..].trim().strip_prefix("##") else { break };
        docs.push(doc.strip_prefix(' ').unwrap_or(doc));
        start = begin;
    }
    docs.reverse();
    (docs, text.len() - start)
}

/// Returns the names among `names` that a text calls: `name(` or `name (`.
pub fn called<'n>(text: &str, names: &[&'n str]) -> Vec<&'n str> {
    let mut called = Vec::new();
    for name in names {
        let found = text.match_indices(name).any(|(at, _)| {
            let starts = !text[..at].ends_with(|char: char| is_word(char) || char == '@');
            starts && text[at + name.len()..].trim_start_matches(' ').starts_with('(')
        });
        if found {
            called.push(*name);
        }
    }
    called
}
