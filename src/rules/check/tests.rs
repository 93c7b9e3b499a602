use crate::graph::syntax::Source;
use crate::rules::expr::{Expr, ExprKind};
use crate::rules::registry::RuleSet;
use crate::rules::rule::{AttrPatKind, Count, Rule, Step, Term, VarId};

/// Parses a rule with these entries, which must have no faults.
fn rule(body: &str) -> Rule {
    let text = format!(
        "language 2\n## A rule.\nrule TST001 test-rule {{\n severity hint phase explore safety exact message \"m\"\n {body}\n \
         example \"a\" {{ g (float x) => (float y) {{ y = Relu (x) }} }} becomes {{ y = Abs (x) }}\n \
         example \"b\" {{ g (float x) => (float y) {{ y = Relu (x) }} }} unchanged\n}}\n"
    );
    let mut rules = RuleSet::default();
    assert_eq!(rules.add([Source::new("t", &text)]), [], "{text}");
    rules.get("test-rule").cloned().expect("the rule has no faults")
}

/// Formats an expression with parentheses around every operation.
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
            Step::Where(expr) => shape(expr),
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
        page.contains("```\nexample \"b\" { g (float x) => (float y) { y = Relu (x) } } unchanged\n```"),
        "{page}"
    );
    assert_eq!((rule.listed().fix, rule.listed().summary), (Some("safe"), "A rule."));
}
