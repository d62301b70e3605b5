//! The plan as typed, and the checks that turn it into a plan.

use std::time::Duration;

use crate::error::PlanError;
use crate::name::{checked_name, default_name};
use crate::requests::{self, Requests};
use crate::target::parse_header;
use crate::{
    ArrivalProcess, DriverKind, Generator, Level, Load, Network, Plan, PlanHost, RateProfile, Rungs,
    ScenarioSpec, Slo, Stage, Target, TransportSpec, hosts, volume,
};

/// The load as typed.
#[derive(Debug, Clone, PartialEq)]
pub enum LoadSpec {
    /// One level.
    Single {
        /// Connections, if given.
        connections: Option<u64>,
        /// Offered rate over time, if the loop is open.
        profile: Option<RateProfile>,
        /// How arrivals are spread.
        arrivals: ArrivalProcess,
        /// How long the level is held; `None` takes the time of the profile's stages, or 10 s without any. With
        /// `requests_max` it is held until that is reached.
        duration: Option<Duration>,
        /// Requests after which the level ends, if given.
        requests_max: Option<u64>,
    },
    /// A ladder of closed-loop levels.
    Ladder {
        /// The levels as typed; `None` doubles from 1.
        rungs: Option<Vec<u64>>,
        /// The longest time of one level; `None` takes an equal part of the budget, or 10 s without one.
        step_limit: Option<Duration>,
        /// The longest time of the whole.
        budget: Option<Duration>,
    },
}

/// A plan as close to the flags as possible: nothing in it is checked yet.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanSpec {
    /// The run's name; the target's host if none is given.
    pub name: Option<String>,
    /// The URL as typed; empty if it is left to the requests of a file.
    pub url: String,
    /// The method; GET, or POST if there is a body.
    pub method: Option<String>,
    /// Headers as typed, `Name: value`.
    pub headers: Vec<String>,
    pub body: Option<Vec<u8>>,
    /// Several requests, what their variables stand for, and what is expected of answers.
    pub scenario: ScenarioSpec,
    /// How the target is reached.
    pub network: Network,
    /// What is spoken on the way.
    pub transport: TransportSpec,
    pub load: LoadSpec,
    /// The longest time for which a load is held before the first step, until the target is warm; `None` holds none.
    pub warm: Option<Duration>,
    /// Worker threads, if given.
    pub workers: Option<u64>,
    /// The longest time for one request.
    pub timeout: Duration,
    /// The most connections, if given.
    pub connections_max: Option<u64>,
    /// The most requests under way on one connection, if given.
    pub depth: Option<u64>,
    /// Seed of everything random.
    pub seed: u64,
    /// The driver, if one is forced.
    pub driver: Option<DriverKind>,
    /// What to judge the run by.
    pub slo: Slo,
    /// The hosts that the run crosses, as far as they are named.
    pub hosts: Vec<PlanHost>,
}

/// The most connections one plan may ask for: more than any machine opens.
const MAX_CONNECTIONS: u64 = 1_000_000;
/// The highest rate one plan may ask for, requests per second.
const MAX_RATE: f64 = 1e8;
/// The most worker threads.
const MAX_WORKERS: u64 = 1024;
/// The most requests under way on one connection.
const MAX_DEPTH: u64 = 10_000;
/// The most requests of one run: more than any sends in a year.
const MAX_REQUESTS: u64 = 1_000_000_000_000_000;
/// Connections an open or a closed loop starts with when none are asked for.
const CONNECTIONS_DEFAULT: u32 = 10;
/// Connections an open loop may grow to when nothing is asked for.
const DEFAULT_MAX_CONNECTIONS: u32 = 10_000;
/// The highest rung of a ladder that doubles until it stops by itself.
const DEFAULT_MAX_DOUBLING: u64 = 16_384;
/// The steps that a budget is meant to suffice for: a ladder that doubles from 1 to 16,384.
const STEPS_IN_BUDGET: u32 = 15;
const DURATION_DEFAULT: Duration = Duration::from_secs(10);
const DEFAULT_STEP_LIMIT: Duration = Duration::from_secs(10);
const MIN_STEP_LIMIT: Duration = Duration::from_millis(100);
const MIN_WARM: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(366 * 86_400);

fn whole(what: &'static str, value: u64, most: u64) -> Result<u32, PlanError> {
    let range = || PlanError::Range { what, value: value.to_string(), expected: format!("from 1 to {most}") };
    u32::try_from(value).ok().filter(|_| (1..=most).contains(&value)).ok_or_else(range)
}

