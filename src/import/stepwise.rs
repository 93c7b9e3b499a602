//! Lowering of matrix factorizations, which have one step for each pivot.
//!
//! Singular values have a fixed number of steps for each row, which rotate pairs of rows.
//!
//! Rules lower three operators: `aten.start.…` returns the initial state, `aten.step.…` computes a state from
//! the one before, and `aten.end.…` computes the results from the last state. Up to 16 steps are unrolled;
//! more steps, or a dynamic number of steps, become a Loop.

use super::argument;
use super::builder::{Builder, tensor_type};
use super::part::Part;
use crate::graph::{AttrValue, Attribute, DeclaredDim, Dimension, ElemType, Tensor, Type, TypeKind, ValueId};
use crate::schema::aten::{self, Stage};
use crate::torch::{Argument, Input, Node, User};

/// Largest number of steps that are unrolled.
const UNROLLED: i64 = 16;

/// Operator whose step rotates rows.
const ROTATION: &str = "linalg_svdvals";

/// Largest number of sweeps of rotations, each of which rotates all pairs of rows.
const SWEEPS: i64 = 16;

/// Returns the position of the factored matrix among the arguments.
fn matrix(op: &str) -> usize {
    usize::from(matches!(op, "cholesky_solve" | "triangular_solve"))
}

