//! Whole searches of simulated servers whose highest rate is known: `cargo run --release -p plimsoll-analyze --example search`
//!
//! Each server is a queue in simulated time, with random arrivals. The truth is found by bisection with half an hour of load a
//! rate. A search is the one of `plimsoll URL`: the same judge, the same choice of rates, and the time that the ladder leaves:
//! 50 s of 90, 270 s of five minutes, 570 s of ten.

#![expect(clippy::print_stdout, reason = "a program that prints a table")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use plimsoll_analyze::search::bracket::{self, Aim, Bracket, Next, Trial};
use plimsoll_analyze::search::{Judge, REST, longest_trial};
use plimsoll_analyze::{SearchEnd, TrialOutcome};
use plimsoll_plan::{LatencyLimit, Slo};
use plimsoll_record::{
    Counts, EncodedHistogram, Frame, FrameHead, Histogram, Phase, WorkerTime, latency_histogram,
};
use plimsoll_testkit::Noise;

const SEARCHES: u64 = 100;
/// The seconds that the ladder leaves of each budget, and the ratio that the ends may differ by.
const LEFT: [(f64, f64); 3] = [(50.0, 0.05), (270.0, 0.03), (570.0, 0.02)];
const INTERVAL_SEC: f64 = 0.1;
const TRUTH_SEC: f64 = 1800.0;

/// How long one request takes its worker, in seconds.
#[derive(Clone, Copy)]
enum Service {
    Exponential(f64),
    Fixed(f64),
    /// Fixed, and no request is served for the last part of each tenth of a second, as under a quota of CPU.
    Quota(f64, f64),
    /// Exponential, and all workers stop for a while after so many requests, as for a garbage collector.
    Pauses {
        mean_sec: f64,
        every: u64,
        pause_sec: f64,
    },
}

struct Server {
    name: &'static str,
    workers: usize,
    service: Service,
    limit_ms: f64,
    /// What it serves in a closed loop, in requests per second.
    closed_per_sec: f64,
    /// The part of that which the ladder reached.
    reached: f64,
}

const SERVERS: [Server; 7] = [
    Server {
        name: "one worker, exponential",
        workers: 1,
        service: Service::Exponential(0.0005),
        limit_ms: 50.0,
        closed_per_sec: 2000.0,
        reached: 1.0,
    },
    Server {
        name: "eight workers of 10 ms",
        workers: 8,
        service: Service::Fixed(0.01),
        limit_ms: 100.0,
        closed_per_sec: 800.0,
        reached: 1.0,
    },
    Server {
        name: "eight workers, a ladder that ended at a tenth",
        workers: 8,
        service: Service::Fixed(0.01),
        limit_ms: 100.0,
        closed_per_sec: 800.0,
        reached: 0.1,
    },
    Server {
        name: "a link of 1.87 ms a page",
        workers: 1,
        service: Service::Fixed(0.00187),
        limit_ms: 100.0,
        closed_per_sec: 534.0,
        reached: 1.0,
    },
    Server {
        name: "a quota of 0.4 cores",
        workers: 1,
        service: Service::Quota(0.0004, 0.4),
        limit_ms: 100.0,
        closed_per_sec: 1000.0,
        reached: 1.0,
    },
    Server {
        name: "pauses of a collector",
        workers: 4,
        service: Service::Pauses { mean_sec: 0.008, every: 400, pause_sec: 0.12 },
        limit_ms: 200.0,
        closed_per_sec: 400.0,
        reached: 1.0,
    },
    Server {
        name: "twenty workers of 400 ms",
        workers: 20,
        service: Service::Fixed(0.4),
        limit_ms: 2000.0,
        closed_per_sec: 50.0,
        reached: 1.0,
    },
];

/// Requests arriving at a server at random, one after another.
struct Queue<'a> {
    server: &'a Server,
    rate_per_sec: f64,
    noise: Noise,
    clock_sec: f64,
    /// When each worker is free, in nanoseconds.
    free: BinaryHeap<Reverse<u64>>,
    served: u64,
}

impl<'a> Queue<'a> {
    fn new(server: &'a Server, rate_per_sec: f64, seed: u64) -> Self {
        let free = (0..server.workers).map(|_| Reverse(0)).collect();
        Self { server, rate_per_sec, noise: Noise::new(seed), clock_sec: 0.0, free, served: 0 }
    }

    /// When the next request comes and when it is answered, in seconds.
    fn next(&mut self) -> (f64, f64) {
        self.clock_sec -= self.noise.uniform().ln() / self.rate_per_sec;
        let free_sec = self.free.pop().map_or(0.0, |Reverse(ns)| ns as f64 / 1e9);
        let done_sec = self.done(self.clock_sec.max(free_sec));
        self.free.push(Reverse((done_sec * 1e9) as u64));
        (self.clock_sec, done_sec)
    }

