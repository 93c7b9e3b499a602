//! Constraints on the shape of an input.

use super::Scope;
use super::value::Value;
use crate::graph::dim::{Answer, Dim};
use crate::infer::fault::Fault;
use crate::infer::shape::{Shape, Size};
use crate::schema::constraints::{Axis, Expr};

/// Sizes that a shape constraint requires of an input.
struct Expected {
    /// One size for each axis of the input, including the axes that `...` stands for.
    sizes: Vec<Size>,
    /// Variables that the shape binds, each with its name and value.
    bound: Vec<(&'static str, Value)>,
}

impl Scope<'_> {
    /// Checks a constraint such as `W [M, C]`.
    pub(super) fn shape(&mut self, input: &str, shapes: &[Vec<Axis>], text: &'static str) -> Option<Fault> {
        self.positions(input)?.find_map(|at| self.shape_of(at, shapes, text))
    }

    fn shape_of(&mut self, at: usize, shapes: &[Vec<Axis>], text: &'static str) -> Option<Fault> {
        let dims = self.cx.dims(at)?.to_vec();
        let Some(expected) = shapes.iter().find_map(|axes| self.matched(&dims, axes)) else {
            let required = self.shown_shapes(shapes);
            return Some(Fault::Shape { input: at, shape: Shape::new(dims), text, required });
        };
        // If several shapes are allowed, more than one may match, so their variables stay unbound.
        if shapes.len() == 1 {
            for (name, value) in expected.bound {
                self.sizes.entry(name).or_insert(value);
            }
        }
        None
    }

    /// Checks a constraint such as `C -> [M, N]`.
    pub(super) fn broadcasts(&self, input: &str, to: &[Axis], text: &'static str) -> Option<Fault> {
        let at = self.position(input)?;
        let dims = self.cx.dims(at)?;
        let target = self.sizes_of(to)?;
        let fits = |dim: &Size, to: &Size| !self.differ(dim, to) || self.may_be_1(dim);
        let is_valid = dims.len() <= target.len()
            && dims.iter().rev().zip(target.iter().rev()).all(|(dim, to)| fits(dim, to));
        let required = Some(Shape::new(target.clone()).to_string());
        (!is_valid).then(|| Fault::Shape { input: at, shape: Shape::new(dims), text, required })
    }

    /// Matches dimensions against a shape; `None` if the dimensions contradict the shape.
    fn matched(&self, dims: &[Size], axes: &[Axis]) -> Option<Expected> {
        let rest = axes.iter().find(|axis| is_rest(axis));
        let known = rest.and_then(|axis| match axis {
            Axis::Rest(name) => Some(self.sizes.get(name)?.as_ints()?.len()),
            _ => None,
        });
        let fixed = axes.len() - usize::from(rest.is_some());
        let has_rank = match (rest, known) {
            (Some(_), Some(known)) => dims.len() == fixed + known,
            (Some(_), None) => dims.len() >= fixed,
            (None, _) => dims.len() == fixed,
        };
        let expected = self.expected(dims, axes).filter(|_| has_rank)?;
        dims.iter().zip(&expected.sizes).all(|(dim, size)| !self.differ(dim, size)).then_some(expected)
    }

    /// Returns the sizes that a shape requires of these dimensions; `None` if there are too few dimensions.
    fn expected(&self, dims: &[Size], axes: &[Axis]) -> Option<Expected> {
        let rest = (dims.len() + 1).checked_sub(axes.len()).filter(|_| axes.iter().any(is_rest)).unwrap_or(0);
        let (mut sizes, mut bound) = (Vec::new(), Vec::new());
        for axis in axes {
            let at = sizes.len();
            match axis {
                Axis::Any => sizes.push(dims.get(at)?.clone()),
                Axis::Others => sizes.extend_from_slice(dims.get(at..at + rest)?),
                Axis::Rest(name) => {
                    let found = dims.get(at..at + rest)?.to_vec();
                    match self.sizes.get(name) {
                        Some(Value::Ints(known)) => sizes.extend(known.iter().cloned()),
                        _ => {
                            sizes.extend(found.iter().cloned());
                            bound.push((*name, Value::Ints(found)));
                        }
                    }
                }
                Axis::Size(Expr::Name(name)) if !self.sizes.contains_key(name) => {
                    let before =
                        bound.iter().find(|(bound, _)| bound == name).map(|(_, value)| value.clone());
                    match (before, dims.get(at)?) {
                        (Some(Value::Int(dim)), _) => sizes.push(Some(dim)),
                        (_, dim) => {
                            sizes.push(dim.clone());
                            bound.extend(dim.clone().map(|dim| (*name, Value::Int(dim))));
                        }
                    }
                }
                Axis::Size(expr) => sizes.push(self.eval(expr).and_then(|value| value.as_int().cloned())),
            }
        }
        Some(Expected { sizes, bound })
    }

    /// Returns the sizes of a shape whose variables are bound.
    fn sizes_of(&self, axes: &[Axis]) -> Option<Vec<Size>> {
        let mut sizes = Vec::new();
        for axis in axes {
            match axis {
                Axis::Any => sizes.push(None),
                Axis::Others => return None,
                Axis::Rest(name) => sizes.extend_from_slice(self.sizes.get(name)?.as_ints()?),
                Axis::Size(expr) => sizes.push(self.eval(expr).and_then(|value| value.as_int().cloned())),
            }
        }
        Some(sizes)
    }

    /// Returns the required shapes for a message, such as `[] or [16]`; `None` if a size is unknown.
    fn shown_shapes(&self, shapes: &[Vec<Axis>]) -> Option<String> {
        let known = |axes: &Vec<Axis>| {
            let sizes = self.sizes_of(axes)?;
            sizes.iter().all(Option::is_some).then(|| Shape::new(sizes).to_string())
        };
        shapes.iter().map(known).collect::<Option<Vec<String>>>().map(|shapes| shapes.join(" or "))
    }

    fn differ(&self, a: &Size, b: &Size) -> bool {
        let (Some(a), Some(b)) = (a, b) else { return false };
        a.equals(b, self.cx.bounds()) == Answer::Never
    }

    fn may_be_1(&self, size: &Size) -> bool {
        size.as_ref().is_none_or(|dim| !dim.equals(&Dim::known(1), self.cx.bounds()).is_never())
    }
}

fn is_rest(axis: &Axis) -> bool {
    matches!(axis, Axis::Rest(_) | Axis::Others)
}
