//! The order of the queries, and what is kept of their answers.

use plimsoll_analyze::{AmountUnit, ProductionKind, ProductionSeries, ResourceSeries};

use crate::answer::{Answer, LabelledSeries, Labels};
use crate::client::Client;
use crate::defaults::{CapacityOf, DEFAULTS, DefaultResource, REPLICAS, filled, selector};
use crate::error::QueryError;
use crate::promql::{is_raw_counter, matchers, window};
use crate::span::{Span, SpanError};

/// The window where the query of the rate has none, as that of a recording rule.
const USUAL_WINDOW: (&str, f64) = ("5m", 300.0);
/// After so many parts in a row that failed, the rest of a query is not asked for.
const MAX_FAILED_PARTS: usize = 2;
/// What is above this is no capacity but the lack of one: cgroup v1 writes 2⁶³ where no limit is.
const MAX_CAPACITY: f64 = 1e18;

/// A resource of the user's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnResource {
    pub name: String,
    /// Its use, in PromQL; each series is an instance.
    pub query: String,
}

/// What is asked of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Requests per second, in PromQL; one series.
    pub rate: String,
    /// Matchers of labels, which the default resources have to meet; may be empty.
    pub selector: String,
    pub own: Vec<OwnResource>,
    /// False: only the user's own resources.
    pub defaults: bool,
    /// In seconds since 1970 (UTC).
    pub from_sec: f64,
    pub to_sec: f64,
    /// `None`: as [`Span::new`] chooses.
    pub step_sec: Option<f64>,
}

/// Why there is no rate, and so nothing to explain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnreadableRate {
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
}

impl UnreadableRate {
    /// True if what the user typed is wrong.
    pub fn is_mistake(&self) -> bool {
        match self {
            Self::Query(error) => error.is_mistake(),
            Self::Span(_) | Self::Several { .. } | Self::Counter { .. } => true,
            Self::Empty { .. } => false,
        }
    }
}

/// What was not read as asked for, or is to be known besides.
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
    #[error("`{query}` gives no value in this time")]
    NoOwn { query: String },
    #[error("Prometheus warns: {0}")]
    Warning(String),
    #[error("the number of replicas changed: {0}")]
    Replicas(String),
}

/// Everything that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    pub series: ProductionSeries,
    pub notes: Vec<ReadingNote>,
    /// How many queries it took.
    pub queries: usize,
}

