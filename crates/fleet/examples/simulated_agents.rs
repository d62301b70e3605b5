//! Many agents in one process, whose generators make no request: what a fleet of so many costs its conductor and its broker.
//!
//! `cargo run --release -p plimsoll-fleet --example simulated_agents -- nats://HOST:PORT AGENTS ALLOWED-TARGET`. Everything but
//! the generator is an agent's own: connection, invitation, clock, signs of life, frames until they are in the run file. Each
//! generator hands over the frames of an open loop whose requests all succeed, with times drawn from a log-normal distribution.
//! No two generators that follow each other can do the same, which is the longest way to write the shares of all.
//! Writes `waiting` once all agents are at the broker, and ends with its input: a line of JSON says what they handed over.
#![expect(clippy::print_stdout, reason = "it is a program of the terminal")]

use std::error::Error;
use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;
use std::{env, io, thread};

use plimsoll_conductor::ConductError;
use plimsoll_conductor::peers::{Channel, Command, Message, PeerError, SendTo, StepShare};
use plimsoll_fleet::{AgentOptions, AgentReport, AllowedTarget, Broker, BrokerAddress, Certificates, serve};
use plimsoll_plan::Plan;
use plimsoll_record::{
    Counts, EncodedHistogram, Frame, FrameHead, Phase, StatusCounts, WorkerTime, latency_histogram,
};
use plimsoll_testkit::Noise;
use plimsoll_units::{Clock as _, Instant, RealClock};

type Outcome<T> = Result<T, Box<dyn Error>>;

const ORPHAN: Duration = Duration::from_secs(10);
/// Of the times from the planned instant to the answer, and to the sending, in nanoseconds.
const MEDIANS_NS: [f64; 2] = [20e6, 50e3];
const SIGMA: f64 = 0.5;
/// Bytes of a request and of its answer.
const BYTES: [u64; 2] = [80, 200];

static WAITING: AtomicUsize = AtomicUsize::new(0);
static FRAMES: AtomicU64 = AtomicU64::new(0);
static REQUESTS: AtomicU64 = AtomicU64::new(0);
static GENERATORS: AtomicU64 = AtomicU64::new(0);
/// The end of the last share, by the monotonic clock.
static ENDED_NS: AtomicU64 = AtomicU64::new(0);

fn main() -> Outcome<()> {
    let mut arguments = env::args().skip(1);
    let mut next =
        || arguments.next().ok_or("usage: simulated_agents nats://HOST:PORT AGENTS ALLOWED-TARGET");
    let (address, agents, allow) = (next()?.parse()?, next()?.parse()?, next()?.parse()?);
    serve_all(&address, agents, &allow)?;
    let [frames, requests, ended_ns] =
        [&FRAMES, &REQUESTS, &ENDED_NS].map(|number| number.load(Ordering::Relaxed));
    println!("{{\"frames\":{frames},\"requests\":{requests},\"ended_ns\":{ended_ns}}}");
    Ok(())
}

/// Each agent in a thread of its own, until the input ends.
fn serve_all(address: &BrokerAddress, agents: usize, allow: &AllowedTarget) -> Outcome<()> {
    let interrupted = Arc::new(AtomicBool::new(false));
    thread::scope(|scope| {
        let serving: Vec<_> = (1..=agents)
            .map(|number| options(number, address, allow))
            .map(|options| {
                let interrupted = &interrupted;
                scope.spawn(move || serve(&options, interrupted, &mut |report| note(report, agents)))
            })
            .collect();
        let ended = io::stdin().read_to_end(&mut Vec::new());
        interrupted.store(true, Ordering::Relaxed);
        for agent in serving {
            agent.join().map_err(|_| "the thread of an agent panicked")??;
        }
        ended?;
        Ok(())
    })
}

fn options(number: usize, address: &BrokerAddress, allow: &AllowedTarget) -> AgentOptions {
    let broker = Broker {
        address: address.clone(),
        credentials: None,
        certificates: Certificates::default(),
        fleet: "default".to_owned(),
    };
    AgentOptions {
        broker,
        name: format!("agent-{number}"),
        allow: vec![allow.clone()],
        trust: Vec::new(),
        orphan: ORPHAN,
        once: false,
        version: env!("CARGO_PKG_VERSION"),
        generator: simulate,
    }
}

fn note(report: &AgentReport<'_>, agents: usize) {
    match report {
        AgentReport::Waiting { .. } if WAITING.fetch_add(1, Ordering::Relaxed) + 1 == agents => {
            println!("waiting");
        }
        AgentReport::Refused { run, why } | AgentReport::Failed { run, why } => println!("run {run}: {why}"),
        _ => {}
    }
}

