//! What a curve shows.

/// A figure that is not the use of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CurveKind {
    /// The share of the time in which a runtime stood still to collect garbage.
    GcPauses,
    /// The share of its CPU time that a process spent in threads that collect garbage.
    GcThreads,
    /// The share of its limit that a heap has in use.
    Heap,
    /// The share of the time in which a task of the host waited for a CPU (PSI, some).
    CpuPressure,
    /// The share of the time in which a task of the host waited for a disk (PSI, some).
    IoPressure,
    /// The share of the time in which a task of the host waited for memory (PSI, some).
    MemoryPressure,
    /// The share of its periods in which a control group was out of quota.
    Throttled,
    /// The share of the time in which a worker of the load generator did not run at all, for the worst worker.
    Stalled,
    /// The share of the time in which a worker of the load generator was ready and had no CPU, for the worst worker.
    Starved,
    /// The share of a host's CPU time that other guests of its machine took.
    Stolen,
    /// Of a thread, the share of the time in which it was ready and had no CPU; of a host, the share of the CPU time that its
    /// watched processes needed and did not get.
    CpuWait,
    /// The share of a core's time spent on packets.
    PacketTime,
    /// Threads of a process that waited for another thread: for a lock, a condition, a queue.
    LockWaits,
    /// Threads of a process that waited for a disk.
    DiskWaits,
    /// Cores that a process used.
    ProcessCpu,
    /// Pages per second that were read from swap, or from files again.
    PagesFetched,
    /// Connections per second that found an accept queue full.
    QueueOverflows,
    /// Connections per second that a component turned away.
    TurnedAway,
}

impl CurveKind {
    /// Its word in JSON and its unit.
    fn facts(self) -> (&'static str, &'static str) {
        match self {
            Self::GcPauses => ("gc_pauses", "ratio"),
            Self::GcThreads => ("gc_threads", "ratio"),
            Self::Heap => ("heap", "ratio"),
            Self::CpuPressure => ("cpu_pressure", "ratio"),
            Self::IoPressure => ("io_pressure", "ratio"),
            Self::MemoryPressure => ("memory_pressure", "ratio"),
            Self::Throttled => ("throttled", "ratio"),
            Self::Stalled => ("stalled", "ratio"),
            Self::Starved => ("starved", "ratio"),
            Self::Stolen => ("stolen", "ratio"),
            Self::CpuWait => ("cpu_wait", "ratio"),
            Self::PacketTime => ("packet_time", "ratio"),
            Self::LockWaits => ("lock_waits", "threads"),
            Self::DiskWaits => ("disk_waits", "threads"),
            Self::ProcessCpu => ("process_cpu", "cores"),
            Self::PagesFetched => ("pages_fetched", "per_sec"),
            Self::QueueOverflows => ("queue_overflows", "per_sec"),
            Self::TurnedAway => ("turned_away", "per_sec"),
        }
    }

    /// The word for it in JSON.
    pub fn name(self) -> &'static str {
        self.facts().0
    }

    /// The unit of its values.
    pub fn unit(self) -> &'static str {
        self.facts().1
    }

    /// A curve that never exceeds this value is left out.
    pub(super) fn floor(self) -> f64 {
        match self {
            Self::ProcessCpu => 0.005,
            // A file that is read for the first time causes faults too.
            Self::PagesFetched => 1.0,
            // Smaller values would print as 0.
            _ => 5e-5,
        }
    }
}
