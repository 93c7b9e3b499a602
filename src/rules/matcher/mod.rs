//! The one matcher: finds every way in which a rule fits, in a graph or an e-graph.
//!
//! It starts at the root of the pattern (its last node) and goes from values to their producers,
//! backtracking over the forms of a class, the two orders of a commutative operator, and the ways to
//! share inputs among variadic variables. Then the `where` and `let` lines run in the order written.

mod bindings;
mod denied;
mod node;
mod quantized;
mod trace;

pub use bindings::{Binding, Match};
pub use denied::is_denied;
pub use quantized::is_quantized_product;
pub use trace::{Failure, explain};

use super::eval::Env;
use super::host::Host;
use super::rule::{Direction, Step};
use bindings::State;

/// The most matches that are taken at one root: a class with many equal forms can give a great number
/// of ways to say the same thing. A limit that was hit is a note in the report, see [`Found::cut`].
pub const MATCHES_PER_ROOT: usize = 64;

/// The matches of one direction of a rule.
#[derive(Debug)]
pub struct Found<V, N> {
    pub matches: Vec<Match<V, N>>,
    /// How many roots had more than [`MATCHES_PER_ROOT`].
    pub cut: usize,
}

/// Every match of `direction`, root by root.
pub fn find<H: Host>(host: &H, direction: &Direction) -> Found<H::Value, H::Node> {
    find_among(host, direction, |_| true)
}

/// Every match of `direction` at a root that is wanted.
pub fn find_among<H: Host>(
    host: &H,
    direction: &Direction,
    is_wanted: impl Fn(H::Node) -> bool,
) -> Found<H::Value, H::Node> {
    let mut found = Found { matches: Vec::new(), cut: 0 };
    let Some(root) = direction.pattern.nodes.last() else { return found };
    for node in host.nodes_of(&root.op).into_iter().filter(|&node| is_wanted(node)) {
        let here = find_at(host, direction, node);
        found.cut += usize::from(here.len() == MATCHES_PER_ROOT);
        found.matches.extend(here);
    }
    found
}

/// Every match of `direction` with `root` as its last node.
pub fn find_at<H: Host>(host: &H, direction: &Direction, root: H::Node) -> Vec<Match<H::Value, H::Node>> {
    let mut matches = Vec::new();
    let structural = node::solutions(host, &direction.pattern, State::new(direction), root);
    for state in structural {
        if let Some(found) = conditions(host, direction, state) {
            if !matches.contains(&found) {
                matches.push(found);
            }
            if matches.len() == MATCHES_PER_ROOT {
                break;
            }
        }
    }
    matches
}

/// Runs the `where` and `let` lines.
fn conditions<H: Host>(
    host: &H,
    direction: &Direction,
    state: State<H::Value, H::Node>,
) -> Option<Match<H::Value, H::Node>> {
    let mut found = state.finish()?;
    for step in &direction.steps {
        match step {
            Step::Where(condition) => {
                let holds = Env::new(host, &found).truth(condition);
                if holds != Some(true) {
                    return None;
                }
            }
            Step::Let { var, expr } => {
                let datum = Env::new(host, &found).eval(expr)?;
                found.set_attr(*var, datum);
            }
        }
    }
    Some(found)
}
