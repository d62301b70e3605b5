//! Runs the queries in order, and converts their answers.

use std::collections::{BTreeMap, HashMap};

use plimsoll_analyze::{
    AmountUnit, ProductionKind, ProductionSeries, ResourceSeries, counter_name, only_rises,
};

use crate::answer::{Answer, LabelledSeries, Labels};
use crate::client::Client;
use crate::defaults::{CapacityOf, DEFAULTS, DefaultResource, REPLICAS, filled, selectors};
use crate::error::QueryError;
use crate::matchers::Matchers;
use crate::promql::{has_changes, momentary, raw_metrics, window};
use crate::span::{Span, SpanError};

/// The window if the query of the rate has none, as with a recording rule.
const USUAL_WINDOW: (&str, f64) = ("5m", 300.0);
/// After this many failed parts in a row, the remaining parts of a query are skipped.
const MAX_FAILED_PARTS: usize = 2;
/// With fewer values, a rate may rise throughout by chance.
const MIN_COUNTER_VALUES: usize = 20;
/// A metric named like a counter is taken for one if it rises in this ratio of steps, because some gauges have such names too.
const NAMED_COUNTER_RISES: f64 = 0.25;
/// A larger capacity means that there is no limit: cgroup v1 then writes 2⁶³.
const MAX_CAPACITY: f64 = 1e18;
/// An interface that carried more than this multiple of its speed reports a false speed. `rate()` itself may be slightly too
/// high, because it extrapolates to the ends of its window.
const MAX_OF_SPEED: f64 = 1.2;

/// A resource that the user defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnResource {
    pub name: String,
    /// Its use, in PromQL; each series is an instance.
    pub query: String,
}

/// What to read from a server.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Requests per second, in PromQL; one series.
    pub rate: String,
    /// Label matchers for the default resources; may be empty.
    pub selector: String,
    pub own: Vec<OwnResource>,
    /// Whether to read the default resources, or only those that the user defines.
    pub defaults: bool,
    /// Beginning and end of the period, in seconds since 1970 (UTC).
    pub from_sec: f64,
    pub to_sec: f64,
    /// The distance of instants; `None` to let [`Span::new`] choose.
    pub step_sec: Option<f64>,
}

/// Why there is nothing to explain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error(transparent)]
    Span(#[from] SpanError),
    #[error(transparent)]
    Query(#[from] QueryError),
    #[error(
        "`{query}` gives no value in this time; see in Prometheus's own page that it does, and that its window holds two scrapes"
    )]
    Empty { query: String },
    #[error("`{query}` gives {count} series, and the rate of requests is one; write sum(…) around it")]
    Several { query: String, count: usize },
    #[error("`{query}` is a counter and no rate; write sum(rate({query}[1m]))")]
    Counter { query: String },
    #[error(
        "`{query}` takes the last two scrapes of each window ({function}), and the use of resources is a mean over it; write rate(…)"
    )]
    Momentary { query: String, function: &'static str },
    #[error(
        "`{query}`, given for {what}, takes the counter {metric} as it is, which only rises: wrap it in rate(), as \
         rate({metric}[1m])"
    )]
    RawCounter { what: String, query: String, metric: String },
}

impl ReadError {
    /// Whether the user's input is wrong.
    pub fn is_mistake(&self) -> bool {
        match self {
            Self::Query(error) => error.is_mistake(),
            Self::Span(_)
            | Self::Several { .. }
            | Self::Counter { .. }
            | Self::Momentary { .. }
            | Self::RawCounter { .. } => true,
            Self::Empty { .. } => false,
        }
    }
}

