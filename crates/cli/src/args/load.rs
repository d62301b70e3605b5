//! Flags of the commands that make load, and the plans they stand for.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::time::Duration;

use plimsoll_experiment::read_plan_file;
use plimsoll_plan::{
    ArrivalProcess, FleetSpec, LoadSpec, Plan, PlanFile, PlanSpec, ProfileSpec, RateProfile, RateSearchOrder,
};
use plimsoll_units::{parse_count, parse_duration, parse_ratio};

use super::fleet::FleetSetting;
use super::foreign::refuse_idle_threads;
use super::{KeepArgs, RequestArgs, SloArgs, WatchArgs};
use crate::exit::UsageError;

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct AnswerArgs {
    /// The URL that gets the load; without a scheme, http:// is meant
    // Optional only because a subcommand may stand in its place.
    pub(crate) url: Option<String>,
    #[command(flatten)]
    pub(crate) request: RequestArgs,
    /// Longest time for the whole answer: the ladder takes at most half of it, the search the rest
    #[arg(long, value_name = "TIME", default_value = "90s", value_parser = parse_duration)]
    pub(crate) budget: Duration,
    #[command(flatten)]
    pub(crate) search: SearchOptions,
    #[command(flatten)]
    pub(crate) watch: WatchArgs,
    #[command(flatten)]
    pub(crate) slo: SloArgs,
    #[command(flatten)]
    pub(crate) keep: KeepArgs,
}

/// The options that the whole answer and a search share.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct SearchOptions {
    /// How close the highest rate that holds and the lowest that breaks must come [default: 5%; 3% with a budget of 3m or
    /// more, 2% from 10m, 1% from 30m]
    #[arg(long, value_name = "RATIO", value_parser = parse_ratio)]
    pub(crate) within: Option<f64>,
    /// Most connections to open [default: 1024 by the ladder, 10000 for a rate of arrivals]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub(crate) max_connections: Option<u64>,
    /// Load the target before the first step until its throughput is steady, for at most TIME; this load is not measured
    /// and not part of the budget
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) warm: Option<Duration>,
}

impl SearchOptions {
    fn order(&self, budget: Duration) -> RateSearchOrder {
        let by_budget = RateSearchOrder::within(budget);
        self.within.map_or(by_budget, |tolerance| RateSearchOrder { tolerance })
    }

    /// Returns a ladder and a search that together take at most this time.
    fn base(&self, budget: Duration) -> Base {
        let mut base = Base::new(LoadSpec::Ladder { steps: None, step_limit: None, budget: Some(budget) });
        base.spec.search = Some(self.order(budget));
        base.spec.warm = self.warm;
        base.spec.connections_max = self.max_connections;
        base
    }
}

#[derive(Debug, Clone, clap::Args)]
#[command(before_help = "\
Examples:
  # The highest rate within both conditions
  plimsoll search http://127.0.0.1:8080/api --p99 200ms --success 99.95%
  # Any number of conditions
  plimsoll search http://127.0.0.1:8080/api --slo 'p99<200ms' --slo 'p50<20ms' --slo 'errors<0.1%'
  # Exit code 3 if it holds less than 2000/s
  plimsoll search http://127.0.0.1:8080/api --p99 200ms --qps 2k
  # A narrower interval takes longer
  plimsoll search http://127.0.0.1:8080/api --within 1% --budget 20m")]
pub(crate) struct SearchArgs {
    /// The URL that gets the load; without a scheme, http:// is meant. --requests may stand for it
    #[arg(required_unless_present = "requests")]
    pub(crate) url: Option<String>,
    #[command(flatten)]
    pub(crate) request: RequestArgs,
    /// Longest time for the whole search; the ladder that brackets the rate takes at most half of it
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = parse_duration)]
    pub(crate) budget: Duration,
    #[command(flatten)]
    pub(crate) search: SearchOptions,
    #[command(flatten)]
    pub(crate) watch: WatchArgs,
    #[command(flatten)]
    pub(crate) slo: SloArgs,
    #[command(flatten)]
    pub(crate) keep: KeepArgs,
}

#[derive(Debug, Clone, clap::Args)]
#[command(before_help = "\
Examples:
  # 1, 2, 4 … connections until throughput stops growing
  plimsoll sweep http://127.0.0.1:8080/api
  # These connections, for at most 10 s each
  plimsoll sweep http://127.0.0.1:8080/api --name api --ladder 200,500,1k,3k --step 10s
  # 1, 2, 4 … connections of 16 HTTP/2 streams
  plimsoll sweep https://api.test/ --cacert ca.pem --streams 16
  # Two sweeps side by side
  plimsoll diff plimsoll-runs/api.dat plimsoll-runs/http.dat")]
