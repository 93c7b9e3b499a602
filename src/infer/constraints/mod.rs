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

#[cfg(test)]
mod tests {
    use crate::infer::testing::check_faults;

    #[test]
    fn empty_lists_count_as_absent() {
        let labels = "classlabels_ints: ints = [], classlabels_strings = [\"a\", \"b\"]";
        let machine = |more: &str| {
            format!(
                "g (float[2, 1] x) => (l, y) {{
                    l, y = ai.onnx.ml.SVMClassifier <kernel_params = [0.5, 0.0, 3.0], vectors_per_class = [1, 1],
                        support_vectors = [1.0, 2.0], coefficients = [1.0, -1.0], rho = [0.1], {more}> (x)
                }}"
            )
        };
        check_faults(&machine(labels), &[]);
        check_faults(&machine("classlabels_ints = [0, 1], prob_a: floats = []"), &[]);
        let trees = "g (float[2, 1] x) => (l, y) {
            l, y = ai.onnx.ml.TreeEnsembleClassifier <nodes_treeids = [0, 0, 0], nodes_nodeids = [0, 1, 2],
                nodes_featureids = [0, 0, 0], nodes_modes = [\"BRANCH_LEQ\", \"LEAF\", \"LEAF\"],
                nodes_values = [0.5, 0.0, 0.0], nodes_truenodeids = [1, 0, 0], nodes_falsenodeids = [2, 0, 0],
                class_treeids = [0, 0], class_nodeids = [1, 2], class_ids = [0, 1], class_weights = [1.0, 1.0],
                classlabels_int64s: ints = [], classlabels_strings = [\"a\", \"b\"]> (x)
        }";
        check_faults(&format!("<ir_version: 8, opset_import: [\"\" : 17, \"ai.onnx.ml\" : 3]> {trees}"), &[]);
        let imputer =
            "ai.onnx.ml.Imputer <imputed_value_floats = [1.0], imputed_value_int64s: ints = []> (x)";
        check_faults(&format!("g (float[2, 1] x) => (y) {{ y = {imputer} }}"), &[]);
        let map = "ai.onnx.ml.ZipMap <classlabels_int64s: ints = [], classlabels_strings = [\"a\"]> (x)";
        check_faults(&format!("g (float[2, 1] x) => (y) {{ y = {map} }}"), &[]);
        let split = "g (float[N] x) => (a, b) <int64[0] sizes = {}> { a, b = Split(x, sizes) }";
        let split = format!("<ir_version: 8, opset_import: [\"\" : 17]> {split}");
        check_faults(&split, &[]);
        let message = "`split` must have one size per output";
        check_faults(&split.replace("[N]", "[4]"), &[message]);
        check_faults(&split.replace("int64[0] sizes = {}", "int64[1] sizes = {4}"), &[message]);
    }

    #[test]
    fn branches_of_an_if_may_violate_what_holds_only_when_the_node_runs() {
        let header = "<ir_version: 8, opset_import: [\"\" : 18]>";
        let split = "a, b, c, d = Split <num_outputs = 4> (x)";
        let fault = "`num_outputs` must be so small that elements remain for each output";
        check_faults(&format!("{header} g (float[5] x) => (a) {{ {split} }}"), &[fault]);
        let branches = format!(
            "then_branch = t () => (a) {{ {split} }}, else_branch = e () => (e) {{ e = Identity (x) }}"
        );
        check_faults(&format!("{header} g (float[5] x, bool p) => (y) {{ y = If (p) <{branches}> }}"), &[]);
    }
}
