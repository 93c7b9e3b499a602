//! Locates the items of a rule file and the entries of its rules, without interpreting them.
//!
//! `build.rs` includes this file to index rules without parsing them, so it must not use the rest of
//! the crate.
//! A test checks that it agrees with the parser.

/// Outline of a rule file: its items in the order written.
#[derive(Debug, Default)]
pub struct Outline<'t> {
    /// `defaults { … }`.
    pub defaults: Vec<&'t str>,
    /// `fn name(…) …`, by name.
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
    /// Entries, each with its keyword.
    pub entries: Vec<(&'t str, &'t str)>,
}

/// Keywords that begin an item of a file.
pub const ITEMS: [&str; 4] = ["language", "defaults", "fn", "rule"];

/// Keywords that begin an entry of a rule.
pub const KEYWORDS: [&str; 15] = [
    "severity", "phase", "safety", "at", "mends", "message", "help", "match", "where", "let", "given",
    "rewrite", "detect", "example", "but",
];

/// Keywords of examples, which are skipped when built-in rules are loaded.
pub const EXAMPLES: [&str; 2] = ["example", "but"];

/// Outlines a rule file without faults.
pub fn outline(text: &str) -> Outline<'_> {
    let mut outline = Outline::default();
    let starts: Vec<usize> = line_starts(text, 0).filter(|&at| ITEMS.contains(&word(&text[at..]))).collect();
    for (index, &start) in starts.iter().enumerate() {
        let end = starts.get(index + 1).map_or(text.len(), |&next| next - docs_above(&text[..next]).1);
        let item = text[start..end].trim_end();
        let rest = item[word(item).len()..].trim_start();
        match word(item) {
            "defaults" => outline.defaults.push(item),
            "fn" => outline.functions.push((word(rest), item)),
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
        (word(entry), entry)
    });
    Outlined { docs, code, name, header: &item[..open], entries: entries.collect() }
}

impl<'t> Outlined<'t> {
    /// Returns the text of an entry after its keyword.
    pub fn entry(&self, keyword: &str) -> Option<&'t str> {
        let (_, text) = self.entries.iter().find(|(word, _)| *word == keyword)?;
        Some(text[keyword.len()..].trim_start())
    }

    /// Returns the operators that each node of the pattern may have.
    /// `Squeeze@13 (x)` yields `Squeeze`, `com.microsoft.FusedConv (x)` yields `FusedConv`, `@op in [Add,
    /// Sub]` yields both.
    /// Later uses of the same `@op` are omitted.
    pub fn operators(&self) -> Vec<Vec<&'t str>> {
        let mut operators = Vec::new();
        let Some(pattern) = self.entry("match") else { return operators };
        let mut rest = pattern;
        while let Some(at) = rest.find(|char: char| char == '@' || is_word(char)) {
            rest = &rest[at..];
            let is_chosen = rest.starts_with('@');
            let path = dotted(rest.trim_start_matches('@'));
            let after = rest[path.len() + usize::from(is_chosen)..].trim_start();
            if let (true, Some(list)) = (is_chosen, after.strip_prefix("in ")) {
                let list = list.split(['[', ']']).nth(1).unwrap_or_default();
                let mut among: Vec<&str> = list.split(',').map(|item| op_name(dotted(item.trim()))).collect();
                // Versions of one operator count once: `[Split@13, Split@18]`.
                among.dedup();
                operators.push(among);
                rest = after.find(']').map_or("", |end| &after[end..]);
                continue;
            }
            let name = op_name(path);
            let is_call = after.starts_with(['(', '<', '@', ':']);
            let begins = name.starts_with(|first: char| first.is_ascii_uppercase()) || path.contains('.');
            if !is_chosen && is_call && begins {
                operators.push(vec![name]);
            }
            rest = skip_attributes(after);
        }
        operators
    }
}

/// Skips the version and the attributes (`<…>`) of an operator.
fn skip_attributes(after: &str) -> &str {
    let version = after.strip_prefix('@').map_or(after, |rest| rest[word(rest).len()..].trim_start());
    match version.strip_prefix('<') {
        Some(attrs) => close(attrs, '>').map_or("", |at| &attrs[at + 1..]),
        None => version,
    }
}

/// Finds `sign` outside of strings.
fn close(text: &str, sign: char) -> Option<usize> {
    let mut in_string = false;
    text.char_indices().find_map(|(at, char)| {
        in_string ^= char == '"';
        (char == sign && !in_string).then_some(at)
    })
}

/// Returns the leading words joined by dots.
fn dotted(text: &str) -> &str {
    let end = text.find(|char: char| !is_word(char) && char != '.').unwrap_or(text.len());
    &text[..end]
}

/// Removes the domain: `FusedConv` for `com.microsoft.FusedConv`, `add.Tensor` for `aten.add.Tensor`.
fn op_name(path: &str) -> &str {
    path.strip_prefix("aten.").unwrap_or_else(|| path.rsplit('.').next().unwrap_or_default())
}

fn is_word(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}

/// Returns the leading word of a text.
fn word(text: &str) -> &str {
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

/// Returns the starts of rule entries: keywords outside of brackets, not followed by `=`.
fn word_starts(text: &str, from: usize) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut scan = Scan::new(text, from);
    let mut in_word = false;
    while let Some((at, char)) = scan.next() {
        let begins = is_word(char) && !in_word && scan.depth_before == 0;
        in_word = is_word(char) || char == '@' || char == '-';
        if begins && KEYWORDS.contains(&word(&text[at..])) && is_entry(text, from, at) {
            starts.push(at);
        }
    }
    starts
}

/// Returns true if a keyword begins an entry.
/// The `at` in `example "…" at opset 13` does not; `unchanged`, `finds` and similar are not keywords.
fn is_entry(text: &str, from: usize, at: usize) -> bool {
    let in_example = text[from..at].trim_end().ends_with('"') && text[at..].starts_with("at opset");
    !in_example
}

/// Iterator over the characters outside of strings and comments, with the bracket depth.
struct Scan<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    /// Depth before the last character.
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
