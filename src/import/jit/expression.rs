//! Evaluation of the expressions of TorchScript code.

use std::rc::Rc;
use std::sync::Arc;

use super::fault::Fault;
use super::interpreter::{Interpreter, Variables};
use super::item::Item;
use super::item::{Dict, List, STORED};
use crate::read::jit::ast::Expression;
use crate::read::jit::objects::{ObjectId, Stored};
use crate::torch::Type;

/// Maximum nesting of stored lists and dictionaries, and of example inputs.
pub const MAX_OBJECTS: usize = 32;

/// Returns a tuple.
pub fn tuple(members: Vec<Item>) -> Item {
    Item::Tuple(Rc::new(members.into()))
}

impl<'a> Interpreter<'a> {
    /// Evaluates an expression.
    pub fn evaluate(&mut self, expression: &'a Expression, variables: &mut Variables) -> Result<Item, Fault> {
        self.nested(|own| own.evaluated(expression, variables))
    }

    fn evaluated(&mut self, expression: &'a Expression, variables: &mut Variables) -> Result<Item, Fault> {
        Ok(match expression {
            Expression::None => Item::None,
            Expression::Bool(truth) => Item::Bool(*truth),
            Expression::Int(int) => Item::Int(*int),
            Expression::Float(float) => Item::Float(*float),
            Expression::Str(text) => Item::Str(text.clone()),
            Expression::Name(name) => match variables.get(name) {
                Some(Item::Unmerged(why)) => return Err(why.to_string().into()),
                Some(item) => item.clone(),
                None if &**name == "inf" => Item::Float(f64::INFINITY),
                None if &**name == "nan" => Item::Float(f64::NAN),
                None => return Err(format!("`{name}` is not defined").into()),
            },
            Expression::List(members) => {
                let members = self.all(members, variables)?;
                self.list(members)
            }
            Expression::Tuple(members) => tuple(self.all(members, variables)?),
            Expression::Dict(members) => {
                let mut items = Vec::new();
                for (key, value) in members {
                    items.push((self.evaluate(key, variables)?, self.evaluate(value, variables)?));
                }
                self.dict(items)
            }
            Expression::Negate(operand) => {
                let operand = self.evaluate(operand, variables)?;
                self.call_op("aten", "neg", vec![operand], Vec::new())?
            }
            Expression::Attribute(object, name) => return self.dotted(expression, object, name, variables),
            Expression::Index(object, index) => {
                let object = self.evaluate(object, variables)?;
                let index = self.evaluate(index, variables)?;
                self.indexed(&object, &index)?
            }
            Expression::Call(callee, given, named) => self.call(callee, given, named, variables)?,
        })
    }

    fn all(&mut self, members: &'a [Expression], variables: &mut Variables) -> Result<Vec<Item>, Fault> {
        self.charge(members.len())?;
        members.iter().map(|member| self.evaluate(member, variables)).collect()
    }

    /// Returns a new list.
    pub fn list(&self, items: Vec<Item>) -> Item {
        Item::List(List::new(items, self.recorder.depth))
    }

    /// Returns a new dictionary.
    pub fn dict(&self, items: Vec<(Item, Item)>) -> Item {
        Item::Dict(Dict::new(items, self.recorder.depth))
    }

    /// Evaluates `object.name`: an attribute, a constant, or the qualified name of a function.
    fn dotted(
        &mut self,
        whole: &'a Expression,
        object: &'a Expression,
        name: &Arc<str>,
        variables: &mut Variables,
    ) -> Result<Item, Fault> {
        if let Some(path) = whole.dotted() {
            if path.starts_with("__torch__.") {
                return Ok(Item::Function(path.into()));
            }
            if let Some(number) =
                path.strip_prefix("CONSTANTS.c").and_then(|number| number.parse::<usize>().ok())
            {
                let constants = &self.archive.constants;
                return match constants.get(constants.root) {
                    Stored::List(members) if number < members.len() => {
                        self.stored(true, members[number], &path)
                    }
                    _ => Err(format!("the constant `{path}` is missing").into()),
                };
            }
        }
        match self.evaluate(object, variables)? {
            Item::Object(object) => self.attribute(object, name),
            other => Err(format!("it reads the attribute `{name}` of {}", other.kind()).into()),
        }
    }

