//! One source of one host over time.

use std::collections::BTreeSet;

use plimsoll_record::metric::cgroup;
use plimsoll_record::{Counters, Metric, Source};
use plimsoll_stats::mean;

/// The longest time between two reads that shows what was between them: hosts are read once a second, so beyond it more than one
/// read is missing. Sources that are measured more rarely, as by cAdvisor, have [`MAX_GAPS`] instead.
const MAX_GAP_NS: u64 = 2_500_000_000;
/// The same limit as a multiple of the usual time between reads.
const MAX_GAPS: f64 = 2.5;
/// After an hour hosts are read more rarely: the time between reads is the time since the run began, divided by this.
const READS_PER_RUN: f64 = 3600.0;
/// A rate is known only if reads cover this share of its span.
const MIN_COVERED: f64 = 0.5;
/// This share of the time between the reads must lie within the span. It is a little less than half, because a window of a second
/// lies within two intervals of a little more than a second.
const MIN_WITHIN: f64 = 0.45;
/// Reads of one counter by two probes are compared only if they are this far apart: clocks of two machines differ by less.
const APART_NS: u64 = 100_000_000;
/// If the time without load is shorter, the ticks by which kernels count processor time show nothing.
const MIN_REST_SEC: f64 = 0.3;
/// A gauge that was not read within a span has the value of a read this close to it.
const NEAR_NS: u64 = 1_000_000_000;

/// A stretch of the run, in nanoseconds since it began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) from_ns: u64,
    pub(crate) to_ns: u64,
}

impl Span {
    fn seconds(self) -> f64 {
        self.to_ns.saturating_sub(self.from_ns) as f64 / 1e9
    }

    /// The overlap of two stretches; `None` if there is none.
    fn shared(self, other: Self) -> Option<Self> {
        let span = Self { from_ns: self.from_ns.max(other.from_ns), to_ns: self.to_ns.min(other.to_ns) };
        (span.from_ns < span.to_ns).then_some(span)
    }
}

#[derive(Debug, Clone, Copy)]
struct Read<'a> {
    at_ns: u64,
    counters: &'a Counters,
}

/// The longest time between two of these reads, sorted by time, that shows what was between them.
fn max_gap_ns(reads: &[Read<'_>]) -> u64 {
    let mut gaps: Vec<u64> = reads.windows(2).map(|pair| pair[1].at_ns - pair[0].at_ns).collect();
    gaps.sort_unstable();
    // A single interval does not show what is usual.
    let usual_ns = gaps.get(gaps.len() / 2).copied().filter(|_| gaps.len() > 1).unwrap_or_default();
    MAX_GAP_NS.max((usual_ns as f64 * MAX_GAPS) as u64)
}

/// The reads of one subject, in order of time.
#[derive(Debug)]
pub(crate) struct Track<'a> {
    source: Source,
    reads: Vec<Read<'a>>,
    /// The longest time between two reads, in a short run, that shows what was between them.
    max_gap_ns: u64,
}

impl<'a> Track<'a> {
    /// A track without reads.
    pub(super) fn new(source: Source) -> Self {
        Self { source, reads: Vec::new(), max_gap_ns: MAX_GAP_NS }
    }

    pub(crate) fn is_of(&self, source: Source) -> bool {
        self.source == source
    }

    /// The metric of this track's source that counts the same as `metric`.
    pub(crate) fn own(&self, metric: Metric) -> Option<Metric> {
        metric.in_source(self.source)
    }

    pub(super) fn push(&mut self, at_ns: u64, counters: &'a Counters) {
        self.reads.push(Read { at_ns, counters });
    }

    pub(super) fn sort(&mut self) {
        self.reads.sort_by_key(|read| read.at_ns);
        self.max_gap_ns = max_gap_ns(&self.reads);
    }

    /// The values of a metric of this track's source.
    fn values(&self, metric: Metric) -> impl Iterator<Item = (u64, f64)> {
        debug_assert!(metric.source == self.source, "{metric:?} of {}", self.source);
        self.reads.iter().filter_map(move |read| Some((read.at_ns, read.counters.get(metric)? as f64)))
    }

    /// The number of cores that the quota of a control group, or of the group of a process, allows; `None` without a quota.
    pub(crate) fn quota(&self) -> Option<f64> {
        let period_us = self.last(self.own(cgroup::PERIOD_US)?).filter(|period_us| *period_us > 0.0)?;
        Some(self.last(self.own(cgroup::QUOTA_US)?)? / period_us)
    }

    /// True if two tracks of a source read the same counter: neither contradicts the other.
    pub(crate) fn counts_the_same(&self, other: &Self, metric: Metric) -> bool {
        self.fits_between(other, metric) && other.fits_between(self, metric)
    }

