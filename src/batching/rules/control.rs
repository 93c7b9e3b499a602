//! If, Loop and Scan: conditions and trip counts are shared, and subgraphs process all samples.

use super::super::body::{Body, reported};
use super::super::cx::Cx;
use super::super::emit::attr_ints;
use super::super::layout::Layout;
use super::super::obstacle::{Result, mixes, unknown, unsupported};
use crate::graph::{AttrValue, GraphId, NodeId};
use crate::infer::eval::index;

/// Returns the subgraph of an attribute.
fn body_of(cx: &Cx, id: NodeId, name: &str) -> Result<GraphId> {
    match cx.model.nodes[id].attr(name).map(AttrValue::graphs) {
        Some(&[graph]) => Ok(graph),
        _ => unknown("its subgraph is missing"),
    }
}

/// Rewrites If.
pub fn branch(cx: &mut Cx, id: NodeId) -> Result<()> {
    if cx.required(id, 0)?.is_carried() {
        return mixes("its condition differs between samples, but it runs one branch for all of them");
    }
    let (yes, no) = (body_of(cx, id, "then_branch")?, body_of(cx, id, "else_branch")?);
    let bodies = [cx.body(yes, &[]), cx.body(no, &[])];
    let [Ok(yes), Ok(no)] = bodies else { return reported() };
    let mut layouts = Vec::new();
    for (&(_, a), &(_, b)) in yes.outputs.iter().zip(&no.outputs) {
        layouts.push(if a.is_carried() { a } else { b });
    }
    cx.settle(yes, &layouts)?;
    cx.settle(no, &layouts)?;
    let inputs = cx.inputs(id);
    let outputs = cx.keep(id, inputs);
    cx.bind_outputs(id, &outputs, &layouts)
}

/// Rewrites a loop body until the layouts of its states are stable.
/// A shared state becomes carried if an iteration returns a carried value.
fn iterated(
    cx: &mut Cx,
    graph: GraphId,
    states: &mut [Layout],
    inputs: impl Fn(&[Layout]) -> Vec<Layout>,
    first: usize,
) -> Result<Body> {
    loop {
        let (layouts, lost) = (cx.layouts.clone(), cx.lost.clone());
        let (obstacles, done) = (cx.obstacles.len(), cx.done.len());
        let body = cx.body(graph, &inputs(states))?;
        let mut is_changed = false;
        for (state, &(_, found)) in states.iter_mut().zip(&body.outputs[first..]) {
            if *state == Layout::Shared && found.is_carried() {
                (*state, is_changed) = (found, true);
            }
        }
        if !is_changed {
            return Ok(body);
        }
        (cx.layouts, cx.lost) = (layouts, lost);
        cx.obstacles.truncate(obstacles);
        cx.done.truncate(done);
    }
}

/// Rewrites Loop.
pub fn loops(cx: &mut Cx, id: NodeId) -> Result<()> {
    let graph = body_of(cx, id, "body")?;
    let mut items = cx.inputs(id);
    for at in 0..2 {
        if cx.operand(id, at).is_some_and(|operand| operand.is_carried()) {
            return mixes("its trip count or condition differs between samples");
        }
    }
    let count = cx.model.graphs[graph].inputs.len().saturating_sub(2);
    if items.len() != count + 2 || cx.model.graphs[graph].outputs.len() <= count {
        return unknown("its inputs or outputs do not match those of its subgraph");
    }
    let mut states = Vec::new();
    for at in 0..count {
        states.push(cx.required(id, at + 2)?.layout);
    }
    let body = iterated(
        cx,
        graph,
        &mut states,
        |states| [Layout::Shared; 2].into_iter().chain(states.iter().copied()).collect(),
        1,
    )?;
    if body.outputs[0].1.is_carried() {
        return mixes("its exit condition differs between samples");
    }
    let scanned: Vec<Layout> = body.outputs[1 + count..].iter().map(|&(_, layout)| layout).collect();
    let layouts: Vec<Layout> =
        [Layout::Shared].into_iter().chain(states.iter().copied()).chain(scanned.iter().copied()).collect();
    cx.settle(body, &layouts)?;
    for (at, &layout) in states.iter().enumerate() {
        let operand = cx.required(id, at + 2)?;
        items[at + 2] = Some(cx.convert(&operand, layout)?);
    }
    let outputs = cx.keep(id, items);
    let mut bound = Vec::new();
    for (at, output) in outputs.iter().enumerate() {
        let layout = match at.checked_sub(count) {
            None => states[at],
            Some(at) => match scanned.get(at) {
                Some(&Layout::Axis { axis, pre, post }) => Layout::Axis { axis: axis + 1, pre, post },
                Some(Layout::Stacked) if output.is_some() => {
                    return unsupported("a scan output has no axis for the samples");
                }
                _ => Layout::Shared,
            },
        };
        bound.push(layout);
    }
    cx.bind_outputs(id, &outputs, &bound)
}

