//! Operators of `ai.onnx.ml`, except `CastMap`, classifiers and support vector machines.

mod encode;
mod feature;
mod map;
mod tree;
mod tree_table;

use super::Kernel::{self, One, Values};

/// Returns the kernel of an `ai.onnx.ml` operator; `None` if no kernel exists.
pub(super) fn find(op: &str) -> Option<Kernel> {
    Some(match op {
        "ArrayFeatureExtractor" => One(feature::extract),
        "Binarizer" => One(feature::binarize),
        "FeatureVectorizer" => One(feature::vectorize),
        "Imputer" => One(feature::impute),
        "LinearRegressor" => One(feature::linear_regressor),
        "Normalizer" => One(feature::normalize),
        "Scaler" => One(feature::scale),
        "CategoryMapper" => One(encode::category_mapper),
        "LabelEncoder" => One(encode::label_encoder),
        "OneHotEncoder" => One(encode::one_hot),
        "DictVectorizer" => One(map::dict_vectorizer),
        "ZipMap" => Values(map::zip_map),
        "TreeEnsemble" => One(tree::tree_ensemble),
        "TreeEnsembleRegressor" => One(tree::tree_ensemble_regressor),
        _ => return None,
    })
}