    /// True if the first and the last value of a counter each lie between what another track read before and after.
    fn fits_between(&self, other: &Self, metric: Metric) -> bool {
        let others: Vec<(u64, f64)> = other.values(metric).collect();
        let fits = |(at_ns, value): (u64, f64)| {
            let before = others.iter().rfind(|read| read.0 + APART_NS <= at_ns);
            let after = others.iter().find(|read| read.0 >= at_ns + APART_NS);
            before.is_none_or(|read| read.1 <= value) && after.is_none_or(|read| value <= read.1)
        };
        let mut values = self.values(metric);
        let first = values.next();
        first.into_iter().chain(values.last()).all(fits)
    }

    /// The share of its periods in which a control group was throttled; `None` if it had no periods, or they are unknown.
    pub(crate) fn throttled(&self, span: Span) -> Option<f64> {
        let periods = self.per_sec(cgroup::PERIODS, span).filter(|periods| *periods > 0.0)?;
        Some(self.per_sec(cgroup::THROTTLED_PERIODS, span)? / periods)
    }

    /// The growth of a counter within a span, per second.
    ///
    /// A counter is taken to grow evenly between two reads of it. Time between reads that are too far apart is left out. The
    /// rate is `None` if less than half of the span is covered, or if the counter fell (what it counts was started again), or if
    /// clearly most of the time between the reads lies outside the span.
    pub(crate) fn per_sec(&self, metric: Metric, span: Span) -> Option<f64> {
        let values: Vec<(u64, f64)> = self.values(metric).collect();
        let (mut grown, mut covered_sec, mut read_sec) = (0.0, 0.0, 0.0);
        for pair in values.windows(2) {
            let (before, after) = (pair[0], pair[1]);
            let between = Span { from_ns: before.0, to_ns: after.0 };
            if after.0 - before.0 > self.max_gap_after(before.0) {
                continue;
            }
            if let Some(shared) = between.shared(span) {
                if after.1 < before.1 {
                    return None;
                }
                grown += (after.1 - before.1) * shared.seconds() / between.seconds();
                covered_sec += shared.seconds();
                read_sec += between.seconds();
            }
        }
        let enough = covered_sec > 0.0
            && covered_sec >= MIN_COVERED * span.seconds()
            && covered_sec >= MIN_WITHIN * read_sec;
        enough.then(|| grown / covered_sec)
    }

    /// The longest time from a read at this time to the next that shows what was between them. In a long run it grows with the
    /// time, whatever was usual in most of the run.
    fn max_gap_after(&self, at_ns: u64) -> u64 {
        self.max_gap_ns.max((MAX_GAPS * at_ns as f64 / READS_PER_RUN) as u64)
    }

    /// The span from the first read to the last one up to this time; `None` unless there are two, some time apart.
    pub(crate) fn until(&self, at_ns: u64) -> Option<Span> {
        let mut reads = self.reads.iter().map(|read| read.at_ns).filter(|read| *read <= at_ns);
        let from_ns = reads.next()?;
        let span = Span { from_ns, to_ns: reads.next_back()? };
        (span.seconds() >= MIN_REST_SEC).then_some(span)
    }

    /// The growth of a counter from the last read before a span to the first after it, per second, even if reads between
    /// them failed: a component that turns connections away turns the probe away too. After the run's last step, the last read
    /// stands for one after it.
    pub(crate) fn per_sec_around(&self, metric: Metric, span: Span) -> Option<f64> {
        let before = self.values(metric).take_while(|(at_ns, _)| *at_ns <= span.from_ns).last()?;
        let after = self
            .values(metric)
            .find(|(at_ns, _)| *at_ns >= span.to_ns)
            .or_else(|| self.values(metric).last());
        let after = after.filter(|after| after.0 > span.from_ns && after.1 >= before.1)?;
        Some((after.1 - before.1) * 1e9 / (after.0 - before.0) as f64)
    }

    /// The readings of a gauge within a span, or else the one nearest to it.
    fn gauges(&self, metric: Metric, span: Span) -> Vec<f64> {
        let within = |at_ns: &u64| (span.from_ns..=span.to_ns).contains(at_ns);
        let inside: Vec<f64> =
            self.values(metric).filter(|(at_ns, _)| within(at_ns)).map(|(_, value)| value).collect();
        if !inside.is_empty() {
            return inside;
        }
        nearest(self.values(metric), span).into_iter().collect()
    }

    /// The mean of a gauge within a span.
    pub(crate) fn mean(&self, metric: Metric, span: Span) -> Option<f64> {
        let values = self.gauges(metric, span);
        (!values.is_empty()).then(|| mean(&values))
    }

