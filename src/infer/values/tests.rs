use crate::infer::testing::check;

/// Asserts the elements of `y`, which the nodes compute from the tensor `s = [n, m, 6]`.
#[track_caller]
fn check_values(nodes: &str, expected: &str) {
    let text = format!(
        "g (float[n, m, 6] x, int64 i) => (y) {{
            s = Shape(x)
            zero = Constant <value_int = 0> ()
            one = Constant <value_int = 1> ()
            two = Constant <value_int = 2> ()
            minus = Constant <value_int = -1> ()
            zeros = Constant <value_ints = [0]> ()
            {nodes}
        }}"
    );
    check(&text, &[&format!("y = {expected}")]);
}

#[test]
fn moving_operators_keep_symbolic_elements() {
    check_values("y = Gather(s, minus)", "[6]");
    check_values("p = Constant <value_ints = [2, 0]> () y = Gather(s, p)", "[6, n]");
    check_values("b = Gather(s, zero) r = Unsqueeze(b, zeros) y = Concat <axis = 0> (r, s)", "[n, n, m, 6]");
    check_values(
        "b = Constant <value_ints = [1]> () e = Constant <value_ints = [9]> () y = Slice(s, b, e)",
        "[m, 6]",
    );
    check_values("t = Constant <value_ints = [2]> () y = Tile(s, t)", "[n, m, 6, n, m, 6]");
    check_values("p = Constant <value_ints = [1, 0]> () y = Pad(s, p)", "[0, n, m, 6]");
    check_values("y = Identity(s)", "[n, m, 6]");
    check_values("y, rest = Split <num_outputs = 2> (s)", "[n, m]");
}

#[test]
fn scatter_replaces_symbolic_elements() {
    let update = "at = Constant <value = int64[1, 1] {1}> () new = Constant <value_ints = [9]> ()";
    check_values(&format!("{update} y = ScatterND(s, at, new)"), "[n, 9, 6]");
    let along = "at = Constant <value_ints = [0]> () new = Constant <value_ints = [9]> ()";
    check_values(&format!("{along} y = ScatterElements(s, at, new)"), "[9, m, 6]");
}

#[test]
fn arithmetic_on_symbolic_elements_builds_expressions() {
    check_values("y = Mul(s, two)", "[2*n, 2*m, 12]");
    check_values("a = Add(s, one) y = Div(a, two)", "[floor((n + 1) / 2), floor((m + 1) / 2), 3]");
    check_values("y = Mod(s, two)", "[n - 2*floor(n / 2), m - 2*floor(m / 2), 0]");
    check_values("y = ReduceProd <keepdims = 0> (s)", "[6*m*n]");
    check_values("y = CumSum(s, zero)", "[n, m + n, m + n + 6]");
    check_values("y = Max(s, two)", "[max(2, n), max(2, m), 6]");
    check_values("f = Cast <to = 1> (s) g = Floor(f) y = Cast <to = 7> (g)", "[n, m, 6]");
}

#[test]
fn comparisons_are_decided_within_the_bounds_of_sizes() {
    check_values("y = Equal(s, minus)", "[0, 0, 0]");
    check_values("y = GreaterOrEqual(s, zero)", "[1, 1, 1]");
    check_values("y = Less(s, two)", "[?, ?, 0]");
    check_values(
        "ones = Constant <value_ints = [1, 1, -1]> () c = Equal(ones, minus) y = Where(c, s, ones)",
        "[1, 1, 6]",
    );
    check_values("c = Less(s, zero) y = Where(c, two, s)", "[n, m, 6]");
}

#[test]
fn unknown_element_leaves_the_others_known() {
    check_values("r = Unsqueeze(i, zeros) y = Concat <axis = 0> (s, r)", "[n, m, 6, ?]");
}

#[test]
fn calls_on_constants_are_folded() {
    check_values("a = Constant <value_ints = [3, 4]> () b = Mul(a, a) y = Sub(b, two)", "[7, 14]");
    let floats = "g () => (y) {
        a = Constant <value_floats = [0.5, 4.0]> ()
        b = Sqrt(a)
        c = Mul(b, b)
        y = Cast <to = 7> (c)
    }";
    check(floats, &["y: int64[2]", "y = [0, 4]"]);
}

#[test]
fn random_operator_is_not_folded() {
    let text = "g () => (y) {
        a = Constant <value_floats = [0.5]> ()
        b = Bernoulli <dtype = 7> (a)
        y = Identity(b)
    }";
    check(text, &["y: int64[1]", "y = ?"]);
}
