//! `--dynamic`: static dimensions become dynamic, or the model is refused.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use onnx_lint::fix::{FreeDim, Options, fix};
use onnx_lint::graph::{ElemType, Model, order};
use onnx_lint::infer::eval::{Array, Val};
use onnx_lint::infer::execute::{Executor, Limits};
use onnx_lint::rules::registry::RuleSet;
use onnx_lint::{LintOptions, infer, lint, read, write};

const LIMITS: Limits = Limits { bytes: 1 << 28, work: 1 << 32 };

fn model(text: &str) -> Model {
    let (model, findings) = read::text::read(&format!("<ir_version: 10, opset_import: [\"\" : 17]> {text}"));
    assert!(findings.is_empty(), "{findings:?}");
    model.expect("a model")
}

fn asked(requests: &[&str]) -> Vec<FreeDim> {
    requests.iter().map(|request| request.parse().expect("a request")).collect()
}

fn dynamic(model: &Model, requests: &[&str]) -> Result<Model, Vec<String>> {
    let options = Options { dynamic: asked(requests), ..Options::default() };
    let outcome = fix(model.clone(), &options, &RuleSet::patterns());
    match outcome.findings.is_empty() {
        true => Ok(outcome.model),
        false => Err(outcome.findings.iter().map(|finding| finding.message.clone()).collect()),
    }
}

/// Returns the batch axis of an input: 0, except for a cache of keys and values.
fn axis(name: &str) -> usize {
    if name == "past" { 2 } else { 0 }
}

fn drawn(elem: ElemType, shape: &[usize], seed: usize) -> Val {
    let count: usize = shape.iter().product();
    let number = |at: usize| (at * 7919 + seed * 104_729 + 13) % 1009;
    let array = match elem {
        ElemType::Int64 => {
            Array::i64s(shape.to_vec(), (0..count).map(|at| (number(at) % 2) as i64).collect())
        }
        _ => {
            let floats: Vec<f32> = (0..count).map(|at| number(at) as f32 / 504.5 - 1.0).collect();
            Array::new(elem, shape.to_vec(), infer::Buffer::F32(floats))
        }
    };
    Val::from(array.expect("a tensor"))
}

fn array(val: &Val) -> &Array {
    let Val::Tensor(array) = val else { panic!("not a tensor") };
    array
}

fn run(model: &Model, feeds: &[Val]) -> Vec<Val> {
    let mut executor = Executor::new(model, LIMITS);
    let graph = &model.graphs[model.main];
    for (port, feed) in graph.inputs.iter().zip(feeds) {
        executor.give(port.value, feed.clone());
    }
    for node in order::sorted_or_file(model, model.main) {
        executor.run(node).unwrap_or_else(|why| panic!("{}: {why:?}", model.nodes[node].op_name()));
    }
    graph.outputs.iter().map(|port| executor.value(port.value).expect("an output")).collect()
}

/// Concatenates tensors along an axis.
fn joined(parts: &[Val], axis: usize) -> Val {
    let parts: Vec<&Array> = parts.iter().map(array).collect();
    let mut shape = parts[0].shape().to_vec();
    let (outer, inner): (usize, usize) = (shape[..axis].iter().product(), shape[axis..].iter().product());
    let all = Array::gathered(parts[0].elem(), &parts).expect("parts of one type");
    shape[axis] *= parts.len();
    let from = |block: usize, part: usize, at: usize| part * outer * inner + block * inner + at;
    let order: Vec<usize> = (0..outer)
        .flat_map(|block| {
            (0..parts.len()).flat_map(move |part| (0..inner).map(move |at| from(block, part, at)))
        })
        .collect();
    Val::from(all.take(shape, &order).expect("a tensor"))
}

/// Compares one run of a dynamic model on `count` samples with `count` runs of the original model.
fn hold(name: &str, before: &Model, after: &Model, count: usize, faults: &mut String) {
    let facts = infer::infer(before, infer::Options::default());
    let inputs = &before.graphs[before.main].inputs;
    let feeds: Vec<Vec<Val>> = (0..count)
        .map(|sample| {
            let feed = |(at, port): (usize, &onnx_lint::graph::Port)| {
                let fact = &facts[port.value];
                let shape = fact.shape().and_then(|shape| shape.to_static()).expect("a static input");
                drawn(fact.elem().expect("a type"), &shape, sample * 17 + at)
            };
            inputs.iter().enumerate().map(feed).collect()
        })
        .collect();
    let each: Vec<Vec<Val>> = feeds.iter().map(|feeds| run(before, feeds)).collect();
    let all: Vec<Val> = (0..inputs.len())
        .map(|at| {
            let parts: Vec<Val> = feeds.iter().map(|feeds| feeds[at].clone()).collect();
            joined(&parts, axis(&before.values[inputs[at].value].name))
        })
        .collect();
    for (at, found) in run(after, &all).iter().enumerate() {
        let parts: Vec<Val> = each.iter().map(|outputs| outputs[at].clone()).collect();
        let (one, found) = (array(&parts[0]).shape().to_vec(), array(found));
        let grown = (0..one.len()).find(|&axis| found.shape().get(axis) != one.get(axis));
        let wanted = joined(&parts, if count == 1 { 0 } else { grown.unwrap_or(0) });
        let wanted = array(&wanted);
        if wanted.shape() != found.shape() {
            let _ = writeln!(faults, "{name} at {count}: {:?} for {:?}", found.shape(), wanted.shape());
            continue;
        }
        let (Ok(a), Ok(b)) = (wanted.f64s(), found.f64s()) else { continue };
        if let Some(at) = a.iter().zip(&b).position(|(a, b)| (a - b).abs() > 1e-4 * a.abs().max(1.0)) {
            let _ = writeln!(faults, "{name} at {count}: element {at} is {} for {}", b[at], a[at]);
        }
    }
}

