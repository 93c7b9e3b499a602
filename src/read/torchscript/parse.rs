//! Parses the statements of one graph into a [`Trace`].

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::torch::{
    Argument, Block, BlockId, Definition, Input, Node, NodeId, Op, Origin, Trace, Type, Value, ValueId,
};

use super::cursor::Cursor;
use super::{literal, scope, types};

/// Parsed graph; statements with faults are missing.
pub struct Parsed {
    /// Graph as a trace.
    pub trace: Trace,
    /// Length of the graph in the text, in bytes.
    pub length: usize,
    /// Start of the first line that could not be parsed, and the number of such lines.
    pub unread: Option<(usize, usize)>,
}

/// Parses the graph at the start of the text, up to its `return`.
pub fn parse(text: &str) -> Parsed {
    let mut parser = Parser {
        cursor: Cursor::new(text),
        names: FxHashMap::default(),
        scopes: FxHashMap::default(),
        open: vec![BlockId(0)],
        unread: Vec::new(),
        trace: Trace::new(Origin::TorchScript),
    };
    let has_return = parser.graph();
    let Parser { cursor, mut trace, mut unread, .. } = parser;
    trace.complete = has_return;
    let length = if has_return { cursor.at() } else { end_of_last_node(text, &trace) };
    unread.retain(|&at| at < length);
    trace.link_users();
    Parsed { trace, length, unread: unread.first().map(|&first| (first, unread.len())) }
}

fn end_of_last_node(text: &str, trace: &Trace) -> usize {
    let last = trace.nodes.last().map_or(0, |node| node.span.1);
    text[last..].find('\n').map_or(text.len(), |at| last + at + 1)
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    names: FxHashMap<&'a str, ValueId>,
    /// Cache of module paths by scope; a graph has few scopes and many nodes.
    scopes: FxHashMap<&'a str, Arc<str>>,
    /// Open blocks, the innermost last; never empty.
    open: Vec<BlockId>,
    /// Starts of the lines that could not be parsed.
    unread: Vec<usize>,
    trace: Trace,
}

impl<'a> Parser<'a> {
    /// Parses the whole graph; returns true if it has a `return`.
    fn graph(&mut self) -> bool {
        self.cursor.eat("graph(");
        let inputs = self.parameters();
        self.trace.blocks[0].inputs = inputs;
        self.trace.class =
            self.trace.blocks[0].inputs.iter().find_map(|&id| match &self.trace.value(id).ty {
                Type::Class(class) => Some(class.clone()),
                _ => None,
            });
        self.cursor.take_line();
        while !self.cursor.is_at_end() {
            let start = self.cursor.at();
            let prefix = line_prefix(self.cursor.rest());
            self.cursor.skip(prefix);
            self.cursor.skip_blanks();
            match self.statement() {
                Some(Statement::Return) => return true,
                Some(Statement::Other) => {}
                None => {
                    self.cursor.go_back_to(start);
                    if !self.cursor.take_line().trim().is_empty() {
                        self.unread.push(start);
                    }
                }
            }
        }
        false
    }

    /// Parses a statement; on success, the cursor is after its line.
    fn statement(&mut self) -> Option<Statement> {
        if self.cursor.eat("return (") {
            let outputs = self.arguments()?;
            self.cursor.take_line();
            self.open.truncate(1);
            self.trace.blocks[0].outputs = outputs;
            return Some(Statement::Return);
        }
        if self.cursor.eat("-> (") {
            let outputs = self.arguments()?;
            self.cursor.take_line();
            let block = (self.open.len() > 1).then(|| self.open.pop()).flatten()?;
            self.trace.blocks[block.index()].outputs = outputs;
            return Some(Statement::Other);
        }
        if self.cursor.eat("block") {
            self.cursor.take_while(|byte| byte.is_ascii_digit());
            self.cursor.eat("(").then_some(())?;
            self.block()?;
            return Some(Statement::Other);
        }
        if self.cursor.rest().starts_with('}') && self.cursor.take_line().trim() == "}" {
            return Some(Statement::Other);
        }
        self.node()?;
        Some(Statement::Other)
    }

