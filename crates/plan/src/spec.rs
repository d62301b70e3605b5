//! The plan as typed, and the checks that turn it into a plan.

use std::time::Duration;

use plimsoll_http::asks_to_close;
use plimsoll_units::percent_text;

use crate::name::{checked_name, default_name};
use crate::overload_spec::reference_load;
use crate::profile::MAX_RATE;
use crate::target::parse_header;
use crate::transport::check_closing;
use crate::{
    ArrivalProcess, DriverKind, Generator, LadderSteps, Level, Load, Network, OverloadSpec, Plan, PlanError,
    PlanHost, RateProfile, RateSearchOrder, ScenarioSpec, Slo, Stage, Target, TargetError, TransportSpec,
    hosts, requests,
};

/// The load as typed.
#[derive(Debug, Clone, PartialEq)]
pub enum LoadSpec {
    Single {
        connections: Option<u64>,
        /// The offered rate over time of an open loop; `None` for a closed loop.
        profile: Option<RateProfile>,
        arrivals: ArrivalProcess,
        /// How long the level is held. `None` takes the time of the profile's stages; without stages 10 s, or with
        /// `requests_max` as long as the requests take.
        duration: Option<Duration>,
        /// The number of requests after which the level ends.
        requests_max: Option<u64>,
    },
    /// A ladder of closed-loop levels.
    Ladder {
        /// The levels as typed; `None` doubles from 1.
        steps: Option<Vec<u64>>,
        /// The longest time of one level; `None` takes an equal part of the budget, or 10 s without a budget.
        step_limit: Option<Duration>,
        /// The longest time of the whole ladder.
        budget: Option<Duration>,
    },
}

/// A plan as close to the flags as possible: nothing in it is checked yet.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanSpec {
    /// `None` takes the target's host and port.
    pub name: Option<String>,
    /// Empty if the requests of a file name the host.
    pub url: String,
    /// `None` takes GET, or POST if there is a body.
    pub method: Option<String>,
    /// As typed, `Name: value`.
    pub headers: Vec<String>,
    pub body: Option<Vec<u8>>,
    pub scenario: ScenarioSpec,
    pub network: Network,
    pub transport: TransportSpec,
    pub load: LoadSpec,
    /// The search for the highest rate within the conditions, after a ladder.
    pub search: Option<RateSearchOrder>,
    /// The overloads after the search. If their rate is given, there is neither ladder nor search.
    pub overload: Option<OverloadSpec>,
    /// The share of requests that are to carry a trace id, above 0 and at most 1; `None` for none.
    pub trace: Option<f64>,
    /// The longest time for which a load is held before the first step, until the target is warm; `None` holds none.
    pub warm: Option<Duration>,
    pub workers: Option<u64>,
    pub timeout: Duration,
    pub connections_max: Option<u64>,
    /// The most requests under way on one connection.
    pub depth: Option<u64>,
    pub seed: u64,
    /// `None` takes the better one that works.
    pub driver: Option<DriverKind>,
    pub slo: Slo,
    /// True if the user gave no condition, so that a search takes the conditions of [`Slo::reference`].
    pub slo_assumed: bool,
    pub hosts: Vec<PlanHost>,
    /// Headers whose values no document shows.
    pub redact: Vec<String>,
    /// The plan file's name for its requests.
    pub group: Option<String>,
}

type Result<T, E = PlanError> = std::result::Result<T, E>;