/// Something that was not read as requested, or that the user should know.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ReadingNote {
    #[error("{what} is not read: {why}")]
    Unread { what: String, why: QueryError },
    #[error("{what} is read without {parts} of {all} parts, {hours:.1} hours: {why}")]
    Parts { what: String, parts: usize, all: usize, hours: f64, why: QueryError },
    #[error(
        "{metric} is there and gives no value: a window of {window} may hold no two scrapes, so that --rate needs a longer one, or \
         its labels are others"
    )]
    NoValues { metric: String, window: String },
    #[error(
        "none of the metrics of node_exporter, cAdvisor or a client library is there{with}; name resources with --resource NAME='QUERY'"
    )]
    NoDefaults { with: String },
    #[error(
        "hosts are read without {matchers}, which is of containers: all those that this Prometheus knows"
    )]
    HostsWithout { matchers: String },
    #[error("no metric of node_exporter is there with {matchers}, so that no host is read")]
    NoHosts { matchers: String },
    #[error("not asked for after that: {kinds}")]
    NotAsked { kinds: String },
    #[error("`{query}` gives no value in this time")]
    NoOwn { query: String },
    #[error(
        "no capacity of {what} is recorded in this time; state what there is with --capacity, as --capacity {name}=VALUE"
    )]
    NoCapacity { what: String, name: String },
    #[error("Prometheus warns: {0}")]
    Warning(String),
    #[error("the number of replicas changed: {0}")]
    Replicas(String),
}

/// All data that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    pub series: ProductionSeries,
    pub notes: Vec<ReadingNote>,
    /// The number of queries.
    pub queries: usize,
}

impl Reading {
    /// Returns the default kinds of resources of which nothing was read, or a part could not be read.
    pub fn lacking_kinds(&self) -> Vec<ProductionKind> {
        let resources = &self.series.resources;
        let is_there = |kind: ProductionKind| resources.iter().any(|resource| resource.kind == kind);
        let is_lacking = |kind: &ProductionKind| !is_there(*kind) || is_unread(&self.notes, kind.name());
        DEFAULTS.iter().map(|one| one.kind).filter(is_lacking).collect()
    }
}

/// Reads the rate and the use of resources. `progress` is called before each query with a description of it.
///
/// # Errors
/// When the rate cannot be read, the query of a user-defined resource is wrong or a raw counter, or the server is unreachable or
/// stops answering. Any other failure becomes a note.
pub fn read(
    client: &Client,
    question: &Question,
    progress: &mut dyn FnMut(&str),
) -> Result<Reading, ReadError> {
    if let Some(function) = momentary(&question.rate) {
        return Err(ReadError::Momentary { query: question.rate.clone(), function });
    }
    let window = window(&question.rate).unwrap_or((USUAL_WINDOW.0.into(), USUAL_WINDOW.1));
    let span = Span::new(question.from_sec, question.to_sec, question.step_sec, window.1)?;
    let mut reader = Reader {
        client,
        span,
        window: &window.0,
        progress,
        notes: Vec::new(),
        queries: 0,
        is_answering: false,
    };
    let rate = reader.rate(&question.rate)?;
    let mut resources = Vec::new();
    for own in &question.own {
        resources.extend(reader.own(own)?);
    }
    if question.defaults {
        resources.extend(reader.defaults(&Matchers::new(&question.selector))?);
    }
    let series = ProductionSeries {
        start_sec: span.start_sec,
        step_sec: span.step_sec,
        rate_per_sec: rate,
        resources,
    };
    Ok(Reading { series, notes: reader.notes, queries: reader.queries })
}

struct Reader<'a> {
    client: &'a Client,
    span: Span,
    window: &'a str,
    progress: &'a mut dyn FnMut(&str),
    notes: Vec<ReadingNote>,
    queries: usize,
    /// Whether the server has answered a query.
    is_answering: bool,
}

/// The result of one query. The outer error means that the server is unreachable for any query.
type Asked<T> = Result<Result<T, QueryError>, QueryError>;

/// The capacities of a resource, by the values of the labels of its instances.
type Capacities = HashMap<Vec<Option<String>>, f64>;

/// The values of a series at the instants of a span.
struct Aligned {
    labels: Labels,
    values: Vec<Option<f64>>,
}

