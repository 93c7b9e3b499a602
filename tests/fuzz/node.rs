//! Draws a node: inputs that its operator accepts, attributes, and outputs.

use std::sync::Arc;

use onnx_lint::graph::{AttrValue, Attribute, ElemType, Model, ValueId};
use onnx_lint::infer;
use onnx_lint::infer::eval::{self, Array, Attr, Budget, Refusal, Val};
use onnx_lint::schema::{Arity, Formal, Schema, Ty, ValueType};

use crate::attribute::{Around, attributes};
use crate::draft::Draft;
use crate::fill::{self, Fill};
use crate::shape::Letters;
use crate::table::{self, Wanted};

/// Input chosen for a node that is not yet built.
enum Operand {
    Absent,
    /// A value of the model.
    Known(ValueId, Val),
    /// A value that is added with the node: a constant if the flag is set, otherwise an input.
    New(Array, Fill, bool),
}

impl Operand {
    fn val(&self) -> Option<Val> {
        match self {
            Operand::Absent => None,
            Operand::Known(_, val) => Some(val.clone()),
            Operand::New(array, ..) => Some(array.clone().into()),
        }
    }
}

/// Result of drawing a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    Made,
    /// The operator rejected all drawn inputs.
    NotTaken,
    /// The evaluator does not support the operator with the drawn inputs, or its results are random.
    NotEvaluated,
}

/// Maximum number of times that inputs are drawn for one node.
const TRIES: usize = 6;

const BUDGET: Budget = Budget { elements: 1 << 10, work: 1 << 16 };

/// Adds a node of this operator.
pub fn draw(draft: &mut Draft, schema: &'static Schema) -> Drawn {
    let mut drawn = Drawn::NotTaken;
    for _ in 0..TRIES {
        match attempt(draft, schema) {
            Some(Err(Refusal::NotDeterministic)) => return Drawn::NotEvaluated,
            Some(Err(Refusal::Unsupported)) => drawn = Drawn::NotEvaluated,
            Some(Ok(())) => return Drawn::Made,
            _ => {}
        }
    }
    drawn
}

struct Choice<'d> {
    draft: &'d mut Draft,
    schema: &'static Schema,
    letters: Letters,
    types: Vec<Option<ValueType>>,
    operands: Vec<Operand>,
    attrs: Vec<Attribute>,
}

fn attempt(draft: &mut Draft, schema: &'static Schema) -> Option<Result<(), Refusal>> {
    let letters = Letters::new(&mut draft.random);
    let types = vec![None; schema.type_params.len()];
    let mut choice = Choice { draft, schema, letters, types, operands: Vec::new(), attrs: Vec::new() };
    if schema.inputs.is_empty() {
        choice.attributes();
    }
    for (position, formal) in schema.inputs.iter().enumerate() {
        choice.formal(position, formal)?;
        if position == 0 {
            choice.attributes();
        }
    }
    Some(choice.finish())
}

