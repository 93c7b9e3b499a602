//! Typed `u32` ids and the arenas they index.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// An id into an [`Arena`].
pub trait Id: Copy + Eq + std::hash::Hash + Ord + fmt::Debug {
    /// The id of the item at `index`, counted from 0.
    fn from_index(index: usize) -> Self;
    /// The index of its item, counted from 0.
    fn index(self) -> usize;
}

/// Declares a newtype over `u32` that is an [`Id`].
macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(u32);

        impl $crate::graph::arena::Id for $name {
            /// An arena of more than `u32::MAX` items does not fit any file we read: ids saturate there.
            fn from_index(index: usize) -> Self {
                $name(u32::try_from(index).unwrap_or(u32::MAX))
            }

            fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(/// A graph: the main one, the body of a control-flow node, or of a local function.
    GraphId);
id!(/// A node of any graph of the model.
    NodeId);
id!(/// A value of any graph of the model.
    ValueId);
id!(/// A tensor: an initializer or an attribute.
    TensorId);

/// A growing list whose items are found by typed id, and are never removed.
#[derive(Clone, Debug)]
pub struct Arena<I, T> {
    items: Vec<T>,
    id: PhantomData<I>,
}

impl<I: Id, T> Arena<I, T> {
    /// Adds an item at the end, and gives its id.
    pub fn push(&mut self, item: T) -> I {
        let id = I::from_index(self.items.len());
        self.items.push(item);
        id
    }

    /// How many items there are, those that nothing refers to any more included.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether nothing was added yet.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The ids of all items, in the order they were added.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + use<I, T> {
        (0..self.items.len()).map(I::from_index)
    }

    /// All items with their ids, in the order they were added.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (I, &T)> {
        self.items.iter().enumerate().map(|(index, item)| (I::from_index(index), item))
    }

    /// As [`Arena::iter`], to change them.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (I, &mut T)> {
        self.items.iter_mut().enumerate().map(|(index, item)| (I::from_index(index), item))
    }
}

impl<I, T> Default for Arena<I, T> {
    fn default() -> Self {
        Arena { items: Vec::new(), id: PhantomData }
    }
}

impl<I: Id, T> Index<I> for Arena<I, T> {
    type Output = T;

    fn index(&self, id: I) -> &T {
        &self.items[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for Arena<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.index()]
    }
}
