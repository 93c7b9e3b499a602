//! Dictionaries of attributes: `vars(args)` and `dataclasses.asdict(config)`.

use tree_sitter::Node;

use super::super::syntax::{field, text};
use super::argparse::NAMESPACE;
use super::machine::Machine;
use super::value::Value;

/// Maximum depth of nested dataclasses.
const MAX_DEPTH: u32 = 8;

impl<'t> Machine<'t> {
    /// Evaluates `vars(object)`, a dictionary that shares its entries with the object.
    ///
    /// The dictionary is known only in `**vars(args)`, which cannot change it.
    pub fn attributes_dict(&mut self, value: &Value<'t>, call: Node<'t>) -> Value<'t> {
        let is_spread = call.parent().is_some_and(|parent| parent.kind() == "dictionary_splat");
        let is_parsed = call.parent().is_some_and(|parent| parent.kind() == "assignment")
            && matches!(field(call, "arguments").map(|arguments| arguments.named_child(0)),
                Some(Some(only)) if self.is_parse(only));
        if !is_parsed && is_write(call, self.source(self.file())) {
            self.forget(value);
        }
        let instance = value.object().and_then(|object| self.heap.instance_mut(object));
        let Some(instance) = instance else { return Value::Unknown };
        // The object of `vars(parser.parse_args())` has no other name.
        if (is_spread || is_parsed) && !instance.open && instance.class.path() == Some(NAMESPACE) {
            let entries = instance.attributes.clone().into_iter();
            let entries = entries.map(|(name, value)| (Value::Str(name), value)).collect();
            return self.dict(entries, false);
        }
        instance.open = true;
        Value::Unknown
    }

    /// Returns true for `parser.parse_args()`, which returns a new object unless it gets one.
    fn is_parse(&self, call: Node<'t>) -> bool {
        let function = field(call, "function").filter(|_| call.kind() == "call");
        let name = function.and_then(|function| field(function, "attribute"));
        name.is_some_and(|name| self.text(name) == "parse_args")
            && field(call, "arguments").is_some_and(|list| !self.text(list).contains("namespace"))
            && field(call, "arguments").is_some_and(|list| list.named_child_count() <= 1)
    }

    /// Evaluates `dataclasses.asdict(object)`.
    pub fn fields_dict(&mut self, value: &Value<'t>, depth: u32) -> Value<'t> {
        let instance = value.object().and_then(|object| self.heap.instance(object));
        let Some(instance) = instance.filter(|_| depth < MAX_DEPTH) else { return Value::Unknown };
        let instance = instance.clone();
        let class = instance.class.object().filter(|class| self.lineage(*class).len() <= 2);
        let fields = class.and_then(|class| self.heap.class(class)?.fields.clone());
        let Some(fields) = fields.filter(|_| !instance.open) else { return Value::Unknown };
        let mut entries = vec![];
        for (name, _) in fields {
            let Some(value) = instance.get(name).cloned() else { return Value::Unknown };
            let is_nested = value.object().is_some_and(|object| self.heap.instance(object).is_some());
            let value = if is_nested { self.fields_dict(&value, depth + 1) } else { self.copied(&value) };
            entries.push((Value::str(name), value));
        }
        self.dict(entries, false)
    }
}

/// Returns true if the code around a call may write to the dictionary that the call returns.
fn is_write(call: Node, source: &str) -> bool {
    let Some(parent) = call.parent() else { return false };
    match parent.kind() {
        "subscript" => parent.parent().is_some_and(|outer| {
            matches!(outer.kind(), "assignment" | "augmented_assignment")
                && field(outer, "left") == Some(parent)
        }),
        "attribute" => field(parent, "attribute").is_some_and(|name| {
            matches!(text(name, source), "update" | "pop" | "setdefault" | "clear" | "popitem")
        }),
        // Later code may write to the dictionary by a name.
        "assignment" | "return_statement" | "named_expression" => true,
        // Functions of the script have plain names.
        "argument_list" => {
            let callee = parent.parent().and_then(|outer| field(outer, "function"));
            callee.is_some_and(|callee| {
                callee.kind() == "identifier" && !super::library::is_builtin(text(callee, source))
            })
        }
        _ => false,
    }
}
