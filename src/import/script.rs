//! Conversion of a traced TorchScript graph, printed by `print(traced.inlined_graph)`, to a program.
//!
//! The text has the information that `torch.export` records, but encodes it differently: constants are nodes,
//! lists are packed and unpacked, parameters are module attributes, and overloads are not named. Weights come
//! from a separate file. All sizes are those of the traced run, so the model's shapes are static.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{blocked, overload};
use crate::diag::counted;
use crate::diag::rule_ids::UNREADABLE_PART;
use crate::diag::{Finding, Level, Place};
use crate::graph::{ElemType, Tensor};
use crate::read::pt2::Exported;
use crate::read::state::State;
use crate::torch::{
    Argument, Definition, Input, Node, NodeId, Op, Size, TensorLiteral, TensorType, Trace, Type, ValueId,
};

/// Limit on resolved list members: nested lists can share members and grow exponentially.
const MAX_MEMBERS: usize = 1 << 20;

/// PyTorch prints standalone floats with at most this many digits.
/// A float with `DIGITS` digits may be rounded.
const DIGITS: usize = 6;

/// Converts a trace to a program, with findings about it.
///
/// # Errors
/// Returns one finding for each construct that cannot be resolved.
pub fn program(trace: Trace, weights: Option<&State>) -> Result<(Exported, Vec<Finding>), Vec<Finding>> {
    let mut script = Script {
        known: FxHashMap::default(),
        paths: FxHashMap::default(),
        lifted: FxHashMap::default(),
        inputs: Vec::new(),
        taken: FxHashMap::default(),
        members: 0,
        printed: 0,
        weights,
        trace,
    };
    script.body()?;
    let Script { mut trace, taken, lifted, printed, .. } = script;
    trace.values.iter_mut().for_each(|value| value.users.clear());
    trace.link_users();
    let state: FxHashSet<String> =
        lifted.values().map(|&value| trace.value(value).name.to_string()).collect();
    let said = (printed > 0).then(|| {
        let message =
            format!("{} of this text may be rounded to {DIGITS} digits", counted(printed, "float constant"));
        UNREADABLE_PART.at(Level::Info).finding(message, Place::File).note("the printed values are used")
    });
    let exported = Exported { trace, weights: taken, state, updates: Vec::new() };
    Ok((exported, said.into_iter().collect()))
}

struct Script<'w> {
    trace: Trace,
    /// Values replaced by constants, lists or other values.
    known: FxHashMap<ValueId, Argument>,
    /// Values that are modules, with their attribute paths.
    paths: FxHashMap<ValueId, String>,
    /// Lifted module tensors, by attribute path.
    lifted: FxHashMap<String, ValueId>,
    /// All lifted values, in order.
    inputs: Vec<ValueId>,
    /// The tensors of lifted values, by value name.
    taken: FxHashMap<String, Tensor>,
    members: usize,
    /// Number of float constants read from the text, which may be rounded.
    printed: usize,
    weights: Option<&'w State>,
}

