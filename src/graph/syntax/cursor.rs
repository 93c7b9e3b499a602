//! Token cursor with error reporting and recovery.

use std::sync::Arc;

use crate::diag::{Finding, RuleId};

use super::lexer::{self, LexicalFault, Strings, Token, TokenKind};
use super::span::{Source, Span};

/// Maximum nesting of brackets, graphs and expressions; limits the use of the stack.
pub const MAX_DEPTH: usize = 128;

/// Maximum number of errors reported per text.
pub const MAX_FAULTS: usize = 50;

/// An error that has already been reported; the caller only needs to recover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reported;

/// A parse result, or an error that has been reported.
pub type Parsed<T> = Result<T, Reported>;

/// Settings of a language that shares these tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Language {
    /// Rule under which errors are reported.
    pub rule: RuleId,
    pub strings: Strings,
}

/// A name without quotes, and its span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    pub text: Arc<str>,
    pub span: Span,
}

/// Reader of a sequence of tokens.
pub struct Cursor<'s> {
    pub source: &'s Source,
    language: Language,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    findings: Vec<Finding>,
    /// Whether words of the previous version of the language are valid.
    accepts_old_words: bool,
    old_words: Vec<(Span, &'static str)>,
}

impl<'s> Cursor<'s> {
    /// Returns a cursor at the start of a source.
    pub fn new(source: &'s Source, language: Language) -> Self {
        Cursor::within(source, language, Span::new(0, source.text.len()))
    }

    /// Creates a cursor over a part of the text.
    pub fn within(source: &'s Source, language: Language, part: Span) -> Self {
        let (tokens, faults) = lexer::tokens(&source.text, part, language.strings);
        let (findings, old_words) = (Vec::new(), Vec::new());
        let (at, depth, accepts_old_words) = (0, 0, false);
        let mut cursor =
            Cursor { source, language, tokens, at, depth, findings, accepts_old_words, old_words };
        for (fault, span) in faults {
            let message = match fault {
                LexicalFault::UnclosedString => "unterminated string".to_owned(),
                LexicalFault::UnknownCharacter => {
                    format!("`{}` is not a valid character here", source.slice(span).escape_debug())
                }
            };
            cursor.fault(span, message);
        }
        cursor
    }

    /// Returns the number of errors reported.
    pub fn faults(&self) -> usize {
        self.findings.len()
    }

    /// Returns the findings reported so far.
    pub fn into_findings(self) -> Vec<Finding> {
        self.findings
    }

    /// Creates a finding for this language, without reporting it.
    pub fn finding(&self, span: Span, message: impl Into<String>) -> Finding {
        let rule = self.language.rule;
        let mut finding = rule.finding(message, self.source.place(span));
        finding.file = self.source.file.clone();
        finding
    }

    /// Parses a part of the text separately, such as an expression inside a string.
    pub fn part<T>(&mut self, part: Span, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let mut inner = Cursor::within(self.source, self.language, part);
        inner.depth = self.depth;
        let mut result = parse(&mut inner);
        if result.is_ok() && !inner.is_end() {
            result = Err(inner.expected("the end of the expression"));
        }
        for finding in inner.findings {
            self.report(finding);
        }
        result
    }

    /// Reports an error. After [`MAX_FAULTS`] errors the rest of the text is skipped.
    pub fn report(&mut self, finding: Finding) -> Reported {
        self.findings.push(finding);
        if self.findings.len() >= MAX_FAULTS {
            self.at = self.tokens.len() - 1;
        }
        Reported
    }

    /// Reports an error at a span.
    pub fn fault(&mut self, span: Span, message: impl Into<String>) -> Reported {
        let finding = self.finding(span, message);
        self.report(finding)
    }

    /// Reports that the next token is not the expected one.
    pub fn expected(&mut self, what: &str) -> Reported {
        let token = self.peek();
        let found = match token.kind {
            TokenKind::End => "found the end of the text".to_owned(),
            TokenKind::Sign(b'`') => "found a backtick".to_owned(),
            _ => format!("found `{}`", self.source.slice(token.span).escape_debug()),
        };
        self.fault(token.span, format!("expected {what}, {found}"))
    }

    /// Returns the next token without consuming it.
    pub fn peek(&self) -> Token {
        self.nth(0)
    }

    /// Returns the token `ahead` positions after the next one, or the end token.
    pub fn nth(&self, ahead: usize) -> Token {
        let last = self.tokens.len() - 1;
        self.tokens[(self.at + ahead).min(last)]
    }

