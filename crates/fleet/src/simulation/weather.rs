//! The faults of a world, all of which follow from the seed.

use std::time::Duration;

use plimsoll_plan::{ArrivalProcess, LoadSpec, Plan, PlanSpec};
use plimsoll_testkit::Random;

/// Nanoseconds of a second of simulated time.
pub(super) const SEC: u64 = 1_000_000_000;
pub(super) const MS: u64 = 1_000_000;

/// The size of a world.
#[derive(Debug, Clone)]
pub(super) struct Scale {
    pub(super) agents: usize,
    pub(super) workers: u32,
    /// The duration of each step.
    pub(super) steps: Vec<Duration>,
    pub(super) interval: Duration,
    /// Frames are kept and compared as bytes, not only counted and checked one by one.
    pub(super) keeps_frames: bool,
    /// Messages are encoded as in production, not only as the keys of their frames.
    pub(super) packs: bool,
}

impl Scale {
    /// A few agents for some seconds.
    pub(super) fn small(random: &mut Random) -> Self {
        let steps = (0..random.within(1..4)).map(|_| Duration::from_millis(random.within(500..7_000)));
        Self {
            steps: steps.collect(),
            agents: random.within(1..5) as usize,
            workers: if random.permille(30) { 70 } else { random.within(1..4) as u32 },
            interval: Duration::from_millis(if random.permille(200) { 250 } else { 1_000 }),
            keeps_frames: true,
            packs: random.permille(30),
        }
    }

    /// As large as the largest fleet that is claimed to work.
    pub(super) fn full(agents: usize, workers: u32, load: Duration) -> Self {
        let interval = Duration::from_secs(1);
        Self { agents, workers, steps: vec![load], interval, keeps_frames: false, packs: false }
    }

    /// Returns a ladder whose steps use all workers, or a single load.
    pub(super) fn plan(&self) -> Plan {
        let steps = self.connections().map(u64::from);
        let load = match self.steps.len() {
            1 => LoadSpec::Single {
                connections: steps.min(),
                profile: None,
                arrivals: ArrivalProcess::Constant,
                duration: None,
                requests_max: None,
            },
            _ => LoadSpec::Ladder { steps: Some(steps.collect()), step_limit: None, budget: None },
        };
        PlanSpec::new("http://192.0.2.1/", load).freeze().unwrap()
    }

    /// The connections of each step.
    pub(super) fn connections(&self) -> impl Iterator<Item = u32> {
        (1..=self.steps.len() as u32).map(|step| step * 100_000)
    }

    /// Returns the number of batches of all agents within this time.
    fn batches(&self, within: u64) -> usize {
        self.agents * (within / self.interval.as_nanos() as u64) as usize
    }

    /// True if the world must not be cut short.
    fn is_full(&self) -> bool {
        !self.keeps_frames
    }

    /// Returns when a fault begins. A full-size fleet gathers its agents first.
    fn any_time(&self, random: &mut Random) -> u64 {
        let first = if self.is_full() { 10 * SEC } else { 0 };
        random.within(first..first + self.load_ns())
    }

    fn load_ns(&self) -> u64 {
        self.steps.iter().map(|step| step.as_nanos() as u64 + 3 * SEC).sum()
    }
}

/// A time in which a link carries nothing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outage {
    pub(super) from: u64,
    pub(super) until: u64,
    /// Whether it cuts off messages to the conductor, and messages from it.
    pub(super) there: bool,
    pub(super) back: bool,
    /// Messages sent meanwhile arrive afterwards instead of never.
    pub(super) holds: bool,
}

/// The delays of messages between an agent and the conductor.
#[derive(Debug, Clone)]
pub(super) struct Link {
    /// Nanoseconds to the conductor and back, at least.
    there: u64,
    back: u64,
    /// How many of a thousand messages take longer, and by how much at most.
    tail: u64,
    tail_max: Duration,
    pub(super) outages: Vec<Outage>,
}

/// The longest delay of a message while its link is up, in nanoseconds.
pub(super) const DELAY_MAX: u64 = 1_500 * MS;

