//! Updates what the screen shows from the progress of a run.

use std::time::Duration;

use plimsoll_analyze::{RecentUse, Resource, percentile};
use plimsoll_conductor::{Moment, Progress, StepPlan};
use plimsoll_record::{Frame, Histogram, Manifest, Phase, latency_histogram};
use plimsoll_units::{count_text, grouped};

use super::board::{Bar, Board, Row};

/// The number of moments that are kept of a run.
const COURSE: usize = 240;
/// The shortest window of the percentiles, in nanoseconds.
const LATEST_NS: u64 = 1_000_000_000;
/// The maximum number of resources that are shown of one host.
const BARS_PER_HOST: usize = 3;

/// The state that is kept between updates of the board.
#[derive(Debug, Default)]
pub(super) struct Feed {
    level: String,
    /// The time that was left for the whole run when this load began.
    left: Duration,
    /// The latencies of this load, and those since the last update of the percentiles.
    of_load: Option<Histogram>,
    latest: Option<Histogram>,
    latest_ns: u64,
    use_of_hosts: Option<RecentUse>,
}

impl Feed {
    pub(super) fn observe(&mut self, progress: &Progress<'_>, board: &mut Board) {
        match progress {
            Progress::Prepared(manifest) => self.prepared(manifest, board),
            Progress::WarmUpBegan(step) => {
                self.begin(format!("warming up at {}", level_text(step)), step, board);
            }
            Progress::StepBegan { step, steps_max, left_max } => {
                self.left = *left_max;
                self.begin(level_text(step), step, board);
                board.phase = match step.rate_per_sec() {
                    _ if *steps_max == 1 => self.level.clone(),
                    None => format!("step {} of at most {steps_max} · {}", step.index + 1, self.level),
                    Some(_) => format!("search · {}", self.level),
                };
            }
            Progress::Moment(moment) => self.moment(moment, board),
            Progress::Draining => board.phase = format!("{} · waiting for the last answers", self.level),
            Progress::StepEnded { throughput_per_sec, failed } => {
                board.rows.push(self.row(*throughput_per_sec, *failed));
            }
            Progress::Framed(frame) => self.frame(frame, board),
            Progress::Sampled(sample) => {
                if let Some(resources) = self.use_of_hosts.as_mut().and_then(|recent| recent.add(sample)) {
                    board.hosts = bars(&resources);
                }
            }
            Progress::Profiling { source, .. } => board.phase = format!("CPU profile: {source}"),
            Progress::NotKept(_)
            | Progress::Raised(_)
            | Progress::NotTried(_)
            | Progress::FailureSeen { .. }
            | Progress::Happened(_)
            | Progress::StepRecorded(_)
            | Progress::ProfileRecorded(_)
            | Progress::EventRecorded(_) => {}
        }
    }

    fn prepared(&mut self, manifest: &Manifest, board: &mut Board) {
        let plan = plimsoll_plan::Plan::from_json(&manifest.plan);
        board.target = plan.map_or_else(|_| manifest.name.clone(), |plan| plan.target.url);
        "before the load".clone_into(&mut board.phase);
        self.use_of_hosts = Some(RecentUse::new(manifest.clone()));
    }

    fn begin(&mut self, level: String, step: &StepPlan, board: &mut Board) {
        board.phase.clone_from(&level);
        self.level = level;
        self.of_load = None;
        board.limit = if step.requests_max.is_some() { Duration::ZERO } else { step.limit };
        self.moment(&Moment::default(), board);
    }

    fn moment(&self, moment: &Moment, board: &mut Board) {
        board.elapsed = moment.elapsed;
        board.left = self.left.saturating_sub(moment.elapsed);
        board.throughput_per_sec = (moment.ended > 0).then_some(moment.throughput_per_sec);
        if moment.ended > 0 {
            board.course.push(moment.throughput_per_sec as u64);
            let beyond = board.course.len().saturating_sub(COURSE);
            board.course.drain(..beyond);
        }
    }

    fn row(&self, throughput_per_sec: f64, failed: u64) -> Row {
        let times = self.of_load.as_ref();
        Row {
            level: self.level.clone(),
            throughput_per_sec,
            p50_ns: times.and_then(|times| percentile(times, 0.5).ns),
            p99_ns: times.and_then(|times| percentile(times, 0.99).ns),
            failed,
        }
    }

    fn frame(&mut self, frame: &Frame, board: &mut Board) {
        let head = &frame.head;
        board.refused += head.counts.completed - head.counts.ok.min(head.counts.completed);
        for (kind, count) in head.counts.failed.iter() {
            *board.failures.entry(kind).or_default() += count;
        }
        if head.phase != Phase::Measure {
            return;
        }
        for times in [&mut self.of_load, &mut self.latest] {
            // A histogram that cannot be decoded is reported when the run is analysed.
            if frame.latency.add_to(times.get_or_insert_with(latency_histogram)).is_err() {
                return;
            }
        }
        if head.ended_ns.saturating_sub(self.latest_ns) >= LATEST_NS {
            self.latest_ns = head.ended_ns;
            let latest = self.latest.take();
            board.p50_ns = latest.as_ref().and_then(|times| percentile(times, 0.5).ns);
            board.p99_ns = latest.as_ref().and_then(|times| percentile(times, 0.99).ns);
        }
    }
}

/// Returns the resources of each host that are used most.
fn bars(resources: &[Resource]) -> Vec<Bar> {
    let bar = |resource: &Resource| {
        let part = resource.part.to_string();
        let name = resource.kind.name().replace('_', " ");
        Some(Bar {
            host: resource.host.clone(),
            resource: match part.starts_with(&name) {
                // The part of a core has the name already: `core 1`.
                true => part,
                false => format!("{name} {part}").trim_end().to_owned(),
            },
            share: resource.utilisation(0)?,
        })
    };
    let mut bars: Vec<Bar> = resources.iter().filter_map(bar).collect();
    bars.sort_by(|a, b| a.host.cmp(&b.host).then(b.share.total_cmp(&a.share)));
    let place = |bar: &Bar, among: &[Bar]| among.iter().filter(|other| other.host == bar.host).count();
    let mut shown: Vec<Bar> = Vec::new();
    for bar in bars {
        if place(&bar, &shown) < BARS_PER_HOST {
            shown.push(bar);
        }
    }
    shown
}

/// Describes a load, such as `64 connections`.
pub(crate) fn level_text(step: &StepPlan) -> String {
    match step.rate_per_sec() {
        None if step.connections() == 1 => "1 connection".to_owned(),
        None => format!("{} connections", grouped(step.connections().into())),
        Some(rate) => format!("{} requests/s offered", count_text(rate)),
    }
}
