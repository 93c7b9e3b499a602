//! Compares the interfaces of two models: pairs inputs and outputs, and finds differences.

use rustc_hash::FxHashMap;

use crate::graph::syntax::declaration;
use crate::graph::{DeclaredDim, Dimension, Initial, Model, Port, Type, TypeKind, ValueId};
use crate::infer::Content;

/// Input or output of both models.
#[derive(Clone, Debug)]
pub struct Pair {
    pub a: ValueId,
    pub b: ValueId,
    /// For an input, the type on which both models agree.
    pub ty: Option<Type>,
}

/// Inputs and outputs of two models.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    pub inputs: Vec<Pair>,
    pub outputs: Vec<Pair>,
    /// Differences that affect a caller.
    pub differences: Vec<String>,
}

impl Pairs {
    /// Pairs inputs and outputs by name, and the remaining ones by position.
    pub fn of(a: &Model, b: &Model) -> Pairs {
        let mut pairs = Pairs::default();
        let (main_a, main_b) = (&a.graphs[a.main], &b.graphs[b.main]);
        pairs.inputs = pairs.side("input", (a, &main_a.inputs), (b, &main_b.inputs));
        pairs.outputs = pairs.side("output", (a, &main_a.outputs), (b, &main_b.outputs));
        pairs.differences.extend(ties(a, b));
        pairs
    }

    fn side(&mut self, what: &str, a: (&Model, &[Port]), b: (&Model, &[Port])) -> Vec<Pair> {
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
                    self.differences.push(format!("{what} `{old}` is named `{new}` in b"));
                }
            }
            match *found {
                Some(at) => pairs.extend(self.pair(what, (a.0, port), (b.0, &b.1[at]))),
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

    fn pair(&mut self, what: &str, a: (&Model, &Port), b: (&Model, &Port)) -> Option<Pair> {
        let (ty_a, ty_b) = (a.1.info.ty.as_ref(), b.1.info.ty.as_ref());
        if without_names(ty_a) != without_names(ty_b) {
            let (was, is) = (declaration(a.0, a.1), declaration(b.0, b.1));
            self.differences.push(format!("{what} `{was}` is declared as `{is}` in b"));
        }
        let pair = |ty| Pair { a: a.1.value, b: b.1.value, ty };
        if what == "output" {
            return Some(pair(None));
        }
        let (default_a, default_b) = (default(a), default(b));
        if default_a != default_b {
            let name = &a.0.values[a.1.value].name;
            self.differences.push(format!("{what} `{name}` has a different default"));
            return None;
        }
        common(ty_a, ty_b).ok().map(pair)
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

/// Finds dimension names of one model that correspond to two names in the other.
fn ties(a: &Model, b: &Model) -> Vec<String> {
    let names = |model: &Model| -> FxHashMap<(String, usize), String> {
        let mut names = FxHashMap::default();
        for port in &model.graphs[model.main].inputs {
            let Some(TypeKind::Tensor { shape: Some(dims), .. }) = port.info.ty.as_ref().map(|ty| &ty.kind)
            else {
                continue;
            };
            for (axis, dim) in dims.iter().enumerate() {
                if let DeclaredDim::Param(param) = &dim.dim {
                    let input = model.values[port.value].name.to_string();
                    names.insert((input, axis), param.to_string());
                }
            }
        }
        names
    };
    let (in_a, in_b) = (names(a), names(b));
    let split =
        |from: &FxHashMap<(String, usize), String>, to: &FxHashMap<(String, usize), String>, which: &str| {
            let mut seen: FxHashMap<&str, &str> = FxHashMap::default();
            let mut places: Vec<_> = from.iter().collect();
            places.sort();
            let mut split = Vec::new();
            for (place, name) in places {
                let Some(other) = to.get(place) else { continue };
                if *seen.entry(name).or_insert(other) != other {
                    split.push(format!("dimension `{name}` {which}: `{}` and `{other}`", seen[&**name]));
                }
            }
            split.dedup();
            split
        };
    let mut all = split(&in_a, &in_b, "of a corresponds to two names in b");
    all.extend(split(&in_b, &in_a, "of b corresponds to two names in a"));
    all
}
