//! Renders a small graph as SVG, in layers from top to bottom: producers above users.

use super::escaped;
use super::layout::{Block, Item, Layout, Link, layout};
use crate::diag::picture::{Edge, Picture, Shape, ShapeKind};

/// Height of a shape, in pixels.
const HEIGHT: i64 = 40;
/// Height of an edge's label.
const LABEL: i64 = 16;

/// Vertical space between two layers, in which edges bend.
const BEND: i64 = 18;
const MARGIN: i64 = 10;

/// Width of a character of a title or a name.
const CHARACTER: i64 = 8;
/// Width of a character of an edge's label.
const SMALL: i64 = 7;
const NARROWEST: i64 = 72;

/// Maximum length of titles and names.
const LONGEST: usize = 30;
/// Maximum length of labels.
const LONGEST_LABEL: usize = 22;

/// Top and bottom of each layer, in pixels.
type Rows = Vec<(i64, i64)>;

/// Renders the picture as SVG with a text alternative; `id` must be unique in the page.
pub fn svg(picture: &Picture, id: &str) -> String {
    let edges = merged(picture);
    let blocks: Vec<Block> = picture.shapes.iter().map(block).collect();
    let link = |edge: &Edge| {
        let count = edge.label.chars().count().min(LONGEST_LABEL) as i64;
        Link { from: edge.from, to: edge.to, label: (count * SMALL) as f64 }
    };
    let links: Vec<Link> = edges.iter().map(link).collect();
    let layout = layout(&blocks, &links);
    let rows = rows(&layout, &edges);
    let right = layout.items.iter().map(|item| item.x + item.width / 2.0).fold(0.0, f64::max);
    let (width, height) = (pixel(right) + MARGIN, rows.last().map_or(0, |row| row.1) + MARGIN);
    let mut text = format!(
        "<svg role=\"img\" aria-labelledby=\"{id}-t {id}-d\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" xmlns=\"http://www.w3.org/2000/svg\">\
         <title id=\"{id}-t\">Graph around this finding</title><desc id=\"{id}-d\">{}</desc>\n",
        escaped(&in_words(picture))
    );
    let paths: Vec<Vec<(i64, i64)>> = (0..edges.len()).map(|at| path(at, &layout, &rows)).collect();
    for points in paths.iter().filter(|points| !points.is_empty()) {
        text += &curve(points);
    }
    for (edge, route) in edges.iter().zip(&layout.routes).filter(|(edge, _)| !edge.label.is_empty()) {
        let Some(&point) = route.get(1).filter(|_| route.len() > 2) else { continue };
        let (x, (top, _)) = (pixel(layout.items[point].x), rows[layout.items[point].layer]);
        let label = escaped(&cut(&edge.label, LONGEST_LABEL));
        text += &format!("<text class=\"edge\" x=\"{x}\" y=\"{}\">{label}</text>\n", top + LABEL - 4);
    }
    for (shape, item) in picture.shapes.iter().zip(&layout.items) {
        text += &drawn(shape, item, rows[item.layer].0);
    }
    text + "</svg>\n"
}

/// Returns the edges without repetitions.
fn merged(picture: &Picture) -> Vec<Edge> {
    let mut edges: Vec<Edge> = Vec::new();
    for edge in &picture.edges {
        if !edges.iter().any(|one| (one.from, one.to) == (edge.from, edge.to)) {
            edges.push(edge.clone());
        }
    }
    edges
}

fn block(shape: &Shape) -> Block {
    let length = |text: &str| text.chars().count().min(LONGEST) as i64;
    let widest = (length(&shape.title).max(length(&shape.name))) * CHARACTER + 20;
    Block { width: widest.max(NARROWEST) as f64, is_input: shape.kind == ShapeKind::Input }
}

/// Returns the top and bottom of each layer. A layer of edges has a height only if it has labels.
fn rows(layout: &Layout, edges: &[Edge]) -> Rows {
    let has_label = |layer: usize| {
        let mut routes = edges.iter().zip(&layout.routes);
        routes.any(|(edge, route)| {
            route.len() > 2 && layout.items[route[1]].layer == layer && !edge.label.is_empty()
        })
    };
    let mut top = MARGIN;
    let row = |layer: usize| {
        let height = match layer % 2 {
            0 => HEIGHT,
            _ if has_label(layer) => LABEL,
            _ => 0,
        };
        let row = (top, top + height);
        top = row.1 + BEND;
        row
    };
    (0..layout.layers).map(row).collect()
}

fn pixel(x: f64) -> i64 {
    x.round() as i64 + MARGIN
}

