//! Tests of strings, sequences, optionals, and operators of `ai.onnx.ml`.

use std::sync::Arc;

use super::{Attr, Val, bools, call, ints, reals, strings};

#[test]
fn string_operators_concatenate_split_and_match() {
    let x = || strings(&[2], &["a,b", "c"]);
    call("StringConcat").of(x()).of(strings(&[], &["!"])).gives(&[strings(&[2], &["a,b!", "c!"])]);
    let parts = [strings(&[2, 2], &["a", "b", "c", ""]), ints(&[2], &[2, 1])];
    call("StringSplit").text("delimiter", ",").of(x()).gives(&parts);
    call("RegexFullMatch").text("pattern", "a|c").of(x()).gives(&[bools(&[false, true])]);
    call("RegexFullMatch").text("pattern", "a)|(c").of(x()).refused();
    let normalize = call("StringNormalizer").text("case_change_action", "UPPER");
    normalize.attr("stopwords", Attr::Strs(vec![b"C"])).of(x()).gives(&[strings(&[1], &["A,B"])]);
    call("Equal").of(x()).of(strings(&[1], &["c"])).gives(&[bools(&[false, true])]);
    call("Cast").int("to", 7).of(strings(&[1], &["-12"])).gives(&[ints(&[1], &[-12])]);
    call("Cast").int("to", 7).of(strings(&[1], &["2.5"])).refused();
}

#[test]
fn sequence_insert_accepts_a_negative_position() {
    let item = |value: i64| Val::from(ints(&[1], &[value]));
    let mut insert = call("SequenceInsert").of(ints(&[1], &[0])).of(ints(&[1], &[3])).of(ints(&[], &[-1]));
    insert.inputs[0] = Some(Val::Sequence(vec![item(1), item(2)]));
    let grown = vec![Val::Sequence(vec![item(1), item(3), item(2)])];
    assert_eq!(insert.run(), Ok(grown.clone()));
    let mut length = call("SequenceLength");
    length.inputs = grown.iter().cloned().map(Some).collect();
    length.gives(&[ints(&[], &[3])]);
    let mut joined = call("ConcatFromSequence").int("axis", 0);
    joined.inputs = grown.into_iter().map(Some).collect();
    joined.gives(&[ints(&[3], &[1, 3, 2])]);
}

#[test]
fn empty_optional_has_no_element() {
    let mut has = call("OptionalHasElement");
    has.inputs = vec![Some(Val::Optional(None))];
    assert_eq!(has.run(), Ok(vec![scalar(false)]));
    let mut get = call("OptionalGetElement");
    get.inputs = vec![Some(Val::Optional(None))];
    get.refused();
}

fn scalar(value: bool) -> Val {
    bools(&[value]).reshaped(vec![]).expect("one element").into()
}

#[test]
fn label_encoder_maps_unknown_labels_to_the_default() {
    let encode = call("LabelEncoder").domain("ai.onnx.ml").version(4);
    let encode = encode.attr("keys_strings", Attr::Strs(vec![b"a", b"b"])).ints("values_int64s", &[5, 6]);
    encode.of(strings(&[3], &["b", "x", "a"])).gives(&[ints(&[3], &[6, -1, 5])]);
}

#[test]
fn tree_ensemble_follows_branches_to_leaf_weights() {
    let tensor = |array| Attr::Tensor(Arc::new(array));
    let forest = call("TreeEnsemble").domain("ai.onnx.ml").version(5).int("n_targets", 1);
    let forest = forest.ints("nodes_featureids", &[0]).ints("tree_roots", &[0]);
    let forest = forest.attr("nodes_splits", tensor(reals(&[1], &[2.0])));
    let forest = forest.attr("nodes_modes", tensor(super::whole(super::ElemType::Uint8, &[0])));
    let forest = forest.ints("nodes_trueleafs", &[1]).ints("nodes_truenodeids", &[0]);
    let forest = forest.ints("nodes_falseleafs", &[1]).ints("nodes_falsenodeids", &[1]);
    let forest =
        forest.ints("leaf_targetids", &[0, 0]).attr("leaf_weights", tensor(reals(&[2], &[1.0, 9.0])));
    forest.of(reals(&[3, 1], &[2.0, 3.0, f64::NAN])).gives(&[reals(&[3, 1], &[1.0, 9.0, 9.0])]);
}

#[test]
fn zip_map_and_dict_vectorizer_convert_scores_to_and_from_maps() {
    let zip = call("ZipMap").domain("ai.onnx.ml").version(1).ints("classlabels_int64s", &[7, 8]);
    let mut vectorize =
        call("DictVectorizer").domain("ai.onnx.ml").version(1).ints("int64_vocabulary", &[8, 9]);
    let maps = zip.of(reals(&[1, 2], &[0.25, 0.75])).run().expect("a value");
    let [Val::Sequence(maps)] = &maps[..] else { panic!("expected a sequence of maps") };
    vectorize.inputs = vec![maps.first().cloned()];
    vectorize.gives(&[reals(&[1, 2], &[0.75, 0.0])]);
}
