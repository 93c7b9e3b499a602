//! Operators on sequences, optionals and text, and random operators, which are never evaluated.

mod ngram;
mod sequence;
mod string;

use super::Kernel::{self, Many, One, Random, Values};

/// Returns the kernel of an operator of this module; `None` if this module has no kernel for `op`.
pub(super) fn find(op: &str) -> Option<Kernel> {
    Some(match op {
        "RandomNormal" | "RandomNormalLike" | "RandomUniform" | "RandomUniformLike" | "Multinomial"
        | "Bernoulli" => Random,
        "Identity" => Values(sequence::identity),
        "Optional" => Values(sequence::optional),
        "OptionalGetElement" => Values(sequence::optional_get_element),
        "OptionalHasElement" => One(sequence::optional_has_element),
        "SequenceEmpty" => Values(sequence::empty),
        "SequenceConstruct" => Values(sequence::construct),
        "SequenceAt" => Values(sequence::at),
        "SequenceInsert" => Values(sequence::insert),
        "SequenceErase" => Values(sequence::erase),
        "SequenceLength" => One(sequence::length),
        "SplitToSequence" => Values(sequence::split),
        "ConcatFromSequence" => One(sequence::concat),
        "StringConcat" => One(string::concat),
        "StringSplit" => Many(string::split),
        "StringNormalizer" => One(string::normalize),
        "RegexFullMatch" => One(string::regex_full_match),
        "TfIdfVectorizer" => One(ngram::tf_idf),
        _ => return None,
    })
}
