//! Lists, tuples, dictionaries and sets: items, subscripts and methods.

use tree_sitter::Node;

use super::super::syntax::{field, fields};
use super::calls::Args;
use super::configs::ATTRIBUTE_DICT;
use super::heap::{Dict, Items, Object};
use super::machine::{Eval, Machine, Stop};
use super::ranges::range_length;
use super::value::{Ref, Value};

/// Name of the values `sys.argv[1:]`.
pub const ARGUMENTS: &str = "sys.argv[1:]";

impl<'t> Machine<'t> {
    /// Returns a new set.
    pub fn set(&mut self, items: Vec<Value<'t>>) -> Value<'t> {
        let mut unique: Vec<Value<'t>> = vec![];
        let open = items.contains(&Value::Unknown);
        for item in items {
            if !unique.contains(&item) {
                unique.push(item);
            }
        }
        Value::Object(self.heap.add(Object::Set(Items { items: unique, open })))
    }

    /// Returns a list with unknown items.
    pub fn open_list(&mut self) -> Value<'t> {
        Value::Object(self.heap.add(Object::List(Items { items: vec![], open: true })))
    }

    /// Returns the values of a loop over `value`, if all are known.
    pub fn iterated(&mut self, value: &Value<'t>) -> Option<Vec<Value<'t>>> {
        match value {
            Value::Tensor(tensor) => self.rows(&tensor.clone()),
            _ => self.items(value).or_else(|| self.array_items(value)),
        }
    }

    /// Returns the common value of the items of an iterable.
    pub fn element(&mut self, value: &Value<'t>) -> Value<'t> {
        match value {
            Value::Tensor(tensor) => self.row(&tensor.clone()),
            Value::Object(_) => self.batch_of(value),
            _ => Value::Unknown,
        }
    }

    /// Returns the length of a container, if it is known.
    pub fn length(&self, value: &Value<'t>) -> Option<i64> {
        let length = match value {
            Value::Tuple(items) => items.len(),
            Value::Str(text) => text.chars().count(),
            Value::Range(start, stop, step) => return range_length(*start, *stop, *step),
            Value::Tensor(tensor) => return tensor.dim(0),
            Value::Object(object) => match self.heap.get(*object) {
                Object::List(list) | Object::Set(list) if !list.open => list.items.len(),
                Object::Dict(dict) if !dict.open => dict.entries.len(),
                Object::Instance(_) => self.container_items(*object)?.len(),
                _ => return None,
            },
            _ => return None,
        };
        i64::try_from(length).ok()
    }

    /// Returns `Some(true)` for objects that are true in a condition because they have no length.
    ///
    /// These objects are classes, files, and PyTorch modules whose class is in the script and has neither
    /// `__len__` nor `__bool__`. Returns `None` for every object of another kind.
    pub fn is_true_object(&self, value: &Value<'t>) -> Option<bool> {
        match self.heap.get(value.object()?) {
            Object::Class(_) | Object::Scope(_) => Some(true),
            Object::Instance(instance) => {
                let is_plain = self.is_module(value) == Some(true) && !instance.open;
                let has_length = match instance.class {
                    Value::Object(class) => {
                        self.class_attribute(class, "__len__", None).is_ok()
                            || self.class_attribute(class, "__bool__", None).is_ok()
                    }
                    _ => true,
                };
                (is_plain && !has_length).then_some(true)
            }
            _ => None,
        }
    }

    /// Sets an entry of a dictionary.
    pub fn set_entry(&mut self, dict: &Value<'t>, key: Value<'t>, value: Value<'t>) {
        let Some(object) = dict.object() else { return };
        if let Object::Dict(dict) = self.heap.get_mut(object) {
            if is_key(&key) {
                dict.set(key, value);
            } else {
                dict.open = true;
                // The unknown key may be that of any entry.
                for (_, known) in &mut dict.entries {
                    *known = Value::Unknown;
                }
            }
        }
    }

    /// Adds the entries of another mapping to a dictionary.
    pub fn update_dict(&mut self, dict: &Value<'t>, other: &Value<'t>) {
        let other = other.object().and_then(|object| self.heap.dict(object)).cloned();
        let other = other.unwrap_or(Dict { entries: vec![], open: true });
        for (key, value) in other.entries {
            self.set_entry(dict, key, value);
        }
        if other.open
            && let Some(object) = dict.object()
            && let Object::Dict(dict) = self.heap.get_mut(object)
        {
            dict.open = true;
            // Unknown entries may replace known ones.
            for (_, value) in &mut dict.entries {
                *value = Value::Unknown;
            }
        }
    }

    /// Evaluates `x[…]`.
    pub fn subscript(&mut self, node: Node<'t>) -> Eval<'t> {
        let object = self.evaluate_optional(field(node, "value"))?;
        let index = self.index(node)?;
        self.check_result_index(&object, &index, node)?;
        let item = self.item(&object, &index, node)?;
        if !matches!(object, Value::Tensor(_)) {
            self.note_stale(&item, node);
        }
        Ok(item)
    }

    fn index(&mut self, node: Node<'t>) -> Eval<'t> {
        let parts = fields(node, "subscript");
        let mut cursor = node.walk();
        let has_comma = node.children(&mut cursor).any(|child| child.kind() == ",");
        match parts.as_slice() {
            [only] if !has_comma => self.evaluate(*only),
            parts => Ok(self.sequence(parts)?.map_or(Value::Unknown, Value::tuple)),
        }
    }

    /// Returns an item.
    pub fn item(&mut self, object: &Value<'t>, index: &Value<'t>, node: Node<'t>) -> Eval<'t> {
        match object {
            Value::Tensor(tensor) => {
                let item = self.tensor_item(&tensor.clone(), index, node)?;
                Ok(self.deviate_item(object, index, item, node))
            }
            Value::Tuple(items) => Ok(match index {
                Value::Slice(slice) => sliced(items, slice).map_or(Value::Unknown, Value::tuple),
                index => at(items, index),
            }),
            Value::Str(text) => {
                let letters: Vec<Value<'t>> =
                    text.chars().map(|letter| Value::str(&letter.to_string())).collect();
                Ok(match index {
                    Value::Slice(slice) => sliced(&letters, slice).map_or(Value::Unknown, |letters| {
                        Value::str(&letters.iter().filter_map(Value::text).collect::<String>())
                    }),
                    index => at(&letters, index),
                })
            }
            Value::Range(..) => {
                let items = self.items(object).unwrap_or_default();
                Ok(at(&items, index))
            }
            Value::Object(reference) => match self.array_tensor(object) {
                Some(array) => {
                    let item = self.tensor_item(&array, index, node)?;
                    Ok(self.array_like(&item))
                }
                None => self.object_item(object, *reference, index, node),
            },
            // The arguments of the script, which `parse_args` may get.
            Value::Name(path) if &**path == "sys.argv" && matches!(index, Value::Slice(_)) => {
                Ok(Value::name(ARGUMENTS))
            }
            _ => Ok(Value::Unknown),
        }
    }

    fn object_item(
        &mut self,
        object: &Value<'t>,
        reference: Ref,
        index: &Value<'t>,
        node: Node<'t>,
    ) -> Eval<'t> {
        match self.heap.get(reference) {
            Object::List(list) if !list.open => match index {
                Value::Slice(slice) => {
                    let items = sliced(&list.items, slice);
                    Ok(items.map_or(Value::Unknown, |items| self.list(items)))
                }
                index => Ok(at(&list.items, index)),
            },
            Object::Dict(dict) => Ok(match dict.get(index) {
                Some(value) if !dict.open => value.clone(),
                _ => Value::Unknown,
            }),
            Object::Instance(instance) if instance.class.path() == Some(ATTRIBUTE_DICT) => {
                Ok(index.text().and_then(|key| instance.get(key)).cloned().unwrap_or_default())
            }
            Object::Instance(instance) => {
                let class = instance.class.clone();
                match self.special_method(object, &class, "__getitem__", &Args::of(node, vec![index.clone()]))
                {
                    Some(result) => result,
                    None => self.container_item(reference, index, node),
                }
            }
            _ => Ok(Value::Unknown),
        }
    }

    /// Calls a special method of an instance.
    ///
    /// Returns `None` if the class of the instance is not in the script, or does not define the method.
    fn special_method(
        &mut self,
        object: &Value<'t>,
        class: &Value<'t>,
        name: &str,
        args: &Args<'t>,
    ) -> Option<Eval<'t>> {
        match self.class_attribute(class.object()?, name, None) {
            Ok(Value::Function(function)) => Some(self.call_function(&function, Some(object.clone()), args)),
            _ => None,
        }
    }

    /// Returns the length of a container, also if a method `__len__` of the script computes it.
    pub fn length_by_method(&mut self, value: &Value<'t>, node: Node<'t>) -> Option<i64> {
        let class = value.object().and_then(|object| self.heap.instance(object)).map(|one| one.class.clone());
        let Some(class) = class else { return self.length(value) };
        self.special_method(value, &class, "__len__", &Args::of(node, Vec::new()))?.ok()?.int()
    }

    /// Runs `x[…] = value`.
    pub fn assign_item(&mut self, target: Node<'t>, value: &Value<'t>) -> Result<(), Stop> {
        let object = self.evaluate_optional(field(target, "value"))?;
        let index = self.index(target)?;
        self.forget_holder(&object, target);
        match &object {
            Value::Tensor(tensor) => self.write_item(&tensor.clone(), &index, value, target)?,
            // A write to an array changes neither its shape nor its dtype.
            Value::Object(_) if let Some(array) = self.array_tensor(&object) => self.write(&array),
            Value::Object(reference) => match self.heap.get_mut(*reference) {
                Object::Dict(_) => self.set_entry(&object, index, value.clone()),
                Object::List(list) => match index.int().and_then(|index| place(index, list.items.len())) {
                    Some(at) if !list.open => list.items[at] = value.clone(),
                    _ => {
                        list.items.clear();
                        list.open = true;
                    }
                },
                Object::Instance(_) => {
                    if let Some(index) = index.int()
                        && self.container_items(*reference).is_some()
                    {
                        self.check_index(*reference, index, target)?;
                        match self.named_item(*reference, index) {
                            Some((name, _)) => self.set_attribute(&object, &name, value.clone()),
                            None => self.forget(&object),
                        }
                    } else if let Value::Str(name) = &index
                        && self.container_items(*reference).is_some()
                    {
                        self.set_attribute(&object, &name.clone(), value.clone());
                    } else {
                        self.forget(&object);
                    }
                }
                _ => {}
            },
            _ => {}
        }
        Ok(())
    }

    /// Returns the product of the items of a tuple, if all are known.
    pub fn product_of(&self, sizes: &Value<'t>) -> Value<'t> {
        let items = self.items(sizes).unwrap_or(vec![Value::Unknown]);
        let product = items.iter().try_fold(1i64, |product, item| product.checked_mul(item.int()?));
        Value::size(product)
    }
}

/// Returns true if a value, as a key of a dictionary, can be compared with other keys.
pub fn is_key(key: &Value) -> bool {
    match key {
        Value::Unknown | Value::Tensor(_) => false,
        Value::Tuple(items) => items.iter().all(is_key),
        _ => true,
    }
}

/// Returns the item at an index.
fn at<'t>(items: &[Value<'t>], index: &Value<'t>) -> Value<'t> {
    let at = index.int().and_then(|index| place(index, items.len()));
    at.map_or(Value::Unknown, |at| items[at].clone())
}

/// Returns the position of an index, which counts from the end if it is negative.
pub fn place(index: i64, length: usize) -> Option<usize> {
    super::tensor::axis_index(index, length)
}

/// Returns the items of a slice, if its bounds are known.
fn sliced<'t>(items: &[Value<'t>], slice: &[Value<'t>; 3]) -> Option<Vec<Value<'t>>> {
    let length = i64::try_from(items.len()).ok()?;
    let positions = slice_positions(slice, length)?;
    Some(positions.into_iter().filter_map(|at| items.get(usize::try_from(at).ok()?).cloned()).collect())
}

/// Returns the positions that a slice selects from `length` items, if its bounds are known.
pub fn slice_positions(slice: &[Value; 3], length: i64) -> Option<Vec<i64>> {
    let bound = |part: &Value| match part {
        Value::None => Some(None),
        part => part.int().map(Some),
    };
    let (start, stop, step) = (bound(&slice[0])?, bound(&slice[1])?, bound(&slice[2])?.unwrap_or(1));
    let (low, high) = if step < 0 { (-1, length - 1) } else { (0, length) };
    let clamp = |bound: i64| (if bound < 0 { bound + length } else { bound }).clamp(low, high);
    let (first, last) = if step < 0 { (high, low) } else { (low, high) };
    let (start, stop) = (start.map_or(first, clamp), stop.map_or(last, clamp));
    let count = range_length(start, stop, step)?.min(MAX_SLICE);
    Some((0..count).map(|at| start + at * step).collect())
}

/// Maximum number of items of a slice.
const MAX_SLICE: i64 = 100_000;
