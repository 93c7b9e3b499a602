//! Mutable objects of a script.
//!
//! A snapshot of the heap is cheap, because chunks of objects are shared until written.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use tree_sitter::Node;

use super::tensor::Tensor;
use super::value::{Ref, Value};

/// A mutable object.
#[derive(Clone, Debug, PartialEq)]
pub enum Object<'t> {
    List(Items<'t>),
    Set(Items<'t>),
    Dict(Dict<'t>),
    Instance(Instance<'t>),
    Class(Class<'t>),
    /// Variables of a file, function call or class body.
    Scope(Scope<'t>),
}

/// Items of a list or set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Items<'t> {
    pub items: Vec<Value<'t>>,
    /// Whether the list or set may have unknown items.
    pub open: bool,
}

/// A dictionary, in insertion order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dict<'t> {
    pub entries: Vec<(Value<'t>, Value<'t>)>,
    /// Whether the dictionary may have unknown entries.
    pub open: bool,
}

/// An instance of a class of the script or of a library.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance<'t> {
    /// `Value::Object` of a class, or `Value::Name` of a library class.
    pub class: Value<'t>,
    /// Attributes in the order of their first assignment. Submodules of a container are named `0`, `1`, ….
    pub attributes: Vec<(Rc<str>, Value<'t>)>,
    /// Whether the instance may have unknown attributes.
    pub open: bool,
    /// Expression that created the instance, preceded by the index of its file.
    pub origin: Option<(usize, Node<'t>)>,
}

/// A class of the script.
#[derive(Clone, Debug, PartialEq)]
pub struct Class<'t> {
    pub name: &'t str,
    pub bases: Vec<Value<'t>>,
    pub attributes: Vec<(Rc<str>, Value<'t>)>,
    /// Names and defaults of the fields; `None` for a class that is no dataclass and no `NamedTuple`.
    pub fields: Option<Vec<(&'t str, Option<Value<'t>>)>>,
    /// Whether a metaclass or a decorator may change the class.
    pub open: bool,
}

/// Variables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scope<'t> {
    pub variables: FxHashMap<Rc<str>, Value<'t>>,
    /// The enclosing scope.
    pub parent: Option<Ref>,
    /// Whether the scope may have unknown variables, after `from library import *`.
    pub open: bool,
    /// Whether this is the top-level scope of a file.
    pub is_file: bool,
}

impl<'t> Dict<'t> {
    /// Returns the value of a key, or `None` if the dictionary lacks the key.
    pub fn get(&self, key: &Value<'t>) -> Option<&Value<'t>> {
        self.entries.iter().find(|(known, _)| known == key).map(|(_, value)| value)
    }

    /// Sets the value of a key.
    pub fn set(&mut self, key: Value<'t>, value: Value<'t>) {
        match self.entries.iter_mut().find(|(known, _)| *known == key) {
            Some(entry) => entry.1 = value,
            None => self.entries.push((key, value)),
        }
    }
}

impl<'t> Instance<'t> {
    /// Returns an attribute of the object itself.
    pub fn get(&self, name: &str) -> Option<&Value<'t>> {
        self.attributes.iter().find(|(known, _)| &**known == name).map(|(_, value)| value)
    }

    /// Sets an attribute.
    pub fn set(&mut self, name: &str, value: Value<'t>) {
        match self.attributes.iter_mut().find(|(known, _)| &**known == name) {
            Some(attribute) => attribute.1 = value,
            None => self.attributes.push((Rc::from(name), value)),
        }
    }
}

impl<'t> Class<'t> {
    /// Returns an attribute of the class itself.
    pub fn get(&self, name: &str) -> Option<&Value<'t>> {
        self.attributes.iter().find(|(known, _)| &**known == name).map(|(_, value)| value)
    }
}

/// All objects.
#[derive(Clone, Debug, Default)]
pub struct Heap<'t> {
    /// All chunks but the last one have [`CHUNK`] objects.
    chunks: Vec<Rc<Vec<Rc<Object<'t>>>>>,
}

/// Number of objects that are copied together.
const CHUNK: usize = 64;

impl<'t> Heap<'t> {
    /// Adds an object.
    pub fn add(&mut self, object: Object<'t>) -> Ref {
        if self.chunks.last().is_none_or(|last| last.len() == CHUNK) {
            self.chunks.push(Rc::default());
        }
        if let Some(last) = self.chunks.last_mut() {
            Rc::make_mut(last).push(Rc::new(object));
        }
        self.len() - 1
    }

    /// Returns the number of objects.
    pub fn len(&self) -> usize {
        self.chunks.last().map_or(0, |last| (self.chunks.len() - 1) * CHUNK + last.len())
    }

    /// Returns an object.
    pub fn get(&self, object: Ref) -> &Object<'t> {
        &self.chunks[object / CHUNK][object % CHUNK]
    }

    /// Returns a mutable reference to an object.
    pub fn get_mut(&mut self, object: Ref) -> &mut Object<'t> {
        let chunk = Rc::make_mut(&mut self.chunks[object / CHUNK]);
        Rc::make_mut(&mut chunk[object % CHUNK])
    }

    /// Replaces a tensor in all objects that refer to it.
    pub fn replace_tensor(&mut self, old: &Rc<Tensor<'t>>, new: &Value<'t>) {
        for object in 0..self.len() {
            let holds = values(self.get(object)).any(|value| is_tensor(value, old));
            if holds {
                for value in values_mut(self.get_mut(object)).filter(|value| is_tensor(value, old)) {
                    *value = new.clone();
                }
            }
        }
    }

    /// Returns the current state.
    pub fn snapshot(&self) -> Heap<'t> {
        self.clone()
    }

    /// Restores the objects of a snapshot. Objects created after the snapshot stay, so that no
    /// reference is reused.
    ///
    /// Returns the heap from before the restoration.
    pub fn restore(&mut self, snapshot: &Heap<'t>) -> Heap<'t> {
        let before = self.clone();
        for (chunk, old) in self.chunks.iter_mut().zip(&snapshot.chunks) {
            if chunk.len() == old.len() {
                *chunk = old.clone();
            } else {
                Rc::make_mut(chunk)[..old.len()].clone_from_slice(old);
            }
        }
        before
    }

    /// Joins the state of each object with its state on another execution path.
    pub fn join(&mut self, other: &Heap<'t>) {
        for (chunk, others) in self.chunks.iter_mut().zip(&other.chunks) {
            if Rc::ptr_eq(chunk, others) {
                continue;
            }
            for (object, other) in Rc::make_mut(chunk).iter_mut().zip(&**others) {
                if !Rc::ptr_eq(object, other) && **object != **other {
                    let joined = join((**object).clone(), other);
                    *object = Rc::new(joined);
                }
            }
        }
    }

    /// Returns true if all objects of `snapshot` are unchanged.
    pub fn is_unchanged_since(&self, snapshot: &Heap<'t>) -> bool {
        self.chunks.iter().zip(&snapshot.chunks).all(|(chunk, old)| {
            let is_same = |(object, old): (&Rc<Object<'t>>, &Rc<Object<'t>>)| {
                Rc::ptr_eq(object, old) || **object == **old
            };
            Rc::ptr_eq(chunk, old) || chunk.iter().zip(&**old).all(is_same)
        })
    }

    /// Returns an instance.
    pub fn instance(&self, object: Ref) -> Option<&Instance<'t>> {
        match self.get(object) {
            Object::Instance(instance) => Some(instance),
            _ => None,
        }
    }

    /// Returns a mutable reference to an instance.
    pub fn instance_mut(&mut self, object: Ref) -> Option<&mut Instance<'t>> {
        match self.get_mut(object) {
            Object::Instance(instance) => Some(instance),
            _ => None,
        }
    }

    /// Returns a class.
    pub fn class(&self, object: Ref) -> Option<&Class<'t>> {
        match self.get(object) {
            Object::Class(class) => Some(class),
            _ => None,
        }
    }

    /// Returns a scope.
    pub fn scope(&self, object: Ref) -> Option<&Scope<'t>> {
        match self.get(object) {
            Object::Scope(scope) => Some(scope),
            _ => None,
        }
    }

    /// Returns a mutable reference to a scope.
    pub fn scope_mut(&mut self, object: Ref) -> Option<&mut Scope<'t>> {
        match self.get_mut(object) {
            Object::Scope(scope) => Some(scope),
            _ => None,
        }
    }

    /// Returns a dictionary.
    pub fn dict(&self, object: Ref) -> Option<&Dict<'t>> {
        match self.get(object) {
            Object::Dict(dict) => Some(dict),
            _ => None,
        }
    }
}

