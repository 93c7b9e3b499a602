//! Extraction: turns the cheapest legal selection of an e-graph into a patch of the model.

mod account;
mod adapt;
mod choose;
mod cost;
mod ledger;
mod legality;
mod lineage;
mod outputs;
mod plan;
mod proof;
mod scope;

pub use choose::{Choice, choose};
pub use cost::{Cost, Guesses, Objective, Pricing};
pub use legality::{Blocker, Target, blockers};
pub use plan::{Chosen, Planned, plan};
pub use scope::{Done, Task, run};
