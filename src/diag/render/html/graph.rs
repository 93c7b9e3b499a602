//! Renders a small graph as SVG, in layers from top to bottom: producers above users.

use super::escaped;
use crate::diag::picture::{Picture, Shape, ShapeKind};

const HEIGHT: i64 = 40;
const BETWEEN_LAYERS: i64 = 36;
const BETWEEN_SHAPES: i64 = 18;
const MARGIN: i64 = 8;

/// Width of a character of a title in the font of the page, in pixels.
const CHARACTER: i64 = 7;
const NARROWEST: i64 = 72;

/// Maximum length of titles and names.
const LONGEST: usize = 30;

/// Number of passes that reorder each layer by its neighboring layers.
const SWEEPS: usize = 6;

/// Position of a shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Spot {
    layer: usize,
    x: i64,
    width: i64,
}

/// Renders the picture as SVG with a text alternative; `id` must be unique in the page.
pub fn svg(picture: &Picture, id: &str) -> String {
    let boxes = laid_out(picture);
    let layers = boxes.iter().map(|one| one.layer + 1).max().unwrap_or(0) as i64;
    let width = boxes.iter().map(|one| one.x + one.width).max().unwrap_or(0) + MARGIN;
    let height = layers * HEIGHT + (layers - 1).max(0) * BETWEEN_LAYERS + 2 * MARGIN;
    let mut text = format!(
        "<svg role=\"img\" aria-labelledby=\"{id}-t {id}-d\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" xmlns=\"http://www.w3.org/2000/svg\">\
         <title id=\"{id}-t\">Graph around this finding</title><desc id=\"{id}-d\">{}</desc>\n",
        escaped(&in_words(picture))
    );
    for edge in &picture.edges {
        text += &line(&boxes[edge.from], &boxes[edge.to], &edge.label);
    }
    for (shape, at) in picture.shapes.iter().zip(&boxes) {
        text += &drawn(shape, at);
    }
    text + "</svg>\n"
}

fn top(layer: usize) -> i64 {
    MARGIN + layer as i64 * (HEIGHT + BETWEEN_LAYERS)
}

/// Computes the layout: users below producers, and shapes near the center of their neighbors.
fn laid_out(picture: &Picture) -> Vec<Spot> {
    let count = picture.shapes.len();
    let mut boxes = vec![Spot::default(); count];
    // The layout ignores edges that violate the order of the shapes, so that any graph can be drawn.
    let mut edges: Vec<(usize, usize)> = picture.edges.iter().map(|edge| (edge.from, edge.to)).collect();
    edges.retain(|(from, to)| from < to && *to < count);
    edges.sort_by_key(|&(_, to)| to);
    for &(from, to) in &edges {
        boxes[to].layer = boxes[to].layer.max(boxes[from].layer + 1);
    }
    // Place an input directly above its first user.
    for (at, _) in picture.shapes.iter().enumerate().filter(|(_, shape)| shape.kind == ShapeKind::Input) {
        let takers = edges.iter().filter(|(from, _)| *from == at).map(|&(_, to)| boxes[to].layer);
        boxes[at].layer = takers.min().map_or(0, |layer| layer.saturating_sub(1));
    }
    for (shape, at) in picture.shapes.iter().zip(&mut boxes) {
        let longest = shape.title.chars().count().max(shape.name.chars().count()).min(LONGEST) as i64;
        at.width = (longest * CHARACTER + 20).max(NARROWEST);
    }
    let layers = boxes.iter().map(|one| one.layer + 1).max().unwrap_or(0);
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); layers];
    (0..count).for_each(|at| rows[boxes[at].layer].push(at));
    for sweep in 0..=SWEEPS {
        let down = sweep % 2 == 0;
        for row in &mut rows {
            if sweep > 0 {
                let middle = |at: usize| middle_of_neighbours(at, down, &edges, &boxes);
                row.sort_by_key(|&at| middle(at).unwrap_or(boxes[at].x + boxes[at].width / 2));
            }
            let mut x = MARGIN;
            for &at in row.iter() {
                boxes[at].x = x;
                x += boxes[at].width + BETWEEN_SHAPES;
            }
        }
        centre(&rows, &mut boxes);
    }
    boxes
}

