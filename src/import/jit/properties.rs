//! Sizes, dtypes and tracked numbers of tensors, casts, and tensors made from numbers.

use std::sync::Arc;

use super::fault::Fault;
use super::interpreter::Interpreter;
use super::item::Item;
use super::recorder::{named, tensor};
use crate::graph::dim::{Dim, numel};
use crate::graph::{ElemType, Tensor};
use crate::torch::types::elem_by_number;
use crate::torch::{Argument, Op, Type};

/// Largest number of a dtype in TorchScript.
const MAX_DTYPE: i64 = 15;

impl Interpreter<'_> {
    /// Returns a property of a tensor; `None` if the operator is another one.
    pub fn property(&mut self, name: &str, given: &[Item]) -> Result<Option<Item>, Fault> {
        let [tensor, rest @ ..] = given else { return Ok(None) };
        if !tensor.is_tensor() {
            return Ok(None);
        }
        let rank = || self.recorder.sizes(tensor).map(|sizes| sizes.len());
        let elem =
            || self.recorder.elem(tensor).ok_or("it reads the dtype of a tensor whose dtype is not known");
        Ok(Some(match (name, rest) {
            ("size" | "shape", []) => {
                let rank = rank().ok_or("it reads the sizes of a tensor whose rank is not known")?;
                let sizes = (0..rank).map(|axis| self.recorder.size(tensor, axis as i64));
                let sizes = sizes.collect::<Result<_, _>>()?;
                self.list(sizes)
            }
            ("size", [axis]) => {
                let axis = axis.int().ok_or("it reads the size of a computed axis")?;
                self.recorder.size(tensor, axis)?
            }
            ("len", []) => self.recorder.size(tensor, 0)?,
            ("dim" | "ndimension" | "ndim", []) => {
                Item::Int(rank().ok_or("it reads the rank of a tensor whose rank is not known")? as i64)
            }
            ("numel", []) => {
                let sizes = self
                    .recorder
                    .sizes(tensor)
                    .and_then(|sizes| sizes.into_iter().collect::<Option<Vec<Dim>>>());
                let dim = sizes.and_then(|sizes| numel(&sizes));
                let inputs = vec![named("self", self.argument(tensor)?)];
                self.recorder.number(Op::parse("aten::sym_numel"), inputs, Type::Int, dim)
            }
            ("dtype", []) => {
                let elem = elem()?;
                let number = (0..=MAX_DTYPE).find(|number| elem_by_number(*number) == Some(elem));
                Item::Int(number.ok_or("it reads a dtype that has no number")?)
            }
            ("is_floating_point", []) => Item::Bool(elem()?.is_float()),
            ("is_complex", []) => Item::Bool(elem()?.is_complex()),
            ("item" | "_local_scalar_dense" | "ScalarImplicit", []) => {
                let to = match elem()? {
                    ElemType::Bool => "bool",
                    elem if elem.is_integer() => "int",
                    _ => "float",
                };
                return self.builtin(to, vec![tensor.clone()]).map(Some);
            }
            ("IntImplicit" | "Int", []) => {
                return self.builtin("int", vec![tensor.clone()]).map(Some);
            }
            ("FloatImplicit" | "Float", []) => return self.builtin("float", vec![tensor.clone()]).map(Some),
            ("Bool" | "is_nonzero", []) => return self.builtin("bool", vec![tensor.clone()]).map(Some),
            _ => return Ok(None),
        }))
    }

    /// Applies an operator to tracked numbers in 0-d tensors; `None` if it must be recorded.
    pub fn tracked(
        &mut self,
        name: &str,
        given: &[Item],
        by_name: &[(Arc<str>, Item)],
    ) -> Result<Option<Item>, Fault> {
        if !given.iter().any(|item| matches!(item, Item::Scalar(..))) {
            return Ok(None);
        }
        if matches!(name, "detach" | "clone" | "contiguous" | "lift_fresh") && given.len() == 1 {
            return Ok(Some(given[0].clone()));
        }
        if name == "to" {
            let same = given.iter().skip(1).any(|item| matches!(item, Item::Int(4)));
            let is_int = matches!(given[0], Item::Scalar(ElemType::Int64, _));
            return Ok((same && is_int).then(|| given[0].clone()));
        }
        let floors = |(name, item): &(Arc<str>, Item)| {
            &**name == "rounding_mode" && matches!(item, Item::Str(how) if &**how == "floor")
        };
        let name = match (name, by_name) {
            ("div", [how]) if floors(how) => "floordiv",
            ("div" | "true_divide" | "pow" | "__and__" | "__or__" | "__xor__", _) => return Ok(None),
            ("add" | "sub", [(alpha, Item::Int(1))]) if &**alpha == "alpha" => name,
            (_, [_, ..]) => return Ok(None),
            _ => name,
        };
        let mut numbers = Vec::new();
        for item in given {
            match item {
                Item::Scalar(ElemType::Int64, number) => numbers.push((**number).clone()),
                Item::Int(_) => numbers.push(item.clone()),
                _ => return Ok(None),
            }
        }
        let Some(result) = self.number_op(name, &numbers)? else { return Ok(None) };
        let elem = match &result {
            Item::Int(_) => ElemType::Int64,
            Item::Bool(_) => ElemType::Bool,
            Item::Computed(value) if *self.recorder.ty(*value) == Type::Int => ElemType::Int64,
            Item::Computed(value) if *self.recorder.ty(*value) == Type::Bool => ElemType::Bool,
            _ => return Ok(None),
        };
        Ok(Some(Item::Scalar(elem, Box::new(result))))
    }

    /// Records a cast: any overload of `to`, as `to.dtype`.
    pub fn cast(&mut self, given: Vec<Item>, by_name: &[(Arc<str>, Item)]) -> Result<Item, Fault> {
        let (mut elem, mut flags, mut format) = (None, Vec::new(), None);
        for item in given.iter().skip(1) {
            match item {
                Item::Bool(flag) => flags.push(*flag),
                Item::Int(number) if flags.is_empty() => elem = Some(dtype(*number)?),
                Item::Int(number) => format = Some(*number),
                item if item.is_tensor() => elem = self.recorder.elem(item),
                _ => {}
            }
        }
        let mut copies = flags.get(1) == Some(&true);
        for (name, item) in by_name {
            match (&**name, item) {
                ("dtype", Item::Int(number)) => elem = Some(dtype(*number)?),
                ("copy", Item::Bool(copy)) => copies = *copy,
                ("memory_format", Item::Int(number)) => format = Some(*number),
                _ => {}
            }
        }
        let receiver = given.into_iter().next().ok_or("it casts nothing")?;
        let elem = elem.or_else(|| self.recorder.elem(&receiver));
        let Some(elem) = elem else {
            return if self.lenient { Ok(receiver) } else { Err("it casts to an unknown dtype".into()) };
        };
        let ty = tensor(Some(elem), self.recorder.sizes(&receiver).as_deref());
        let mut inputs = vec![
            named("self", self.argument(&receiver)?),
            named("dtype", Argument::Elem(elem)),
            named("copy", Argument::Bool(copies)),
        ];
        // The formats contiguous (0) and preserve (1) do not matter: a contiguous tensor is not copied.
        inputs.extend(
            format.filter(|format| *format > 1).map(|format| named("memory_format", Argument::Int(format))),
        );
        Ok(Item::Tensor(self.recorder.node(Op::parse("aten::to.dtype"), inputs, vec![ty])[0]))
    }

    /// Makes a tensor from numbers or nested lists of numbers.
    ///
    /// Without a dtype, the numbers determine it, unless `otherwise` is given.
    pub fn new_tensor(
        &mut self,
        given: Vec<Item>,
        by_name: &[(Arc<str>, Item)],
        otherwise: Option<ElemType>,
    ) -> Result<Item, Fault> {
        let wanted = by_name.iter().find(|(name, _)| &**name == "dtype").and_then(|(_, item)| item.int());
        let wanted = wanted.or_else(|| given.get(1).and_then(Item::int)).map(dtype).transpose()?;
        let wanted = wanted.or(otherwise);
        let data = given.into_iter().next().ok_or("it makes a tensor of nothing")?;
        if data.is_tensor() {
            return match wanted {
                Some(_) => self.cast(vec![data], by_name),
                None => Ok(data),
            };
        }
        let (mut dims, mut numbers) = (Vec::new(), Vec::new());
        flatten(&data, 0, &mut dims, &mut numbers)?;
        if numbers.iter().any(|number| matches!(number, Item::Computed(_))) {
            return self.computed_tensor(&data, wanted);
        }
        let own = match () {
            () if wanted.is_none() && numbers.is_empty() => {
                return Err("it makes a tensor of an empty list, whose dtype is not known".into());
            }
            () if numbers.iter().any(|number| matches!(number, Item::Float(_))) => ElemType::Float,
            () if numbers.iter().all(|number| matches!(number, Item::Bool(_))) => ElemType::Bool,
            () => ElemType::Int64,
        };
        let elem = wanted.unwrap_or(own);
        let raw = numbers.iter().map(|number| bytes(elem, number)).collect::<Option<Vec<_>>>();
        let raw = raw.ok_or_else(|| format!("it makes a tensor of dtype {} from numbers", elem.name()))?;
        let constant = Tensor::from_raw(elem, dims, raw.concat());
        Ok(match super::numbers::scalar(&constant) {
            Some(scalar) => scalar,
            None => Item::Tensor(self.recorder.lift("constant", constant)),
        })
    }

    fn computed_tensor(&mut self, data: &Item, wanted: Option<ElemType>) -> Result<Item, Fault> {
        if let Some(members) = data.members() {
            let members = members.iter().map(|member| self.computed_tensor(member, wanted));
            let members = members.collect::<Result<Vec<_>, _>>()?;
            let members = self.list(members);
            return self.record("stack", vec![members], Vec::new());
        }
        let elem = match data {
            Item::Computed(value) => match self.recorder.ty(*value) {
                Type::Int => ElemType::Int64,
                Type::Bool => ElemType::Bool,
                _ => ElemType::Float,
            },
            Item::Int(_) => ElemType::Int64,
            Item::Bool(_) => ElemType::Bool,
            _ => ElemType::Float,
        };
        let elem = wanted.unwrap_or(elem);
        let inputs = vec![named("s", self.argument(data)?), named("dtype", Argument::Elem(elem))];
        if elem == ElemType::Int64
            && matches!(data, Item::Computed(value) if *self.recorder.ty(*value) == Type::Int)
        {
            return Ok(Item::Scalar(elem, Box::new(data.clone())));
        }
        let ty = tensor(Some(elem), Some(&[]));
        Ok(Item::Tensor(self.recorder.node(Op::parse("aten::scalar_tensor"), inputs, vec![ty])[0]))
    }
}