    /// Parses `block0(%i : int):`, which belongs to the last node of the open block.
    fn block(&mut self) -> Option<()> {
        let outer = *self.open.last()?;
        let owner = *self.trace.block(outer).nodes.last()?;
        let id = BlockId(self.trace.blocks.len() as u32);
        self.trace.blocks.push(Block { owner: Some(owner), ..Block::default() });
        self.trace.nodes[owner.index()].blocks.push(id);
        self.open.push(id);
        let inputs = self.parameters();
        for (position, &input) in inputs.iter().enumerate() {
            self.trace.values[input.index()].definition = Definition::Input(id, position as u32);
        }
        self.trace.blocks[id.index()].inputs = inputs;
        self.cursor.take_line();
        Some(())
    }

    /// Parses parameters such as `%x : Tensor, %y : int)`, up to the closing bracket; they may span lines.
    fn parameters(&mut self) -> Vec<ValueId> {
        let mut parameters = Vec::new();
        loop {
            self.cursor.skip_space();
            let Some(name) = self.cursor.value_name() else { break };
            let ty = self.declared_type();
            let position = parameters.len() as u32;
            parameters.push(self.define(name, ty, Definition::Input(BlockId(0), position)));
            // PyTorch before 1.1 prints no comma between parameters on different lines.
            if !self.cursor.eat(",") && self.cursor.peek() != Some(b'\n') {
                break;
            }
        }
        self.cursor.eat(")");
        parameters
    }

    /// Parses a type such as ` : Float(2, 4)`; a value without a type is a tensor of unknown type.
    fn declared_type(&mut self) -> Type {
        self.cursor.skip_blanks();
        if !self.cursor.eat(":") {
            return Type::Tensor(Default::default());
        }
        self.cursor.take_balanced(b",=)\n").map_or_else(|| Type::Other(Arc::from("")), types::parse)
    }

    /// Parses a node, such as `%a : T, %b : T = ns::op[attributes](%x, %y), scope: S # file:line:column`.
    fn node(&mut self) -> Option<()> {
        let start = self.cursor.at();
        let mut outputs = Vec::new();
        while let Some(name) = self.cursor.value_name() {
            outputs.push((name, self.declared_type()));
            self.cursor.eat(",");
            self.cursor.skip_blanks();
        }
        // In releases before 1.1, the equals sign starts a new line.
        self.cursor.skip_space();
        self.cursor.eat("=").then_some(())?;
        self.cursor.skip_blanks();
        let op = self.cursor.take_while(|byte| !matches!(byte, b'[' | b'(' | b' ' | b'\n' | b'\r'));
        (op.contains("::") || op.starts_with('^')).then_some(())?;
        let attributes = if self.cursor.eat("[") { self.attributes()? } else { Vec::new() };
        if op.starts_with('^') && self.cursor.eat("(") {
            // The scalar arguments of a Python function have their own brackets before the tensors.
            self.cursor.take_balanced(b")")?;
            self.cursor.eat(")");
        }
        self.cursor.eat("(").then_some(())?;
        let arguments = self.arguments()?;
        let end_of_call = self.cursor.at();
        let line = self.cursor.take_line();
        let (scope, source) = self.provenance(line);
        let span = (start, end_of_call + line.len());
        self.push_node(
            Op::parse(op),
            arguments,
            outputs,
            Node { attributes, scope, source, span, ..blank_node() },
        );
        Some(())
    }

    /// Parses attributes such as `value=1, name="x"]`, up to and including the closing bracket.
    fn attributes(&mut self) -> Option<Vec<(Arc<str>, Argument)>> {
        let mut attributes = Vec::new();
        loop {
            self.cursor.skip_blanks();
            let name = self.cursor.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            self.cursor.eat("=").then_some(())?;
            let value = self.cursor.take_balanced(b",]")?;
            attributes.push((Arc::from(name), literal::parse(value)));
            if self.cursor.eat("]") {
                return Some(attributes);
            }
            self.cursor.eat(",");
        }
    }

