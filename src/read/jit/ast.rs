//! Syntax trees of TorchScript code, as the serializer of PyTorch writes it.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// One file of the code of an archive.
#[derive(Debug, Default)]
pub struct File {
    /// Path within the archive, such as `code/__torch__.py`.
    pub path: Arc<str>,
    /// Text of the file.
    pub text: Arc<str>,
    /// Position of each line in the text.
    pub lines: Vec<u32>,
    /// Classes, by name.
    pub classes: FxHashMap<Arc<str>, Class>,
    /// Functions outside of classes, by name.
    pub functions: FxHashMap<Arc<str>, Function>,
}

/// Maximum length of a line that findings show, in bytes.
const MAX_LINE: usize = 1000;

impl File {
    /// Returns a line by its 1-based number, without spaces around it; `None` if it is too long to show.
    pub fn line(&self, line: u32) -> Option<&str> {
        let at = (line as usize).checked_sub(1)?;
        let start = *self.lines.get(at)? as usize;
        let end = self.lines.get(at + 1).map_or(self.text.len(), |end| *end as usize);
        self.text.get(start..end).filter(|text| text.len() <= MAX_LINE).map(str::trim)
    }
}

/// A class: a module, or a named tuple.
#[derive(Debug, Default)]
pub struct Class {
    /// Name of the base class: `Module`, `NamedTuple`, or empty.
    pub base: Arc<str>,
    /// Annotated fields, in order.
    pub fields: Vec<Arc<str>>,
    /// Values of fields that are constant.
    pub constants: FxHashMap<Arc<str>, Expression>,
    /// Methods, by name.
    pub methods: FxHashMap<Arc<str>, Function>,
}

/// A function or method.
#[derive(Debug)]
pub struct Function {
    /// Name of the function.
    pub name: Arc<str>,
    /// Parameters, including that of the module.
    pub params: Vec<Param>,
    /// Statements, in order.
    pub body: Vec<Statement>,
}

/// Parameter of a function.
#[derive(Debug)]
pub struct Param {
    /// Name of the parameter.
    pub name: Arc<str>,
    /// Type annotation.
    pub ty: Option<Expression>,
    /// Default value.
    pub default: Option<Expression>,
}

/// A statement with its 1-based line.
#[derive(Debug)]
pub struct Statement {
    /// 1-based line on which the statement starts.
    pub line: u32,
    /// Content.
    pub kind: Kind,
}

/// Content of a statement.
#[derive(Debug)]
pub enum Kind {
    /// `target = value`; a target that is a tuple unpacks the value.
    Assign(Expression, Expression),
    /// An expression whose result is unused.
    Evaluate(Expression),
    /// `if`: condition, statements if true, statements if false.
    If(Expression, Vec<Statement>, Vec<Statement>),
    /// `while`: condition and statements.
    While(Expression, Vec<Statement>),
    /// `for NAME in range(COUNT)`.
    For(Arc<str>, Expression, Vec<Statement>),
    /// `return`.
    Return(Expression),
    /// `pass`.
    Pass,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// `None`.
    None,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A string.
    Str(Arc<str>),
    /// A name.
    Name(Arc<str>),
    /// `[a, b]`.
    List(Vec<Expression>),
    /// `(a, b)`.
    Tuple(Vec<Expression>),
    /// `{a: b}`.
    Dict(Vec<(Expression, Expression)>),
    /// `object.name`.
    Attribute(Box<Expression>, Arc<str>),
    /// `object[index]`.
    Index(Box<Expression>, Box<Expression>),
    /// `callee(arguments, name=argument)`.
    Call(Box<Expression>, Vec<Expression>, Vec<(Arc<str>, Expression)>),
    /// `-operand`.
    Negate(Box<Expression>),
}

impl Expression {
    /// Returns a dotted name, such as `torch.add`; `None` for any other expression.
    pub fn dotted(&self) -> Option<String> {
        match self {
            Expression::Name(name) => Some(name.to_string()),
            Expression::Attribute(object, name) => Some(format!("{}.{name}", object.dotted()?)),
            _ => None,
        }
    }
}
