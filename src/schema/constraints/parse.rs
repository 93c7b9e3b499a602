//! Parser of constraints.
//!
//! An entry starts with the names of its operators, at the start of a line. Each indented line is one constraint:
//!
//! | line | meaning |
//! |---|---|
//! | `W [M, C / @group, K...]` | the input `W`, if present, has this shape, which binds new variables |
//! | `scan_inputs [B, _...]` | the input has any number of further axes |
//! | `zero_point [] \| [C]` | the input has one of these shapes |
//! | `slope -> [D...]` | the input broadcasts to this shape |
//! | `let R = len(D)` | a name for an expression |
//! | `@group > 0 because "must be positive"` | a condition; messages name its first input or attribute |
//! | `… because "`pads` must be positive"` | a condition; messages name this input or attribute |
//! | `… if is_present(B)` | the line applies only if the condition is proved |
//! | `# …` | a comment |
//!
//! A name that the version of the operator does not have, and anything that inference cannot prove, is unknown.
//! A constraint is violated only if it is proved to be false.

use super::{Axis, Binary, Constraint, Expr, Kind};

/// Returns the entries of a file, each as the list of operators and the text of the constraints.
pub fn entries(file: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let starts = |line: &str| line.starts_with(|c: char| c.is_ascii_alphabetic());
    let mut rest = file;
    std::iter::from_fn(move || {
        while !rest.is_empty() && !starts(rest) {
            rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
        }
        let (names, body) = rest.split_once('\n')?;
        let mut end = 0;
        for line in body.split_inclusive('\n') {
            if starts(line) {
                break;
            }
            end += line.len();
        }
        rest = &body[end..];
        Some((names, &body[..end]))
    })
}

/// Parses the lines of an entry.
///
/// # Errors
/// An item is an error if its line is invalid.
pub fn entry(text: &'static str) -> impl Iterator<Item = Result<Constraint, String>> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| Parser { line, rest: line }.constraint().map_err(|why| format!("`{line}`: {why}")))
}

/// Parser of one line.
struct Parser {
    line: &'static str,
    rest: &'static str,
}

/// Binary operators by precedence, loosest first. In a level, a longer operator
/// precedes its prefix, such as `<=` before `<`.
const LEVELS: &[&[(&str, Binary)]] = &[
    &[("or", Binary::Or)],
    &[("and", Binary::And)],
    &[
        ("==", Binary::Eq),
        ("!=", Binary::Ne),
        ("<=", Binary::Le),
        (">=", Binary::Ge),
        ("<", Binary::Lt),
        (">", Binary::Gt),
        ("in", Binary::In),
    ],
    &[("+", Binary::Add), ("-", Binary::Sub)],
    &[("*", Binary::Mul), ("/", Binary::Div), ("%", Binary::Rem)],
];

impl Parser {
    fn constraint(mut self) -> Result<Constraint, String> {
        let kind = self.kind()?;
        let text = self.line[..self.line.len() - self.rest.len()].trim_end();
        let why = if self.eat("because") { self.string()? } else { "" };
        let when = if self.eat("if") { Some(self.expr(0)?) } else { None };
        if !self.rest.is_empty() {
            return Err(format!("unexpected `{}`", self.rest));
        }
        let Kind::Holds(expr) = &kind else { return Ok(Constraint { kind, when, subject: "", why, text }) };
        let named = why.strip_prefix('`').and_then(|why| why.split_once("` "));
        let (subject, why) =
            named.or_else(|| Some((subject(expr)?, why))).ok_or("the line names no input or attribute")?;
        if why.is_empty() {
            Err("a condition needs a reason".to_owned())
        } else {
            Ok(Constraint { kind, when, subject, why, text })
        }
    }

    fn kind(&mut self) -> Result<Kind, String> {
        let start = self.rest;
        if self.eat("let") {
            let name = self.name()?;
            self.expect("=")?;
            return Ok(Kind::Let(name, self.expr(0)?));
        }
        if let Ok(input) = self.name() {
            if self.eat("->") {
                return Ok(Kind::Broadcasts { input, to: self.axes()? });
            }
            if self.rest.starts_with('[') {
                let mut shapes = vec![self.axes()?];
                while self.eat("|") {
                    shapes.push(self.axes()?);
                }
                return Ok(Kind::Shape { input, shapes });
            }
        }
        self.rest = start;
        Ok(Kind::Holds(self.expr(0)?))
    }

