use crate::graph::syntax::Source;
use crate::graph::syntax::printer::print;
use crate::rules::expr::{Expr, ExprKind};
use crate::rules::registry::RuleSet;
use crate::rules::rule::{AttrPatKind, Count, Direction, Example, Rule, Step, Term, VarId};
use crate::rules::var::AttrVarId;

/// Parses a rule with these entries, which must have no faults.
fn rule(body: &str) -> Rule {
    rule_with("", body)
}

/// Parses a rule with these entries, in a file with these definitions.
fn rule_with(definitions: &str, body: &str) -> Rule {
    let text = format!(
        "language 3\n{definitions}\n## A rule.\nrule TST001 test-rule {{\n severity hint phase explore safety exact\n {body}\n \
         example \"a\" {{ g (float x) => (float y) {{ y = Relu (x) }} }} rewrites_to {{ y = Abs (x) }}\n \
         example \"b\" {{ g (float x) => (float y) {{ y = Relu (x) }} }} no_match\n}}\n"
    );
    let mut rules = RuleSet::default();
    assert_eq!(rules.add([Source::new("t", &text)]), [], "{text}");
    rules.get("test-rule").cloned().expect("the rule has no faults")
}

/// Formats an expression with parentheses around every operation with several operands.
fn shape(expr: &Expr) -> String {
    let all =
        |parts: &[Expr], word: &str| format!("({})", parts.iter().map(shape).collect::<Vec<_>>().join(word));
    match &expr.kind {
        ExprKind::Int(int) => int.to_string(),
        ExprKind::Attr(var) => format!("@{}", var.0),
        ExprKind::Negate(inner) => format!("-{}", shape(inner)),
        ExprKind::Not(inner) => format!("not {}", shape(inner)),
        ExprKind::Binary { op, left, right } => format!("({}{}{})", shape(left), op.symbol(), shape(right)),
        ExprKind::Compare { op, left, right } => format!("({}{}{})", shape(left), op.symbol(), shape(right)),
        ExprKind::In { item, list } => format!("({} in {})", shape(item), shape(list)),
        ExprKind::Index { list, index } => format!("{}[{}]", shape(list), shape(index)),
        ExprKind::List(items) => all(items, ","),
        ExprKind::And(parts) => all(parts, " and "),
        ExprKind::Or(parts) => all(parts, " or "),
        other => format!("{other:?}"),
    }
}

fn check_conditions(conditions: &str, expected: &[&str]) {
    let body = format!(
        "match {{ y = Transpose <perm = @p> (x) }} where {{ {conditions} }} rewrite {{ y = Transpose <perm = @p> (x) }}"
    );
    let rule = rule(&body);
    let steps = rule.directions().flat_map(|direction| &direction.steps);
    let shapes: Vec<_> = steps
        .map(|step| match step {
            Step::Where { condition, .. } => shape(condition),
            Step::Let { expr, .. } => format!("let {}", shape(expr)),
        })
        .collect();
    assert_eq!(shapes, expected, "{conditions}");
}

#[test]
fn operators_have_the_documented_precedence() {
    check_conditions(
        "1 + 2 * 3 == 7 or not 1 == 2 and 2 < 3",
        &["(((1+(2*3))==7) or (not (1==2) and (2<3)))"],
    );
    check_conditions("0 <= @p[0] < 4", &["((0<=@0[0]) and (@0[0]<4))"]);
    check_conditions("@p[-1] not in [1, -2]", &["not (@0[-1] in (1,-2))"]);
    check_conditions(
        "@p == 1\n [1] == @p  (-@p[0]) == 7 // 2 % 2",
        &["(@0==1)", "((1)==@0)", "(-@0[0]==((7//2)%2))"],
    );
    check_conditions("(1 == 1 or 2 == 2) and 3 - 1 - 1 == 1", &["(((1==1) or (2==2)) and (((3-1)-1)==1))"]);
}

