use std::io::{Cursor, Write};

use super::{Copies, exported, read};
use crate::diag::Level;
use crate::torch::{Argument, Definition, Size, Trace};

fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).expect("an entry");
        zip.write_all(content).expect("its content");
    }
    zip.finish().expect("an archive").into_inner()
}

/// `y = x.reshape(x.shape[0], 12) + offset`, with `x` of shape `[s0, 3, 4]`, returned in a dict.
const PROGRAM: &str = r#"{
  "graph_module": {
    "graph": {
      "inputs": [{"as_tensor": {"name": "b_offset"}}, {"as_tensor": {"name": "x"}}],
      "outputs": [{"as_tensor": {"name": "add"}}, {"as_tensor": {"name": "add"}}],
      "nodes": [
        {"target": "torch.ops.aten.sym_size.int", "outputs": [{"as_sym_int": {"as_name": "n"}}],
         "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}}, {"name": "dim", "arg": {"as_int": 0}}]},
        {"target": "torch.ops.aten.reshape.default", "outputs": [{"as_tensor": {"name": "r"}}],
         "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}},
                    {"name": "shape", "arg": {"as_sym_ints": [{"as_name": "n"}, {"as_int": 12}]}}],
         "metadata": {"stack_trace": "File \"/app/net.py\", line 9, in forward\n    y = self.block(x)\n  File \"/v/site-packages/torch/f.py\", line 1, in g",
                      "nn_module_stack": "L__self__,,net.Net;L__self__block,block,net.Block"}},
        {"target": "torch.ops.aten.add.Tensor", "outputs": [{"as_tensor": {"name": "add"}}],
         "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "r"}}}, {"name": "other", "arg": {"as_tensor": {"name": "b_offset"}}}]}
      ],
      "tensor_values": {
        "x": {"dtype": 7, "sizes": [{"as_expr": {"expr_str": "Symbol('s0', integer=True)", "hint": {"as_int": 2}}}, {"as_int": 3}, {"as_int": 4}]},
        "b_offset": {"dtype": 7, "sizes": []}
      }
    },
    "signature": {
      "input_specs": [{"buffer": {}}, {"user_input": {}}],
      "output_specs": [{"buffer_mutation": {}}, {"user_output": {}}]
    },
    "module_call_graph": [{"fqn": "", "signature": {"out_spec": "[1, {\"type\": \"builtins.dict\", \"context\": \"[\\\"y\\\"]\"}]"}}]
  },
  "range_constraints": {"s0": {"min_val": 2, "max_val": null}},
  "an unknown field": []
}"#;

fn program(json: &str) -> Option<Trace> {
    let (trace, findings) = read(&archive(&[("NET/models/model.json", json.as_bytes())]));
    assert_eq!(findings, []);
    trace
}

#[test]
fn a_program_is_lowered() {
    let trace = program(PROGRAM).expect("a trace");
    let inputs: Vec<_> = trace.inputs().map(|input| &*trace.value(input).name).collect();
    assert_eq!(inputs, ["x"]);
    assert_eq!(trace.value(trace.block(trace.body).inputs[0]).definition, Definition::Lifted);
    assert_eq!(trace.block(trace.body).outputs.len(), 1);
    assert_eq!(trace.output_keys, ["y".into()]);
    assert_eq!((trace.ranges[0].min, trace.ranges[0].max), (Some(2), None));
    let x = trace.inputs().next().expect("x");
    let shape = trace.value(x).ty.shape().expect("its shape");
    assert_eq!(shape[0], Size::Symbol { name: "s0".into(), traced: Some(2) });
    let reshape = &trace.nodes[1];
    assert_eq!(reshape.op.to_string(), "aten::reshape");
    let sizes = trace.argument(reshape, 1, "shape").and_then(|it| trace.list(it)).expect("sizes");
    assert!(matches!(sizes, [Argument::Value(_), Argument::Int(12)]));
    assert_eq!(&*reshape.scope, "/block");
    let source = reshape.source.as_ref().expect("a source");
    assert_eq!(
        (&*source.file, source.line, source.code.as_deref()),
        ("/app/net.py", 9, Some("y = self.block(x)"))
    );
    assert_eq!(trace.class.as_deref(), Some("net.Net"));
}

#[test]
fn inner_graphs_become_blocks() {
    let cond = r#"{"graph_module": {"graph": {"inputs": [{"as_tensor": {"name": "x"}}], "outputs": [{"as_tensor": {"name": "y"}}], "nodes": [
        {"target": "torch.ops.higher_order.cond", "outputs": [{"as_tensors": [{"name": "y"}]}], "inputs": [
          {"name": "", "arg": {"as_tensor": {"name": "x"}}},
          {"name": "", "arg": {"as_graph": {"name": "then", "graph": {"inputs": [{"as_tensor": {"name": "a"}}], "outputs": [{"as_tensor": {"name": "a"}}], "nodes": []}}}}]}]}}}"#;
    let trace = program(cond).expect("a trace");
    assert_eq!((trace.blocks.len(), trace.nodes[0].blocks.len(), trace.nodes[0].outputs.len()), (2, 1, 1));
}

#[test]
fn early_archives_have_another_layout() {
    let (trace, findings) =
        read(&archive(&[("serialized_exported_program.json", PROGRAM.as_bytes()), ("version", b"5")]));
    assert_eq!((trace.map(|trace| trace.nodes.len()), findings), (Some(3), vec![]));
}