/// More connections than any machine opens.
const MAX_CONNECTIONS: u64 = 1_000_000;
/// The range of [`RateSearchOrder::tolerance`].
const MIN_TOLERANCE: f64 = 0.001;
const MAX_TOLERANCE: f64 = 0.5;
/// More threads than any machine has processors for.
pub const MAX_WORKERS: u64 = 1024;
const MAX_DEPTH: u64 = 10_000;
/// The most requests of one run: more than any run sends in a year.
const MAX_REQUESTS: u64 = 1_000_000_000_000_000;
const DEFAULT_CONNECTIONS: u32 = 10;
const DEFAULT_MAX_CONNECTIONS: u32 = 10_000;
/// The highest step of a ladder that doubles until it stops by itself.
const DEFAULT_MAX_DOUBLING: u32 = 16_384;
/// The highest step of a doubling ladder before a search: the ladder has to finish in half of the time.
const DEFAULT_MAX_BEFORE_SEARCH: u32 = 1024;
/// The number of steps that a budget allows for: a ladder that doubles from 1 to 16,384 has this many.
const STEPS_IN_BUDGET: u32 = 15;
const DEFAULT_DURATION: Duration = Duration::from_secs(10);
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
const DEFAULT_STEP_LIMIT: Duration = Duration::from_secs(10);
const MIN_STEP_LIMIT_MS: u64 = 100;
const MAX_TIME: Duration = Duration::from_secs(366 * 86_400);

fn count<T: TryFrom<u64>>(what: &'static str, value: u64, most: u64) -> Result<T> {
    let count = T::try_from(value).ok().filter(|_| (1..=most).contains(&value));
    count.ok_or_else(|| PlanError::range(what, value, format!("from 1 to {most}")))
}

fn connections(value: u64) -> Result<u32> {
    count("the number of connections", value, MAX_CONNECTIONS)
}

fn time(what: &'static str, value: Duration, least_ms: u64) -> Result<Duration> {
    if (Duration::from_millis(least_ms)..=MAX_TIME).contains(&value) {
        return Ok(value);
    }
    let expected = format!("at least {least_ms} ms and at most a year");
    Err(PlanError::range(what, format!("{value:?}"), expected))
}

/// Checks that every rate of a profile is within the limit, and that some request falls due.
fn check_rates(profile: &RateProfile) -> Result<()> {
    let allowed = |rate: f64| (0.0..=MAX_RATE).contains(&rate);
    let all_allowed = profile.stages().iter().flat_map(Stage::rates).all(allowed);
    let peak = profile.peak_per_sec();
    if all_allowed && allowed(peak) && peak > 0.0 && profile.mean_per_sec() > 0.0 {
        return Ok(());
    }
    Err(PlanError::range("the rate", profile, format!("above 0 and at most {MAX_RATE} a second")))
}

/// The time for which a level is held; it must equal the time of the stages, if both are given.
fn held(duration: Option<Duration>, stages: Option<Duration>, otherwise: Duration) -> Result<Duration> {
    if let (Some(duration), Some(stages)) = (duration, stages)
        && duration != stages
    {
        return Err(PlanError::Duration { duration, stages });
    }
    time("the duration", duration.or(stages).unwrap_or(otherwise), 100)
}

/// Checks that the share of traced requests is within its range, and that no request has a `traceparent` header of its own.
fn check_trace(plan: &Plan) -> Result<()> {
    let Some(share) = plan.trace else { return Ok(()) };
    if !(share > 0.0 && share <= 1.0) {
        return Err(PlanError::range("the share of traces", percent_text(share), "above 0 and at most 100%"));
    }
    let is_own = |(name, _): &(String, String)| name.eq_ignore_ascii_case("traceparent");
    match plan.mixed().iter().find(|request| request.headers.iter().any(is_own)) {
        Some(request) => Err(PlanError::OwnTrace { line: request.line }),
        None => Ok(()),
    }
}

/// Checks that the Connection headers of HTTP/1.1 requests agree with keep-alive and depth.
fn check_connections(plan: &Plan, depth: u16) -> Result<()> {
    if plan.http2 {
        return Ok(());
    }
    let mixed = plan.mixed();
    let headers = mixed.iter().map(|request| request.headers.as_slice());
    Ok(check_closing(headers, plan.network.keep_alive, depth)?)
}

fn checked_search(search: RateSearchOrder) -> Result<RateSearchOrder> {
    if (MIN_TOLERANCE..=MAX_TOLERANCE).contains(&search.tolerance) {
        return Ok(search);
    }
    let expected = format!("from {} to {}", percent_text(MIN_TOLERANCE), percent_text(MAX_TOLERANCE));
    Err(PlanError::range("the width of the interval", percent_text(search.tolerance), expected))
}

