//! Inputs of a program: their names, types and example values.

use std::str::FromStr;

use super::expression::{MAX_OBJECTS, tuple};
use super::fault::Fault;
use super::interpreter::{Interpreter, Variables};
use super::item::Item;
use super::recorder::tensor;
use crate::diag::Place;
use crate::diag::rule_ids::NOT_CONVERTIBLE;
use crate::graph::ElemType;
use crate::graph::dim::Dim;
use crate::read::jit::ast::{Expression, Function, Param};
use crate::read::jit::objects::{ObjectId, Objects, Stored};

/// Maximum number of inputs.
const MAX_INPUTS: usize = 1 << 12;

/// Shape of an input that the caller declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputShape {
    /// Name of the input.
    pub input: String,
    /// Sizes: numbers, or names of dynamic sizes.
    pub dims: Vec<Dim>,
    /// Dtype; `None` for the recorded one, or float32.
    pub elem: Option<ElemType>,
}

impl FromStr for InputShape {
    type Err = String;

    /// Parses `images=batch,3,224,224` or `ids=batch,length:int64`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (input, rest) = text.rsplit_once('=').ok_or("write INPUT=DIMS, as in images=batch,3,224,224")?;
        let (dims, elem) = match rest.rsplit_once(':') {
            Some((dims, dtype)) => {
                (dims, Some(elem_of(dtype).ok_or_else(|| format!("`{dtype}` is not a dtype"))?))
            }
            None => (rest, None),
        };
        let dim = |dim: &str| match dim.trim().parse::<i64>() {
            Ok(size) if size >= 0 => Ok(Dim::known(size)),
            Err(_) if is_identifier(dim.trim()) => Ok(Dim::symbol(dim.trim())),
            _ => Err(format!("`{dim}` is neither a size nor a name")),
        };
        // A scalar has no dims: `scale=`.
        let dims = dims.split(',').filter(|dim| !dim.is_empty()).map(dim).collect::<Result<_, _>>()?;
        Ok(InputShape { input: input.to_owned(), dims, elem })
    }
}

/// Returns true for a name, which is not an expression such as `n-1`.
fn is_identifier(text: &str) -> bool {
    let is_part = |char: char| char.is_alphanumeric() || char == '_';
    text.chars().all(is_part) && text.starts_with(|char: char| char.is_alphabetic() || char == '_')
}

/// Returns the element type for the name of a dtype: `int64`, or `torch.int64`.
fn elem_of(name: &str) -> Option<ElemType> {
    let name = name.trim().trim_start_matches("torch.");
    const NAMES: [(&str, ElemType); 5] = [
        ("float32", ElemType::Float),
        ("float64", ElemType::Double),
        ("long", ElemType::Int64),
        ("half", ElemType::Float16),
        ("int", ElemType::Int32),
    ];
    let known = NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, elem)| elem);
    known.or_else(|| name.parse().ok())
}

impl<'a> Interpreter<'a> {
    /// Declares the inputs of the program, and returns the arguments of `forward`.
    pub fn inputs(&mut self, forward: &'a Function, shapes: &[InputShape]) -> Result<Vec<Item>, Fault> {
        let archive = self.archive;
        let recorded = archive.inputs.as_ref().map(|objects| (objects, example(objects)));
        let mut items = Vec::new();
        for (position, param) in forward.params.iter().skip(1).enumerate() {
            let name = &*param.name;
            let example = recorded.as_ref().and_then(|(objects, ids)| Some((*objects, *ids.get(position)?)));
            let declared: Vec<&InputShape> = shapes
                .iter()
                .filter(|shape| shape.input == name || shape.input.strip_prefix(name).is_some_and(is_place))
                .collect();
            let item = match (declared.is_empty(), example, &param.default) {
                (false, ..) | (true, Some(_), _) => {
                    self.example(name, example, param.ty.as_ref(), &declared)?
                }
                (true, None, Some(default)) => self.evaluate(default, &mut Variables::default())?,
                (true, None, None) if self.lenient && is_tensor(param) => {
                    Item::Tensor(self.recorder.input(name, tensor(None, None)))
                }
                (true, None, None) if is_number(param) => {
                    return Err(format!("the input `{name}` is a number without a default value").into());
                }
                (true, None, None) => return Err(self.unknown(forward)),
            };
            items.push(item);
        }
        self.all_used(shapes)?;
        Ok(items)
    }

    /// Checks that each declared shape is that of one input.
    fn all_used(&self, shapes: &[InputShape]) -> Result<(), Fault> {
        let trace = &self.recorder.trace;
        let inputs = &trace.block(trace.body).inputs;
        let names: Vec<&str> = inputs.iter().map(|input| &*trace.value(*input).name).collect();
        for (place, shape) in shapes.iter().enumerate() {
            let input = &shape.input;
            let message = match () {
                () if !names.contains(&input.as_str()) => {
                    format!("the program has no input `{input}`, whose shape is declared")
                }
                () if shapes[..place].iter().any(|other| other.input == *input) => {
                    format!("the shape of the input `{input}` is declared twice")
                }
                () => continue,
            };
            let names = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let finding = NOT_CONVERTIBLE.finding(message, Place::File);
            return Err(Fault::Found(vec![finding.help(format!("declare shapes of {names}"))]));
        }
        Ok(())
    }