/// Returns the element type with a number of TorchScript.
fn dtype(number: i64) -> Result<ElemType, Fault> {
    Ok(elem_by_number(number)
        .ok_or_else(|| format!("the dtype with the number {number} is not supported"))?)
}

/// Collects the numbers of nested lists, with the sizes of the lists.
fn flatten(data: &Item, depth: usize, dims: &mut Vec<i64>, numbers: &mut Vec<Item>) -> Result<(), Fault> {
    let Some(members) = data.members() else {
        return match data.is_number() && depth == dims.len() {
            true => {
                numbers.push(data.clone());
                Ok(())
            }
            false => Err("it makes a tensor of objects that are not numbers".into()),
        };
    };
    match dims.get(depth) {
        None if numbers.is_empty() => dims.push(members.len() as i64),
        Some(&length) if length == members.len() as i64 => {}
        _ => return Err("it makes a tensor of lists of different lengths".into()),
    }
    members.iter().try_for_each(|member| flatten(member, depth + 1, dims, numbers))
}

/// Returns the bytes of a number in a dtype.
fn bytes(elem: ElemType, number: &Item) -> Option<Vec<u8>> {
    Some(match elem {
        ElemType::Float => (number.float()? as f32).to_le_bytes().to_vec(),
        ElemType::Double => number.float()?.to_le_bytes().to_vec(),
        ElemType::Int64 => number.int()?.to_le_bytes().to_vec(),
        ElemType::Int32 => i32::try_from(number.int()?).ok()?.to_le_bytes().to_vec(),
        ElemType::Bool => vec![u8::from(number.float()? != 0.0)],
        _ => return None,
    })
}