impl Link {
    fn new(random: &mut Random, scale: &Scale, calm: bool) -> Self {
        let far = random.permille(300);
        let mut way = || random.within(1_000..if far { 150 * MS } else { MS });
        let (mut there, back) = (way(), way());
        // The bound of a clock is tight if all of the delay is on one way.
        there = if random.permille(200) { 1_000 } else { there };
        let tail_max = Duration::from_nanos(if calm { 30 * MS } else { DELAY_MAX - 200 * MS });
        let tail = if random.permille(500) { random.within(0..100) } else { 0 };
        let cut = !calm && random.permille(250);
        let outages = (0..if cut { random.within(1..3) } else { 0 }).map(|_| Outage::new(random, scale));
        Self { there, back, tail, tail_max, outages: outages.collect() }
    }

    /// Returns when a message that is sent now arrives; `None` if it never does.
    pub(super) fn arrival(&self, random: &mut Random, now: u64, is_there: bool) -> Option<u64> {
        let base = if is_there { self.there } else { self.back };
        let mut at = now + base + random.within(0..base / 4 + 1);
        if random.permille(self.tail) {
            at += random.time(self.tail_max).as_nanos() as u64;
        }
        for outage in self.outages.iter().filter(|outage| if is_there { outage.there } else { outage.back }) {
            if outage.from <= at && now <= outage.until {
                if !outage.holds {
                    return None;
                }
                at = at.max(outage.until + base);
            }
        }
        Some(at)
    }

    /// True if the link carries everything between these instants.
    pub(super) fn is_up(&self, from: u64, until: u64) -> bool {
        self.outages.iter().all(|outage| outage.until < from || outage.from > until)
    }
}

impl Outage {
    fn new(random: &mut Random, scale: &Scale) -> Self {
        let from = scale.any_time(random);
        let longest = if random.permille(300) { 40 * SEC } else { 4 * SEC };
        let until = from + random.within(0..longest);
        let one_way = random.permille(300);
        let there = !one_way || random.permille(500);
        Self { from, until, there, back: !one_way || !there, holds: random.permille(500) }
    }
}

/// The faults of the broker's stream.
#[derive(Debug, Clone)]
pub(super) struct StreamWeather {
    /// Times without a leader.
    pub(super) elections: Vec<(u64, u64)>,
    /// How many of a thousand copies get no answer; they may be stored or not.
    pub(super) unanswered: u64,
    /// How many of the last acknowledged messages an election loses.
    pub(super) forgets: u64,
    /// A second copy is dropped within this time.
    pub(super) duplicate_window: u64,
    /// A delivery that is not acknowledged after this time is repeated.
    pub(super) ack_wait: u64,
    /// How long a stored message waits before it is delivered.
    pub(super) lag: u64,
    /// How many messages the stream holds.
    pub(super) capacity: usize,
    pub(super) ack_pending_max: usize,
}

impl StreamWeather {
    fn new(random: &mut Random, scale: &Scale, calm: bool) -> Self {
        let troubled = !calm && random.permille(500);
        let election = |random: &mut Random| {
            let from = scale.any_time(random);
            (from, from + random.within(SEC / 2..8 * SEC))
        };
        let elections: Vec<_> =
            (0..if troubled { random.within(1..3) } else { 0 }).map(|_| election(random)).collect();
        let unanswered = if troubled { random.within(0..100) } else { 0 };
        let small = !scale.is_full();
        let lag = if troubled && random.permille(500) { random.within(100 * MS..2 * SEC) } else { 0 };
        Self {
            elections,
            unanswered,
            lag,
            forgets: if unanswered > 0 && random.permille(500) { random.within(1..20) } else { 0 },
            duplicate_window: if random.permille(300) { random.within(SEC..10 * SEC) } else { 120 * SEC },
            ack_wait: if small && random.permille(300) { random.within(SEC..5 * SEC) } else { 60 * SEC },
            capacity: usize::MAX,
            // As many for each agent as in a fleet of a thousand.
            ack_pending_max: if small { scale.batches(20 * SEC) } else { 20_000 },
        }
    }

    pub(super) fn has_leader(&self, now: u64) -> bool {
        !self.elections.iter().any(|(from, until)| (*from..*until).contains(&now))
    }
}