/// Stands for [`plimsoll_conductor::follow`].
fn simulate(
    _: Plan,
    _: Option<&[u8]>,
    version: &str,
    channel: Channel<Message, Command>,
    _: &AtomicBool,
) -> Result<(), ConductError> {
    let Channel { mut sender, mut receiver, .. } = channel;
    let (passed, commands) = mpsc::channel();
    let pass_on = move || {
        while let Ok(Some(command)) = receiver.receive()
            && passed.send(command).is_ok()
        {}
    };
    thread::Builder::new().spawn(pass_on).map_err(PeerError::from)?;
    let ceiling_per_sec = Some(ceiling_per_sec(GENERATORS.fetch_add(1, Ordering::Relaxed)));
    let ready = Message::Ready { version: version.to_owned(), workers: 1, ceiling_per_sec };
    sender.send(&ready).map_err(PeerError::from)?;
    while let Ok(command) = commands.recv() {
        match command {
            Command::Begin(share) => {
                make_share(&share, &commands, &mut *sender).map_err(PeerError::from)?;
            }
            Command::StandBy { asked } => {
                sender
                    .send(&Message::StandsBy { asked, workers: 1, ceiling_per_sec })
                    .map_err(PeerError::from)?;
            }
            Command::EndLoad | Command::Abandon => {}
        }
    }
    Ok(())
}

/// 60,000 to 100,000 requests per second.
fn ceiling_per_sec(generator: u64) -> u64 {
    60_000 + generator * 7_919 % 40_000
}

/// The frames of one share, each when it is due.
fn make_share(
    share: &StepShare,
    commands: &Receiver<Command>,
    conductor: &mut dyn SendTo<Message>,
) -> io::Result<()> {
    let late_ns = RealClock.now().nanos_since(share.begins);
    conductor.send(&Message::Began { late_ns, clock_error_ns: None, wall: None })?;
    let mut noise = Noise::new(u64::from(share.workers_before));
    let ends = share.begins + share.step.limit;
    let (mut began, mut is_over) = (share.begins, false);
    for interval in 0.. {
        let due = (began + share.step.interval).min(ends);
        is_over |= is_ended(commands, due);
        let ended = due.min(RealClock.now()).max(began);
        let frame = frame(share, interval, [began, ended], &mut noise);
        FRAMES.fetch_add(1, Ordering::Relaxed);
        REQUESTS.fetch_add(frame.head.counts.sent, Ordering::Relaxed);
        conductor.send(&Message::Frame(Box::new(frame)))?;
        began = ended;
        if is_over || began >= ends {
            break;
        }
    }
    ENDED_NS.fetch_max(began.as_nanos(), Ordering::Relaxed);
    conductor.send(&Message::Ended { step: Some(share.step.index), fault: None })
}

/// Waits until an instant; true if the conductor ends the load before.
fn is_ended(commands: &Receiver<Command>, due: Instant) -> bool {
    match commands.recv_timeout(due.since(RealClock.now())) {
        Ok(Command::Begin(_) | Command::StandBy { .. }) | Err(RecvTimeoutError::Timeout) => false,
        Ok(Command::EndLoad | Command::Abandon) | Err(RecvTimeoutError::Disconnected) => true,
    }
}

fn frame(share: &StepShare, interval: u32, [began, ended]: [Instant; 2], noise: &mut Noise) -> Frame {
    let count = due_until(share, ended) - due_until(share, began);
    let [latency, send_lag] = MEDIANS_NS.map(|median_ns| times(median_ns, count, noise));
    let none = EncodedHistogram::default;
    Frame {
        head: FrameHead {
            step: share.step.index,
            worker: share.workers_before,
            request: 0,
            interval,
            phase: Phase::Measure,
            began_ns: began.nanos_since(share.origin),
            ended_ns: ended.nanos_since(share.origin),
            counts: counts(count),
            in_flight: 0,
            backlog: 0,
            connections: 1,
            time: WorkerTime::default(),
        },
        service: Some(latency.clone()),
        latency,
        unsuccessful: none(),
        send_lag,
        connect: none(),
        handshake: none(),
        traces: Vec::new(),
    }
}

fn times(median_ns: f64, count: u64, noise: &mut Noise) -> EncodedHistogram {
    let mut histogram = latency_histogram();
    for _ in 0..count {
        histogram.saturating_record((median_ns * (SIGMA * noise.normal()).exp()) as u64);
    }
    EncodedHistogram::encode(&histogram)
}

fn counts(count: u64) -> Counts {
    let [bytes_out, bytes_in] = BYTES.map(|bytes| bytes * count);
    let mut counts = Counts {
        intended: count,
        sent: count,
        completed: count,
        ok: count,
        bytes_in,
        bytes_out,
        status: StatusCounts::default(),
        ..Counts::default()
    };
    counts.status.add(200, count);
    counts
}

/// How many requests of this share are due until an instant, such that those of all shares add up to the rate.
fn due_until(share: &StepShare, instant: Instant) -> u64 {
    let all = share.step.rate_per_sec().unwrap_or_default() * instant.since(share.begins).as_secs_f64();
    share.shares.requests(share.workers_before, share.own_workers, all.round() as u64)
}
