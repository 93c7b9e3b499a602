//! Functions of Python, and conversions of tensors and numbers to Python numbers.

use super::fault::Fault;
use super::interpreter::{Interpreter, MAX_MEMBERS};
use super::item::Item;
use super::recorder::{dim_of, named, tensor};
use super::shapes::Sizes;
use crate::graph::ElemType;
use crate::torch::{Argument, Input, Op, Type};

impl Interpreter<'_> {
    /// Calls a function of Python, such as `int` or `getattr`.
    pub fn builtin(&mut self, name: &str, mut given: Vec<Item>) -> Result<Item, Fault> {
        match (name, given.as_slice()) {
            ("getattr", [Item::Object(object), Item::Str(attribute)]) => {
                let (object, attribute) = (*object, attribute.clone());
                self.attribute(object, &attribute)
            }
            ("int" | "float" | "bool", [_]) => {
                let item = given.remove(0);
                self.converted(name, item)
            }
            ("str", [_]) => Ok(self.list_op("str", &given)?.unwrap_or(Item::None)),
            ("range", [count]) => {
                let count = count.int().ok_or("its range has a computed length")?;
                if count > MAX_MEMBERS as i64 {
                    return Err("its range is too long".into());
                }
                self.charge(usize::try_from(count).unwrap_or(0))?;
                Ok(self.list((0..count).map(Item::Int).collect()))
            }
            _ => Err(format!("it calls `{name}`").into()),
        }
    }

    /// Converts a value to a Python number.
    fn converted(&mut self, to: &str, item: Item) -> Result<Item, Fault> {
        let ty = match to {
            "int" => Type::Int,
            "float" => Type::Float,
            _ => Type::Bool,
        };
        match item {
            Item::Scalar(_, number) => self.converted(to, *number),
            Item::Tensor(_) => {
                let is_same = match (self.recorder.elem(&item), to) {
                    (Some(ElemType::Bool), "bool") => true,
                    (Some(elem), "int") => elem == ElemType::Int64,
                    (Some(ElemType::Double), "float") => true,
                    _ => false,
                };
                let argument = self.argument(&item)?;
                let argument = match is_same {
                    true => argument,
                    false => self.as_elem(argument, to)?,
                };
                Ok(self.recorder.number(
                    Op::parse("aten::item"),
                    vec![Input { name: Some("self".into()), argument }],
                    ty,
                    None,
                ))
            }
            Item::Computed(value) => {
                let own = self.recorder.ty(value).clone();
                match (own, to) {
                    (own, _) if own == ty => Ok(item),
                    (_, "float") => Ok(self.floated(&item)),
                    (Type::Float, "int") => Ok(self.rounded("trunc", &item)),
                    (_, "bool") => Ok(self.number_op("ne", &[item, Item::Int(0)])?.unwrap_or(Item::None)),
                    _ => Err("it converts a computed boolean to an integer".into()),
                }
            }
            Item::Bool(_) | Item::Int(_) | Item::Float(_) => Ok(match to {
                "int" => Item::Int(item.int().unwrap_or(item.float().unwrap_or_default() as i64)),
                "float" => Item::Float(item.float().unwrap_or_default()),
                _ => Item::Bool(item.float() != Some(0.0)),
            }),
            Item::Str(text) if to == "float" => {
                let float = text.trim().parse().map_err(|_| format!("it converts \"{text}\" to a float"))?;
                Ok(Item::Float(float))
            }
            other => Err(format!("it converts {} to `{to}`", other.kind()).into()),
        }
    }

    /// Casts a tensor with one element to the dtype of a Python type.
    fn as_elem(&mut self, argument: Argument, to: &str) -> Result<Argument, Fault> {
        let elem = match to {
            "int" => ElemType::Int64,
            "float" => ElemType::Double,
            _ => ElemType::Bool,
        };
        let Argument::Value(value) = argument else {
            return Err("it converts a value that is not a tensor".into());
        };
        let sizes: Option<Sizes> =
            self.recorder.ty(value).shape().map(|shape| shape.iter().map(dim_of).collect());
        let inputs = vec![named("self", argument), named("dtype", Argument::Elem(elem))];
        let ty = tensor(Some(elem), sizes.as_deref());
        Ok(Argument::Value(self.recorder.node(Op::parse("aten::to.dtype"), inputs, vec![ty])[0]))
    }
}
