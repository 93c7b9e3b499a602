//! Typed `u32` ids and the arenas that they index.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// An id into an [`Arena`].
pub trait Id: Copy + Eq + std::hash::Hash + Ord + fmt::Debug {
    /// Returns the id of the item at the 0-based `index`.
    fn from_index(index: usize) -> Self;
    /// Returns the 0-based index of the item.
    fn index(self) -> usize;
}

/// Declares a newtype over `u32` that is an [`Id`].
macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(u32);

        impl $crate::graph::arena::Id for $name {
            /// Saturates at `u32::MAX`; no readable file has that many items.
            fn from_index(index: usize) -> Self {
                $name(u32::try_from(index).unwrap_or(u32::MAX))
            }

            fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(/// Id of a graph: the main graph, a subgraph of a node, or the graph of a local function.
    GraphId);
id!(/// Id of a node in any graph of the model.
    NodeId);
id!(/// Id of a value in any graph of the model.
    ValueId);
id!(/// Id of a tensor (an initializer or an attribute value).
    TensorId);

/// Append-only list indexed by a typed id.
#[derive(Clone, Debug)]
pub struct Arena<I, T> {
    items: Vec<T>,
    id: PhantomData<I>,
}

impl<I: Id, T> Arena<I, T> {
    /// Appends an item and returns its id.
    pub fn push(&mut self, item: T) -> I {
        let id = I::from_index(self.items.len());
        self.items.push(item);
        id
    }

    /// Returns the number of items, including unreferenced ones.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns true if there are no items.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the ids of all items in insertion order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + use<I, T> {
        (0..self.items.len()).map(I::from_index)
    }

    /// Iterates over all items and their ids in insertion order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (I, &T)> {
        self.items.iter().enumerate().map(|(index, item)| (I::from_index(index), item))
    }

    /// Like [`Arena::iter`], with mutable access to the items.
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