impl Choice<'_> {
    fn attributes(&mut self) {
        if let Some(Val::Tensor(array)) = self.operands.first().and_then(Operand::val) {
            self.letters.data = array.shape().to_vec();
        }
        let around = Around { rank: self.letters.data.len(), spatial: self.letters.spatial() };
        self.attrs = attributes(self.draft, self.schema, &around);
    }

    /// Chooses the operands of a formal input.
    fn formal(&mut self, position: usize, formal: &'static Formal) -> Option<()> {
        let count = match formal.option {
            Arity::Single => 1,
            Arity::Optional if self.draft.random.once_in(2) => 0,
            Arity::Optional => 1,
            Arity::Variadic { min, .. } => usize::from(min).max(1) + self.draft.random.below(3),
        };
        if count == 0 {
            self.operands.push(Operand::Absent);
        }
        for _ in 0..count {
            let operand = self.operand(position, formal)?;
            self.operands.push(operand);
        }
        Some(())
    }

    /// Returns the type of a formal input: the bound type of its type variable, or else a drawn one.
    fn ty(&mut self, formal: &'static Formal) -> Option<ValueType> {
        let is_mixed = matches!(formal.option, Arity::Variadic { homogeneous: false, .. });
        if let (Ty::Param(index), false) = (formal.ty, is_mixed) {
            let known = self.types[usize::from(index)];
            return Some(match known {
                Some(ty) => ty,
                None => {
                    let ty = self.any_type(formal)?;
                    self.types[usize::from(index)] = Some(ty);
                    ty
                }
            });
        }
        self.any_type(formal)
    }

    fn any_type(&mut self, formal: &'static Formal) -> Option<ValueType> {
        let allowed = self.schema.allowed(formal);
        let known: Vec<ValueType> = self
            .draft
            .visible()
            .iter()
            .filter_map(|value| value_type(self.draft.values.get(value)?))
            .collect();
        let known: Vec<ValueType> = known.into_iter().filter(|ty| allowed.has(*ty)).collect();
        if self.draft.random.below(4) > 0
            && let Some(&ty) = self.draft.random.pick(&known)
        {
            return Some(ty);
        }
        if allowed.has_tensor(ElemType::Float) && self.draft.random.once_in(2) {
            return Some(ValueType::Tensor(ElemType::Float));
        }
        let tensors: Vec<ValueType> = ElemType::ALL
            .into_iter()
            .filter(|elem| !elem.is_complex() && allowed.has_tensor(*elem))
            .map(ValueType::Tensor)
            .collect();
        self.draft.random.pick(&tensors).copied()
    }

    fn operand(&mut self, position: usize, formal: &'static Formal) -> Option<Operand> {
        let wanted = table::input(self.schema.name, position);
        if wanted.fill == "none" {
            return Some(Operand::Absent);
        }
        let ty = self.ty(formal)?;
        let is_free = matches!(wanted.fill, "" | "unit" | "pos" | "small" | "cond" | "index");
        // Mostly reuse an existing value, unless the table restricts the elements: then it is unlikely to fit.
        let reuses = match wanted.fill {
            "" => !self.draft.random.once_in(4),
            _ => is_free && self.draft.random.once_in(3),
        };
        if reuses && let Some(known) = self.known(ty, &wanted) {
            return Some(known);
        }
        let ValueType::Tensor(elem) = ty else { return self.known(ty, &wanted) };
        let (fill, shape) = self.filled(&wanted)?;
        let constant = match wanted.is_constant {
            true => !self.draft.random.once_in(4),
            false => self.draft.random.once_in(3),
        };
        let fill = match fill {
            Fill::Any if self.draft.random.once_in(5) => Fill::Extreme,
            fill => fill,
        };
        let array = fill::array(elem, &shape, &fill, &mut self.draft.random)?;
        Some(Operand::New(array, fill, constant))
    }

    /// Chooses an existing value.
    fn known(&mut self, ty: ValueType, wanted: &Wanted) -> Option<Operand> {
        let mut values = self.draft.visible();
        // Prefer recent values.
        values.reverse();
        let newest = values.len().min(3);
        self.draft.random.shuffle(&mut values[..newest]);
        for value in values {
            let Some(val) = self.draft.values.get(&value) else { continue };
            if value_type(val) != Some(ty) {
                continue;
            }
            let val = val.clone();
            let fits = match &val {
                Val::Tensor(array) => {
                    self.letters.accept(wanted.shape, array.shape(), &mut self.draft.random)
                }
                _ => true,
            };
            if fits {
                return Some(Operand::Known(value, val));
            }
        }
        None
    }

    /// Returns the elements that an input needs, and its shape.
    fn filled(&mut self, wanted: &Wanted) -> Option<(Fill, Vec<usize>)> {
        let data = self.letters.data.clone();
        let rank = data.len() as i64;
        let (random, attrs) = (&mut self.draft.random, &self.attrs);
        let exactly = |all: Vec<i64>| {
            let count = all.len();
            Some((Fill::Exactly(all), vec![count]))
        };
        let fill = match wanted.fill {
            "index" => {
                let axis = attr(attrs, "axis").unwrap_or(0);
                let axis = if axis < 0 { axis + rank } else { axis };
                let size = usize::try_from(axis).ok().and_then(|axis| data.get(axis)).copied();
                Fill::Index(size.unwrap_or(2).max(1))
            }
            "pos" => Fill::Positive,
            "unit" => Fill::Unit,
            "small" => Fill::UpTo(3),
            "axes" => {
                let mut axes: Vec<i64> = (0..rank).collect();
                random.shuffle(&mut axes);
                axes.truncate(random.below(data.len() + 1));
                let negative = random.once_in(3);
                return exactly(
                    axes.into_iter().map(|axis| if negative { axis - rank } else { axis }).collect(),
                );
            }
            "axis" => Fill::Exactly(vec![random.between(-rank, (rank - 1).max(-rank))]),
            "reshape" => return exactly(reshaped(&data, random)),
            "expand" => {
                let free = |&size: &usize, random: &mut crate::random::Random| match size {
                    1 => random.between(1, 3),
                    _ if random.once_in(3) => 1,
                    size => size as i64,
                };
                let mut shape: Vec<i64> = data.iter().map(|size| free(size, random)).collect();
                if random.once_in(3) {
                    shape.insert(0, random.between(1, 3));
                }
                return exactly(shape);
            }
            "pads" => return exactly((0..2 * rank).map(|_| random.of_these([0, 0, 0, 1, 2, -1])).collect()),
            "bound" => Fill::Exactly(vec![random.of_these([-2, -1, 1, 2, 3, 9, i64::MAX, i64::MIN])]),
            "step" => Fill::Exactly(vec![random.of_these([1, 1, 1, 2, -1])]),
            "cond" => Fill::Any,
            "false" => Fill::Exactly(vec![0]),
            "scale" => Fill::UpTo(2),
            other => match other.strip_prefix("exactly=") {
                Some(list) => Fill::Exactly(list.split(',').filter_map(|int| int.parse().ok()).collect()),
                None => Fill::Any,
            },
        };
        Some((fill, self.letters.draw(wanted.shape, &mut self.draft.random)))
    }

    /// Computes the node, and adds it if that succeeds.
    fn finish(mut self) -> Result<(), Refusal> {
        while self.operands.len() > usize::from(self.schema.min_inputs)
            && matches!(self.operands.last(), Some(Operand::Absent))
        {
            self.operands.pop();
        }
        let inputs: Vec<Option<Val>> = self.operands.iter().map(Operand::val).collect();
        let (schema, draft) = (self.schema, self.draft);
        let least = usize::from(schema.min_outputs).max(1);
        let most = match schema.outputs.last().map(|formal| formal.option) {
            Some(Arity::Variadic { .. }) => {
                attr(&self.attrs, "num_outputs").map_or(2, |count| count as usize)
            }
            _ => schema.outputs.len(),
        };
        let count = if most > least && draft.random.once_in(2) { most } else { least };
        let opset = if schema.domain.is_empty() {
            Some(draft.opset)
        } else {
            own_opset(&draft.case.model, schema.domain)
        };
        let call = eval::KernelCall {
            domain: schema.domain,
            op: schema.name,
            version: schema.since,
            opset: opset.ok_or(Refusal::Unsupported)?,
            attrs: &Attrs { model: &draft.case.model, attrs: &self.attrs },
            outputs: count,
        };
        let mut made = eval::eval(&call, &inputs, BUDGET)?;
        made.truncate(count);
        if made.iter().any(|val| value_type(val).is_none() && matches!(val, Val::Tensor(_))) {
            return Err(Refusal::TooLarge);
        }
        let inputs = self.operands.into_iter().map(|operand| match operand {
            Operand::Absent => None,
            Operand::Known(value, _) => Some(value),
            Operand::New(array, _, true) => Some(draft.constant(array)),
            Operand::New(array, fill, false) => Some(draft.given(array, fill)),
        });
        let inputs = inputs.collect();
        draft.node(schema.domain, schema.name, inputs, self.attrs, made.into_iter().map(Some).collect());
        Ok(())
    }
}

