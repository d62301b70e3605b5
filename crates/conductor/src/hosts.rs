//! The hosts that a run crosses, and what they tell while it goes on.

use std::path::Path;
use std::time::Duration;

use plimsoll_host::{Host, Received, SampleSources, SourceEvent};
use plimsoll_plan::{Capacity, Plan, PlanHost};
use plimsoll_record::metric::declared;
use plimsoll_record::{CounterSet, EventKind, HostSample, Reading, Source};
use plimsoll_units::{Clock, Instant, RealClock};

use crate::observer::{Observer, Progress};
use crate::tape::Tape;

pub(crate) use probes::{Place, Watcher, watchers};

mod probes;

/// At the ends of a step hosts get this long to tell where their counters stand.
const PATIENCE: Duration = Duration::from_millis(200);

/// Before the first step each host gets this long to begin to tell; a login to another machine takes a while.
const PATIENCE_FIRST: Duration = Duration::from_secs(5);

/// The machine that makes the load, and the feeds of all others.
#[derive(Debug)]
pub(crate) struct Hosts {
    generator: Host,
    feeds: SampleSources,
    watched: Vec<Watched>,
    origin: Instant,
}

/// What is known of a feed.
#[derive(Debug)]
struct Watched {
    name: String,
    /// It is one component that the user named, so that a reading that fails is told at once.
    is_component: bool,
    told: bool,
}

impl Hosts {
    /// Starts all feeds, and records what the plan knows of its hosts beforehand.
    pub(crate) fn open(watchers: Vec<Watcher>, plan: &Plan, tape: &mut Tape) -> Self {
        let origin = tape.origin();
        let now_ns = RealClock.now().nanos_since(origin);
        let of_plan = plan.hosts.iter().map(|host| (host.name.as_str(), &host.capacity));
        let of_lab = plan.generator.lab_capacity.iter().map(|capacity| (PlanHost::GENERATOR, capacity));
        of_plan
            .chain(of_lab)
            .filter_map(|(name, capacity)| declared(name, capacity, now_ns))
            .for_each(|sample| tape.host_sample(sample));
        let root = Path::new("/");
        let generator = if plan.generator.lab_capacity.is_some() {
            Host::lab_generator(root)
        } else {
            Host::generator(root)
        };
        let (watched, feeds) = watchers
            .into_iter()
            .map(|Watcher { feed, is_component }| {
                (Watched { name: feed.name(), is_component, told: false }, feed)
            })
            .unzip();
        Self { generator, feeds: SampleSources::start(feeds, origin), watched, origin }
    }

    /// When the run began.
    pub(crate) fn origin(&self) -> Instant {
        self.origin
    }

    /// Asks the machine that makes the load about itself.
    pub(crate) fn ask_generator(&mut self, tape: &mut Tape) {
        self.generator.samples(self.origin).into_iter().for_each(|sample| tape.host_sample(sample));
    }

    /// Asks the others where their counters stand at this instant.
    pub(crate) fn ask(&mut self) {
        self.feeds.ask(PATIENCE);
    }

    /// Waits until every host has begun to tell, or the time for that is over.
    pub(crate) fn await_first(&mut self, tape: &mut Tape, observer: &mut dyn Observer) {
        let news = self.feeds.wait_first(PATIENCE_FIRST);
        self.keep(news, tape, observer);
    }

    /// Takes what has come.
    pub(crate) fn take_in(&mut self, tape: &mut Tape, observer: &mut dyn Observer) {
        let news = self.feeds.take();
        self.keep(news, tape, observer);
    }

    /// Waits until anything comes, or this time is over, and takes it; false if nothing will come any more.
    pub(crate) fn await_more(
        &mut self,
        patience: Duration,
        tape: &mut Tape,
        observer: &mut dyn Observer,
    ) -> bool {
        let news = self.feeds.wait_any(patience);
        let more = news.is_some();
        self.keep(news.unwrap_or_default(), tape, observer);
        more
    }

    /// Takes what comes until all have answered, or the time for that is over.
    pub(crate) fn await_answers(&mut self, tape: &mut Tape, observer: &mut dyn Observer) {
        let news = self.feeds.wait_answers();
        self.keep(news, tape, observer);
    }

    fn keep(&mut self, news: Vec<Received>, tape: &mut Tape, observer: &mut dyn Observer) {
        for Received { source, event: told } in news {
            let Some(watched) = self.watched.get_mut(source) else { continue };
            if let Some(text) = watched.trouble(&told) {
                let event = tape.event(EventKind::ProbeFailed, text);
                observer.observe(&Progress::Happened(&event));
            }
            if let SourceEvent::Sample(sample) = told {
                tape.host_sample(sample);
            }
        }
    }
}

impl Watched {
    /// What is worth telling, in words: the end of a feed, and the first time that a named component does not tell.
    fn trouble(&mut self, told: &SourceEvent) -> Option<String> {
        let name = &self.name;
        match told {
            SourceEvent::Failed(why) => {
                Some(format!("{name} is no longer watched, and the run goes on without: {why}"))
            }
            SourceEvent::Sample(HostSample { host, reading: Reading::Failed(why), .. })
                if self.is_component && !self.told =>
            {
                self.told = true;
                Some(format!("{name} on host {host} does not tell: {why}"))
            }
            SourceEvent::Sample(_) => None,
        }
    }
}

/// What the plan says a host can do at most, as a sample of the source `declared`; `None` if it says nothing.
fn declared(name: &str, capacity: &Capacity, now_ns: u64) -> Option<HostSample> {
    let Capacity {
        cores,
        link_out_bits_per_sec,
        link_in_bits_per_sec,
        packets_per_sec,
        memory_bytes,
        disk_bytes_per_sec,
    } = *capacity;
    let levels = CounterSet::from([
        (declared::CORES_MILLI, cores.map(|cores| (cores * 1000.0).round() as u64)),
        (declared::LINK_OUT_BITS_PER_SEC, link_out_bits_per_sec),
        (declared::LINK_IN_BITS_PER_SEC, link_in_bits_per_sec),
        (declared::PACKETS_PER_SEC, packets_per_sec),
        (declared::MEMORY_BYTES, memory_bytes),
        (declared::DISK_BYTES_PER_SEC, disk_bytes_per_sec),
    ]);
    (!levels.is_empty()).then(|| HostSample {
        host: name.into(),
        source: Source::Declared.into(),
        subject: "".into(),
        began_ns: now_ns,
        ended_ns: now_ns,
        reading: Reading::Ok(levels.into()),
    })
}