/// The faults of an agent, apart from its links.
#[derive(Debug, Clone, Default)]
pub(super) struct Fate {
    pub(super) dies: Option<u64>,
    /// By how many nanoseconds the agent's clock is ahead, and how many parts per billion it gains.
    pub(super) ahead: u64,
    pub(super) gains_ppb: i64,
    /// When its clock is set forward or its machine stands still, and for how long.
    pub(super) set: Option<(u64, u64)>,
    pub(super) stops: Option<(u64, u64)>,
}

impl Fate {
    fn new(random: &mut Random, scale: &Scale, calm: bool) -> Self {
        let mut at = |permille, most| {
            (!calm && random.permille(permille)).then(|| (scale.any_time(random), random.within(MS..most)))
        };
        let (dies, set, stops) = (at(80, SEC), at(50, 20 * SEC), at(50, 5 * SEC));
        let beyond = !calm && random.permille(60);
        let most = if beyond { 2_000_000 } else { WITHIN_PPB };
        let gains = random.within(0..2 * most + 1) as i64 - most as i64;
        // Bounds break at extremes.
        let gains = if random.permille(300) { gains.signum() * most as i64 } else { gains };
        Self {
            dies: dies.map(|(at, _)| at),
            ahead: random.within(0..40_000 * SEC),
            gains_ppb: gains,
            set,
            stops,
        }
    }

    /// Returns the ceiling of one of its workers; unknown for every fourth agent. Computed from a value that is drawn anyway, so
    /// that the worlds of existing seeds stay the same.
    pub(super) fn ceiling_per_sec(&self) -> Option<u64> {
        Some(self.ahead % 4 * 50_000).filter(|per_sec| *per_sec > 0)
    }

    /// True if the clock satisfies the assumptions of the bounds between these instants.
    pub(super) fn clock_is_sound(&self, from: u64, until: u64) -> bool {
        self.gains_ppb.unsigned_abs() <= WITHIN_PPB && self.clock_is_steady(from, until)
    }

    /// True if its clock is neither set nor stands still between these instants.
    pub(super) fn clock_is_steady(&self, from: u64, until: u64) -> bool {
        let apart = |moved: Option<(u64, u64)>| moved.is_none_or(|(at, long)| at > until || at + long < from);
        apart(self.set) && apart(self.stops)
    }
}

/// The death of a conductor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Death {
    /// How long after the conductor began or resumed the run.
    pub(super) after: u64,
    /// It dies when it begins the next step: agents have the command, but the run file has no such step.
    pub(super) before_record: bool,
    /// How long after the death another conductor resumes the run, if one does.
    pub(super) resumed_after: Option<u64>,
    /// By how much that conductor's clock is ahead of the first conductor's, in nanoseconds.
    pub(super) ahead: i64,
    /// How long after its death its last commands reach the agents, if they do.
    pub(super) last_words_after: Option<u64>,
}

impl Death {
    /// One, or two in a row.
    fn some(random: &mut Random, scale: &Scale) -> Vec<Self> {
        (0..if random.permille(250) { 2 } else { 1 }).map(|_| Self::new(random, scale)).collect()
    }

    fn new(random: &mut Random, scale: &Scale) -> Self {
        // Agents still continue their load, or have given up.
        let pause = if random.permille(500) { SEC..9 * SEC } else { 9 * SEC..45 * SEC };
        let elsewhere = random.within(0..17_000 * SEC) as i64 - 7_000 * SEC as i64;
        let resumed_after = random.permille(850).then(|| random.within(pause));
        Self {
            after: scale.any_time(random),
            before_record: random.permille(150),
            resumed_after,
            ahead: if random.permille(500) { elsewhere } else { 0 },
            // Mostly about when the next conductor makes the agents obey.
            last_words_after: random
                .permille(500)
                .then(|| resumed_after.unwrap_or(0) + random.within(0..6 * SEC)),
        }
    }
}

/// 100 ppm, less a margin: the relative rate of two clocks depends slightly on which one measures it.
const WITHIN_PPB: u64 = 99_989;

