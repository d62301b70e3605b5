//! The plan as typed, and the checks that turn it into a plan.

use std::time::Duration;

use crate::target::parse_header;
use crate::{
    ArrivalProcess, Generator, Level, Load, Network, NetworkError, Plan, Rungs, Slo, Target, TargetError,
};

/// The load as typed.
#[derive(Debug, Clone, PartialEq)]
pub enum LoadSpec {
    /// One level.
    Single {
        /// Connections, if given.
        connections: Option<u64>,
        /// Offered rate, if the loop is open.
        rate_per_sec: Option<f64>,
        /// How arrivals are spread.
        arrivals: ArrivalProcess,
        /// How long the level is held.
        duration: Duration,
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
    /// The URL as typed.
    pub url: String,
    /// The method; GET, or POST if there is a body.
    pub method: Option<String>,
    /// Headers as typed, `Name: value`.
    pub headers: Vec<String>,
    /// The body.
    pub body: Option<Vec<u8>>,
    /// How the target is reached.
    pub network: Network,
    /// The load.
    pub load: LoadSpec,
    /// Worker threads, if given.
    pub workers: Option<u64>,
    /// The longest time for one request.
    pub timeout: Duration,
    /// The most connections, if given.
    pub connections_max: Option<u64>,
    /// Seed of everything random.
    pub seed: u64,
    /// What to judge the run by.
    pub slo: Slo,
}

/// A plan that cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The request or its target is wrong.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The way to the target cannot be taken.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// A value is outside its range.
    #[error("{what} is {value}; it must be {wanted}")]
    Range {
        /// What was given.
        what: &'static str,
        /// Its value.
        value: String,
        /// What would be right.
        wanted: String,
    },
}

/// The most connections one plan may ask for: more than any machine opens.
const CONNECTIONS_LIMIT: u64 = 1_000_000;
/// The highest rate one plan may ask for, requests per second.
const RATE_LIMIT: f64 = 1e8;
/// The most worker threads.
const WORKERS_LIMIT: u64 = 1024;
/// Connections an open or a closed loop starts with when none are asked for.
const CONNECTIONS_DEFAULT: u32 = 10;
/// Connections an open loop may grow to when nothing is asked for.
const CONNECTIONS_MAX_DEFAULT: u32 = 10_000;
/// The highest rung of a ladder that doubles until it stops by itself.
const DOUBLING_MAX_DEFAULT: u64 = 16_384;
/// The steps that a budget is meant to suffice for: a ladder that doubles from 1 to 16,384.
const STEPS_IN_BUDGET: u32 = 15;
const STEP_LIMIT_DEFAULT: Duration = Duration::from_secs(10);
const STEP_LIMIT_LEAST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(366 * 86_400);

fn whole(what: &'static str, value: u64, most: u64) -> Result<u32, PlanError> {
    let range = || PlanError::Range { what, value: value.to_string(), wanted: format!("from 1 to {most}") };
    u32::try_from(value).ok().filter(|_| (1..=most).contains(&value)).ok_or_else(range)
}

fn span(what: &'static str, value: Duration, least: Duration) -> Result<Duration, PlanError> {
    if (least..=LONGEST).contains(&value) {
        return Ok(value);
    }
    let wanted = format!("at least {} ms and at most a year", least.as_millis());
    Err(PlanError::Range { what, value: format!("{value:?}"), wanted })
}

fn connections(value: u64) -> Result<u32, PlanError> {
    whole("the number of connections", value, CONNECTIONS_LIMIT)
}

fn rate(value: f64) -> Result<f64, PlanError> {
    if value > 0.0 && value <= RATE_LIMIT {
        return Ok(value);
    }
    let wanted = format!("above 0 and at most {RATE_LIMIT} a second");
    Err(PlanError::Range { what: "the rate", value: value.to_string(), wanted })
}

