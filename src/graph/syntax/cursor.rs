//! A place in the tokens of a text, and the faults met on the way there.

use std::sync::Arc;

use crate::diag::{Finding, RuleId};

use super::lexer::{self, LexicalFault, Strings, Token, TokenKind};
use super::span::{Source, Span};

/// How deep brackets, graphs and expressions may nest: beyond any model, within any stack.
pub const MAX_DEPTH: usize = 128;

/// How many faults of one text are reported.
pub const MAX_FAULTS: usize = 50;

/// A fault that has been reported already: the caller only has to find a place to go on from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reported;

/// What could be parsed, unless a fault that has been reported prevents it.
pub type Parsed<T> = Result<T, Reported>;

/// What differs between languages of the same tokens: the identity that faults are reported under, and
/// what strings may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Language {
    /// Under which faults are reported.
    pub rule: RuleId,
    pub strings: Strings,
}

/// A name with its place; the quotes are off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    pub text: Arc<str>,
    pub span: Span,
}

/// Reads tokens one after the other.
pub struct Cursor<'s> {
    pub source: &'s Source,
    language: Language,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    findings: Vec<Finding>,
}

impl<'s> Cursor<'s> {
    pub fn new(source: &'s Source, language: Language) -> Self {
        Cursor::within(source, language, Span::new(0, source.text.len()))
    }

    /// A cursor that sees only a part of the text.
    pub fn within(source: &'s Source, language: Language, part: Span) -> Self {
        let (tokens, faults) = lexer::tokens(&source.text, part, language.strings);
        let mut cursor = Cursor { source, language, tokens, at: 0, depth: 0, findings: Vec::new() };
        for (fault, span) in faults {
            let message = match fault {
                LexicalFault::UnclosedString => "this string is not closed".to_owned(),
                LexicalFault::UnknownCharacter => {
                    format!("`{}` has no meaning here", source.slice(span).escape_debug())
                }
            };
            cursor.fault(span, message);
        }
        cursor
    }

    /// How many faults have been reported.
    pub fn faults(&self) -> usize {
        self.findings.len()
    }

    pub fn into_findings(self) -> Vec<Finding> {
        self.findings
    }

    /// A finding of this language, for the caller to add to before it is reported.
    pub fn finding(&self, span: Span, message: impl Into<String>) -> Finding {
        let rule = self.language.rule;
        let mut finding = rule.finding(message, self.source.place(span));
        finding.file = self.source.file.clone();
        finding
    }

    /// Reads a part of the text on its own, such as an expression inside a string.
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

    /// After [`MAX_FAULTS`] the rest of the text is not read: it is something else altogether.
    pub fn report(&mut self, finding: Finding) -> Reported {
        self.findings.push(finding);
        if self.findings.len() >= MAX_FAULTS {
            self.at = self.tokens.len() - 1;
        }
        Reported
    }

    pub fn fault(&mut self, span: Span, message: impl Into<String>) -> Reported {
        let finding = self.finding(span, message);
        self.report(finding)
    }

    /// Reports that something else was expected at the next token.
    pub fn expected(&mut self, what: &str) -> Reported {
        let token = self.peek();
        let found = match token.kind {
            TokenKind::End => "the text ends".to_owned(),
            TokenKind::Sign(b'`') => "found a backtick".to_owned(),
            _ => format!("found `{}`", self.source.slice(token.span).escape_debug()),
        };
        self.fault(token.span, format!("expected {what}, {found}"))
    }

    pub fn peek(&self) -> Token {
        self.nth(0)
    }

    /// The token that many places ahead; past the end, the end.
    pub fn nth(&self, ahead: usize) -> Token {
        let last = self.tokens.len() - 1;
        self.tokens[(self.at + ahead).min(last)]
    }

    pub fn position(&self) -> usize {
        self.at
    }

    pub fn text_of(&self, token: Token) -> &'s str {
        self.source.slice(token.span)
    }

    pub fn bump(&mut self) -> Token {
        let token = self.peek();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    pub fn is_end(&self) -> bool {
        self.peek().kind == TokenKind::End
    }

    /// The span from `start` to the end of the last token taken.
    pub fn since(&self, start: Span) -> Span {
        let last = self.at.checked_sub(1).map_or(start, |last| self.tokens[last].span);
        start.to(last)
    }

    /// Whether the signs of `signs` are next, without anything between them.
    pub fn at(&self, signs: &str) -> bool {
        signs.bytes().enumerate().all(|(ahead, sign)| {
            let token = self.nth(ahead);
            let touches = ahead == 0 || self.nth(ahead - 1).span.end == token.span.start;
            token.kind == TokenKind::Sign(sign) && touches
        })
    }

    pub fn eat(&mut self, signs: &str) -> bool {
        let found = self.at(signs);
        if found {
            self.at += signs.len();
        }
        found
    }

    pub fn expect(&mut self, signs: &str) -> Parsed<Span> {
        let start = self.peek().span;
        if self.eat(signs) { Ok(self.since(start)) } else { Err(self.expected(&format!("`{signs}`"))) }
    }

    pub fn at_ident(&self) -> bool {
        self.peek().kind == TokenKind::Ident
    }

    pub fn at_quoted(&self) -> bool {
        self.peek().kind == TokenKind::Quoted
    }

    /// Whether the identifier `word` is next.
    pub fn at_word(&self, word: &str) -> bool {
        self.at_ident() && self.text_of(self.peek()) == word
    }

    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.at += 1;
        }
        found
    }

    pub fn ident(&mut self, what: &str) -> Parsed<Name> {
        if self.at_ident() { Ok(self.bump_name()) } else { Err(self.expected(what)) }
    }

    /// An identifier, with or without quotes.
    pub fn name(&mut self, what: &str) -> Parsed<Name> {
        match self.peek().kind {
            TokenKind::Ident | TokenKind::Quoted => Ok(self.bump_name()),
            _ => Err(self.expected(what)),
        }
    }

    /// A string between quotes.
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

    /// `parse` one level deeper; a fault where that is too deep.
    pub fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            let span = self.peek().span;
            return Err(self.fault(span, format!("this nests more than {MAX_DEPTH} levels deep")));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// Items between commas up to `close`, which is taken. One with a fault is reported and left out.
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

    /// Goes on to the `,` or `close` after an item with a fault; not out of the braces around it.
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

    /// After a fault that was met in what starts at the token `start`: goes on to the next token that
    /// `stop` takes, or that begins a line, passing over whole brackets; `}` is never passed over.
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

    /// Whether the next token is the first of its line.
    pub fn begins_line(&self) -> bool {
        let Some(last) = self.at.checked_sub(1) else { return true };
        let gap = Span { start: self.tokens[last].span.end, end: self.peek().span.start };
        self.source.slice(gap).contains('\n')
    }
}