    fn done(&mut self, began_sec: f64) -> f64 {
        self.served += 1;
        match self.server.service {
            Service::Fixed(sec) => began_sec + sec,
            Service::Exponential(mean_sec) => began_sec - mean_sec * self.noise.uniform().ln(),
            Service::Quota(sec, cores) => {
                let used_sec = (began_sec / 0.1).fract() * 0.1;
                let whole = (began_sec / 0.1).floor() * 0.1;
                let (whole, used_sec) =
                    if used_sec >= cores * 0.1 { (whole + 0.1, 0.0) } else { (whole, used_sec) };
                let ended_sec = used_sec + sec;
                if ended_sec > cores * 0.1 {
                    whole + 0.1 + ended_sec - cores * 0.1
                } else {
                    whole + ended_sec
                }
            }
            Service::Pauses { mean_sec, every, pause_sec } => {
                if self.served.is_multiple_of(every) {
                    let resumed = |Reverse(ns): Reverse<u64>| {
                        Reverse(ns.max((began_sec * 1e9) as u64) + (pause_sec * 1e9) as u64)
                    };
                    self.free = self.free.drain().map(resumed).collect();
                    return began_sec + pause_sec - mean_sec * self.noise.uniform().ln();
                }
                began_sec - mean_sec * self.noise.uniform().ln()
            }
        }
    }
}

/// The frames of a load, one for each tenth of a second.
struct Frames<'a> {
    queue: Queue<'a>,
    next: (f64, f64),
    under_way: BinaryHeap<Reverse<(u64, u64)>>,
    times: Histogram,
    interval: u32,
}

impl<'a> Frames<'a> {
    fn new(mut queue: Queue<'a>) -> Self {
        let next = queue.next();
        Self { queue, next, under_way: BinaryHeap::new(), times: latency_histogram(), interval: 0 }
    }

    fn frame(&mut self) -> Frame {
        let ends_sec = f64::from(self.interval + 1) * INTERVAL_SEC;
        while self.next.0 <= ends_sec {
            let ns = |sec: f64| (sec * 1e9) as u64;
            self.under_way.push(Reverse((ns(self.next.1), ns(self.next.1 - self.next.0))));
            self.next = self.queue.next();
        }
        self.answered(Phase::Measure, ends_sec)
    }

    /// What is answered after the load.
    fn drain(&mut self) -> Frame {
        self.answered(Phase::Drain, f64::MAX)
    }

    /// The frame of what is answered until then.
    fn answered(&mut self, phase: Phase, ends_sec: f64) -> Frame {
        self.times.reset();
        let mut completed = 0;
        while let Some(Reverse((done_ns, took_ns))) = self.under_way.peek().copied() {
            if done_ns > (ends_sec * 1e9) as u64 {
                break;
            }
            self.under_way.pop();
            completed += 1;
            // No time here is beyond what a histogram holds.
            self.times.record(took_ns.max(1)).ok();
        }
        let mut counts =
            Counts { sent: completed, completed, ok: completed, intended: completed, ..Counts::default() };
        counts.status.add(200, completed);
        let head = FrameHead {
            step: 0,
            worker: 0,
            request: 0,
            interval: self.interval,
            phase,
            began_ns: ((ends_sec - INTERVAL_SEC) * 1e9) as u64,
            ended_ns: (ends_sec * 1e9) as u64,
            counts,
            in_flight: self.under_way.len() as u64,
            backlog: 0,
            connections: 1,
            time: WorkerTime::default(),
        };
        self.interval += 1;
        let none = EncodedHistogram::default;
        Frame {
            head,
            latency: EncodedHistogram::encode(&self.times),
            unsuccessful: none(),
            service: None,
            send_lag: none(),
            connect: none(),
            handshake: none(),
            traces: Vec::new(),
        }
    }
}

/// Tries one rate, for so long at most; what it came to and the seconds that took.
fn try_rate(
    server: &Server,
    slo: &Slo,
    rate_per_sec: f64,
    tolerance: f64,
    limit: Duration,
    seed: u64,
) -> (TrialOutcome, f64) {
    let mut frames = Frames::new(Queue::new(server, rate_per_sec, seed));
    let mut judge = Judge::new(slo.clone(), rate_per_sec, 1, tolerance);
    let mut took_sec = limit.as_secs_f64();
    let most = (took_sec / INTERVAL_SEC) as u32;
    for number in 1..=most {
        let frame = frames.frame();
        if judge.add(&frame).is_err() {
            break;
        }
        if judge.outcome().is_some() {
            took_sec = f64::from(number) * INTERVAL_SEC;
            break;
        }
    }
    let drained = judge.add(&frames.drain()).ok().and_then(|()| judge.last_outcome());
    (drained.unwrap_or(TrialOutcome::Close), took_sec)
}

