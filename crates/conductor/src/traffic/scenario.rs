//! Requests that are generated one by one, in the order of their mix.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use plimsoll_engine::{
    CheckResult, FixedRequest, RequestMeta, RequestSource, ResponseInterest, ResponseView, SourceFactory,
    SourceFault,
};
use plimsoll_plan::Shard;
use plimsoll_scenario::{Check, Mix, MixPosition, RowSource, Share, Start, Values};
use plimsoll_units::{Clock, RealClock, unix_time};

use super::judge::Judge;
use super::wire::WireRequest;

/// The distance between the seeds of the steps' random values: 2^64 over the golden ratio, the spacing of Weyl sequences.
pub(super) const SEEDS_APART: u64 = 0x9E37_79B9_7F4A_7C15;

/// The requests of a run, and the position up to which their values are used.
#[derive(Debug)]
pub(crate) struct Scenario {
    requests: Vec<WireRequest>,
    mix: Mix,
    checks: Vec<Check>,
    row_source: Option<RowSource>,
    seed: u64,
    /// The time of day at the origin of the monotonic clock, so that reading one clock gives both times.
    clock_began: Duration,
    /// The first unused number and row, for the next step.
    unused: Mutex<Start>,
}

impl Scenario {
    pub(super) fn new(
        requests: Vec<WireRequest>,
        mix: Mix,
        checks: Vec<Check>,
        row_source: Option<RowSource>,
        seed: u64,
    ) -> Self {
        let clock_began = unix_time().saturating_sub(Duration::from_nanos(RealClock.now().as_nanos()));
        Self { requests, mix, checks, row_source, seed, clock_began, unused: Mutex::default() }
    }

    fn unix_ms(&self) -> u64 {
        let now = self.clock_began + Duration::from_nanos(RealClock.now().as_nanos());
        u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
    }

    fn unused(&self) -> Start {
        *self.unused.lock()
    }

    /// The requests of one step; their numbers and rows follow those of the previous steps.
    pub(super) fn step(self: &Arc<Self>, step: u32) -> Arc<StepRequests> {
        self.seeded(u64::from(step) + 1)
    }

    /// One request before the load; its number and row are not used again.
    pub(super) fn first(self: &Arc<Self>) -> FixedRequest {
        let mut bytes = Vec::new();
        let meta = self.seeded(0).of_worker(Shard { index: 0, of: 1 }).render(&mut bytes);
        FixedRequest { bytes: bytes.into(), meta }
    }

    fn seeded(self: &Arc<Self>, round: u64) -> Arc<StepRequests> {
        let seed = self.seed.wrapping_add(round.wrapping_mul(SEEDS_APART));
        Arc::new(StepRequests { scenario: Arc::clone(self), seed, start: self.unused() })
    }
}

#[derive(Debug)]
pub(crate) struct StepRequests {
    scenario: Arc<Scenario>,
    seed: u64,
    start: Start,
}

impl StepRequests {
    fn of_worker(&self, shard: Shard) -> WorkerRequests {
        let share = Share { worker: shard.index, workers: shard.of };
        let scenario = Arc::clone(&self.scenario);
        WorkerRequests {
            position: scenario.mix.start(shard.index, shard.of),
            values: Values::new(self.seed, share, self.start, scenario.row_source.clone()),
            body: Vec::new(),
            judge: Judge::new(&scenario.checks),
            scenario,
        }
    }
}

impl SourceFactory for StepRequests {
    fn create(&self, shard: Shard) -> io::Result<Box<dyn RequestSource>> {
        Ok(Box::new(self.of_worker(shard)))
    }
}

/// The requests of one worker. On drop they record the used numbers and rows, however the worker ended.
#[derive(Debug)]
struct WorkerRequests {
    scenario: Arc<Scenario>,
    position: MixPosition,
    values: Values,
    /// Scratch memory for a body whose length precedes it.
    body: Vec<u8>,
    judge: Judge,
}

impl WorkerRequests {
    fn render(&mut self, out: &mut Vec<u8>) -> RequestMeta {
        let request = &self.scenario.requests[self.scenario.mix.next(&mut self.position)];
        self.values.next_request(if request.timed { self.scenario.unix_ms() } else { 0 });
        request.render(&mut self.values, &mut self.body, out)
    }
}

impl RequestSource for WorkerRequests {
    fn write(&mut self, out: &mut Vec<u8>) -> Result<RequestMeta, SourceFault> {
        Ok(self.render(out))
    }

    fn interest(&self) -> ResponseInterest {
        self.judge.interest()
    }

    fn inspect(&mut self, _request: u16, answer: &ResponseView<'_>) -> Result<CheckResult, SourceFault> {
        Ok(self.judge.judge(answer))
    }
}

impl Drop for WorkerRequests {
    fn drop(&mut self) {
        let mut unused = self.scenario.unused.lock();
        *unused = unused.max(self.values.unused());
    }
}
