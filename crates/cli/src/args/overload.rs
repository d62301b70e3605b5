//! Flags of `plimsoll overload`, and the plan they stand for.

use std::path::PathBuf;
use std::time::Duration;

use plimsoll_analyze::overload::held_rate;
use plimsoll_experiment::read_run;
use plimsoll_plan::{LoadSpec, OverloadSpec, Plan, Protector, Slo};
use plimsoll_units::{exact_duration_text, parse_count, parse_duration, parse_rate, parse_ratio};

use super::load::{Asked, Base};
use super::{KeepArgs, RequestArgs, SloArgs, WatchArgs, values};
use crate::exit::UsageError;

/// The help of `--timeout` for an overload, in which users give up: their patience follows from the latency limit.
const PATIENCE: &str = "Give up a connection attempt, or a request, after this time [default: 4 times the limit of p99, 1 s to 10 s, and \
                        never before 1.25 times the limit]";

#[derive(Debug, Clone, clap::Args)]
#[command(mut_arg("timeout", |timeout| timeout.help(PATIENCE)))]
#[command(before_help = "\
Examples:
  # Search for what it holds, then offer more
  plimsoll overload http://127.0.0.1:8080/api --p99 200ms
  # It holds 740/s, or what the newest run found: overload it at once, 2 to 4 minutes
  plimsoll overload http://127.0.0.1:8080/api --p99 200ms --rate 740
  plimsoll overload http://127.0.0.1:8080/api --p99 200ms --rate last
  # 1.1 and 3 times that rate, for 30 s each
  plimsoll overload http://127.0.0.1:8080/api --rate 740 --factors 1.1,3 --hold 30s
  # The settings for nginx that protect it
  plimsoll overload http://127.0.0.1:8080/api --rate 740 --snippet nginx > overload.conf")]
pub(crate) struct OverloadArgs {
    /// The URL that gets the load; without a scheme, http:// is meant. --requests may stand for it
    #[arg(required_unless_present = "requests")]
    pub(crate) url: Option<String>,
    #[command(flatten)]
    pub(crate) request: RequestArgs,
    /// The rate that the target holds within the conditions, or a run file that found it (`last` is the newest) [default: search for
    /// it first]
    #[arg(long, value_name = "RATE|RUN")]
    pub(crate) rate: Option<String>,
    /// The overloads, as multiples of that rate
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', default_value = "1.2,1.5,2")]
    pub(crate) factors: Vec<f64>,
    /// The load before and after an overload, as a share of that rate; at most 85%
    #[arg(long, value_name = "RATIO", default_value = "75%", value_parser = parse_ratio)]
    pub(crate) base: f64,
    /// How long an overload is held, and how long the ramp to it takes [default: 16 times the limit of p99, 8 s to 60 s, and longer
    /// where the lowest overload needs more to show a queue, or a slow --rate to bring enough requests]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) hold: Option<Duration>,
    /// How long the target is watched after an overload; it ends sooner once goodput is back [default: 1.5 times as long as a
    /// queue of the excess would last, at least 10 s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) watch: Option<Duration>,
    /// Longest time for the search; the ladder that brackets the rate takes at most half of it [default: 5m]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) budget: Option<Duration>,
    /// Most connections to open; a request that finds none free waits, which counts as latency
    #[arg(long, value_name = "N", default_value = "10k", value_parser = parse_count)]
    pub(crate) max_connections: u64,
    /// Load the target before the first step until its throughput is steady, for at most TIME
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) warm: Option<Duration>,
    /// Print the settings that protect the target, and nothing else: nginx, envoy, haproxy, resilience4j or grpc
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["json", "full"], value_parser = values::protector)]
    pub(crate) snippet: Option<Protector>,
    #[command(flatten)]
    pub(crate) watched: WatchArgs,
    #[command(flatten)]
    pub(crate) slo: SloArgs,
    #[command(flatten)]
    pub(crate) keep: KeepArgs,
}

