//! The data model of a run: everything that is recorded.
//!
//! Only raw facts are recorded: counts, histograms, instants. Rates, percentiles and verdicts are computed when the data is read, so
//! that a better rule also applies to recorded runs. This crate contains types, their merging, and two tables: the kinds of failures
//! ([`FAILURES`]) and the metrics of hosts ([`metric`]). It does no I/O.

mod calibration;
mod counter_set;
mod counters;
mod counts;
mod failure;
mod frame;
mod histogram;
mod manifest;
pub mod metric;
mod run;
mod sample;
mod source;
mod sparse_counts;
mod subject;
mod tags;
mod tally;
mod text;
mod trace;

pub use calibration::{CalibratedLevel, CalibratedRate, Calibration, CalibrationKey, Pinning};
pub use counter_set::CounterSet;
pub use counters::Counters;
pub use counts::{Counts, FailureCounts, StatusCounts};
pub use failure::{FAILURES, FailureKind, FailurePhase, FailureRow};
pub use frame::{Frame, FrameHead, Phase, WorkerTime};
pub use histogram::{CorruptHistogram, EncodedHistogram, Histogram, latency_histogram};
pub use manifest::{
    ConnectionResource, FirstAnswer, FormatVersion, Limits, LoweredTo, Machine, Manifest, Preflight,
    RunCommand, TlsUsed,
};
pub use metric::{Metric, MetricKind, Unit};
pub use run::{
    CpuProfile, Damage, Event, EventKind, GeneratorShare, ProfileForm, ProfileOutcome, RateStage, Run, Step,
    StepEnd, WallClocks,
};
pub use sample::{HostSample, Reading, Sharing};
pub use source::{Source, SourceName, SubjectKind};
pub use subject::{Address, Subject, is_inner_interface};
pub use tags::{Tag, TagChanges, TagError, Tags};
pub use tally::Tally;
pub use text::Text;
pub use trace::{NoTraceId, Trace, TraceId};