    fn axes(&mut self) -> Result<Vec<Axis>, String> {
        self.expect("[")?;
        self.items("]", Self::axis)
    }

    fn axis(&mut self) -> Result<Axis, String> {
        if self.eat("_") {
            return Ok(if self.eat("...") { Axis::Others } else { Axis::Any });
        }
        let size = self.expr(3)?;
        match size {
            Expr::Name(name) if self.eat("...") => Ok(Axis::Rest(name)),
            size => Ok(Axis::Size(size)),
        }
    }

    fn items<T>(&mut self, end: &str, item: fn(&mut Self) -> Result<T, String>) -> Result<Vec<T>, String> {
        let mut items = Vec::new();
        while !self.eat(end) {
            if !items.is_empty() {
                self.expect(",")?;
            }
            items.push(item(self)?);
        }
        Ok(items)
    }

    fn expr(&mut self, level: usize) -> Result<Expr, String> {
        let Some(operators) = LEVELS.get(level) else { return self.operand() };
        let mut left = self.expr(level + 1)?;
        while let Some((_, operator)) = operators.iter().find(|(text, _)| self.eat(text)) {
            left = Expr::Binary(*operator, Box::new((left, self.expr(level + 1)?)));
        }
        Ok(left)
    }

    fn operand(&mut self) -> Result<Expr, String> {
        if self.eat("not") {
            return Ok(Expr::Not(Box::new(self.operand()?)));
        }
        if self.eat("(") {
            let inner = self.expr(0)?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.eat("[") {
            return Ok(Expr::List(self.items("]", |parser| parser.expr(0))?));
        }
        if self.eat("@") {
            return Ok(Expr::Attr(self.name()?));
        }
        if self.eat("-") {
            let negated = (Expr::Int(0), self.operand()?);
            return Ok(Expr::Binary(Binary::Sub, Box::new(negated)));
        }
        if self.rest.starts_with('"') {
            return Ok(Expr::Text(self.string()?));
        }
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            let number = self.take(|c| c.is_ascii_digit());
            return number.parse().map(Expr::Int).map_err(|_| format!("the number {number} is too large"));
        }
        let name = self.name()?;
        if self.rest.starts_with('(') {
            self.eat("(");
            return Ok(Expr::Call(name, self.items(")", |parser| parser.expr(0))?));
        }
        Ok(Expr::Name(name))
    }

    fn name(&mut self) -> Result<&'static str, String> {
        let name = self.take(|c| c.is_ascii_alphanumeric() || c == '_');
        if name.is_empty() { Err(format!("expected a name at `{}`", self.rest)) } else { Ok(name) }
    }

    fn string(&mut self) -> Result<&'static str, String> {
        self.expect("\"")?;
        let (text, rest) = self.rest.split_once('"').ok_or("unclosed string")?;
        self.rest = rest.trim_start();
        Ok(text)
    }

    fn take(&mut self, belongs: fn(char) -> bool) -> &'static str {
        let end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        taken
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.eat(token) { Ok(()) } else { Err(format!("expected `{token}` at `{}`", self.rest)) }
    }

    /// Consumes a token, and returns whether it is there. A word matches only as a whole.
    fn eat(&mut self, token: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(token) else { return false };
        let is_word = token.ends_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if is_word && rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
            return false;
        }
        self.rest = rest.trim_start();
        true
    }
}

/// Returns the first attribute or input that an expression names.
fn subject(expr: &Expr) -> Option<&'static str> {
    match expr {
        Expr::Attr(name) => Some(name),
        Expr::Call(_, args) => args.iter().find_map(|arg| match arg {
            Expr::Name(name) => Some(*name),
            arg => subject(arg),
        }),
        Expr::List(items) => items.iter().find_map(subject),
        Expr::Not(inner) => subject(inner),
        Expr::Binary(_, both) => subject(&both.0).or_else(|| subject(&both.1)),
        Expr::Int(_) | Expr::Text(_) | Expr::Name(_) => None,
    }
}