fn own_opset(model: &Model, domain: &str) -> Option<u16> {
    model.opset(model.main, domain).and_then(|opset| u16::try_from(opset).ok())
}

fn attr(attrs: &[Attribute], name: &str) -> Option<i64> {
    attrs.iter().find(|attr| &*attr.name == name)?.value.as_int()
}

/// Returns the type of a value in terms of the schemas, if it is known.
pub fn value_type(val: &Val) -> Option<ValueType> {
    Some(match val {
        Val::Tensor(array) => ValueType::Tensor(array.elem()),
        Val::Sequence(items) => match items.first()? {
            Val::Tensor(array) => ValueType::Sequence(array.elem()),
            _ => return None,
        },
        Val::Optional(Some(inner)) => match &**inner {
            Val::Tensor(array) => ValueType::Optional(array.elem()),
            _ => return None,
        },
        _ => return None,
    })
}

/// Returns a target shape for Reshape.
/// Dimensions may be merged, moved or added, and one may be -1 or 0.
fn reshaped(data: &[usize], random: &mut crate::random::Random) -> Vec<i64> {
    let mut shape: Vec<i64> = data.iter().map(|&size| size as i64).collect();
    let is_empty = shape.contains(&0);
    if shape.len() > 1 && random.once_in(2) && !is_empty {
        let at = random.below(shape.len() - 1);
        let merged = shape.remove(at) * shape[at];
        shape[at] = merged;
    }
    if random.once_in(4) && !is_empty {
        random.shuffle(&mut shape);
    }
    if random.once_in(4) {
        shape.insert(random.below(shape.len() + 1), 1);
    }
    if !shape.is_empty() && !is_empty {
        let at = random.below(shape.len());
        if random.once_in(3) {
            shape[at] = -1;
        } else if data.get(at).is_some_and(|&size| size as i64 == shape[at]) && random.once_in(3) {
            shape[at] = 0;
        }
    }
    shape
}

struct Attrs<'a> {
    model: &'a Model,
    attrs: &'a [Attribute],
}

impl eval::Attrs for Attrs<'_> {
    fn get(&self, name: &str) -> Option<Attr<'_>> {
        let value = &self.attrs.iter().find(|attr| &*attr.name == name)?.value;
        Some(match value {
            AttrValue::Tensor(id) => Attr::Tensor(Arc::new(infer::array(&self.model.tensors[*id])?)),
            value => infer::attr(value)?,
        })
    }
}