    /// Adds the inputs for an argument of `forward`: a tensor, or nested tuples and lists of tensors.
    fn example(
        &mut self,
        name: &str,
        example: Option<(&'a Objects, ObjectId)>,
        ty: Option<&Expression>,
        declared: &[&InputShape],
    ) -> Result<Item, Fault> {
        self.charge(1)?;
        if self.objects > MAX_OBJECTS || self.recorder.trace.values.len() > MAX_INPUTS {
            return Err(format!("the example of the input `{name}` is nested too deeply").into());
        }
        let stored = example.map(|(objects, id)| objects.get(id));
        let own = declared.iter().find(|shape| shape.input == name);
        match (stored, own) {
            (_, Some(shape)) => {
                let elem = match stored {
                    Some(Stored::Example(elem, _)) => Some(*elem),
                    _ => None,
                };
                let elem = shape.elem.or(elem).unwrap_or(ElemType::Float);
                let sizes: Vec<_> = shape.dims.iter().cloned().map(Some).collect();
                Ok(Item::Tensor(self.recorder.input(name, tensor(Some(elem), Some(&sizes)))))
            }
            (Some(Stored::Example(elem, dims)), None) => {
                let sizes: Vec<_> = dims.iter().map(|&dim| Some(Dim::known(dim))).collect();
                Ok(Item::Tensor(self.recorder.input(name, tensor(Some(*elem), Some(&sizes)))))
            }
            (Some(Stored::List(members)), None) => {
                let (objects, _) = example.ok_or("an example input is missing")?;
                let inner = members.iter().enumerate().map(|(at, id)| {
                    self.objects += 1;
                    let item = self.example(&format!("{name}_{at}"), Some((objects, *id)), None, declared);
                    self.objects -= 1;
                    item
                });
                let inner: Vec<Item> = inner.collect::<Result<_, _>>()?;
                let is_list = ty.and_then(list_type).is_some();
                Ok(if is_list { self.list(inner) } else { tuple(inner) })
            }
            (Some(Stored::None), None) => Ok(Item::None),
            (Some(Stored::Bool(truth)), None) => Ok(Item::Bool(*truth)),
            (Some(Stored::Int(int)), None) => Ok(Item::Int(*int)),
            (Some(Stored::Float(float)), None) => Ok(Item::Float(*float)),
            (Some(Stored::Str(text)), None) => Ok(Item::Str(text.clone())),
            (Some(Stored::Unsupported(why)), None) => {
                Err(format!("the example of the input `{name}` cannot be read: {why}").into())
            }
            _ => Err(format!("the input `{name}` is neither a tensor nor a number").into()),
        }
    }

    /// Returns the fault for inputs whose shapes are not recorded, with an example of the option.
    fn unknown(&self, forward: &Function) -> Fault {
        let params = forward.params.iter().skip(1).filter(|param| param.default.is_none());
        let shown: Vec<String> =
            params.map(|param| format!("--input-shape {}=batch,3,224,224", param.name)).collect();
        Fault::Shapes(shown.join(" "))
    }
}

/// Returns true for the rest of a name such as `x_0` after `x`.
fn is_place(rest: &str) -> bool {
    rest.strip_prefix('_').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_'))
}

/// Returns the example arguments of `forward`.
fn example(objects: &Objects) -> Vec<ObjectId> {
    let Stored::Dict(methods) = objects.get(objects.root) else { return Vec::new() };
    let of_forward = methods
        .iter()
        .find(|(key, _)| matches!(objects.get(*key), Stored::Str(name) if &**name == "forward"));
    match of_forward.map(|(_, arguments)| objects.get(*arguments)) {
        Some(Stored::List(members)) => members.clone(),
        _ => Vec::new(),
    }
}

fn is_tensor(param: &Param) -> bool {
    matches!(&param.ty, Some(Expression::Name(name)) if &**name == "Tensor")
}

fn is_number(param: &Param) -> bool {
    let ty = param.ty.as_ref().and_then(Expression::dotted);
    ty.is_some_and(|ty| matches!(ty.as_str(), "int" | "float" | "bool" | "str"))
}

/// Returns the element type of `List[…]`.
fn list_type(ty: &Expression) -> Option<&Expression> {
    match ty {
        Expression::Index(name, inner) if name.dotted().as_deref() == Some("List") => Some(inner),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_have_numbers_names_and_a_dtype() {
        let parsed = |text: &str| text.parse::<InputShape>().map(|it| (it.input, it.dims, it.elem));
        let dims = vec![Dim::symbol("batch"), Dim::known(3)];
        assert_eq!(parsed("x=batch,3"), Ok(("x".to_owned(), dims.clone(), None)));
        assert_eq!(parsed("a=b=batch,3:int64"), Ok(("a=b".to_owned(), dims, Some(ElemType::Int64))));
        assert_eq!(parsed("scale="), Ok(("scale".to_owned(), Vec::new(), None)));
        assert!(parsed("x=n-1").is_err() && parsed("x=n*2").is_err());
        assert!(parsed("x").is_err() && parsed("x=-1").is_err() && parsed("x=3:text").is_err());
    }
}
