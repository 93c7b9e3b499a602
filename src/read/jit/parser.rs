//! Position of the parser among the tokens.

use std::sync::Arc;

use super::lexer::{Token, shown};

/// Parser with its position.
pub(super) struct Parser {
    tokens: Vec<(Token, u32)>,
    /// Index of the current token.
    pub(super) at: usize,
    /// Nesting of the current expression.
    pub(super) depth: usize,
    /// Bound of the height of the expressions that were parsed in the current one.
    pub(super) height: usize,
    /// Nesting of the current block.
    pub(super) blocks: usize,
}

impl Parser {
    /// Creates a parser at the first of these tokens, each with its line.
    pub(super) fn new(tokens: Vec<(Token, u32)>) -> Self {
        Parser { tokens, at: 0, depth: 0, height: 0, blocks: 0 }
    }

    /// Returns the current token.
    pub(super) fn peek(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |(token, _)| token)
    }

    /// Returns the line of the current token.
    pub(super) fn line(&self) -> u32 {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(0, |(_, line)| *line)
    }

    /// Returns the current token, and skips it.
    pub(super) fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    /// Returns true if the current token is this mark.
    pub(super) fn is_at(&self, mark: &str) -> bool {
        matches!(self.peek(), Token::Mark(one) if *one == mark)
    }

    /// Skips a mark; returns false if another token follows.
    pub(super) fn take(&mut self, mark: &str) -> bool {
        let found = self.is_at(mark);
        self.at += usize::from(found);
        found
    }

    /// Skips a mark, which must be the current token.
    pub(super) fn expect(&mut self, mark: &'static str) -> Result<(), String> {
        match self.take(mark) {
            true => Ok(()),
            false => Err(format!("`{mark}` is expected before {}", shown(self.peek()))),
        }
    }

    /// Skips a name, and returns it.
    pub(super) fn name(&mut self) -> Result<Arc<str>, String> {
        match self.peek().clone() {
            Token::Name(name) => {
                self.at += 1;
                Ok(name)
            }
            other => Err(format!("a name is expected before {}", shown(&other))),
        }
    }

    /// Returns true if the current token is this word.
    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Name(name) if &**name == word)
    }

    /// Skips the end of a line, which must be the current token.
    pub(super) fn end_line(&mut self) -> Result<(), String> {
        match self.next() {
            Token::Newline => Ok(()),
            other => {
                self.at -= 1;
                Err(format!("{} is not expected", shown(&other)))
            }
        }
    }
}