impl Reader<'_> {
    fn rate(&mut self, query: &str) -> Result<Vec<Option<f64>>, ReadError> {
        let what = "the rate of requests";
        let mut found = self.over_span(what, query)??;
        self.refuse_counter(what, query, &found)?;
        let query = query.to_owned();
        match found.len() {
            0 => Err(ReadError::Empty { query }),
            1 => {
                let values = found.swap_remove(0).values;
                // Independent of the name: a recording rule may sum up counters.
                let is_long = values.iter().flatten().count() >= MIN_COUNTER_VALUES;
                if is_long && only_rises(&values, 0.5) && !has_changes(&query) {
                    Err(ReadError::Counter { query })
                } else {
                    Ok(values)
                }
            }
            count => Err(ReadError::Several { query, count }),
        }
    }

    fn own(&mut self, own: &OwnResource) -> Result<Vec<ResourceSeries>, ReadError> {
        let found = match self.over_span(&own.name, &own.query)? {
            Ok(found) => found,
            Err(why) if why.is_mistake() => return Err(why.into()),
            Err(why) => {
                self.notes.push(ReadingNote::Unread { what: own.name.clone(), why });
                return Ok(Vec::new());
            }
        };
        self.refuse_counter(&own.name, &own.query, &found)?;
        if found.is_empty() {
            self.notes.push(ReadingNote::NoOwn { query: own.query.clone() });
        }
        let one = |series: Aligned| ResourceSeries {
            kind: ProductionKind::Named,
            of: own.name.clone(),
            instance: joined(
                &series.labels,
                &series.labels.keys().map(String::as_str).collect::<Vec<_>>(),
                ", ",
            ),
            unit: AmountUnit::Count,
            scale: 1.0,
            usage: series.values,
            capacity: None,
        };
        Ok(found.into_iter().map(one).collect())
    }

    /// Fails if a series only rises, and the query uses a counter as a raw value. The server's metadata says what is a counter, or
    /// the metric's name if there is none.
    fn refuse_counter(&mut self, what: &str, query: &str, found: &[Aligned]) -> Result<(), ReadError> {
        let rises = |share: f64| found.iter().any(|series| only_rises(&series.values, share));
        if !rises(0.0) {
            return Ok(());
        }
        for metric in raw_metrics(query) {
            let is_counter = match self.is_counter(&metric)? {
                Some(is_counter) => is_counter,
                None => counter_name(&metric).is_some() && rises(NAMED_COUNTER_RISES),
            };
            if is_counter {
                let (what, query) = (what.to_owned(), query.to_owned());
                return Err(ReadError::RawCounter { what, query, metric });
            }
        }
        Ok(())
    }

    /// Whether the server's metadata lists a metric as a counter, or as the count, the sum or a bucket of a histogram or a summary; `None`
    /// without metadata.
    fn is_counter(&mut self, metric: &str) -> Result<Option<bool>, QueryError> {
        let family = metric.rsplit_once('_').filter(|_| counter_name(metric).is_some());
        for name in [Some(metric), family.map(|(family, _)| family)].into_iter().flatten() {
            let kind = self.ask("the types of metrics", |client| client.metric_type(name))?;
            // A server without this part of the API counts as one without metadata.
            if let Ok(Some(kind)) = kind {
                let is_part = name != metric && matches!(kind.as_str(), "histogram" | "summary");
                return Ok(match kind.as_str() {
                    "unknown" | "untyped" => None,
                    kind => Some(kind == "counter" || is_part),
                });
            }
        }
        Ok(None)
    }

    /// Reads the default resources whose metrics exist.
    fn defaults(&mut self, matchers: &Matchers) -> Result<Vec<ResourceSeries>, QueryError> {
        let (all, span) = (selectors(matchers), self.span);
        let there = match self.ask("which metrics are there", |client| client.metric_names(&all, span))? {
            Ok(there) => there,
            Err(why) => {
                self.notes.push(ReadingNote::Unread { what: "the list of metrics".to_owned(), why });
                return Ok(Vec::new());
            }
        };
        let is_there = |metric: &str| there.iter().any(|name| name == metric);
        let kinds: Vec<&DefaultResource> = DEFAULTS.iter().filter(|one| is_there(one.metric)).collect();
        if kinds.is_empty() {
            let all = &matchers.all;
            let with = if all.is_empty() { String::new() } else { format!(" with {all}") };
            self.notes.push(ReadingNote::NoDefaults { with });
        }
        self.note_hosts(&kinds, matchers);
        let mut found = Vec::new();
        for (at, kind) in kinds.iter().enumerate() {
            match self.of_kind(kind, matchers)? {
                Ok(resources) => found.extend(resources),
                Err(why) => {
                    let is_final = why.is_final();
                    self.notes.push(ReadingNote::Unread { what: kind.kind.name().to_owned(), why });
                    if is_final {
                        self.note_not_asked(&kinds[at + 1..]);
                        self.note_missing(&kinds[..at], &found);
                        return Ok(found);
                    }
                }
            }
        }
        self.note_missing(&kinds, &found);
        if is_there(REPLICAS) {
            self.replicas(&matchers.all)?;
        }
        Ok(found)
    }

    /// Notes the kinds that remain unread after a query whose failure is final.
    fn note_not_asked(&mut self, kinds: &[&DefaultResource]) {
        let mut names: Vec<&str> = kinds.iter().map(|kind| kind.kind.name()).collect();
        names.dedup();
        if !names.is_empty() {
            self.notes.push(ReadingNote::NotAsked { kinds: names.join(", ") });
        }
    }

    /// Notes the matchers that are not applied to hosts, or that no host matches the remaining ones.
    fn note_hosts(&mut self, kinds: &[&DefaultResource], matchers: &Matchers) {
        let has_hosts = kinds.iter().any(|kind| kind.is_of_host());
        if has_hosts && !matchers.not_of_hosts.is_empty() {
            self.notes.push(ReadingNote::HostsWithout { matchers: matchers.not_of_hosts.clone() });
        }
        if !has_hosts && !kinds.is_empty() && !matchers.hosts.is_empty() {
            self.notes.push(ReadingNote::NoHosts { matchers: matchers.hosts.clone() });
        }
    }

    /// Notes each metric that exists but yielded nothing. Throttling is exempt: it has no value without a quota.
    fn note_missing(&mut self, kinds: &[&DefaultResource], found: &[ResourceSeries]) {
        for kind in kinds.iter().filter(|kind| kind.kind != ProductionKind::ContainerThrottled) {
            let is_found = found.iter().any(|resource| resource.kind == kind.kind);
            if is_found || is_unread(&self.notes, kind.kind.name()) {
                continue;
            }
            let note =
                ReadingNote::NoValues { metric: kind.metric.to_owned(), window: self.window.to_owned() };
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }

    fn of_kind(&mut self, kind: &DefaultResource, matchers: &Matchers) -> Asked<Vec<ResourceSeries>> {
        let what = kind.kind.name();
        let found = match self.over_span(what, &filled(kind.usage, self.window, matchers))? {
            Ok(found) if !found.is_empty() => found,
            other => return Ok(other.map(|_| Vec::new())),
        };
        let labels: Vec<&str> = kind.of.iter().chain(kind.instance).copied().collect();
        let capacities = match kind.capacity {
            CapacityOf::Query(query) => {
                self.capacities(what, &filled(query, self.window, matchers), &labels)?
            }
            CapacityOf::Known(_) | CapacityOf::Nothing => Capacities::new(),
        };
        let capacity_of = |own: &Labels| match kind.capacity {
            CapacityOf::Known(capacity) => Some(capacity),
            CapacityOf::Query(_) | CapacityOf::Nothing => capacities.get(&values_of(own, &labels)).copied(),
        };
        let one = |series: Aligned| ResourceSeries {
            kind: kind.kind,
            of: joined(&series.labels, kind.of, "/").unwrap_or_default(),
            instance: joined(&series.labels, kind.instance, " "),
            unit: kind.unit,
            scale: 1.0,
            capacity: capacity_of(&series.labels)
                .filter(|capacity| !is_false_speed(kind, *capacity, &series.values)),
            usage: series.values,
        };
        let resources: Vec<ResourceSeries> = found.into_iter().map(one).collect();
        if matches!(kind.capacity, CapacityOf::Query(_)) && capacities.is_empty() {
            self.note_no_capacity(what, &resources);
        }
        Ok(Ok(resources))
    }

    /// Returns the last capacity of each instance within the span, by these of its labels. An instance that has ended has none at the end.
    fn capacities(&mut self, what: &str, query: &str, labels: &[&str]) -> Result<Capacities, QueryError> {
        let (step_ms, length_ms) = self.span.last_over_ms();
        let query = format!("last_over_time(({query})[{length_ms}ms:{step_ms}ms])");
        let found = self.at_end(&capacity_name(what), &query)?;
        let is_capacity = |value: f64| value > 0.0 && value < MAX_CAPACITY;
        let known = found.into_iter().filter(|(_, capacity)| is_capacity(*capacity));
        Ok(known.map(|(theirs, capacity)| (values_of(&theirs, labels), capacity)).collect())
    }

    /// Notes that a kind of resource has no capacity, unless a note already says that it could not be read.
    fn note_no_capacity(&mut self, what: &str, resources: &[ResourceSeries]) {
        if let Some(first) = resources.first().filter(|_| !is_unread(&self.notes, &capacity_name(what))) {
            self.notes.push(ReadingNote::NoCapacity { what: what.to_owned(), name: first.name() });
        }
    }

    /// Returns the values of a query at the end of the span; none if they cannot be read, which is noted.
    fn at_end(&mut self, what: &str, query: &str) -> Result<Vec<(Labels, f64)>, QueryError> {
        let at_sec = self.span.end_sec();
        let answer = match self.ask(what, |client| client.instant(query, at_sec))? {
            Ok(answer) => answer,
            Err(why) => {
                self.notes.push(ReadingNote::Unread { what: what.to_owned(), why });
                return Ok(Vec::new());
            }
        };
        let value = |series: LabelledSeries| Some((series.labels, series.samples.first()?.1));
        Ok(answer.into_iter().filter_map(value).collect())
    }

    /// Notes the deployments that were scaled.
    fn replicas(&mut self, matchers: &str) -> Result<(), QueryError> {
        let what = "the number of replicas";
        let over = format!("[{:.0}s]", self.span.end_sec() - self.span.start_sec);
        let least = self.at_end(what, &format!("min_over_time({REPLICAS}{{{matchers}}}{over})"))?;
        let most = self.at_end(what, &format!("max_over_time({REPLICAS}{{{matchers}}}{over})"))?;
        for (labels, most) in most {
            let of_same = least.iter().find(|(theirs, _)| *theirs == labels);
            if let Some((_, least)) = of_same.filter(|(_, least)| *least < most) {
                let name = joined(&labels, &["namespace", "deployment"], "/").unwrap_or_default();
                self.notes.push(ReadingNote::Replicas(format!("{name} had {least} to {most}")));
            }
        }
        Ok(())
    }

    /// Reads the series of a query over the whole span, part by part. A part that fails is noted and leaves a gap. If none succeeds,
    /// that is an error.
    fn over_span(&mut self, what: &str, query: &str) -> Asked<Vec<Aligned>> {
        let parts: Vec<Span> = self.span.parts().collect();
        let mut found: BTreeMap<Labels, Vec<Option<f64>>> = BTreeMap::new();
        let mut failed: Vec<Span> = Vec::new();
        let (mut in_a_row, mut reason) = (0, None);
        for (at, part) in parts.iter().enumerate() {
            match self.ask(what, |client| client.range(query, *part))? {
                Ok(series) => {
                    self.add(&mut found, series);
                    in_a_row = 0;
                }
                Err(why) => {
                    in_a_row += 1;
                    let is_over = in_a_row == MAX_FAILED_PARTS || why.is_final() || why.is_mistake();
                    failed.extend(if is_over { &parts[at..] } else { &parts[at..=at] });
                    reason = Some(why);
                    if is_over {
                        break;
                    }
                }
            }
        }
        match reason {
            Some(why) if failed.len() == parts.len() => return Ok(Err(why)),
            Some(why) => {
                let instants: usize = failed.iter().map(|part| part.instants).sum();
                let hours = instants as f64 * self.span.step_sec / 3_600.0;
                let (parts, all) = (failed.len(), parts.len());
                self.notes.push(ReadingNote::Parts { what: what.to_owned(), parts, all, hours, why });
            }
            None => {}
        }
        Ok(Ok(found.into_iter().map(|(labels, values)| Aligned { labels, values }).collect()))
    }

    /// Adds the samples of a part at their indexes.
    fn add(&self, found: &mut BTreeMap<Labels, Vec<Option<f64>>>, series: Vec<LabelledSeries>) {
        for one in series {
            let values = found.entry(one.labels).or_insert_with(|| vec![None; self.span.instants]);
            for (at_sec, value) in one.samples {
                if let Some(place) = self.span.place(at_sec) {
                    values[place] = Some(value);
                }
            }
        }
    }

    /// Runs one query. A server that lets a query time out may be busy with it, or gone. If it answered before, this function checks
    /// whether it still answers.
    fn ask<T>(
        &mut self,
        what: &str,
        query: impl FnOnce(&Client) -> Result<Answer<T>, QueryError>,
    ) -> Asked<T> {
        self.queries += 1;
        (self.progress)(what);
        match query(self.client) {
            Ok(answer) => {
                self.is_answering = true;
                Ok(Ok(self.unwarned(answer)))
            }
            Err(why) if why.is_without_connection() => Err(why),
            Err(why @ QueryError::Late { .. }) if !self.is_answering => Err(why),
            Err(why @ QueryError::Late { .. }) => self.client.check_alive().map(|()| Err(why)),
            Err(why) => Ok(Err(why)),
        }
    }

    /// Returns the content. Each warning becomes a note, once.
    fn unwarned<T>(&mut self, answer: Answer<T>) -> T {
        for warning in answer.warnings {
            let note = ReadingNote::Warning(warning);
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        answer.content
    }
}

/// Whether a note says that `name` could not be read.
fn is_unread(notes: &[ReadingNote], name: &str) -> bool {
    notes.iter().any(|note| matches!(note, ReadingNote::Unread { what, .. } if what == name))
}

/// Joins the values of these labels; `None` if there are none.
fn joined(labels: &Labels, names: &[&str], separator: &str) -> Option<String> {
    let values: Vec<&str> = names.iter().filter_map(|name| labels.get(*name)).map(String::as_str).collect();
    (!values.is_empty()).then(|| values.join(separator))
}

/// Whether a speed is false, because the interface carried clearly more.
fn is_false_speed(kind: &DefaultResource, capacity: f64, usage: &[Option<f64>]) -> bool {
    kind.unit == AmountUnit::BitsPerSec && usage.iter().flatten().any(|used| *used > MAX_OF_SPEED * capacity)
}

/// Returns the values of these labels; `None` for each missing one.
fn values_of(labels: &Labels, names: &[&str]) -> Vec<Option<String>> {
    names.iter().map(|name| labels.get(*name).cloned()).collect()
}

/// Returns the name of a capacity in notes.
fn capacity_name(what: &str) -> String {
    format!("the capacity of {what}")
}
