//! Where the items of a rule file stand, and the entries of its rules, without a word of what they mean.
//!
//! `build.rs` includes this file to note what the tools need to know of a rule without reading it, so it
//! uses nothing of the crate; a test holds that it sees what the language reads.

/// A rule file: its items in the order written.
#[derive(Debug, Default)]
pub struct Outline<'t> {
    /// `defaults { … }`.
    pub defaults: Vec<&'t str>,
    /// `fn name(…) …`, by name.
    pub functions: Vec<(&'t str, &'t str)>,
    pub rules: Vec<Outlined<'t>>,
}

/// A rule.
#[derive(Debug)]
pub struct Outlined<'t> {
    /// The lines `## …` above it.
    pub docs: Vec<&'t str>,
    pub code: &'t str,
    pub name: &'t str,
    /// `rule CODE name {`.
    pub header: &'t str,
    /// Each with its keyword.
    pub entries: Vec<(&'t str, &'t str)>,
}

/// The words that begin an item of a file.
pub const ITEMS: [&str; 4] = ["language", "defaults", "fn", "rule"];

/// The words that begin an entry of a rule.
pub const KEYWORDS: [&str; 15] = [
    "severity", "phase", "safety", "at", "mends", "message", "help", "match", "where", "let", "given",
    "rewrite", "detect", "example", "but",
];

/// Those of them that are about examples: rules that are built in are read without them.
pub const EXAMPLES: [&str; 2] = ["example", "but"];

/// The outline of a rule file without faults.
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
    /// What stands behind the keyword of an entry.
    pub fn entry(&self, keyword: &str) -> Option<&'t str> {
        let (_, text) = self.entries.iter().find(|(word, _)| *word == keyword)?;
        Some(text[keyword.len()..].trim_start())
    }

    /// For each node of the pattern, the operators that it may be: `Squeeze` of `Squeeze@13 (x)`,
    /// `FusedConv` of `com.microsoft.FusedConv (x)`, both of `@op in [Add, Sub]`; what `@op` was chosen to be
    /// elsewhere is left out.
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
                // Two versions of one, `[Split@13, Split@18]`.
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

/// Past the version of an operator, and its attributes in `<…>`.
fn skip_attributes(after: &str) -> &str {
    let version = after.strip_prefix('@').map_or(after, |rest| rest[word(rest).len()..].trim_start());
    match version.strip_prefix('<') {
        Some(attrs) => close(attrs, '>').map_or("", |at| &attrs[at + 1..]),
        None => version,
    }
}

/// Where `sign` stands outside of strings.
fn close(text: &str, sign: char) -> Option<usize> {
    let mut in_string = false;
    text.char_indices().find_map(|(at, char)| {
        in_string ^= char == '"';
        (char == sign && !in_string).then_some(at)
    })
}

/// Words with dots between them, that a text begins with.
fn dotted(text: &str) -> &str {
    let end = text.find(|char: char| !is_word(char) && char != '.').unwrap_or(text.len());
    &text[..end]
}

/// `FusedConv` of `com.microsoft.FusedConv`, `add.Tensor` of `aten.add.Tensor`.
fn op_name(path: &str) -> &str {
    path.strip_prefix("aten.").unwrap_or_else(|| path.rsplit('.').next().unwrap_or_default())
}

fn is_word(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}

/// The word that a text begins with.
fn word(text: &str) -> &str {
    let end = text.find(|char: char| !is_word(char)).unwrap_or(text.len());
    &text[..end]
}

/// Where the lines begin that are in no bracket and no comment, from `from` on.
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

/// Where the entries of a rule begin: their keywords, outside of all brackets, not followed by `=`.
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

/// Whether a keyword begins an entry: `at` may also stand in `example "…" at opset 13`, and `unchanged`,
/// `finds` and the like are no keywords.
fn is_entry(text: &str, from: usize, at: usize) -> bool {
    let in_example = text[from..at].trim_end().ends_with('"') && text[at..].starts_with("at opset");
    !in_example
}

/// The characters of a text outside of strings and comments, with the depth of brackets.
struct Scan<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    /// The depth before the character that came last.
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

    /// Past the end of a string whose first quote was taken.
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

/// The lines `## …` directly above the end of a text, and how many bytes they take.
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

/// The names among `names` that a text calls: `name(` or `name (`.
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
