//! The run file of a world. Only committed data outlives a conductor.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_conductor::peers::StepShare;
use plimsoll_conductor::{FrameFile, UnderWay};
use plimsoll_record::{
    FormatVersion, Frame, GeneratorShare, Limits, Machine, Manifest, Preflight, Run, RunCommand, Step,
    StepEnd, Tags,
};

use super::agent::Share;
use super::content::Keys;

#[derive(Debug)]
pub(super) struct Disk {
    keeps_frames: bool,
    with_latency: bool,
    /// Number of frames of each agent.
    written: Vec<u64>,
    pub(super) committed: Vec<u64>,
    /// What a reader would get, with the frames in the order in which they were written.
    pub(super) run: Run,
    pub(super) frames_committed: usize,
    steps_committed: Vec<Step>,
    /// The step that is under way.
    pub(super) open: Option<UnderWay>,
    /// The share that the conductors gave out for each recorded step.
    pub(super) shares: Vec<StepShare>,
    /// Agents of which a resuming conductor has only what the stream held: some of their frames may be missing.
    pub(super) gone: BTreeSet<usize>,
    /// The next interval of each worker of each step.
    next: BTreeMap<(u32, u32), u32>,
    /// The agents of the workers, by step and first worker.
    owners: BTreeMap<(u32, u32), usize>,
    pub(super) commits: u64,
}

impl Disk {
    pub(super) fn new(agents: usize, keeps_frames: bool, with_latency: bool) -> Self {
        Self {
            keeps_frames,
            with_latency,
            written: vec![0; agents],
            committed: vec![0; agents],
            run: Run::begun(manifest()),
            frames_committed: 0,
            steps_committed: Vec::new(),
            open: None,
            shares: Vec::new(),
            gone: BTreeSet::new(),
            next: BTreeMap::new(),
            owners: BTreeMap::new(),
            commits: 0,
        }
    }

    /// Begins a step, and commits it at once.
    pub(super) fn begin_step(&mut self, share: &StepShare, generators: Vec<GeneratorShare>) {
        let index = share.step.index;
        for generator in &generators {
            self.owners.insert((index, generator.first_worker), super::number_of(&generator.name));
        }
        let began_ns = share.begins.nanos_since(share.origin);
        let ends_ns = began_ns + share.step.limit.as_nanos() as u64;
        self.run.record_step(Step {
            index,
            connections: share.step.connections(),
            depth: 1,
            rate_per_sec: None,
            stages: Vec::new(),
            began_ns,
            ended_ns: ends_ns,
            drained_ns: ends_ns,
            end: StepEnd::Cut,
            generators,
        });
        self.shares.push(share.clone());
        self.open = Some(UnderWay { index, ends_ns });
        self.commit();
    }

    /// Updates the generators of the last step.
    pub(super) fn note_generators(&mut self, generators: Vec<GeneratorShare>) {
        self.run.steps.last_mut().unwrap().generators = generators;
    }

    /// Ends the last step, and commits it at once.
    pub(super) fn end_step(&mut self, step: Step) {
        self.run.record_step(step);
        self.open = None;
        self.commit();
    }

    /// Discards uncommitted data: the process died.
    pub(super) fn lose_uncommitted(&mut self) {
        self.written.clone_from(&self.committed);
        self.run.frames.truncate(self.frames_committed);
        self.run.steps.clone_from(&self.steps_committed);
        self.next.clear();
        for frame in &self.run.frames {
            self.next.insert((frame.head.step, frame.head.worker), frame.head.interval + 1);
        }
    }

    /// True if the share belongs to a recorded step.
    pub(super) fn has(&self, share: Share) -> bool {
        let recorded = self.shares.get(share.step as usize);
        recorded.is_some_and(|recorded| recorded.begins == share.begins)
    }

    /// Returns the agent that runs this worker of a step.
    pub(super) fn owner(&self, step: u32, worker: u32) -> usize {
        *self.owners.range(..=(step, worker)).next_back().unwrap().1
    }
}

impl FrameFile for Disk {
    /// Checks that each frame is the next of its worker, and unchanged.
    fn write(&mut self, frame: &Frame) {
        let keys = Keys::of(&frame.head);
        let owner = self.owner(keys.step, keys.worker);
        let next = self.next.entry((keys.step, keys.worker)).or_default();
        let follows = keys.interval == *next || keys.interval > *next && self.gone.contains(&owner);
        assert!(follows, "a frame of worker {} is lost or came twice: {keys:?}, not {next}", keys.worker);
        *next = keys.interval + 1;
        assert_eq!(*frame, keys.frame(self.with_latency), "a frame is as it was made");
        self.written[owner] += 1;
        if self.keeps_frames || keys.interval == 0 {
            self.run.frames.push(frame.clone());
        }
    }

    fn commit(&mut self) {
        self.committed.clone_from(&self.written);
        self.frames_committed = self.run.frames.len();
        if self.keeps_frames {
            self.steps_committed.clone_from(&self.run.steps);
        }
        self.commits += 1;
    }
}

fn manifest() -> Manifest {
    Manifest {
        format: FormatVersion::CURRENT,
        name: super::RUN.to_owned(),
        command: RunCommand::Run,
        command_line: None,
        plan: String::new(),
        plan_hash: String::new(),
        tool_version: super::VERSION.to_owned(),
        machine: Machine {
            hostname: String::new(),
            kernel: String::new(),
            architecture: String::new(),
            limits: Limits { descriptors: 0, ports: 0, cores: 1 },
            lowered_to: None,
            calibration: None,
        },
        preflight: Preflight {
            addresses: Vec::new(),
            address: String::new(),
            local: false,
            resolve_ns: 0,
            connect_ns: 0,
            first: None,
            streams_max: None,
        },
        driver: String::new(),
        protocol: String::new(),
        tls: None,
        started_unix_ms: 0,
        tags: Tags::default(),
        sealed: true,
    }
}
