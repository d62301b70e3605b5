//! The worker in a simulated world: its network, its server and its clock follow from a seed, so that a failure can be played
//! again.
//!
//! `PLIMSOLL_SEEDS=100000 cargo test -p plimsoll-engine simulation` plays that many worlds, `PLIMSOLL_SEED=7` only one.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use plimsoll_plan::{ArrivalProcess, Arrivals, Level, RateProfile, Shard};
use plimsoll_record::{FailureKind, Histogram};
use plimsoll_units::{Clock, Instant};
use rcgen::{CertificateParams, CertifiedKey, KeyPair, PKCS_ED25519};
use rustls::ServerConfig;

use super::simulated_tests::SimClock;
use super::tests::spec;
use super::{Parts, Worker};
use crate::control::Control;
use crate::frame_recorder::{FrameChannel, FrameRecorder, LiveFrame};
use crate::requests::{Source, Traffic};
use crate::step_spec::StepSpec;
use account::{Account, Frames};
use network::{Network, Surroundings};
use plimsoll_testkit::Random;
use weather::Weather;

mod account;
mod frames;
mod http1;
mod http2;
mod network;
mod peer;
mod traffic;
mod weather;

/// How many worlds are played where nothing else is asked for.
const SEEDS: u64 = 60;

/// The longest that a worker waits for what is under way when its load has ended.
const DRAIN: Duration = Duration::from_secs(10);

/// How far a value and the one that a histogram gives for it may be apart.
const HISTOGRAM_ERROR: f64 = 0.01;

/// The one worker of a world makes all of its load.
const SHARD: Shard = Shard { index: 0, of: 1 };