/// Reads the rate and the use of resources. `progress` is called before each query, with what is asked for.
///
/// # Errors
/// When the rate cannot be read. Anything else that cannot is a note.
pub fn read(
    client: &Client,
    question: &Question,
    progress: &mut dyn FnMut(&str),
) -> Result<Reading, UnreadableRate> {
    let window = window(&question.rate).unwrap_or(USUAL_WINDOW);
    let span = Span::new(question.from_sec, question.to_sec, question.step_sec, window.1)?;
    let mut reader = Reader { client, span, window: window.0, progress, notes: Vec::new(), queries: 0 };
    let rate = reader.rate(&question.rate)?;
    let mut resources = Vec::new();
    for own in &question.own {
        resources.extend(reader.own(own));
    }
    if question.defaults {
        resources.extend(reader.defaults(matchers(&question.selector)));
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
}

/// The values of a series at the instants of a span.
struct Aligned {
    labels: Labels,
    values: Vec<Option<f64>>,
}

impl Reader<'_> {
    fn rate(&mut self, query: &str) -> Result<Vec<Option<f64>>, UnreadableRate> {
        let mut found = self.over_span("the rate of requests", query)?;
        let query = query.to_owned();
        match found.len() {
            0 => Err(UnreadableRate::Empty { query }),
            1 => {
                let values = found.swap_remove(0).values;
                if is_raw_counter(&query, &values) {
                    Err(UnreadableRate::Counter { query })
                } else {
                    Ok(values)
                }
            }
            count => Err(UnreadableRate::Several { query, count }),
        }
    }

    fn own(&mut self, own: &OwnResource) -> Vec<ResourceSeries> {
        let found = match self.over_span(&own.name, &own.query) {
            Ok(found) => found,
            Err(why) => {
                self.notes.push(ReadingNote::Unread { what: own.name.clone(), why });
                return Vec::new();
            }
        };
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
            usage: series.values,
            capacity: None,
        };
        found.into_iter().map(one).collect()
    }

    /// The resources whose metrics are there.
    fn defaults(&mut self, matchers: &str) -> Vec<ResourceSeries> {
        self.begin("which metrics are there");
        let there = match self.client.metric_names(&selector(matchers), self.span) {
            Ok(answer) => self.unwarned(answer),
            Err(why) => {
                self.notes.push(ReadingNote::Unread { what: "the list of metrics".to_owned(), why });
                return Vec::new();
            }
        };
        let is_there = |metric: &str| there.iter().any(|name| name == metric);
        let kinds: Vec<&DefaultResource> = DEFAULTS.iter().filter(|one| is_there(one.metric)).collect();
        if kinds.is_empty() {
            let with = if matchers.is_empty() { String::new() } else { format!(" with {matchers}") };
            self.notes.push(ReadingNote::NoDefaults { with });
        }
        let mut found = Vec::new();
        for kind in &kinds {
            match self.of_kind(kind, matchers) {
                Ok(resources) => found.extend(resources),
                Err(why) => {
                    let is_final = why.is_final();
                    self.notes.push(ReadingNote::Unread { what: kind.kind.name().to_owned(), why });
                    if is_final {
                        break;
                    }
                }
            }
        }
        self.note_missing(&kinds, &found);
        if is_there(REPLICAS) {
            self.replicas(matchers);
        }
        found
    }

    /// Notes each metric that is there and gave nothing. One of throttling has no value where there is no quota.
    fn note_missing(&mut self, kinds: &[&DefaultResource], found: &[ResourceSeries]) {
        for kind in kinds.iter().filter(|kind| kind.kind != ProductionKind::ContainerThrottled) {
            let is_unread = |note: &ReadingNote| matches!(note, ReadingNote::Unread { what, .. } if what == kind.kind.name());
            if found.iter().any(|resource| resource.kind == kind.kind) || self.notes.iter().any(is_unread) {
                continue;
            }
            let note =
                ReadingNote::NoValues { metric: kind.metric.to_owned(), window: self.window.to_owned() };
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }

    fn of_kind(&mut self, kind: &DefaultResource, matchers: &str) -> Result<Vec<ResourceSeries>, QueryError> {
        let what = kind.kind.name();
        let found = self.over_span(what, &filled(kind.usage, self.window, matchers))?;
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let capacities = match kind.capacity {
            CapacityOf::Query(query) => self.at_end(what, &filled(query, self.window, matchers)),
            CapacityOf::Known(_) | CapacityOf::Nothing => Vec::new(),
        };
        let labels: Vec<&str> = kind.of.iter().chain(kind.instance).copied().collect();
        let capacity_of = |own: &Labels| match kind.capacity {
            CapacityOf::Known(capacity) => Some(capacity),
            _ => capacities.iter().find_map(|(theirs, capacity)| {
                labels.iter().all(|label| own.get(*label) == theirs.get(*label)).then_some(*capacity)
            }),
        };
        let one = |series: Aligned| ResourceSeries {
            kind: kind.kind,
            of: joined(&series.labels, kind.of, "/").unwrap_or_default(),
            instance: joined(&series.labels, kind.instance, " "),
            unit: kind.unit,
            capacity: capacity_of(&series.labels),
            usage: series.values,
        };
        Ok(found.into_iter().map(one).collect())
    }

    /// The values of capacities at the end of the span; none where they cannot be read, which is noted.
    fn at_end(&mut self, what: &str, query: &str) -> Vec<(Labels, f64)> {
        let what = format!("the capacity of {what}");
        self.begin(&what);
        let answer = match self.client.instant(query, self.span.end_sec()) {
            Ok(answer) => self.unwarned(answer),
            Err(why) => {
                self.notes.push(ReadingNote::Unread { what, why });
                return Vec::new();
            }
        };
        let value = |series: LabelledSeries| Some((series.labels, series.samples.first()?.1));
        let is_capacity = |(_, value): &(Labels, f64)| *value > 0.0 && *value < MAX_CAPACITY;
        answer.into_iter().filter_map(value).filter(is_capacity).collect()
    }

    /// Notes which deployments were scaled.
    fn replicas(&mut self, matchers: &str) {
        let over = format!("[{:.0}s]", self.span.end_sec() - self.span.start_sec);
        let least = self.at_end("replicas", &format!("min_over_time({REPLICAS}{{{matchers}}}{over})"));
        let most = self.at_end("replicas", &format!("max_over_time({REPLICAS}{{{matchers}}}{over})"));
        for (labels, most) in most {
            let of_same = least.iter().find(|(theirs, _)| *theirs == labels);
            if let Some((_, least)) = of_same.filter(|(_, least)| *least < most) {
                let name = joined(&labels, &["namespace", "deployment"], "/").unwrap_or_default();
                self.notes.push(ReadingNote::Replicas(format!("{name} had {least} to {most}")));
            }
        }
    }

    /// The series of a query over the whole span, part by part. A part that fails is noted and leaves a gap; if none succeeds,
    /// that is an error.
    fn over_span(&mut self, what: &str, query: &str) -> Result<Vec<Aligned>, QueryError> {
        let parts: Vec<Span> = self.span.parts().collect();
        let mut found: Vec<Aligned> = Vec::new();
        let mut failed: Vec<Span> = Vec::new();
        let (mut in_a_row, mut reason) = (0, None);
        for (at, part) in parts.iter().enumerate() {
            self.begin(what);
            match self.client.range(query, *part) {
                Ok(answer) => {
                    let series = self.unwarned(answer);
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
            Some(why) if failed.len() == parts.len() => return Err(why),
            Some(why) => {
                let instants: usize = failed.iter().map(|part| part.instants).sum();
                let hours = instants as f64 * self.span.step_sec / 3_600.0;
                let (parts, all) = (failed.len(), parts.len());
                self.notes.push(ReadingNote::Parts { what: what.to_owned(), parts, all, hours, why });
            }
            None => {}
        }
        Ok(found)
    }

    /// Puts the samples of a part in their places.
    fn add(&self, found: &mut Vec<Aligned>, series: Vec<LabelledSeries>) {
        for one in series {
            let at = found.iter().position(|known| known.labels == one.labels).unwrap_or_else(|| {
                found.push(Aligned { labels: one.labels.clone(), values: vec![None; self.span.instants] });
                found.len() - 1
            });
            for (at_sec, value) in one.samples {
                if let Some(place) = self.span.place(at_sec) {
                    found[at].values[place] = Some(value);
                }
            }
        }
    }

    fn begin(&mut self, what: &str) {
        self.queries += 1;
        (self.progress)(what);
    }

    /// The content; warnings become notes, each once.
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

/// The values of these labels; `None` if there is none.
fn joined(labels: &Labels, names: &[&str], separator: &str) -> Option<String> {
    let values: Vec<&str> = names.iter().filter_map(|name| labels.get(*name)).map(String::as_str).collect();
    (!values.is_empty()).then(|| values.join(separator))
}
