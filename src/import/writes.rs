//! Aliases of values, and in-place writes to them.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::torch::{self, NodeId};

/// Alias information about values, and the writes seen so far.
#[derive(Default)]
pub struct Writes {
    /// Maps an alias to the value that it stands for.
    pub(super) same: FxHashMap<torch::ValueId, torch::ValueId>,
    /// The definition of each view.
    pub(super) views: FxHashMap<torch::ValueId, View>,
    /// For a view, the tensor at the end of its chain of bases.
    pub(super) roots: FxHashMap<torch::ValueId, torch::ValueId>,
    /// Values that have, or may have, views.
    pub(super) viewed: FxHashSet<torch::ValueId>,
    /// Possible bases of each value that may or may not be a view.
    /// The number is the write count of the base when the value was computed.
    pub(super) unsure: FxHashMap<torch::ValueId, Vec<(torch::ValueId, usize)>>,
    /// Number of writes to the elements of each root.
    pub(super) counts: FxHashMap<torch::ValueId, usize>,
    /// For each value, the write count that its root had when the value was last computed.
    /// The value is stale if the current write count of the root is greater.
    pub(super) seen: FxHashMap<torch::ValueId, usize>,
    pub(super) depth: usize,
    /// Inputs, buffers and weights that were written to, in order.
    pub outside: Vec<torch::ValueId>,
}

/// Output `place` of `node`, as a view of `base`.
#[derive(Clone, Copy)]
pub struct View {
    pub base: torch::ValueId,
    pub node: NodeId,
    pub place: usize,
}

impl Writes {
    /// Resolves a value through its aliases.
    pub fn of(&self, mut value: torch::ValueId) -> torch::ValueId {
        while let Some(&with) = self.same.get(&value) {
            value = with;
        }
        value
    }

    /// Makes a value an alias of another one.
    pub fn unite(&mut self, value: torch::ValueId, with: torch::ValueId) {
        let with = self.of(with);
        if value != with {
            self.same.insert(value, with);
        }
    }

    /// Returns the tensor at the end of a value's chain of bases.
    pub(super) fn root(&self, value: torch::ValueId) -> torch::ValueId {
        self.roots.get(&value).copied().unwrap_or(value)
    }

    /// Returns the number of writes to the root of a value.
    pub(super) fn count(&self, value: torch::ValueId) -> usize {
        self.counts.get(&self.root(value)).copied().unwrap_or(0)
    }

    /// Returns the write count that the root of a value had when the value was last computed.
    pub(super) fn seen(&self, value: torch::ValueId) -> usize {
        self.seen.get(&value).copied().unwrap_or(0)
    }

    /// Records that a new value may share elements with each of these values.
    pub(super) fn may_share(&mut self, value: torch::ValueId, with: Vec<torch::ValueId>) {
        let of: Vec<_> =
            with.into_iter().map(|base| self.of(base)).map(|base| (base, self.count(base))).collect();
        self.viewed.extend(of.iter().map(|(base, _)| *base));
        self.unsure.insert(value, of);
    }

    /// Drops the alias information about a value before a node defines it again.
    /// A loop's condition, for instance, is lowered twice.
    pub fn forget(&mut self, value: torch::ValueId) {
        self.same.remove(&value);
        self.views.remove(&value);
        self.roots.remove(&value);
        self.unsure.remove(&value);
        self.viewed.remove(&value);
        let count = self.count(value);
        self.seen.insert(value, count);
    }
}