    /// Parses arguments such as `%x, %y)`, up to and including the closing bracket.
    fn arguments(&mut self) -> Option<Vec<Argument>> {
        let mut arguments = Vec::new();
        loop {
            self.cursor.skip_blanks();
            if let Some(name) = self.cursor.value_name() {
                arguments.push(Argument::Value(self.lookup(name)));
            }
            self.cursor.skip_blanks();
            if self.cursor.eat(")") {
                return Some(arguments);
            }
            self.cursor.eat(",").then_some(())?;
        }
    }

    /// Parses the scope and source position after a call.
    fn provenance(&mut self, line: &'a str) -> (Arc<str>, Option<crate::diag::SourcePlace>) {
        let (scope, source) = match line.rsplit_once("# ") {
            Some((scope, comment)) => (scope, scope::source(comment)),
            None => (line, None),
        };
        let scope = scope.trim_start_matches([',', ' ']).strip_prefix("scope: ").unwrap_or("").trim();
        if self.trace.class.is_none() {
            self.trace.class = scope::root_class(scope);
        }
        let path = self.scopes.entry(scope).or_insert_with(|| scope::module_path(scope));
        (path.clone(), source)
    }

    fn push_node(&mut self, op: Op, arguments: Vec<Argument>, outputs: Vec<(&'a str, Type)>, rest: Node) {
        let id = NodeId(self.trace.nodes.len() as u32);
        let literal = value_literal(&op, &arguments, &rest);
        let outputs = outputs.into_iter().enumerate().map(|(position, (name, ty))| {
            let literal = literal.clone().map(|literal| literal::typed(literal, &ty));
            let value = self.define(name, ty, Definition::Node(id, position as u32));
            self.trace.values[value.index()].literal = literal;
            value
        });
        let outputs = outputs.collect();
        if &*op.namespace == "onnx" {
            self.trace.origin = Origin::OnnxDialect;
        }
        let block = self.open.last().copied().unwrap_or(BlockId(0));
        let inputs = arguments.into_iter().map(|argument| Input { name: None, argument }).collect();
        self.trace.nodes.push(Node { op, inputs, outputs, block, ..rest });
        self.trace.blocks[block.index()].nodes.push(id);
    }

    fn define(&mut self, name: &'a str, ty: Type, definition: Definition) -> ValueId {
        let id = ValueId(self.trace.values.len() as u32);
        self.trace.values.push(Value {
            name: Arc::from(name),
            ty,
            definition,
            literal: None,
            users: Vec::new(),
        });
        self.names.insert(name, id);
        id
    }

    fn lookup(&mut self, name: &'a str) -> ValueId {
        match self.names.get(name) {
            Some(&id) => id,
            None => self.define(name, Type::Other(Arc::from("")), Definition::Missing),
        }
    }
}

enum Statement {
    Return,
    Other,
}

fn blank_node() -> Node {
    Node {
        op: Op::parse(""),
        inputs: Vec::new(),
        outputs: Vec::new(),
        attributes: Vec::new(),
        blocks: Vec::new(),
        block: BlockId(0),
        source: None,
        scope: Arc::from(""),
        span: (0, 0),
        line: 0,
    }
}

/// Returns the constant or list that a node produces.
fn value_literal(op: &Op, arguments: &[Argument], node: &Node) -> Option<Argument> {
    match (&*op.namespace, &*op.name) {
        ("prim" | "onnx", "Constant") => {
            let value = node.attributes.iter().find(|(name, _)| name.starts_with("value"));
            Some(value.map_or(Argument::None, |(_, literal)| literal.clone()))
        }
        ("prim", "ListConstruct" | "TupleConstruct") => Some(Argument::List(arguments.to_vec())),
        _ => None,
    }
}

/// Returns the length of the time stamp that a CI system puts before a line, or 0 without a time stamp.
fn line_prefix(line: &str) -> usize {
    let stamp = line.bytes().take_while(|byte| byte.is_ascii_digit() || b"-:.TZ+".contains(byte)).count();
    if stamp >= "2024-01-01T00:00:00".len() { stamp } else { 0 }
}
