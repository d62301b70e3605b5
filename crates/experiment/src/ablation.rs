//! Ablations: measure the cost per request of each of several switches, from trials with combinations of them.

mod columns;
mod measured;
mod run;
mod states;
mod switches;
mod trial;
mod trials_file;

pub(crate) use columns::ColumnError;
pub use measured::{MeasuredStates, read_trials};
pub use run::{AblationRuns, ablate, check_ablation};
pub use states::{TrialDesign, UnfitPlan};
pub use trial::TrialId;
