//! The conductor of a world: production decides what it sends, keeps and reports; its disk is a list.

use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;

use plimsoll_conductor::peers::{Peers, StepShare};
use plimsoll_conductor::{Commits, FrameFile};
use plimsoll_record::{Counts, Frame, GeneratorShare};
use tokio::sync::mpsc::UnboundedReceiver;

use super::content::Keys;
use crate::members::{Arrival, Members, Order};

/// A delivery of the stream.
pub(super) type Sequence = u64;

/// The run file. Only what is committed outlives the conductor.
#[derive(Debug, Default)]
pub(super) struct Disk {
    keeps_frames: bool,
    with_latency: bool,
    /// Frames of each agent.
    written: Vec<u64>,
    pub(super) committed: Vec<u64>,
    /// The frames in the order in which they were written, and how many of them are committed.
    pub(super) frames: Vec<Frame>,
    pub(super) frames_committed: usize,
    /// The next interval of each worker of each step.
    next: BTreeMap<(u32, u32), u32>,
    /// Whose workers are whose in the steps: the step, the first worker, the agent.
    pub(super) owners: BTreeMap<(u32, u32), usize>,
    pub(super) counts: Counts,
    pub(super) commits: u64,
}

impl Disk {
    pub(super) fn new(agents: usize, keeps_frames: bool, with_latency: bool) -> Self {
        Self {
            keeps_frames,
            with_latency,
            written: vec![0; agents],
            committed: vec![0; agents],
            ..Self::default()
        }
    }
}

impl FrameFile for Disk {
    /// Each frame is the next of its worker, and as it was made.
    fn write(&mut self, frame: &Frame) {
        let keys = Keys::of(&frame.head);
        let next = self.next.entry((keys.step, keys.worker)).or_default();
        assert_eq!(keys.interval, *next, "a frame of worker {} is lost or came twice", keys.worker);
        *next += 1;
        assert_eq!(*frame, keys.frame(self.with_latency), "a frame is as it was made");
        let owner = self.owners.range(..=(keys.step, keys.worker)).next_back();
        self.written[*owner.unwrap().1] += 1;
        self.counts.merge(&frame.head.counts);
        if self.keeps_frames || keys.interval == 0 {
            self.frames.push(frame.clone());
        }
    }

    fn commit(&mut self) {
        self.committed.clone_from(&self.written);
        self.frames_committed = self.frames.len();
        self.commits += 1;
    }
}

/// Where the conductor is in its run.
#[derive(Debug)]
pub(super) enum Phase {
    /// It waits for agents that are ready.
    Meeting,
    /// Nothing is on before this instant.
    Pausing {
        until: u64,
    },
    /// A step is on; it is ended early or abandoned at these instants.
    Step {
        share: Box<StepShare>,
        ends_early: Option<u64>,
        abandons: u64,
    },
    /// The agents learn that the run is over.
    Ending {
        until: u64,
        left: Vec<String>,
    },
    Ended,
}

/// A step as it was recorded.
#[derive(Debug)]
pub(super) struct Recorded {
    pub(super) share: StepShare,
    pub(super) generators: Vec<GeneratorShare>,
}

pub(super) struct SimConductor {
    pub(super) members: Members<Sequence>,
    pub(super) orders: UnboundedReceiver<Order>,
    pub(super) arrivals: Vec<Receiver<Arrival>>,
    /// Agents of which something came that was not taken in.
    pub(super) changed: Vec<usize>,
    pub(super) peers: Option<Peers>,
    pub(super) commits: Commits,
    pub(super) disk: Disk,
    pub(super) ready: usize,
    pub(super) phase: Phase,
    pub(super) steps: Vec<Recorded>,
    /// What it reports of its agents.
    pub(super) reports: Vec<String>,
    pub(super) ticked: u64,
    pub(super) turn_planned: bool,
    /// When something last came of each agent.
    pub(super) heard: Vec<u64>,
    /// When each was found to be lost.
    pub(super) lost: Vec<Option<u64>>,
    pub(super) died: bool,
    /// An agent was lost whose loss ends the run.
    pub(super) is_stopped: bool,
    /// The last instant that it has sent with a state.
    pub(super) sent: u64,
}

impl SimConductor {
    pub(super) fn has_ended(&self) -> bool {
        self.died || matches!(self.phase, Phase::Ended)
    }
}