#[test]
fn names_are_resolved_to_ids() {
    let rule = rule(
        "match { c = Concat <axis = @a> (pre..., s, post...) y, z = Dropout@7 <..@rest> (c) }
         rewrite { d = Relu (s) y = Concat <axis = @a + 1, ..@rest> (pre..., d) }",
    );
    let direction = rule.directions().next().expect("a direction");
    let values: Vec<_> =
        direction.pattern.values.iter().map(|value| (&*value.name, value.count, value.def)).collect();
    let expected = [
        ("pre", Count::Many, None),
        ("s", Count::One, None),
        ("post", Count::Many, None),
        ("c", Count::One, Some((0, 0))),
        ("y", Count::One, Some((1, 0))),
        ("z", Count::One, Some((1, 1))),
    ];
    assert_eq!(values, expected);
    let rewrite = direction.rewrite.as_ref().expect("a rewrite");
    assert_eq!((&*rewrite.fresh[0].var.name, rewrite.outputs[0].0), ("d", VarId(4)));
    let inputs = rewrite.nodes[1].inputs.as_slice();
    assert!(matches!(inputs, [Term::Var(VarId(0)), Term::Var(VarId(6))]), "{inputs:?}");
}

#[test]
fn rewrite_both_makes_two_directions() {
    let rule = rule("match { t = Neg (x) y = Neg (t) } rewrite both { y = Identity (x) }");
    let [forward, backward] =
        <[_; 2]>::try_from(rule.directions().collect::<Vec<_>>()).expect("two directions");
    assert_eq!((forward.pattern.nodes.len(), backward.pattern.nodes.len()), (2, 1));
    let rewrite = backward.rewrite.as_ref().expect("a rewrite");
    assert_eq!((rewrite.nodes.len(), rewrite.fresh.len()), (2, 1));
}

#[test]
fn attributes_are_bound_optionally_or_matched_literally() {
    let rule = rule(
        "match { t = Squeeze@1 <axes = @a?> (x) y = Elu <alpha = 1> (t) }
         where { is_present(@a) } rewrite { y = Relu (t) }",
    );
    let direction = rule.directions().next().expect("a direction");
    let kinds: Vec<_> = direction.pattern.nodes.iter().map(|node| &node.attrs[0].pat).collect();
    assert!(matches!(kinds[0], AttrPatKind::BindOptional(_)));
    assert!(
        matches!(kinds[1], AttrPatKind::Literal(crate::rules::datum::Datum::Float(alpha)) if *alpha == 1.0)
    );
}

#[test]
fn rule_page_shows_examples_verbatim() {
    let rule = rule("match { t = Neg (x) y = Neg (t) } rewrite { y = x }");
    let page = rule.page();
    assert!(page.starts_with("# TST001 test-rule\n\nA rule.\n"), "{page}");
    assert!(
        page.contains("```\nexample \"b\" { g (float x) => (float y) { y = Relu (x) } } no_match\n```"),
        "{page}"
    );
    assert_eq!((rule.listed().fix, rule.listed().summary), (Some("safe"), "A rule."));
}

/// Returns the operators of each direction, last node first.
fn directions(rule: &Rule) -> Vec<String> {
    let shown = |direction: &Direction| {
        direction
            .pattern
            .nodes
            .iter()
            .rev()
            .map(|node| node.op.name.to_string())
            .collect::<Vec<_>>()
            .join(" ")
    };
    rule.forward().iter().map(shown).collect()
}

#[test]
fn each_combination_of_alternatives_is_a_direction() {
    let body = "match { n = Div (x, (Sqrt (x) | Exp (x)))  y = n | Mul (n, s) | Add (Mul (n, s), b) }
                rewrite { y = case { is_present(b): Foo (x, s?, b)  else: Relu (x) } }"
        .replace("Foo", "my.Foo");
    let rule = rule(&body);
    let expected =
        ["Div Sqrt", "Mul Div Sqrt", "Add Mul Div Sqrt", "Div Exp", "Mul Div Exp", "Add Mul Div Exp"];
    assert_eq!(directions(&rule), expected);
}

#[test]
fn an_operator_variable_is_absent_from_other_alternatives() {
    let rule = rule(
        "match { y = @op in [Add, Sub] (x, x) | @left in [Mul, Div] (x, x) }
         rewrite case { is_present(@left): @left (x, x)  else: @op (x, x) }",
    );
    let absent = |direction: &Direction| {
        let name = |var: &AttrVarId| direction.attr_vars[usize::from(var.0)].name.to_string();
        direction.absent.attrs.iter().map(name).collect::<String>()
    };
    assert_eq!(directions(&rule), ["Add", "Mul", "Div", "Sub"]);
    assert_eq!(rule.forward().iter().map(absent).collect::<Vec<_>>(), ["left", "op", "op", "left"]);
}