    /// The mean within a span of one entry of a list that is read as a whole, so that a missing entry counts as 0; without a read
    /// in the span, the value of the read nearest to it.
    pub(crate) fn mean_made(&self, name: &str, span: Span) -> Option<f64> {
        let value = |read: &Read<'_>| read.counters.named(name).map(|value| value as f64);
        let inside = self.reads.iter().filter(|read| (span.from_ns..=span.to_ns).contains(&read.at_ns));
        let listed: Vec<f64> = inside.map(|read| value(read).unwrap_or(0.0)).collect();
        if listed.is_empty() {
            return nearest(self.reads.iter().filter_map(|read| Some((read.at_ns, value(read)?))), span);
        }
        Some(mean(&listed))
    }

    /// The highest reading of a gauge within a span.
    pub(crate) fn most(&self, metric: Metric, span: Span) -> Option<f64> {
        self.gauges(metric, span).into_iter().reduce(f64::max)
    }

    /// The highest value in the whole run of a counter whose name is made when it is read.
    pub(crate) fn most_made(&self, name: &str) -> Option<f64> {
        let values = self.reads.iter().filter_map(|read| read.counters.named(name));
        values.max().map(|value| value as f64)
    }

    /// The last reading of a metric as an integer, for values that are no quantity, such as ids.
    pub(crate) fn last_number(&self, metric: Metric) -> Option<u64> {
        self.reads.iter().rev().find_map(|read| read.counters.get(metric))
    }

    /// How much a counter grew over the whole run.
    pub(crate) fn grown(&self, metric: Metric) -> Option<f64> {
        let first = self.values(metric).next()?.1;
        Some(self.last(metric)? - first)
    }

    /// The last reading of something that does not change.
    pub(crate) fn last(&self, metric: Metric) -> Option<f64> {
        self.values(metric).last().map(|(_, value)| value)
    }

    /// All names that were ever read, for a source whose names are made when they are read.
    pub(crate) fn made_names(&self) -> BTreeSet<&'a str> {
        self.reads.iter().flat_map(|read| read.counters.names()).collect()
    }
}

/// The value of the read nearest to a span, if it is near enough.
fn nearest(values: impl Iterator<Item = (u64, f64)>, span: Span) -> Option<f64> {
    let away = |at_ns: u64| span.from_ns.saturating_sub(at_ns).max(at_ns.saturating_sub(span.to_ns));
    let nearest = values.min_by_key(|(at_ns, _)| away(*at_ns))?;
    (away(nearest.0) <= NEAR_NS).then_some(nearest.1)
}

#[cfg(test)]
mod tests {
    use plimsoll_record::metric::tcp;

    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    fn counters(values: &[(u64, u64)]) -> Vec<(u64, Counters)> {
        let one =
            |(at_sec, value): &(u64, u64)| (at_sec * SECOND_NS, Counters::from([(tcp::ESTABLISHED, *value)]));
        values.iter().map(one).collect()
    }

    fn per_sec(values: &[(u64, u64)], from_sec: f64, to_sec: f64) -> Option<f64> {
        let counters = counters(values);
        let mut track = Track::new(Source::Tcp);
        counters.iter().for_each(|(at_ns, counters)| track.push(*at_ns, counters));
        let ns = |sec: f64| (sec * 1e9) as u64;
        track.per_sec(tcp::ESTABLISHED, Span { from_ns: ns(from_sec), to_ns: ns(to_sec) })
    }

    #[test]
    fn a_counter_grows_evenly_between_two_reads() {
        let reads = [(0, 0), (1, 100), (2, 300), (3, 300)];
        assert_eq!(per_sec(&reads, 0.5, 1.5), Some(150.0));
        assert_eq!(per_sec(&reads, 0.0, 3.0), Some(100.0));
        assert_eq!(per_sec(&reads, 2.0, 3.0), Some(0.0));
    }

    #[test]
    fn what_was_not_read_is_not_known_and_not_zero() {
        let reads = [(0, 0), (1, 100), (9, 100), (10, 200)];
        assert_eq!(per_sec(&reads, 3.0, 7.0), None, "no read");
        assert_eq!(per_sec(&reads, 0.0, 1.5), Some(100.0), "two thirds were seen");
        assert_eq!(per_sec(&reads, 0.0, 4.0), None, "a quarter was seen");
        assert_eq!(per_sec(&[(0, 5)], 0.0, 1.0), None, "one read is no difference");
        assert_eq!(per_sec(&[(0, 50), (1, 3)], 0.0, 1.0), None, "it was started again");
        assert_eq!(per_sec(&[(0, 0), (1, 90)], 0.2, 0.6), None, "most of it is of another time");
    }

