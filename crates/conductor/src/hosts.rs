//! The hosts that are sampled during a run.

use std::path::Path;
use std::time::Duration;

use plimsoll_host::{Host, Received, SampleSources, SourceEvent};
use plimsoll_plan::{Capacity, Plan, PlanHost};
use plimsoll_record::metric::declared;
use plimsoll_record::{CounterSet, EventKind, HostSample, Reading, Source};
use plimsoll_units::Instant;

use crate::recorder::RunRecorder;

pub(crate) use probes::{TargetPlace, Watcher, watchers};

mod probes;

/// How long hosts may take to report their counters at both ends of a step.
const ANSWERS_WITHIN: Duration = Duration::from_millis(200);

/// How long each host may take for its first sample before the first step; a login to another machine takes a while.
const FIRST_WITHIN: Duration = Duration::from_secs(5);

/// The machine that makes the load, and the feeds of all other hosts.
#[derive(Debug)]
pub(crate) struct Hosts {
    generator: Host,
    feeds: SampleSources,
    watched: Vec<Watched>,
    origin: Instant,
}

#[derive(Debug)]
struct Watched {
    name: String,
    /// True for a single component that the user named; its first failed reading becomes an event.
    is_component: bool,
    reported: bool,
}

impl Hosts {
    /// Starts all feeds, and records what the plan declares about its hosts.
    pub(crate) fn open(watchers: Vec<Watcher>, plan: &Plan, recorder: &mut RunRecorder<'_>) -> Self {
        let origin = recorder.origin;
        let now_ns = recorder.now().nanos_since(origin);
        let of_plan = plan.hosts.iter().map(|host| (host.name.as_str(), &host.capacity));
        let of_lab = plan.generator.lab_capacity.iter().map(|capacity| (PlanHost::GENERATOR, capacity));
        of_plan
            .chain(of_lab)
            .filter_map(|(name, capacity)| declared(name, capacity, now_ns))
            .for_each(|sample| recorder.host_sample(sample));
        let root = Path::new("/");
        let generator = if plan.generator.lab_capacity.is_some() {
            Host::lab_generator(root)
        } else {
            Host::generator(root)
        };
        let (watched, feeds) = watchers
            .into_iter()
            .map(|Watcher { feed, is_component }| {
                (Watched { name: feed.name.clone(), is_component, reported: false }, feed)
            })
            .unzip();
        Self { generator, feeds: SampleSources::start(feeds, origin), watched, origin }
    }

    pub(crate) fn sample_generator(&mut self, recorder: &mut RunRecorder<'_>) {
        self.generator.samples(self.origin).into_iter().for_each(|sample| recorder.host_sample(sample));
    }

    /// True if a host other than the generator's is sampled.
    pub(crate) fn are_watched(&self) -> bool {
        !self.watched.is_empty()
    }

    pub(crate) fn ask(&mut self) {
        self.feeds.ask(ANSWERS_WITHIN);
    }

    /// Waits until each host has sent its first sample, but at most [`FIRST_WITHIN`].
    pub(crate) fn await_first(&mut self, recorder: &mut RunRecorder<'_>) {
        let received = self.feeds.wait_first(FIRST_WITHIN);
        self.keep(received, recorder);
    }

    pub(crate) fn take_in(&mut self, recorder: &mut RunRecorder<'_>) {
        let received = self.feeds.take();
        self.keep(received, recorder);
    }

    /// Waits for a sample and records it; false if no more can arrive.
    pub(crate) fn await_more(&mut self, longest: Duration, recorder: &mut RunRecorder<'_>) -> bool {
        let received = self.feeds.wait_any(longest);
        let more = received.is_some();
        self.keep(received.unwrap_or_default(), recorder);
        more
    }

    /// Records samples until all hosts have answered, or their time is over.
    pub(crate) fn await_answers(&mut self, recorder: &mut RunRecorder<'_>) {
        let received = self.feeds.wait_answers();
        self.keep(received, recorder);
    }

    fn keep(&mut self, received: Vec<Received>, recorder: &mut RunRecorder<'_>) {
        for Received { source, event } in received {
            let Some(watched) = self.watched.get_mut(source) else { continue };
            if let Some(text) = watched.trouble(&event) {
                recorder.event(EventKind::ProbeFailed, text);
            }
            if let SourceEvent::Sample(sample) = event {
                recorder.host_sample(sample);
            }
        }
    }
}

impl Watched {
    /// Text for an event: the end of a feed, or the first failed reading of a named component.
    fn trouble(&mut self, event: &SourceEvent) -> Option<String> {
        let name = &self.name;
        match event {
            SourceEvent::Failed(why) => {
                Some(format!("{name} is no longer watched, and the run goes on without: {why}"))
            }
            SourceEvent::Sample(HostSample { host, reading: Reading::Failed(why), .. })
                if self.is_component && !self.reported =>
            {
                self.reported = true;
                Some(format!("{name} on host {host} gives no counters: {why}"))
            }
            SourceEvent::Sample(_) => None,
        }
    }
}

/// The host's capacity according to the plan, as a sample of the source `declared`; `None` if the plan gives none.
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
