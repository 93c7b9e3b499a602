//! Parser of the expressions of TorchScript code.

use super::ast::Expression;
use super::lexer::{Token, shown};
use super::parser::Parser;

/// Maximum nesting of expressions.
const MAX_DEPTH: usize = 100;

/// Maximum height of the tree of an expression, with its attributes, indices and calls.
const MAX_HEIGHT: usize = 200;

const TOO_DEEP: &str = "the expression is nested too deeply";

impl Parser {
    /// Parses one expression, or several separated by commas as a tuple.
    pub(super) fn expressions(&mut self) -> Result<Expression, String> {
        let first = self.expression()?;
        if !self.is_at(",") {
            return Ok(first);
        }
        let mut members = vec![first];
        while self.take(",") {
            if matches!(self.peek(), Token::Newline | Token::Mark("=" | ")" | "]")) {
                break;
            }
            members.push(self.expression()?);
        }
        Ok(Expression::Tuple(members))
    }

    /// Parses one expression.
    pub(super) fn expression(&mut self) -> Result<Expression, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(TOO_DEEP.to_owned());
        }
        let outer = std::mem::take(&mut self.height);
        let parsed = self.operand()?;
        self.height = outer.max(self.height + 1);
        self.depth -= 1;
        if self.height > MAX_HEIGHT {
            return Err(TOO_DEEP.to_owned());
        }
        Ok(parsed)
    }

    fn operand(&mut self) -> Result<Expression, String> {
        if self.take("-") {
            return Ok(match self.expression()? {
                Expression::Int(int) => Expression::Int(int.wrapping_neg()),
                Expression::Float(float) => Expression::Float(-float),
                other => Expression::Negate(Box::new(other)),
            });
        }
        let mut it = self.atom()?;
        loop {
            if self.height > MAX_HEIGHT {
                return Err(TOO_DEEP.to_owned());
            }
            it = match self.peek().clone() {
                Token::Mark(".") => {
                    self.next();
                    Expression::Attribute(Box::new(it), self.name()?)
                }
                Token::Mark("[") => {
                    self.next();
                    let index = self.expressions()?;
                    self.expect("]")?;
                    Expression::Index(Box::new(it), Box::new(index))
                }
                Token::Mark("(") => self.call(it)?,
                _ => return Ok(it),
            };
            self.height += 1;
        }
    }

    fn atom(&mut self) -> Result<Expression, String> {
        Ok(match self.next() {
            Token::Int(int) => Expression::Int(int),
            Token::Float(float) => Expression::Float(float),
            Token::Str(text) => Expression::Str(text),
            Token::Name(name) => match &*name {
                "None" => Expression::None,
                "True" => Expression::Bool(true),
                "False" => Expression::Bool(false),
                "if" | "for" | "lambda" | "not" | "in" => return Err(format!("`{name}` is not expected")),
                _ => Expression::Name(name),
            },
            Token::Mark("(") => {
                if self.take(")") {
                    return Ok(Expression::Tuple(Vec::new()));
                }
                let inner = self.expressions()?;
                self.expect(")")?;
                inner
            }
            Token::Mark("[") => Expression::List(self.members("]")?),
            Token::Mark("{") => {
                let mut members = Vec::new();
                while !self.take("}") {
                    let key = self.expression()?;
                    self.expect(":")?;
                    members.push((key, self.expression()?));
                    if !self.take(",") {
                        self.expect("}")?;
                        break;
                    }
                }
                Expression::Dict(members)
            }
            other => return Err(format!("{} is not expected", shown(&other))),
        })
    }

    /// Parses expressions up to a closing bracket.
    fn members(&mut self, end: &'static str) -> Result<Vec<Expression>, String> {
        let mut members = Vec::new();
        while !self.take(end) {
            members.push(self.expression()?);
            if !self.take(",") {
                self.expect(end)?;
                break;
            }
        }
        Ok(members)
    }

    fn call(&mut self, callee: Expression) -> Result<Expression, String> {
        self.expect("(")?;
        let (mut given, mut named) = (Vec::new(), Vec::new());
        while !self.take(")") {
            let argument = self.expression()?;
            match argument {
                Expression::Name(name) if self.take("=") => named.push((name, self.expression()?)),
                argument => given.push(argument),
            }
            if !self.take(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(Expression::Call(Box::new(callee), given, named))
    }
}
