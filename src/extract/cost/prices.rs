//! Price tables, one for each objective.

use super::Cost;

/// Objective to minimize.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Objective {
    /// Number of nodes, weighted by their kind of work.
    #[default]
    Nodes,
    /// Size of the file, in bytes.
    Size,
    /// Estimated time of one run.
    Latency,
}

/// Price table of one objective, in units of that objective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prices {
    /// Price of any node.
    pub node: u64,
    /// Surcharge for a node that only changes a shape or a name.
    pub view: u64,
    /// Surcharge for a node that moves elements.
    pub moving: u64,
    /// Surcharge for a node that computes elements.
    pub elements: u64,
    /// Surcharge for a node that accumulates products, or runs subgraphs.
    pub product: u64,
    /// Price of 1,024 bytes that are read or written.
    pub traffic: u64,
    /// Price of 1,024 elements that are computed.
    pub computed: u64,
    /// Price of 1,024 products that are accumulated.
    pub summed: u64,
    /// Price of 1,024 bytes of names, attributes, documentation and metadata.
    pub text: u64,
    /// Price of a new constant, in addition to its bytes.
    pub constant: u64,
    /// Price of 1,024 bytes of a small constant, of at most 8 bytes times `MAX_ELEMENTS`.
    pub small: u64,
    /// Price of 1,024 bytes of a larger constant.
    pub weights: u64,
}

impl Objective {
    /// Returns the price table of the objective.
    pub fn prices(self) -> &'static Prices {
        match self {
            Objective::Nodes => &NODES,
            Objective::Size => &SIZE,
            Objective::Latency => &LATENCY,
        }
    }
}

/// A node costs 100, plus a surcharge for its kind of work.
///
/// Removing a node is worth 800 bytes of weights.
const NODES: Prices = Prices {
    node: 100,
    view: 5,
    moving: 20,
    elements: 30,
    product: 1000,
    traffic: 0,
    computed: 0,
    summed: 0,
    text: 0,
    constant: 4,
    small: 16,
    weights: 128,
};

/// A byte costs 16. The surcharges decide only between nodes of one size.
const SIZE: Prices = Prices {
    node: 0,
    view: 1,
    moving: 2,
    elements: 3,
    product: 100,
    traffic: 0,
    computed: 0,
    summed: 0,
    text: 16 * 1024,
    constant: 64,
    small: 16 * 1024,
    weights: 16 * 1024,
};

/// Prices in nanoseconds, as measured by `tests/calibrate`.
/// A byte of the file costs 1, so that the file grows only if each added byte saves a nanosecond.
const LATENCY: Prices = Prices {
    node: 2000,
    view: 0,
    moving: 0,
    elements: 0,
    product: 500,
    traffic: 40,
    computed: 100,
    summed: 40,
    text: 0,
    constant: 4,
    small: 1024,
    weights: 1024,
};

impl Prices {
    /// Returns true if the price of a node depends on the sizes of its tensors.
    pub fn sees_sizes(&self) -> bool {
        self.traffic + self.computed + self.summed > 0
    }

    /// Returns the cost of storing a constant with this number of bytes.
    pub fn stored(&self, bytes: usize, is_large: bool) -> Cost {
        Cost::new(per_1024(bytes as u64, if is_large { self.weights } else { self.small }))
    }
}

/// Returns the price of `count` items at a price per 1,024.
pub fn per_1024(count: u64, price: u64) -> u64 {
    let (count, price) = (u128::from(count), u128::from(price));
    u64::try_from(count * price / 1024).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Documentation page of the prices.
    const PAGE: &str = include_str!("../../../rules/COSTS.md");

    #[test]
    fn costs_page_lists_all_prices() {
        let columns = [NODES, SIZE, LATENCY];
        let row = |name: &str, price: fn(&Prices) -> u64| {
            let cells: String = columns.iter().map(|prices| format!(" {} |", price(prices))).collect();
            let row = format!("| {name} |{cells}\n");
            assert!(PAGE.contains(&row), "rules/COSTS.md lacks: {row}");
        };
        row("a node", |prices| prices.node);
        row("surcharge for a node that only changes a shape or a name", |prices| prices.view);
        row("surcharge for a node that moves elements", |prices| prices.moving);
        row("surcharge for a node that computes elements", |prices| prices.elements);
        row("surcharge for a node that accumulates products, or runs subgraphs", |prices| prices.product);
        row("1,024 bytes read or written", |prices| prices.traffic);
        row("1,024 elements computed", |prices| prices.computed);
        row("1,024 products accumulated", |prices| prices.summed);
        row("1,024 bytes of names, attributes and metadata", |prices| prices.text);
        row("a constant", |prices| prices.constant);
        row("1,024 bytes of a small constant", |prices| prices.small);
        row("1,024 bytes of a larger constant", |prices| prices.weights);
    }
}
