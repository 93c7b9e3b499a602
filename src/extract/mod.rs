//! Extraction: turns the cheapest legal selection of an e-graph into a patch of the model.

mod change_report;
mod choose;
mod cost;
mod cost_delta;
mod legality;
mod legalize;
mod outputs;
mod plan;
mod proof;
mod provenance;
mod scope;

pub use choose::{Selection, choose};
pub use cost::{Cost, CostModel, DimHints, Objective};
pub use legality::{Blocker, Target, blockers};
pub use plan::{Chosen, Planned, plan};
pub use scope::{Cleanup, Done, Task, run};