/// Returns the average position of the producers of a shape or, going up, of its users.
fn middle_of_neighbours(at: usize, down: bool, edges: &[(usize, usize)], boxes: &[Spot]) -> Option<i64> {
    let others = edges.iter().filter_map(|&(from, to)| match down {
        true => (to == at).then_some(from),
        false => (from == at).then_some(to),
    });
    let middles: Vec<i64> = others.map(|other| boxes[other].x + boxes[other].width / 2).collect();
    (!middles.is_empty()).then(|| middles.iter().sum::<i64>() / middles.len() as i64)
}

fn centre(rows: &[Vec<usize>], boxes: &mut [Spot]) {
    let end =
        |row: &Vec<usize>, boxes: &[Spot]| row.last().map_or(0, |&last| boxes[last].x + boxes[last].width);
    let widest = rows.iter().map(|row| end(row, boxes)).max().unwrap_or(0);
    for row in rows {
        let space = (widest - end(row, boxes)) / 2;
        row.iter().for_each(|&at| boxes[at].x += space);
    }
}

fn drawn(shape: &Shape, at: &Spot) -> String {
    let class = match shape.kind {
        ShapeKind::Meant => "meant",
        ShapeKind::Node => "node",
        ShapeKind::Input | ShapeKind::Output => "port",
    };
    let round = if class == "port" { HEIGHT / 2 } else { 6 };
    let (x, y, middle) = (at.x, top(at.layer), at.x + at.width / 2);
    let mut text = format!(
        "<g class=\"{class}\"><rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{HEIGHT}\" rx=\"{round}\"/>",
        at.width
    );
    let lines = match (shape.title.as_str(), shape.name.as_str()) {
        (title, "") => vec![("title", title)],
        ("", name) => vec![("title", name)],
        (ty, name) if class == "port" => vec![("title", name), ("name", ty)],
        (title, name) => vec![("title", title), ("name", name)],
    };
    let first = if lines.len() == 1 { y + HEIGHT / 2 + 4 } else { y + 17 };
    for (line, (class, what)) in (0i64..).zip(lines) {
        let what = escaped(&cut(what));
        text += &format!("<text class=\"{class}\" x=\"{middle}\" y=\"{}\">{what}</text>", first + 15 * line);
    }
    text + "</g>\n"
}

/// Shortens a name, keeping its end, which is more specific.
fn cut(text: &str) -> String {
    let count = text.chars().count();
    if count <= LONGEST {
        return text.to_owned();
    }
    let end: String = text.chars().skip(count - LONGEST + 1).collect();
    format!("…{end}")
}

fn line(from: &Spot, to: &Spot, label: &str) -> String {
    let (x1, y1) = (from.x + from.width / 2, top(from.layer) + HEIGHT);
    let (x2, y2) = (to.x + to.width / 2, top(to.layer));
    let bend = (y2 - y1) / 2;
    let path = format!("<path d=\"M{x1} {y1}C{x1} {} {x2} {} {x2} {y2}\"/>", y1 + bend, y2 - bend);
    if label.is_empty() || from.layer + 1 != to.layer {
        return path + "\n";
    }
    let (x, y) = ((x1 + x2) / 2, (y1 + y2) / 2 + 4);
    format!("{path}<text class=\"edge\" x=\"{x}\" y=\"{y}\">{}</text>\n", escaped(&cut(label)))
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
    use crate::diag::picture::Edge;

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
    fn users_are_below_producers_and_shapes_do_not_overlap() {
        let picture = picture(7, &[(0, 1), (0, 2), (1, 3), (2, 3), (0, 3), (3, 4), (3, 5), (5, 6)]);
        let boxes = laid_out(&picture);
        for edge in &picture.edges {
            assert!(boxes[edge.from].layer < boxes[edge.to].layer, "{edge:?}");
        }
        for (at, one) in boxes.iter().enumerate() {
            let beside = boxes[..at].iter().filter(|other| other.layer == one.layer);
            for other in beside {
                assert!(one.x >= other.x + other.width || other.x >= one.x + one.width, "{boxes:?}");
            }
        }
    }

    #[test]
    fn cyclic_graph_is_drawn() {
        assert!(svg(&picture(2, &[(0, 1), (1, 0)]), "g").contains("Op1"));
        assert!(svg(&Picture::default(), "g").contains("</svg>"));
    }
}