    /// Returns an attribute of an object of the archive.
    pub fn attribute(&mut self, object: ObjectId, name: &Arc<str>) -> Result<Item, Fault> {
        if let Some(item) = self.attributes.get(&(object, name.clone())) {
            return Ok(item.clone());
        }
        let archive = self.archive;
        let Stored::Instance(class, fields) = archive.modules.get(object) else {
            return Err(format!("it reads the attribute `{name}` of an object that has none").into());
        };
        let owner = self.paths.get(&object).cloned().unwrap_or_default();
        let path = if owner.is_empty() { name.to_string() } else { format!("{owner}.{name}") };
        if let Some((_, id)) = fields.iter().find(|(field, _)| field == name) {
            return self.stored(false, *id, &path);
        }
        let constant = archive.class(class).and_then(|(_, class)| class.constants.get(name));
        match constant {
            Some(constant) => self.evaluate(constant, &mut Variables::default()),
            None => Err(format!("`{path}` is not stored in the archive").into()),
        }
    }

    /// Converts an object of `constants.pkl` or `data.pkl`.
    fn stored(&mut self, is_constant: bool, id: ObjectId, path: &str) -> Result<Item, Fault> {
        let archive = self.archive;
        let objects = if is_constant { &archive.constants } else { &archive.modules };
        Ok(match objects.get(id) {
            Stored::None => Item::None,
            Stored::Bool(truth) => Item::Bool(*truth),
            Stored::Int(int) => Item::Int(*int),
            Stored::Float(float) => Item::Float(*float),
            Stored::Str(text) => Item::Str(text.clone()),
            Stored::Tensor(tensor) => {
                if is_constant && let Some(scalar) = super::numbers::scalar(&tensor.tensor) {
                    return Ok(scalar);
                }
                if let Some(&value) = self.lifted.get(&(is_constant, id)) {
                    return Ok(Item::Tensor(value));
                }
                let value = self.recorder.lift_laid_out(path, tensor.tensor.clone(), tensor.strides.clone());
                if is_constant {
                    let why = "it writes into a constant, which later runs would read";
                    self.recorder.fixed.insert(value, why);
                } else if objects.shared.contains(&id) {
                    let why = "it writes into a tensor whose storage another tensor of the archive uses";
                    self.recorder.fixed.insert(value, why);
                }
                if !is_constant {
                    self.recorder.state.insert(self.recorder.trace.value(value).name.to_string());
                }
                self.lifted.insert((is_constant, id), value);
                Item::Tensor(value)
            }
            Stored::List(members) => {
                if let Some(kept) = self.kept.get(&(is_constant, id)) {
                    return Ok(kept.clone());
                }
                let mut items = Vec::new();
                for (at, id) in members.iter().enumerate() {
                    items.push(self.member(is_constant, *id, &format!("{path}.{at}"))?);
                }
                let list = Item::List(List::new(items, STORED));
                self.kept.insert((is_constant, id), list.clone());
                list
            }
            Stored::Dict(members) => {
                if let Some(kept) = self.kept.get(&(is_constant, id)) {
                    return Ok(kept.clone());
                }
                let mut items = Vec::new();
                for (key, value) in members {
                    items.push((
                        self.member(is_constant, *key, path)?,
                        self.member(is_constant, *value, path)?,
                    ));
                }
                let dict = Item::Dict(Dict::new(items, STORED));
                self.kept.insert((is_constant, id), dict.clone());
                dict
            }
            Stored::Instance(..) => {
                self.paths.entry(id).or_insert_with(|| path.to_owned());
                Item::Object(id)
            }
            Stored::Example(..) => return Err(format!("the elements of `{path}` are not stored").into()),
            Stored::Unsupported(why) => return Err(format!("`{path}` cannot be read: {why}").into()),
        })
    }

    /// Converts a member of a stored list or dictionary, which may contain itself.
    fn member(&mut self, is_constant: bool, id: ObjectId, path: &str) -> Result<Item, Fault> {
        self.objects += 1;
        if self.objects > MAX_OBJECTS {
            return Err(format!("the lists of `{path}` are nested too deeply").into());
        }
        let item = self.stored(is_constant, id, path);
        self.objects -= 1;
        item
    }