#[track_caller]
fn check(text: &str, requests: &[&str]) {
    let before = model(text);
    let after = dynamic(&before, requests).expect("a model for any number of samples");
    let mut faults = String::new();
    (1..=3).for_each(|count| hold("model", &before, &after, count, &mut faults));
    assert!(faults.is_empty(), "{faults}{}", write::text::write(&after));
}

#[track_caller]
fn refused(text: &str, requests: &[&str], words: &str) {
    let before = model(text);
    let findings = dynamic(&before, requests).expect_err("a refusal");
    assert!(findings.iter().any(|message| message.contains(words)), "{findings:?}");
    let options = LintOptions { dynamic: asked(requests), ..LintOptions::default() };
    let messages: Vec<String> = lint(&before, &options).into_iter().map(|finding| finding.message).collect();
    assert!(findings.iter().all(|message| messages.contains(message)), "{findings:?} is not in {messages:?}");
}

#[test]
fn exported_models_compute_each_sample_independently() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dynamic/exported");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    assert!(paths.len() >= 36, "{} models", paths.len());
    let mut faults = String::new();
    for path in paths {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        let before = onnx_lint::open(&path).expect("a model").model;
        let inputs = &before.graphs[before.main].inputs;
        let names = inputs.iter().map(|port| before.values[port.value].name.to_string());
        let requests: Vec<String> = names.map(|name| format!("{name}:{}=N", axis(&name))).collect();
        match dynamic(&before, &requests.iter().map(String::as_str).collect::<Vec<_>>()) {
            Ok(after) => {
                [1, 3].into_iter().for_each(|count| hold(&name, &before, &after, count, &mut faults))
            }
            Err(findings) => {
                let _ = writeln!(faults, "{name}: {findings:?}");
            }
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

#[test]
fn channel_shuffle_keeps_the_batch_in_both_reshapes() {
    check(
        "g (float[1,8,5,5] x) => (y) <int64[5] s = {1, 2, 4, 5, 5}, int64[4] t = {1, -1, 5, 5}> {
            a = Reshape (x, s)
            b = Transpose <perm = [0, 2, 1, 3, 4]> (a)
            y = Reshape (b, t)
        }",
        &["x:0=N"],
    );
}

#[test]
fn class_token_is_repeated_for_every_sample() {
    check(
        "g (float[1,4,2] x) => (y) <float[1,1,2] cls = {1, 2}> { y = Concat <axis = 1> (cls, x) }",
        &["x:0=N"],
    );
}

#[test]
fn squeezed_batch_axis_is_computed_per_sample() {
    check(
        "g (float[1,4,4] x) => (y) <int64[1] first = {0}> {
            a = Squeeze (x, first)
            b = MatMul (a, a)
            c = Transpose (b)
            y = Unsqueeze (c, first)
        }",
        &["x:0=N"],
    );
}

#[test]
fn reduction_over_all_axes_is_computed_per_sample() {
    check("g (float[1,3,4] x) => (y) { m = ReduceMean (x)  y = Sub (x, m) }", &["x:0=N"]);
}

#[test]
fn initial_state_of_an_lstm_is_repeated() {
    check(
        "g (float[1,5,2] v) => (y, h) <
            float[1,4,2] w = {1, 2, 3, 4, 5, 6, 7, 8}, float[1,4,1] r = {1, 2, 3, 4}, float[1,1,1] state = {0.5}
        > {
            x = Transpose <perm = [1, 0, 2]> (v)
            y, h = LSTM <hidden_size = 1> (x, w, r, , , state, state)
        }",
        &["v:0=N"],
    );
}

#[test]
fn scatter_writes_to_each_sample() {
    check(
        "g (float[1,3,2] x) => (y) <int64[2,2] at = {0, 0, 0, 2}, float[2,2] new = {7, 7, 8, 8}> {
            y = ScatterND (x, at, new)
        }",
        &["x:0=N"],
    );
}