#[test]
fn patterns_are_expanded_with_names_of_their_own() {
    let definitions = "pattern square(d) = Mul (d, d) | Pow (d, 2.0)\n\
                       pattern centered(x, @k) {\n  m = ReduceMean@1 <axes = @k> (x)\n  Sub (x, m)\n}";
    let body = "match { m = Relu (x)  y = Add (square(Abs (m)), centered(m, @axes)) } where { @axes == [1] }
                rewrite { y = Relu (m) }";
    let rule = rule_with(definitions, body);
    assert_eq!(directions(&rule), ["Add Sub Mul ReduceMean Abs Relu", "Add Sub Pow ReduceMean Abs Relu"]);
    let names = |direction: &Direction| {
        direction.pattern.values.iter().map(|var| var.name.to_string()).collect::<String>()
    };
    assert_eq!(rule.forward().iter().map(names).collect::<Vec<_>>(), ["xmy", "xmy"]);
}

#[test]
fn derived_examples_are_edited_by_type_attribute_and_input() {
    let text = "language 3\n## A rule.\nrule TST001 test-rule {\n severity hint message \"m\"\n match { y = Concat <axis = 0> (a, b) }\n\
                example \"a\" { g (float[A] a, float[A] b) => (float[B] y) { y = Concat <axis = 0> (a, b) } } reports \"m\"\n\
                but \"b\" a: double, b: double, with \"[A] b\" as \"[C] b\" reports \"m\"\n\
                but \"c\" attr axis = -1 of y reports nothing\n\
                but \"d\" without input b of y reports nothing\n}\n";
    let mut rules = RuleSet::default();
    assert_eq!(rules.add_text("my.rule", text), []);
    let shown = |example: &Example| {
        let text = print(&example.model).text;
        text.lines().skip_while(|line| !line.starts_with("g (")).collect::<Vec<_>>().join(" ")
    };
    let shown: Vec<String> = rules.iter().flat_map(|rule| &rule.examples).map(shown).collect();
    let expected = [
        "g (float[A] a, float[A] b) => (float[B] y) {    y = Concat <axis: int = 0> (a, b) }",
        "g (double[A] a, double[C] b) => (double[B] y) {    y = Concat <axis: int = 0> (a, b) }",
        "g (float[A] a, float[A] b) => (float[B] y) {    y = Concat <axis: int = -1> (a, b) }",
        "g (float[A] a, float[A] b) => (float[B] y) {    y = Concat <axis: int = 0> (a) }",
    ];
    assert_eq!(shown, expected);
}

/// Formats the nodes that the rewrite of the first direction adds, in their order.
fn new_nodes(rule: &Rule) -> String {
    let rewrite = rule.forward()[0].rewrite.as_ref().expect("the rule has a rewrite");
    rewrite.nodes.iter().map(|node| node.op.name.to_string()).collect::<Vec<_>>().join(" ")
}

#[test]
fn operators_between_values_are_calls_of_onnx_operators() {
    let written = |value: &str| {
        new_nodes(&rule(&format!("match y = Foo (x, w)\nrewrite {value}").replace("Foo", "my.Foo")))
    };
    assert_eq!(written("x - w * x / (w + 1)"), "Mul Add Div Sub");
    assert_eq!(
        written("x <= w and not (x == w or -x < 2.0 * w)"),
        "LessOrEqual Equal Neg Mul Less Or Not And"
    );
    assert_eq!(written("x != w"), "Equal Not");
    assert_eq!(written("Relu (x) < w"), "Relu Less");
    // A rewrite contains every cast; an applied rewrite omits casts of values that already have the type.
    assert_eq!(written("x as float * w as double"), "Cast Cast Mul");
    // Operators of constants are evaluated.
    assert_eq!(written("x + rank(x) * 2"), "Add");
    // A parenthesis in the next line begins another value.
    let rule = rule_with(
        "fn f(x) {\n  let @n = rank(x)\n  d = x\n  (d + @n) * d\n}",
        "match y = Relu (x)  rewrite f(x)",
    );
    assert_eq!(new_nodes(&rule), "Add Mul");
}

