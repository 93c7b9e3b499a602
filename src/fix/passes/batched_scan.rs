//! Conversion of Scan from opset 8, which has a batch axis, to later versions.
//!
//! In opset 8, axis 0 of every Scan input is the batch axis, and each item is scanned independently. Opset 9
//! removed the batch axis. An outer Scan over the batch that runs an inner Scan on each item is equivalent
//! for any batch size.

use std::sync::Arc;

use crate::diag::rule_ids::{ADAPTED_FORM, RELABELLED_VERSION};
use crate::edit::{Change, Editor, Names, Site};
use crate::fix::pass::{Need, Pass};
use crate::graph::{
    AttrValue, Attribute, Def, Graph, GraphId, Model, Node, NodeId, Owner, Port, Value, ValueId, ValueInfo,
    scopes,
};
use crate::schema;

/// The only opset whose Scan has a batch axis.
const BATCHED: u16 = 8;

/// The pass.
pub const PASS: Pass = Pass {
    id: "batched-scan",
    summary: "Converts `Scan` nodes of opset 8, which have a batch axis, to opset 9.",
    codes: &[ADAPTED_FORM, RELABELLED_VERSION],
    phases: &[],
    need: Need::Required,
    is_enabled: |_| true,
    run: |editor, cx| Ok(unbatch(editor, cx.options.opset)),
};

/// Converts a model with batched Scans from opset 8 to 9, if the target opset is 9 or later.
/// Returns true if the model was converted. The model is unchanged if a Scan has sequence lengths or is
/// malformed, or if another node has different semantics in opset 9.
fn unbatch(editor: &mut Editor, opset: Option<i64>) -> bool {
    let model = editor.model();
    let is_old = model.opset(model.main, "") == Some(i64::from(BATCHED));
    if !is_old || opset.is_none_or(|opset| opset <= i64::from(BATCHED)) {
        return false;
    }
    let live = scopes::live(model);
    let nodes = live.iter().flat_map(|&graph| &model.graphs[graph].nodes).copied();
    let (scans, others): (Vec<NodeId>, Vec<NodeId>) = nodes.partition(|&node| is_scan(&model.nodes[node]));
    let all = scans.iter().map(|&node| BatchedScan::of(&model.nodes[node])).collect::<Option<Vec<_>>>();
    let Some(all) = all.filter(|all| !all.is_empty()) else { return false };
    if !others.iter().all(|&node| means_the_same_in_9(&model.nodes[node])) {
        return false;
    }
    for (node, scan) in scans.into_iter().zip(all) {
        let what = "batched `Scan` decomposed into nested `Scan` nodes";
        editor.change(Change::new(ADAPTED_FORM, Site::Node(node), what), |model, names| {
            scan.nest(model, node, names);
            true
        });
    }
    let relabelled = Change::new(RELABELLED_VERSION, Site::Model, "opset 9 imported");
    editor.change(relabelled, |model, _| {
        for import in model.opsets.iter_mut().filter(|import| import.version == Some(i64::from(BATCHED))) {
            if crate::graph::normal_domain(import.domain.as_deref()).is_empty() {
                import.version = Some(i64::from(BATCHED) + 1);
            }
        }
        true
    });
    true
}

fn is_scan(node: &Node) -> bool {
    node.is("Scan")
}

/// Returns true if the semantics of a node are equal in opsets 8 and 9.
fn means_the_same_in_9(node: &Node) -> bool {
    let epoch = |opset| schema::lookup(node.domain(), &node.op_type, opset).map(|schema| schema.epoch);
    !node.domain().is_empty() || epoch(BATCHED) == epoch(BATCHED + 1)
}

/// Attributes and inputs of a Scan of opset 8.
struct BatchedScan {
    body: GraphId,
    /// State variables, followed by scan inputs.
    inputs: Vec<ValueId>,
    /// Number of scan inputs.
    scanned: i64,
    directions: Option<Vec<i64>>,
}

impl BatchedScan {
    /// Reads a Scan node; returns `None` if the node has sequence lengths, or is malformed.
    fn of(node: &Node) -> Option<Self> {
        let (lengths, inputs) = node.inputs.split_first()?;
        let scanned = node.attr("num_scan_inputs")?.as_int()?;
        let &[body] = node.attr("body")?.graphs() else { return None };
        let is_whole = lengths.is_none() && (1..=inputs.len() as i64).contains(&scanned);
        let inputs = inputs.iter().copied().collect::<Option<Vec<_>>>()?;
        let directions = node.attr("directions").and_then(AttrValue::as_ints).map(<[i64]>::to_vec);
        is_whole.then_some(BatchedScan { body, inputs, scanned, directions })
    }