/// Returns the values to which an object refers, besides the keys of dictionaries.
fn values<'a, 't>(object: &'a Object<'t>) -> Box<dyn Iterator<Item = &'a Value<'t>> + 'a> {
    match object {
        Object::List(list) | Object::Set(list) => Box::new(list.items.iter()),
        Object::Dict(dict) => Box::new(dict.entries.iter().map(|(_, value)| value)),
        Object::Instance(instance) => Box::new(instance.attributes.iter().map(|(_, value)| value)),
        Object::Class(class) => Box::new(class.attributes.iter().map(|(_, value)| value)),
        Object::Scope(scope) => Box::new(scope.variables.values()),
    }
}

/// Returns the values to which an object refers, besides the keys of dictionaries.
fn values_mut<'a, 't>(object: &'a mut Object<'t>) -> Box<dyn Iterator<Item = &'a mut Value<'t>> + 'a> {
    match object {
        Object::List(list) | Object::Set(list) => Box::new(list.items.iter_mut()),
        Object::Dict(dict) => Box::new(dict.entries.iter_mut().map(|(_, value)| value)),
        Object::Instance(instance) => Box::new(instance.attributes.iter_mut().map(|(_, value)| value)),
        Object::Class(class) => Box::new(class.attributes.iter_mut().map(|(_, value)| value)),
        Object::Scope(scope) => Box::new(scope.variables.values_mut()),
    }
}