impl Script<'_> {
    fn body(&mut self) -> Result<(), Vec<Finding>> {
        let body = self.trace.body.index();
        let of_caller: Vec<ValueId> = self.trace.inputs().collect();
        for &input in &self.trace.blocks[body].inputs {
            if matches!(self.trace.value(input).ty, Type::Class(_)) {
                self.paths.insert(input, String::new());
            }
        }
        let (mut kept, mut faults) = (Vec::new(), Vec::new());
        for id in std::mem::take(&mut self.trace.blocks[body].nodes) {
            match self.node(id) {
                Ok(true) => kept.push(id),
                Ok(false) => {}
                Err(why) => {
                    let fault = match self.trace.node(id).op.is("prim", "GetAttr") {
                        true => blocked::program(&why),
                        false => blocked::at(&self.trace, id, &why),
                    };
                    // Missing weights are reported once.
                    faults.extend((!faults.contains(&fault)).then_some(fault));
                }
            }
        }
        let returned = std::mem::take(&mut self.trace.blocks[body].outputs);
        let mut outputs = Vec::new();
        for output in &returned {
            match self.resolved(output) {
                Ok(output) => flatten(output, &mut outputs),
                Err(why) => faults.push(blocked::program(&why)),
            }
        }
        let block = &mut self.trace.blocks[body];
        block.inputs = of_caller.into_iter().chain(self.inputs.iter().copied()).collect();
        (block.nodes, block.outputs) = (kept, outputs);
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    /// Converts a node to the conventions of `torch.export`; returns whether it is kept.
    fn node(&mut self, id: NodeId) -> Result<bool, String> {
        let node = self.trace.node(id).clone();
        if !node.blocks.is_empty() {
            return Ok(true);
        }
        let given = node.inputs.iter().map(|input| self.resolved(&input.argument));
        // Module arguments need no handling: no kept operator reads them.
        let given: Vec<Argument> = given.collect::<Result<_, _>>()?;
        match (&*node.op.namespace, &*node.op.name) {
            ("prim", "Constant") => self.constant(&node)?,
            ("prim", "ListConstruct" | "TupleConstruct") => self.is(&node, Argument::List(given)),
            ("prim", "GetAttr") => self.attribute(&node)?,
            ("prim", "ListUnpack" | "TupleUnpack") => self.unpack(&node, given)?,
            ("prim", "NumToTensor")
            | ("aten", "Int" | "IntImplicit" | "ScalarImplicit" | "Bool" | "Float") => {
                self.number(&node, given)?;
            }
            ("aten", "size") => self.size(&node, &given)?,
            ("prim", "CallMethod" | "CallFunction") => {
                return Err("it calls another graph; print `traced.inlined_graph` instead".to_owned());
            }
            ("aten", name) => {
                let (overload, inputs) = match name {
                    "to" => self.cast(&node, given)?,
                    _ => self.overload(&node, &given)?,
                };
                let node = &mut self.trace.nodes[id.index()];
                node.op = Op { overload, ..node.op.clone() };
                node.inputs = inputs;
                return Ok(true);
            }
            _ => {
                for (input, given) in self.trace.nodes[id.index()].inputs.iter_mut().zip(given) {
                    input.argument = given;
                }
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the matching overload, and the arguments by parameter name.
    fn overload(&self, node: &Node, given: &[Argument]) -> Result<(Arc<str>, Vec<Input>), String> {
        let bases = [Some(&*node.op.name), node.op.in_place_of()].into_iter().flatten();
        let found = bases.into_iter().find_map(|base| overload::resolved(&self.trace, base, given));
        let (signature, inputs) = found.ok_or("none of its known overloads accepts these arguments")?;
        Ok((signature.name.split_once('.').map_or("", |(_, overload)| overload).into(), inputs))
    }

    /// Normalizes a call of any overload of `to` to `to.dtype`, with the dtype of the result.
    fn cast(&self, node: &Node, given: Vec<Argument>) -> Result<(Arc<str>, Vec<Input>), String> {
        let elem = node.outputs.first().and_then(|&output| self.trace.value(output).ty.elem());
        let elem = elem.ok_or("its target dtype is not recorded")?;
        // In most overloads of `to`, the last argument is a memory format, which follows `copy`. `None` and
        // `preserve_format` (1) never force a copy, so they are dropped.
        let (copies, format) = match given.as_slice() {
            [.., copies @ Argument::Bool(_)] => (copies.clone(), None),
            [.., copies, Argument::None | Argument::Int(1)] => (copies.clone(), None),
            [.., copies, format] => (copies.clone(), Some(format.clone())),
            _ => return Err("its arguments are not recorded".to_owned()),
        };
        let receiver = given.into_iter().next().ok_or("it has no operand")?;
        let named = [
            ("self", Some(receiver)),
            ("dtype", Some(Argument::Elem(elem))),
            ("copy", Some(copies)),
            ("memory_format", format),
        ];
        let named = named.into_iter().filter_map(|(name, argument)| Some((name, argument?)));
        let inputs = named.map(|(name, argument)| Input { name: Some(name.into()), argument });
        Ok(("dtype".into(), inputs.collect()))
    }

    /// Resolves an argument, and the members of lists, through the known replacements.
    fn resolved(&mut self, argument: &Argument) -> Result<Argument, String> {
        self.members += 1;
        if self.members > MAX_MEMBERS {
            return Err("its nested lists have too many members".to_owned());
        }
        Ok(match argument {
            Argument::Value(value) => match self.known.get(value).cloned() {
                Some(Argument::Value(other)) => Argument::Value(other),
                Some(known) => self.resolved(&known)?,
                None => argument.clone(),
            },
            Argument::List(members) => {
                Argument::List(members.iter().map(|member| self.resolved(member)).collect::<Result<_, _>>()?)
            }
            other => other.clone(),
        })
    }

    /// Replaces the result of a node by an argument.
    fn is(&mut self, node: &Node, argument: Argument) {
        self.known.extend(node.outputs.first().map(|&output| (output, argument)));
    }

    fn constant(&mut self, node: &Node) -> Result<(), String> {
        let literal = node.outputs.first().and_then(|&output| self.trace.value(output).literal.clone());
        match literal.unwrap_or(Argument::None) {
            Argument::Tensor(literal) => {
                let tensor = self.printed(&literal)?;
                let &output = node.outputs.first().ok_or("it has no result")?;
                let name = self.trace.value(output).name.to_string();
                self.lift(output, name, tensor);
            }
            literal => self.is(node, literal),
        }
        Ok(())
    }

    /// Returns a tensor from its printed elements.
    /// Rejects floats printed with [`DIGITS`] digits or more, and lists of floats: they may be rounded.
    fn printed(&mut self, literal: &TensorLiteral) -> Result<Tensor, String> {
        let unknown = "the text does not contain all elements of this constant";
        let elements = literal.elements.as_deref().ok_or(unknown)?;
        let (elem, shape) = literal.elem.zip(literal.shape.clone()).ok_or(unknown)?;
        let bytes = |element: &f64| -> Option<Vec<u8>> {
            let is_whole = element.fract() == 0.0 && element.abs() < 9e15;
            Some(match elem {
                ElemType::Float => (*element as f32).to_le_bytes().to_vec(),
                ElemType::Double => element.to_le_bytes().to_vec(),
                ElemType::Int64 if is_whole => (*element as i64).to_le_bytes().to_vec(),
                ElemType::Int32 if is_whole => (*element as i32).to_le_bytes().to_vec(),
                ElemType::Bool if is_whole => vec![u8::from(*element != 0.0)],
                _ => return None,
            })
        };
        if elem.is_float() {
            if elements.len() != 1 || elements.iter().any(|element| digits(*element) >= DIGITS) {
                return Err(format!(
                    "this constant is floating-point, and the text has only {DIGITS} digits of it"
                ));
            }
            self.printed += 1;
        }
        let raw = elements.iter().map(bytes).collect::<Option<Vec<_>>>();
        let raw = raw.ok_or("its dtype, or a number of this size, is not supported in a printed constant")?;
        Ok(Tensor::from_raw(elem, shape, raw.concat()))
    }

    /// Resolves an attribute of a module: a submodule, or a tensor that is lifted into an input.
    fn attribute(&mut self, node: &Node) -> Result<(), String> {
        let owner = node.inputs.first().and_then(|input| self.trace.as_value(&input.argument));
        let owner = owner.and_then(|owner| self.paths.get(&owner)).ok_or("its module is not known")?;
        let Some((_, Argument::Str(name))) = node.attributes.first() else {
            return Err("its attribute name is missing".to_owned());
        };
        let path = if owner.is_empty() { name.to_string() } else { format!("{owner}.{name}") };
        let &output = node.outputs.first().ok_or("it has no result")?;
        if matches!(self.trace.value(output).ty, Type::Class(_)) {
            self.paths.insert(output, path);
            return Ok(());
        }
        if let Some(&first) = self.lifted.get(&path) {
            self.known.insert(output, Argument::Value(first));
            return Ok(());
        }
        let weights = self.weights.ok_or("the text does not contain weights: pass them with `--weights`")?;
        let tensor = weights.get(&path).ok_or_else(|| format!("the weights have no tensor `{path}`"))?;
        let is_taken = self.trace.inputs().any(|input| *self.trace.value(input).name == *path);
        self.lift(output, if is_taken { format!("{path}_") } else { path.clone() }, tensor.clone());
        self.lifted.insert(path, output);
        Ok(())
    }

    /// Turns a value into a lifted input with known elements.
    fn lift(&mut self, value: ValueId, name: String, tensor: Tensor) {
        let mut strides = vec![1i64; tensor.dims.len()];
        for axis in (1..strides.len()).rev() {
            strides[axis - 1] = strides[axis].saturating_mul(tensor.dims[axis]);
        }
        let shape = tensor.dims.iter().map(|&dim| Size::Fixed(dim)).collect();
        let ty = TensorType { elem: tensor.elem(), shape: Some(shape), strides: Some(strides) };
        let said = &mut self.trace.values[value.index()];
        (said.definition, said.ty, said.literal) = (Definition::Lifted, Type::Tensor(ty), None);
        said.name = Arc::from(&*name);
        self.inputs.push(value);
        self.taken.insert(name, tensor);
    }

    /// Unpacks a known list, or a list that a node returns: its members become the outputs of that node.
    fn unpack(&mut self, node: &Node, mut given: Vec<Argument>) -> Result<(), String> {
        let unknown = "it unpacks a value that is not a known list";
        match given.pop() {
            Some(Argument::List(members)) if members.len() == node.outputs.len() => {
                self.known.extend(node.outputs.iter().copied().zip(members));
                Ok(())
            }
            Some(Argument::Value(list)) => {
                let Definition::Node(maker, 0) = self.trace.value(list).definition else {
                    return Err(unknown.to_owned());
                };
                if self.trace.node(maker).outputs != [list] {
                    return Err("it unpacks a list that was already unpacked".to_owned());
                }
                for (place, &output) in node.outputs.iter().enumerate() {
                    self.trace.values[output.index()].definition = Definition::Node(maker, place as u32);
                }
                self.trace.nodes[maker.index()].outputs = node.outputs.clone();
                let members = node.outputs.iter().map(|&output| Argument::Value(output)).collect();
                self.known.insert(list, Argument::List(members));
                Ok(())
            }
            _ => Err(unknown.to_owned()),
        }
    }

    /// Resolves a conversion that keeps dtype and value, such as from a 0-d tensor to a number.
    fn number(&mut self, node: &Node, given: Vec<Argument>) -> Result<(), String> {
        let given = given.into_iter().next().ok_or("it has no operand")?;
        let wanted = match &*node.op.name {
            "NumToTensor" | "ScalarImplicit" => None,
            "Bool" => Some(ElemType::Bool),
            "Float" => Some(ElemType::Double),
            _ => Some(ElemType::Int64),
        };
        let is_same = match (&given, wanted) {
            (Argument::Value(value), Some(wanted)) => match &self.trace.value(*value).ty {
                Type::Tensor(tensor) => tensor.elem == Some(wanted) && tensor.rank() == Some(0),
                Type::Int => wanted == ElemType::Int64,
                Type::Float => wanted == ElemType::Double,
                Type::Bool => wanted == ElemType::Bool,
                _ => false,
            },
            (Argument::Int(_), Some(wanted)) => wanted == ElemType::Int64,
            (Argument::Float(_), Some(wanted)) => wanted == ElemType::Double,
            (Argument::Value(_) | Argument::Int(_) | Argument::Float(_) | Argument::Bool(_), None) => true,
            _ => false,
        };
        if !is_same {
            return Err("it converts a number to another type".to_owned());
        }
        self.is(node, given);
        Ok(())
    }

    /// Replaces the result of the operator `size` by the traced sizes, or by one of them.
    fn size(&mut self, node: &Node, given: &[Argument]) -> Result<(), String> {
        let unknown = "a size was not recorded";
        let tensor = given.first().and_then(|tensor| self.trace.as_value(tensor)).ok_or(unknown)?;
        let shape = self.trace.value(tensor).ty.shape().ok_or(unknown)?;
        let sizes = shape.iter().map(|size| size.fixed().map(Argument::Int));
        let sizes: Vec<Argument> = sizes.collect::<Option<_>>().ok_or(unknown)?;
        let size = match given.get(1) {
            None => Argument::List(sizes),
            Some(Argument::Int(axis)) => {
                let axis = if *axis < 0 { axis + sizes.len() as i64 } else { *axis };
                usize::try_from(axis).ok().and_then(|axis| sizes.get(axis)).cloned().ok_or(unknown)?
            }
            Some(_) => return Err(unknown.to_owned()),
        };
        self.is(node, size);
        Ok(())
    }
}

fn flatten(output: Argument, into: &mut Vec<Argument>) {
    match output {
        Argument::List(members) => members.into_iter().for_each(|member| flatten(member, into)),
        other => into.push(other),
    }
}

/// Returns the number of significant digits of a number.
fn digits(number: f64) -> usize {
    let text = format!("{:e}", number.abs());
    text.split('e').next().unwrap_or_default().bytes().filter(u8::is_ascii_digit).count()
}