fn span(what: &'static str, value: Duration, least: Duration) -> Result<Duration, PlanError> {
    if (least..=LONGEST).contains(&value) {
        return Ok(value);
    }
    let expected = format!("at least {} ms and at most a year", least.as_millis());
    Err(PlanError::Range { what, value: format!("{value:?}"), expected })
}

fn connections(value: u64) -> Result<u32, PlanError> {
    whole("the number of connections", value, MAX_CONNECTIONS)
}

/// Every rate of a profile is within the limit, and some request falls due.
fn profile(profile: &RateProfile) -> Result<RateProfile, PlanError> {
    let rates = |stage: &Stage| [stage.from_per_sec, stage.to_per_sec];
    let allowed = |rate: f64| (0.0..=MAX_RATE).contains(&rate);
    let all_allowed = profile.stages().iter().flat_map(rates).all(allowed);
    let peak = profile.peak_per_sec();
    if all_allowed && allowed(peak) && peak > 0.0 && profile.mean_per_sec() > 0.0 {
        return Ok(profile.clone());
    }
    let expected = format!("above 0 and at most {MAX_RATE} a second");
    Err(PlanError::Range { what: "the rate", value: profile.to_string(), expected })
}

/// How long a level is held: stages last as long as they say, a number of requests as long as it takes.
fn held(
    duration: Option<Duration>,
    stages: Option<Duration>,
    requests_max: Option<u64>,
) -> Result<Duration, PlanError> {
    let value = match (duration, stages) {
        (Some(duration), Some(stages)) if duration != stages => {
            return Err(PlanError::Duration { duration, stages });
        }
        (given, stages) => given.or(stages),
    };
    let otherwise = if requests_max.is_some() { LONGEST } else { DURATION_DEFAULT };
    span("the duration", value.unwrap_or(otherwise), Duration::from_millis(100))
}

fn depth(value: Option<u64>) -> Result<u16, PlanError> {
    let depth = whole("the number of requests on a connection", value.unwrap_or(1), MAX_DEPTH)?;
    Ok(u16::try_from(depth).unwrap_or(u16::MAX))
}

fn requests_max(value: u64) -> Result<u64, PlanError> {
    if (1..=MAX_REQUESTS).contains(&value) {
        return Ok(value);
    }
    let expected = format!("from 1 to {MAX_REQUESTS}");
    Err(PlanError::Range { what: "the number of requests", value: value.to_string(), expected })
}

fn slo(slo: Slo) -> Result<Slo, PlanError> {
    let range = |what, value: f64, expected: &str| {
        Err(PlanError::Range { what, value: value.to_string(), expected: expected.to_owned() })
    };
    match slo {
        Slo { success_ratio: Some(ratio), .. } if !(0.0..=1.0).contains(&ratio) => {
            range("the success ratio", ratio, "from 0 to 1, or from 0 % to 100 %")
        }
        Slo { p99_ms: Some(ms), .. } if ms <= 0.0 => range("the p99 limit", ms, "above 0"),
        _ => Ok(slo),
    }
}

impl PlanSpec {
    /// Checks the plan and fills in what was left open.
    ///
    /// # Errors
    /// When the request cannot be encoded, or a number is outside its range.
    pub fn freeze(mut self) -> Result<Plan, PlanError> {
        let ScenarioSpec { requests: typed, csv, checks } = std::mem::take(&mut self.scenario);
        let http2 = self.transport.is_http2();
        let Requests { target, groups, mix } = match typed.as_slice() {
            [] => Requests::only(self.target()?, http2)?,
            _ => Requests::from_file(&self.url, &self.headers()?, (typed, http2))?,
        };
        let tls = self.transport.checked(&target, self.depth, self.network.keep_alive)?;
        let checks = requests::checks(checks)?;
        let connections_max = self.connections_max.map(connections).transpose()?;
        let depth = depth(self.transport.depth(self.depth))?;
        let load = freeze_load(&self.load, connections_max, depth)?;
        let warm = self.warm.map(|value| span("the warm-up", value, MIN_WARM)).transpose()?;
        let generator = Generator {
            workers: self
                .workers
                .map(|count| whole("the number of workers", count, MAX_WORKERS))
                .transpose()?,
            timeout: span("the timeout", self.timeout, Duration::from_millis(1))?,
            connections_max: connections_max
                .unwrap_or_else(|| DEFAULT_MAX_CONNECTIONS.max(first_connections(&load))),
            seed: self.seed,
            driver: self.driver,
            lab_capacity: None,
        };
        let name = match self.name {
            Some(name) => checked_name(name)?,
            None => default_name(&target.host),
        };
        let network = self.network.checked()?;
        let slo = slo(self.slo)?;
        let hosts = hosts::checked(self.hosts)?;
        let plan = Plan {
            name,
            target,
            requests: groups,
            mix,
            csv,
            checks,
            network,
            tls,
            http2,
            load,
            warm,
            generator,
            slo,
            hosts,
            profile: None,
        };
        volume::check(&plan.mixed(), &plan.target.authority(), depth)?;
        Ok(plan)
    }