fn is_tensor<'t>(value: &Value<'t>, tensor: &Rc<Tensor<'t>>) -> bool {
    matches!(value, Value::Tensor(other) if Rc::ptr_eq(other, tensor))
}

fn join<'t>(object: Object<'t>, other: &Object<'t>) -> Object<'t> {
    match (object, other) {
        (Object::List(a), Object::List(b)) => Object::List(join_items(a, b)),
        (Object::Set(a), Object::Set(b)) => Object::Set(join_items(a, b)),
        (Object::Dict(a), Object::Dict(b)) => {
            let same = a.entries.len() == b.entries.len()
                && a.entries.iter().zip(&b.entries).all(|((a, _), (b, _))| a == b);
            let entries = a.entries.into_iter().filter_map(|(key, value)| {
                let other = b.get(&key)?;
                Some((key, value.join(other)))
            });
            Object::Dict(Dict { entries: entries.collect(), open: a.open || b.open || !same })
        }
        (Object::Instance(a), Object::Instance(b)) => Object::Instance(Instance {
            class: a.class.join(&b.class),
            open: a.open || b.open || a.attributes.len() != b.attributes.len(),
            attributes: join_named(a.attributes, &b.attributes),
            origin: a.origin,
        }),
        (Object::Class(a), Object::Class(b)) => Object::Class(Class {
            open: a.open || b.open || a.attributes.len() != b.attributes.len(),
            attributes: join_named(a.attributes, &b.attributes),
            ..a
        }),
        (Object::Scope(mut a), Object::Scope(b)) => {
            for (name, value) in &b.variables {
                let mine = a.variables.remove(name);
                // A name that only one path binds is unknown, not unbound.
                let joined = mine.map_or(Value::Unknown, |mine| mine.join(value));
                a.variables.insert(name.clone(), joined);
            }
            for (name, value) in &mut a.variables {
                if !b.variables.contains_key(name) {
                    *value = Value::Unknown;
                }
            }
            a.open |= b.open;
            Object::Scope(a)
        }
        (object, _) => object,
    }
}

fn join_items<'t>(a: Items<'t>, b: &Items<'t>) -> Items<'t> {
    let open = a.open || b.open || a.items.len() != b.items.len();
    // Items of two lists of different lengths are not comparable by position.
    if open {
        return Items { items: vec![], open };
    }
    Items { items: a.items.into_iter().zip(&b.items).map(|(a, b)| a.join(b)).collect(), open }
}

fn join_named<'t>(a: Vec<(Rc<str>, Value<'t>)>, b: &[(Rc<str>, Value<'t>)]) -> Vec<(Rc<str>, Value<'t>)> {
    let value = |name: &Rc<str>| b.iter().find(|(known, _)| known == name).map(|(_, value)| value);
    let mut joined: Vec<_> = a
        .into_iter()
        .map(|(name, mine)| {
            let other = value(&name).map_or(Value::Unknown, |other| mine.join(other));
            (name, other)
        })
        .collect();
    for (name, _) in b {
        if !joined.iter().any(|(known, _)| known == name) {
            joined.push((name.clone(), Value::Unknown));
        }
    }
    joined
}
