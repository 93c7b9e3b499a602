//! Lowering of orthogonal polynomials, whose degrees are tensors: a Scan over the degrees.
//!
//! The recurrences and limits are those of PyTorch, in the dtype of the result.

use super::argument;
use super::body;
use super::builder::Builder;
use super::part::Part;
use crate::graph::{AttrValue, Attribute, ElemType, Tensor, Type, TypeKind, ValueId};
use crate::torch::Node;

/// A family of polynomials.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Laguerre,
    Legendre,
    /// Hermite polynomials of physicists.
    HermiteH,
    /// Hermite polynomials of probabilists.
    HermiteHe,
}

fn family(name: &str) -> Option<Family> {
    match name {
        "special_laguerre_polynomial_l" => Some(Family::Laguerre),
        "special_legendre_polynomial_p" => Some(Family::Legendre),
        "special_hermite_polynomial_h" => Some(Family::HermiteH),
        "special_hermite_polynomial_he" => Some(Family::HermiteHe),
        _ => None,
    }
}

/// The argument of the polynomials, their degree, and numbers in the dtype of the result.
struct Call {
    family: Family,
    elem: ElemType,
    x: ValueId,
    n: ValueId,
    one: ValueId,
    /// Degree above which PyTorch returns NaN.
    limit: Option<ValueId>,
}

impl Builder<'_> {
    /// Lowers an orthogonal polynomial; returns `false` for any other node.
    pub fn polynomial(&mut self, node: &Node) -> Result<bool, String> {
        let Some(family) = node.op.aten().and_then(family) else { return Ok(false) };
        let Some(&output) = node.outputs.first() else { return Ok(false) };
        let elem = self.trace.value(output).ty.tensor().and_then(|tensor| tensor.elem);
        let elem = elem.filter(|elem| matches!(elem, ElemType::Float | ElemType::Double));
        let elem = elem.ok_or("the dtype of its result is neither float32 nor float64")?;
        let mut operands = Vec::new();
        for (position, name) in ["x", "n"].into_iter().enumerate() {
            let given = self.trace.argument(node, position, name).cloned();
            let given = given.ok_or_else(|| format!("its argument `{name}` is missing"))?;
            let value = argument::operand(self, &given)?.ok_or("one of its operands is missing")?;
            operands.push(self.cast(value, elem));
        }
        let [x, n] = operands[..] else { return Ok(false) };
        let n = self.cast(n, ElemType::Int64);
        let n = self.cast(n, elem);
        let sum = self.call("Add", &[x, n]);
        let shape = self.call("Shape", &[sum]);
        let x = self.call("Expand", &[x, shape]);
        let (zero, one) = (self.real(elem, 0.0), self.real(elem, 1.0));
        let limit = matches!(family, Family::HermiteH | Family::HermiteHe);
        let limit = limit.then(|| self.real(elem, if elem == ElemType::Float { 128.0 } else { 512.0 }));
        let call = Call { family, elem, x, n, one, limit };
        let p = self.call("Expand", &[one, shape]);
        let q = match family {
            Family::Laguerre => self.call("Sub", &[one, x]),
            Family::HermiteH => self.call("Add", &[x, x]),
            Family::Legendre | Family::HermiteHe => x,
        };
        let is_constant = self.call("Less", &[n, one]);
        let start = self.call("Where", &[is_constant, p, q]);
        let mut y = self.degrees(&call, [p, q, start])?;
        if let Some(limit) = limit {
            let (nan, is_beyond) = (self.real(elem, f64::NAN), self.call("Greater", &[n, limit]));
            y = self.call("Where", &[is_beyond, nan, y]);
        }
        let is_negative = self.call("Less", &[n, zero]);
        let value = self.output(output, Part::Real);
        let inputs = [is_negative, zero, y].map(Some).to_vec();
        self.add(("", "Where"), inputs, vec![Some(value)], Vec::new());
        self.define(output, Part::Real, value);
        Ok(true)
    }

    /// Adds the Scan over the degrees from 1 to the largest, or to 2; returns the polynomials.
    ///
    /// ONNX Runtime rejects a Scan without steps.
    fn degrees(&mut self, call: &Call, start: [ValueId; 3]) -> Result<ValueId, String> {
        let flat = self.constant(Tensor::int64s(vec![1], &[-1]));
        let two = self.real(call.elem, 2.0);
        let all = [call.n, two].map(|value| Some(self.call("Reshape", &[value, flat])));
        let all = self.joined(all.to_vec(), 0);
        let scalar = vec![Attribute::new("keepdims", AttrValue::Int(0))];
        let mut end = self.onnx("ReduceMax", vec![Some(all)], scalar);
        if let Some(limit) = call.limit {
            end = self.call("Min", &[end, limit]);
        }
        let range = self.call("Range", &[call.one, end, call.one]);
        let ty = |shape| Type::from(TypeKind::Tensor { elem: Some(call.elem.number()), shape });
        let body = self.body(|builder| {
            let [p, q, result] = ["p", "q", "result"].map(|name| builder.body_input(name, ty(None)));
            let k = builder.body_input("degree", ty(Some(Vec::new())));
            let next = builder.next(call, k, p, q);
            let is_below = builder.call("Less", &[k, call.n]);
            let result = builder.call("Where", &[is_below, next, result]);
            for output in [q, next, result] {
                builder.give_one(output, ty(None));
            }
            Ok(())
        })?;
        let ends = [(); 3].map(|()| self.unmade("Scan"));
        let inputs = start.into_iter().chain([range]).map(Some).collect();
        self.add_with_bodies("Scan", inputs, ends.map(Some).to_vec(), body::scan(body, 1));
        Ok(ends[2])
    }

    /// Returns the polynomial of degree `k + 1`, given those of degrees `k - 1` and `k`.
    fn next(&mut self, call: &Call, k: ValueId, p: ValueId, q: ValueId) -> ValueId {
        let &Call { x, one, .. } = call;
        let twice = self.call("Add", &[k, k]);
        let factor = match call.family {
            Family::Laguerre => {
                let rest = self.call("Sub", &[one, x]);
                self.call("Add", &[twice, rest])
            }
            Family::Legendre => {
                let odd = self.call("Add", &[twice, one]);
                self.call("Mul", &[odd, x])
            }
            Family::HermiteH => self.call("Add", &[x, x]),
            Family::HermiteHe => x,
        };
        let weight = if call.family == Family::HermiteH { twice } else { k };
        let (new, old) = (self.call("Mul", &[factor, q]), self.call("Mul", &[weight, p]));
        let difference = self.call("Sub", &[new, old]);
        match call.family {
            Family::Laguerre | Family::Legendre => {
                let degree = self.call("Add", &[k, one]);
                self.call("Div", &[difference, degree])
            }
            Family::HermiteH | Family::HermiteHe => difference,
        }
    }

    /// Returns a 0-d constant of dtype float32 or float64.
    fn real(&mut self, elem: ElemType, number: f64) -> ValueId {
        let raw = match elem {
            ElemType::Float => (number as f32).to_le_bytes().to_vec(),
            _ => number.to_le_bytes().to_vec(),
        };
        self.constant(Tensor::from_raw(elem, Vec::new(), raw))
    }
}
