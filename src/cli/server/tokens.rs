//! Tokens and matching brackets of a text.
//!
//! Tokens give the context of the cursor in a text that cannot be parsed yet.

use crate::graph::syntax::Span;
use crate::graph::syntax::lexer::{Strings, Token, TokenKind, tokens};
use crate::rules::outline::ITEMS;
use crate::schema::{self, Schema};

/// The tokens of ONNX text or of a rule file.
pub struct Tokens<'t> {
    text: &'t str,
    all: Vec<Token>,
    /// For each token that closes a bracket, the token that opens it.
    pairs: Vec<Option<usize>>,
    /// For each token, the number of brackets around it.
    depths: Vec<usize>,
    /// For each token, and for the end, the innermost bracket that is open before it.
    innermost: Vec<Option<usize>>,
    is_rules: bool,
}

/// Operator name in a node, with its domain and version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    pub domain: String,
    pub name: String,
    /// `@13`, in rules.
    pub version: Option<u16>,
    /// Index of the first token of the name.
    pub first: usize,
    pub span: Span,
}

impl Called {
    /// Returns the schema of the operator at its version, or at `opset` if it has no version.
    pub fn schema(&self, opset: u16) -> Option<&'static Schema> {
        schema::lookup(&self.domain, &self.name, self.version.unwrap_or(opset))
    }
}

impl<'t> Tokens<'t> {
    /// Splits a text into tokens.
    pub fn new(text: &'t str, is_rules: bool) -> Self {
        let strings = if is_rules { Strings::OneLine } else { Strings::AnyLines };
        let (mut all, _) = tokens(text, Span::new(0, text.len()), strings);
        all.pop();
        let (pairs, depths) = (vec![None; all.len()], vec![0; all.len()]);
        let innermost = vec![None; all.len() + 1];
        let mut tokens = Tokens { text, all, pairs, depths, innermost, is_rules };
        let mut open = Vec::new();
        for at in 0..tokens.all.len() {
            tokens.depths[at] = open.len();
            tokens.innermost[at] = open.last().copied();
            tokens.pairs[at] = tokens.step(at, &mut open);
            tokens.depths[at] = tokens.depths[at].min(open.len());
        }
        tokens.innermost[tokens.all.len()] = open.last().copied();
        tokens
    }