#[test]
fn patterns_can_contain_operators_between_values() {
    let rule = rule("match { d = x - w  y = d / Sqrt (d * d) }  rewrite x");
    assert_eq!(directions(&rule), ["Div Sqrt Mul Sub"]);
}

#[test]
fn groups_of_operators_bind_op_and_their_optional_attributes() {
    let body = "match y = aten.[sum, mean.dim, all.[dim, dims]] <@dim?, @keepdim?, ..> (x)
                rewrite case @op { sum | mean: x  all.dim: Abs (x)  else: Relu (x) }";
    let rule = rule(&body.replace("rewrite", "where default(@keepdim, default(@dim, 0)) == 0  rewrite"));
    assert_eq!(directions(&rule), ["sum", "mean.dim", "all.dim", "all.dims"]);
    // `sum` has neither `dim` nor `keepdim`; the other operators have both attributes.
    let absent: Vec<usize> = rule.forward().iter().map(|direction| direction.absent.attrs.len()).collect();
    assert_eq!(absent, [2, 0, 0, 0]);
}

#[test]
fn functions_of_constants_are_expanded_with_names_of_their_own() {
    let definitions = "fn spread(@k, @n) = if(len(@k) == @n, @k, [@k[0] for @i in iota(@n)])\n\
                       fn kind(x) {\n  let @t = dtype(x)\n  case @t { float | double: 1  else: 2 }\n}";
    let body = "match y = Transpose <@perm> (x)
                where spread([@i + 1 for @i in @perm], 2) == [kind(x), 3]
                rewrite Transpose <perm = spread(@perm, kind(x))> (x)";
    let rule = rule_with(definitions, body);
    let Step::Where { condition, .. } = &rule.forward()[0].steps[0] else { panic!("it is a condition") };
    assert!(matches!(condition.kind, ExprKind::Compare { .. }));
}

#[test]
fn a_fold_is_one_term() {
    let body = "match y = Transpose <@perm> (x)\nrewrite fold sum = x for @i in @perm: sum * @i + x";
    let rule = rule(body);
    assert_eq!(new_nodes(&rule), "Mul Add");
    let outputs = &rule.forward()[0].rewrite.as_ref().expect("the rule has a rewrite").outputs;
    assert!(matches!(outputs[0].1, Term::Fold(_)));
}

#[test]
fn the_matches_of_a_rule_are_divided_among_its_codes() {
    let text = "language 3\n## A rule.\nrule TST001 product {\n  also TST002 power if is_present(two)\n  \
                also TST003 small if rank(d) == 1\n  severity hint\n  message \"m\"\n  \
                match y = d * d | Pow (d, two)\n  \
                example \"a\" { g (float[A,B] d) => (float[A,B] y) { y = Mul (d, d) } } reports \"m\"\n  \
                but \"b\" with \"Mul\" as \"Add\" no_match\n}\n";
    let mut rules = RuleSet::default();
    assert_eq!(rules.add_text("my.rule", text), []);
    let shown = |code: &str| {
        let rule = rules.get(code).expect("each code is a rule");
        (rule.name.to_string(), directions(rule), rule.forward()[0].steps.len())
    };
    // TST001 has a condition that excludes TST003. TST001 needs no condition that excludes TST002, because
    // TST002 has a different operator (`Pow`).
    assert_eq!(shown("TST001"), ("product".to_owned(), vec!["Mul".to_owned()], 1));
    assert_eq!(shown("TST002"), ("power".to_owned(), vec!["Pow".to_owned()], 0));
    assert_eq!(shown("TST003"), ("small".to_owned(), vec!["Mul".to_owned()], 1));
    let whole = rules.get("TST002").and_then(|rule| rule.whole.as_ref()).expect("it is part of TST001");
    assert_eq!((&*whole.code, directions(whole)), ("TST001", vec!["Mul".to_owned(), "Pow".to_owned()]));
}
