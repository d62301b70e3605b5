//! What must be true of a world once it is over.

use plimsoll_analyze::fleet_starts;
use plimsoll_record::EncodedHistogram;
use plimsoll_record::{
    Counts, FormatVersion, Frame, Limits, Machine, Manifest, Preflight, Run, RunCommand, Step, StepEnd, Tags,
    latency_histogram,
};

use super::Played;
use super::conductor::Recorded;
use super::content::Keys;
use super::world::World;

/// Requests that are dealt out: no multiple of anything.
const WHOLE: u64 = 10_007;

impl Played {
    pub(super) fn add(&mut self, other: &Self) {
        self.events += other.events;
        self.frames += other.frames;
        self.commits += other.commits;
        self.lost_agents += other.lost_agents;
        self.dropped += other.dropped;
        self.refused += other.refused;
        self.lost += other.lost;
        self.redelivered += other.redelivered;
        self.checked_bounds += other.checked_bounds;
        self.reported_clocks += other.reported_clocks;
        self.checked_starts += other.checked_starts;
        self.unkept_max = self.unkept_max.max(other.unkept_max);
        self.stream_max = self.stream_max.max(other.stream_max);
        self.ended = self.ended.max(other.ended);
    }
}

impl World {
    /// Checks the run file and the reports; gives what the world came to.
    pub(super) fn check(mut self) -> Played {
        if !self.conductor.died {
            // The file is sealed.
            plimsoll_conductor::FrameFile::commit(&mut self.conductor.disk);
            self.check_complete();
        }
        self.check_lost();
        self.check_memory();
        self.check_shares();
        let checked_starts = self.check_starts();
        if self.scale.keeps_frames {
            self.check_merge();
        }
        Played {
            events: self.events,
            frames: self.conductor.disk.committed.iter().sum(),
            commits: self.conductor.disk.commits,
            lost_agents: self.conductor.lost.iter().flatten().count() as u64,
            dropped: self.stream.dropped,
            refused: self.stream.refused,
            lost: self.stream.lost,
            redelivered: self.stream.redelivered,
            checked_bounds: self.checked_bounds,
            reported_clocks: self.reported_clocks,
            checked_starts,
            unkept_max: self.agents.iter().map(|agent| agent.unkept_max).max().unwrap_or(0),
            stream_max: self.stream_max as u64,
            ended: self.now,
        }
    }

    fn reports_of(&self, agent: usize) -> impl Iterator<Item = &String> {
        let name = super::name(agent);
        let is_own = move |text: &&String| text.split(' ').any(|word| word == name);
        self.conductor.reports.iter().filter(is_own)
    }

    /// The run file has every frame of every agent that is not reported to be lost.
    fn check_complete(&self) {
        for (agent, one) in self.agents.iter().enumerate() {
            let committed = self.conductor.disk.committed[agent];
            let is_named = self.reports_of(agent).next().is_some();
            assert!(
                committed <= one.frames,
                "{committed} frames of agent {agent}, which made {}",
                one.frames
            );
            assert!(
                committed == one.frames || is_named,
                "{committed} of {} frames of agent {agent} are in the run file, and nothing is reported: {:?}",
                one.frames,
                self.conductor.reports
            );
        }
    }

    /// No agent is given up that lives and is reachable.
    fn check_lost(&self) {
        for (agent, at) in self.conductor.lost.iter().enumerate() {
            let Some(at) = at else { continue };
            let fate = &self.weather.fates[agent];
            let says = |what: &str| self.reports_of(agent).any(|text| text.contains(what));
            let is_excused = fate.dies.is_some()
                || fate.set.is_some()
                || fate.stops.is_some()
                || !self.weather.links[agent].is_up(0, *at)
                || says("cannot begin together")
                || !self.weather.pauses.is_empty() && says("has left the run");
            assert!(is_excused, "agent {agent} is lost, and lives: {:?}", self.conductor.reports);
        }
    }

    /// Where nothing goes wrong an agent keeps no more than the frames of some seconds.
    fn check_memory(&self) {
        let intervals = 4_000 / self.scale.interval.as_millis() as u64 + 2;
        let most = u64::from(self.scale.workers) * intervals + 3;
        let unkept = self.agents.iter().map(|agent| agent.unkept_max).max().unwrap_or(0);
        assert!(!self.weather.calm || unkept <= most, "{unkept} messages wait for the run file, not {most}");
    }

