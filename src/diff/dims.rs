//! Symbolic dimensions of two models, unified through their paired inputs.
//!
//! If an axis is named `batch` in one model and `s0` in the other, both names stand for one size. The combined
//! model names the size once, so that inference compares the sizes of both models.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::pair::{Pair, dims};
use crate::graph::{DeclaredDim, Model, Port, Type, TypeKind, ValueId};
use crate::infer::declared_size;

/// Name of a dimension, with its model: `a` is `false`.
type Name = (bool, String);

/// Equivalence of the dimension names of two models.
pub struct PairedDims {
    parents: BTreeMap<Name, Name>,
    /// Names of both models at each axis of the paired inputs, in order.
    axes: Vec<Vec<[Option<String>; 2]>>,
    /// Static sizes that the other model declares for a name.
    sizes: Vec<(Name, i64)>,
    /// Names that stand for a size, in both models.
    taken: BTreeSet<String>,
}

impl PairedDims {
    /// Unifies the names at the axes of paired inputs.
    pub fn of(a: (&Model, &[Port]), b: (&Model, &[Port]), pairs: &[Pair]) -> Self {
        let declared = |ports: &[Port]| -> FxHashMap<ValueId, Type> {
            ports.iter().filter_map(|port| Some((port.value, port.info.ty.clone()?))).collect()
        };
        let (in_a, in_b) = (declared(a.1), declared(b.1));
        let taken = [a.0, b.0].into_iter().flat_map(names).collect();
        let mut all = PairedDims { parents: BTreeMap::new(), axes: Vec::new(), sizes: Vec::new(), taken };
        for pair in pairs {
            let of = |types: &FxHashMap<ValueId, Type>, value: ValueId| -> Vec<DeclaredDim> {
                let dims = types.get(&value).and_then(dims).unwrap_or_default();
                dims.iter().map(|dim| dim.dim.clone()).collect()
            };
            let (in_a, in_b) = (of(&in_a, pair.a), of(&in_b, pair.b));
            let rank = in_a.len().max(in_b.len());
            let axes = (0..rank).map(|axis| all.axis(in_a.get(axis), in_b.get(axis))).collect();
            all.axes.push(axes);
        }
        all
    }

    fn axis(&mut self, a: Option<&DeclaredDim>, b: Option<&DeclaredDim>) -> [Option<String>; 2] {
        let name = |dim: Option<&DeclaredDim>| match dim {
            Some(dim @ DeclaredDim::Param(name)) if declared_size(dim).is_some() => Some(name.to_string()),
            _ => None,
        };
        let size = |dim: Option<&DeclaredDim>| match dim {
            Some(DeclaredDim::Value(size)) => Some(*size),
            _ => None,
        };
        let names = [name(a), name(b)];
        let keys = [false, true].map(|of_b| names[usize::from(of_b)].clone().map(|name| (of_b, name)));
        for key in keys.iter().flatten() {
            self.parents.entry(key.clone()).or_insert_with(|| key.clone());
        }
        match (&keys, size(a), size(b)) {
            ([Some(a), Some(b)], ..) => {
                let (a, b) = (self.root(a), self.root(b));
                // The lesser name becomes the root: names of the first model are less.
                let (low, high) = if a < b { (a, b) } else { (b, a) };
                self.parents.insert(high, low);
            }
            ([Some(key), None], _, Some(size)) | ([None, Some(key)], Some(size), _) => {
                self.sizes.push((key.clone(), size));
            }
            _ => {}
        }
        names
    }

    fn root(&self, name: &Name) -> Name {
        let mut name = name;
        while let Some(parent) = self.parents.get(name).filter(|parent| *parent != name) {
            name = parent;
        }
        name.clone()
    }

    /// Writes the common name, or the size, of each axis into the types of the paired inputs.
    ///
    /// An equality of sizes that only one model declares is dropped: the other model runs without it, too.
    pub fn rename(&mut self, pairs: &mut [Pair]) {
        let mut sizes: BTreeMap<Name, BTreeSet<i64>> = BTreeMap::new();
        for (name, size) in &self.sizes {
            sizes.entry(self.root(name)).or_default().insert(*size);
        }
        let mut uses: BTreeMap<Name, usize> = BTreeMap::new();
        for names in self.axes.iter().flatten() {
            if let Some(name) = name_of(names) {
                *uses.entry(self.root(&name)).or_default() += 1;
            }
        }
        let has_other_names = self.classes().values().any(|(a, b)| a != b);
        let mut common: BTreeMap<Name, DeclaredDim> = BTreeMap::new();
        for root in uses.keys() {
            let size = sizes.get(root).filter(|sizes| sizes.len() == 1).and_then(BTreeSet::first);
            // If the models use different names, an expression may denote another size in each model.
            let is_kept = !root.0 && is_symbol(&root.1) || !has_other_names;
            let dim = match size {
                Some(&size) => DeclaredDim::Value(size),
                None if is_kept => DeclaredDim::Param(root.1.as_str().into()),
                None => DeclaredDim::Param(self.unused(&root.1).into()),
            };
            common.insert(root.clone(), dim);
        }
        let all_axes = std::mem::take(&mut self.axes);
        for (pair, axes) in pairs.iter_mut().zip(&all_axes) {
            let kind = pair.ty.as_mut().map(|ty| &mut ty.kind);
            let Some(TypeKind::Tensor { shape: Some(dims), .. }) = kind else { continue };
            for (dim, names) in dims.iter_mut().zip(axes) {
                let name = name_of(names).filter(|_| !matches!(dim.dim, DeclaredDim::Value(_)));
                let Some(root) = name.map(|name| self.root(&name)) else { continue };
                let is_of_both = names.iter().all(Option::is_some);
                dim.dim = match uses.get(&root) {
                    Some(2..) if !is_of_both => DeclaredDim::Param(self.unused(&root.1).into()),
                    _ => common[&root].clone(),
                };
            }
        }
        self.axes = all_axes;
    }

