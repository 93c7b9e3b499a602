//! Methods of lists, tuples, dictionaries and sets.

use crate::diag::rule_ids;

use super::calls::Args;
use super::containers::{is_key, place};
use super::faults::{Fault, LINE_RAISES};
use super::heap::{Items, Object};
use super::machine::{Eval, Machine};
use super::value::{Ref, Value};

impl<'t> Machine<'t> {
    /// Calls a method of a list, tuple, dictionary or set.
    pub fn container_method(&mut self, object: &Value<'t>, name: &str, args: &Args<'t>) -> Eval<'t> {
        let first = args.get(0, "").cloned();
        let Some(reference) = object.object() else {
            return Ok(match (object, name) {
                (Value::Tuple(_), "numel") => self.product_of(object),
                (Value::Tuple(items), "count" | "index") => position(items, name, first.as_ref()),
                _ => Value::Unknown,
            });
        };
        let added = match (name, &first) {
            ("extend" | "update" | "__iadd__", Some(other)) => self.iterated(other),
            _ => None,
        };
        match name {
            "append" => self.note_append(reference, args.node),
            "clear" | "pop" => drop(self.grown.remove(&reference)),
            _ => {}
        }
        match self.heap.get_mut(reference) {
            Object::Dict(_) => self.dict_method(object, reference, name, args),
            Object::List(list) | Object::Set(list) => {
                match (name, first) {
                    ("append" | "add", Some(item)) => list.items.push(item),
                    ("extend" | "update" | "__iadd__", _) => match added {
                        Some(more) => list.items.extend(more),
                        None => list.open = true,
                    },
                    ("insert", Some(at)) => match (at.int(), args.get(1, "")) {
                        (Some(at), Some(item)) => {
                            // A negative index counts from the end, and an index out of range is clamped.
                            let length = list.items.len();
                            let from_end = length.saturating_sub(at.unsigned_abs() as usize);
                            let at = usize::try_from(at).unwrap_or(from_end).min(length);
                            list.items.insert(at, item.clone());
                        }
                        _ => list.open = true,
                    },
                    ("pop", at) => {
                        let at = at.map_or(Some(-1), |at| at.int());
                        match at.and_then(|at| place(at, list.items.len())).filter(|_| !list.open) {
                            Some(at) => return Ok(list.items.remove(at)),
                            None => list.open = true,
                        }
                    }
                    ("clear", _) => *list = Items::default(),
                    ("reverse", _) => list.items.reverse(),
                    ("copy", _) => {
                        let copy = Object::List(list.clone());
                        return Ok(Value::Object(self.heap.add(copy)));
                    }
                    ("count" | "index", first) if !list.open => {
                        return Ok(position(&list.items, name, first.as_ref()));
                    }
                    ("count" | "index", _) => {}
                    _ => {
                        list.items.clear();
                        list.open = true;
                        return Ok(Value::Unknown);
                    }
                }
                Ok(Value::None)
            }
            _ => Ok(Value::Unknown),
        }
    }

    fn dict_method(&mut self, object: &Value<'t>, reference: Ref, name: &str, args: &Args<'t>) -> Eval<'t> {
        if MODULE_METHODS.contains(&name) && self.is_unconditional() {
            let fault = Fault {
                rule: rule_ids::UNKNOWN_ATTRIBUTE,
                kind: "AttributeError",
                note: LINE_RAISES,
                ..Fault::shape(
                    format!("a dictionary has no method `{name}`"),
                    "for a dictionary of weights, construct the model and call `load_state_dict` with it",
                )
            };
            return Err(self.fault(args.node, fault));
        }
        let dict = self.heap.dict(reference).cloned().unwrap_or_default();
        let open = dict.open;
        Ok(match name {
            "keys" if !open => self.list(dict.entries.into_iter().map(|(key, _)| key).collect()),
            "values" if !open => self.list(dict.entries.into_iter().map(|(_, value)| value).collect()),
            "items" if !open => {
                let pairs = dict.entries.into_iter().map(|(key, value)| Value::tuple(vec![key, value]));
                self.list(pairs.collect())
            }
            "get" | "setdefault" | "pop" => {
                let key = args.get(0, "key").cloned().unwrap_or_default();
                let known = dict.get(&key).cloned();
                if name == "pop" {
                    self.remove_entry(reference, &key);
                }
                match known {
                    Some(value) if !open => value,
                    None if !open && is_key(&key) => {
                        let default = args.get(1, "default").cloned().unwrap_or(Value::None);
                        if name == "setdefault" {
                            self.set_entry(object, key, default.clone());
                        }
                        default
                    }
                    _ => Value::Unknown,
                }
            }
            "update" => {
                if let Some(other) = args.get(0, "").cloned() {
                    self.update_dict(object, &other);
                }
                for (name, value, _) in &args.keywords {
                    self.set_entry(object, Value::Str(name.clone()), value.clone());
                }
                Value::None
            }
            "copy" => Value::Object(self.heap.add(Object::Dict(dict))),
            // The known entries of an open dictionary are not all.
            "items" => {
                let pairs = dict.entries.into_iter().map(|(key, value)| Value::tuple(vec![key, value]));
                let items = Items { items: pairs.collect(), open: true };
                Value::Object(self.heap.add(Object::List(items)))
            }
            "keys" | "values" => self.open_list(),
            _ => {
                self.forget(object);
                Value::Unknown
            }
        })
    }

    fn remove_entry(&mut self, reference: Ref, key: &Value<'t>) {
        if let Object::Dict(dict) = self.heap.get_mut(reference) {
            if is_key(key) {
                dict.entries.retain(|(known, _)| known != key);
            } else {
                dict.entries.clear();
                dict.open = true;
            }
        }
    }
}

/// Methods of modules that dictionaries lack.
const MODULE_METHODS: [&str; 7] =
    ["eval", "train", "cuda", "half", "parameters", "state_dict", "load_state_dict"];

fn position<'t>(items: &[Value<'t>], name: &str, item: Option<&Value<'t>>) -> Value<'t> {
    let Some(item) = item.filter(|item| item.is_plain()) else { return Value::Unknown };
    if items.iter().any(|item| !item.is_plain()) {
        return Value::Unknown;
    }
    let found = match name {
        "count" => Some(items.iter().filter(|other| *other == item).count()),
        _ => items.iter().position(|other| other == item),
    };
    Value::size(found.and_then(|found| i64::try_from(found).ok()))
}
