//! Built-in functions of Python, and copies of objects.

use rustc_hash::FxHashMap;
use tree_sitter::Node;

use super::calls::Args;
use super::heap::Object;
use super::library::whole_number;
use super::machine::{Eval, Machine, Stop};
use super::record::Taken;
use super::strings::printed;
use super::value::{Ref, Value};

/// Maximum depth to which objects are copied.
const MAX_COPY_DEPTH: u32 = 40;

impl<'t> Machine<'t> {
    /// Calls a built-in function, or returns `None` if the function is not modeled.
    pub fn builtin_call(&mut self, name: &str, args: &Args<'t>) -> Result<Option<Value<'t>>, Stop> {
        let first = args.get(0, "").cloned();
        let unknown = Value::Unknown;
        let one = first.as_ref().unwrap_or(&unknown);
        let items = |machine: &mut Self| first.as_ref().and_then(|first| machine.iterated(first));
        if let ("int" | "float" | "bool", Value::Tensor(tensor)) = (name, one) {
            self.coverage.read(self.file(), args.node, tensor.memory);
        }
        if matches!(name, "iter" | "zip" | "map" | "filter" | "enumerate" | "reversed")
            && !self.is_loader(one)
            && !self.is_iterated_once(args.node)
        {
            return match name {
                "map" => self.evaluate_later(|machine| machine.mapped(args)).map(Some),
                _ => Ok(Some(Value::Unknown)),
            };
        }
        Ok(Some(match name {
            "vars" => self.attributes_dict(one, args.node),
            "print" | "input" | "open" | "id" | "hash" | "repr" | "dir" | "format" => Value::Unknown,
            "len" => match self.counted(one, args.node)? {
                Some(length) if matches!(one, Value::Tensor(_)) => {
                    Value::Int(self.taken(Taken::Number, args.node, length))
                }
                length => Value::size(length),
            },
            "range" => {
                args.all().try_for_each(|bound| self.needs_number(bound, args.node))?;
                range(args)
            }
            "int" | "float" if self.is_program && matches!(one, Value::Tensor(_)) => {
                self.converts_data(one, args.node)?;
                one.tensor().cloned().map_or(Value::Unknown, |tensor| self.unbacked(&tensor))
            }
            "int" => match (self.to_int(one), one) {
                (Value::Int(number), _) => Value::Int(self.taken(Taken::Number, args.node, number)),
                (other, _) => other,
            },
            "float" => match one {
                Value::Str(text) => text.trim().parse().map_or(Value::Unknown, Value::Float),
                Value::Int(_) => match one.number() {
                    Some(number) => Value::Float(self.taken_float(args.node, number)),
                    None => Value::Unknown,
                },
                Value::Float(number) => Value::Float(self.taken_float(args.node, *number)),
                other => self.scalar(other).map_or(Value::Unknown, Value::Float),
            },
            "bool" => self.truth(one).map_or(Value::Unknown, Value::Bool),
            "str" => match &first {
                None => Value::str(""),
                Some(value) => printed(value).map_or(Value::Unknown, |text| Value::str(&text)),
            },
            "iter" if self.is_loader(one) => one.clone(),
            "list" | "sorted" | "reversed" | "iter" => match (&first, items(self)) {
                (None, _) => self.list(vec![]),
                (Some(range @ Value::Range(..)), Some(items)) => {
                    let items = self.taken_items(items, range, args.node);
                    self.ordered(name, items, args)
                }
                (_, Some(items)) => self.ordered(name, items, args),
                _ => self.open_list(),
            },
            "tuple" => match (&first, items(self)) {
                (None, _) => Value::tuple(vec![]),
                (_, Some(items)) => Value::tuple(items),
                _ => Value::Unknown,
            },
            "set" | "frozenset" => match (&first, items(self)) {
                (None, _) => self.set(vec![]),
                (_, Some(items)) => self.set(items),
                _ => Value::Unknown,
            },
            "dict" => self.made_dict(first.as_ref(), args),
            "enumerate" => {
                let start = args.get(1, "start").map_or(Some(0), Value::int);
                match (items(self), start) {
                    (Some(items), Some(start)) => {
                        let counted = (start..).zip(items);
                        let pairs = counted.map(|(at, item)| Value::tuple(vec![Value::Int(at), item]));
                        self.list(pairs.collect())
                    }
                    _ => self.open_list(),
                }
            }
            "zip" => self.zipped(args),
            "map" => return self.mapped(args).map(Some),
            "sum" | "max" | "min" | "all" | "any" => self.folded(name, args),
            "abs" => match one {
                Value::Int(number) => number.checked_abs().map_or(Value::Unknown, Value::Int),
                Value::Float(number) => Value::Float(number.abs()),
                Value::Tensor(_) => return self.method(one, "abs", &Args::none(args.node)).map(Some),
                _ => Value::Unknown,
            },
            "round" => match (one.number(), args.get(1, "")) {
                (Some(number), None) => {
                    whole_number(number.round_ties_even()).map_or(Value::Unknown, Value::Int)
                }
                _ => Value::Unknown,
            },
            "isinstance" => self.is_instance(one, args.get(1, "")).map_or(Value::Unknown, Value::Bool),
            "hasattr" => self.has_attribute(one, args.get(1, "")).map_or(Value::Unknown, Value::Bool),
            "getattr" => return self.get_attribute(args).map(Some),
            "setattr" => {
                if let (Some(Value::Str(name)), Some(value)) = (args.get(1, ""), args.get(2, "")) {
                    self.set_attribute(one, &name.clone(), value.clone());
                } else {
                    self.forget(one);
                }
                Value::None
            }
            "type" if args.positional.len() == 1 => {
                match one.object().and_then(|one| self.heap.instance(one)) {
                    Some(instance) => instance.class.clone(),
                    None => Value::Unknown,
                }
            }
            "next" => match (self.batch_of(one), args.positional.first()) {
                (Value::Unknown, Some((_, Some(node)))) if node.kind() == "call" => {
                    items(self).and_then(|items| items.into_iter().next()).unwrap_or_default()
                }
                (batch, _) => batch,
            },
            "callable" | "issubclass" | "filter" | "chr" | "slice" => Value::Unknown,
            _ => return Ok(None),
        }))
    }

    /// Returns the length of a container, if it is known.
    ///
    /// Raises under `torch.export` if the length depends on data.
    fn counted(&self, value: &Value<'t>, node: Node<'t>) -> Result<Option<i64>, Stop> {
        if let Value::Tensor(tensor) = value
            && tensor.unbacked == Some(0)
        {
            self.needs_number(value, node)?;
        }
        Ok(self.length(value))
    }

    fn to_int(&self, value: &Value<'t>) -> Value<'t> {
        let number = match value {
            Value::Str(text) => return Value::size(text.trim().parse().ok()),
            Value::Int(_) | Value::Bool(_) => return Value::size(value.int()),
            other => self.scalar(other),
        };
        number.and_then(whole_number).map_or(Value::Unknown, Value::Int)
    }

    /// Returns a number, or the element of a tensor of one element.
    pub fn scalar(&self, value: &Value<'t>) -> Option<f64> {
        match value {
            Value::Tensor(tensor) => match self.data(tensor)?.as_ref() {
                [one] => Some(*one),
                _ => None,
            },
            other => other.number(),
        }
    }

    fn ordered(&mut self, name: &str, mut items: Vec<Value<'t>>, args: &Args<'t>) -> Value<'t> {
        match name {
            "reversed" => items.reverse(),
            "sorted" => {
                let numbers: Option<Vec<f64>> = items.iter().map(Value::number).collect();
                let texts: Option<Vec<&str>> = items.iter().map(Value::text).collect();
                if !args.keywords.is_empty() || numbers.is_none() && texts.is_none() {
                    let unknown = items.iter().map(|_| Value::Unknown).collect();
                    return self.list(unknown);
                }
                items.sort_by(|a, b| match (a.number(), b.number()) {
                    (Some(a), Some(b)) => a.total_cmp(&b),
                    _ => a.text().cmp(&b.text()),
                });
            }
            _ => {}
        }
        self.list(items)
    }

    fn made_dict(&mut self, first: Option<&Value<'t>>, args: &Args<'t>) -> Value<'t> {
        let dict = self.dict(vec![], args.open);
        if let Some(first) = first {
            let is_dict = first.object().is_some_and(|object| self.heap.dict(object).is_some());
            match self.items(first).filter(|_| !is_dict) {
                Some(pairs) => {
                    for pair in pairs {
                        match self.items(&pair).as_deref() {
                            Some([key, value]) => self.set_entry(&dict, key.clone(), value.clone()),
                            _ => self.update_dict(&dict, &Value::Unknown),
                        }
                    }
                }
                None => self.update_dict(&dict, first),
            }
        }
        for (name, value, _) in &args.keywords {
            self.set_entry(&dict, Value::Str(name.clone()), value.clone());
        }
        dict
    }