    #[test]
    fn reads_a_second_and_a_little_apart_show_each_second() {
        let counters: Vec<(u64, Counters)> =
            (0..4).map(|n| (n * 1_000_500_000, Counters::from([(tcp::ESTABLISHED, n * 100_050)]))).collect();
        let mut track = Track::new(Source::Tcp);
        counters.iter().for_each(|(at_ns, counters)| track.push(*at_ns, counters));
        let second = Span { from_ns: SECOND_NS, to_ns: 2 * SECOND_NS };
        let rate = track.per_sec(tcp::ESTABLISHED, second).unwrap();
        assert!((rate - 100_000.0).abs() < 1e-3, "{rate}");
    }

    #[test]
    fn the_reads_of_a_long_run_show_its_end_as_well_as_its_beginning() {
        const HOUR_SEC: u64 = 3600;
        let next = |at_sec: &u64| Some(at_sec + (at_sec / HOUR_SEC).max(1));
        let times = std::iter::successors(Some(0), next).take_while(|at_sec| *at_sec <= 12 * HOUR_SEC);
        let counters = counters(&times.map(|at_sec| (at_sec, at_sec)).collect::<Vec<_>>());
        let mut track = Track::new(Source::Tcp);
        counters.iter().for_each(|(at_ns, counters)| track.push(*at_ns, counters));
        track.sort();
        let hours = |from: f64, to: f64| {
            let ns = |hours: f64| (hours * 3600e9) as u64;
            track.per_sec(tcp::ESTABLISHED, Span { from_ns: ns(from), to_ns: ns(to) })
        };
        assert_eq!((hours(0.0, 12.0), hours(11.0, 11.5)), (Some(1.0), Some(1.0)));
    }

    #[test]
    fn a_gap_in_a_long_run_is_one_all_the_same() {
        let reads = [(36_000, 0), (36_010, 10), (36_100, 100), (36_110, 110)];
        assert_eq!(per_sec(&reads, 36_000.0, 36_010.0), Some(1.0));
        assert_eq!(per_sec(&reads, 36_020.0, 36_090.0), None);
    }

    #[test]
    fn two_probes_read_one_counter_or_two() {
        let same = |a: &[(u64, u64)], b: &[(u64, u64)]| {
            let (of_a, of_b) = (counters(a), counters(b));
            let (mut a, mut b) = (Track::new(Source::Tcp), Track::new(Source::Tcp));
            of_a.iter().for_each(|(at_ns, counters)| a.push(*at_ns, counters));
            of_b.iter().for_each(|(at_ns, counters)| b.push(*at_ns, counters));
            a.counts_the_same(&b, tcp::ESTABLISHED)
        };
        assert!(same(&[(1, 10), (3, 30), (5, 50)], &[(2, 20), (4, 40)]));
        assert!(!same(&[(1, 10), (3, 30), (5, 50)], &[(2, 70), (4, 90)]), "one began with more");
        assert!(!same(&[(2, 70), (4, 90)], &[(1, 10), (3, 30), (5, 50)]), "whichever is first");
        assert!(!same(&[(0, 0), (2, 10), (5, 20)], &[(0, 0), (2, 50), (5, 90)]), "one grew faster");
    }

    #[test]
    fn what_could_not_be_read_for_a_while_grew_between_the_reads_around_it() {
        let counters = counters(&[(0, 0), (1, 0), (9, 80), (20, 900)]);
        let mut track = Track::new(Source::Tcp);
        counters.iter().for_each(|(at_ns, counters)| track.push(*at_ns, counters));
        let around = |from_sec: u64, to_sec: u64| {
            track.per_sec_around(
                tcp::ESTABLISHED,
                Span { from_ns: from_sec * SECOND_NS, to_ns: to_sec * SECOND_NS },
            )
        };
        assert_eq!(around(2, 5), Some(10.0), "what came later is not of that time");
        assert_eq!(around(12, 25), Some(820.0 / 11.0), "the last read is as near as any");
        assert_eq!(around(21, 25), None);
    }

    #[test]
    fn a_gauge_is_that_of_its_span_or_of_a_read_near_to_it() {
        let counters = counters(&[(0, 4), (1, 6), (5, 100)]);
        let mut track = Track::new(Source::Tcp);
        counters.iter().for_each(|(at_ns, counters)| track.push(*at_ns, counters));
        let span = |from_ms: u64, to_ms: u64| Span { from_ns: from_ms * 1_000_000, to_ns: to_ms * 1_000_000 };
        assert_eq!(track.mean(tcp::ESTABLISHED, span(0, 1500)), Some(5.0));
        assert_eq!(track.most(tcp::ESTABLISHED, span(0, 1500)), Some(6.0));
        assert_eq!(track.mean(tcp::ESTABLISHED, span(1500, 1800)), Some(6.0));
        assert_eq!(track.mean(tcp::ESTABLISHED, span(2500, 3500)), None);
        assert_eq!(track.mean(tcp::TIMEOUTS, span(0, 1500)), None);
    }
}
