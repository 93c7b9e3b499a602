use super::*;
use crate::graph::ElemType::*;
use crate::graph::dim::Dim;

fn list(ints: &[i64]) -> Datum {
    int_list(ints.iter().copied())
}

fn check(func: Func, args: &[Datum], expected: Option<Datum>) {
    assert_eq!(call(func, args), expected, "{} {args:?}", func.name());
}

#[test]
fn permutations_compose_and_invert() {
    let turn = list(&[1, 2, 0]);
    check(Func::Compose, &[turn.clone(), turn.clone()], Some(list(&[2, 0, 1])));
    check(Func::Inverse, std::slice::from_ref(&turn), Some(list(&[2, 0, 1])));
    check(Func::IsIdentity, &[list(&[0, 1])], Some(Datum::Bool(true)));
    check(Func::Compose, &[turn.clone(), list(&[0, 1])], None);
    check(Func::Inverse, &[list(&[0, 0])], None);
    check(Func::IsPermutation, &[list(&[0, 2])], Some(Datum::Bool(false)));
}

#[test]
fn equations_are_canonicalized() {
    let text = |text: &str| Datum::Str(text.into());
    let canonical = |equation, expected: Option<&str>| {
        check(Func::Equation, &[text(equation)], expected.map(text));
    };
    canonical("ij, jk -> ik", Some("ab,bc->ac"));
    canonical("mk,kn", Some("ab,bc->ac"));
    canonical("ca", Some("ab->ba"));
    canonical("i,i", Some("a,a->"));
    canonical("...xy,...zy", Some("...ab,...cb->...ac"));
    canonical("bB->Bb", Some("ab->ba"));
    canonical("ij->i1", None);
    canonical("abcdefghijklmnopqrstuvwxyzA->A", None);
    check(Func::Equation, &[Datum::Int(1)], None);
}

#[test]
fn ellipses_are_expanded_by_ranks() {
    let text = |text: &str| Datum::Str(text.into());
    let expanded = |equation, ranks: &[i64], expected: Option<&str>| {
        check(Func::Equation, &[text(equation), list(ranks)], expected.map(text));
    };
    expanded("...xy,...zy", &[4, 3], Some("abcd,bed->abce"));
    expanded("i...->...", &[3], Some("abc->bc"));
    expanded("i...->i", &[3], Some("abc->a"));
    expanded("...ii->...i", &[2], Some("aa->a"));
    expanded("ij,jk", &[2, 2], Some("ab,bc->ac"));
    expanded("ij", &[3], None);
    expanded("...ij", &[1], None);
    expanded("ij,jk", &[2], None);
}

#[test]
fn operands_of_einsum_are_aligned() {
    let aligned = |equation: &str, expected: Option<&[&[i64]]>| {
        let expected = expected.map(|lists| Datum::List(lists.iter().map(|axes| list(axes)).collect()));
        check(Func::Alignment, &[Datum::Str(equation.into())], expected);
    };
    aligned("ab->ba", Some(&[&[1, 0], &[], &[]]));
    aligned("ab->", Some(&[&[0, 1], &[], &[0, 1]]));
    aligned("bc,ab,->ca", Some(&[&[1, 0], &[1], &[0, 1], &[0], &[], &[0, 1, 2], &[2]]));
    aligned("aa->a", None);
    aligned("a->b", None);
    aligned("...a->a", None);
}

#[test]
fn axes_of_contractions_are_classified() {
    let text = |text: &str| Datum::Str(text.into());
    let product = |equation, expected: Option<[&[i64]; 7]>| {
        let expected = expected.map(|lists| Datum::List(lists.into_iter().map(list).collect()));
        check(Func::Contraction, &[text(equation)], expected);
    };
    product("bhqk,bkhd->bqhd", Some([&[0, 1], &[2], &[3], &[0, 2], &[3], &[1], &[0, 2, 1, 3]]));
    product("ab,b->a", Some([&[], &[0], &[1], &[], &[], &[0], &[0]]));
    product("i,j->ji", Some([&[], &[0], &[], &[], &[0], &[], &[1, 0]]));
    product("ab,cd->ac", None);
    product("aa,ab->b", None);
    product("...a,ab->...b", None);
    product("ab->ba", None);
    product("ab,bc,cd->ad", None);
}

#[test]
fn list_functions_check_bounds() {
    let three = list(&[5, 6, 7]);
    check(Func::Slice, &[three.clone(), Datum::Int(-2)], Some(list(&[6, 7])));
    check(Func::Slice, &[three.clone(), Datum::Int(2), Datum::Int(1)], None);
    check(Func::Slice, &[three.clone(), Datum::Int(3)], Some(list(&[])));
    check(Func::Without, &[three.clone(), list(&[0, -1])], Some(list(&[6])));
    check(Func::Select, &[three.clone(), list(&[3])], None);
    check(Func::Insert, &[three.clone(), Datum::Int(0), Datum::Int(1)], Some(list(&[1, 5, 6, 7])));
    check(Func::Sorted, &[list(&[3, 1, 2])], Some(list(&[1, 2, 3])));
    check(Func::NormalizeAxes, &[list(&[-1, 0]), Datum::Int(3)], Some(list(&[2, 0])));
    check(Func::NormalizeAxes, &[list(&[3]), Datum::Int(3)], None);
    check(Func::Iota, &[Datum::Int(3)], Some(list(&[0, 1, 2])));
    check(Func::Iota, &[Datum::Int(1 << 40)], None);
    check(Func::Product, &[list(&[])], Some(Datum::Int(1)));
    check(Func::Product, &[list(&[i64::MAX, 2])], None);
    check(Func::First, &[list(&[])], None);
    assert_eq!(index(&three, &Datum::Int(-1)), Some(Datum::Int(7)));
}

