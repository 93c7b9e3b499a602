//! Groups of neighboring axes that an operator treats alike.

use crate::graph::dim::Dim;
use crate::infer::Size;

/// Neighboring axes of one role, as one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block<R> {
    pub size: Size,
    pub role: R,
}

/// Merges neighboring axes of equal roles; axes of size 1 are dropped.
pub fn blocks<R: PartialEq>(axes: impl IntoIterator<Item = (Size, R)>) -> Vec<Block<R>> {
    let one = Dim::known(1);
    let mut blocks: Vec<Block<R>> = Vec::new();
    for (size, role) in axes.into_iter().filter(|(size, _)| size.as_ref() != Some(&one)) {
        match blocks.last_mut().filter(|last| last.role == role) {
            Some(last) => last.size = product([&last.size, &size]),
            None => blocks.push(Block { size, role }),
        }
    }
    blocks
}

/// Returns the sizes that determine all blocks of a tensor of known content.
///
/// The number of elements determines the first size if all others are positive numbers. `None` if a needed size is
/// unknown.
pub fn sizes<R>(blocks: &[Block<R>]) -> Option<Vec<Dim>> {
    let Some((first, others)) = blocks.split_first() else { return Some(Vec::new()) };
    let mut sizes: Vec<Dim> = others.iter().map(|block| block.size.clone()).collect::<Option<_>>()?;
    if !sizes.iter().all(|size| size.as_const().is_some_and(|size| size > 0)) {
        sizes.insert(0, first.size.clone()?);
    }
    Some(sizes)
}

/// Returns the product of sizes; `None` if one is unknown.
pub fn product<'s>(sizes: impl IntoIterator<Item = &'s Size>) -> Size {
    sizes.into_iter().try_fold(Dim::known(1), |product, size| product.mul(size.as_ref()?))
}

/// Returns the sizes of all blocks; `None` if one is unknown.
pub fn all_sizes<R>(blocks: &[Block<R>]) -> Option<Vec<Dim>> {
    blocks.iter().map(|block| block.size.clone()).collect()
}
