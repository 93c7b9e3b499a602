//! Layout of a small graph in layers: producers above users, edges around shapes, and room for labels.
//!
//! Shapes are in layers with even numbers. An edge has a point in each layer that it passes, so no edge
//! crosses a shape. The first point of an edge is in a layer with an odd number, and has room for the label
//! of the edge.

/// Space between neighbors of a layer.
const GAP: f64 = 16.0;

/// Number of passes that reorder the items of layers; positions are assigned in twice as many passes.
const SWEEPS: usize = 10;

/// Width of a shape, and whether it is placed directly above its first user.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    pub width: f64,
    pub is_input: bool,
}

/// An edge, and the width of its label; 0 for none.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    pub from: usize,
    pub to: usize,
    pub label: f64,
}

/// A shape, or a point of an edge.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    pub layer: usize,
    /// Horizontal position of the center.
    pub x: f64,
    pub width: f64,
    /// Whether the item is a point of an edge.
    is_point: bool,
}

/// Positions of the shapes and edges.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// The shapes, then the points of edges.
    pub items: Vec<Item>,
    /// For each edge, the items along it; empty if it violates the order of the shapes, as in a cycle.
    pub routes: Vec<Vec<usize>>,
    pub layers: usize,
}

/// Computes the layout. Edges that violate the order of the shapes get no route.
pub fn layout(blocks: &[Block], links: &[Link]) -> Layout {
    let mut items = layered(blocks, links);
    let mut routes = Vec::with_capacity(links.len());
    for link in links {
        if link.from >= link.to || link.to >= blocks.len() {
            routes.push(Vec::new());
            continue;
        }
        let between = items[link.from].layer + 1..items[link.to].layer;
        let mut route = vec![link.from];
        for (at, layer) in between.enumerate() {
            route.push(items.len());
            items.push(Item { layer, x: 0.0, width: if at == 0 { link.label } else { 0.0 }, is_point: true });
        }
        route.push(link.to);
        routes.push(route);
    }
    let neighbors = Neighbors::of(&routes, items.len());
    let layers = items.iter().map(|item| item.layer + 1).max().unwrap_or(0);
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); layers];
    (0..items.len()).for_each(|at| rows[items[at].layer].push(at));
    order(&mut rows, &neighbors, items.len());
    place(&rows, &neighbors, &mut items);
    Layout { items, routes, layers }
}

/// Assigns layers with even numbers to the shapes.
fn layered(blocks: &[Block], links: &[Link]) -> Vec<Item> {
    let item = |block: &Block| Item { layer: 0, x: 0.0, width: block.width, is_point: false };
    let mut items: Vec<Item> = blocks.iter().map(item).collect();
    // Edges that violate the order of the shapes are ignored, so that any graph can be drawn.
    let mut ordered: Vec<&Link> =
        links.iter().filter(|link| link.from < link.to && link.to < blocks.len()).collect();
    ordered.sort_by_key(|link| link.to);
    for link in &ordered {
        items[link.to].layer = items[link.to].layer.max(items[link.from].layer + 2);
    }
    for at in (0..blocks.len()).filter(|&at| blocks[at].is_input) {
        let users = ordered.iter().filter(|link| link.from == at).map(|link| items[link.to].layer);
        items[at].layer = users.min().map_or(0, |layer| layer.saturating_sub(2));
    }
    items
}

/// The neighbors of each item in the layers above and below.
struct Neighbors {
    above: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
}

impl Neighbors {
    fn of(routes: &[Vec<usize>], count: usize) -> Self {
        let mut neighbors = Neighbors { above: vec![Vec::new(); count], below: vec![Vec::new(); count] };
        for pair in routes.iter().flat_map(|route| route.windows(2)) {
            neighbors.below[pair[0]].push(pair[1]);
            neighbors.above[pair[1]].push(pair[0]);
        }
        neighbors
    }

    /// Returns the number of crossings of the edges between a row and the one below.
    fn crossings(&self, row: &[usize], position: &[usize]) -> usize {
        let ends: Vec<(usize, usize)> = row
            .iter()
            .flat_map(|&at| self.below[at].iter().map(move |&to| (position[at], position[to])))
            .collect();
        let pairs =
            ends.iter().enumerate().flat_map(|(at, one)| ends[..at].iter().map(move |other| (one, other)));
        pairs.filter(|(a, b)| (a.0 < b.0 && a.1 > b.1) || (a.0 > b.0 && a.1 < b.1)).count()
    }
}

/// Reorders each row by the positions of its neighbors; keeps the order with the fewest crossings.
fn order(rows: &mut Vec<Vec<usize>>, neighbors: &Neighbors, count: usize) {
    let mut position = vec![0; count];
    let number = |row: &[usize], position: &mut Vec<usize>| {
        row.iter().enumerate().for_each(|(index, &at)| position[at] = index);
    };
    rows.iter().for_each(|row| number(row, &mut position));
    let crossings = |rows: &[Vec<usize>], position: &[usize]| {
        rows.iter().map(|row| neighbors.crossings(row, position)).sum::<usize>()
    };
    let mut best = (crossings(rows, &position), rows.clone());
    for sweep in 0..SWEEPS {
        let is_down = sweep % 2 == 0;
        let indices: Vec<usize> =
            if is_down { (0..rows.len()).collect() } else { (0..rows.len()).rev().collect() };
        for index in indices {
            let others = if is_down { &neighbors.above } else { &neighbors.below };
            let mean = |at: usize| match others[at].len() {
                0 => position[at] as f64,
                many => others[at].iter().map(|&other| position[other] as f64).sum::<f64>() / many as f64,
            };
            let mut keyed: Vec<(f64, usize)> = rows[index].iter().map(|&at| (mean(at), at)).collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            rows[index] = keyed.into_iter().map(|(_, at)| at).collect();
            number(&rows[index], &mut position);
        }
        let found = crossings(rows, &position);
        if found < best.0 {
            best = (found, rows.clone());
        }
    }
    *rows = best.1;
}