struct Found {
    bracket: Bracket,
    end: SearchEnd,
    seconds: f64,
    trials: Vec<Trial>,
}

fn search(server: &Server, slo: &Slo, budget_sec: f64, tolerance: f64, seed: u64) -> Found {
    let mut noise = Noise::new(seed ^ 0x5eed);
    let mut rate_per_sec = 0.9 * server.reached * server.closed_per_sec * (1.0 + 0.02 * noise.normal());
    let (mut spent_sec, mut trials, mut after_overload) = (0.0, Vec::new(), false);
    let end = loop {
        let left = Duration::from_secs_f64((budget_sec - spent_sec).max(0.0));
        let Some(limit) = longest_trial(slo, rate_per_sec, tolerance, Some(left)) else {
            break SearchEnd::Unfinished;
        };
        let trial_seed = seed * 1000 + trials.len() as u64;
        let (outcome, seconds) = try_rate(server, slo, rate_per_sec, tolerance, limit, trial_seed);
        spent_sec += seconds + 0.2;
        trials.push(Trial { rate_per_sec, outcome, after_overload });
        let (next, at_once) = match bracket::next(Aim { tolerance, asked_per_sec: None }, &trials) {
            Next::Try { rate_per_sec, at_once } => (rate_per_sec, at_once),
            Next::Done => break SearchEnd::Found,
            Next::GaveUp => break SearchEnd::Unfinished,
        };
        let is_broken = matches!(outcome, TrialOutcome::Broken(_));
        (rate_per_sec, after_overload) = (next, at_once && is_broken);
        if is_broken && !at_once {
            spent_sec += REST.as_secs_f64();
        }
    };
    Found { bracket: Bracket::of(tolerance, &trials), end, seconds: spent_sec, trials }
}

/// The highest rate whose responses, over half an hour, are late no more often than one in a hundred.
fn truth(server: &Server) -> f64 {
    let (mut low, mut high) = (0.3 * server.closed_per_sec, 1.1 * server.closed_per_sec);
    while high / low > 1.002 {
        let middle = (low * high).sqrt();
        let mut queue = Queue::new(server, middle, 7);
        let (mut late, mut all) = (0, 0);
        while queue.clock_sec < TRUTH_SEC {
            let (came, done) = queue.next();
            all += 1;
            late += u64::from((done - came) * 1e3 > server.limit_ms);
        }
        if late * 100 <= all { low = middle } else { high = middle }
    }
    low
}

fn main() {
    println!(
        "| server | λ* | time left | found | median | spread | truth inside | width | seconds | trials |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for server in &SERVERS {
        let slo = Slo {
            latency: vec![LatencyLimit::p99(server.limit_ms)],
            success_ratio: Some(0.9995),
            throughput_per_sec: None,
        };
        let most = truth(server);
        for (budget_sec, tolerance) in LEFT {
            let all: Vec<Found> =
                (0..SEARCHES).map(|seed| search(server, &slo, budget_sec, tolerance, seed)).collect();
            print_row(server, most, budget_sec, &all);
        }
    }
}

fn print_row(server: &Server, most: f64, budget_sec: f64, all: &[Found]) {
    let both = |found: &Found| found.bracket.held_per_sec.zip(found.bracket.broken.map(|(rate, _)| rate));
    let mut middles: Vec<f64> = all.iter().filter_map(both).map(|(low, high)| (low * high).sqrt()).collect();
    middles.sort_by(f64::total_cmp);
    let at = |share: f64| middles[((middles.len() - 1) as f64 * share) as usize];
    if middles.is_empty() {
        println!("| {} | {most:.0} | {budget_sec} s | none |", server.name);
        return;
    }
    let inside = all.iter().filter_map(both).filter(|(low, high)| *low <= most && most <= *high).count();
    let mut widths: Vec<f64> = all.iter().filter_map(both).map(|(low, high)| high / low - 1.0).collect();
    widths.sort_by(f64::total_cmp);
    let mean = |of: &dyn Fn(&Found) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
    let finished = all.iter().filter(|found| found.end == SearchEnd::Found).count();
    println!(
        "| {} | {most:.0} | {budget_sec} s | {} % ({} % finished) | {:.0} | {:.1} % | {:.0} % | {:.1} % | {:.0} | {:.1} |",
        server.name,
        100 * middles.len() / all.len(),
        100 * finished / all.len(),
        at(0.5),
        100.0 * (at(0.95) - at(0.05)) / at(0.5),
        100.0 * inside as f64 / middles.len() as f64,
        100.0 * widths[widths.len() / 2],
        mean(&|found| found.seconds),
        mean(&|found| found.trials.len() as f64),
    );
}
