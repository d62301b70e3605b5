//! Maps evidence to the part of a page that shows it.

use plimsoll_analyze::Observation;
use schemars::JsonSchema;
use serde::Serialize;

/// A part of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShownIn {
    Throughput,
    Latency,
    Steps,
    Failures,
    Generator,
    Path,
    /// The use of the resources of each host.
    Resources,
    /// Only the charts over time.
    Curves,
}

/// The match has no wildcard arm, so that the compiler demands the part of a new observation.
impl From<&Observation> for ShownIn {
    fn from(observed: &Observation) -> Self {
        match observed {
            Observation::MeasuredTime => Self::Steps,
            Observation::Answered
            | Observation::LastGain
            | Observation::Plateau
            | Observation::Knee
            | Observation::AtOnce
            | Observation::ServedWhileClosing
            | Observation::ServedWhileRefusing
            | Observation::Raised(_)
            | Observation::Through { .. }
            | Observation::Together { .. }
            | Observation::HeldAtOnce { .. } => Self::Throughput,
            Observation::MeanLatency | Observation::TimeUnderLoad => Self::Latency,
            Observation::Failed(_)
            | Observation::Status(_)
            | Observation::FailedCheck(_)
            | Observation::Tracked { .. }
            | Observation::Closed
            | Observation::Refused => Self::Failures,
            Observation::BusiestWorker | Observation::Generator(_) | Observation::UnderWay => Self::Generator,
            Observation::Unread(_)
            | Observation::ProcessesOf(_)
            | Observation::AtTheDoor(_)
            | Observation::ConnectionsOut(_)
            | Observation::ConnectionsTo { .. }
            | Observation::NotAccepted(_) => Self::Path,
            Observation::Resource(_)
            | Observation::Cpu { .. }
            | Observation::Thread(_)
            | Observation::Core(_)
            | Observation::Quota(_)
            | Observation::Link(_)
            | Observation::DiskBytes(_)
            | Observation::DeviceTime(_)
            | Observation::Descriptors(_)
            | Observation::OpenConnections(_) => Self::Resources,
            Observation::ThreadWait(_)
            | Observation::CorePackets(_)
            | Observation::CpuOfOthers(_)
            | Observation::TargetWait { .. }
            | Observation::Throttled(_)
            | Observation::DiskWaits(_)
            | Observation::DiskStall { .. }
            | Observation::MemoryStall { .. }
            | Observation::PagesAgain { .. }
            | Observation::Collecting(_)
            | Observation::Heap(_)
            | Observation::CoresOfProcess(_)
            | Observation::BusyThreads(_)
            | Observation::LockWaits(_)
            | Observation::CoresNeeded(_)
            | Observation::TurnedAway(_)
            | Observation::Overflown { .. } => Self::Curves,
        }
    }
}