    fn zipped(&mut self, args: &Args<'t>) -> Value<'t> {
        let mut columns = vec![];
        for value in args.values() {
            match self.iterated(&value) {
                Some(items) => columns.push(items),
                None => return self.open_list(),
            }
        }
        let count = columns.iter().map(Vec::len).min().unwrap_or(0);
        let rows = (0..count)
            .map(|at| Value::tuple(columns.iter().map(|column| column[at].clone()).collect()))
            .collect();
        if args.open { self.open_list() } else { self.list(rows) }
    }

    fn mapped(&mut self, args: &Args<'t>) -> Eval<'t> {
        let function = args.get(0, "").cloned().unwrap_or_default();
        let items = args.get(1, "").cloned().and_then(|items| self.iterated(&items));
        let (Some(items), 2) = (items, args.positional.len()) else { return Ok(self.open_list()) };
        let mut results = vec![];
        for item in items {
            results.push(self.invoke(&function, &Args::of(args.node, vec![item]))?);
        }
        Ok(self.list(results))
    }

    fn folded(&mut self, name: &str, args: &Args<'t>) -> Value<'t> {
        let items = match args.positional.as_slice() {
            [(only, _)] => self.items(only),
            many => Some(many.iter().map(|(value, _)| value.clone()).collect()),
        };
        let Some(items) = items.filter(|_| !args.open) else { return Value::Unknown };
        match name {
            "all" | "any" => {
                let each: Vec<Option<bool>> = items.iter().map(|item| self.truth(item)).collect();
                let decisive = name == "any";
                if each.contains(&Some(decisive)) {
                    return Value::Bool(decisive);
                }
                if each.contains(&None) { Value::Unknown } else { Value::Bool(!decisive) }
            }
            "sum" if args.positional.len() == 1 => {
                let whole: Option<i64> =
                    items.iter().try_fold(0i64, |sum, item| sum.checked_add(item.int()?));
                let real: Option<f64> = items.iter().map(Value::number).sum();
                whole.map(Value::Int).or(real.map(Value::Float)).unwrap_or_default()
            }
            "max" | "min" if args.keywords.is_empty() => {
                let numbers: Option<Vec<f64>> = items.iter().map(Value::number).collect();
                let Some(numbers) = numbers else { return Value::Unknown };
                let at = (0..numbers.len()).reduce(|best, at| {
                    let better =
                        if name == "max" { numbers[at] > numbers[best] } else { numbers[at] < numbers[best] };
                    if better { at } else { best }
                });
                let Some(at) = at.and_then(|at| i64::try_from(at).ok()) else { return Value::Unknown };
                // Tracing compares the numbers once, and keeps the selected one, which may be a traced size.
                let at = usize::try_from(self.taken(Taken::Branch, args.node, at)).ok();
                at.and_then(|at| items.get(at)).cloned().unwrap_or_default()
            }
            _ => Value::Unknown,
        }
    }

    fn is_instance(&self, value: &Value<'t>, class: Option<&Value<'t>>) -> Option<bool> {
        let class = class?;
        if let Value::Tuple(classes) = class {
            let each: Vec<Option<bool>> =
                classes.iter().map(|class| self.is_instance(value, Some(class))).collect();
            if each.contains(&Some(true)) {
                return Some(true);
            }
            return each.iter().all(Option::is_some).then_some(false);
        }
        match (value, class) {
            (Value::Unknown, _) => None,
            (Value::Tensor(_), Value::Name(path)) => Some(&**path == "torch.Tensor"),
            (Value::Object(object), _) => match self.heap.get(*object) {
                Object::Instance(instance) => {
                    let lineage = match &instance.class {
                        Value::Object(class) => self.lineage(*class),
                        other => vec![other.clone()],
                    };
                    if lineage.contains(class) || class.path() == Some("object") {
                        return Some(true);
                    }
                    if class.path() == Some("torch.nn.Module") {
                        return self.is_module(value);
                    }
                    let is_closed = lineage.iter().all(|one| {
                        one.object().is_some() || one.path().is_some_and(|path| path.starts_with("torch.nn."))
                    });
                    (is_closed && matches!(class, Value::Object(_) | Value::Name(_))).then_some(false)
                }
                Object::List(_) => Some(class.path()? == "list"),
                Object::Dict(_) => Some(class.path()? == "dict"),
                _ => None,
            },
            // A path is represented by its text.
            (Value::Str(_), Value::Name(path)) => (!self.has_paths()).then_some(&**path == "str"),
            (Value::Int(_), Value::Name(path)) => Some(&**path == "int"),
            (Value::Bool(_), Value::Name(path)) => Some(matches!(&**path, "bool" | "int")),
            (Value::Float(_), Value::Name(path)) => Some(&**path == "float"),
            (Value::None, Value::Name(_)) => Some(false),
            (Value::Tuple(_), Value::Name(path)) => Some(matches!(&**path, "tuple")),
            _ => None,
        }
    }

    fn has_attribute(&self, value: &Value<'t>, name: Option<&Value<'t>>) -> Option<bool> {
        let name = name?.text()?;
        match value {
            Value::Name(path) if super::torch::names::is_missing(path, name) => Some(false),
            Value::Object(object) => {
                let instance = self.heap.instance(*object)?;
                instance.get(name).is_some().then_some(true)
            }
            _ => None,
        }
    }

    fn get_attribute(&mut self, args: &Args<'t>) -> Eval<'t> {
        let object = args.get(0, "").cloned().unwrap_or_default();
        let Some(name) = args.get(1, "").and_then(Value::text).map(str::to_owned) else {
            return Ok(Value::Unknown);
        };
        match self.attribute(&object, &name, args.node) {
            Err(Stop::Raised(_)) if args.get(2, "").is_some() => {
                Ok(args.get(2, "").cloned().unwrap_or_default())
            }
            Ok(_) if args.get(2, "").is_some() && self.attribute_of(&object, &name).is_none() => {
                Ok(Value::Unknown)
            }
            other => other,
        }
    }

    /// Returns a copy of an object and of the objects that it contains.
    ///
    /// `copies` maps each copied object to its copy.
    pub fn copy(&mut self, value: &Value<'t>, copies: &mut FxHashMap<Ref, Ref>, depth: u32) -> Value<'t> {
        let Value::Object(object) = value else { return value.clone() };
        if let Some(copy) = copies.get(object) {
            return Value::Object(*copy);
        }
        if self.is_member(value) {
            return value.clone();
        }
        let mut copied = self.heap.get(*object).clone();
        if depth >= MAX_COPY_DEPTH || matches!(copied, Object::Class(_) | Object::Scope(_)) {
            return value.clone();
        }
        let copy = self.heap.add(copied.clone());
        copies.insert(*object, copy);
        let mut again = |machine: &mut Self, value: &mut Value<'t>| {
            *value = machine.copy(value, copies, depth + 1);
        };
        match &mut copied {
            Object::List(list) | Object::Set(list) => {
                list.items.iter_mut().for_each(|item| again(self, item));
            }
            Object::Dict(dict) => dict.entries.iter_mut().for_each(|(_, value)| again(self, value)),
            Object::Instance(instance) => {
                instance.attributes.iter_mut().for_each(|(_, value)| again(self, value));
            }
            _ => {}
        }
        *self.heap.get_mut(copy) = copied;
        Value::Object(copy)
    }
}

fn range<'t>(args: &Args<'t>) -> Value<'t> {
    let numbers: Option<Vec<i64>> = args.positional.iter().map(|(value, _)| value.int()).collect();
    match numbers.as_deref().filter(|_| !args.open) {
        Some([stop]) => Value::Range(0, *stop, 1),
        Some([start, stop]) => Value::Range(*start, *stop, 1),
        Some([start, stop, step]) if *step != 0 => Value::Range(*start, *stop, *step),
        _ => Value::Unknown,
    }
}