impl Builder<'_> {
    /// Lowers a factorization; returns `false` for any other node, and for matrices without elements.
    pub fn stepwise(&mut self, node: &Node) -> Result<bool, String> {
        let Some(op) = node.op.aten().filter(|op| aten::is_stepwise(op)) else { return Ok(false) };
        let ty = |argument: &Argument| self.trace.value(self.trace.as_value(argument)?).ty.tensor();
        let shape = |argument: &Argument| ty(argument)?.shape.as_deref();
        let Some(factored) = node.inputs.get(matrix(op)).map(|input| &input.argument) else {
            return Ok(false);
        };
        let Some(sizes @ [.., rows, columns]) = shape(factored) else { return Ok(false) };
        let count = rows.fixed().zip(columns.fixed()).map(|(rows, columns)| rows.min(columns));
        let is_unrolled = count.is_some_and(|count| count <= UNROLLED);
        // A rule lowers large triangular systems of float32 to a few products of matrices.
        let is_float = ty(factored).is_some_and(|ty| ty.elem == Some(ElemType::Float));
        let is_rotated = aten::is_rotated(op);
        if count == Some(0)
            || op == "linalg_solve_triangular" && is_float && !is_unrolled
            || is_rotated && !self.needs_singular_values(node, op, sizes.len())
        {
            return Ok(false);
        }
        let inputs = node.inputs.iter().filter_map(|input| shape(&input.argument));
        let outputs = node.outputs.iter().filter_map(|&output| self.trace.value(output).ty.shape());
        let rank = inputs.chain(outputs).map(<[_]>::len).max().unwrap_or_default();
        let absent = Dimension { dim: DeclaredDim::Absent, denotation: None };
        let elem = Some(ElemType::Double.number());
        let ty: Type = TypeKind::Tensor { elem, shape: Some(vec![absent; rank]) }.into();

        let called = argument::called(self, node)?;
        let matrix = called.inputs.get(matrix(op)).copied().flatten().ok_or("its matrix is missing")?;
        let name = |stage: Stage| format!("{}{}", stage.prefix(), called.op);
        let start = self.aten(&name(Stage::Start), called.inputs.clone(), called.attrs.clone(), ty.clone());
        // The steps of an operator with `info` find the first zero pivot, which few programs read.
        let plain = called.op.strip_suffix("_ex").filter(|_| !self.reads_last(node));
        let step = if is_rotated { ROTATION } else { plain.unwrap_or(&called.op) };
        let step = format!("{}{step}", Stage::Step.prefix());
        // QR of a square matrix: the last row has no element to clear.
        let is_square = rows.fixed() == columns.fixed();
        let count = count.map(|count| if op == "linalg_qr" && is_square { count - 1 } else { count });
        let end = match count.filter(|_| is_unrolled && !is_rotated) {
            Some(count) => (0..count).fold(start, |state, round| {
                let round = self.constant(Tensor::int64s(Vec::new(), &[round]));
                self.aten(&step, vec![Some(state), Some(round)], Vec::new(), ty.clone())
            }),
            None if is_rotated => {
                let count = self.rotations(start);
                self.steps(count, start, &step, &ty)?
            }
            None => {
                let count = self.least_size(matrix, -2, None);
                self.steps(count, start, &step, &ty)?
            }
        };
        let results: Vec<ValueId> =
            node.outputs.iter().map(|&output| self.output(output, Part::Real)).collect();
        let inputs = std::iter::once(Some(end)).chain(called.inputs).collect();
        let outputs = results.iter().copied().map(Some).collect();
        self.add((aten::DOMAIN, &name(Stage::End)), inputs, outputs, called.attrs);
        for (&of, &value) in node.outputs.iter().zip(&results) {
            self.define(of, Part::Real, value);
        }
        Ok(true)
    }

    /// Returns true if the program reads the last result of a node, except in checks.
    fn reads_last(&self, node: &Node) -> bool {
        let users = node.outputs.last().map(|&last| &self.trace.value(last).users);
        users.into_iter().flatten().any(|user| match user {
            User::Node(user) => !self.trace.node(*user).is_check(),
            User::Output(_) => true,
        })
    }

    /// Returns true if a node depends on singular values: of the norms and condition numbers, only some do.
    fn needs_singular_values(&self, node: &Node, op: &str, rank: usize) -> bool {
        let argument = |names: &[&str], position: usize| {
            let is_named = |input: &&Input| input.name.as_deref().is_some_and(|name| names.contains(&name));
            let by_place = || node.inputs.get(position).filter(|input| input.name.is_none());
            let found = node.inputs.iter().find(is_named).or_else(by_place)?;
            Some(self.trace.see(&found.argument)).filter(|argument| **argument != Argument::None)
        };
        if !matches!(op, "linalg_cond" | "linalg_matrix_norm" | "linalg_norm") {
            return true;
        }
        let is_spectral = match argument(&["ord", "p"], 1) {
            Some(Argument::Int(order)) => order.abs() == 2,
            Some(Argument::Float(order)) => order.abs() == 2.0,
            Some(Argument::Str(order)) => &**order == "nuc",
            _ => op == "linalg_cond",
        };
        let has_two_axes = match (op, argument(&["dim"], 2)) {
            ("linalg_norm", Some(Argument::List(axes))) => axes.len() == 2,
            ("linalg_norm", Some(_)) => false,
            ("linalg_norm", None) => rank == 2,
            _ => true,
        };
        is_spectral && has_two_axes
    }

    /// Adds the number of rotations for a state: some sweeps of one step for each row.
    fn rotations(&mut self, state: ValueId) -> ValueId {
        let rows = self.least_size(state, -2, Some(-1));
        let sweeps = self.constant(Tensor::int64s(Vec::new(), &[SWEEPS]));
        self.onnx("Mul", vec![Some(rows), Some(sweeps)], Vec::new())
    }

    /// Adds the least of some sizes of a value.
    fn least_size(&mut self, of: ValueId, start: i64, end: Option<i64>) -> ValueId {
        let bounds = [Some(("start", start)), end.map(|end| ("end", end))];
        let bounds = bounds.into_iter().flatten();
        let bounds = bounds.map(|(name, bound)| Attribute::new(name, AttrValue::Int(bound))).collect();
        let sizes = self.onnx("Shape", vec![Some(of)], bounds);
        let scalar = vec![Attribute::new("keepdims", AttrValue::Int(0))];
        self.onnx("ReduceMin", vec![Some(sizes)], scalar)
    }

    /// Adds a Loop of `count` steps.
    fn steps(&mut self, count: ValueId, start: ValueId, step: &str, ty: &Type) -> Result<ValueId, String> {
        let body = self.body(|builder| {
            let [round, truth] = [ElemType::Int64, ElemType::Bool].map(|elem| tensor_type(elem, Vec::new()));
            let round = builder.body_input("round", round);
            let again = builder.body_input("again", truth.clone());
            let state = builder.body_input("state", ty.clone());
            let next = builder.aten(step, vec![Some(state), Some(round)], Vec::new(), ty.clone());
            builder.give_one(again, truth);
            builder.give_one(next, ty.clone());
            Ok(())
        })?;
        let end = self.unmade("Loop");
        self.declare(end, ty.clone());
        let attrs = vec![Attribute::new("body", AttrValue::Graph(body))];
        self.add_with_bodies("Loop", vec![Some(count), None, Some(start)], vec![Some(end)], attrs);
        Ok(end)
    }
}
