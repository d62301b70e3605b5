//! The worker in a simulated world: its network, its server and its clock follow from a seed, so that a failure can be played
//! again.
//!
//! `PLIMSOLL_SEEDS=100000 cargo test -p plimsoll-engine simulation` plays that many worlds, `PLIMSOLL_SEED=7` only one.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use plimsoll_plan::{ArrivalProcess, Level, RateProfile, Shard};
use plimsoll_units::{Clock, Instant};

use super::simulated_tests::SimClock;
use super::tests::spec;
use super::{Parts, Worker};
use crate::control::Control;
use crate::frame_recorder::{FrameChannel, FrameRecorder, LiveFrame};
use crate::requests::{FixedRequest, Source, Traffic};
use crate::step_spec::StepSpec;
use network::{Account, Frames, Network};
use random::Random;
use server::Weather;

mod network;
mod random;
mod server;

const REQUEST: &[u8] = b"GET /of/the/simulation HTTP/1.1\r\nHost: simulated\r\n\r\n";

/// How many worlds are played where nothing else is asked for.
const SEEDS: u64 = 60;

/// The longest that a worker waits for what is under way when its load has ended.
const DRAIN: Duration = Duration::from_secs(10);

/// What a world came to.
#[derive(Debug, PartialEq, Eq)]
struct Played {
    intended: u64,
    completed: u64,
    failed: u64,
    /// Calls of the worker to its driver.
    steps: u64,
    frames: u64,
    ended: Instant,
}

/// Prints the seed of a world in which something is wrong.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("this was the world of PLIMSOLL_SEED={}", self.0);
        }
    }
}

fn level(random: &mut Random) -> Level {
    let connections = random.within(1..16) as u32;
    let depth = if random.permille(500) { 1 } else { random.within(1..9) as u16 };
    if random.permille(500) {
        return Level::Closed { connections, depth };
    }
    let profile = RateProfile::Constant(random.within(1..400) as f64);
    let arrivals = if random.permille(500) { ArrivalProcess::Poisson } else { ArrivalProcess::Constant };
    Level::Open { profile, arrivals, connections, depth }
}

fn world(random: &mut Random, clock: &SimClock) -> StepSpec {
    let level = level(random);
    let duration = Duration::from_millis(random.within(100..10_000));
    StepSpec {
        depth: level.depth(),
        requests_max: random.permille(200).then(|| random.within(1..500)),
        timeout: Duration::from_millis(random.within(20..3_000)),
        connections_max: level.connections() + random.within(0..8) as u32,
        interval: Duration::from_millis(random.within(500..4_000)),
        seed: random.within(0..1_000_000),
        origin: clock.now(),
        traffic: Traffic::Fixed(FixedRequest::new(REQUEST.to_vec(), "GET")),
        ..spec("127.0.0.1:1".parse().unwrap(), level, duration)
    }
}

/// Plays the world of a seed, and checks what must be true in each.
fn play(seed: u64) -> Played {
    let _seed = Seed(seed);
    let (clock, account, mut random) = (SimClock::default(), Account::default(), Random::new(seed));
    let spec = world(&mut random, &clock);
    let weather = Weather::new(&mut random);
    let (began, duration, fixed) = (spec.origin, spec.duration, spec.fixed_bytes());
    let most = match spec.level {
        Level::Closed { connections, .. } => connections,
        Level::Open { .. } => spec.connections_max,
    };
    let (full, frames) = sync_channel(2);
    let (give_back, empty) = sync_channel(2);
    give_back.try_send(LiveFrame::new(0, 0, 1)).unwrap();
    let frames = Rc::new(Frames { full: frames, give_back });
    let (seen, served) = ((&clock, &account), (random, weather));
    let driver = Network::new(seen, served, (REQUEST, fixed), most as usize, Rc::clone(&frames));
    let shard = Shard { index: 0, of: 1 };
    let control = Arc::new(Control::new(began + duration, DRAIN, spec.requests_max));
    let recorder = FrameRecorder::new(0, shard, 1, FrameChannel { full, empty }, began);
    let source = Source::new(&spec.traffic, shard).unwrap();
    Worker::new(spec, shard, began, Parts { control, clock: &clock, driver, source, recorder }).run();
    frames.take(&account);
    let recorded = account.recorded.borrow();
    let (counts, failed) = (&recorded.counts, recorded.counts.failed.total());
    assert_eq!(counts.intended, counts.completed + failed, "every request is accounted for: {counts:?}");
    assert_eq!(counts.completed, account.completed.get(), "responses that came whole: {counts:?}");
    assert_eq!(counts.ok, counts.completed);
    assert!(counts.completed <= account.requests.get(), "{counts:?}");
    assert!(recorded.requests_timed >= counts.completed, "each response has a time");
    let late = (&clock).now().since(began + duration + DRAIN);
    assert!(late < Duration::from_millis(100), "it ended {late:?} after its time");
    Played {
        intended: counts.intended,
        completed: counts.completed,
        failed,
        steps: account.steps.get(),
        frames: recorded.frames,
        ended: (&clock).now(),
    }
}

fn number_from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

#[test]
fn in_every_simulated_world_requests_are_accounted_for_and_sockets_used_as_they_may_be() {
    let (one, many) = (number_from_environment("PLIMSOLL_SEED"), number_from_environment("PLIMSOLL_SEEDS"));
    let seeds = one.map_or(0..many.unwrap_or(SEEDS), |seed| seed..seed + 1);
    let (mut played, mut steps, mut completed, mut failed) = (0, 0, 0, 0);
    for seed in seeds {
        let world = play(seed);
        played += 1;
        steps += world.steps;
        completed += world.completed;
        failed += world.failed;
    }
    println!("{played} worlds, {steps} steps, {completed} completed, {failed} failed");
    assert!(one.is_some() || (completed > 10_000 && failed > 1_000), "the worlds were worth playing");
}

#[test]
fn a_world_is_the_same_each_time_it_is_played() {
    for seed in [1, 2, 3] {
        assert_eq!(play(seed), play(seed));
    }
}