/// What a world came to.
#[derive(Debug, PartialEq, Eq)]
struct Played {
    intended: u64,
    completed: u64,
    failed: u64,
    /// Calls of the worker to its driver.
    steps: u64,
    frames: u64,
    /// Requests whose latency was compared with the one that the network knows.
    checked_latencies: u64,
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

fn world(random: &mut Random, clock: &SimClock) -> (StepSpec, Option<Arc<ServerConfig>>) {
    let level = level(random);
    let duration = Duration::from_millis(random.within(100..10_000));
    let streams = random.permille(500);
    let (tls, server) = random.permille(300).then(|| peer::encryption(&CERTIFICATE, streams)).unzip();
    let spec = StepSpec {
        depth: level.depth(),
        streams,
        tls,
        requests_max: random.permille(200).then(|| random.within(1..500)),
        timeout: Duration::from_millis(if random.permille(200) { 60_000 } else { random.within(20..3_000) }),
        connections_max: level.connections() + random.within(0..8) as u32,
        interval: Duration::from_millis(random.within(500..4_000)),
        seed: random.within(0..1_000_000),
        origin: clock.now(),
        traffic: traffic::traffic(random, streams),
        ..spec("127.0.0.1:1".parse().unwrap(), level, duration)
    };
    (spec, server)
}

/// A certificate for the simulated server, whose signatures are all of one length.
static CERTIFICATE: LazyLock<CertifiedKey<KeyPair>> = LazyLock::new(|| {
    let signing_key = KeyPair::generate_for(&PKCS_ED25519).unwrap();
    let cert = CertificateParams::new(["localhost".to_owned()]).unwrap().self_signed(&signing_key).unwrap();
    CertifiedKey { cert, signing_key }
});

/// Plays the world of a seed, and checks what must be true in each.
fn play(seed: u64) -> Played {
    let _seed = Seed(seed);
    let (clock, account, mut random) = (SimClock::default(), Account::default(), Random::new(seed));
    let (spec, tls) = world(&mut random, &clock);
    let weather = Weather::new(&mut random);
    let (began, ends) = (spec.origin, spec.origin + spec.duration);
    let most = match spec.level {
        Level::Closed { connections, .. } => connections,
        Level::Open { .. } => spec.connections_max,
    };
    let (full, frames) = sync_channel(2);
    let (give_back, empty) = sync_channel(2);
    give_back.try_send(LiveFrame::new(0, 0, 1)).unwrap();
    let frames = Rc::new(Frames { full: frames, give_back });
    let surroundings =
        Surroundings { clock: &clock, account: &account, frames: Rc::clone(&frames), random, weather, tls };
    let driver = Network::new(surroundings, &spec, most as usize);
    let control = Arc::new(Control::new(ends, DRAIN, spec.requests_max));
    let recorder = FrameRecorder::new(0, SHARD, 1, FrameChannel { full, empty }, began);
    let source = Source::new(&spec.traffic, SHARD).unwrap();
    Worker::new(spec.clone(), SHARD, began, Parts { control, clock: &clock, driver, source, recorder }).run();
    frames.take(&account);
    check_counts(&account);
    let checked_latencies = check_latencies(&spec, &account);
    check_suspensions(&account);
    let late = (&clock).now().since(ends + DRAIN).saturating_sub(account.suspended.get());
    assert!(late < Duration::from_millis(100), "it ended {late:?} after its time");
    let recorded = account.recorded.borrow();
    Played {
        intended: recorded.counts.intended,
        completed: recorded.counts.completed,
        failed: recorded.counts.failed.total(),
        steps: account.steps.get(),
        frames: recorded.frames,
        checked_latencies,
        ended: (&clock).now(),
    }
}

fn check_counts(account: &Account) {
    let recorded = account.recorded.borrow();
    let (counts, failed) = (&recorded.counts, &recorded.counts.failed);
    assert_eq!(
        counts.intended,
        counts.completed + failed.total(),
        "every request is accounted for: {counts:?}"
    );
    // A stream that timed out is left at once, though the server answers until it knows.
    let whole = account.completed.borrow().len() as u64;
    let given_up = failed.of(FailureKind::TimedOut);
    assert!(
        (counts.completed..=counts.completed + given_up).contains(&whole),
        "{whole} responses came whole, {} were counted: {:?}",
        counts.completed,
        failed.iter().collect::<Vec<_>>()
    );
    assert_eq!(counts.ok, counts.completed);
    assert!(counts.completed <= account.requests.get(), "{counts:?}");
    assert!(recorded.latency.len() >= counts.completed, "each response has a time");
}

/// A suspension of more than a second is one, whatever else the worker did meanwhile.
fn check_suspensions(account: &Account) {
    let (suspended, stalled) = (account.suspended.get(), account.recorded.borrow().stalled_ns);
    let missed = suspended > Duration::from_secs(1) && stalled < suspended.as_nanos() as u64 / 2;
    assert!(!missed, "suspended for {suspended:?}, and {stalled} ns of it noticed");
}

/// In an open loop, latency counts from the instant at which a request was due: where no request failed, the times must be
/// those between these instants and those at which the responses were whole.
fn check_latencies(spec: &StepSpec, account: &Account) -> u64 {
    let recorded = account.recorded.borrow();
    let (Level::Open { profile, arrivals, .. }, Traffic::Generated(_)) = (&spec.level, &spec.traffic) else {
        return 0;
    };
    if recorded.counts.failed.total() > 0 {
        return 0;
    }
    let due: Vec<u64> = Arrivals::new(*arrivals, profile, SHARD, spec.seed)
        .take_while(|ns| Duration::from_nanos(*ns) < spec.duration)
        .collect();
    if spec.requests_max.is_none() {
        assert_eq!(recorded.counts.intended, due.len() as u64, "every arrival is a request");
    }
    let completed: BTreeMap<u64, Instant> = account.completed.borrow().iter().copied().collect();
    let latencies: Vec<u64> =
        completed.iter().map(|(number, at)| at.nanos_since(spec.origin) - due[*number as usize]).collect();
    let (sum, recorded) = (latencies.iter().sum::<u64>() as f64, total(&recorded.latency));
    assert!(
        (sum - recorded).abs() <= sum * HISTOGRAM_ERROR,
        "latencies of {sum} ns were recorded as {recorded} ns"
    );
    completed.len() as u64
}

/// The sum of what a histogram holds.
fn total(histogram: &Histogram) -> f64 {
    histogram
        .iter_recorded()
        .map(|value| value.value_iterated_to() as f64 * value.count_at_value() as f64)
        .sum()
}

fn number_from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

#[test]
fn in_every_simulated_world_requests_are_accounted_for_and_sockets_used_as_they_may_be() {
    let (one, many) = (number_from_environment("PLIMSOLL_SEED"), number_from_environment("PLIMSOLL_SEEDS"));
    let seeds = one.map_or(0..many.unwrap_or(SEEDS), |seed| seed..seed + 1);
    let (mut played, mut steps, mut completed, mut failed, mut timed) = (0, 0, 0, 0, 0);
    for seed in seeds {
        let world = play(seed);
        played += 1;
        steps += world.steps;
        completed += world.completed;
        failed += world.failed;
        timed += world.checked_latencies;
    }
    println!(
        "{played} worlds, {steps} steps, {completed} completed, {failed} failed, {timed} latencies compared"
    );
    assert!(
        one.is_some() || (completed > 10_000 && failed > 1_000 && timed > 1_000),
        "the worlds were worth playing"
    );
}

#[test]
fn a_world_is_the_same_each_time_it_is_played() {
    for seed in [1, 2, 3] {
        assert_eq!(play(seed), play(seed));
    }
}
