//! Extraction: turns the cheapest legal selection of an e-graph into a patch of the model.

mod change_report;
mod choose;
mod chosen;
mod cost;
mod cost_delta;
mod estimate;
mod legality;
mod legalize;
mod outputs;
mod plan;
mod proof;
mod provenance;
mod scope;

pub use choose::{Selection, choose};
pub use chosen::Chosen;
pub use cost::{Cost, CostModel, DimHints, Objective};
pub use estimate::estimate;
pub use legality::{Blocker, Target, blockers};
pub use plan::{Planned, plan};
pub use scope::{Cleanup, Done, Task, run};
