//! Calls of operators: Python-level operators are evaluated, and operators on tensors are recorded.

use std::sync::Arc;

use super::expression::tuple;
use super::fault::Fault;
use super::interpreter::{Interpreter, MAX_MEMBERS};
use super::item::Item;
use super::recorder::{named, tensor};
use super::shapes::{Call, Sizes};
use super::{decomposed, dtype, resolve};
use crate::diag::Place;
use crate::diag::rule_ids::NOT_CONVERTIBLE;
use crate::graph::{ElemType, Tensor};
use crate::schema::aten::{self, Signature};
use crate::torch::{Argument, Input, Op, Type, ValueId};

/// In-place operators that change the shape of their operand.
const RESHAPING: [&str; 6] = ["squeeze", "unsqueeze", "t", "transpose", "swapaxes", "swapdims"];

/// In-place operators that give their operand other storage or another size.
const REPLACING: [&str; 4] = ["resize", "resize_as", "set", "as_strided"];

impl Interpreter<'_> {
    /// Calls an operator by its namespace and name.
    pub fn call_op(
        &mut self,
        namespace: &str,
        name: &str,
        given: Vec<Item>,
        named: Vec<(Arc<str>, Item)>,
    ) -> Result<Item, Fault> {
        if let Some(item) = self.python_op(namespace, name, &given)? {
            return Ok(item);
        }
        if namespace == "aten" || namespace == "prim" {
            if let Some(item) = self.list_op(name, &given)? {
                return Ok(item);
            }
            if named.is_empty()
                && let Some(item) = self.number_op(name, &given)?
            {
                return Ok(item);
            }
            if let Some(item) = self.property(name, &given)? {
                return Ok(item);
            }
            if let Some(item) = self.tracked(name, &given, &named)? {
                return Ok(item);
            }
        }
        if let Some(function) = decomposed::function(name).filter(|_| namespace == "aten") {
            return self.function(function, given, named);
        }
        match (namespace, name) {
            ("aten", "dropout_" | "feature_dropout_" | "alpha_dropout_") if is_off(given.get(2)) => {
                Ok(given.into_iter().next().unwrap_or(Item::None))
            }
            ("aten", "to") => self.cast(given, &named),
            ("aten", "tensor" | "as_tensor") => self.new_tensor(given, &named, None),
            ("aten", "scalar_tensor") => self.new_tensor(given, &named, Some(ElemType::Float)),
            ("aten", name) => self.record(name, given, named),
            ("prim", name) => Err(format!("`prim::{name}` has no ONNX equivalent").into()),
            _ => self.record_foreign(namespace, name, given),
        }
    }

    /// Evaluates operators that exist only in Python; `None` for any other operator.
    fn python_op(&mut self, namespace: &str, name: &str, given: &[Item]) -> Result<Option<Item>, Fault> {
        Ok(Some(match (namespace, name, given) {
            ("prim", "RaiseException", _) => {
                let text = match given.first() {
                    Some(Item::Str(text)) => text.to_string(),
                    _ => "an exception".to_owned(),
                };
                return Err(Fault::Raised(text));
            }
            ("aten", "warn", _) | ("prim", "Print", _) => Item::None,
            ("aten", "_assert_scalar" | "_assert_async" | "_assert_tensor_metadata" | "_assert", _) => {
                Item::None
            }
            ("aten", "device", [name, ..]) => match name {
                Item::Str(name) => Item::Other(name.split(':').next().unwrap_or_default().into()),
                _ => Item::Other("device".into()),
            },
            ("aten", "is_autocast_enabled", _) => Item::Bool(false),
            // With gradients, layers of PyTorch use plain operators instead of fused ones.
            ("aten", "is_grad_enabled", _) | ("prim", "requires_grad", [_]) if self.is_in_torch() => {
                Item::Bool(true)
            }
            ("aten", "is_grad_enabled", _) | ("prim", "requires_grad", _) => {
                return Err("its result depends on whether gradients are computed".into());
            }
            ("aten", "is_scripting", _) => Item::Bool(true),
            ("prim", "device", [_]) => Item::Other("cpu".into()),
            ("prim", "type", [Item::Other(name)]) => Item::Str(name.clone()),
            ("prim", "layout", [_]) => Item::Int(0),
            (
                "prim",
                "is_nested" | "is_cuda" | "is_sparse" | "is_quantized" | "is_mkldnn" | "is_mps" | "is_xla"
                | "is_vulkan" | "is_ipu" | "is_meta" | "is_sparse_csr",
                [_],
            ) => Item::Bool(false),
            ("prim", "unchecked_unwrap_optional" | "data", [item]) => item.clone(),
            ("aten", "_unwrap_optional" | "ScalarImplicit" | "wait", [item]) if !item.is_tensor() => {
                item.clone()
            }
            ("prim", "NumToTensor", [item]) => {
                let elem = match item {
                    Item::Bool(_) => ElemType::Bool,
                    Item::Computed(value) if *self.recorder.ty(*value) == Type::Bool => ElemType::Bool,
                    Item::Computed(value) if *self.recorder.ty(*value) != Type::Int => return Ok(None),
                    Item::Int(_) | Item::Computed(_) => ElemType::Int64,
                    _ => return Ok(None),
                };
                Item::Scalar(elem, Box::new(item.clone()))
            }
            ("aten", "__range_length", [start, end, step]) => {
                let [start, end, step] = [start, end, step].map(Item::int);
                let (Some(start), Some(end), Some(step)) = (start, end, step) else {
                    return Err("it loops over a range of computed length".into());
                };
                let [start, end, step] = [start, end, step].map(i128::from);
                let length = match step {
                    0 => return Err("it loops over a range with step 0".into()),
                    1.. => (end - start + step - 1) / step,
                    _ => (start - end - step - 1) / -step,
                };
                Item::Int(i64::try_from(length.max(0)).map_err(|_| "its range is too long")?)
            }
            ("aten", "__derive_index", [at, start, step]) => {
                let scaled = self.number_op("mul", &[at.clone(), step.clone()])?.unwrap_or(Item::None);
                self.number_op("add", &[start.clone(), scaled])?.ok_or("its loop index is not a number")?
            }
            _ => return Ok(None),
        }))
    }

    /// Returns a value as an argument of an operator.
    pub fn argument(&mut self, item: &Item) -> Result<Argument, Fault> {
        Ok(match item {
            Item::None => Argument::None,
            Item::Bool(truth) => Argument::Bool(*truth),
            Item::Int(int) => Argument::Int(*int),
            Item::Float(float) => Argument::Float(*float),
            Item::Str(text) => Argument::Str(text.clone()),
            Item::Computed(value) | Item::Tensor(value) => Argument::Value(*value),
            // Each use makes a tensor of its own, so a write would not reach the others.
            Item::Scalar(elem, number) => {
                let value = self.scalar_value(*elem, number)?;
                let why = "it writes into a 0-d tensor of a constant or a size";
                self.recorder.fixed.insert(value, why);
                Argument::Value(value)
            }
            Item::List(_) | Item::Tuple(_) => {
                let members = item.members().unwrap_or_default();
                self.members += members.len();
                if self.members > MAX_MEMBERS {
                    return Err("its lists have too many members".into());
                }
                Argument::List(members.iter().map(|member| self.argument(member)).collect::<Result<_, _>>()?)
            }
            Item::Other(text) => Argument::Other(text.clone()),
            other => return Err(format!("it passes {} to an operator", other.kind()).into()),
        })
    }

    /// Returns a new 0-d tensor of a tracked number.
    fn scalar_value(&mut self, elem: ElemType, number: &Item) -> Result<ValueId, Fault> {
        Ok(match (number, elem) {
            (Item::Computed(value), _) => {
                let inputs = vec![named("s", Argument::Value(*value)), named("dtype", Argument::Elem(elem))];
                let ty = tensor(Some(elem), Some(&[]));
                self.recorder.node(Op::parse("aten::scalar_tensor"), inputs, vec![ty])[0]
            }
            (number, ElemType::Bool) => {
                let truth = u8::from(number.float() != Some(0.0));
                self.recorder.lift("constant", Tensor::from_raw(elem, Vec::new(), vec![truth]))
            }
            (number, _) => {
                let int = number.int().ok_or("a 0-d tensor contains no integer")?;
                self.recorder.lift("constant", Tensor::int64s(Vec::new(), &[int]))
            }
        })
    }

    /// Records an operator of PyTorch.
    pub fn record(
        &mut self,
        name: &str,
        given: Vec<Item>,
        by_name: Vec<(Arc<str>, Item)>,
    ) -> Result<Item, Fault> {
        let receiver = given.first().cloned();
        let given = given.iter().map(|item| self.argument(item)).collect::<Result<Vec<_>, _>>()?;
        let mut with_names = Vec::new();
        for (name, item) in by_name {
            with_names.push((name, self.argument(&item)?));
        }
        let op = Op::parse(&format!("aten::{name}"));
        if op.in_place_of().is_some() && matches!(receiver, Some(Item::Scalar(..))) {
            return Err(format!("`aten::{name}` writes into a 0-d tensor of a constant or a size").into());
        }
        let base = op.in_place_of().unwrap_or(name).to_owned();
        let found = resolve::resolved(&self.recorder.trace, &base, &given, &with_names)
            .or_else(|| resolve::resolved(&self.recorder.trace, name, &given, &with_names));
        let (signature, inputs) = found.ok_or_else(|| match aten::overloads(&base).next() {
            None => format!("`aten::{name}` has no ONNX lowering"),
            Some(_) => format!("no known overload of `aten::{name}` accepts these arguments"),
        })?;
        let overload = signature.name.split_once('.').map_or("", |(_, overload)| overload);
        let op = Op { overload: overload.into(), ..op };
        self.record_resolved(&op, &base, inputs, signature)
    }

    /// Records an operator with its arguments by parameter name.
    pub fn record_resolved(
        &mut self,
        op: &Op,
        base: &str,
        inputs: Vec<Input>,
        signature: &Signature,
    ) -> Result<Item, Fault> {
        let returns = signature.returns;
        let trace = &self.recorder.trace;
        let in_place = op.in_place_of().is_some();
        let operand = inputs.first().and_then(|input| trace.as_value(&input.argument));
        if in_place && REPLACING.contains(&base) {
            return Err(format!("`aten::{}` replaces the storage of a tensor", op.name).into());
        }
        if in_place && let Some(operand) = operand {
            self.recorder.writes(operand).map_err(|why| format!("`aten::{}`: {why}", op.name))?;
        }
        if in_place
            && !RESHAPING.contains(&base)
            && let Some(operand) = operand
        {
            let ty = self.recorder.ty(operand).clone();
            return Ok(Item::Tensor(self.recorder.node(op.clone(), inputs, vec![ty])[0]));
        }
        let count = if signature.returns_list { 1 } else { returns };
        let elems = dtype::results(trace, base, &op.overload, &inputs, count);
        if elems.contains(&None) && !self.lenient {
            return Err(format!("the dtype of the result of `aten::{base}` is not known").into());
        }
        let call = Call { recorder: &self.recorder, inputs: &inputs };
        if signature.returns_list {
            let shapes = call.parts(base).ok_or_else(|| {
                format!(
                    "the number of tensors that `aten::{base}` returns depends on a size that is not known"
                )
            })?;
            let types = shapes.iter().map(|sizes| tensor(elems[0], Some(sizes))).collect();
            let values = self.recorder.node(op.clone(), inputs, types);
            return Ok(self.list(values.into_iter().map(Item::Tensor).collect()));
        }
        let own = if returns == 1 { call.shape(base) } else { None };
        let shapes = match own {
            Some(shape) => vec![Some(shape)],
            None => self.inferred(op, base, &inputs, &elems)?,
        };
        let types =
            elems.iter().zip(&shapes).map(|(elem, sizes)| tensor(*elem, self.named_sizes(sizes).as_deref()));
        let types = types.collect();
        let values = self.recorder.node(op.clone(), inputs, types);
        let mut items = values.into_iter().map(Item::Tensor);
        Ok(match returns {
            1 => items.next().unwrap_or(Item::None),
            _ => tuple(items.collect()),
        })
    }

    /// Infers the shapes of results from the lowered operator.
    fn inferred(
        &mut self,
        op: &Op,
        base: &str,
        inputs: &[Input],
        elems: &[Option<ElemType>],
    ) -> Result<Vec<Option<Sizes>>, Fault> {
        if elems.contains(&None) {
            return Ok(vec![None; elems.len()]);
        }
        let types: Vec<Type> = elems.iter().map(|elem| tensor(*elem, None)).collect();
        let functional = Op { name: base.into(), ..op.clone() };
        match self.oracle.shapes(&self.recorder, &functional, inputs, &types) {
            Ok(shapes) => Ok(shapes),
            Err(_) if self.lenient => Ok(vec![None; elems.len()]),
            Err(findings) => Err(Fault::Found(findings)),
        }
    }

    /// Records an operator of another library. Its result has the dtype of its first operand.
    fn record_foreign(&mut self, namespace: &str, name: &str, given: Vec<Item>) -> Result<Item, Fault> {
        let op = Op::parse(&format!("{namespace}::{name}"));
        let inputs = given.iter().map(|item| Ok(Input { name: None, argument: self.argument(item)? }));
        let inputs: Vec<Input> = inputs.collect::<Result<_, Fault>>()?;
        let elems = dtype::results(&self.recorder.trace, name, "", &inputs, 1);
        if elems.contains(&None) && !self.lenient {
            return Err(format!("the dtype of the result of `{op}` is not known").into());
        }
        let types: Vec<Type> = elems.iter().map(|elem| tensor(*elem, None)).collect();
        let shapes = match self.oracle.shapes(&self.recorder, &op, &inputs, &types) {
            Ok(shapes) => shapes,
            Err(_) if self.lenient => vec![None],
            Err(mut findings) => {
                if findings.is_empty() {
                    let message = format!("`{op}` is not supported: it has no ONNX lowering");
                    findings.push(NOT_CONVERTIBLE.finding(message, Place::File));
                }
                return Err(Fault::Found(findings));
            }
        };
        let sizes = self.named_sizes(&shapes[0]);
        let ty = tensor(elems[0], sizes.as_deref());
        Ok(Item::Tensor(self.recorder.node(op, inputs, vec![ty])[0]))
    }

    /// Names sizes that are unknown; a size in a loop may differ from round to round, and gets no name.
    fn named_sizes(&mut self, sizes: &Option<Sizes>) -> Option<Sizes> {
        let mut sizes = sizes.clone()?;
        if self.recorder.depth == 0 {
            for size in sizes.iter_mut().filter(|size| size.is_none()) {
                *size = Some(self.recorder.symbol());
            }
        }
        Some(sizes)
    }
}

fn is_off(flag: Option<&Item>) -> bool {
    matches!(flag, Some(Item::Bool(false)))
}
