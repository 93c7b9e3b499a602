//! Parser of the files of TorchScript code: classes, functions and statements.

use std::sync::Arc;

use super::ast::{Class, Expression, File, Function, Kind, Param, Statement};
use super::lexer::{Token, shown, tokens};
use super::parser::Parser;

/// Maximum nesting of blocks.
const MAX_BLOCKS: usize = 64;

/// Parses a file of the code.
///
/// # Errors
/// The line and the first fault, as a clause.
pub fn file(path: &str, text: &str) -> Result<File, (u32, String)> {
    let mut parser = Parser::new(tokens(text)?);
    let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at as u32 + 1)).collect();
    let mut file = File { path: path.into(), text: text.into(), lines, ..File::default() };
    while *parser.peek() != Token::End {
        let parsed = match parser.peek().clone() {
            Token::Name(word) if &*word == "class" => {
                parser.class().map(|(name, class)| drop(file.classes.insert(name, class)))
            }
            Token::Name(word) if &*word == "def" => {
                parser.function().map(|function| drop(file.functions.insert(function.name.clone(), function)))
            }
            _ => parser.statement().map(drop),
        };
        parsed.map_err(|why| (parser.line(), why))?;
    }
    Ok(file)
}

impl Parser {
    fn class(&mut self) -> Result<(Arc<str>, Class), String> {
        self.at += 1;
        let name = self.name()?;
        let mut class = Class::default();
        if self.take("(") {
            if let Some(base) = self.expression()?.dotted() {
                class.base = base.into();
            }
            self.expect(")")?;
        }
        self.expect(":")?;
        self.end_line()?;
        if *self.peek() != Token::Indent {
            return Ok((name, class));
        }
        self.at += 1;
        while *self.peek() != Token::Dedent {
            if self.is_word("def") {
                let method = self.function()?;
                class.methods.insert(method.name.clone(), method);
            } else {
                self.field(&mut class)?;
            }
        }
        self.at += 1;
        Ok((name, class))
    }

    /// Parses a line of a class: `name : type`, `name : type = value`, `__slots__ = …` or `pass`.
    fn field(&mut self, class: &mut Class) -> Result<(), String> {
        let target = self.expressions()?;
        if self.take(":") {
            self.expression()?;
            if let Expression::Name(name) = &target {
                class.fields.push(name.clone());
            }
        }
        if self.take("=") {
            let value = self.expressions()?;
            if let Expression::Name(name) = target {
                class.constants.insert(name, value);
            }
        }
        self.end_line()
    }

    fn function(&mut self) -> Result<Function, String> {
        self.at += 1;
        let name = self.name()?;
        self.expect("(")?;
        let mut params = Vec::new();
        while !self.take(")") {
            let name = self.name()?;
            let ty = if self.take(":") { Some(self.expression()?) } else { None };
            let default = if self.take("=") { Some(self.expression()?) } else { None };
            params.push(Param { name, ty, default });
            if !self.take(",") {
                self.expect(")")?;
                break;
            }
        }
        if self.take("->") {
            self.expression()?;
        }
        let body = self.block()?;
        Ok(Function { name, params, body })
    }

    /// Parses `:` and the indented statements after it.
    fn block(&mut self) -> Result<Vec<Statement>, String> {
        self.expect(":")?;
        self.end_line()?;
        if *self.peek() != Token::Indent {
            return Err(format!("an indented block is expected before {}", shown(self.peek())));
        }
        self.at += 1;
        self.blocks += 1;
        if self.blocks > MAX_BLOCKS {
            return Err("the blocks are nested too deeply".to_owned());
        }
        let mut body = Vec::new();
        while !matches!(self.peek(), Token::Dedent | Token::End) {
            body.push(self.statement()?);
        }
        self.at += 1;
        self.blocks -= 1;
        Ok(body)
    }