    /// Returns a new name for a size that is called `name` in one model.
    fn unused(&mut self, name: &str) -> String {
        let mut unused = if is_symbol(name) { name.to_owned() } else { "size".to_owned() };
        while !self.taken.insert(unused.clone()) {
            unused.push('_');
        }
        unused
    }

    /// Finds names of one model that relate sizes which the other model does not relate.
    pub fn ties(&self) -> Vec<String> {
        let names = self.classes();
        let mut all = Vec::new();
        for (a, b) in names.values() {
            if let (Some(name), [first, second, ..]) = (a.first(), b.as_slice()) {
                let text = "of a corresponds to two names in b";
                all.push(format!("dimension `{name}` {text}: `{first}` and `{second}`"));
            }
            if let ([first, second, ..], Some(name)) = (a.as_slice(), b.first()) {
                let text = "of b corresponds to two names in a";
                all.push(format!("dimension `{name}` {text}: `{first}` and `{second}`"));
            }
            let is_expression = |name: &&String| !is_symbol(name);
            if let Some(name) = a.iter().chain(b).find(is_expression).filter(|_| a != b) {
                all.push(format!("dimension `{name}` is declared by one model only"));
            }
        }
        let mut uses: BTreeMap<Name, (usize, usize)> = BTreeMap::new();
        for axis in self.axes.iter().flatten() {
            if let Some(name) = name_of(axis) {
                let (all, unnamed) = uses.entry(self.root(&name)).or_default();
                *all += 1;
                *unnamed += usize::from(axis.iter().any(Option::is_none));
            }
        }
        for ((of_b, name), _) in uses.iter().filter(|(_, (all, unnamed))| *all > 1 && *unnamed > 0) {
            let (model, other) = if *of_b { ("b", "a") } else { ("a", "b") };
            all.push(format!("dimension `{name}` of {model} equates sizes that {other} does not equate"));
        }
        all
    }

    /// Lists dimensions that have different names in the models.
    pub fn renamed(&self) -> Vec<String> {
        let names = self.classes();
        let pairs = names.values().filter_map(|(a, b)| match (a.as_slice(), b.as_slice()) {
            ([a], [b]) if a != b => Some(format!("dimension `{a}` is named `{b}` in b")),
            _ => None,
        });
        pairs.collect()
    }

    /// Returns the names of both models in each class.
    fn classes(&self) -> BTreeMap<Name, (Vec<String>, Vec<String>)> {
        let mut classes: BTreeMap<Name, (Vec<String>, Vec<String>)> = BTreeMap::new();
        for name in self.parents.keys() {
            let (a, b) = classes.entry(self.root(name)).or_default();
            if name.0 { b.push(name.1.clone()) } else { a.push(name.1.clone()) }
        }
        classes
    }
}

/// Returns the name of an axis, of the first model if both name it.
fn name_of([a, b]: &[Option<String>; 2]) -> Option<Name> {
    a.clone().map(|a| (false, a)).or_else(|| b.clone().map(|b| (true, b)))
}

/// Returns true if a name is one symbol rather than an expression such as `N + 1`.
fn is_symbol(name: &str) -> bool {
    !name.starts_with(|first: char| first.is_ascii_digit())
        && name.chars().all(|char| char.is_alphanumeric() || char == '_')
}

/// Returns all dimension names of the inputs and outputs of a model's graphs.
fn names(model: &Model) -> Vec<String> {
    let ports = model.graphs.iter().flat_map(|(_, graph)| graph.inputs.iter().chain(&graph.outputs));
    let dims = ports.filter_map(|port| dims(port.info.ty.as_ref()?)).flatten();
    let names = dims.filter_map(|dim| match &dim.dim {
        DeclaredDim::Param(name) => Some(name.to_string()),
        _ => None,
    });
    names.collect()
}
