//! Operators on strings.

use super::Cx;
use crate::graph::dim::Interval;
use crate::infer::shape::known;

/// `StringSplit`: a new axis for the parts, as long as the most of them; and how many each has.
pub fn split(cx: &mut Cx) -> Option<()> {
    let mut dims = cx.dims(0)?.to_vec();
    cx.set_dims(1, dims.clone());
    let most = cx.new_size(0, dims.len(), Interval::SIZE);
    dims.push(most);
    cx.set_dims(0, dims);
    Some(())
}

/// `StringNormalizer`: stop words are dropped from `[C]` or `[1, C]`, but one string is always left.
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

/// `TfIdfVectorizer`: the last axis becomes one column for each n-gram.
pub fn tf_idf(cx: &mut Cx) -> Option<()> {
    let columns = cx.ints_attr("ngram_indexes")?.iter().max()?.checked_add(1)?;
    let mut dims = cx.dims(0)?.to_vec();
    *dims.last_mut()? = known(columns);
    cx.set_dims(0, dims);
    Some(())
}