impl PlanSpec {
    /// A GET of this URL as if no flag were given.
    pub fn new(url: impl Into<String>, load: LoadSpec) -> Self {
        Self {
            name: None,
            url: url.into(),
            method: None,
            headers: Vec::new(),
            body: None,
            scenario: ScenarioSpec::default(),
            network: Network::default(),
            transport: TransportSpec::default(),
            load,
            search: None,
            overload: None,
            trace: None,
            warm: None,
            workers: None,
            timeout: DEFAULT_TIMEOUT,
            connections_max: None,
            depth: None,
            seed: 1,
            driver: None,
            slo: Slo::default(),
            slo_assumed: false,
            redact: Vec::new(),
            group: None,
            hosts: Vec::new(),
        }
    }

    /// Searches within the given conditions; [`Slo::reference`] fills in limits of latency and failures that are not given.
    pub fn search_within(&mut self, given: Slo) {
        self.slo_assumed = given.is_empty();
        self.slo = given.or_reference();
        self.timeout = self.timeout.max(OverloadSpec::least_patience(&self.slo));
    }

    /// Makes this load and nothing after it. If the user gave no condition, the conditions assumed for a search or an overload
    /// are removed.
    pub fn only(&mut self, load: LoadSpec) {
        (self.load, self.search) = (load, None);
        if self.overload.take().is_some() {
            self.timeout = DEFAULT_TIMEOUT;
        }
        if std::mem::take(&mut self.slo_assumed) {
            self.slo = Slo::default();
        }
    }

    /// Adds headers as typed; each replaces the plan's headers of the same name.
    pub fn lay_headers_over(&mut self, given: &[String]) {
        for header in given {
            let (name, value) = header.split_once(':').unwrap_or((header, ""));
            let is_other = |planned: &String| {
                let planned = planned.split(':').next().unwrap_or_default();
                !planned.trim().eq_ignore_ascii_case(name.trim())
            };
            let planned = self.headers.len();
            self.headers.retain(is_other);
            // A plan turns keep-alive off with this header.
            let is_replaced = planned > self.headers.len() && name.trim().eq_ignore_ascii_case("Connection");
            self.network.keep_alive |= is_replaced && !asks_to_close(value.as_bytes());
        }
        self.headers.extend_from_slice(given);
    }

    /// Sets conditions that take precedence over the plan's own. The timeout follows from them, so a timeout that the user gives
    /// has to be set after this call.
    pub fn judge_by(&mut self, given: Slo) {
        self.slo_assumed &= given.is_empty();
        self.slo = given.or(&self.slo);
        self.timeout = match self.overload {
            Some(_) => OverloadSpec::patience(&self.slo),
            None => self.timeout.max(OverloadSpec::least_patience(&self.slo)),
        };
    }

    /// Overloads the target after the load. [`Slo::reference`] fills in limits of latency and failures that the plan leaves open,
    /// requests time out after a few times the limit of latency, and a rate that is not given is searched for.
    pub fn overload_with(&mut self, overload: OverloadSpec) {
        self.slo_assumed |= self.slo.is_empty();
        self.slo = std::mem::take(&mut self.slo).or_reference();
        self.timeout = OverloadSpec::patience(&self.slo);
        self.search = overload.rate_per_sec.is_none().then(|| self.search.unwrap_or(OverloadSpec::SEARCH));
        self.overload = Some(overload);
    }

