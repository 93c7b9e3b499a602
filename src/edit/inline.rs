//! Inlines local functions, for IR versions and passes that do not support them.

use std::fmt;

use super::{Change, Editor, Site};
use crate::diag::rule_ids::INLINED_FUNCTION;
use crate::graph::{Graph, GraphId, Model, NodeId, OpsetImport, Owner, normal_domain, scopes};

/// Maximum factor by which inlining may multiply the number of nodes.
const NODES_PER_NODE: usize = 64;
/// Number of nodes that inlining may always produce, whatever the factor.
const FEW_NODES: usize = 1 << 16;
/// Maximum number of nodes after inlining, for any model.
const MAX_NODES: usize = 1 << 20;

/// Inlines all calls of local functions, nested ones included, and removes the functions.
///
/// # Errors
/// A function calls itself, two imports of a domain have different versions, or the result is too large.
pub fn inline(editor: &mut Editor) -> Result<(), Hindrance> {
    let imports = united_imports(editor.model())?;
    let most = (editor.model().nodes.len() * NODES_PER_NODE).clamp(FEW_NODES, MAX_NODES);
    if written_out(editor.model())? > most {
        return Err(Hindrance::Size(most));
    }
    let imported = Change::new(INLINED_FUNCTION, Site::Model, "opset imports of the functions added");
    editor.change(imported, |model, _| std::mem::replace(&mut model.opsets, imports) != model.opsets);
    // Without recursion, a chain of calls has at most as many calls as there are functions.
    for _ in 0..=editor.model().functions.len() {
        if !round(editor) {
            let dropped = Change::new(INLINED_FUNCTION, Site::Model, "unused functions removed");
            editor.change(dropped, |model, _| drop_functions(model));
            return Ok(());
        }
    }
    Err(Hindrance::Recursion)
}

/// Returns the number of nodes after all calls, nested ones included, are inlined.
/// The calls themselves count as nodes, too.
fn written_out(model: &Model) -> Result<usize, Hindrance> {
    let contents = |root: GraphId| {
        let graphs = scopes::nested(model, root);
        let nodes = graphs.iter().flat_map(|&graph| &model.graphs[graph].nodes);
        let (calls, plain): (Vec<_>, Vec<_>) =
            nodes.map(|&node| model.callee(node)).partition(Option::is_some);
        (plain.len() + calls.len(), calls.into_iter().flatten().collect::<Vec<usize>>())
    };
    let functions: Vec<(usize, Vec<usize>)> =
        model.functions.iter().map(|function| contents(function.body)).collect();
    let mut sizes: Vec<Option<usize>> = vec![None; functions.len()];
    let mut is_open = vec![false; functions.len()];
    let main = contents(model.main);
    let total = |(own, calls): &(usize, Vec<usize>), sizes: &[Option<usize>]| {
        calls.iter().fold(*own, |sum, &callee| sum.saturating_add(sizes[callee].unwrap_or(0)))
    };
    // Calls are followed without recursion, because chains of calls can be long.
    let mut open = main.1.clone();
    while let Some(&function) = open.last() {
        if sizes[function].is_some() {
            open.pop();
            continue;
        }
        let calls = functions[function].1.iter().copied();
        let mut waits: Vec<usize> = calls.filter(|&callee| sizes[callee].is_none()).collect();
        waits.sort_unstable();
        waits.dedup();
        if waits.iter().any(|&callee| is_open[callee] || callee == function) {
            return Err(Hindrance::Recursion);
        }
        if waits.is_empty() {
            sizes[function] = Some(total(&functions[function], &sizes));
            is_open[function] = false;
            open.pop();
        } else {
            is_open[function] = true;
            open.extend(waits);
        }
    }
    Ok(total(&main, &sizes))
}

/// Removes all functions; returns true if there were any.
/// The graphs of functions become empty but stay in the model, so that ids stay valid.
fn drop_functions(model: &mut Model) -> bool {
    let has_any = !model.functions.is_empty();
    for function in std::mem::take(&mut model.functions) {
        for graph in scopes::nested(model, function.body) {
            model.graphs[graph] = Graph::new(Owner::Model);
        }
    }
    has_any
}

/// Reason why the functions of a model cannot be inlined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hindrance {
    Recursion,
    OtherOpset,
    /// Inlining would produce more than this number of nodes.
    Size(usize),
}

impl fmt::Display for Hindrance {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Hindrance::Recursion => "one function calls itself",
            Hindrance::OtherOpset => {
                "one function imports a different opset version than the model or another function"
            }
            Hindrance::Size(most) => return write!(f, "inlining them would produce more than {most} nodes"),
        })
    }
}

/// Returns the opset imports of the model, extended by those of its functions.
///
/// # Errors
/// The model or another function imports a different version of a domain.
fn united_imports(model: &Model) -> Result<Vec<OpsetImport>, Hindrance> {
    let domain = |import: &OpsetImport| normal_domain(import.domain.as_deref()).to_owned();
    let mut imports = model.opsets.clone();
    for import in model.functions.iter().flat_map(|function| &function.opsets) {
        match imports.iter().find(|own| domain(own) == domain(import)) {
            Some(own) if own.version != import.version => {
                return Err(Hindrance::OtherOpset);
            }
            Some(_) => {}
            None => imports.push(import.clone()),
        }
    }
    Ok(imports)
}

/// Inlines every call currently in the main graph and its subgraphs; returns true if there was one.
fn round(editor: &mut Editor) -> bool {
    let model = editor.model();
    let graphs = scopes::nested(model, model.main).into_iter();
    let nodes = graphs.flat_map(|graph| &model.graphs[graph].nodes).copied();
    let calls: Vec<(NodeId, usize)> = nodes.filter_map(|node| Some((node, model.callee(node)?))).collect();
    let mut patches = Vec::with_capacity(calls.len());
    for &(node, function) in &calls {
        let name = editor.model().nodes[node].op_name();
        let change = Change::new(INLINED_FUNCTION, Site::Node(node), format!("call of `{name}` inlined"));
        patches.push(editor.written_out(node, function, change));
    }
    editor.apply(patches);
    !calls.is_empty()
}