    /// Returns the index of the next token.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Returns the text of a token.
    pub fn text_of(&self, token: Token) -> &'s str {
        self.source.slice(token.span)
    }

    /// Consumes the next token.
    pub fn bump(&mut self) -> Token {
        let token = self.peek();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    /// Returns true if no tokens are left.
    pub fn is_end(&self) -> bool {
        self.peek().kind == TokenKind::End
    }

    /// Returns the span from `start` to the end of the last consumed token.
    pub fn since(&self, start: Span) -> Span {
        let last = self.at.checked_sub(1).map_or(start, |last| self.tokens[last].span);
        start.to(last)
    }

    /// Returns true if the characters of `signs` come next, without gaps.
    pub fn at(&self, signs: &str) -> bool {
        signs.bytes().enumerate().all(|(ahead, sign)| {
            let token = self.nth(ahead);
            let touches = ahead == 0 || self.nth(ahead - 1).span.end == token.span.start;
            token.kind == TokenKind::Sign(sign) && touches
        })
    }

    /// Consumes these punctuation characters if they come next; returns whether they did.
    pub fn eat(&mut self, signs: &str) -> bool {
        let found = self.at(signs);
        if found {
            self.at += signs.len();
        }
        found
    }

    /// Consumes these punctuation characters, or reports that they are missing.
    pub fn expect(&mut self, signs: &str) -> Parsed<Span> {
        let start = self.peek().span;
        if self.eat(signs) { Ok(self.since(start)) } else { Err(self.expected(&format!("`{signs}`"))) }
    }

    /// Consumes this word, or reports that it is missing.
    pub fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    /// Returns true if the next token is an identifier.
    pub fn at_ident(&self) -> bool {
        self.peek().kind == TokenKind::Ident
    }

    /// Returns true if the next token is a quoted string.
    pub fn at_quoted(&self) -> bool {
        self.peek().kind == TokenKind::Quoted
    }

    /// Returns true if the identifier `word` comes next.
    pub fn at_word(&self, word: &str) -> bool {
        self.at_ident() && self.text_of(self.peek()) == word
    }

    /// Consumes this word if it comes next; returns whether it did.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.at += 1;
        }
        found
    }

    /// Sets whether words of the previous version of the language are valid.
    pub fn accept_old_words(&mut self, accepts: bool) {
        self.accepts_old_words = accepts;
    }

    /// Returns the old words that were consumed, with the words that replace them.
    pub fn old_words(&self) -> &[(Span, &'static str)] {
        &self.old_words
    }

    /// Consumes `word`, or the word `old` that `word` replaces, if either comes next.
    /// Returns whether a word was consumed. Reports an old word where it is not valid.
    pub fn eat_renamed(&mut self, old: &str, word: &'static str) -> bool {
        let is_old = self.at_word(old);
        if is_old {
            self.note_old_word(self.peek().span, word);
        }
        self.at += usize::from(is_old);
        is_old || self.eat_word(word)
    }

    /// Records an old word, or reports it where it is not valid.
    pub fn note_old_word(&mut self, span: Span, word: &'static str) {
        if self.accepts_old_words {
            self.old_words.push((span, word));
        } else {
            let message = format!("`{}` is now `{word}`", self.source.slice(span));
            let finding = self.finding(span, message);
            self.report(finding.help(format!("write `{word}`")));
        }
    }

    /// Consumes an identifier, or reports that `what` is missing.
    pub fn ident(&mut self, what: &str) -> Parsed<Name> {
        if self.at_ident() { Ok(self.bump_name()) } else { Err(self.expected(what)) }
    }

    /// Consumes an identifier, quoted or not, or reports that `what` is missing.
    pub fn name(&mut self, what: &str) -> Parsed<Name> {
        match self.peek().kind {
            TokenKind::Ident | TokenKind::Quoted => Ok(self.bump_name()),
            _ => Err(self.expected(what)),
        }
    }

    /// Consumes a quoted string, or reports that `what` is missing.
    pub fn string(&mut self, what: &str) -> Parsed<Name> {
        if self.peek().kind == TokenKind::Quoted { Ok(self.bump_name()) } else { Err(self.expected(what)) }
    }

    fn bump_name(&mut self) -> Name {
        let token = self.bump();
        let text = self.text_of(token);
        let text =
            if token.kind == TokenKind::Quoted { lexer::unquoted(text).into() } else { Arc::from(text) };
        Name { text, span: token.span }
    }

    /// Runs `parse` one level deeper; reports an error if the nesting is too deep.
    pub fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            let span = self.peek().span;
            return Err(self.fault(span, format!("nested more than {MAX_DEPTH} levels deep")));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// Parses comma-separated items up to and including `close`.
    /// Items with errors are reported and skipped.
    pub fn list<T>(&mut self, close: &str, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        if self.eat(close) {
            return Ok(items);
        }
        loop {
            match item(self) {
                Ok(item) => items.push(item),
                Err(Reported) => self.recover_in_list(close)?,
            }
            if self.eat(close) {
                return Ok(items);
            }
            if !self.eat(",") {
                return Err(self.expected(&format!("`,` or `{close}`")));
            }
        }
    }

    /// Skips the rest of an item with an error, up to `,` or `close`.
    /// Fails at the end of the text and at a `}` of an enclosing block.
    fn recover_in_list(&mut self, close: &str) -> Parsed<()> {
        let mut depth = 0usize;
        loop {
            let arrow = self.at("=>");
            match self.peek().kind {
                TokenKind::End => return Err(Reported),
                TokenKind::Sign(_) if depth == 0 && (self.at(",") || self.at(close)) => return Ok(()),
                TokenKind::Sign(b'}') if depth == 0 => return Err(Reported),
                TokenKind::Sign(b'{' | b'(' | b'[') => depth += 1,
                TokenKind::Sign(b'}' | b')' | b']') => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.at += if arrow { 2 } else { 1 };
        }
    }

    /// Recovers from an error in the construct that starts at token `start`.
    /// Skips to the next token that `stop` accepts or that begins a line. Skips brackets as a whole, and
    /// stops at a `}` of an enclosing block.
    pub fn recover(&mut self, start: usize, stop: impl Fn(&Self) -> bool) {
        let mut depth = 0usize;
        while !self.is_end() {
            let moved = self.at > start;
            if depth == 0 && moved && (stop(self) || self.begins_line()) {
                return;
            }
            match self.peek().kind {
                TokenKind::Sign(b'{' | b'(' | b'[') => depth += 1,
                TokenKind::Sign(b'}') if depth == 0 => return,
                TokenKind::Sign(b'}' | b')' | b']') => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.bump();
        }
    }

    /// Returns true if the next token is the first of its line.
    pub fn begins_line(&self) -> bool {
        let Some(last) = self.at.checked_sub(1) else { return true };
        let gap = Span { start: self.tokens[last].span.end, end: self.peek().span.start };
        self.source.slice(gap).contains('\n')
    }
}