/// Assigns positions: each item close to its neighbors, without overlaps.
///
/// The leftmost item begins at 0.
fn place(rows: &[Vec<usize>], neighbors: &Neighbors, items: &mut [Item]) {
    for row in rows {
        let mut x = 0.0;
        for &at in row {
            items[at].x = x + items[at].width / 2.0;
            x += items[at].width + GAP;
        }
    }
    for sweep in 0..2 * SWEEPS {
        let others = if sweep % 2 == 0 { &neighbors.above } else { &neighbors.below };
        let indices: Vec<usize> =
            if sweep % 2 == 0 { (0..rows.len()).collect() } else { (0..rows.len()).rev().collect() };
        for index in indices {
            let wanted = |at: usize| {
                let near = &others[at];
                let mean = near.iter().map(|&other| items[other].x).sum::<f64>() / near.len().max(1) as f64;
                // A higher weight keeps edges that pass several layers nearly straight.
                let weight = if items[at].is_point && near.iter().any(|&other| items[other].is_point) {
                    8.0
                } else {
                    1.0
                };
                if near.is_empty() { (items[at].x, 0.1) } else { (mean, weight) }
            };
            let row: Vec<(f64, f64, f64)> =
                rows[index].iter().map(|&at| (wanted(at).0, wanted(at).1, items[at].width)).collect();
            for (&at, x) in rows[index].iter().zip(spread(&row)) {
                items[at].x = x;
            }
        }
    }
    let left = items.iter().map(|item| item.x - item.width / 2.0).fold(f64::INFINITY, f64::min);
    items.iter_mut().for_each(|item| item.x -= left);
}

/// Returns the positions nearest to the wanted positions such that neighbors do not overlap.
///
/// The order is kept. An element of `row` is (wanted position, weight, width). Least squares with minimum
/// distances are an isotonic regression, which merges neighbors into blocks as long as they overlap.
fn spread(row: &[(f64, f64, f64)]) -> Vec<f64> {
    let mut offsets = Vec::with_capacity(row.len());
    let mut blocks: Vec<(f64, f64, usize)> = Vec::new();
    let mut offset = 0.0;
    for (at, &(wanted, weight, width)) in row.iter().enumerate() {
        if at > 0 {
            offset += (row[at - 1].2 + width) / 2.0 + GAP;
        }
        offsets.push(offset);
        let mut block = (wanted - offset, weight, 1);
        while let Some(&(mean, mass, count)) = blocks.last().filter(|last| last.0 > block.0) {
            blocks.pop();
            block = ((mean * mass + block.0 * block.1) / (mass + block.1), mass + block.1, count + block.2);
        }
        blocks.push(block);
    }
    let means = blocks.into_iter().flat_map(|(mean, _, count)| std::iter::repeat_n(mean, count));
    means.zip(offsets).map(|(mean, offset)| mean + offset).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid_out(count: usize, edges: &[(usize, usize)]) -> Layout {
        let blocks = vec![Block { width: 80.0, is_input: false }; count];
        let links: Vec<Link> = edges.iter().map(|&(from, to)| Link { from, to, label: 60.0 }).collect();
        layout(&blocks, &links)
    }

    #[test]
    fn users_are_below_producers_and_nothing_overlaps() {
        // Random graphs, by a linear congruential generator.
        let mut state = 1_u64;
        let mut random = |bound: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % bound
        };
        for _ in 0..200 {
            let count = 2 + random(16);
            let edges: Vec<(usize, usize)> = (0..2 * count).map(|_| (random(count), random(count))).collect();
            let Layout { items, routes, layers } = laid_out(count, &edges);
            for (route, &(from, to)) in routes.iter().zip(&edges) {
                assert_eq!(route.is_empty(), from >= to);
                assert!(route.windows(2).all(|pair| items[pair[0]].layer + 1 == items[pair[1]].layer));
            }
            for layer in 0..layers {
                let mut row: Vec<&Item> = items.iter().filter(|item| item.layer == layer).collect();
                row.sort_by(|a, b| a.x.total_cmp(&b.x));
                for pair in row.windows(2) {
                    let space = pair[1].x - pair[1].width / 2.0 - (pair[0].x + pair[0].width / 2.0);
                    assert!(space > GAP - 0.01, "{space} between {pair:?}");
                }
            }
        }
    }

    #[test]
    fn order_without_crossings_is_found() {
        let edges = [(0, 5), (1, 4), (2, 3)];
        let Layout { items, .. } = laid_out(6, &edges);
        let mut ends: Vec<(f64, f64)> =
            edges.iter().map(|&(from, to)| (items[from].x, items[to].x)).collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(ends.is_sorted_by(|a, b| a.1 < b.1), "{ends:?}");
    }
}