pub(crate) struct SweepArgs {
    /// The URL that gets the load; without a scheme, http:// is meant. --requests or --file may stand for it
    #[arg(required_unless_present_any = ["requests", "file"])]
    pub(crate) url: Option<String>,
    /// Take URL, load and conditions from this plan file; a flag counts before what the file says
    #[arg(short, long, value_name = "PLAN")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) request: RequestArgs,
    /// Numbers of connections; by default 1, 2, 4 … until throughput stops growing
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', value_parser = parse_count)]
    pub(crate) ladder: Option<Vec<u64>>,
    /// Most connections to open without --ladder [default: 16,384]
    #[arg(long, value_name = "N", conflicts_with = "ladder", value_parser = parse_count)]
    pub(crate) max_connections: Option<u64>,
    /// Longest time of one step; it ends sooner once throughput is known to ±2 % [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) step: Option<Duration>,
    /// Load the target before the first step until its throughput is steady, for at most TIME; this load is not measured
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) warm: Option<Duration>,
    #[command(flatten)]
    pub(crate) watch: WatchArgs,
    #[command(flatten)]
    pub(crate) slo: SloArgs,
    #[command(flatten)]
    pub(crate) keep: KeepArgs,
}

/// How the requests of an open loop are spread over time.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum Spread {
    /// Equal gaps
    Constant,
    /// Exponential gaps, as from many independent users
    Poisson,
}

#[derive(Debug, Clone, clap::Args)]
#[command(group(clap::ArgGroup::new("open_loop").args(["rate", "file"]).multiple(true)))]
#[command(before_help = "\
Examples:
  # 100 connections, each as fast as it is answered
  plimsoll run http://127.0.0.1:8080/api -c 100 -d 10s
  # 2000 requests a second, however slow the answers; spread like independent users
  plimsoll run http://127.0.0.1:8080/api -R 2k -d 30s
  plimsoll run http://127.0.0.1:8080/api -R 2k --arrivals poisson
  # Rates that change: rising, then constant; 1000, 2000 … 5000 a second, 10 s each
  plimsoll run http://127.0.0.1:8080/api -R 'ramp(100,5k,30s) const(5k,1m)'
  plimsoll run http://127.0.0.1:8080/api -R 'step(1k,5k,1k,10s)'
  # 5000 requests, however long they take
  plimsoll run http://127.0.0.1:8080/api -c 10 -n 5k
  # A body from a file; another body each time, and a check
  plimsoll run http://127.0.0.1:8080/api -m POST -b @order.json -H 'Content-Type: application/json'
  plimsoll run http://127.0.0.1:8080/api -b '{\"id\": \"${uuid}\"}' --expect status=201
  # Several requests, with values from the rows of a file
  plimsoll run http://127.0.0.1:8080 --requests shop.txt --csv users.csv
  # A Unix socket; another server for the same request
  plimsoll run http://api.test/ --unix /run/api.sock
  plimsoll run http://api.test/ --connect-to 10.0.0.9:8080
  # More connections than one address has ports
  plimsoll run http://10.0.0.9/ -c 100k --source-ip 10.0.0.1-10.0.0.4
  # A server's own certificate; a client certificate; a full handshake for each request
  plimsoll run https://127.0.0.1:8443/ --cacert cert.pem
  plimsoll run https://api.test/ --cert me.pem --key me.key
  plimsoll run https://api.test/ --no-keepalive --no-resumption
  # HTTP/2 with 32 requests on each of 10 connections; HTTP/2 without TLS
  plimsoll run https://api.test/ -c 10 --streams 32
  plimsoll run http://127.0.0.1:8080/ --http2
  # Where the service spends its CPU time
  plimsoll run http://127.0.0.1:8080/api -c 64 --profile http://127.0.0.1:8080/debug/pprof/profile
  # URL, load and conditions from a plan file; another load and limit
  plimsoll run -f plan.toml
  plimsoll run -f plan.toml -c 200 --p99 100ms")]