/// `{"offset": tensor([1.5])}`, as `torch.save` writes it.
const DICTIONARY: &[u8] = b"\x80\x02}X\x06\x00\x00\x00offsetctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storage\
    ctorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x01tQK\x00K\x01\x85K\x01\x85\x89ccollections\n\
    OrderedDict\n)RtRs.";

#[test]
fn early_archives_have_dictionaries_of_tensors() {
    let named = r#"{"buffer": {"arg": {"name": "b_offset"}, "buffer_name": "offset"}}"#;
    let json = PROGRAM.replace(r#"{"buffer": {}}"#, named);
    let saved = archive(&[("archive/data.pkl", DICTIONARY), ("archive/data/0", &1.5f32.to_le_bytes())]);
    for entry in ["serialized_state_dict.pt", "serialized_constants.pt"] {
        let whole = archive(&[("serialized_exported_program.json", json.as_bytes()), (entry, &saved)]);
        let (program, findings) = exported(&whole.into(), Copies::LeftOut);
        assert_eq!(findings, []);
        let weights = program.expect("a program").weights;
        assert_eq!(weights["b_offset"].small_floats(4), Some(vec![1.5]));
    }
    let cut = archive(&[
        ("serialized_exported_program.json", json.as_bytes()),
        ("serialized_state_dict.pt", b"PK"),
    ]);
    let (program, findings) = exported(&cut.into(), Copies::Made);
    assert!(program.is_none());
    assert!(
        findings[0].message.contains("`serialized_state_dict.pt` cannot be read"),
        "{}",
        findings[0].message
    );
}

fn check_unreadable(bytes: &[u8], reason: &str) {
    let (trace, findings) = read(bytes);
    assert!(trace.is_none());
    assert_eq!((findings.len(), findings[0].level), (1, Level::Error));
    assert!(findings[0].message.contains(reason), "{}", findings[0].message);
}

#[test]
fn bad_archives_are_findings() {
    check_unreadable(b"", "not a zip file");
    check_unreadable(&archive(&[("NET/data/weights/w", b"x")]), "no `models/*.json`");
    check_unreadable(&archive(&[("NET/models/model.json", b"{")]), "program cannot be parsed");
    check_unreadable(&archive(&[("NET/models/model.json", b"[]")]), "program cannot be parsed");
    check_unreadable(
        &archive(&[("NET/models/model.json", "[".repeat(9999).as_bytes())]),
        "program cannot be parsed",
    );
    let good = archive(&[("NET/models/model.json", PROGRAM.as_bytes())]);
    for end in (0..good.len()).step_by(7) {
        read(&good[..end]);
    }
}

/// Checks the reason for which a program that returns the parameter `w` is rejected.
///
/// `fields` is the metadata of `w`, `weight` the entry of the archive with its elements.
fn check_refused(major: i64, fields: &str, weight: Option<&[u8]>, reason: &str) {
    let program = format!(
        r#"{{"schema_version": {{"major": {major}, "minor": 1}}, "graph_module": {{
          "graph": {{"inputs": [{{"as_tensor": {{"name": "p_w"}}}}], "outputs": [{{"as_tensor": {{"name": "p_w"}}}}], "nodes": []}},
          "signature": {{"input_specs": [{{"parameter": {{"arg": {{"name": "p_w"}}, "parameter_name": "w"}}}}],
                         "output_specs": [{{"user_output": {{}}}}]}}}}}}"#
    );
    let config = format!(r#"{{"config": {{"w": {{"path_name": "weight_0", {fields}}}}}}}"#);
    let mut entries: Vec<(&str, &[u8])> = vec![
        ("NET/models/model.json", program.as_bytes()),
        ("NET/data/weights/model_weights_config.json", config.as_bytes()),
    ];
    entries.extend(weight.map(|weight| ("NET/data/weights/weight_0", weight)));
    let (exported, findings) = exported(&archive(&entries).into(), Copies::Made);
    assert!(exported.is_none());
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].message, format!("the `torch.export` archive cannot be read: {reason}"));
}

#[test]
fn bad_tensors_are_findings() {
    let of = |sizes: &str, strides: &str| {
        format!(
            r#""use_pickle": false, "tensor_meta": {{"dtype": 7, "sizes": [{sizes}], "strides": [{strides}]}}"#
        )
    };
    let (four, one, huge) = (r#"{"as_int": 4}"#, r#"{"as_int": 1}"#, r#"{"as_int": 1099511627776}"#);
    let pickled = r#""use_pickle": true, "tensor_meta": null"#;
    let path = "`NET/data/weights/weight_0`";
    let check = |fields: &str, weight: Option<&[u8]>, reason: &str| check_refused(8, fields, weight, reason);
    check(
        pickled,
        Some(b"\x80\x02"),
        "the tensor `w` is stored as a pickle instead of raw elements, which is not supported",
    );
    check(&of(four, one), Some(b"short"), &format!("the tensor `w` needs 16 bytes, and {path} has fewer"));
    check(&of(four, ""), Some(b""), "the tensor `w` has an unsupported type or an invalid shape");
    let bomb = format!("the tensor `w` inflates from {path} to more than 1073741824 bytes");
    check(&of(huge, one), Some(&[0; 5000]), &bomb);
    let absent = format!("the tensor `w` cannot be read from {path} (specified file not found in archive)");
    check(&of(four, one), None, &absent);
    let newer = "the program has schema version 9; the newest supported version is 8";
    check_refused(9, &of(four, one), Some(&[0; 16]), newer);
}
