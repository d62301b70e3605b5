//! Flags about the request, the limits and the files, shared by the commands that make load.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::anyhow;
use plimsoll_experiment::with_plain_host;
use plimsoll_plan::{Condition, DriverKind, LatencyLimit, PlanError, PlanSpec, Slo};
use plimsoll_units::{parse_count, parse_duration, parse_rate, parse_ratio};

use super::FleetArgs;
use super::history::{StoreArgs, TagArgs};
use super::network::NetworkArgs;
use super::scenario::ScenarioArgs;
use super::transport::TransportArgs;
use super::values::{self, RUNS_FOLDER};
use crate::documents::DocumentArgs;

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Request")]
pub(crate) struct RequestArgs {
    /// Request method; GET, or POST with a body
    #[arg(short, long, conflicts_with = "requests")]
    pub(crate) method: Option<String>,
    /// Add a header; may be given several times
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    pub(crate) headers: Vec<String>,
    /// Hide the value of this header in JSON too; those of tokens, keys, cookies and passwords are always hidden
    #[arg(long, value_name = "NAME")]
    pub(crate) redact: Vec<String>,
    /// Request body, or @FILE to read it from a file
    #[arg(short, long, value_name = "TEXT|@FILE", conflicts_with = "requests")]
    pub(crate) body: Option<String>,
    /// Give up a connection attempt, or a request, after this time [default: 10s, or 1.25 times the longest latency limit]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,
    /// Worker threads; by default one per core, or one per two cores for a target on this machine
    #[arg(short, long, value_name = "N", value_parser = parse_count)]
    pub(crate) threads: Option<u64>,
    /// Move bytes by `epoll` or by `io_uring` [default: io_uring where the kernel offers it]
    #[arg(long, value_name = "NAME")]
    pub(crate) driver: Option<DriverKind>,
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
    #[command(flatten)]
    pub(crate) transport: TransportArgs,
}

impl RequestArgs {
    /// Overrides a plan with the flags that were given. Returns the text of the CSV file, which no plan holds.
    pub(crate) fn apply_to(&self, url: Option<&str>, spec: &mut PlanSpec) -> anyhow::Result<Option<Vec<u8>>> {
        if let Some(url) = url {
            spec.url = with_plain_host(url)?;
        }
        if self.method.is_some() {
            spec.method.clone_from(&self.method);
        }
        if let Some(text) = &self.body {
            spec.body = Some(body(text)?);
        }
        spec.lay_headers_over(&self.headers);
        spec.redact.extend_from_slice(&self.redact);
        spec.timeout = self.timeout.unwrap_or(spec.timeout);
        spec.workers = self.threads.or(spec.workers);
        spec.driver = self.driver.or(spec.driver);
        self.network.apply_to(&mut spec.network);
        self.transport.apply_to(&mut spec.transport);
        self.scenario.apply_to(spec)
    }
}

/// The longest request body that is read from a file, in bytes.
const MAX_BODY_BYTES: u64 = 1 << 30;

/// Returns a body as typed, or the content of the file that `@FILE` names.
fn body(text: &str) -> anyhow::Result<Vec<u8>> {
    match text.strip_prefix('@') {
        None => Ok(text.as_bytes().to_vec()),
        Some(path) => plimsoll_sys::read_regular(Path::new(path), MAX_BODY_BYTES).map_err(|error| {
            anyhow!(
                "could not read the request body from `{path}` ({error}); name a file that can be read after the \
                 @, or give the body itself without one"
            )
        }),
    }
}

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Conditions")]
pub(crate) struct SloArgs {
    /// The 99th percentile of latency must not exceed this
    #[arg(long, value_name = "TIME", value_parser = values::duration_with_unit)]
    pub(crate) p99: Option<Duration>,
    /// At least this part of the requests must succeed, such as 99.95%
    #[arg(long, value_name = "RATIO", value_parser = parse_ratio)]
    pub(crate) success: Option<f64>,
    /// At least this many requests a second must be served
    #[arg(long, value_name = "RATE", value_parser = parse_rate)]
    pub(crate) qps: Option<f64>,
    /// Any condition, as often as needed: 'p50<20ms', 'p99.9<1s', 'max<2s', 'success>=99.9%', 'errors<0.1%', 'qps>=2k', or in
    /// k6's spelling 'http_req_duration: p(95)<200'. Quote it: the shell reads < and > itself
    #[arg(long, value_name = "CONDITION")]
    pub(crate) slo: Vec<Condition>,
    /// Exit with code 4 if the result is no evidence: the generator was the limit, or it was not steady
    #[arg(long)]
    pub(crate) strict: bool,
}

impl SloArgs {
    /// Returns the conditions that were given.
    ///
    /// # Errors
    /// When two of them contradict each other.
    pub(crate) fn objective(&self) -> Result<Slo, PlanError> {
        let p99 = self.p99.map(|limit| LatencyLimit::p99(limit.as_secs_f64() * 1e3));
        let short = [
            p99.map(Condition::Latency),
            self.success.map(Condition::Success),
            self.qps.map(Condition::Throughput),
        ];
        Slo::of_conditions(short.into_iter().flatten().chain(self.slo.iter().copied()))
    }
}

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct KeepArgs {
    /// Name of the run, which its files carry; by default the target's host and port
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Folder for the run file and everything else that is written
    #[arg(short, long, value_name = "DIR", default_value = RUNS_FOLDER)]
    pub(crate) out: PathBuf,
    /// Write no files at all
    #[arg(long)]
    pub(crate) no_files: bool,
    #[command(flatten)]
    pub(crate) tags: TagArgs,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    #[command(flatten)]
    pub(crate) documents: DocumentArgs,
    #[command(flatten)]
    pub(crate) fleet: FleetArgs,
    /// Overwrite figures, tables and documents of the same name
    #[arg(long)]
    pub(crate) force: bool,
    /// One JSON document on standard output instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// The full report instead of the short answer: all steps and figures, the evidence, the self-check
    #[arg(long)]
    pub(crate) full: bool,
    /// No progress on standard error
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Show the run on the whole terminal while it goes on: the steps so far, latency, failures, the use of hosts [default: for runs
    /// of 5 s and more, but not with -n, --live or --metrics, or where TERM is dumb, CI or PLIMSOLL_NO_TUI is set]. In a pipe, print lines
    #[arg(long, overrides_with = "no_tui")]
    pub(crate) tui: bool,
    /// Show one moving line
    #[arg(long, overrides_with = "tui")]
    pub(crate) no_tui: bool,
    /// Serve the metrics of the run while it goes on, for Prometheus: http://ADDRESS/metrics
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) metrics: Option<SocketAddr>,
    /// Push the same metrics to an OpenTelemetry collector every 10 s and at the end, by OTLP over HTTP: http://127.0.0.1:4318
    ///
    /// The variables OTEL_EXPORTER_OTLP_HEADERS, OTEL_EXPORTER_OTLP_TIMEOUT, OTEL_METRIC_EXPORT_INTERVAL, OTEL_SERVICE_NAME and
    /// OTEL_RESOURCE_ATTRIBUTES are obeyed. A collector that is away changes nothing in the run.
    #[arg(long, value_name = "URL")]
    pub(crate) otlp: Option<String>,
    /// Serve the run's page while it goes on, at a URL that is printed; without an address at a free port of 127.0.0.1
    ///
    /// The URL has a token that changes with each run: the page needs it. At the end the page shows the same as --html.
    #[arg(long, value_name = "ADDRESS:PORT", num_args = 0..=1, default_missing_value = values::LOCAL, value_parser = values::listen_address)]
    pub(crate) live: Option<SocketAddr>,
}