#[test]
fn quantization_axis_moves_with_the_batch_axis() {
    for domain in ["", "com.microsoft."] {
        let graph = format!(
            "g (float[1,3,4] x) => (y) <int64[1] at = {{0}}, float[3] s = {{1, 2, 4}}, uint8[3] z = {{3, 2, 1}}> {{
                a = Squeeze (x, at)  q = {domain}QuantizeLinear <axis = 0> (a, s, z)
                d = {domain}DequantizeLinear <axis = 0> (q, s, z)  y = Unsqueeze (d, at)
            }}"
        );
        let before = model(&graph);
        let after = dynamic(&before, &["x:0=N"]).expect("a model for any number of samples");
        let nodes = after.graphs[after.main].nodes.iter().map(|&node| &after.nodes[node]);
        let nodes = nodes.filter(|node| node.op_type.ends_with("eLinear"));
        let axes = nodes.map(|node| node.attr("axis").and_then(|axis| axis.as_int()));
        assert_eq!(axes.collect::<Vec<_>>(), [Some(1); 2], "{}", write::text::write(&after));
    }
    refused(
        "g (float[1,4] x) => (y) <float[1,4] c = {1, 2, 3, 4}, float r = {0.5}, bool t = {1}> {
            d = Dropout (c, r, t)  y = Mul (x, d)
        }",
        &["x:0=N"],
        "it draws random numbers for one sample only",
    );
}

#[test]
fn loop_state_has_the_batch_axis() {
    check(
        "g (float[1,2] x) => (y) <int64 n = {3}, bool yes = {1}, float[1,2] start = {0, 0}> {
            y = Loop (n, yes, start) <body = b (int64 i, bool c, float[1,2] s) => (bool d, float[1,2] t) {
                d = Identity (c)  t = Add (s, x)
            }>
        }",
        &["x:0=N"],
    );
}

#[test]
fn first_node_that_mixes_samples_is_reported() {
    refused(
        "g (float[1,4] x) => (y) { a = NonZero (x)  y = Cast <to = 1> (a) }",
        &["x:0=N"],
        "(NonZero) keeps axis 0 of `x` from being dynamic: the size of its result depends on elements",
    );
    refused(
        "g (float[2,4] x) => (y) <int64[1] a = {0}> { y = ReduceMean <axes = [0]> (x) }",
        &["x:0=N"],
        "it computes the 2 samples of the traced model together or differently",
    );
    refused(
        "g (float[1] x) => (y) { y = ReduceSum <keepdims = 0> (x) }",
        &["x:0=N"],
        "has no axis that holds the samples",
    );
}

#[test]
fn static_batch_of_two_becomes_dynamic() {
    let before = model(
        "g (float[2,3,4] x) => (y) <int64[2] s = {2, 12}, float[2,12] w = {1,2,3,4,5,6,7,8,9,1,2,3,1,2,3,4,5,6,7,8,9,1,2,3}> {
            a = Reshape (x, s)  y = Add (a, w)
        }",
    );
    let after = dynamic(&before, &["x:0=N"]).expect("a model");
    let found = run(&after, &[drawn(ElemType::Float, &[5, 3, 4], 1)]);
    assert_eq!(array(&found[0]).shape(), [5, 12]);
}

#[test]
fn dynamic_dimension_is_propagated_through_reshape() {
    let before = model(
        "g (float[1,7,8] x) => (y) <int64[4] s = {1, 7, 2, 4}, int64[3] t = {1, 7, 8}> {
            a = Reshape (x, s)
            b = Transpose <perm = [0, 2, 1, 3]> (a)
            c = Softmax <axis = 2> (b)
            d = Transpose <perm = [0, 2, 1, 3]> (c)
            y = Reshape (d, t)
        }",
    );
    let after = dynamic(&before, &["x:0=N", "x:1=S"]).expect("a model");
    let found = run(&after, &[drawn(ElemType::Float, &[3, 9, 8], 1)]);
    assert_eq!(array(&found[0]).shape(), [3, 9, 8]);
}

#[test]
fn constant_position_table_prevents_a_dynamic_dimension() {
    refused(
        "g (float[1,3,2] x) => (y) <float[3,2] p = {1, 2, 3, 4, 5, 6}> { y = Add (x, p) }",
        &["x:1=S"],
        "(Add) keeps axis 1 of `x` from being dynamic",
    );
}

#[test]
fn hard_coded_batch_is_fixed_everywhere_or_nowhere() {
    let shuffled = |rest: &str| {
        model(&format!(
            "g (float[batch,8,5,5] x) => (y) <int64[5] s = {{1, 2, 4, 5, 5}}, int64[4] t = {{1, -1, 5, 5}}> {{
                a = Reshape (x, s)
                b = Transpose <perm = [0, 2, 1, 3, 4]> (a)
                {rest}
            }}"
        ))
    };
    let fixed = |model: Model| fix(model, &Options::default(), &RuleSet::patterns()).model;
    let whole = fixed(shuffled("y = Reshape (b, t)"));
    let found = run(&whole, &[drawn(ElemType::Float, &[3, 8, 5, 5], 1)]);
    assert_eq!(array(&found[0]).shape(), [3, 8, 5, 5]);
    // If the size of an output depends on elements of all samples, the model is not fixed.
    let left = write::text::write(&fixed(shuffled("c = NonZero (b)  y = Cast <to = 1> (c)")));
    assert!(left.contains("{1,2,4,5,5}"), "{left}");
}
