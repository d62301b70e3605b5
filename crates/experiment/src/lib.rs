//! Experiments that consist of several runs.
//!
//! [`run_lab_file`] runs a lab file in a lab. [`diagnose`] runs every scenario of a folder and compares the verdict with the
//! expected one. [`run_tiers`] runs the variants of a file to compare them tier by tier. [`ablate`] measures each switch of a
//! file on and off. [`read_table`] reads tables that another tool measured into the same types, and [`read_time_series`] reads
//! time series that a monitoring system exported.
//!
//! The functions return typed results and report progress to an [`Observer`]. They print nothing and know no flags. The run
//! file is read back after each run, so a result never depends on which process made the run.

mod ab;
mod ablation;
mod case_outcome;
mod conclusions;
mod context;
mod csv_rows;
mod curve;
mod curve_error;
mod diagnose;
mod error;
mod generator;
mod input;
mod lab_file;
mod lab_plan;
mod lab_run;
mod machines;
mod order;
mod protection;
mod recorded;
mod runner;
mod session;
mod table;
mod tiers;

pub use ab::{AbEnd, AbRecord, AbRuns, AbSideSpec, AbSpec, read_ab, run_ab};
pub use ablation::{
    AblationRuns, MeasuredStates, TrialDesign, TrialId, UnfitPlan, ablate, check_ablation, read_trials,
};
pub use case_outcome::{CaseOutcome, JudgedRun, PeakStep};
pub use conclusions::{Comparisons, Conclusions, MachineNeed, Side, TierScalings, conclude};
pub use context::{AbProgress, Observer, Progress, RunContext, RunSettings};
pub use curve::read_curve;
pub use curve_error::{CurveError, MAX_TARGET_PER_SEC};
pub use diagnose::{Scenarios, diagnose};
pub use error::{ErrorKind, ExperimentError};
pub use generator::{GeneratorOptions, generate};
pub use input::{read_input, read_plan_file, read_requests, with_plain_host};
pub use lab_file::{Case, LabFile, files_in};
pub use lab_run::{CompletedRun, LabRuns, run_lab_file};
pub use machines::{TableRows, observe_run_files, observe_table_file};
pub use recorded::{RecordedRun, file_stem, read_run, read_what_is_intact};
pub use runner::PlanRunner;
pub use session::raise_lab;
pub use table::{
    AboveAll, Mapping, MappingError, TimeSeries, TimeSeriesColumns, UnreadColumn, read_table,
    read_time_series,
};
pub use tiers::{NamedRun, by_name, read_named_runs, run_tiers};