#[test]
fn dynamic_sizes_are_distinguished() {
    check(Func::IsFree, &[Datum::from(Dim::symbol("N"))], Some(Datum::Bool(true)));
    check(Func::IsFree, &[Datum::Int(3)], Some(Datum::Bool(false)));
    let sizes = [Datum::from(Dim::symbol("N")), Datum::from(Dim::symbol("M")), Datum::Int(3)];
    for (at, left) in sizes.iter().enumerate() {
        for (other, right) in sizes.iter().enumerate() {
            check(Func::IsSame, &[left.clone(), right.clone()], Some(Datum::Bool(at == other)));
        }
    }
    check(Func::IsFree, &[list(&[3])], None);
}

#[test]
fn arithmetic_is_checked_and_elementwise() {
    let n = || Datum::from(Dim::symbol("N"));
    let check =
        |op, a: Datum, b: Datum, expected| assert_eq!(binary(op, &a, &b), expected, "{a:?} {op:?} {b:?}");
    check(BinaryOp::Div, Datum::Int(6), Datum::Int(4), None);
    check(BinaryOp::FloorDiv, Datum::Int(-7), Datum::Int(2), Some(Datum::Int(-4)));
    check(BinaryOp::Mod, Datum::Int(-7), Datum::Int(2), Some(Datum::Int(1)));
    check(BinaryOp::Add, Datum::Int(i64::MAX), Datum::Int(1), None);
    check(BinaryOp::Div, Datum::Int(1), Datum::Float(0.0), None);
    check(BinaryOp::Sub, n(), n(), Some(Datum::Int(0)));
    check(BinaryOp::Add, list(&[1, 2]), list(&[10, 20]), Some(list(&[11, 22])));
    check(BinaryOp::Mul, list(&[1, 2]), Datum::Int(2), Some(list(&[2, 4])));
    check(BinaryOp::Add, list(&[1]), list(&[1, 2]), None);
}

#[test]
fn min_and_max_work_elementwise() {
    check(Func::Max, &[list(&[1, 7, 3])], Some(Datum::Int(7)));
    check(Func::Max, &[Datum::Int(1), Datum::Int(2)], Some(Datum::Int(2)));
    check(Func::Max, &[list(&[-1, 2]), Datum::Int(0)], Some(list(&[0, 2])));
    check(Func::Min, &[list(&[-1, 2]), list(&[3, 1])], Some(list(&[-1, 1])));
    check(Func::Min, &[list(&[1]), list(&[3, 1])], None);
}

#[test]
fn data_of_different_kinds_are_compared() {
    let check =
        |op, a: Datum, b: Datum, expected| assert_eq!(compare(op, &a, &b), expected, "{a:?} {op:?} {b:?}");
    check(CompareOp::Eq, Datum::Float(f64::from(0.1f32)), Datum::Float(0.1), Some(true));
    check(CompareOp::Eq, Datum::Float(0.1), Datum::Float(0.1 + 1e-16), Some(false));
    check(CompareOp::Eq, Datum::Int(10), Datum::Elem(Float16), Some(true));
    check(CompareOp::Eq, Datum::Str("a".into()), Datum::Int(1), Some(false));
    check(CompareOp::Lt, Datum::Str("a".into()), Datum::Int(1), None);
    check(CompareOp::Eq, Datum::from(Dim::symbol("N")), Datum::Int(1), None);
    check(CompareOp::Ge, Datum::Int(2), Datum::Float(1.5), Some(true));
    check(CompareOp::Lt, Datum::Float(f64::NAN), Datum::Int(1), None);
    check(CompareOp::Eq, Datum::Absent, Datum::Int(1), None);
    check(CompareOp::Ne, list(&[1]), Datum::Absent, None);
}

#[test]
fn cast_fits_only_if_every_value_is_representable() {
    let check = |from, to, expected: Option<bool>| {
        let answer = call(Func::CastFits, &[Datum::Elem(from), Datum::Elem(to)]);
        assert_eq!(answer, expected.map(Datum::Bool), "{from} to {to}");
    };
    check(Float16, Float, Some(true));
    check(Bfloat16, Float16, Some(false));
    check(Int32, Float, Some(false));
    check(Int16, Float, Some(true));
    check(Uint8, Int8, Some(false));
    check(Uint8, Int16, Some(true));
    check(Int8, Uint64, Some(false));
    check(Int64, Int32, Some(false));
    check(Bool, Int8, Some(true));
    check(Int8, Bool, Some(false));
    check(Float8e8m0, Float, Some(true));
    check(Float, Float8e5m2, None);
    check(String, Float, None);
}

#[test]
fn tensors_are_made_from_numbers() {
    let ints = [Datum::Elem(Int64), list(&[1, 2])];
    let Some(Datum::Tensor(tensor)) = call(Func::Tensor, &ints) else { panic!("no tensor") };
    assert_eq!((tensor.dims.as_slice(), tensor.small_ints(9)), ([2].as_slice(), Some(vec![1, 2])));
    check(Func::Tensor, &[Datum::Elem(Int8), Datum::Int(128)], None);
    check(Func::Tensor, &[Datum::Elem(Int8), Datum::Float(1.0)], None);
    let full = [Datum::Elem(Float16), list(&[2, 1]), Datum::Float(0.5)];
    let Some(Datum::Tensor(tensor)) = call(Func::Full, &full) else { panic!("no tensor") };
    assert_eq!((tensor.dims.as_slice(), tensor.small_floats(9)), ([2, 1].as_slice(), Some(vec![0.5, 0.5])));
}
