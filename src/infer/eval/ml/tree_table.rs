//! Decision trees, read from the attributes of `TreeEnsemble` or `TreeEnsembleRegressor`.

use std::collections::BTreeMap;

use crate::infer::eval::cx::Cx;
use crate::infer::eval::shape::to_size;
use crate::infer::eval::{Refusal, Result};

const MALFORMED: Refusal = Refusal::BadInput("the trees are malformed");

/// Target of a branch, by index.
#[derive(Clone, Copy)]
pub(super) enum Next {
    Node(usize),
    Leaf(usize),
}

/// Condition of a node on its feature. If the condition holds, the true branch is taken.
pub(super) enum Test {
    LessOrEqual(f64),
    Less(f64),
    GreaterOrEqual(f64),
    Greater(f64),
    Equal(f64),
    NotEqual(f64),
    Member(Vec<f64>),
}

/// Inner node of a tree, with two branches.
pub(super) struct Node {
    pub(super) feature: usize,
    pub(super) test: Test,
    pub(super) on_true: Next,
    pub(super) on_false: Next,
    /// Whether NaN takes the true branch.
    pub(super) missing_is_true: bool,
}

/// Validated trees: branches lead to existing nodes or leaves, leaves to targets below `targets`.
pub(super) struct Forest {
    pub(super) nodes: Vec<Node>,
    /// Targets and weights of each leaf.
    pub(super) leaves: Vec<Vec<(usize, f64)>>,
    pub(super) roots: Vec<Next>,
    pub(super) targets: usize,
}

impl Forest {
    /// Returns true if every node reads a feature below `features`.
    pub(super) fn reads_only(&self, features: usize) -> bool {
        self.nodes.iter().all(|node| node.feature < features)
    }

    fn checked(self) -> Result<Forest> {
        let exists = |next: &Next| match *next {
            Next::Node(at) => at < self.nodes.len(),
            Next::Leaf(at) => at < self.leaves.len(),
        };
        let sound = self.roots.iter().all(exists)
            && self.nodes.iter().all(|node| exists(&node.on_true) && exists(&node.on_false))
            && self.leaves.iter().flatten().all(|(target, _)| *target < self.targets);
        if sound { Ok(self) } else { Err(MALFORMED) }
    }

    /// Reads `TreeEnsemble`, with separate tables of branches and leaves.
    pub(super) fn of_version_5(cx: &Cx) -> Result<Forest> {
        let ints = |name: &str| cx.ints(name).ok_or(MALFORMED);
        let tensor = |name: &str| cx.array_attr(name).ok_or(MALFORMED)?.f64s();
        let (features, splits, modes) =
            (ints("nodes_featureids")?, tensor("nodes_splits")?, tensor("nodes_modes")?);
        let missing = cx.ints("nodes_missing_value_tracks_true").unwrap_or_default();
        let members = match cx.array_attr("membership_values") {
            Some(values) => values.f64s()?,
            None => vec![],
        };
        let mut members = members.split(|value| value.is_nan());
        let branch = |side: &str| -> Result<Vec<Next>> {
            let (ids, leaves) =
                (ints(&format!("nodes_{side}nodeids"))?, ints(&format!("nodes_{side}leafs"))?);
            let next = |(&id, &leaf): (&i64, &i64)| {
                let id = to_size(id)?;
                Ok(if leaf != 0 { Next::Leaf(id) } else { Next::Node(id) })
            };
            ids.iter().zip(&leaves).map(next).collect()
        };
        let (on_true, on_false) = (branch("true")?, branch("false")?);
        let count = features.len();
        if [splits.len(), modes.len(), on_true.len(), on_false.len()] != [count; 4] {
            return Err(MALFORMED);
        }
        let mut nodes = Vec::with_capacity(count);
        for i in 0..count {
            let test = match modes[i] as u8 {
                0 => Test::LessOrEqual(splits[i]),
                1 => Test::Less(splits[i]),
                2 => Test::GreaterOrEqual(splits[i]),
                3 => Test::Greater(splits[i]),
                4 => Test::Equal(splits[i]),
                5 => Test::NotEqual(splits[i]),
                6 => Test::Member(members.next().ok_or(MALFORMED)?.to_vec()),
                _ => return Err(MALFORMED),
            };
            nodes.push(Node {
                feature: to_size(features[i])?,
                test,
                on_true: on_true[i],
                on_false: on_false[i],
                missing_is_true: missing.get(i).is_some_and(|&tracks| tracks != 0),
            });
        }
        let leaf = |(target, weight): (i64, f64)| Ok(vec![(to_size(target)?, weight)]);
        let leaves = ints("leaf_targetids")?.into_iter().zip(tensor("leaf_weights")?).map(leaf);
        let roots = ints("tree_roots")?.into_iter().map(|root| Ok(Next::Node(to_size(root)?)));
        let (leaves, roots) = (leaves.collect::<Result<_>>()?, roots.collect::<Result<_>>()?);
        Forest { nodes, leaves, roots, targets: to_size(cx.int("n_targets", 1))? }.checked()
    }