    fn statement(&mut self) -> Result<Statement, String> {
        let line = self.line();
        let word = match self.peek() {
            Token::Name(word) => word.clone(),
            _ => Arc::from(""),
        };
        let kind = match &*word {
            "if" => self.branch()?,
            "while" => {
                self.at += 1;
                let condition = self.expression()?;
                Kind::While(condition, self.block()?)
            }
            "for" => self.counted_loop()?,
            "with" | "try" | "raise" | "assert" | "del" => {
                return Err(format!("the statement `{word}` is not supported"));
            }
            "pass" => {
                self.at += 1;
                self.end_line()?;
                Kind::Pass
            }
            "return" => {
                self.at += 1;
                let value = match *self.peek() {
                    Token::Newline => Expression::None,
                    _ => self.expressions()?,
                };
                self.end_line()?;
                Kind::Return(value)
            }
            _ => {
                let first = self.expressions()?;
                if self.take(":") {
                    self.expression()?;
                }
                let kind = match self.take("=") {
                    true => Kind::Assign(first, self.expressions()?),
                    false => Kind::Evaluate(first),
                };
                self.end_line()?;
                kind
            }
        };
        Ok(Statement { line, kind })
    }

    fn branch(&mut self) -> Result<Kind, String> {
        self.at += 1;
        let condition = self.expression()?;
        let yes = self.block()?;
        let no = match self.is_word("else") {
            true => {
                self.at += 1;
                self.block()?
            }
            false => Vec::new(),
        };
        Ok(Kind::If(condition, yes, no))
    }

    fn counted_loop(&mut self) -> Result<Kind, String> {
        self.at += 1;
        let variable = self.name()?;
        if !self.is_word("in") {
            return Err(format!("`in` is expected before {}", shown(self.peek())));
        }
        self.at += 1;
        match self.expression()? {
            Expression::Call(callee, mut given, _)
                if callee.dotted().as_deref() == Some("range") && given.len() == 1 =>
            {
                let count = given.remove(0);
                Ok(Kind::For(variable, count, self.block()?))
            }
            _ => Err("a loop over anything other than `range` is not supported".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = r#"class Net(Module):
  __parameters__ = ["weight", ]
  training : bool
  size : Final[int] = 4
  __annotations__["0"] = __torch__.torch.nn.modules.linear.Linear
  def forward(self: __torch__.Net,
    x: Tensor,
    hx: Optional[Tuple[Tensor, Tensor]]=None) -> Tensor:
    _0 = getattr(self, "0")
    y, _1, = (_0).forward(x, )
    _2, = annotate(List[int], [])
    for i in range(3):
      y = torch.add(y, x, alpha=1)
    _5 : bool = bool(torch.gt(torch.sum(y), 1))
    while _5:
      _5, y = False, torch.mul(y, -0.5)
    if torch.__isnot__(hx, None):
      pass
    else:
      ops.prim.RaiseException("AssertionError: bad")
    return {"a": y, "b": (torch.size(x))[0]}
def helper() -> NoneType:
  return None
"#;

    #[test]
    fn classes_functions_and_statements_are_parsed() {
        let file = file("code/__torch__.py", MODULE).expect("it is valid");
        let class = &file.classes["Net"];
        assert_eq!(class.fields, [Arc::from("training"), Arc::from("size")]);
        assert_eq!(class.constants["size"], Expression::Int(4));
        let forward = &class.methods["forward"];
        assert_eq!(forward.params.len(), 3);
        assert_eq!(forward.params[2].default, Some(Expression::None));
        let lines: Vec<u32> = forward.body.iter().map(|statement| statement.line).collect();
        assert_eq!(lines, [9, 10, 11, 12, 14, 15, 17, 21]);
        let Kind::Assign(Expression::Tuple(targets), _) = &forward.body[2].kind else {
            panic!("{forward:?}")
        };
        assert_eq!(targets.len(), 1);
        let Kind::For(_, _, body) = &forward.body[3].kind else { panic!("{forward:?}") };
        let Kind::Assign(_, Expression::Call(_, given, named)) = &body[0].kind else { panic!("{body:?}") };
        assert_eq!((given.len(), named.len()), (2, 1));
        assert!(file.functions.contains_key("helper"));
    }

    #[test]
    fn a_fault_is_reported_with_its_line() {
        let fault = |text: &str| file("", text).err();
        let at = |line: u32, why: &str| Some((line, why.to_owned()));
        assert_eq!(fault("a = (1,\nb = 2"), at(2, "`)` is expected before `=`"));
        assert_eq!(fault("def f():\n  with a:\n    pass"), at(2, "the statement `with` is not supported"));
        assert_eq!(fault("def f():\nx = 1"), at(2, "an indented block is expected before `x`"));
        let deep = format!("a = {}1{}", "(".repeat(5000), ")".repeat(5000));
        assert_eq!(fault(&deep), at(1, "the expression is nested too deeply"));
    }
}