    /// Checks the plan and fills in what was left open.
    ///
    /// # Errors
    /// When the request cannot be encoded, or a number is outside its range.
    pub fn freeze(mut self) -> Result<Plan> {
        let http2 = self.transport.is_http2();
        let (target, groups, mix) = match std::mem::take(&mut self.scenario.requests) {
            none if none.is_empty() => requests::only(self.target()?, http2)?,
            typed => {
                self.refuse_unsent()?;
                requests::of_file(&self.url, &self.headers()?, typed, http2)?
            }
        };
        let tls = self.transport.checked(&target, self.depth, self.network.keep_alive)?;
        requests::check_number_of_checks(&self.scenario.checks)?;
        let connections_max = self.connections_max.map(connections).transpose()?;
        let depth = self.transport.streams.or(self.depth).unwrap_or(1);
        let depth = count("the number of requests on a connection", depth, MAX_DEPTH)?;
        self.slo.check()?;
        let overload = self.overload.map(|typed| typed.freeze(&self.slo)).transpose()?;
        let given_per_sec = overload.as_ref().and_then(|order| order.rate_per_sec);
        let load = match overload.as_ref().zip(given_per_sec) {
            Some((order, rate_per_sec)) => {
                reference_load(order, rate_per_sec, connections_max.unwrap_or(DEFAULT_MAX_CONNECTIONS), depth)
            }
            None => {
                let searched = self.search.and(Some(DEFAULT_MAX_BEFORE_SEARCH));
                freeze_load(self.load, connections_max, searched, depth)?
            }
        };
        let search = self.search.filter(|_| given_per_sec.is_none()).map(checked_search).transpose()?;
        let warm = self.warm.map(|value| time("the warm-up", value, 1000)).transpose()?;
        let workers = |value| count("the number of workers", value, MAX_WORKERS);
        let generator = Generator {
            workers: self.workers.map(workers).transpose()?,
            timeout: time("the timeout", self.timeout, 1)?,
            connections_max: connections_max
                .unwrap_or_else(|| DEFAULT_MAX_CONNECTIONS.max(first_connections(&load))),
            seed: self.seed,
            driver: self.driver,
            lab_capacity: None,
        };
        let host_and_port = || format!("{}-{}", default_name(&target.host), target.port);
        let name = self.name.map_or_else(|| Ok(host_and_port()), checked_name)?;
        self.network.check()?;
        hosts::check(&self.hosts)?;
        let plan = Plan {
            name,
            target,
            requests: groups,
            mix,
            csv: self.scenario.csv,
            checks: self.scenario.checks,
            network: self.network,
            tls,
            http2,
            load,
            search,
            overload,
            trace: self.trace,
            warm,
            generator,
            slo: self.slo,
            slo_assumed: self.slo_assumed,
            hosts: self.hosts,
            profile: None,
            redact: self.redact,
            group: self.group,
        };
        check_trace(&plan)?;
        check_connections(&plan, depth)?;
        requests::check_volume(&plan.mixed(), &plan.target.authority(), depth)?;
        Ok(plan)
    }

    /// Refuses the method and the body of a single request, because several requests have their own.
    fn refuse_unsent(&self) -> Result<()> {
        let given = [("-m", self.method.is_some()), ("-b", self.body.is_some())];
        match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(PlanError::Unsent { option }),
            None => Ok(()),
        }
    }

    fn target(&self) -> Result<Target> {
        let target = requests::target(&self.url)?;
        let otherwise = if self.body.is_some() { "POST" } else { "GET" };
        Ok(Target {
            method: self.method.as_deref().unwrap_or(otherwise).to_owned(),
            headers: self.headers()?,
            body: self.body.clone().unwrap_or_default(),
            ..target
        })
    }

    /// The headers as typed, and `Connection: close` without keep-alive.
    fn headers(&self) -> Result<Vec<(String, String)>> {
        let mut headers = self
            .headers
            .iter()
            .map(|header| parse_header(header))
            .collect::<Result<Vec<_>, TargetError>>()?;
        let is_stated = |(name, _): &(String, String)| name.eq_ignore_ascii_case("Connection");
        if !self.network.keep_alive && !headers.iter().any(is_stated) {
            headers.push(("Connection".to_owned(), "close".to_owned()));
        }
        Ok(headers)
    }
}

fn first_connections(load: &Load) -> u32 {
    match load {
        Load::Single { level: Level::Open { connections, .. }, .. } => *connections,
        _ => 1,
    }
}

