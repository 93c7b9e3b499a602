//! What things cost: one table for each thing that can be asked for.

use super::Cost;

/// What a model is to be small in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Objective {
    /// Nodes, and of as many nodes those that take less time.
    #[default]
    Nodes,
    /// Bytes of the file.
    Size,
    /// Time of one run.
    Latency,
}

/// What each thing costs, in units of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prices {
    /// A node, whatever it does.
    pub node: u64,
    /// Besides, one that gives a tensor another shape or name.
    pub view: u64,
    /// One that moves elements.
    pub moving: u64,
    /// One that computes elements.
    pub elements: u64,
    /// One that multiplies and sums, or runs graphs.
    pub product: u64,
    /// 1,024 bytes that are read or written.
    pub traffic: u64,
    /// 1,024 elements that are computed.
    pub computed: u64,
    /// 1,024 products that are summed.
    pub summed: u64,
    /// A constant, whatever its size.
    pub constant: u64,
    /// 1,024 bytes of it, up to those that rules look into.
    pub small: u64,
    /// 1,024 bytes of a larger one, of which the file is not to hold two for one node less.
    pub weights: u64,
}

impl Objective {
    pub fn prices(self) -> &'static Prices {
        match self {
            Objective::Nodes => &NODES,
            Objective::Size => &SIZE,
            Objective::Latency => &LATENCY,
        }
    }
}

/// A node is 100, and what it does tells nodes apart. A node less is worth 800 bytes of weights.
const NODES: Prices = Prices {
    node: 100,
    view: 5,
    moving: 20,
    elements: 30,
    product: 1000,
    traffic: 0,
    computed: 0,
    summed: 0,
    constant: 4,
    small: 16,
    weights: 128,
};

/// A byte is 16: a node takes about 64 with its names, a constant 32.
const SIZE: Prices = Prices {
    node: 1024,
    view: 1,
    moving: 2,
    elements: 3,
    product: 100,
    traffic: 0,
    computed: 0,
    summed: 0,
    constant: 512,
    small: 16 * 1024,
    weights: 16 * 1024,
};

/// Nanoseconds, as `tests/calibrate` measures them; but a byte of the file is one, too, lest it grows.
const LATENCY: Prices = Prices {
    node: 2000,
    view: 0,
    moving: 0,
    elements: 0,
    product: 500,
    traffic: 40,
    computed: 100,
    summed: 40,
    constant: 4,
    small: 1024,
    weights: 1024,
};

impl Prices {
    /// Whether what a node costs depends on the sizes of its tensors.
    pub fn sees_sizes(&self) -> bool {
        self.traffic + self.computed + self.summed > 0
    }

    /// What it costs that a constant of so many bytes is in the file.
    pub fn stored(&self, bytes: usize, is_large: bool) -> Cost {
        Cost::new(per_1024(bytes as u64, if is_large { self.weights } else { self.small }))
    }
}

/// The price of `count` things of which 1,024 have a price.
pub fn per_1024(count: u64, price: u64) -> u64 {
    let (count, price) = (u128::from(count), u128::from(price));
    u64::try_from(count * price / 1024).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page that users read.
    const PAGE: &str = include_str!("../../../rules/COSTS.md");

    #[test]
    fn the_page_has_the_table() {
        let columns = [NODES, SIZE, LATENCY];
        let row = |name: &str, price: fn(&Prices) -> u64| {
            let cells: String = columns.iter().map(|prices| format!(" {} |", price(prices))).collect();
            let row = format!("| {name} |{cells}\n");
            assert!(PAGE.contains(&row), "rules/COSTS.md lacks: {row}");
        };
        row("a node", |prices| prices.node);
        row("… that gives a tensor another shape or name", |prices| prices.view);
        row("… that moves elements", |prices| prices.moving);
        row("… that computes elements", |prices| prices.elements);
        row("… that multiplies and sums, or runs graphs", |prices| prices.product);
        row("1,024 bytes read or written", |prices| prices.traffic);
        row("1,024 elements computed", |prices| prices.computed);
        row("1,024 products summed", |prices| prices.summed);
        row("a constant", |prices| prices.constant);
        row("1,024 bytes of a small one", |prices| prices.small);
        row("1,024 bytes of a larger one", |prices| prices.weights);
    }
}
