//! What a run means: steady state, knee, scalability, SLO, generator health.
//!
//! Everything here is a pure function of what was recorded, so a stored run is judged exactly as the live
//! one was, and again by a better rule later. No clock, no file, no randomness. Every formula is derived
//! where it stands, with its source; `docs/method.md` tells them in one piece.

mod ablation;
mod analysis;
mod batch_means;
mod brief;
mod calls;
mod compare;
mod demand;
mod findings;
mod generator;
mod health;
mod hosts;
mod intervention;
mod knee;
pub mod ladder;
mod machines;
mod moments;
#[cfg(test)]
mod noise;
mod profiled;
mod proof;
mod proportion;
mod quantile;
mod remedy;
mod requests;
mod resource;
mod series;
mod slo;
pub mod steady;
mod summary;
mod table;
mod tiers;
mod topology;
mod trend;
mod usage;
mod usl;
mod verdict;
mod wanted;
pub mod warm;
mod watched;

pub use ablation::*;
pub use analysis::{AnalyzeError, analyze};
pub use brief::measured_to_the_last_answer;
pub use calls::io_calls_per_sec;
pub use compare::{BestComparison, Comparison, ComparisonRow, ONE_PAIR, RungOutcome, compare, rungs_of};
pub use demand::{Demand, Law};
pub use findings::*;
pub use health::{CeilingUse, GeneratorHealth, GeneratorReason, MachineLoad, WorkerLoad};
pub use intervention::{INTERVENTION, Raise, experiment};
pub use machines::*;
pub use profiled::level_to_profile;
pub use remedy::remedy;
pub use resource::{Resource, ResourceKind};
pub use table::{
    BreakEven, HeldLines, LawBreach, LinePoint, PooledTier, RowFinding, RowRun, RunRows, SizeLine,
    TableFindings, TableRow, TableTier, TriedRow, explain_table, run_rows,
};
pub use tiers::{Efficiency, TierRow, TierScaling, TierUse, scalings, tier_rows};
pub use topology::{Door, TierEdge, TierNode, Topology};
pub use wanted::wants_status;
pub use watched::{
    ComponentFigure, ComponentLoad, FigureUnit, Throttled, Unread, WatchedHost, watched_hosts,
};
