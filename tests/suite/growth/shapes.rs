//! Models of any size, for the growth test.

use super::Made;

/// Kinds of models, each with the smaller of two sizes and its generator.
pub const MODELS: [(&str, usize, Made); 19] = [
    ("chained Transposes", 1000, transposes),
    ("chained elementwise operators", 1000, chain),
    ("chained candidates for fusion", 1000, choices),
    ("layers that read one shape", 100, layers),
    ("residual blocks of convolutions", 100, blocks),
    ("unrolled recurrence steps", 100, steps),
    ("quantized layers", 100, quantized),
    ("inputs of one Concat", 300, concat),
    ("uses of one value", 1000, fan),
    ("initializers", 1000, initializers),
    ("Constants", 1000, constants),
    ("outputs", 300, outputs),
    ("calls of one function", 100, calls),
    ("functions calling the previous one", 20, called),
    ("functions calling the previous one twice", 2, called_twice),
    ("chained Ifs", 30, ifs),
    ("nested Ifs", 3, nested_ifs),
    ("nested Loops", 3, nested_loops),
    ("nested Scans", 3, nested_scans),
];

fn model(interface: &str, nodes: &str) -> String {
    format!("<ir_version: 8, opset_import: [\"\" : 17, \"f\" : 1]>\ng {interface} {{\n{nodes}}}\n")
}