fn slo(slo: Slo) -> Result<Slo, PlanError> {
    let range = |what, value: f64, wanted: &str| {
        Err(PlanError::Range { what, value: value.to_string(), wanted: wanted.to_owned() })
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
    pub fn freeze(self) -> Result<Plan, PlanError> {
        let target = self.target()?;
        let connections_max = self.connections_max.map(connections).transpose()?;
        let load = freeze_load(&self.load, connections_max)?;
        let generator = Generator {
            workers: self
                .workers
                .map(|count| whole("the number of workers", count, WORKERS_LIMIT))
                .transpose()?,
            timeout: span("the timeout", self.timeout, Duration::from_millis(1))?,
            connections_max: connections_max
                .unwrap_or_else(|| CONNECTIONS_MAX_DEFAULT.max(first_connections(&load))),
            seed: self.seed,
        };
        let name = match self.name {
            Some(name) => checked_name(name)?,
            None => default_name(&target.host),
        };
        let network = self.network.checked()?;
        Ok(Plan { name, target, network, load, generator, slo: slo(self.slo)? })
    }

    fn target(&self) -> Result<Target, PlanError> {
        let mut target = Target::parse(&self.url)?;
        target.body = self.body.clone().unwrap_or_default();
        let method = self.method.clone();
        target.method = method.unwrap_or_else(|| if self.body.is_some() { "POST" } else { "GET" }.to_owned());
        target.headers = self.headers.iter().map(|header| parse_header(header)).collect::<Result<_, _>>()?;
        let is_stated = |(name, _): &(String, String)| name.eq_ignore_ascii_case("Connection");
        if !self.network.keep_alive && !target.headers.iter().any(is_stated) {
            target.headers.push(("Connection".to_owned(), "close".to_owned()));
        }
        target.encode()?;
        Ok(target)
    }
}

fn first_connections(load: &Load) -> u32 {
    match load {
        Load::Single { level: Level::Open { connections, .. }, .. } => *connections,
        _ => 1,
    }
}

fn freeze_load(load: &LoadSpec, connections_max: Option<u32>) -> Result<Load, PlanError> {
    match load {
        LoadSpec::Single { connections: count, rate_per_sec, arrivals, duration } => {
            let connections = start(*count, connections_max)?;
            let level = match rate_per_sec {
                None => Level::Closed { connections },
                Some(value) => Level::Open { rate_per_sec: rate(*value)?, arrivals: *arrivals, connections },
            };
            let duration = span("the duration", *duration, Duration::from_millis(100))?;
            Ok(Load::Single { level, duration })
        }
        LoadSpec::Ladder { rungs, step_limit, budget } => {
            let budget = budget.map(|value| span("the budget", value, Duration::from_secs(1))).transpose()?;
            let part = budget.map(|value| (value / STEPS_IN_BUDGET).max(STEP_LIMIT_LEAST));
            let step_limit = step_limit.or(part).unwrap_or(STEP_LIMIT_DEFAULT);
            let step_limit = span("the step limit", step_limit, STEP_LIMIT_LEAST)?;
            Ok(Load::Ladder { rungs: freeze_rungs(rungs.as_deref())?, step_limit, budget })
        }
    }
}

/// The connections a loop starts with: as many as were asked for, else the default as far as the most allows it.
fn start(count: Option<u64>, connections_max: Option<u32>) -> Result<u32, PlanError> {
    let most = connections_max.unwrap_or(u32::MAX);
    let Some(count) = count else { return Ok(CONNECTIONS_DEFAULT.min(most)) };
    let count = connections(count)?;
    if count <= most {
        return Ok(count);
    }
    let wanted = format!("at most {most}, the most connections that are allowed");
    Err(PlanError::Range { what: "the number of connections", value: count.to_string(), wanted })
}

/// Rungs keep the order in which they were asked for. None comes twice, for a rung is one row of the table.
fn freeze_rungs(rungs: Option<&[u64]>) -> Result<Rungs, PlanError> {
    let Some(rungs) = rungs else {
        return Ok(Rungs::Doubling { connections_max: connections(DOUBLING_MAX_DEFAULT)? });
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

fn bad_ladder(rungs: &[u32], wanted: &str) -> PlanError {
    let typed: Vec<String> = rungs.iter().map(u32::to_string).collect();
    let value = if typed.is_empty() { "empty".to_owned() } else { typed.join(",") };
    PlanError::Range { what: "the ladder", value, wanted: wanted.to_owned() }
}

/// A name as part of file names: it must not lead out of their folder.
///
/// # Errors
/// When it is empty, too long, begins with a dot, or holds a character that file names should not.
pub fn checked_name(name: String) -> Result<String, PlanError> {
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
    let plain = !name.is_empty() && !name.starts_with('.') && name.len() <= 100 && name.chars().all(allowed);
    let wanted = "letters, digits, - _ + and dots, at most 100 bytes, not starting with a dot".to_owned();
    if plain {
        Ok(name)
    } else {
        Err(PlanError::Range { what: "the name", value: format!("`{name}`"), wanted })
    }
}

fn default_name(host: &str) -> String {
    if host.contains(':') {
        return ip6_name(host);
    }
    host.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '.' { c } else { '-' }).collect()
}

/// An IPv6 address as a name: `::1` is `ip6-1`, `fe80::2` is `ip6-fe80-2`.
fn ip6_name(host: &str) -> String {
    let groups: Vec<&str> =
        host.split(|c: char| !c.is_ascii_alphanumeric()).filter(|group| !group.is_empty()).collect();
    if groups.is_empty() { "ip6-0".to_owned() } else { format!("ip6-{}", groups.join("-")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(load: LoadSpec) -> PlanSpec {
        PlanSpec {
            name: None,
            url: "http://127.0.0.1:1/".to_owned(),
            method: None,
            headers: Vec::new(),
            body: None,
            network: Network::default(),
            load,
            workers: None,
            timeout: Duration::from_secs(1),
            connections_max: None,
            seed: 1,
            slo: Slo::default(),
        }
    }

    fn ladder(rungs: Option<Vec<u64>>) -> LoadSpec {
        LoadSpec::Ladder { rungs, step_limit: None, budget: None }
    }

    #[test]
    fn a_frozen_plan_survives_its_json() {
        let mut typed = spec(ladder(Some(vec![500, 200, 1000])));
        typed.body = Some(vec![0, 255]);
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
    fn equal_plans_have_equal_hashes() {
        let hash = |seed| PlanSpec { seed, ..spec(ladder(None)) }.freeze().unwrap().hash();
        assert_eq!(hash(1), hash(1));
        assert_ne!(hash(1), hash(2));
    }

    fn open_loop(connections: Option<u64>, connections_max: Option<u64>) -> PlanSpec {
        let load = LoadSpec::Single {
            connections,
            rate_per_sec: Some(100.0),
            arrivals: ArrivalProcess::Constant,
            duration: Duration::from_secs(1),
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
        assert_eq!(limit(1_000), STEP_LIMIT_LEAST);
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
