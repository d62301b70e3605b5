//! Maps evidence to the series in a page's timeline that show it.

use plimsoll_analyze::{Curve, CurveKind, Observation, Part, Place, Resource, ResourceId};

use super::document::document;

/// The resource of a host's CPU, as documents name it.
const CPU: &str = "cpu";

document! {
    /// A series of the timeline of a page: the use of a resource, or a curve.
    pub struct SeriesDocument(host: &str, kind: &'static str, of: Option<String>) {
        /// The host, as in the timeline.
        host: String = host,
        /// The `resource` of a resource, or the `kind` of a curve.
        kind: &'static str = kind,
        /// The part of the host, as in the timeline; null for the part of it that has the highest values.
        of: Option<String> = of,
    }
}

impl SeriesDocument {
    fn of_resource(resource: &ResourceId) -> Vec<Self> {
        vec![Self::new(&resource.host, resource.kind.name(), Some(resource.part.to_string()))]
    }

    fn of_host(host: &str, kind: &'static str) -> Vec<Self> {
        vec![Self::new(host, kind, Some(String::new()))]
    }

    /// Returns the series of the part of the host that `place` names.
    fn at(place: &Place, kind: &'static str) -> Vec<Self> {
        let part = place.of_host().map(Part::to_string).unwrap_or_default();
        vec![Self::new(place.host_name(), kind, Some(part))]
    }

    /// Returns the series of the part of the host that has the highest values.
    fn highest(host: &str, kind: CurveKind) -> Self {
        Self::new(host, kind.name(), None)
    }

    fn has(&self, host: &str, kind: &str, part: &Part) -> bool {
        let is_part = |of: &String| *of == part.to_string();
        self.host == host && self.kind == kind && self.of.as_ref().is_none_or(is_part)
    }

    /// True if the series is the use of this resource.
    pub(super) fn is_use(&self, resource: &Resource) -> bool {
        self.has(&resource.host, resource.kind.name(), &resource.part)
    }

    /// True if the series is this curve.
    pub(super) fn is_curve(&self, curve: &Curve) -> bool {
        self.has(&curve.host, curve.kind.name(), &curve.part)
    }
}

/// Returns the series that show an observation, the best first. The match has no wildcard arm, so that the compiler
/// demands the series of a new observation.
pub(super) fn series(observed: &Observation) -> Vec<SeriesDocument> {
    use SeriesDocument as Series;
    match observed {
        Observation::Resource(resource)
        | Observation::Thread(resource)
        | Observation::Core(resource)
        | Observation::Link(resource)
        | Observation::DiskBytes(resource)
        | Observation::DeviceTime(resource) => Series::of_resource(resource),
        Observation::Cpu { host } => Series::of_host(host, CPU),
        Observation::ThreadWait(thread) => Series::at(&thread.place(), CurveKind::CpuWait.name()),
        Observation::CorePackets(core) => Series::at(&core.place(), CurveKind::PacketTime.name()),
        Observation::TargetWait { host } => Series::of_host(host, CurveKind::CpuWait.name()),
        Observation::CpuOfOthers(place) => cpu_of_others(place),
        Observation::Throttled(place) => Series::at(place, CurveKind::Throttled.name()),
        Observation::Quota(place) => [Series::at(place, "quota"), Series::at(place, CPU)].concat(),
        Observation::DiskWaits(place) => of_process(place, CurveKind::DiskWaits),
        Observation::LockWaits(place) => of_process(place, CurveKind::LockWaits),
        Observation::CoresOfProcess(place)
        | Observation::BusyThreads(place)
        | Observation::CoresNeeded(place) => of_process(place, CurveKind::ProcessCpu),
        Observation::DiskStall { host } => Series::of_host(host, CurveKind::IoPressure.name()),
        Observation::MemoryStall { host } => Series::of_host(host, CurveKind::MemoryPressure.name()),
        Observation::PagesAgain { host } => Series::of_host(host, CurveKind::PagesFetched.name()),
        Observation::Collecting(place) => [CurveKind::GcPauses, CurveKind::GcThreads]
            .map(|kind| Series::highest(place.host_name(), kind))
            .into(),
        Observation::Heap(place) => vec![Series::highest(place.host_name(), CurveKind::Heap)],
        Observation::Descriptors(place) => Series::at(place, "descriptors"),
        Observation::OpenConnections(place) => Series::at(place, "connections"),
        Observation::TurnedAway(place) => vec![Series::highest(place.host_name(), CurveKind::TurnedAway)],
        Observation::Overflown { host } => Series::of_host(host, CurveKind::QueueOverflows.name()),
        Observation::MeasuredTime
        | Observation::Answered
        | Observation::LastGain
        | Observation::Plateau
        | Observation::Knee
        | Observation::BusiestWorker
        | Observation::Failed(_)
        | Observation::Status(_)
        | Observation::FailedCheck(_)
        | Observation::MeanLatency
        | Observation::TimeUnderLoad
        | Observation::Generator(_)
        | Observation::AtOnce
        | Observation::Unread(_)
        | Observation::ProcessesOf(_)
        | Observation::AtTheDoor(_)
        | Observation::ConnectionsOut(_)
        | Observation::ConnectionsTo { .. }
        | Observation::Tracked { .. }
        | Observation::NotAccepted(_)
        | Observation::Closed
        | Observation::ServedWhileClosing
        | Observation::Refused
        | Observation::ServedWhileRefusing
        | Observation::Raised(_)
        | Observation::Through { .. }
        | Observation::Together { .. }
        | Observation::HeldAtOnce { .. }
        | Observation::UnderWay => Vec::new(),
    }
}

/// Returns the series of the processes that the place names, or of those with the highest values if it names none.
fn of_process(place: &Place, kind: CurveKind) -> Vec<SeriesDocument> {
    match place.is_part() {
        true => SeriesDocument::at(place, kind.name()),
        false => vec![SeriesDocument::highest(place.host_name(), kind)],
    }
}

fn cpu_of_others(place: &Place) -> Vec<SeriesDocument> {
    let host = place.host_name();
    match place.of_host() {
        Some(Part::OtherProcess(process)) => {
            vec![SeriesDocument::new(host, CurveKind::ProcessCpu.name(), Some(process.name.clone()))]
        }
        Some(Part::OtherGuests) => SeriesDocument::of_host(host, CurveKind::Stolen.name()),
        _ => SeriesDocument::of_host(host, CPU),
    }
}
