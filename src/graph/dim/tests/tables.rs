use crate::graph::dim::{
    Answer, Bounds, Broadcast, Dim, Interval, Rounding, Symbol, Window, broadcast, numel,
};

fn dim(text: &str) -> Dim {
    Dim::parse(text)
}

/// Checks that `text` has the canonical form `expected`, and that this form is stable.
fn check(text: &str, expected: &str) {
    assert_eq!(dim(text).to_string(), expected, "{text}");
    assert_eq!(dim(expected).to_string(), expected, "the form is stable");
}

#[test]
fn sums_and_products_are_canonical() {
    check("7", "7");
    check("s - s", "0");
    check("-3", "-3");
    check("1 + 2*s", "2*s + 1");
    check("1 - s", "-s + 1");
    check("seq*batch", "batch*seq");
    check("(a + b)*(a - b)", "a**2 - b**2");
    check("a**2*b^3", "a**2*b**3");
    check("2*(a + 3)*b", "2*a*b + 6*b");
    check("past_sequence_length + sequence_length", "past_sequence_length + sequence_length");
}

#[test]
fn quotients_are_canonical() {
    check("floor(7 / 2)", "3");
    check("-7//2", "-4");
    check("floor((h + 2) / 2)", "floor(h / 2) + 1");
    check("floor((h - 1)/2) + 1", "floor((h + 1) / 2)");
    check("((s0 - 1)//2) + 1", "floor((s0 + 1) / 2)");
    check("ceiling(s/2)", "floor((s + 1) / 2)");
    check("CeilDiv(s, 8)", "floor((s + 7) / 8)");
    check("-((-s)//2)", "floor((s + 1) / 2)");
    check("floor(s0/2 + 1/2)", "floor((s0 + 1) / 2)");
    check("(4*s + 6)//2", "2*s + 3");
    check("(4*s + 7)//2", "2*s + 3");
    check("(5*s + 7)//2", "2*s + floor((s + 1) / 2) + 3");
    check("(6*s + 3)//4", "s + floor((s + 1) / 2)");
    check("(s//2)//3", "floor(s / 6)");
    check("(floor((h + 1)/2) + 1)//2", "floor((h + 3) / 4)");
    check("((6*s77)//u0)", "floor(6*s77 / u0)");
    check("(6*s*b)//(2*b)", "3*s");
    check("(s*b + b)//(2*b)", "floor((s + 1) / 2)");
    check("(a*b + b + 1)//b", "a + floor(1 / b) + 1");
    check("s//(s + 1)", "0");
    check("(a + b)//(a + b)", "1");
    check("a//(2*b*c)", "floor(a / (2*b*c))");
    check("FloorDiv(a + 1, -2)", "-floor(a / 2) - 1");
}

#[test]
fn remainders_are_canonical() {
    check("-7 % 3", "2");
    check("Mod(7, -3)", "-2");
    check("(4*s) % 2", "0");
    check("Mod(s, 2)", "s - 2*floor(s / 2)");
    check("2*(s//2) + s % 2", "s");
    check("(a*b + c) % b - c % b", "0");
    check("(s % 2)//2", "0");
}

#[test]
fn extrema_are_canonical() {
    check("Max(1, s0)", "max(1, s0)");
    check("max(s, 0)", "s");
    check("Min(s + 1, s)", "s");
    check("max(b, a, b)", "max(a, b)");
    check("max(c, max(a, b))", "max(a, b, c)");
    check("max(s - 1, 0)", "max(1, s) - 1");
    check("1 + max(s, t)", "max(s, t) + 1");
    check("max(s + 1, t + 1)", "max(s, t) + 1");
    check("max(2*s, 2*t + 2)", "2*max(s, t + 1)");
    check("max(b*s, b*t)", "b*max(s, t)");
    check("-max(-s, -t)", "min(s, t)");
    check("max(1 - s, 0)", "-min(1, s) + 1");
    check("min(2 + max(a, 1), max(a + 2, 3))", "max(1, a) + 2");
}

#[test]
fn names_round_trip() {
    for name in
        ["s77", "Reshape2_dim_0", "input.1_dim_0", "seq-len", "a/b", "batch size", "?", "", "2x", "f(x)"]
    {
        check(name, name);
        assert_eq!(dim(name).as_symbol().map(Symbol::name), Some(name));
    }
    check("99999999999999999999*s", "99999999999999999999*s");
    assert_eq!(Dim::symbol("2*s").to_string(), "`2*s`");
    assert_eq!(Dim::symbol("seq-len").add(1).unwrap().to_string(), "`seq-len` + 1");
    assert_eq!(Dim::symbol("a`b").mul(2).unwrap().to_string(), "2*`a``b`");
    check("2*`a``b`", "2*`a``b`");
}

