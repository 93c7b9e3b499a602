//! Evaluation of the constraints of an operator on one call.
//!
//! A constraint is violated only if it is proved false: a value that inference does not know satisfies any
//! constraint. The constraints are data in `schema/constraints`.

mod eval;
mod shapes;
mod trees;
mod value;

use rustc_hash::FxHashMap;

use super::call::{NoSymbols, OpCall, schema_of};
use super::fault::Fault;
use super::ops::Cx;
use super::shape::Size;
use crate::schema::Arity;
use crate::schema::constraints::{Constraint, Kind, constraints};
use value::Value;

/// Returns a fault for each constraint that the call violates.
pub fn violations(call: &OpCall) -> Vec<Fault> {
    let of = constraints(call.domain, call.op);
    if of.is_empty() {
        return Vec::new();
    }
    let mut none = NoSymbols;
    let cx = Cx::new(call, schema_of(call), &mut none);
    let mut scope = Scope { cx, sizes: FxHashMap::default() };
    of.iter().filter_map(|constraint| scope.violation(constraint)).collect()
}

/// A call, and the variables that its constraints have bound.
struct Scope<'c> {
    cx: Cx<'c>,
    sizes: FxHashMap<&'static str, Value>,
}

impl Scope<'_> {
    /// Checks one constraint, and binds its variables.
    fn violation(&mut self, constraint: &Constraint) -> Option<Fault> {
        if let Some(when) = &constraint.when
            && !self.answer(when).is_always()
        {
            return None;
        }
        match &constraint.kind {
            Kind::Shape { input, shapes } => self.shape(input, shapes, constraint.text),
            Kind::Broadcasts { input, to } => self.broadcasts(input, to, constraint.text),
            Kind::Let(name, expr) => {
                let value = self.eval(expr)?;
                self.sizes.insert(name, value);
                None
            }
            Kind::Holds(expr) => self.answer(expr).is_never().then(|| Fault::Constraint {
                name: constraint.subject,
                is: self.shown(constraint.subject),
                why: constraint.why,
            }),
        }
    }

    /// Returns the position of a formal input; `None` if the operator version lacks the input.
    fn formal(&self, input: &str) -> Option<usize> {
        self.cx.schema?.inputs.iter().position(|formal| formal.name == input)
    }

    /// Returns the positions of the inputs that belong to a formal input: several if it is variadic.
    fn positions(&self, input: &str) -> Option<std::ops::Range<usize>> {
        let at = self.formal(input)?;
        let is_variadic = matches!(self.cx.schema?.inputs[at].option, Arity::Variadic { .. });
        Some(at..if is_variadic { self.cx.inputs() } else { at + 1 })
    }

    /// Returns the position of a formal input if the call has this input.
    fn position(&self, input: &str) -> Option<usize> {
        self.formal(input).filter(|&at| self.cx.has(at))
    }

    /// Returns the value of an attribute or constant input, for a message.
    fn shown(&self, name: &str) -> Option<String> {
        let value = self.attribute(name).or_else(|| self.elements(name))?;
        value.is_known().then(|| value.to_string())
    }
}

/// Returns a size as a value.
fn int(size: Size) -> Option<Value> {
    size.map(Value::Int)
}
