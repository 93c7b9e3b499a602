//! Shape rules of string operators.

use super::Cx;
use crate::graph::dim::Interval;
use crate::infer::shape::known;

/// `StringSplit`: appends an axis for the parts, and returns the number of parts of each string.
pub fn split(cx: &mut Cx) -> Option<()> {
    let mut dims = cx.dims(0)?.to_vec();
    cx.set_dims(1, dims.clone());
    let most = cx.new_size(0, dims.len(), Interval::SIZE);
    dims.push(most);
    cx.set_dims(0, dims);
    Some(())
}

/// `StringNormalizer`: removes stop words from `[C]` or `[1, C]`; the result has at least one string.
pub fn normalizer(cx: &mut Cx) -> Option<()> {
    let mut dims = cx.dims(0)?.to_vec();
    let last = dims.len().checked_sub(1)?;
    if cx.attr("stopwords").is_some() {
        let range = Interval { lo: Some(1), ..cx.up_to(&dims[last]) };
        dims[last] = cx.new_size(0, last, range);
    }
    cx.set_dims(0, dims);
    Some(())
}

/// `TfIdfVectorizer`: the last axis has one column for each index up to the largest n-gram index.
pub fn tf_idf(cx: &mut Cx) -> Option<()> {
    let columns = cx.ints_attr("ngram_indexes")?.iter().max()?.checked_add(1)?;
    let mut dims = cx.dims(0)?.to_vec();
    *dims.last_mut()? = known(columns);
    cx.set_dims(0, dims);
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::infer::testing::check_call;

    #[test]
    fn string_operators_create_symbols_for_data_dependent_dimensions() {
        check_call("string[n] x", "StringSplit(x)", "string[n, y0_dim_1]; int64[n]");
        check_call("string[1, n] x", "StringNormalizer(x)", "string[1, n]");
        check_call("string[5] x", "StringNormalizer <stopwords = [\"a\"]> (x)", "string[y0_dim_0]");
        let call = "TfIdfVectorizer <mode = \"TF\", min_gram_length = 1, max_gram_length = 1, max_skip_count = 0, \
                    ngram_counts = [0], ngram_indexes = [0, 3], pool_int64s = [7, 8]> (x)";
        check_call("int64[n, 5] x", call, "float[n, 4]");
    }
}