/// Returns the points of an edge: where it leaves and enters each layer.
fn path(edge: usize, layout: &Layout, rows: &Rows) -> Vec<(i64, i64)> {
    let route = &layout.routes[edge];
    let (Some(&first), Some(&last)) = (route.first(), route.last()) else { return Vec::new() };
    // Edges leave and enter a shape at different points, in the order of their neighbors.
    let port = |shape: usize, is_first: bool| {
        let ends = layout.routes.iter().enumerate().filter(|(_, route)| {
            let end = if is_first { route.first() } else { route.last() };
            end == Some(&shape)
        });
        let mut ends: Vec<(f64, usize)> = ends
            .map(|(at, route)| {
                let beside = if is_first { route[1] } else { route[route.len() - 2] };
                (layout.items[beside].x, at)
            })
            .collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let own = ends.iter().position(|(_, at)| *at == edge).unwrap_or(0);
        let step = (layout.items[shape].width * 0.8 / ends.len() as f64).min(28.0);
        layout.items[shape].x + (own as f64 - (ends.len() as f64 - 1.0) / 2.0) * step
    };
    let mut points = vec![(pixel(port(first, true)), rows[layout.items[first].layer].1)];
    for &point in &route[1..route.len() - 1] {
        let (x, (top, bottom)) = (pixel(layout.items[point].x), rows[layout.items[point].layer]);
        points.push((x, top));
        if bottom > top {
            points.push((x, bottom));
        }
    }
    points.push((pixel(port(last, false)), rows[layout.items[last].layer].0));
    points
}

/// Draws an edge through points, with an arrowhead at its end.
fn curve(points: &[(i64, i64)]) -> String {
    let Some((&(x, y), rest)) = points.split_first() else { return String::new() };
    let Some(&(end_x, end_y)) = rest.last() else { return String::new() };
    let mut path = format!("M{x} {y}");
    let mut from = (x, y);
    for (at, &(x, y)) in rest.iter().enumerate() {
        // The line ends inside the arrowhead.
        let y = if at + 1 == rest.len() { y - 4 } else { y };
        let middle = (from.1 + y) / 2;
        path += &match from.0 == x {
            true => format!("V{y}"),
            false => format!("C{} {middle} {x} {middle} {x} {y}", from.0),
        };
        from = (x, y);
    }
    format!("<path d=\"{path}\"/><path class=\"tip\" d=\"M{end_x} {end_y}l-4-8h8z\"/>\n")
}

fn drawn(shape: &Shape, item: &Item, top: i64) -> String {
    let class = match shape.kind {
        ShapeKind::Meant => "meant",
        ShapeKind::Node => "node",
        ShapeKind::Input | ShapeKind::Output => "port",
    };
    let round = if class == "port" { HEIGHT / 2 } else { 6 };
    let (x, y, middle) = (pixel(item.x - item.width / 2.0), top, pixel(item.x));
    let mut text = format!(
        "<g class=\"{class}\"><rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{HEIGHT}\" rx=\"{round}\"/>",
        item.width
    );
    let lines = match (shape.title.as_str(), shape.name.as_str()) {
        (title, "") => vec![("title", title)],
        ("", name) => vec![("title", name)],
        (ty, name) if class == "port" => vec![("title", name), ("name", ty)],
        (title, name) => vec![("title", title), ("name", name)],
    };
    let first = if lines.len() == 1 { y + HEIGHT / 2 + 4 } else { y + 17 };
    for (line, (class, what)) in (0i64..).zip(lines) {
        let what = escaped(&cut(what, LONGEST));
        text += &format!("<text class=\"{class}\" x=\"{middle}\" y=\"{}\">{what}</text>", first + 15 * line);
    }
    text + "</g>\n"
}

/// Shortens a name, keeping its end, which is more specific.
fn cut(text: &str, longest: usize) -> String {
    let count = text.chars().count();
    if count <= longest {
        return text.to_owned();
    }
    let end: String = text.chars().skip(count - longest + 1).collect();
    format!("…{end}")
}

/// Describes the picture as text, for screen readers.
fn in_words(picture: &Picture) -> String {
    let called = |at: usize| {
        let Shape { kind, title, name } = &picture.shapes[at];
        match kind {
            ShapeKind::Input => format!("input {name}"),
            ShapeKind::Output => format!("output {name}"),
            _ if name.is_empty() => title.clone(),
            _ => format!("{title} {name}"),
        }
    };
    let meant = (0..picture.shapes.len()).filter(|&at| picture.shapes[at].kind == ShapeKind::Meant);
    let meant: Vec<String> = meant.map(called).collect();
    let edges: Vec<String> = picture
        .edges
        .iter()
        .map(|edge| format!("{} leads to {}", called(edge.from), called(edge.to)))
        .collect();
    format!("Finding at {}. {}.", meant.join(" and "), edges.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(count: usize, edges: &[(usize, usize)]) -> Picture {
        let shape = |at| Shape { kind: ShapeKind::Node, title: format!("Op{at}"), name: String::new() };
        let edge = |&(from, to): &(usize, usize)| Edge { from, to, label: String::new() };
        Picture {
            shapes: (0..count).map(shape).collect(),
            edges: edges.iter().map(edge).collect(),
            ..Picture::default()
        }
    }

    #[test]
    fn edges_have_arrowheads_and_different_ends() {
        let drawn = svg(&picture(4, &[(0, 3), (1, 3), (2, 3), (0, 3)]), "g");
        let tips: std::collections::BTreeSet<&str> =
            drawn.split("class=\"tip\" d=\"M").skip(1).filter_map(|rest| rest.split('l').next()).collect();
        assert_eq!(tips.len(), 3, "{drawn}");
    }

    #[test]
    fn cyclic_graph_is_drawn() {
        assert!(svg(&picture(2, &[(0, 1), (1, 0)]), "g").contains("Op1"));
        assert!(svg(&Picture::default(), "g").contains("</svg>"));
    }
}
