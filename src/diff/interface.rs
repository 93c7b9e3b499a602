//! Compares the interfaces of two models: pairs inputs and outputs, and finds differences.

use rustc_hash::FxHashMap;

use super::dims::PairedDims;
use super::pair::{Pair, dims};
use crate::graph::syntax::declaration;
use crate::graph::{DeclaredDim, Dimension, Initial, Model, Port, Type, TypeKind};
use crate::infer::Content;

/// Inputs and outputs of two models.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    pub inputs: Vec<Pair>,
    pub outputs: Vec<Pair>,
    /// Differences that affect a caller.
    pub differences: Vec<String>,
    /// Differences that do not affect the function that the models compute.
    pub notes: Vec<String>,
}

impl Pairs {
    /// Pairs inputs and outputs by name, and the remaining ones by position.
    pub fn of(a: &Model, b: &Model) -> Pairs {
        let mut pairs = Pairs::default();
        let (main_a, main_b) = (&a.graphs[a.main], &b.graphs[b.main]);
        pairs.inputs = pairs.side(Side::Input, (a, &main_a.inputs), (b, &main_b.inputs));
        pairs.outputs = pairs.side(Side::Output, (a, &main_a.outputs), (b, &main_b.outputs));
        let mut dims = PairedDims::of((a, &main_a.inputs), (b, &main_b.inputs), &pairs.inputs);
        dims.rename(&mut pairs.inputs);
        pairs.differences.extend(dims.ties());
        pairs.notes.extend(dims.renamed());
        pairs
    }

    fn side(&mut self, side: Side, a: (&Model, &[Port]), b: (&Model, &[Port])) -> Vec<Pair> {
        let what = side.name();
        let name = |model: &Model, port: &Port| model.values[port.value].name.clone();
        let by_name: FxHashMap<_, usize> =
            b.1.iter().enumerate().map(|(at, port)| (name(b.0, port), at)).collect();
        let mut found: Vec<Option<usize>> =
            a.1.iter().map(|port| by_name.get(&name(a.0, port)).copied()).collect();
        let mut left =
            (0..b.1.len()).filter(|at| !found.contains(&Some(*at))).collect::<Vec<_>>().into_iter();
        let mut pairs = Vec::new();
        for (port, found) in a.1.iter().zip(&mut found) {
            if found.is_none() {
                *found = left.next();
                if let Some(at) = *found {
                    let (old, new) = (name(a.0, port), name(b.0, &b.1[at]));
                    self.notes.push(format!("{what} `{old}` is paired with `{new}` of b, by position"));
                }
            }
            match *found {
                Some(at) => pairs.extend(self.pair(side, (a.0, port), (b.0, &b.1[at]))),
                None => self.differences.push(format!("{what} `{}` is missing in b", name(a.0, port))),
            }
        }
        for at in left {
            self.differences.push(format!("{what} `{}` is missing in a", name(b.0, &b.1[at])));
        }
        let places: Vec<usize> = found.iter().flatten().copied().collect();
        if !places.is_sorted() {
            self.differences.push(format!("{what}s are in a different order"));
        }
        pairs
    }

    fn pair(&mut self, side: Side, a: (&Model, &Port), b: (&Model, &Port)) -> Option<Pair> {
        let (ty_a, ty_b) = (a.1.info.ty.as_ref(), b.1.info.ty.as_ref());
        if without_names(ty_a) != without_names(ty_b) {
            let (was, is) = (declaration(a.0, a.1), declaration(b.0, b.1));
            let text = format!("{} `{was}` is declared as `{is}` in b", side.name());
            // A declared size of an output constrains no run: the proof is about the computed sizes.
            let is_noted = side == Side::Output && common(ty_a, ty_b).is_ok() && !conflict(ty_a, ty_b);
            if is_noted { self.notes.push(text) } else { self.differences.push(text) }
        }
        let pair = |ty| Pair { a: a.1.value, b: b.1.value, ty };
        if side == Side::Output {
            return Some(pair(None));
        }
        let (default_a, default_b) = (default(a), default(b));
        if default_a != default_b {
            let name = &a.0.values[a.1.value].name;
            self.differences.push(format!("input `{name}` has a different default"));
            return None;
        }
        common(ty_a, ty_b).ok().map(pair)
    }
}

/// Side of an interface.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Input,
    Output,
}

impl Side {
    fn name(self) -> &'static str {
        match self {
            Side::Input => "input",
            Side::Output => "output",
        }
    }
}

/// Returns the default of an input, if there is one; its content is `None` if it cannot be compared.
fn default<'m>((model, port): (&'m Model, &Port)) -> Option<Option<Content<'m>>> {
    match model.values[port.value].initial.as_ref()? {
        Initial::Dense(tensor) => Some(Content::of(&model.tensors[*tensor])),
        Initial::Sparse(_) => Some(None),
    }
}

/// Removes denotations and, from a tensor type, the dimension names.
fn without_names(ty: Option<&Type>) -> Option<Type> {
    let mut ty = ty?.clone();
    ty.denotation = None;
    if let TypeKind::Tensor { shape: Some(dims), .. } = &mut ty.kind {
        *dims = dims.iter().map(nameless).collect();
    }
    Some(ty)
}

fn nameless(dim: &Dimension) -> Dimension {
    let dim = match &dim.dim {
        DeclaredDim::Param(_) => DeclaredDim::Absent,
        dim => dim.clone(),
    };
    Dimension { dim, denotation: None }
}

/// Intersects two types. A dimension on which they disagree is left unspecified.
///
/// # Errors
/// The types are incompatible.
fn common(a: Option<&Type>, b: Option<&Type>) -> Result<Option<Type>, ()> {
    // Dimension names come from the first model.
    let (Some(a), Some(b)) = (a, b) else { return Ok(a.cloned().or_else(|| without_names(b))) };
    let (TypeKind::Tensor { elem, shape }, TypeKind::Tensor { elem: elem_b, shape: shape_b }) =
        (&a.kind, &b.kind)
    else {
        return if a == b { Ok(Some(a.clone())) } else { Err(()) };
    };
    if elem != elem_b {
        return Err(());
    }
    let shape = match (shape, shape_b) {
        (Some(a), Some(b)) if a.len() == b.len() => {
            Some(a.iter().zip(b).map(|(a, b)| common_dim(a, b)).collect())
        }
        (Some(_), Some(_)) => return Err(()),
        (Some(shape), None) => Some(shape.clone()),
        (None, other) => other.as_ref().map(|dims| dims.iter().map(nameless).collect()),
    };
    Ok(Some(TypeKind::Tensor { elem: *elem, shape }.into()))
}

fn common_dim(a: &Dimension, b: &Dimension) -> Dimension {
    let dim = match (&a.dim, &b.dim) {
        (DeclaredDim::Value(a), DeclaredDim::Value(b)) if a != b => DeclaredDim::Absent,
        (_, DeclaredDim::Value(size)) => DeclaredDim::Value(*size),
        (dim, _) => dim.clone(),
    };
    Dimension { dim, denotation: None }
}

/// Returns true if two tensor types declare different numbers for an axis.
fn conflict(a: Option<&Type>, b: Option<&Type>) -> bool {
    let (Some(a), Some(b)) = (a.and_then(dims), b.and_then(dims)) else { return false };
    let number = |dim: &Dimension| match dim.dim {
        DeclaredDim::Value(size) => Some(size),
        _ => None,
    };
    a.iter().zip(b).any(|(a, b)| number(a).is_some_and(|a| number(b).is_some_and(|b| a != b)))
}