/// All faults of a world.
#[derive(Debug, Clone)]
pub(super) struct Weather {
    pub(super) orphan: Duration,
    pub(super) links: Vec<Link>,
    pub(super) fates: Vec<Fate>,
    pub(super) stream: StreamWeather,
    /// When the conductor itself is cut off, and whether it notices.
    cut_off: Option<Outage>,
    notices_cut: bool,
    /// How long the conductor takes to process what arrived.
    pub(super) turn: u64,
    /// Times in which the conductor's process is stopped.
    pub(super) pauses: Vec<(u64, u64)>,
    /// Deaths of the first conductor, and of each that resumes its run.
    pub(super) deaths: Vec<Death>,
    /// When the load is ended early, after the start of a step.
    pub(super) ends_early: Option<u64>,
    /// No faults, only delays.
    pub(super) calm: bool,
}

impl Weather {
    pub(super) fn new(random: &mut Random, scale: &Scale) -> Self {
        let calm = random.permille(250);
        let mut links: Vec<Link> = (0..scale.agents).map(|_| Link::new(random, scale, calm)).collect();
        // The conductor itself is cut off, and may notice it.
        let cut_off = (!calm && random.permille(100)).then(|| Outage::new(random, scale));
        links.iter_mut().for_each(|link| link.outages.extend(cut_off));
        let sometimes = |random: &mut Random, permille: u64| !calm && random.permille(permille);
        let cut_short = |random: &mut Random, permille| !scale.is_full() && sometimes(random, permille);
        let deaths = if cut_short(random, 450) { Death::some(random, scale) } else { Vec::new() };
        let mut stream = StreamWeather::new(random, scale, calm);
        let mut fates: Vec<Fate> = (0..scale.agents).map(|_| Fate::new(random, scale, calm)).collect();
        // Copies of a message remain behind a gap until its agent resends what was acknowledged only to the stream.
        stream.ack_pending_max *= if deaths.is_empty() { 1 } else { 4 };
        // A small stream may be filled by messages behind a gap: if answers get lost, or if a conductor dies that has acknowledged
        // messages to the stream but not to their agents.
        let is_small = deaths.is_empty()
            && !calm
            && stream.unanswered == 0
            && links.iter().all(|link| link.outages.is_empty());
        if is_small && !scale.is_full() && random.permille(300) {
            stream.capacity = scale.agents * random.within(5..10) as usize;
            // A lost agent that continues would fill it.
            let stop = (random.within(3 * SEC..6 * SEC), random.within(2 * SEC..5 * SEC));
            fates[0].stops = random.permille(500).then_some(stop);
        }
        let pauses = (0..if sometimes(random, 150) { 2 } else { 0 }).map(|_| {
            let from = scale.any_time(random);
            (from, from + random.within(0..6 * SEC))
        });
        let pauses = pauses.collect();
        let orphan = match deaths.is_empty() {
            // Agents that give up before the end of a step cut it.
            false if random.permille(750) => random.within(2..5),
            _ if sometimes(random, 200) => random.within(4..30),
            _ => 10,
        };
        Self {
            orphan: Duration::from_secs(orphan),
            pauses,
            links,
            fates,
            stream,
            cut_off,
            notices_cut: random.permille(500),
            turn: if sometimes(random, 200) { random.within(50 * MS..900 * MS) } else { 50 * MS },
            deaths,
            ends_early: cut_short(random, 200).then(|| scale.any_time(random)),
            calm,
        }
    }

    /// True if the conductor believes that it is connected.
    pub(super) fn is_connected(&self, now: u64) -> bool {
        let cut = self.cut_off.filter(|outage| (outage.from..outage.until).contains(&now));
        cut.is_none() || !self.notices_cut
    }

    /// Returns the end of the current pause of the conductor's process.
    pub(super) fn paused_until(&self, now: u64) -> Option<u64> {
        self.pauses.iter().find(|(from, until)| (*from..*until).contains(&now)).map(|(_, until)| *until)
    }

    /// Returns the end of all faults, apart from deaths.
    pub(super) fn ends(&self) -> u64 {
        let outages = self.links.iter().flat_map(|link| &link.outages).map(|outage| outage.until);
        let stops = self.fates.iter().filter_map(|fate| fate.stops).map(|(at, long)| at + long);
        let rest = self.stream.elections.iter().chain(&self.pauses).map(|(_, until)| *until);
        outages.chain(stops).chain(rest).max().unwrap_or(0)
    }
}
