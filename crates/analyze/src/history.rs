//! Recorded runs as a history: the key figures of each run, and where a metric changed.
//!
//! An entry is derived from a run. An index or a team's database keeps copies of entries, and derives them again with a newer
//! version.

mod entry;
mod figures;
mod metric;
mod trend;

pub use entry::{EntryMachine, RunEntry};
pub use figures::{MIN_SUCCESS_RATIO, Measured, RunFigures, chosen_step, is_unfinished};
pub use metric::TrendMetric;
pub use plimsoll_stats::change_points::MIN_VALUES as MIN_TREND_RUNS;
pub use trend::{
    LeftOutRuns, LevelChange, NewerRuns, TooFewRuns, Trend, TrendLevel, TrendOptions, TrendPoint, trend,
};