/// The rate that a recorded run shows to hold.
#[derive(Debug)]
pub(crate) struct RecordedRate {
    /// Requests per second.
    pub(crate) rate_per_sec: f64,
    pub(crate) path: PathBuf,
    /// The target and the conditions of that run.
    plan: Plan,
}

impl RecordedRate {
    /// Refuses a rate that was recorded with another target.
    fn check_target(&self, plan: &Plan) -> Result<(), UsageError> {
        let (loaded, asked) = (self.plan.target.authority(), plan.target.authority());
        if loaded == asked {
            return Ok(());
        }
        Err(UsageError(format!(
            "--rate: run {} loaded {loaded}, not {asked}; give --rate {} if you mean it",
            self.path.display(),
            (self.rate_per_sec * 100.0).round() / 100.0
        )))
    }

    /// Returns a remark if the run has another latency limit than the one that goodput has here; `None` if they are the same.
    pub(crate) fn other_limit(&self, plan: &Plan) -> Option<String> {
        let (recorded, asked) = (tail_text(&self.plan.slo), tail_text(&plan.slo));
        (recorded != asked).then(|| {
            format!(
                "{} shows the rate that holds with {recorded}, and goodput counts here with {asked}; leave --rate out to search for it",
                self.path.display()
            )
        })
    }
}

/// Returns the latency limit of goodput as text.
fn tail_text(slo: &Slo) -> String {
    slo.tail_limit().map_or_else(
        || "no limit of latency".to_owned(),
        |limit| format!("{} ≤ {}", limit.name(), exact_duration_text(limit.limit_ns())),
    )
}

impl OverloadArgs {
    /// Returns the plan of an overload, and the run that its rate is from. Without --timeout, users give up after a few times
    /// the latency limit.
    pub(crate) fn plan(&self) -> anyhow::Result<(Asked, Option<RecordedRate>)> {
        let typed = self.rate.as_deref().and_then(|text| parse_rate(text).ok());
        let named = self.rate.as_deref().filter(|_| typed.is_none());
        let recorded = named.map(recorded_rate).transpose()?;
        let budget = Some(self.budget.unwrap_or(OverloadSpec::SEARCH_BUDGET));
        let mut base = Base::new(LoadSpec::Ladder { steps: None, step_limit: None, budget });
        base.spec.slo = self.slo.objective()?;
        let overload = OverloadSpec {
            rate_per_sec: typed.or(recorded.as_ref().map(|recorded| recorded.rate_per_sec)),
            base: Some(self.base),
            factors: self.factors.clone(),
            hold: self.hold,
            watch: self.watch,
        };
        base.spec.overload_with(overload);
        base.spec.warm = self.warm;
        base.spec.connections_max = Some(self.max_connections);
        let csv = self.request.apply_to(self.url.as_deref(), &mut base.spec)?;
        let asked = base.asked(csv, &self.keep, &self.watched)?;
        recorded.as_ref().map(|recorded| recorded.check_target(&asked.plan)).transpose()?;
        Ok((asked, recorded))
    }
}

/// Reads the rate that the named run file shows to hold.
fn recorded_rate(text: &str) -> anyhow::Result<RecordedRate> {
    let path = values::named_run(PathBuf::from(text)).map_err(|error| UsageError(error.to_string()))?;
    if !path.exists() {
        return Err(UsageError(format!(
            "--rate: `{text}` is no rate such as 740 or 2k, and there is no run file of that name"
        ))
        .into());
    }
    let findings = read_run(&path)?.findings;
    match held_rate(&findings) {
        Some(rate_per_sec) => Ok(RecordedRate { rate_per_sec, path, plan: findings.plan }),
        None => Err(UsageError(format!(
            "{} does not say which rate holds: no search or overload in it shows one; `plimsoll search` finds it",
            path.display()
        ))
        .into()),
    }
}
