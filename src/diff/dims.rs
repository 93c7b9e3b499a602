//! Symbolic dimensions of two models, unified through their paired inputs.
//!
//! If an axis is named `batch` in one model and `s0` in the other, both names stand for one size. The combined
//! model names the size once, so that inference compares the sizes of both models.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::pair::{Pair, dims};
use crate::graph::{DeclaredDim, Model, Port, Type, TypeKind, ValueId};

/// Name of a dimension, with its model: `a` is `false`.
type Name = (bool, String);

/// Equivalence of the dimension names of two models.
pub struct PairedDims {
    parents: BTreeMap<Name, Name>,
    /// Names of both models at each axis of the paired inputs, in order.
    axes: Vec<Vec<[Option<String>; 2]>>,
    /// Static sizes that the other model declares for a name.
    sizes: Vec<(Name, i64)>,
}

impl PairedDims {
    /// Unifies the names at the axes of paired inputs.
    pub fn of(a: (&Model, &[Port]), b: (&Model, &[Port]), pairs: &[Pair]) -> Self {
        let declared = |ports: &[Port]| -> FxHashMap<ValueId, Type> {
            ports.iter().filter_map(|port| Some((port.value, port.info.ty.clone()?))).collect()
        };
        let (in_a, in_b) = (declared(a.1), declared(b.1));
        let mut all = PairedDims { parents: BTreeMap::new(), axes: Vec::new(), sizes: Vec::new() };
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
            Some(DeclaredDim::Param(name)) => Some(name.to_string()),
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
    pub fn rename(&mut self, pairs: &mut [Pair]) {
        let mut sizes: BTreeMap<Name, BTreeSet<i64>> = BTreeMap::new();
        for (name, size) in &self.sizes {
            sizes.entry(self.root(name)).or_default().insert(*size);
        }
        let own: BTreeSet<&String> = self.parents.keys().filter(|name| !name.0).map(|name| &name.1).collect();
        let common = |root: Name| {
            let size = sizes.get(&root).filter(|sizes| sizes.len() == 1).and_then(BTreeSet::first);
            let is_taken = root.0 && own.contains(&root.1);
            let name = || if is_taken { format!("{} of b", root.1) } else { root.1.clone() };
            size.map_or_else(|| DeclaredDim::Param(name().into()), |&size| DeclaredDim::Value(size))
        };
        for (pair, axes) in pairs.iter_mut().zip(&self.axes) {
            let kind = pair.ty.as_mut().map(|ty| &mut ty.kind);
            let Some(TypeKind::Tensor { shape: Some(dims), .. }) = kind else { continue };
            for (dim, [a, b]) in dims.iter_mut().zip(axes) {
                let name = a.clone().map(|a| (false, a)).or_else(|| b.clone().map(|b| (true, b)));
                if let Some(name) = name.filter(|_| !matches!(dim.dim, DeclaredDim::Value(_))) {
                    dim.dim = common(self.root(&name));
                }
            }
        }
    }

    /// Finds names of one model that correspond to two names in the other.
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