    /// Reads `TreeEnsembleRegressor`, with nodes and leaves in one table, keyed by tree and node id.
    pub(super) fn of_version_3(cx: &Cx) -> Result<Forest> {
        let ints = |name: &str| cx.ints(name).ok_or(MALFORMED);
        let (trees, ids) = (ints("nodes_treeids")?, ints("nodes_nodeids")?);
        let (features, splits) = (ints("nodes_featureids")?, reals(cx, "nodes_values")?);
        let (on_true, on_false) = (ints("nodes_truenodeids")?, ints("nodes_falsenodeids")?);
        let modes = cx.texts("nodes_modes").ok_or(MALFORMED)?;
        let missing = cx.ints("nodes_missing_value_tracks_true").unwrap_or_default();
        let count = ids.len();
        let lengths = [trees.len(), features.len(), splits.len(), on_true.len(), on_false.len(), modes.len()];
        if lengths != [count; 6] {
            return Err(MALFORMED);
        }
        let leaf = |i: &usize| modes[*i] == b"LEAF";
        // Leaves and inner nodes are numbered separately, in order of appearance.
        let mut places = BTreeMap::new();
        let inner: Vec<usize> = (0..count).filter(|i| !leaf(i)).collect();
        let outer: Vec<usize> = (0..count).filter(leaf).collect();
        places.extend(inner.iter().enumerate().map(|(at, &i)| ((trees[i], ids[i]), Next::Node(at))));
        places.extend(outer.iter().enumerate().map(|(at, &i)| ((trees[i], ids[i]), Next::Leaf(at))));
        let place = |tree: i64, id: i64| places.get(&(tree, id)).copied().ok_or(MALFORMED);
        let node = |&i: &usize| {
            Ok(Node {
                feature: to_size(features[i])?,
                test: test_of(&modes[i], splits[i])?,
                on_true: place(trees[i], on_true[i])?,
                on_false: place(trees[i], on_false[i])?,
                missing_is_true: missing.get(i).is_some_and(|&tracks| tracks != 0),
            })
        };
        let nodes = inner.iter().map(node).collect::<Result<_>>()?;
        let mut leaves = vec![vec![]; outer.len()];
        let weights = ints("target_ids")?.into_iter().zip(reals(cx, "target_weights")?);
        let owners = ints("target_treeids")?.into_iter().zip(ints("target_nodeids")?);
        for ((tree, id), (target, weight)) in owners.zip(weights) {
            let Next::Leaf(leaf) = place(tree, id)? else { return Err(MALFORMED) };
            leaves[leaf].push((to_size(target)?, weight));
        }
        // The first node of each tree is its root.
        let mut roots = BTreeMap::new();
        for i in 0..count {
            roots.entry(trees[i]).or_insert(place(trees[i], ids[i])?);
        }
        let roots = roots.into_values().collect();
        Forest { nodes, leaves, roots, targets: to_size(cx.int("n_targets", 1))? }.checked()
    }
}

/// Returns numbers from a list attribute, or from a tensor attribute with suffix `_as_tensor`.
fn reals(cx: &Cx, name: &str) -> Result<Vec<f64>> {
    match cx.array_attr(&format!("{name}_as_tensor")) {
        Some(array) => array.f64s(),
        None => cx.floats(name).ok_or(MALFORMED),
    }
}

fn test_of(mode: &[u8], split: f64) -> Result<Test> {
    Ok(match mode {
        b"BRANCH_LEQ" => Test::LessOrEqual(split),
        b"BRANCH_LT" => Test::Less(split),
        b"BRANCH_GTE" => Test::GreaterOrEqual(split),
        b"BRANCH_GT" => Test::Greater(split),
        b"BRANCH_EQ" => Test::Equal(split),
        b"BRANCH_NEQ" => Test::NotEqual(split),
        _ => return Err(MALFORMED),
    })
}