    /// The generators of each step began no further apart than is reported.
    fn check_starts(&self) -> u64 {
        let run = self.run();
        let mut checked = 0;
        for start in fleet_starts(&run) {
            let Some(apart_max) = start.apart_max_ns else { continue };
            let recorded = &self.conductor.steps[start.step as usize];
            let has_frames = |first: u32| run.frames_of(start.step).any(|frame| frame.head.worker == first);
            let shares = recorded.generators.iter().filter(|share| has_frames(share.first_worker));
            // What is reported covers all; the truth must hold for those whose clocks are as is assumed.
            let begun: Vec<_> = shares
                .filter_map(|share| self.begun.get(&(start.step, super::number_of(&share.name))))
                .filter(|one| one.is_sound)
                .collect();
            let (first, last) = (begun.iter().map(|one| one.at).min(), begun.iter().map(|one| one.at).max());
            let apart = last.unwrap_or(0) - first.unwrap_or(0);
            assert!(apart <= apart_max, "generators began {apart} ns apart, and {apart_max} ns is reported");
            checked += 1;
        }
        checked
    }

    /// The parts of a step add up to it, and are those that follow from the run file.
    fn check_shares(&self) {
        for start in fleet_starts(&self.run()) {
            let Recorded { share, generators } = &self.conductor.steps[start.step as usize];
            let parts = generators.iter().map(|one| share.shares.ratio(one.first_worker, one.workers));
            let is_near = |(part, known): (f64, &f64)| (part - known).abs() < 1e-6;
            assert!(parts.zip(&start.shares).all(is_near), "{generators:?}, not {:?}", start.shares);
            let workers: u32 = generators.iter().map(|generator| generator.workers).sum();
            // No agent makes the part of one that was lost in an earlier step.
            if workers < share.shares.workers() {
                continue;
            }
            let of = |first, workers| share.shares.requests(first, workers, WHOLE);
            let sum: u64 = generators.iter().map(|one| of(one.first_worker, one.workers)).sum();
            assert_eq!(sum, WHOLE, "{generators:?}");
        }
    }

    fn run(&self) -> Run {
        let disk = &self.conductor.disk;
        let frames = disk.frames[..disk.frames_committed].to_vec();
        let steps = self.conductor.steps.iter().map(recorded_step).collect();
        Run { steps, frames, ..Run::begun(manifest()) }
    }

    /// What many agents made is what one process would have made: the same frames, and the same bytes of their merge.
    fn check_merge(&self) {
        let disk = &self.conductor.disk;
        let mut merged: Vec<&Frame> = disk.frames[..disk.frames_committed].iter().collect();
        let in_order_of_arrival = self.is_merged().then(|| merge(merged.iter().copied()));
        merged.sort_by_key(|frame| Keys::of(&frame.head));
        let mut made: Vec<Keys> = Vec::new();
        for (agent, one) in self.agents.iter().enumerate() {
            made.extend(&one.made[..disk.committed[agent] as usize]);
        }
        made.sort();
        let made: Vec<Frame> = made.into_iter().map(|keys| keys.frame(true)).collect();
        assert!(merged.iter().copied().eq(&made), "the frames are those that were made, each once");
        if let Some(merged) = in_order_of_arrival {
            assert_eq!(merged, merge(made.iter()));
        }
    }

    /// Histograms take long to merge: some worlds do.
    fn is_merged(&self) -> bool {
        self.events.is_multiple_of(64)
    }
}

/// The counts as text and the histogram as bytes of all frames together.
fn merge<'a>(frames: impl Iterator<Item = &'a Frame>) -> (String, Vec<u8>) {
    let (mut counts, mut latency) = (Counts::default(), latency_histogram());
    for frame in frames {
        counts.merge(&frame.head.counts);
        frame.latency.add_to(&mut latency).unwrap();
    }
    (serde_json::to_string(&counts).unwrap(), EncodedHistogram::encode(&latency).as_bytes().to_vec())
}

fn recorded_step(recorded: &Recorded) -> Step {
    let Recorded { share, generators } = recorded;
    let began_ns = share.begins.nanos_since(share.origin);
    let ended_ns = began_ns + share.step.limit.as_nanos() as u64;
    Step {
        index: share.step.index,
        connections: share.shares.workers(),
        depth: 1,
        rate_per_sec: None,
        stages: Vec::new(),
        began_ns,
        ended_ns,
        drained_ns: ended_ns,
        end: StepEnd::TimeLimit,
        generators: generators.clone(),
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
