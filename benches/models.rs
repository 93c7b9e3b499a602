//! Generates models, TorchScript graphs and exporter logs of any size.

use std::sync::Arc;

use onnx_lint::graph::Model;
use onnx_lint::lint::LintOptions;
use onnx_lint::read;
use onnx_lint::rules::registry::RuleSet;

const HEADER: &str = "<ir_version: 10, opset_import: [\"\" : 21]>";

fn parsed(graph: &str) -> Model {
    let (model, findings) = read::text::read(graph);
    assert!(findings.is_empty(), "{findings:?}");
    model.expect("a model")
}

/// Returns a chain of Relu, Add and Softmax nodes.
pub fn chain(nodes: usize) -> Model {
    parsed(&chain_text(nodes))
}

/// Returns the text of a chain of Relu, Add and Softmax nodes.
pub fn chain_text(nodes: usize) -> String {
    let call = |at: usize| match at % 3 {
        0 => format!("v{} = Relu(v{at})\n", at + 1),
        1 => format!("v{} = Add(v{at}, bias)\n", at + 1),
        _ => format!("v{} = Softmax(v{at})\n", at + 1),
    };
    let body: String = (0..nodes).map(call).collect();
    format!("{HEADER} chain (float[n, 4] v0, float[4] bias) => (v{nodes}) {{ {body} }}")
}

/// Returns attention layers whose `Reshape` targets are computed with `Shape`, as in exported models.
pub fn transformer(layers: usize) -> Model {
    let layer = |at: usize| {
        format!(
            "shape_{at} = Shape <start = 0, end = 2> (x_{at})
            heads_{at} = Constant <value_ints = [4, 16]> ()
            split_{at} = Concat <axis = 0> (shape_{at}, heads_{at})
            all_{at} = Constant <value_ints = [-1]> ()
            joined_{at} = Concat <axis = 0> (shape_{at}, all_{at})
            q_{at} = MatMul(x_{at}, w)
            apart_{at} = Reshape(q_{at}, split_{at})
            queries_{at} = Transpose <perm = [0, 2, 1, 3]> (apart_{at})
            keys_{at} = Transpose <perm = [0, 2, 3, 1]> (apart_{at})
            scores_{at} = MatMul(queries_{at}, keys_{at})
            weights_{at} = Softmax(scores_{at})
            mixed_{at} = MatMul(weights_{at}, queries_{at})
            back_{at} = Transpose <perm = [0, 2, 1, 3]> (mixed_{at})
            together_{at} = Reshape(back_{at}, joined_{at})
            sum_{at} = Add(together_{at}, x_{at})
            x_{} = LayerNormalization(sum_{at}, g)
            ",
            at + 1
        )
    };
    let body: String = (0..layers).map(layer).collect();
    parsed(&format!(
        "{HEADER} transformer (float[b, s, 64] x_0, float[64, 64] w, float[64] g) => (x_{layers}) {{ {body} }}"
    ))
}

/// Returns a sequence of `If` nodes, each with an `Identity` to remove in both branches.
pub fn branches_in_a_row(count: usize) -> Model {
    let branch = |at: usize| {
        format!(
            "v{} = If(c) <
                then_branch = yes{at} () => (p{at}) {{ a{at} = Identity(v{at}) p{at} = Relu(a{at}) }},
                else_branch = no{at} () => (q{at}) {{ b{at} = Identity(v{at}) q{at} = Neg(b{at}) }}
            >
            ",
            at + 1
        )
    };
    let body: String = (0..count).map(branch).collect();
    parsed(&format!("{HEADER} row (float[n, 4] v0, bool c) => (v{count}) {{ {body} }}"))
}

/// Returns nested `If` nodes, with a chain of `Relu` nodes at every depth.
pub fn nested_branches(depth: usize) -> Model {
    let wrap = |inner: String, level: usize| {
        let chain: String =
            (0..50).map(|at| format!("a{level}_{} = Relu(a{level}_{at})\n", at + 1)).collect();
        format!(
            "a{level}_0 = Relu(OUTER)
            {chain}
            k{level} = If(c) <
                then_branch = yes{level} () => (k{below}) {{ {} }},
                else_branch = no{level} () => (n{level}) {{ n{level} = Neg(a{level}_50) }}
            >
            ",
            inner.replace("OUTER", &format!("a{level}_50")),
            below = level - 1,
        )
    };
    let body = (1..=depth).fold("k0 = Abs(OUTER)".to_owned(), wrap).replace("OUTER", "x");
    parsed(&format!("{HEADER} branches (float[n, 4] x, bool c) => (k{depth}) {{ {body} }}"))
}

/// Returns nested `Loop` nodes, each of which doubles the size of its state.
pub fn nested_loops(depth: usize) -> Model {
    let wrap = |inner: String, level: usize| {
        format!(
            "k{level} = Loop(m, , OUTER) <
                body = b{level} (int64 i{level}, bool g{level}, float[] s{level}) => (g{level}, k{below}) {{
                    r{level} = Concat <axis = 0> (s{level}, s{level})
                    {}
                }}
            >
            ",
            inner.replace("OUTER", &format!("r{level}")),
            below = level - 1,
        )
    };
    let body = (1..=depth).fold("k0 = Abs(OUTER)".to_owned(), wrap).replace("OUTER", "x");
    parsed(&format!("{HEADER} loops (float[n, 4] x, int64 m) => (k{depth}) {{ {body} }}"))
}

/// Returns the text of a traced graph of `aten::relu` calls, with scopes and source lines.
pub fn torchscript(nodes: usize) -> String {
    let call = |at: usize| {
        let scope = format!("scope: net.Net::/net.Layer::layer{} # /app/net.py:{}:0", at / 10, at % 500 + 1);
        format!("  %{} : Float(2, 8, strides=[8, 1]) = aten::relu(%{}), {scope}\n", at + 1, at)
    };
    let body: String = (0..nodes).map(call).collect();
    format!("graph(%0 : Float(2, 8, strides=[8, 1])):\n{body}  return (%{nodes})\n")
}

/// Returns the log of an export with many tracer warnings.
pub fn export_log(warnings: usize) -> String {
    let warning = |at: usize| {
        format!(
            "/app/net.py:{}: TracerWarning: Converting a tensor to a Python boolean might cause the trace to be \
             incorrect. We can't record the data flow of Python values, so this value will be treated as a \
             constant in the future. This means that the trace might not generalize to other inputs!\n  \
             if x.sum() > {at}:\n",
            at + 1
        )
    };
    (0..warnings).map(warning).collect()
}

/// Returns the default options of `onnx-lint`, with all lint rules.
pub fn lint_options() -> LintOptions {
    LintOptions { rules: Arc::new(RuleSet::for_linting()), ..LintOptions::default() }
}
