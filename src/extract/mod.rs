//! Takes the cheapest form that is legal in the target opset out of an e-graph, and writes it back into
//! the model.

mod adapt;
mod choose;
mod cost;
mod legality;
mod names;
mod outputs;
mod plan;
mod planned;
mod rebuild;
mod scope;
mod sweep;

pub use choose::{Choice, choose};
pub use cost::Cost;
pub use legality::{Blocker, Target, blockers};
pub use names::Names;
pub use plan::{Chosen, plan};
pub use planned::Plan;
pub use rebuild::{Constants, RULE_KEY, constant_node, initializer, rebuild};
pub use scope::{Done, Task, run};
