//! Pattern matcher for plain graphs and e-graphs.
//!
//! The matcher starts at the root of the pattern (the last node) and goes from values to their producers. The
//! matcher backtracks over the e-nodes of a class, both operand orders of commutative operators, and the ways
//! to split inputs among variadic variables. After matching all nodes, the matcher evaluates the `where` and
//! `let` lines in order.

mod denied;
mod node;
mod quantized;
mod trace;

pub use super::bindings::{Binding, Match};
pub use denied::is_denied;
pub use quantized::is_quantized_product;
pub use trace::{Failure, Progress, explain};

use super::bindings::State;
use super::eval::Env;
use super::host::Host;
use super::rule::{Direction, Step};

/// Maximum number of matches at one root, since equivalent e-nodes can multiply them.
/// [`Found::cut`] counts the roots at which a search reaches this limit.
pub const MATCHES_PER_ROOT: usize = 64;

/// Matches of one direction of a rule.
#[derive(Debug)]
pub struct Found<V, N> {
    /// Matches, root by root.
    pub matches: Vec<Match<V, N>>,
    /// Number of roots that reached [`MATCHES_PER_ROOT`].
    pub cut: usize,
}

impl<V, N> Default for Found<V, N> {
    fn default() -> Self {
        Found { matches: Vec::new(), cut: 0 }
    }
}

impl<V, N> Found<V, N> {
    /// Adds the matches at one root.
    pub fn add(&mut self, here: Vec<Match<V, N>>) {
        self.cut += usize::from(here.len() == MATCHES_PER_ROOT);
        self.matches.extend(here);
    }
}

/// Finds the matches of `direction`, root by root.
pub fn find<H: Host>(host: &H, direction: &Direction) -> Found<H::Value, H::Node> {
    let mut found = Found::default();
    let Some(root) = direction.pattern.nodes.last() else { return found };
    host.nodes_of(&root.op).into_iter().for_each(|node| found.add(find_at(host, direction, node)));
    found
}

/// Finds the matches of `direction` with `root` as its last node, at most [`MATCHES_PER_ROOT`].
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

/// Evaluates the `where` and `let` lines.
fn conditions<H: Host>(
    host: &H,
    direction: &Direction,
    state: State<H::Value, H::Node>,
) -> Option<Match<H::Value, H::Node>> {
    let mut found = state.finish()?;
    for step in &direction.steps {
        match step {
            Step::Where { condition, .. } => {
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