/// Concatenates `count` generated lines.
pub fn each(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

/// Joins `count` generated items with commas.
pub fn list(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(", ")
}

fn transposes(count: usize) -> String {
    let nodes = each(count, |at| {
        let perm = if at % 2 == 0 { "[1, 2, 0]" } else { "[0, 2, 1]" };
        format!("v{} = Transpose <perm = {perm}> (v{at})\n", at + 1)
    });
    model(&format!("(float[A,B,C] v0) => (v{count})"), &nodes)
}

fn chain(count: usize) -> String {
    let nodes = each(count, |at| {
        let call = ["Relu (", "Add (b, ", "Softmax (", "Mul (b, "][at % 4];
        format!("v{} = {call}v{at})\n", at + 1)
    });
    model(&format!("(float[n,4] v0, float[4] b) => (v{count})"), &nodes)
}

/// Returns a chain in which each MatMul and Add may be fused into a Gemm.
fn choices(count: usize) -> String {
    let nodes = each(count, |at| format!("p{at} = MatMul (v{at}, w)\nv{} = Add (p{at}, b)\n", at + 1));
    let weights = "float[2,2] w = {1, 2, 3, 4}, float[2] b = {1, 2}";
    model(&format!("(float[n,2] v0) => (v{count}) <{weights}>"), &nodes)
}

/// Returns layers that each read the Shape of their input, although the sizes are equal in all layers.
fn layers(count: usize) -> String {
    let nodes = each(count, |at| {
        let next = at + 1;
        format!(
            "s{at} = Shape <start = 0, end = 2> (v{at})
            apart{at} = Concat <axis = 0> (s{at}, heads)
            joined{at} = Concat <axis = 0> (s{at}, rest)
            p{at} = MatMul (v{at}, w)
            r{at} = Reshape (p{at}, apart{at})
            q{at} = Transpose <perm = [0, 2, 1, 3]> (r{at})
            k{at} = Transpose <perm = [0, 2, 3, 1]> (r{at})
            m{at} = MatMul (q{at}, k{at})
            a{at} = Softmax (m{at})
            o{at} = MatMul (a{at}, q{at})
            t{at} = Transpose <perm = [0, 2, 1, 3]> (o{at})
            j{at} = Reshape (t{at}, joined{at})
            v{next} = Add (j{at}, v{at})
            "
        )
    });
    let weights = "int64[2] heads = {2, 2}, int64[1] rest = {-1}";
    model(&format!("(float[B,S,4] v0, float[4,4] w) => (v{count}) <{weights}>"), &nodes)
}

fn blocks(count: usize) -> String {
    let nodes = each(count, |at| {
        let next = at + 1;
        format!(
            "c{at} = Conv <kernel_shape = [1, 1]> (v{at}, w)
            n{at} = BatchNormalization (c{at}, one, zero, zero, one)
            r{at} = Relu (n{at})
            v{next} = Add (r{at}, v{at})
            "
        )
    });
    let weights = "float[2,2,1,1] w = {1, 2, 3, 4}, float[2] one = {1, 1}, float[2] zero = {0, 0}";
    model(&format!("(float[N,2,8,8] v0) => (v{count}) <{weights}>"), &nodes)
}

fn steps(count: usize) -> String {
    let nodes = each(count, |at| {
        let next = at + 1;
        format!(
            "i{at} = Constant <value_int = {at}> ()
            x{at} = Gather <axis = 0> (x, i{at})
            p{at} = MatMul (x{at}, w)
            q{at} = MatMul (h{at}, u)
            s{at} = Add (p{at}, q{at})
            h{next} = Tanh (s{at})
            "
        )
    });
    model(&format!("(float[T,B,4] x, float[B,4] h0, float[4,4] w, float[4,4] u) => (h{count})"), &nodes)
}

fn quantized(count: usize) -> String {
    let nodes = each(count, |at| {
        let next = at + 1;
        format!(
            "q{at} = QuantizeLinear (v{at}, s, z)
            d{at} = DequantizeLinear (q{at}, s, z)
            e{at} = DequantizeLinear (w, s, z)
            m{at} = MatMul (d{at}, e{at})
            v{next} = Relu (m{at})
            "
        )
    });
    let weights = "uint8[4,4] w = {1,2,3,4,5,6,7,8,9,8,7,6,5,4,3,2}, float s = {0.5}, uint8 z = {3}";
    model(&format!("(float[N,4] v0) => (v{count}) <{weights}>"), &nodes)
}

fn concat(count: usize) -> String {
    let inputs = list(count, |at| format!("float[N{at},4] x{at}"));
    let nodes = format!("y = Concat <axis = 0> ({})\nz = Relu (y)\n", list(count, |at| format!("x{at}")));
    model(&format!("({inputs}) => (z)"), &nodes)
}

fn fan(count: usize) -> String {
    let nodes = each(count, |at| format!("v{at} = Mul (x, b)\nw{at} = Add (v{at}, x)\n"));
    model(
        "(float[n,4] x, float[4] b) => (y)",
        &format!("{nodes}y = Sum ({})\n", list(count, |at| format!("w{at}"))),
    )
}

fn initializers(count: usize) -> String {
    let weights = list(count, |at| format!("float[2] w{at} = {{{at}, 1}}"));
    let nodes = each(count, |at| format!("v{} = Add (v{at}, w{at})\n", at + 1));
    model(&format!("(float[n,2] v0) => (v{count}) <{weights}>"), &nodes)
}

fn constants(count: usize) -> String {
    let nodes = each(count, |at| {
        format!(
            "c{at} = Constant <value = int64[2] {{-1, {}}}> ()\nv{} = Reshape (v{at}, c{at})\n",
            at % 7 + 1,
            at + 1
        )
    });
    model(&format!("(float[n,420] v0) => (v{count})"), &nodes)
}

fn outputs(count: usize) -> String {
    let nodes = each(count, |at| format!("y{at} = LeakyRelu <alpha = {at}.5> (x)\n"));
    model(&format!("(float[n,4] x) => ({})", list(count, |at| format!("y{at}"))), &nodes)
}

fn calls(count: usize) -> String {
    let nodes = each(count, |at| format!("v{} = f.F0 (v{at})\n", at + 1));
    model(&format!("(float[n,4] v0) => (v{count})"), &nodes) + &function(0, "t = Neg (a) b = Relu (t)")
}

fn function(number: usize, body: &str) -> String {
    format!("<domain: \"f\", opset_import: [\"\" : 17, \"f\" : 1]>\nF{number} (a) => (b) {{ {body} }}\n")
}

fn called(count: usize) -> String {
    let functions = each(count, |at| function(at + 1, &format!("t = f.F{at} (a) b = Relu (t)")));
    model("(float[n,4] x) => (y)", &format!("y = f.F{count} (x)\n"))
        + &function(0, "b = Neg (a)")
        + &functions
}

fn called_twice(count: usize) -> String {
    let functions = each(count, |at| function(at + 1, &format!("t = f.F{at} (a) b = f.F{at} (t)")));
    model("(float[n,4] x) => (y)", &format!("y = f.F{count} (x)\n"))
        + &function(0, "b = Neg (a)")
        + &functions
}

fn ifs(count: usize) -> String {
    let nodes = each(count, |at| {
        format!(
            "v{} = If (c) <then_branch = t{at} () => (p{at}) {{ p{at} = Relu (v{at}) }}, \
             else_branch = e{at} () => (q{at}) {{ q{at} = Neg (v{at}) }}>\n",
            at + 1
        )
    });
    model(&format!("(float[n,4] v0, bool c) => (v{count})"), &nodes)
}

/// Nests `count` subgraphs.
/// `wrap` puts its argument, nodes that compute `k{level - 1}` from `OUTER`, into the subgraph of a new node.
fn nested(count: usize, wrap: impl Fn(usize, String) -> String) -> String {
    (1..=count).fold("k0 = Abs (OUTER)\n".to_owned(), |inner, level| wrap(level, inner)).replace("OUTER", "x")
}

fn nested_ifs(count: usize) -> String {
    let nodes = nested(count, |level, inner| {
        let inner = inner.replace("OUTER", &format!("a{level}"));
        format!(
            "a{level} = Relu (OUTER)\nk{level} = If (c) <then_branch = t{level} () => (k{}) {{ {inner} }}, \
             else_branch = e{level} () => (n{level}) {{ n{level} = Neg (a{level}) }}>\n",
            level - 1
        )
    });
    model(&format!("(float[n,4] x, bool c) => (k{count})"), &nodes)
}

fn nested_loops(count: usize) -> String {
    let nodes = nested(count, |level, inner| {
        let inner = inner.replace("OUTER", &format!("r{level}"));
        format!(
            "k{level} = Loop (m, , OUTER) <body = b{level} (int64 i{level}, bool g{level}, float[] s{level}) => \
             (h{level}, k{}) {{ h{level} = Identity (g{level}) r{level} = Concat <axis = 0> (s{level}, s{level}) {inner} }}>\n",
            level - 1
        )
    });
    model(&format!("(float[n,4] x, int64 m) => (k{count})"), &nodes)
}

fn nested_scans(count: usize) -> String {
    let nodes = nested(count, |level, inner| {
        let inner = inner.replace("OUTER", &format!("r{level}"));
        format!(
            "k{level}, l{level} = Scan <num_scan_inputs = 1, body = b{level} (float[n,4] s{level}, float[4] p{level}) => \
             (k{}, o{level}) {{ r{level} = Add (s{level}, p{level}) o{level} = Neg (p{level}) {inner} }}> (OUTER, x)\n",
            level - 1
        )
    });
    model(&format!("(float[n,4] x) => (k{count})"), &nodes)
}