    /// Turns the node into a Scan over the batch that runs the original Scan on each item.
    fn nest(self, model: &mut Model, node: NodeId, names: &mut Names) {
        let of_item = model.graphs.push(Graph::new(Owner::Node(node)));
        let mut item = |model: &mut Model, like: ValueId, def: Def| {
            let name = names.fresh(&model.values[like].name.clone(), None);
            let value = model.values.push(Value { name, graph: of_item, def, initial: None });
            Port { value, info: ValueInfo::default() }
        };
        let inputs: Vec<Port> =
            (0u32..).zip(&self.inputs).map(|(index, &input)| item(model, input, Def::Input(index))).collect();
        let inner = self.inner(model, node, of_item, &inputs);
        let results: Vec<ValueId> = model.graphs[self.body].outputs.iter().map(|port| port.value).collect();
        let outputs: Vec<Port> = (0u32..)
            .zip(results)
            .map(|(output, result)| item(model, result, Def::Node { node: inner, output }))
            .collect();
        model.nodes[inner].outputs = outputs.iter().map(|port| Some(port.value)).collect();
        model.graphs[self.body].owner = Owner::Node(inner);
        let body = &mut model.graphs[of_item];
        body.name = Some(Arc::from("of_item"));
        (body.inputs, body.outputs, body.nodes) = (inputs, outputs, vec![inner]);
        let all = AttrValue::Int(self.inputs.len() as i64);
        let outer = &mut model.nodes[node];
        outer.inputs = self.inputs.into_iter().map(Some).collect();
        outer.attrs =
            vec![Attribute::new("body", AttrValue::Graph(of_item)), Attribute::new("num_scan_inputs", all)];
    }

    /// Inserts the inner Scan, which processes one batch item; the caller adds the outputs.
    fn inner(&self, model: &mut Model, node: NodeId, graph: GraphId, inputs: &[Port]) -> NodeId {
        let mut attrs = vec![
            Attribute::new("body", AttrValue::Graph(self.body)),
            Attribute::new("num_scan_inputs", AttrValue::Int(self.scanned)),
        ];
        let directions = self.directions.clone().map(AttrValue::Ints);
        attrs.extend(directions.map(|directions| Attribute::new("scan_input_directions", directions)));
        let inputs = inputs.iter().map(|port| Some(port.value)).collect();
        let inner = Node { graph, name: None, inputs, attrs, ..model.nodes[node].clone() };
        model.nodes.push(inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fix::{Options, fix};
    use crate::rules::registry::RuleSet;

    /// Converts a model of opset 8 to 9; compares the operators of each graph, and the number of blockers.
    #[track_caller]
    fn check(scan: &str, graphs: &[&str], blockers: usize) {
        let (model, findings) = crate::read::text::read(&format!(
            "<ir_version: 3, opset_import: [\"\" : 8]>
            g (int64[N] n, float[N,2] s, float[N,T,2] x) => (y, z) {{ {scan} <num_scan_inputs = 1, body = b (float[2] a, float[2] b) => (c, d) {{
                c = Add (a, b)  d = Identity (c)
            }}> }}"
        ));
        assert!(findings.is_empty(), "{findings:?}");
        let options = Options { opset: Some(9), ..Options::default() };
        let outcome = fix(model.expect("a model"), &options, &RuleSet::patterns());
        assert_eq!(outcome.findings.len(), blockers, "{:?}", outcome.findings);
        let model = outcome.model;
        let ops = |graph: GraphId| -> String {
            let nodes = model.graphs[graph].nodes.iter().map(|&node| model.nodes[node].op_name());
            nodes.collect::<Vec<_>>().join(" ")
        };
        let found: Vec<String> = scopes::live(&model).into_iter().map(ops).collect();
        assert_eq!(found, graphs);
    }

    #[test]
    fn a_batched_scan_becomes_nested_scans() {
        check("y, z = Scan (, s, x)", &["Scan", "Scan", "Add Identity"], 0);
    }

    #[test]
    fn a_scan_with_sequence_lengths_blocks_the_conversion() {
        check("y, z = Scan (n, s, x)", &["Scan", "Add Identity"], 1);
    }
}
