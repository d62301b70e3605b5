//! The contract between the layers: what one run records.
//!
//! Everything here is a raw fact: counts, histograms, instants. Rates, percentiles and verdicts are
//! derived from it on read, so a recorded run can always be judged again, by a better rule or by a
//! doubting reader. Types and merging only: this crate does no I/O.

mod calibration;
mod checks;
mod counters;
mod counts;
mod cpu_profile;
mod event;
mod failure;
mod frame;
mod histogram;
mod host;
mod manifest;
mod run;
mod sharing;
mod tally;
mod text;

pub use calibration::{CalibratedLevel, CalibratedRate, Calibration, CalibrationKey, Pinning};
pub use checks::CheckCounts;
pub use counters::Counters;
pub use counts::{Counts, FailureCounts, StatusCounts};
pub use cpu_profile::{CpuProfile, ProfileForm, ProfileOutcome};
pub use event::{Event, EventKind};
pub use failure::{FAILURES, FailureKind, FailurePhase, FailureRow};
pub use frame::{Frame, FrameHead, Phase, WorkerTime};
pub use histogram::{CorruptHistogram, EncodedHistogram, Histogram, latency_histogram};
pub use host::{HostSample, Reading};
pub use manifest::{FirstAnswer, FormatVersion, Limits, Machine, Manifest, Preflight, TlsUsed};
pub use run::{Run, Step, StepEnd};
pub use sharing::Sharing;
pub use text::Text;