pub(crate) struct RunArgs {
    /// The URL that gets the load; without a scheme, http:// is meant. --requests or --file may stand for it
    #[arg(required_unless_present_any = ["requests", "file"])]
    pub(crate) url: Option<String>,
    /// Take URL, load and conditions from this plan file; a flag counts before what the file says
    #[arg(short, long, value_name = "PLAN")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) request: RequestArgs,
    /// Connections; with -R, those opened at the start [default: 10]
    #[arg(short, long, value_name = "N", value_parser = parse_count)]
    pub(crate) connections: Option<u64>,
    /// Requests in flight on each connection, sent without waiting for earlier answers. A closed loop sends N together, and
    /// the next N when all are answered
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub(crate) pipeline: Option<u64>,
    /// How long the load lasts [default: 10s, the time of the stages of -R, or until N requests are made]
    #[arg(short, long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) duration: Option<Duration>,
    /// End after N requests over all connections; with -d, at whichever comes first
    #[arg(short = 'n', long, value_name = "N", value_parser = parse_count)]
    pub(crate) requests_count: Option<u64>,
    /// Send at this rate, however slow the answers; latency counts from the instant a request was due. Stages follow one
    /// another: const(RATE,TIME), ramp(FROM,TO,TIME), step(FROM,TO,BY,TIME)
    #[arg(short = 'R', long, value_name = "RATE")]
    pub(crate) rate: Option<RateProfile>,
    /// How the requests of -R are spread over time [default: constant]
    #[arg(long, value_enum, requires = "open_loop")]
    pub(crate) arrivals: Option<Spread>,
    /// Most connections that -R may open; a request that finds none free waits, which counts as latency [default: 10k]
    #[arg(long, value_name = "N", requires = "open_loop", value_parser = parse_count)]
    pub(crate) max_connections: Option<u64>,
    /// Load the target before the first step until its throughput is steady, for at most TIME; this load is not measured
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) warm: Option<Duration>,
    #[command(flatten)]
    pub(crate) watch: WatchArgs,
    #[command(flatten)]
    pub(crate) slo: SloArgs,
    #[command(flatten)]
    pub(crate) keep: KeepArgs,
}

/// The plan of a command line, with the CSV rows that a plan does not contain.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) plan: Plan,
    /// The text of the plan's CSV file.
    pub(crate) csv: Option<Vec<u8>>,
    /// Whether hosts are sampled.
    pub(crate) probing: bool,
    /// The fleet that makes the load; `None` if this process does.
    pub(crate) fleet: Option<FleetSetting>,
}

impl AnswerArgs {
    /// Returns the plan of the whole answer.
    pub(crate) fn plan(&self) -> anyhow::Result<Asked> {
        let mut base = self.search.base(self.budget);
        base.spec.search_within(self.slo.objective()?);
        let csv = self.request.apply_to(self.url.as_deref(), &mut base.spec)?;
        base.asked(csv, &self.keep, &self.watch)
    }
}

impl SearchArgs {
    /// Returns the plan of a search.
    pub(crate) fn plan(&self) -> anyhow::Result<Asked> {
        let mut base = self.search.base(self.budget);
        base.spec.search_within(self.slo.objective()?);
        let csv = self.request.apply_to(self.url.as_deref(), &mut base.spec)?;
        base.asked(csv, &self.keep, &self.watch)
    }
}

impl SweepArgs {
    /// Returns the plan of a ladder.
    pub(crate) fn plan(&self) -> anyhow::Result<Asked> {
        let mut base = Base::of_file_or(self.file.as_deref(), ladder())?;
        let spec = &mut base.spec;
        let load = self.ladder_over(&spec.load);
        if self.ladder.is_some() {
            spec.only(load);
        } else if self.step.is_some() {
            spec.load = load;
        }
        spec.warm = self.warm.or(spec.warm);
        spec.connections_max = self.max_connections.or(spec.connections_max);
        spec.judge_by(self.slo.objective()?);
        let csv = self.request.apply_to(self.url.as_deref(), spec)?;
        base.asked(csv, &self.keep, &self.watch)
    }

    /// Returns the ladder of the flags, completed by that of a plan. A budget is only for a ladder that finds its own end.
    fn ladder_over(&self, load: &LoadSpec) -> LoadSpec {
        let (planned, limit, budget) = match load {
            LoadSpec::Ladder { steps, step_limit, budget } => (steps.clone(), *step_limit, *budget),
            LoadSpec::Single { .. } => (None, None, None),
        };
        let budget = budget.filter(|_| self.ladder.is_none());
        let steps = self.ladder.clone().or(planned);
        LoadSpec::Ladder { steps, step_limit: self.step.or(limit), budget }
    }
}

impl RunArgs {
    /// Returns the plan of one load.
    pub(crate) fn plan(&self) -> anyhow::Result<Asked> {
        let mut base = Base::of_file_or(self.file.as_deref(), single())?;
        let spec = &mut base.spec;
        self.lay_load_over(spec)?;
        spec.warm = self.warm.or(spec.warm);
        spec.connections_max = self.max_connections.or(spec.connections_max);
        spec.depth = self.pipeline.or(spec.depth);
        spec.judge_by(self.slo.objective()?);
        let csv = self.request.apply_to(self.url.as_deref(), spec)?;
        let asked = base.asked(csv, &self.keep, &self.watch)?;
        if let Some(level) = asked.plan.level() {
            refuse_idle_threads(self.request.threads, level.connections())?;
        }
        Ok(asked)
    }

