//! The analysis of a run: steady state, knee, scalability, SLO, generator health, verdict.
//!
//! All functions are pure functions of the recorded data, so that a stored run is judged exactly as the live one was, and can be
//! judged again by a better rule. No clock, no file, no randomness. Every formula is derived where it is used, with its source;
//! `docs/method.md` collects them.
//!
//! | folder | contents |
//! | --- | --- |
//! | `load` | the figures of each step, whether it is steady, the knee, whether the SLO was met |
//! | `generator` | whether the load generator was the limit |
//! | `hosts` | how much of which resource was used, by which process, per request |
//! | `observations` | what a run or a table shows of one load after another: the input of `verdict` |
//! | `search` | the highest rate within the conditions |
//! | `overload` | the behaviour of the target beyond that rate |
//! | `verdict` | what limits the target; `proof` tests it by an intervention |
//! | `table` | rows of figures, and conclusions from several of them |
//! | `production` | what a request costs and which resource fills first, from a monitoring system |
//! | `capacity` | how throughput grows with connections and machines; how many machines a goal needs |
//! | `ablation` | what each of several switches costs |
//! | `history` | the key figures of each of many runs, and where one of them changed |
//! | `timeline` | the load and the use of hosts over time, for figures and pages |
//! | `status` | how the run ended |
//! | `ab` | two services loaded in turn: how much they differ, and how certain that is |
//!
//! `analysis` combines them; `findings` holds the result types.

pub mod ab;
mod ablation;
mod analysis;
mod capacity;
mod findings;
mod generator;
mod groups;
mod history;
mod hosts;
mod load;
mod observations;
pub mod overload;
mod parts;
mod prediction;
mod production;
mod proof;
mod recent_use;
mod remedy;
pub mod search;
mod start;
mod status;
mod table;
mod timeline;
mod traces;
mod verdict;

pub use ablation::*;
pub use analysis::{AnalyzeError, analyze};
pub use capacity::comparability::{Incomparable, RunSide, Setting, incomparable};
pub use capacity::compare::{
    BestComparison, Comparison, ComparisonRow, Margin, StepOutcome, compare, step_outcomes,
};
pub use capacity::highest_rates::{HighestRates, RateBracket, highest_rates};
pub use capacity::kinds::{RequestKind, request_kinds};
pub use capacity::latency_difference::{
    LatencyDifferences, PercentileDifference, SharedLoad, latency_differences,
};
pub use capacity::machines::*;
pub use capacity::tiers::{Efficiency, TierCount, TierRow, TierScaling, TierUse, scalings, tier_rows};
pub use findings::*;
pub use generator::health::{CeilingUse, GeneratorHealth, GeneratorReason, MachineLoad, WorkerLoad};
pub use history::*;
pub use hosts::curves::{Curve, CurveKind};
pub use hosts::demand::{Demand, Law};
pub use hosts::host_view::{
    ComponentFigure, ComponentLoad, FigureUnit, Throttled, Unread, WatchedHost, cores_of_tiers,
    io_calls_per_sec, watched_hosts,
};
pub use hosts::resource::{Resource, ResourceId, ResourceKind, ResourceUse};
pub use hosts::topology::{Endpoint, TierEdge, TierNode, Topology};
pub use load::percentile::percentile;
pub use load::requests::wants_status;
pub use load::summary::measured_to_the_last_answer;
pub use load::{ladder, steady, warm_up};
pub use parts::level_to_profile;
pub use prediction::{UntriedVerdict, plan_proof};
pub use production::*;
pub use recent_use::RecentUse;
pub use remedy::failure_advice;
pub use start::{FleetStart, LostGenerator, WallOpinion, fleet_starts};
pub use status::RunStatus;
pub use table::{
    BreakEven, Ceiling, ColumnDoubt, Conclusion, GuessedColumn, HeldLines, LadderOf, LadderPoint,
    LadderShape, LeftOut, LinePoint, Multiplied, MultipliedRow, PooledTier, RowEnds, RowFinding, RowLadder,
    RowName, RowPoint, RowRun, RowsPool, RunRows, SizeLine, TableFindings, TableReading, TableRow, TableTier,
    TriedRow, UnreadCells, explain_table, run_rows,
};
pub use timeline::{Moment, StepKind, Timeline, step_kind, timeline};
pub use traces::{StepTraces, traces};