    /// Evaluates a call.
    fn call(
        &mut self,
        callee: &'a Expression,
        given: &'a [Expression],
        named: &'a [(Arc<str>, Expression)],
        variables: &mut Variables,
    ) -> Result<Item, Fault> {
        let path = callee.dotted();
        let is_local = match callee {
            Expression::Name(name) => variables.contains_key(name),
            _ => false,
        };
        // The first argument of these forms is a type.
        match (path.as_deref().filter(|_| !is_local), given) {
            (Some("annotate" | "unchecked_cast"), [_, value]) => return self.evaluate(value, variables),
            (Some("uninitialized"), _) => return Ok(Item::Uninitialized),
            (Some("isinstance"), [value, ty]) => {
                let value = self.evaluate(value, variables)?;
                return self.is_instance(&value, ty);
            }
            _ => {}
        }
        let arguments = self.all(given, variables)?;
        let mut by_name = Vec::new();
        for (name, value) in named {
            by_name.push((name.clone(), self.evaluate(value, variables)?));
        }
        if let Some(path) = path.filter(|_| !is_local) {
            if let Some(op) = path.strip_prefix("torch.") {
                return self.call_op("aten", op, arguments, by_name);
            }
            if let Some((namespace, op)) = path.strip_prefix("ops.").and_then(|op| op.split_once('.')) {
                return self.call_op(namespace, op, arguments, by_name);
            }
            if path.starts_with("__torch__.") {
                return self.call_qualified(&path, arguments, by_name);
            }
            if !path.contains('.') {
                return self.builtin(&path, arguments);
            }
        }
        if let Expression::Attribute(object, method) = callee
            && let Item::Object(object) = self.evaluate(object, variables)?
        {
            return self.method(object, method, arguments, by_name);
        }
        match self.evaluate(callee, variables)? {
            Item::Function(path) => self.call_qualified(&path, arguments, by_name),
            other => Err(format!("it calls {}", other.kind()).into()),
        }
    }

    /// Calls a function, or creates an instance of a named tuple.
    fn call_qualified(
        &mut self,
        path: &str,
        given: Vec<Item>,
        named: Vec<(Arc<str>, Item)>,
    ) -> Result<Item, Fault> {
        if let Some(found) = self.archive.function(path) {
            return self.function(found, given, named);
        }
        match self.archive.class(path) {
            Some((_, class)) if &*class.base == "NamedTuple" && named.is_empty() => Ok(tuple(given)),
            Some(_) => Err(format!("it creates an object of class `{path}`").into()),
            None => Err(format!("the archive has no function `{path}`").into()),
        }
    }

    /// Calls a method of a module.
    pub fn method(
        &mut self,
        object: ObjectId,
        method: &str,
        given: Vec<Item>,
        named: Vec<(Arc<str>, Item)>,
    ) -> Result<Item, Fault> {
        let archive = self.archive;
        let Stored::Instance(class, _) = archive.modules.get(object) else {
            return Err(format!("it calls the method `{method}` of an object that has none").into());
        };
        let Some((file, found)) = archive.class(class) else {
            return Err(format!("the archive has no class `{class}`").into());
        };
        let function = found
            .methods
            .get(method)
            .ok_or_else(|| format!("the class `{class}` has no method `{method}`"))?;
        let path = self.paths.get(&object).cloned().unwrap_or_default();
        let scope = if path.is_empty() { String::new() } else { format!("/{path}") };
        let outer = std::mem::replace(&mut self.recorder.scope, scope.into());
        let arguments = [Item::Object(object)].into_iter().chain(given).collect();
        let returned = self.function((file, function), arguments, named);
        self.recorder.scope = outer;
        returned
    }

    /// Decides `isinstance`; the types of values are known, except those of computed numbers.
    fn is_instance(&self, value: &Item, ty: &Expression) -> Result<Item, Fault> {
        let names: Option<Vec<String>> = match ty {
            Expression::Tuple(members) | Expression::List(members) => {
                members.iter().map(Expression::dotted).collect::<Option<_>>()
            }
            one => one.dotted().map(|name| vec![name]),
        };
        let names = names.ok_or("it tests for an unsupported type")?;
        let own = match value {
            Item::None => "NoneType",
            Item::Bool(_) => "bool",
            Item::Int(_) => "int",
            Item::Float(_) => "float",
            Item::Str(_) => "str",
            Item::Tensor(_) | Item::Scalar(..) => "Tensor",
            Item::Computed(value) => match self.recorder.ty(*value) {
                Type::Float => "float",
                Type::Bool => "bool",
                _ => "int",
            },
            other => return Err(format!("it tests the type of {}", other.kind()).into()),
        };
        Ok(Item::Bool(names.iter().any(|name| name == own)))
    }
}