    /// Replaces everything that a plan would load by the load of the flags, if there is one.
    ///
    /// # Errors
    /// When the flags are about a load that neither they nor the plan have.
    fn lay_load_over(&self, spec: &mut PlanSpec) -> Result<(), UsageError> {
        let parts = [
            ("-d", self.duration.is_some()),
            ("-n", self.requests_count.is_some()),
            ("--arrivals", self.arrivals.is_some()),
        ];
        let part = parts.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option);
        let says_how_much = self.connections.is_some() || self.rate.is_some();
        if part.is_none() && !says_how_much {
            return Ok(());
        }
        let is_one_load =
            matches!(spec.load, LoadSpec::Single { .. }) && spec.search.is_none() && spec.overload.is_none();
        if let Some(option) = part.filter(|_| !says_how_much && !is_one_load) {
            return Err(UsageError(format!(
                "{option} alone does not say how much load, and the plan file has no single load: give -c or -R too"
            )));
        }
        let load = self.level_over(&spec.load);
        if self.arrivals.is_some() && matches!(load, LoadSpec::Single { profile: None, .. }) {
            return Err(UsageError(
                "--arrivals is about a rate, and there is none: give -R RATE, or leave it out".to_owned(),
            ));
        }
        spec.only(load);
        Ok(())
    }

    /// Returns the load of the flags, completed by that of a plan.
    fn level_over(&self, load: &LoadSpec) -> LoadSpec {
        let planned = if matches!(load, LoadSpec::Single { .. }) { load.clone() } else { single() };
        let LoadSpec::Single { connections, profile, arrivals, duration, requests_max } = planned else {
            return planned;
        };
        // Stages have durations of their own.
        let duration = duration.filter(|_| !matches!(self.rate, Some(RateProfile::Stages(_))));
        LoadSpec::Single {
            connections: self.connections.or(connections),
            profile: self.rate.clone().or(profile),
            arrivals: self.arrivals.map_or(arrivals, ArrivalProcess::from),
            duration: self.duration.or(duration),
            requests_max: self.requests_count.or(requests_max),
        }
    }
}

impl From<Spread> for ArrivalProcess {
    fn from(spread: Spread) -> Self {
        match spread {
            Spread::Constant => Self::Constant,
            Spread::Poisson => Self::Poisson,
        }
    }
}

fn ladder() -> LoadSpec {
    LoadSpec::Ladder { steps: None, step_limit: None, budget: None }
}

fn single() -> LoadSpec {
    LoadSpec::Single {
        connections: None,
        profile: None,
        arrivals: ArrivalProcess::Constant,
        duration: None,
        requests_max: None,
    }
}

/// The plan that flags override: that of a file, or one that has only a load.
#[derive(Debug)]
pub(super) struct Base {
    pub(super) spec: PlanSpec,
    profile: Option<ProfileSpec>,
    fleet: Option<FleetSpec>,
}

impl Base {
    pub(super) fn new(load: LoadSpec) -> Self {
        Self { spec: PlanSpec { seed: fresh_seed(), ..PlanSpec::new("", load) }, profile: None, fleet: None }
    }

    fn of_file_or(file: Option<&Path>, load: LoadSpec) -> anyhow::Result<Self> {
        file.map_or_else(|| Ok(Self::new(load)), Self::of_file)
    }

    /// Reads the plan of a file, and refuses one whose hosts must be made in a lab.
    fn of_file(path: &Path) -> anyhow::Result<Self> {
        let PlanFile { spec, lab_hosts, profile, fleet, .. } = read_plan_file(path)?;
        if let Some(host) = lab_hosts.into_iter().find(|host| !host.run.is_empty()) {
            return Err(UsageError(format!(
                "host `{}` is made in a lab; call `plimsoll lab run {}`, or give the host a `probe` if it exists",
                host.name,
                path.display()
            ))
            .into());
        }
        Ok(Self { spec, profile, fleet })
    }

    /// Freezes the plan, with the name, the hosts and the profile of the command line.
    pub(super) fn asked(
        self,
        csv: Option<Vec<u8>>,
        keep: &KeepArgs,
        watch: &WatchArgs,
    ) -> anyhow::Result<Asked> {
        let Self { mut spec, profile, fleet } = self;
        spec.name = keep.name.clone().or(spec.name);
        spec.hosts.extend(watch.hosts());
        let plan = watch.profiled(spec.freeze()?, profile.as_ref())?;
        let fleet = keep.fleet.over(fleet.as_ref())?;
        Ok(Asked { plan, csv, probing: !watch.no_probe, fleet })
    }
}

/// Returns a seed that no other run is likely to have: short enough to type, and exact in any reader of JSON.
pub(crate) fn fresh_seed() -> u64 {
    // The standard library's hashers begin with random keys.
    RandomState::new().build_hasher().finish() >> 32
}

#[cfg(test)]
mod tests;
