//! Shape rules of `ai.onnx.ml`: classical machine learning.

use super::Cx;
use crate::graph::{AttrValue, ElemType};
use crate::infer::fact::Fact;
use crate::infer::shape::{Shape, Size, known};

/// Returns the number of entries of a list attribute.
fn count(cx: &Cx, attr: &str) -> Option<i64> {
    let entries = match cx.attr(attr)? {
        AttrValue::Ints(ints) => ints.len(),
        AttrValue::Floats(floats) => floats.len(),
        AttrValue::Strings(strings) => strings.len(),
        _ => return None,
    };
    i64::try_from(entries).ok()
}

/// Returns the number of rows of the first input; a vector is one row.
fn rows(cx: &Cx) -> Size {
    if cx.rank(0)? == 1 { known(1) } else { cx.dim(0, 0) }
}

/// `ArrayFeatureExtractor`: selects features along the last axis.
pub fn array_feature_extractor(cx: &mut Cx) -> Option<()> {
    let mut dims = cx.dims(0)?.to_vec();
    let picked = cx.shape(1).numel();
    *dims.last_mut()? = picked.clone();
    if dims.len() == 1 {
        dims = vec![known(1), picked];
    }
    cx.set_dims(0, dims);
    Some(())
}

/// `CategoryMapper`: maps strings to integers, or integers to strings.
pub fn category_mapper(cx: &mut Cx) -> Option<()> {
    let elem = if cx.elem(0)? == ElemType::String { ElemType::Int64 } else { ElemType::String };
    super::elementwise::same(cx)?;
    cx.set_elem(0, Some(elem));
    Some(())
}

/// `LabelEncoder`: the element type follows from the attribute `values_*` or `classes_strings`.
pub fn label_encoder(cx: &mut Cx) -> Option<()> {
    super::elementwise::same(cx)?;
    let has = |name: &str| cx.attr(name).is_some();
    let elem = if has("values_tensor") {
        cx.attr("values_tensor").and_then(AttrValue::as_tensor).and_then(|id| cx.tensor_of(id).elem())
    } else if has("values_strings") {
        Some(ElemType::String)
    } else if has("values_int64s") {
        Some(ElemType::Int64)
    } else if has("values_floats") {
        Some(ElemType::Float)
    } else if has("classes_strings") {
        let from_strings = cx.elem(0)? == ElemType::String;
        Some(if from_strings { ElemType::Int64 } else { ElemType::String })
    } else {
        None
    };
    cx.set_elem(0, elem);
    Some(())
}

/// `OneHotEncoder`: appends an axis with one entry per category.
pub fn one_hot_encoder(cx: &mut Cx) -> Option<()> {
    let categories = count(cx, "cats_int64s").or_else(|| count(cx, "cats_strings"));
    let mut dims = cx.dims(0)?.to_vec();
    dims.push(categories.and_then(known));
    cx.set_dims(0, dims);
    Some(())
}

/// Classifiers: return a label for each row, and a score for each row and class.
pub fn classifier(cx: &mut Cx) -> Option<()> {
    let strings = count(cx, "classlabels_strings").filter(|&classes| classes > 0);
    let ints = ["classlabels_int64s", "classlabels_ints"].iter().find_map(|name| count(cx, name));
    let elem = if strings.is_some() { ElemType::String } else { ElemType::Int64 };
    let rows = rows(cx);
    cx.set_dims(0, vec![rows.clone()]);
    cx.set_elem(0, Some(elem));
    // A binary classifier may return a single score.
    let scores = strings.or(ints).filter(|&classes| classes > 2).and_then(known);
    cx.set_dims(1, vec![rows, scores]);
    Some(())
}

/// Regressors and `TreeEnsemble`: return one column per target.
pub fn regressor(cx: &mut Cx) -> Option<()> {
    let targets = if cx.op() == "SVMRegressor" { Some(1) } else { None };
    let targets = targets.or_else(|| cx.int("n_targets")).or_else(|| cx.int("targets"));
    let targets = targets.or_else(|| (cx.op() == "LinearRegressor").then_some(1));
    cx.set_dims(0, vec![rows(cx), targets.and_then(known)]);
    Some(())
}

/// `FeatureVectorizer`: concatenates the features of all inputs.
pub fn feature_vectorizer(cx: &mut Cx) -> Option<()> {
    let given = cx.ints_attr("inputdimensions");
    let columns = given.map(|columns| columns.iter().sum::<i64>());
    cx.set_dims(0, vec![rows(cx), columns.and_then(known)]);
    Some(())
}

/// `DictVectorizer`: returns one entry for each word of the vocabulary.
pub fn dict_vectorizer(cx: &mut Cx) -> Option<()> {
    let words = count(cx, "string_vocabulary").or_else(|| count(cx, "int64_vocabulary"))?;
    if let Fact::Map { value, .. } = cx.fact(0)? {
        let elem = value.elem();
        cx.set_elem(0, elem);
    }
    cx.set_dims(0, vec![known(1), known(words)]);
    Some(())
}

/// `CastMap`: returns the values of a map as a row.
pub fn cast_map(cx: &mut Cx) -> Option<()> {
    let elem = match cx.text("cast_to").unwrap_or("TO_FLOAT") {
        "TO_STRING" => ElemType::String,
        "TO_INT64" => ElemType::Int64,
        _ => ElemType::Float,
    };
    cx.set_elem(0, Some(elem));
    let columns = if cx.text("map_form") == Some("SPARSE") { known(cx.int_or("max_map", 1)) } else { None };
    cx.set_dims(0, vec![known(1), columns]);
    Some(())
}

/// `ZipMap`: returns a map from labels to scores for each row.
pub fn zip_map(cx: &mut Cx) -> Option<()> {
    let strings = count(cx, "classlabels_strings").is_some_and(|classes| classes > 0);
    let key = if strings { ElemType::String } else { ElemType::Int64 };
    let value = Box::new(Fact::tensor(Some(ElemType::Float), Shape::scalar()));
    cx.put(0, Fact::sequence(Fact::Map { key: Some(key), value }));
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::infer::testing::check_call;

    #[test]
    fn labels_and_scores_follow_from_class_attributes() {
        let call = "ai.onnx.ml.LinearClassifier <classlabels_strings = [\"a\", \"b\", \"c\"], coefficients = [0.0]> (x)";
        check_call("float[n, 4] x", call, "string[n]; float[n, 3]");
        let call = "ai.onnx.ml.LinearRegressor <targets = 2, coefficients = [1.0, 2.0, 3.0, 4.0]> (x)";
        check_call("float[n, 2] x", call, "float[n, 2]");
        check_call("int64[n] x", "ai.onnx.ml.OneHotEncoder <cats_int64s = [1, 2, 3]> (x)", "float[n, 3]");
        check_call(
            "string[n] x",
            "ai.onnx.ml.LabelEncoder <keys_strings = [\"a\"], values_int64s = [1]> (x)",
            "int64[n]",
        );
        check_call(
            "float[n, 2] x",
            "ai.onnx.ml.ZipMap <classlabels_int64s = [0, 1]> (x)",
            "seq(map(int64, float[]))",
        );
    }
}