    /// Returns the text of a token; empty for an index out of range.
    pub fn text(&self, at: usize) -> &'t str {
        self.all.get(at).map_or("", |token| &self.text[token.span.range()])
    }

    /// Returns the number of brackets around a token.
    pub fn depth(&self, at: usize) -> usize {
        self.depths.get(at).copied().unwrap_or(0)
    }

    /// Returns the token that closes the bracket at `open`.
    pub fn closing(&self, open: usize) -> Option<usize> {
        (open + 1..self.len()).find(|&at| self.pairs[at] == Some(open))
    }

    /// Returns the number of tokens.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns the span of a token.
    pub fn span(&self, at: usize) -> Option<Span> {
        self.all.get(at).map(|token| token.span)
    }

    /// Returns true for an identifier or keyword.
    pub fn is_word(&self, at: usize) -> bool {
        self.all.get(at).is_some_and(|token| token.kind == TokenKind::Ident)
    }

    /// Returns the word at a byte offset.
    pub fn word_at(&self, offset: usize) -> Option<usize> {
        let end = self.all.partition_point(|token| (token.span.end as usize) < offset);
        (end..self.len().min(end + 2))
            .find(|&at| self.is_word(at) && self.all[at].span.start as usize <= offset)
    }

    /// Returns the number of tokens before the word at a byte offset; `None` inside a string or a comment.
    pub fn before(&self, offset: usize) -> Option<usize> {
        let at = self.all.partition_point(|token| (token.span.end as usize) < offset);
        let token = self.all.get(at);
        if token.is_some_and(|token| token.kind == TokenKind::Quoted && (token.span.start as usize) < offset)
        {
            return None;
        }
        let is_at_word = self.is_word(at) && token.is_some_and(|token| token.span.start as usize <= offset);
        let count = match is_at_word {
            true => at,
            false => self.all.partition_point(|token| token.span.end as usize <= offset),
        };
        let last = count.checked_sub(1).map_or(0, |last| self.all[last].span.end as usize);
        (!self.text.get(last..offset).is_some_and(|gap| gap.contains('#')) || is_at_word).then_some(count)
    }

    /// Returns the brackets that are open before a token, outermost first.
    pub fn open(&self, before: usize) -> Vec<usize> {
        let mut open: Vec<usize> =
            std::iter::successors(self.innermost(before), |&at| self.innermost(at)).collect();
        open.reverse();
        open
    }

    /// Returns the innermost bracket that is open before a token.
    pub fn innermost(&self, at: usize) -> Option<usize> {
        self.innermost.get(at).copied().flatten()
    }

    /// Updates the open brackets `open` for a token. Returns the opening bracket that the token closes.
    fn step(&self, at: usize, open: &mut Vec<usize>) -> Option<usize> {
        let opening = match self.text(at) {
            "(" | "[" | "{" => {
                open.push(at);
                return None;
            }
            "<" => {
                if self.opens_attributes(at) {
                    open.push(at);
                }
                return None;
            }
            ">" if self.text(at.wrapping_sub(1)) == "=" => return None,
            ">" => return (self.text(*open.last()?) == "<").then(|| open.pop()).flatten(),
            ")" => "(",
            "]" => "[",
            "}" => "{",
            word => {
                // A new item closes all brackets, so that one mistake does not affect the rest of the file.
                if self.is_rules && ITEMS.contains(&word) && self.begins_text_line(at) {
                    open.clear();
                }
                return None;
            }
        };
        let found = open.iter().rposition(|&one| self.text(one) == opening)?;
        let first = open[found];
        open.truncate(found);
        Some(first)
    }

    /// Returns true if a token is at the very start of a line.
    fn begins_text_line(&self, at: usize) -> bool {
        let start = self.all[at].span.start as usize;
        start == 0 || self.text.as_bytes()[start - 1] == b'\n'
    }

    /// Returns true for the `<` of attributes, as opposed to a comparison in a rule.
    fn opens_attributes(&self, at: usize) -> bool {
        if !self.is_rules {
            return true;
        }
        let Some(last) = at.checked_sub(1) else { return false };
        let is_variable = last.checked_sub(1).is_some_and(|before| self.text(before) == "@");
        let (next, after) = (self.text(at + 1), self.text(at + 2));
        let is_attribute = self.is_word(at + 1) && matches!(after, "=" | ":" | "" | "[");
        match self.text(last) {
            "]" => is_attribute || matches!(next, "@" | "." | ">" | "_"),
            ")" | "{" => is_attribute && matches!(after, ":" | "["),
            _ if self.is_word(last) && is_variable => is_attribute || next == ".",
            _ if self.is_word(last) || is_variable => {
                is_attribute || matches!(next, "@" | "." | ">" | "_" | "")
            }
            _ => false,
        }
    }

    /// Returns the operator whose `<` or `(` is the token at `bracket`.
    pub fn called(&self, bracket: usize) -> Option<Called> {
        let mut last = bracket.checked_sub(1).filter(|_| matches!(self.text(bracket), "(" | "<"))?;
        if self.text(bracket) == "(" && self.text(last) == ">" {
            last = self.pairs[last]?.checked_sub(1)?;
        }
        self.named(last)
    }

    /// Returns the operator that contains the word at `at`.
    pub fn called_at(&self, at: usize) -> Option<Called> {
        let mut last = at;
        while self.text(last + 1) == "." && self.is_word(last + 2) {
            last += 2;
        }
        if self.text(last + 1) == "@" && self.text(last + 2).parse::<u16>().is_ok() {
            last += 2;
        }
        self.named(last)
    }

    /// Returns the operator whose last token is at `last`.
    fn named(&self, mut last: usize) -> Option<Called> {
        let end = self.span(last)?;
        let mut version = None;
        if last >= 2 && self.text(last - 1) == "@" {
            version = Some(self.text(last).parse().ok()?);
            last -= 2;
        } else if !self.is_rules && last >= 2 && self.text(last - 1) == ":" && self.is_word(last - 2) {
            last -= 2;
        }
        if !self.is_word(last) || last.checked_sub(1).is_some_and(|at| self.text(at) == "@") {
            return None;
        }
        let mut first = last;
        while first >= 2 && self.text(first - 1) == "." && self.is_word(first - 2) {
            first -= 2;
        }
        let domain: String = (first..last.saturating_sub(1).max(first)).map(|at| self.text(at)).collect();
        let span = self.span(first)?.to(end);
        Some(Called { domain, name: self.text(last).to_owned(), version, first, span })
    }

    /// Returns the domain before a name: the dotted words before `end`, such as `com.microsoft`.
    pub fn domain_before(&self, end: usize) -> Option<String> {
        let last = end.checked_sub(1)?;
        (self.text(last) == "." && last > 0 && self.is_word(last - 1)).then(|| {
            let mut first = last - 1;
            while first >= 2 && self.text(first - 1) == "." && self.is_word(first - 2) {
                first -= 2;
            }
            (first..last).map(|at| self.text(at)).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the open brackets at `|`, each with the operator before it.
    fn open(marked: &str, is_rules: bool) -> Vec<String> {
        let offset = marked.find('|').expect("a mark");
        let text = marked.replacen('|', "", 1);
        let tokens = Tokens::new(&text, is_rules);
        let before = tokens.before(offset).expect("no string and no comment");
        let named = |at: &usize| {
            let called = tokens.called(*at).map(|called| called.name).unwrap_or_default();
            format!("{called}{}", tokens.text(*at))
        };
        tokens.open(before).iter().map(named).collect()
    }

    #[test]
    fn open_brackets_name_their_operators() {
        assert_eq!(open("<a: 1> g (float x) => (float y) { y = Add <b = 1> (x, |", false), ["{", "Add("]);
        assert_eq!(open("g (x) => (y) { y = com.microsoft.Gelu <|", false), ["{", "Gelu<"]);
        assert_eq!(
            open("rule A b { match { y = Softmax@13 <axis = @a> (x|) } }", true),
            ["{", "{", "Softmax("]
        );
    }

    #[test]
    fn comparison_in_a_rule_opens_no_bracket() {
        assert_eq!(open("rule A b { where { @a < 3 and dim(x, 0) < @b and |", true), ["{", "{"]);
        assert_eq!(open("rule A b { match y = @op <axis = |", true), ["{", "<"]);
    }

    #[test]
    fn new_rule_closes_the_brackets_of_a_broken_one() {
        assert_eq!(open("rule A b { match { y = Add (x\nrule C d {\n  |", true), ["{"]);
    }

    #[test]
    fn strings_and_comments_have_no_context() {
        let text = "y = \"a b\" # c";
        let tokens = Tokens::new(text, true);
        assert_eq!(tokens.before(6), None);
        assert_eq!(tokens.before(13), None);
        assert_eq!(tokens.before(3), Some(2));
        assert_eq!(tokens.before(1), Some(0));
    }
}