#[test]
fn malformed_or_oversized_text_is_a_name() {
    let texts = [
        "(".repeat(10_000),
        "-".repeat(10_000),
        "a**64**64".to_owned(),
        "(a + b)**64".to_owned(),
        "a//0".to_owned(),
        "a % 0".to_owned(),
        "1/0".to_owned(),
        "floor(a/0)".to_owned(),
        format!("max({}0)", (0..5_000).map(|i| format!("s{i}, ")).collect::<String>()),
        (0..5_000).map(|i| format!("s{i} + ")).collect::<String>() + "1",
        "floor(".repeat(100) + "s" + &")".repeat(100),
        "`".to_owned(),
        "é-".to_owned(),
    ];
    for text in texts {
        assert_eq!(dim(&text).as_symbol().map(Symbol::name), Some(text.as_str()));
    }
}

#[test]
fn div_exact_returns_polynomial_quotients() {
    let check = |a: &str, b: &str, expected: Option<&str>| {
        assert_eq!(dim(a).div_exact(dim(b)), expected.map(dim), "{a} by {b}");
    };
    check("12*b*s", "4*s", Some("3*b"));
    check("a**2 - b**2", "a + b", Some("a - b"));
    check("a**2 - b**2", "b - a", Some("-a - b"));
    check("2*s + 2", "2", Some("s + 1"));
    check("s", "2", None);
    check("s", "0", None);
    check("0", "s", Some("0"));
}

#[test]
fn trunc_div_rounds_toward_zero() {
    let i = Dim::from(Symbol::integer("i"));
    let value = |n: i64| i.trunc_div(3).unwrap().eval(&|_| Some(n));
    assert_eq!([-7, -6, -1, 0, 1, 7].map(value), [-2, -2, 0, 0, 0, 2].map(Some));
    assert_eq!(dim("s").trunc_div(3), dim("s").floor_div(3));
    assert_eq!(Dim::known(-7).trunc_div(2), Some(Dim::known(-3)));
}

#[test]
fn overflow_returns_none() {
    let large = Dim::known(i64::MAX);
    assert_eq!(large.add(1), None);
    assert_eq!(dim("s").mul(&large).and_then(|p| p.mul(2)), None);
    assert_eq!(Dim::known(i64::MIN).floor_div(-1), None);
    assert_eq!(dim("s").floor_div(0), None);
    assert_eq!(dim("s").modulo(0), None);
    assert_eq!(dim("a//b").substitute(&|s| (s.name() == "b").then(|| 0.into())), None);
    let sum = (0..20).try_fold(Dim::known(0), |sum, i| sum.add(Dim::symbol(&format!("s{i}")))).unwrap();
    assert_eq!(sum.mul(&sum), None, "more parts than the limit");
}

#[test]
fn ranges_are_tight() {
    let bounds = Bounds::parse("{s: VR[2, int_oo], t: VR[1, 8], zuf0: VR[-oo, oo]}");
    let check = |text: &str, lo: Option<i64>, hi: Option<i64>| {
        assert_eq!(dim(text).range(&bounds), Interval { lo, hi }, "{text}");
    };
    check("s*t", Some(2), None);
    check("s*t - s", Some(0), None);
    check("2*t - 3", Some(-1), Some(13));
    check("t % 4", Some(0), Some(3));
    check("free % s", Some(0), None);
    check("t//2", Some(0), Some(4));
    check("free - max(free, 3)", Some(-3), Some(0));
    check("s - 2*(s//2)", Some(0), Some(1));
    check("zuf0", Some(0), None);
    check("min(t, 5)", Some(1), Some(5));
    check("9//t", Some(1), Some(9));
    check("free//s", Some(0), None);
}

#[test]
fn ranges_are_parsed() {
    assert_eq!(Interval::parse("VR[2, int_oo]"), Some(Interval { lo: Some(2), hi: None }));
    assert_eq!(Interval::parse("VR[-int_oo, 9]"), Some(Interval { lo: None, hi: Some(9) }));
    assert_eq!(Interval::parse("VR[two, 9]"), None);
}

