//! EXP004: an in-place write to memory that is read later through another tensor.

use rustc_hash::FxHashMap;

use crate::diag::Finding;
use crate::diag::rule_ids::IN_PLACE_VIEW_LOST;
use crate::torch::context::Context;
use crate::torch::trace::{Definition, NodeId, Origin, Trace, User, ValueId};
use crate::torch::view::written_through;

/// Maximum number of values sharing memory that are compared with one another.
const MAX_SHARING: usize = 256;

/// Reports in-place writes that the tracing exporter loses.
///
/// The exporter turns `y.add_(1)` into a new value that later readers of `y` use. The exporter
/// follows unnamed slices and selections (`y[0] += 1`), but no other views. After `y.view(-1).add_(1)`, or
/// `row = y[0]; row.add_(1)`, readers of `y` still get the old value. `torch.export` does not lose in-place
/// writes.
pub fn detect(context: &Context, out: &mut Vec<Finding>) {
    let trace = context.trace;
    if trace.origin != Origin::TorchScript {
        return;
    }
    let sharing = values_that_share(context);
    for (id, node) in trace.nodes() {
        let Some(written) = trace.receiver(node).filter(|_| node.op.writes().is_some()) else {
            continue;
        };
        let Some(sharing) = sharing.get(&context.views.root(written)).filter(|all| all.len() <= MAX_SHARING)
        else {
            continue;
        };
        let updated = tracked_as(context, written_through(trace, written));
        let stale = sharing.iter().filter(|&&value| {
            tracked_as(context, value) != updated
                && value != written
                && is_defined_before(context, value, id)
                && context.views.overlap(value, written)
        });
        let read = stale.filter_map(|&value| Some((value, first_read_after(context, value, id)?))).next();
        if let Some((value, reader)) = read {
            out.push(finding(context, id, written, value, reader));
        }
    }
}

/// Maps each tensor that owns its memory to itself and its views, if it has views.
fn values_that_share(context: &Context) -> FxHashMap<ValueId, Vec<ValueId>> {
    let mut by_root: FxHashMap<ValueId, Vec<ValueId>> = FxHashMap::default();
    for value in (0..context.trace.values.len() as u32).map(ValueId) {
        if context.views.base(value).is_some() {
            let root = context.views.root(value);
            by_root.entry(root).or_insert_with(|| vec![root]).push(value);
        }
    }
    by_root
}

/// Returns the value that the exporter tracks: the receiver of the first in-place operator in a chain.
fn tracked_as(context: &Context, mut value: ValueId) -> ValueId {
    let trace = context.trace;
    while let Some(node) =
        trace.producer(value).map(|id| trace.node(id)).filter(|it| it.op.in_place_of().is_some())
    {
        match trace.receiver(node) {
            Some(receiver) => value = receiver,
            None => break,
        }
    }
    value
}

fn is_defined_before(context: &Context, value: ValueId, node: NodeId) -> bool {
    match context.trace.value(value).definition {
        Definition::Node(producer, _) => producer < node,
        Definition::Input(..) | Definition::Lifted => true,
        Definition::Missing => false,
    }
}

/// Returns the first node after `node` that reads the elements of `value`.
/// `Some(None)` means that no later node reads the elements, but the value is an output of the graph.
fn first_read_after(context: &Context, value: ValueId, node: NodeId) -> Option<Option<NodeId>> {
    let trace = context.trace;
    trace.value(value).users.iter().find_map(|user| match *user {
        User::Node(reader) if reader > node && reads_elements(trace, reader, value) => Some(Some(reader)),
        User::Output(block) if block == trace.body => Some(None),
        _ => None,
    })
}

/// Returns false if a node reads only the shape or dtype of a value.
fn reads_elements(trace: &Trace, reader: NodeId, value: ValueId) -> bool {
    let node = trace.node(reader);
    match &*node.op.name {
        // The second operand is an example of the shape or dtype.
        "expand_as" | "reshape_as" | "view_as" | "type_as" | "to" => trace.receiver(node) == Some(value),
        op => !is_about_shape(op),
    }
}

/// Returns true for operators that read only the shape or dtype of their operand.
fn is_about_shape(op: &str) -> bool {
    matches!(
        op,
        "size"
            | "dim"
            | "numel"
            | "len"
            | "stride"
            | "is_floating_point"
            | "zeros_like"
            | "ones_like"
            | "empty_like"
            | "full_like"
            | "new_zeros"
            | "new_ones"
            | "new_empty"
            | "new_full"
            | "rand_like"
            | "randn_like"
            | "randint_like"
    )
}

fn finding(
    context: &Context,
    id: NodeId,
    written: ValueId,
    stale: ValueId,
    reader: Option<NodeId>,
) -> Finding {
    let op = &context.trace.node(id).op;
    let behind = context.describe(stale);
    let message =
        format!("`{}` writes to memory that {behind} shares, and the export loses this write", op.name);
    let finding = context
        .finding(IN_PLACE_VIEW_LOST, id, message)
        .label("written here")
        .note(format!(
            "the tracing exporter updates only {}: {behind} keeps its old elements in the exported model",
            context.describe(written)
        ))
        .help(format!(
            "use an out-of-place operator (`y = f(y)` instead of `f_`), or export with `dynamo=True`, \
             which tracks `{}` through views",
            op.name
        ));
    match reader {
        Some(reader) => {
            finding.related(context.place(reader), format!("{behind} is read here with its old elements"))
        }
        None => finding.note(format!("{behind} is returned with its old elements")),
    }
}