/// Rewrites Scan.
pub fn scan(cx: &mut Cx, id: NodeId) -> Result<()> {
    if cx.scope.opset < 9 {
        return unsupported("Scan of opset 8 has a batch axis of its own");
    }
    let graph = body_of(cx, id, "body")?;
    let mut items = cx.inputs(id);
    let scanned = cx.int(id, "num_scan_inputs").unwrap_or(0) as usize;
    let Some(count) = items.len().checked_sub(scanned) else { return unknown("it has too few inputs") };
    let results = cx.model.graphs[graph].outputs.len();
    if results < count || cx.model.graphs[graph].inputs.len() != items.len() {
        return unknown("its inputs or outputs do not match those of its subgraph");
    }
    let mut states = Vec::new();
    for at in 0..count {
        states.push(cx.required(id, at)?.layout);
    }
    let mut axes = cx.ints(id, "scan_input_axes").unwrap_or_else(|| vec![0; scanned]);
    let mut slices = Vec::new();
    for at in 0..scanned {
        let operand = cx.required(id, count + at)?;
        let Some(axis) = index(axes[at], operand.rank()?) else {
            return unknown("a scan input axis is out of range");
        };
        axes[at] = axis as i64;
        slices.push(match operand.layout {
            Layout::Shared => Layout::Shared,
            Layout::Axis { axis: at, pre, post } if at != axis => {
                Layout::Axis { axis: at - usize::from(axis < at), pre, post }
            }
            _ => {
                items[count + at] = Some(cx.stacked(&operand)?);
                axes[at] += 1;
                Layout::Stacked
            }
        });
    }
    let body = iterated(
        cx,
        graph,
        &mut states,
        |states| states.iter().copied().chain(slices.iter().copied()).collect(),
        0,
    )?;
    let collected: Vec<Layout> = body.outputs[count..].iter().map(|&(_, layout)| layout).collect();
    let layouts: Vec<Layout> = states.iter().copied().chain(collected.iter().copied()).collect();
    cx.settle(body, &layouts)?;
    for (at, &layout) in states.iter().enumerate() {
        let operand = cx.required(id, at)?;
        items[at] = Some(cx.convert(&operand, layout)?);
    }
    let mut to = cx.ints(id, "scan_output_axes").unwrap_or_else(|| vec![0; results - count]);
    let mut bound = states.clone();
    for (layout, to) in collected.iter().zip(&mut to) {
        if *to < 0 && layout.is_carried() {
            return unknown("a scan output axis is negative");
        }
        bound.push(match *layout {
            Layout::Shared => Layout::Shared,
            Layout::Axis { axis, pre, post } => {
                Layout::Axis { axis: axis + usize::from(*to as usize <= axis), pre, post }
            }
            Layout::Stacked => {
                *to += 1;
                Layout::Stacked
            }
        });
    }
    let attrs = vec![attr_ints("scan_input_axes", &axes), attr_ints("scan_output_axes", &to)];
    let outputs = cx.remake(id, items, attrs, &[]);
    cx.bind_outputs(id, &outputs, &bound)
}