#[test]
fn contradictory_ranges_are_rejected() {
    let (mut bounds, s) = (Bounds::default(), Symbol::size("s"));
    assert!(bounds.restrict(&s, Interval::new(-3, 4)));
    assert!(!bounds.restrict(&s, Interval::point(9)));
    assert_eq!(bounds.of(&s), Interval::new(0, 4));
}

#[test]
fn comparisons_return_always_never_or_unknown() {
    use Answer::{Always, Never, Unknown};
    let bounds = Bounds::parse("{s: VR[2, int_oo], p: VR[4, 4]}");
    let equals =
        |a: &str, b: &str, expected| assert_eq!(dim(a).equals(&dim(b), &bounds), expected, "{a} = {b}");
    equals("a*(b + 1)", "a*b + a", Always);
    equals("a//2 + (a + 1)//2", "a", Always);
    equals("s", "1", Never);
    equals("a", "a + 1", Never);
    equals("2*a", "2*b + 1", Never);
    equals("p", "4", Always);
    equals("a", "b", Unknown);

    let at_least =
        |a: &str, b: &str, expected| assert_eq!(dim(a).at_least(&dim(b), &bounds), expected, "{a} >= {b}");
    at_least("a", "0", Always);
    at_least("a + b", "a", Always);
    at_least("a", "2*(a//2)", Always);
    at_least("a", "a + 1", Never);
    at_least("a", "1", Unknown);
    at_least("max(a, b)", "b", Always);
    at_least("a*b", "b*min(a, 7)", Always);

    let divides =
        |a: &str, b: &str, expected| assert_eq!(dim(a).divides(&dim(b), &bounds), expected, "{a} | {b}");
    divides("2", "4*a + 6", Always);
    divides("2", "4*a + 7", Never);
    divides("a", "a*b", Always);
    divides("p", "12*a", Always);
    divides("0", "s", Never);
    divides("a", "b", Unknown);
    divides("3", "a", Unknown);
}

#[test]
fn broadcast_returns_result_conflict_or_unknown() {
    let bounds = Bounds::parse("{s: VR[2, int_oo], t: VR[2, int_oo]}");
    let check = |a: &str, b: &str, expected: Broadcast| {
        assert_eq!(broadcast(&dim(a), &dim(b), &bounds), expected, "{a}, {b}");
        assert_eq!(broadcast(&dim(b), &dim(a), &bounds), expected, "{b}, {a}");
    };
    let is = |text: &str| Broadcast::Dim(dim(text));
    check("1", "a", is("a"));
    check("a", "a", is("a"));
    check("3", "a", is("3"));
    check("0", "1", is("0"));
    check("0", "a", is("0"));
    check("2", "3", Broadcast::Conflict);
    check("0", "3", Broadcast::Conflict);
    check("s", "1", is("s"));
    check("s", "a", is("s"));
    check("s", "t", is("s"));
    check("s", "s + 1", Broadcast::Conflict);
    check("a", "b", Broadcast::Unknown);
}

#[test]
fn window_count_matches_formula() {
    let check = |window: Window, input: &str, expected: &str| {
        assert_eq!(
            window.count(&dim(input)).map(|dim| dim.to_string()).as_deref(),
            Some(expected),
            "{window:?}"
        );
    };
    let same =
        Window { kernel: 3, stride: 1, dilation: 1, pad_begin: 1, pad_end: 1, rounding: Rounding::Down };
    check(same, "h", "h");
    check(same, "224", "224");
    check(Window { stride: 2, ..same }, "h", "floor((h + 1) / 2)");
    check(Window { kernel: 16, stride: 16, pad_begin: 0, pad_end: 0, ..same }, "h", "floor(h / 16)");
    check(Window { dilation: 2, ..same }, "h", "h - 2");
    let ceil = Window { kernel: 2, stride: 2, pad_begin: 1, pad_end: 1, rounding: Rounding::Up, dilation: 1 };
    check(ceil, "5", "4");
    check(Window { rounding: Rounding::UpWithinInput, ..ceil }, "5", "3");
}

#[test]
fn numel_multiplies_sizes() {
    assert_eq!(numel(&[]), Some(Dim::known(1)));
    assert_eq!(numel(&[dim("b"), dim("2"), dim("s + 1")]), Some(dim("2*b*s + 2*b")));
    assert_eq!(numel(&[dim("9223372036854775807"), dim("2")]), None);
}
