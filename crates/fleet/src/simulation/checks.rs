//! The invariants of a world once it is over.

use plimsoll_analyze::fleet_starts;
use plimsoll_conductor::peers::OnLoss;
use plimsoll_record::{Counts, EncodedHistogram, Frame, Run, Step, StepEnd, latency_histogram};

use super::content::Keys;
use super::weather::Fate;
use super::world::World;
use super::{Played, Resumed};

/// Number of requests that are divided into shares: no multiple of anything.
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
        self.resumed.add(&other.resumed);
    }
}

impl Resumed {
    fn add(&mut self, other: &Self) {
        self.conductors += other.conductors;
        self.steps += other.steps;
        self.repeated += other.repeated;
        self.frames += other.frames;
        self.standing_by += other.standing_by;
        self.begun_again += other.begun_again;
        self.gone += other.gone;
        self.refused += other.refused;
        self.whole += other.whole;
    }
}

impl World {
    /// Checks the run file and the reports. Returns the counts of the world.
    pub(super) fn check(mut self) -> Played {
        if !self.conductor.died {
            // Seals the file.
            plimsoll_conductor::FrameFile::commit(&mut self.conductor.disk);
            self.check_complete();
            self.check_plan();
        }
        let committed = self.conductor.disk.frames_committed;
        self.conductor.disk.run.frames.truncate(committed);
        self.check_lost();
        self.check_times();
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
            lost_agents: self.lost.len() as u64,
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
            resumed: self.resumed(),
        }
    }

    fn resumed(&self) -> Resumed {
        let whole = self.resumed.conductors > 0 && !self.conductor.died && self.conductor.ends_as.is_none();
        let is_later = |frame: &&Frame| self.later_steps.contains(&frame.head.step);
        let frames = self.run().frames.iter().filter(is_later).count() as u64;
        Resumed { whole: u64::from(whole), frames, ..self.resumed }
    }

    fn reports_of(&self, agent: usize) -> impl Iterator<Item = &String> {
        let name = super::name(agent);
        let is_own = move |text: &&String| text.split(' ').any(|word| word == name);
        self.conductor.reports.iter().filter(is_own)
    }

    /// The run file has every frame of every agent that is not reported as lost.
    fn check_complete(&self) {
        for (agent, one) in self.agents.iter().enumerate() {
            let committed = self.conductor.disk.committed[agent];
            let is_named = self.reports_of(agent).next().is_some();
            let void = one.made.iter().filter(|frame| !self.conductor.disk.has(frame.share)).count();
            let due = one.frames - void as u64;
            assert!(committed <= due, "{committed} frames of agent {agent}, which made {due}");
            assert!(
                committed == due || is_named,
                "{committed} of {due} frames of agent {agent} are in the run file, and nothing is reported: {:?}",
                self.conductor.reports
            );
        }
    }

    /// The run has each step of its plan, complete, or says why not.
    fn check_plan(&self) {
        let steps = &self.run().steps;
        let is_made = |connections: &u32| {
            steps.iter().any(|step| step.connections == *connections && step.end != StepEnd::Cut)
        };
        let missing: Vec<u32> = self.scale.connections().filter(|step| !is_made(step)).collect();
        let reports = &self.conductor.reports;
        let are_all_named = || (0..self.agents.len()).all(|agent| self.reports_of(agent).next().is_some());
        let is_explained = match &self.conductor.ends_as {
            _ if missing.is_empty() => true,
            // The only load of a plan is not repeated.
            None => self.scale.steps.len() == 1 && reports.iter().any(|text| text.contains("not recorded")),
            Some(why) if why.contains("generator was lost") => {
                self.on_loss == OnLoss::Stop || are_all_named()
            }
            Some(why) if why.contains("no agent is left") => are_all_named(),
            Some(_) => steps.is_empty(),
        };
        let why = &self.conductor.ends_as;
        assert!(is_explained, "the steps of {missing:?} connections are not made ({why:?}): {reports:?}");
    }

    /// Steps do not overlap, even by the clocks of several conductors.
    fn check_times(&self) {
        let is_sound = |fate: &Fate| fate.clock_is_sound(0, self.now);
        if !self.weather.fates.iter().all(is_sound) {
            return;
        }
        for (step, next) in self.run().steps.iter().zip(self.run().steps.iter().skip(1)) {
            assert!(step.ended_ns <= next.began_ns, "{step:?} and {next:?}");
        }
    }

    /// No agent that lives and is reachable is given up.
    fn check_lost(&self) {
        for (agent, at) in &self.lost {
            let fate = &self.weather.fates[*agent];
            let says = |what: &str| self.reports_of(*agent).any(|text| text.contains(what));
            // Agents gave up while the process was stopped, or it heard none while it listened. It may end before it reports that.
            let of_pause = ["has left the run", "nothing is heard", "is a replay"];
            let is_over =
                self.conductor.session > 0 || self.conductor.died || self.conductor.ends_as.is_some();
            let is_of_pause = is_over || of_pause.iter().any(|what| says(what));
            let is_excused = fate.dies.is_some()
                || fate.set.is_some()
                || fate.stops.is_some()
                || !self.weather.links[*agent].is_up(0, *at)
                || says("cannot begin together")
                || !self.weather.pauses.is_empty() && is_of_pause;
            assert!(is_excused, "agent {agent} is lost, and lives: {:?}", self.conductor.reports);
        }
    }

    /// Without faults an agent keeps no more than the frames of some seconds.
    fn check_memory(&self) {
        let intervals = 4_000 / self.scale.interval.as_millis() as u64 + 2;
        let most = u64::from(self.scale.workers) * intervals + 3;
        let unkept = self.agents.iter().map(|agent| agent.unkept_max).max().unwrap_or(0);
        assert!(!self.weather.calm || unkept <= most, "{unkept} messages wait for the run file, not {most}");
    }

    /// The generators of each step began no further apart than reported.
    fn check_starts(&self) -> u64 {
        let run = self.run();
        let mut checked = 0;
        for start in fleet_starts(run) {
            let Some(apart_max) = start.apart_max_ns else { continue };
            let recorded = &run.steps[start.step as usize];
            // The first frame of a gone agent may be missing: the report knows no more than the file.
            let has_frames = |first: u32| {
                run.frames_of(start.step).any(|frame| frame.head.worker == first && frame.head.interval == 0)
            };
            let shares = recorded.generators.iter().filter(|share| has_frames(share.first_worker));
            // The report covers all generators; the truth must hold for those whose clocks satisfy the assumptions.
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

    /// The parts of a step add up to it, and follow from the run file.
    fn check_shares(&self) {
        for start in fleet_starts(self.run()) {
            let share = &self.conductor.disk.shares[start.step as usize];
            let Step { generators, .. } = &self.run().steps[start.step as usize];
            let parts = generators.iter().map(|one| share.shares.ratio(one.first_worker, one.workers));
            let is_near = |(part, known): (f64, &f64)| (part - known).abs() < 1e-6;
            assert!(parts.zip(&start.shares).all(is_near), "{generators:?}, not {:?}", start.shares);
            let workers: u32 = generators.iter().map(|generator| generator.workers).sum();
            // No agent takes over the part of one that was lost in an earlier step.
            if workers < share.shares.workers() && self.on_loss == OnLoss::Continue {
                continue;
            }
            let of = |first, workers| share.shares.requests(first, workers, WHOLE);
            let sum: u64 = generators.iter().map(|one| of(one.first_worker, one.workers)).sum();
            assert_eq!(sum, WHOLE, "{generators:?}");
        }
    }

    fn run(&self) -> &Run {
        &self.conductor.disk.run
    }

    /// Many agents made what one process would have made: the same frames, and the same bytes when merged. That each frame matches
    /// its keys was checked when it was written.
    fn check_merge(&self) {
        let disk = &self.conductor.disk;
        for (agent, one) in self.agents.iter().enumerate() {
            let mut due = one.made.iter().filter(|frame| disk.has(frame.share)).map(|frame| frame.keys);
            let heads = disk.run.frames.iter().map(|frame| &frame.head);
            for head in heads.filter(|head| disk.owner(head.step, head.worker) == agent) {
                let is_made = due.any(|keys| keys == Keys::of(head));
                assert!(is_made, "agent {agent} made no such frame, or it came twice: {head:?}");
            }
        }
        if self.is_merged() {
            let in_order_of_arrival = merge(disk.run.frames.iter());
            let mut sorted: Vec<&Frame> = disk.run.frames.iter().collect();
            sorted.sort_by_key(|frame| Keys::of(&frame.head));
            assert_eq!(in_order_of_arrival, merge(sorted.into_iter()));
        }
    }

    /// Merging histograms is slow, so only some worlds do it.
    fn is_merged(&self) -> bool {
        self.events.is_multiple_of(64)
    }
}

/// Merges all frames. Returns the counts as text and the histogram as bytes.
fn merge<'a>(frames: impl Iterator<Item = &'a Frame>) -> (String, Vec<u8>) {
    let (mut counts, mut latency) = (Counts::default(), latency_histogram());
    for frame in frames {
        counts.merge(&frame.head.counts);
        frame.latency.add_to(&mut latency).unwrap();
    }
    (serde_json::to_string(&counts).unwrap(), EncodedHistogram::encode(&latency).as_bytes().to_vec())
}
