//! Ids of the nodes, values and blocks of a trace.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// Returns the number as an index into an arena.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// A node of one [`Trace`](super::trace::Trace); nodes are numbered in execution order.
    NodeId
);
id!(
    /// A value of one [`Trace`](super::trace::Trace).
    ValueId
);
id!(
    /// A block of one [`Trace`](super::trace::Trace).
    BlockId
);