/// `searched` is the highest step of a ladder before a search, unless `connections_max` gives one.
fn freeze_load(
    load: LoadSpec,
    connections_max: Option<u32>,
    searched: Option<u32>,
    depth: u16,
) -> Result<Load> {
    match load {
        LoadSpec::Single { connections, profile, arrivals, duration, requests_max } => {
            profile.as_ref().map(check_rates).transpose()?;
            let most = |value| count("the number of requests", value, MAX_REQUESTS);
            let requests_max = requests_max.map(most).transpose()?;
            let connections = start(connections, connections_max, requests_max)?;
            let stages = profile.as_ref().and_then(RateProfile::duration);
            // The time that a number of requests takes is not known.
            let otherwise = if requests_max.is_some() { MAX_TIME } else { DEFAULT_DURATION };
            let duration = held(duration, stages, otherwise)?;
            let level = match profile {
                None => Level::Closed { connections, depth },
                Some(profile) => Level::Open { profile, arrivals, connections, depth },
            };
            Ok(Load::Single { level, duration, requests_max })
        }
        LoadSpec::Ladder { steps, step_limit, budget } => {
            let budget = budget.map(|value| time("the budget", value, 1000)).transpose()?;
            let part =
                budget.map(|value| (value / STEPS_IN_BUDGET).max(Duration::from_millis(MIN_STEP_LIMIT_MS)));
            let step_limit = step_limit.or(part).unwrap_or(DEFAULT_STEP_LIMIT);
            let step_limit = time("the step limit", step_limit, MIN_STEP_LIMIT_MS)?;
            let end = connections_max.or(searched).unwrap_or(DEFAULT_MAX_DOUBLING);
            let doubling = LadderSteps::Doubling { connections_max: end };
            let steps = steps.map_or(Ok(doubling), |steps| freeze_steps(&steps, connections_max))?;
            Ok(Load::Ladder { steps, depth, step_limit, budget })
        }
    }
}

/// The connections that a loop starts with: `count`, or the default within the limits. More connections than requests would be
/// idle, as if the generator were too slow.
fn start(count: Option<u64>, connections_max: Option<u32>, requests_max: Option<u64>) -> Result<u32> {
    let requests = requests_max.map_or(u32::MAX, |count| u32::try_from(count).unwrap_or(u32::MAX));
    let most = connections_max.unwrap_or(u32::MAX);
    let Some(count) = count else { return Ok(DEFAULT_CONNECTIONS.min(most).min(requests)) };
    let count = connections(count)?;
    let (limit, why) = match most <= requests {
        true => (most, "the most connections that are allowed"),
        false => (requests, "one for each request"),
    };
    if count <= limit {
        return Ok(count);
    }
    Err(PlanError::range("the number of connections", count, format!("at most {limit}, {why}")))
}

/// Steps keep the order in which they are typed. Each occurs once, because a step is one row of the table.
fn freeze_steps(typed: &[u64], connections_max: Option<u32>) -> Result<LadderSteps> {
    let steps = typed.iter().map(|count| connections(*count)).collect::<Result<Vec<_>>>()?;
    let most = connections_max.unwrap_or(u32::MAX);
    if let Some(above) = steps.iter().find(|count| **count > most) {
        let expected = format!("at most {most}, the most connections that are allowed");
        return Err(PlanError::range("a step of the ladder", above, expected));
    }
    if steps.is_empty() {
        let expected = "at least one number of connections, as in --ladder 200,500,1k";
        return Err(PlanError::range("the ladder", "empty", expected));
    }
    if (1..steps.len()).any(|index| steps[..index].contains(&steps[index])) {
        let text: Vec<String> = steps.iter().map(u32::to_string).collect();
        let expected = "numbers of connections of which none comes twice";
        return Err(PlanError::range("the ladder", text.join(","), expected));
    }
    Ok(LadderSteps::Fixed(steps))
}

#[cfg(test)]
mod tests;