    fn target(&self) -> Result<Target, PlanError> {
        let mut target = requests::target(&self.url)?;
        target.body = self.body.clone().unwrap_or_default();
        let method = self.method.clone();
        target.method = method.unwrap_or_else(|| if self.body.is_some() { "POST" } else { "GET" }.to_owned());
        target.headers = self.headers()?;
        Ok(target)
    }

    /// The headers as typed, and what the way to the target adds.
    fn headers(&self) -> Result<Vec<(String, String)>, PlanError> {
        let mut headers =
            self.headers.iter().map(|header| parse_header(header)).collect::<Result<Vec<_>, _>>()?;
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

fn freeze_load(load: &LoadSpec, connections_max: Option<u32>, depth: u16) -> Result<Load, PlanError> {
    match load {
        LoadSpec::Single { connections, profile: rate, arrivals, duration, requests_max: most } => {
            let rate = rate.as_ref().map(profile).transpose()?;
            let requests_max = most.map(requests_max).transpose()?;
            let connections = start(*connections, connections_max, requests_max)?;
            let stages = rate.as_ref().and_then(RateProfile::duration);
            let duration = held(*duration, stages, requests_max)?;
            let level = match rate {
                None => Level::Closed { connections, depth },
                Some(profile) => Level::Open { profile, arrivals: *arrivals, connections, depth },
            };
            Ok(Load::Single { level, duration, requests_max })
        }
        LoadSpec::Ladder { rungs, step_limit, budget } => {
            let budget = budget.map(|value| span("the budget", value, Duration::from_secs(1))).transpose()?;
            let part = budget.map(|value| (value / STEPS_IN_BUDGET).max(MIN_STEP_LIMIT));
            let step_limit = step_limit.or(part).unwrap_or(DEFAULT_STEP_LIMIT);
            let step_limit = span("the step limit", step_limit, MIN_STEP_LIMIT)?;
            Ok(Load::Ladder { rungs: freeze_rungs(rungs.as_deref())?, depth, step_limit, budget })
        }
    }
}

/// The connections a loop starts with: as many as were asked for, else the default as far as the most allows it.
/// More connections than requests would stand idle, as if the generator were too slow.
fn start(
    count: Option<u64>,
    connections_max: Option<u32>,
    requests_max: Option<u64>,
) -> Result<u32, PlanError> {
    let requests = requests_max.map_or(u32::MAX, |count| u32::try_from(count).unwrap_or(u32::MAX));
    let most = connections_max.unwrap_or(u32::MAX);
    let Some(count) = count else { return Ok(CONNECTIONS_DEFAULT.min(most).min(requests)) };
    let count = connections(count)?;
    let (limit, why) = match most <= requests {
        true => (most, "the most connections that are allowed"),
        false => (requests, "one for each request"),
    };
    if count <= limit {
        return Ok(count);
    }
    let expected = format!("at most {limit}, {why}");
    Err(PlanError::Range { what: "the number of connections", value: count.to_string(), expected })
}

/// Rungs keep the order in which they were asked for. None comes twice, for a rung is one row of the table.
fn freeze_rungs(rungs: Option<&[u64]>) -> Result<Rungs, PlanError> {
    let Some(rungs) = rungs else {
        return Ok(Rungs::Doubling { connections_max: connections(DEFAULT_MAX_DOUBLING)? });
    };
    let rungs = rungs.iter().map(|count| connections(*count)).collect::<Result<Vec<_>, _>>()?;
    if rungs.is_empty() {
        return Err(bad_ladder(&rungs, "at least one number of connections, as in --ladder 200,500,1k"));
    }
    if rungs.iter().enumerate().any(|(index, count)| rungs[..index].contains(count)) {
        return Err(bad_ladder(&rungs, "numbers of connections of which none comes twice"));
    }
    Ok(Rungs::Fixed(rungs))
}

fn bad_ladder(rungs: &[u32], expected: &str) -> PlanError {
    let typed: Vec<String> = rungs.iter().map(u32::to_string).collect();
    let value = if typed.is_empty() { "empty".to_owned() } else { typed.join(",") };
    PlanError::Range { what: "the ladder", value, expected: expected.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probe;

    fn spec(load: LoadSpec) -> PlanSpec {
        PlanSpec {
            name: None,
            url: "http://127.0.0.1:1/".to_owned(),
            method: None,
            headers: Vec::new(),
            body: None,
            scenario: ScenarioSpec::default(),
            network: Network::default(),
            transport: TransportSpec::default(),
            load,
            warm: None,
            workers: None,
            timeout: Duration::from_secs(1),
            connections_max: None,
            depth: None,
            seed: 1,
            driver: None,
            slo: Slo::default(),
            hosts: Vec::new(),
        }
    }

    fn ladder(rungs: Option<Vec<u64>>) -> LoadSpec {
        LoadSpec::Ladder { rungs, step_limit: None, budget: None }
    }

    #[test]
    fn a_frozen_plan_survives_its_json() {
        let mut typed = spec(ladder(Some(vec![500, 200, 1000])));
        typed.body = Some(vec![0, 255]);
        typed.hosts = vec![PlanHost { probes: vec![Probe::Pid(7)], ..PlanHost::named("web") }];
        let plan = typed.freeze().unwrap();
        assert_eq!(plan.target.method, "POST");
        assert_eq!(Plan::from_json(&plan.to_json()).unwrap(), plan);
        let Load::Ladder { rungs, .. } = plan.load else { panic!("a ladder stays one") };
        assert_eq!(rungs, Rungs::Fixed(vec![500, 200, 1000]), "the order is the user's");
    }

    #[test]
    fn values_out_of_range_are_refused_by_name() {
        let refused = |typed: PlanSpec, what: &str| {
            let error = typed.freeze().unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        };
        refused(spec(ladder(Some(vec![0]))), "connections");
        refused(spec(ladder(Some(vec![]))), "ladder");
        refused(spec(ladder(Some(vec![5, 3, 3]))), "the ladder is 5,3,3");
        refused(spec(ladder(Some(vec![2_000_000]))), "connections");
        refused(PlanSpec { workers: Some(0), ..spec(ladder(None)) }, "workers");
        refused(PlanSpec { timeout: Duration::ZERO, ..spec(ladder(None)) }, "timeout");
        refused(PlanSpec { name: Some("../x".to_owned()), ..spec(ladder(None)) }, "name");
        refused(PlanSpec { headers: vec!["NoColon".to_owned()], ..spec(ladder(None)) }, "colon");
        let bad_slo = Slo { success_ratio: Some(99.95), ..Slo::default() };
        refused(PlanSpec { slo: bad_slo, ..spec(ladder(None)) }, "success");
    }

    #[test]
    fn without_keep_alive_the_request_asks_to_close_unless_it_speaks_of_the_connection_itself() {
        let headers = |typed: &[&str]| {
            let network = Network { keep_alive: false, ..Network::default() };
            let headers = typed.iter().map(|&header| header.to_owned()).collect();
            let plan = PlanSpec { network, headers, ..spec(ladder(None)) }.freeze().unwrap();
            String::from_utf8(plan.target.encode().unwrap()).unwrap()
        };
        assert!(headers(&["A: b"]).contains("A: b\r\nConnection: close\r\n"), "{}", headers(&["A: b"]));
        assert!(!headers(&["connection: x"]).contains("close"));
    }

    #[test]
    fn plans_of_one_load_have_one_hash_whatever_their_seeds() {
        let plan = |seed, workers| PlanSpec { seed, workers, ..spec(ladder(None)) }.freeze().unwrap();
        let (one, two) = (plan(1, None), plan(2, None));
        assert_eq!(one.hash(), two.hash());
        assert_ne!(one.to_json(), two.to_json(), "the seed is kept");
        assert_ne!(one.hash(), plan(1, Some(3)).hash());
        let warmed = PlanSpec { warm: Some(Duration::from_secs(60)), ..spec(ladder(None)) }.freeze().unwrap();
        assert_ne!(one.hash(), warmed.hash(), "what ran before it is part of a load");
        assert!(!one.to_json().contains("warm"), "plans without a warm-up stay what they were");
    }

    fn open_loop(connections: Option<u64>, connections_max: Option<u64>) -> PlanSpec {
        let load = LoadSpec::Single {
            connections,
            profile: Some(RateProfile::Constant(100.0)),
            arrivals: ArrivalProcess::Constant,
            duration: Some(Duration::from_secs(1)),
            requests_max: None,
        };
        PlanSpec { connections_max, ..spec(load) }
    }

    #[test]
    fn an_open_loop_never_starts_above_its_most_connections() {
        let bounds = |connections, most| {
            let plan = open_loop(connections, most).freeze().unwrap();
            (first_connections(&plan.load), plan.generator.connections_max)
        };
        assert_eq!(bounds(None, None), (10, 10_000));
        assert_eq!(bounds(None, Some(3)), (3, 3));
        assert_eq!(bounds(Some(3), Some(3)), (3, 3));
        assert_eq!(
            bounds(Some(20_000), None),
            (20_000, 20_000),
            "a start that was asked for lifts the default"
        );
        let error = open_loop(Some(4), Some(3)).freeze().unwrap_err().to_string();
        assert!(error.contains("is 4") && error.contains("at most 3"), "{error}");
    }

    fn single(rate: Option<&str>, duration: Option<Duration>, requests_max: Option<u64>) -> LoadSpec {
        let profile = rate.map(|text| text.parse().unwrap());
        LoadSpec::Single {
            connections: None,
            profile,
            arrivals: ArrivalProcess::Constant,
            duration,
            requests_max,
        }
    }

    #[test]
    fn stages_say_how_long_the_load_is_held_and_a_duration_may_only_repeat_it() {
        let held = |rate, seconds: Option<u64>, requests_max| {
            let frozen = spec(single(rate, seconds.map(Duration::from_secs), requests_max)).freeze();
            frozen.map(|plan| match plan.load {
                Load::Single { duration, .. } => duration.as_secs(),
                Load::Ladder { .. } => panic!("a single level stays one"),
            })
        };
        let stages = Some("ramp(1,100,30s) const(100,1m)");
        assert_eq!(held(stages, None, None).unwrap(), 90);
        assert_eq!(held(stages, Some(90), None).unwrap(), 90);
        let error = held(stages, Some(10), None).unwrap_err().to_string();
        assert!(error.contains("10s") && error.contains("90s"), "{error}");
        assert_eq!(held(Some("5k"), None, None).unwrap(), 10);
        assert_eq!(held(None, Some(7), Some(100)).unwrap(), 7);
        assert!(
            held(None, None, Some(100)).unwrap() > 86_400,
            "a number of requests takes the time it takes"
        );
    }

    #[test]
    fn rates_depths_and_numbers_of_requests_have_bounds() {
        let refused = |typed: PlanSpec, what: &str| {
            let error = typed.freeze().unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        };
        refused(spec(single(Some("200M"), None, None)), "the rate is 200000000");
        refused(spec(single(Some("const(0,5s)"), None, None)), "the rate is const(0,5s)");
        refused(spec(single(Some("const(5,5s) ramp(5,1G,1s)"), None, None)), "the rate");
        refused(spec(single(None, None, Some(0))), "the number of requests is 0");
        refused(PlanSpec { depth: Some(0), ..spec(ladder(None)) }, "requests on a connection is 0");
        let deep = PlanSpec { depth: Some(16), ..spec(single(None, None, None)) }.freeze().unwrap();
        assert_eq!(deep.level().unwrap().depth(), 16);
    }

    #[test]
    fn a_budget_is_checked_before_it_is_parted_into_steps() {
        let within = |budget_ms| {
            let budget = Some(Duration::from_millis(budget_ms));
            spec(LoadSpec::Ladder { rungs: None, step_limit: None, budget }).freeze()
        };
        let limit = |budget_ms| match within(budget_ms).unwrap().load {
            Load::Ladder { step_limit, .. } => step_limit,
            Load::Single { .. } => panic!("a ladder stays one"),
        };
        assert_eq!(limit(1_000), MIN_STEP_LIMIT);
        assert_eq!(limit(90_000), Duration::from_secs(6));
        let error = within(500).unwrap_err().to_string();
        assert!(error.contains("the budget is 500ms"), "{error}");
    }

    #[test]
    fn an_ipv6_address_makes_a_readable_name() {
        let name = |url: &str| PlanSpec { url: url.to_owned(), ..spec(ladder(None)) }.freeze().unwrap().name;
        assert_eq!(name("http://[::1]/"), "ip6-1");
        assert_eq!(name("http://[2001:db8::a:1]:81/"), "ip6-2001-db8-a-1");
        assert_eq!(name("http://[::]/"), "ip6-0");
    }
}
