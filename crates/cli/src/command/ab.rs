//! `plimsoll ab`: two services loaded in turn, and by how much B differs from A.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use indicatif::ProgressBar;
use plimsoll_analyze::Margin;
use plimsoll_analyze::ab::{AbFindings, AbLoad, AbRule, MIN_ROUNDS, compare_sides, quantile_differences};
use plimsoll_experiment::{
    AbEnd, AbProgress, AbRecord, AbSideSpec, AbSpec, Observer, Progress, RunContext, read_ab, run_ab,
    with_plain_host,
};
use plimsoll_fleet::Interrupts;
use plimsoll_plan::{LoadSpec, PlanSpec, RateProfile, RateSearchOrder};
use plimsoll_record::EventKind;
use plimsoll_report::figure::{self, Caption};
use plimsoll_report::json::FoundTogether;
use plimsoll_report::text::Page;
use plimsoll_report::{AbReport, json, junit_of_ab, markdown_of_ab, shown_address, text, words};
use plimsoll_units::{escape_control, parse_count, parse_duration, parse_rate, parse_ratio};

use crate::args::values::{self, RUNS_FOLDER};
use crate::args::{RequestArgs, SloArgs, Spread, WatchArgs, fresh_seed};
use crate::calibrations;
use crate::documents::{DocumentArgs, Documented, Kind};
use crate::exit::{Exit, UsageError};
use crate::experiments::settings;
use crate::files::{Output, Written};
use crate::pages::Together;
use crate::signals;
use crate::terminal::{page, print, remark, report_error, result, with_causes};

#[derive(Debug, clap::Args)]
#[command(before_help = "\
Examples:
  # Throughput, CPU and latency of both, in turn; latency at 500 requests a second
  plimsoll ab http://127.0.0.1:8001/api http://127.0.0.1:8002/api
  plimsoll ab http://127.0.0.1:8001/api http://127.0.0.1:8002/api -R 500
  # Two commands, each started for each of its loads
  plimsoll ab http://127.0.0.1:8080/api --a './old -p {port}' --b './new -p {port}'
  # Exit code 3 if B is worse by more than 3 %
  plimsoll ab http://127.0.0.1:8001/ http://127.0.0.1:8002/ --margin 3% --budget 5m
  # The highest rate of each within p99 ≤ 50 ms; an earlier comparison again
  plimsoll ab http://127.0.0.1:8001/ http://127.0.0.1:8002/ --search --p99 50ms --budget 40m
  plimsoll ab --report plimsoll-runs/ab-20260101-120000")]
#[command(after_help = "\
Options of ApacheBench's ab are taken by `plimsoll run`.
Exit codes: 0 B is not worse than the margin allows · 3 it is, for sure · 4 not known · 1 a side could not be loaded ·
130 interrupted, the rounds so far are kept. docs/ab.md says how A and B are compared.")]
pub(crate) struct AbArgs {
    /// The URLs of A and of B; with --a and --b the one URL that both serve
    #[arg(value_name = "URL", num_args = 0..=2)]
    urls: Vec<String>,
    /// Start A with this shell command before each of its loads, and end it after; {port} stands for the URL's port
    #[arg(long, value_name = "COMMAND", requires = "b")]
    a: Option<String>,
    /// Start B likewise
    #[arg(long, value_name = "COMMAND", requires = "a")]
    b: Option<String>,
    /// A started service is ready once this path is answered with success [default: once its port takes connections]
    #[arg(long, value_name = "PATH", requires = "a")]
    ready: Option<String>,
    /// Report the comparison of this folder again
    #[arg(long, value_name = "DIR", conflicts_with_all = NOT_REPORTED)]
    report: Option<PathBuf>,
    #[command(flatten)]
    request: RequestArgs,
    #[command(flatten)]
    load: AbLoadArgs,
    #[command(flatten)]
    watch: WatchArgs,
    #[command(flatten)]
    slo: SloArgs,
    /// Name of the folder, before the time
    #[arg(long, default_value = "ab", value_parser = values::name, help_heading = "Output")]
    name: String,
    /// Folder in which the folder of the comparison is made
    #[arg(short, long, value_name = "DIR", default_value = RUNS_FOLDER, help_heading = "Output")]
    out: PathBuf,
    /// One JSON document on standard output instead of text
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// No progress on standard error
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
    #[command(flatten, next_help_heading = "Output")]
    documents: DocumentArgs,
    /// Overwrite documents that are there
    #[arg(long, help_heading = "Output")]
    force: bool,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Rounds")]
struct AbLoadArgs {
    /// Connections of each load [default: as few as reach A's plateau, found by a ladder]
    #[arg(short, long, value_name = "N", value_parser = parse_count, conflicts_with_all = ["rate", "search"])]
    connections: Option<u64>,
    /// Offer both sides this rate and compare latency at it
    #[arg(short = 'R', long, value_name = "RATE", value_parser = parse_rate, conflicts_with = "search")]
    rate: Option<f64>,
    /// How the requests of -R are spread over time
    #[arg(long, value_enum, default_value = "poisson", requires = "rate")]
    arrivals: Spread,
    /// Search for the highest rate of each side within --p99 and --success, and compare these
    #[arg(long)]
    search: bool,
    /// How long each load lasts; with --search at most [default: 3s, with --search 2m]
    #[arg(short, long, value_name = "TIME", value_parser = parse_duration)]
    duration: Option<Duration>,
    /// How much worse B may be than A [default: 5%; with --report that of the comparison]
    #[arg(long, value_name = "RATIO", value_parser = parse_ratio)]
    margin: Option<f64>,
    /// End once the interval of the main ratio is within this, or a tenth of the difference
    #[arg(long, value_name = "RATIO", default_value = "1%", value_parser = parse_ratio)]
    precision: f64,
    /// Longest time of all rounds [default: 10m; with --search the time of 7 rounds, 30m with -d 2m]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    budget: Option<Duration>,
    /// Most rounds
    #[arg(long, value_name = "N", value_parser = parse_count)]
    rounds: Option<u64>,
    /// Time without load before each load
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = parse_duration)]
    pause: Duration,
    /// Load each service until its throughput is steady, for at most TIME, before its first load; before each load if
    /// --a and --b start it
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    warm: Option<Duration>,
}

/// The arguments that a comparison was made with, which its report cannot change.
const NOT_REPORTED: [&str; 43] = [
    "urls",
    "a",
    "method",
    "headers",
    "redact",
    "body",
    "timeout",
    "threads",
    "driver",
    "requests",
    "csv",
    "seed",
    "trace",
    "expect",
    "unix",
    "source_ips",
    "connect_to",
    "resolve",
    "no_keepalive",
    "cacert",
    "cert",
    "key",
    "insecure",
    "no_resumption",
    "http2",
    "streams",
    "probes",
    "no_probe",
    "profile",
    "p99",
    "success",
    "qps",
    "slo",
    "strict",
    "connections",
    "rate",
    "search",
    "duration",
    "precision",
    "budget",
    "rounds",
    "pause",
    "warm",
];
/// How much worse B may be by default.
const MARGIN: f64 = 0.05;
/// The longest time of a search, and of the rounds of any other load.
const SEARCH: Duration = Duration::from_secs(120);
const BUDGET: Duration = Duration::from_secs(600);
/// The time that each search needs besides its load: the first request, sampling the hosts, the start of a service.
const AROUND_SEARCH: Duration = Duration::from_secs(8);
const MINUTE: Duration = Duration::from_secs(60);

impl AbLoadArgs {
    /// Returns the longest time of all rounds; with searches, the default is that of the fewest rounds that show a difference.
    fn budget(&self) -> Duration {
        let needed = self.fewest_searches().unwrap_or(BUDGET);
        self.budget.unwrap_or_else(|| needed.max(MINUTE))
    }

    /// Returns how long the fewest rounds that show a difference take, in whole minutes, if each search takes its longest time;
    /// `None` without a search.
    fn fewest_searches(&self) -> Option<Duration> {
        let around = AROUND_SEARCH + self.pause + self.warm.unwrap_or_default();
        let one = self.duration.unwrap_or(SEARCH) + around;
        let searches = 2 * u32::try_from(MIN_ROUNDS).unwrap_or(u32::MAX);
        let minutes = (one * searches).as_secs().div_ceil(MINUTE.as_secs());
        self.search.then(|| Duration::from_secs(minutes * MINUTE.as_secs()))
    }

    fn spec(&self) -> LoadSpec {
        if self.search {
            let budget = Some(self.duration.unwrap_or(SEARCH));
            return LoadSpec::Ladder { steps: None, step_limit: None, budget };
        }
        LoadSpec::Single {
            connections: self.connections,
            profile: self.rate.map(RateProfile::Constant),
            arrivals: self.arrivals.into(),
            duration: Some(self.duration.unwrap_or(Duration::from_secs(3))),
            requests_max: None,
        }
    }

    fn rule(&self) -> AbRule {
        AbRule {
            margin: self.margin.unwrap_or(MARGIN),
            precision: self.precision,
            budget_sec: self.budget().as_secs_f64(),
            rounds_max: self.rounds.map(|most| u32::try_from(most).unwrap_or(u32::MAX)),
        }
    }
}

/// Watches for signals. A second one ends a service that is started here before the command exits.
fn interrupts(args: &AbArgs) -> anyhow::Result<Interrupts> {
    match args.a {
        Some(_) => signals::interrupts(),
        None => Ok(Interrupts { first: signals::interrupted()?, ..Interrupts::default() }),
    }
}

/// Compares two services, or reports a comparison again.
pub(crate) fn ab(args: &AbArgs) -> anyhow::Result<Exit> {
    check_documents(args)?;
    if let Some(folder) = &args.report {
        let (mut record, loads) = read_ab(folder)?;
        record.rule.margin = args.load.margin.unwrap_or(record.rule.margin);
        let findings = compare_sides(&loads, record.rule)?;
        let is_written =
            show(args, folder, Made { record: &record, loads: &loads, findings: &findings, trouble: None })?;
        return Ok(if is_written { exit(&findings) } else { Exit::CouldNotRun });
    }
    let (sides, csv) = sides(args)?;
    let interrupts = interrupts(args)?;
    let spec = AbSpec {
        seed: sides[0].spec.seed,
        sides,
        csv: csv.as_deref(),
        probing: !args.watch.no_probe,
        ready_page: args.ready.as_deref(),
        finds_connections: args.load.connections.is_none() && args.load.rate.is_none() && !args.load.search,
        rule: args.load.rule(),
        pause: args.load.pause,
        name: &args.name,
        at_once: &interrupts.second,
    };
    let settings = settings(&args.out, false, args.quiet);
    let display = AbDisplay::new(args.quiet);
    let calibrations = calibrations::known();
    let context = RunContext {
        settings: &settings,
        calibrations: &calibrations,
        interrupted: &interrupts.first,
        observer: &display,
    };
    let runs = run_ab(spec, context);
    drop(display);
    let runs = runs.or_else(|error| without_result(args, error.into()))?;
    let trouble = match &runs.end {
        AbEnd::Enough | AbEnd::Budget => None,
        AbEnd::Interrupted => Some("interrupted; the rounds so far are kept".to_owned()),
        AbEnd::Failed(error) => Some(with_causes(&**error)),
    };
    let made = Made { record: &runs.record, loads: &runs.loads, findings: &runs.findings, trouble };
    let is_written = show(args, &runs.folder, made)?;
    Ok(match &runs.end {
        _ if !is_written => Exit::CouldNotRun,
        AbEnd::Enough | AbEnd::Budget => exit(&runs.findings),
        AbEnd::Interrupted => Exit::Interrupted,
        AbEnd::Failed(error) => {
            report_error(&**error);
            if runs.findings.fails_more { exit(&runs.findings) } else { Exit::CouldNotRun }
        }
    })
}

fn exit(findings: &AbFindings) -> Exit {
    match findings.gate {
        Margin::Within => Exit::Success,
        Margin::Beyond => Exit::Broken,
        Margin::Unknown => Exit::Refused,
    }
}

/// Returns what is loaded as A and as B, and the text of the plans' CSV file.
fn sides(args: &AbArgs) -> anyhow::Result<([AbSideSpec; 2], Option<Vec<u8>>)> {
    refuse(args)?;
    let (url_a, url_b) = match (&args.urls[..], &args.a) {
        ([a, b], None) => (a, b),
        ([both], Some(_)) => (both, both),
        ([_, _], Some(_)) => {
            return Err(usage("--a and --b start services that serve one URL, in turn; give only that URL"));
        }
        ([_], None) => {
            return Err(usage(
                "`plimsoll ab` compares two services and there is one URL: give a second one, or --a COMMAND and --b \
                 COMMAND. ApacheBench's ab is `plimsoll run`, which takes its options",
            ));
        }
        _ => {
            return Err(usage(
                "give the URLs of A and B: plimsoll ab http://127.0.0.1:8001/ http://127.0.0.1:8002/",
            ));
        }
    };
    let mut spec = PlanSpec { seed: fresh_seed(), ..PlanSpec::new("", args.load.spec()) };
    if args.load.search {
        spec.search = Some(RateSearchOrder { tolerance: SEARCH_WITHIN });
        spec.search_within(args.slo.objective()?);
    }
    let csv = args.request.apply_to(Some(url_a), &mut spec)?;
    spec.warm = args.load.warm;
    spec.hosts = args.watch.hosts();
    let side = |url: &str, command: &Option<String>| -> anyhow::Result<AbSideSpec> {
        let spec = PlanSpec { url: with_plain_host(url)?, ..spec.clone() };
        let target = spec.clone().freeze()?.target;
        if args.ready.is_some() && target.is_secure() {
            return Err(usage(
                "--ready asks over plain HTTP, and this URL is https://: leave it out, so that a service is ready once its port takes \
                 connections",
            ));
        }
        let port = target.port;
        let command = command.as_ref().map(|text| text.replace("{port}", &port.to_string()));
        let [label, shown] = match &command {
            Some(command) => [command.clone(), command.clone()],
            None => [url.to_owned(), shown_address(url)],
        };
        Ok(AbSideSpec { label, shown, spec, command })
    };
    Ok(([side(url_a, &args.a)?, side(url_b, &args.b)?], csv))
}

/// How near the ends of a search must be to each other, as a ratio.
const SEARCH_WITHIN: f64 = 0.03;

fn refuse(args: &AbArgs) -> anyhow::Result<()> {
    if args.watch.profile.is_some() {
        return Err(usage("--profile takes one profile of one run: write plimsoll run URL --profile SOURCE"));
    }
    if args.slo.strict {
        return Err(usage(
            "--strict is of one run; a comparison that shows nothing ends with 4 by itself, so leave it out",
        ));
    }
    if !args.load.search && !args.slo.objective()?.is_empty() {
        return Err(usage(
            "conditions are what --search searches within; without it the limit is --margin RATIO",
        ));
    }
    let needed = args.load.fewest_searches().filter(|_| args.load.rounds.is_none());
    if let (Some(needed), Some(given)) = (needed, args.load.budget)
        && given < needed
    {
        return Err(UsageError(format!(
            "--budget is too short: the fewest rounds that show a difference are {MIN_ROUNDS}, and their searches may take {}m; give \
             that, or make each shorter (-d)",
            needed.as_secs() / MINUTE.as_secs()
        ))
        .into());
    }
    if args.load.precision <= 0.0 {
        return Err(usage("--precision is above 0, such as 1%"));
    }
    if args.ready.as_ref().is_some_and(|path| !path.starts_with('/')) {
        return Err(usage("--ready is a path of the service, such as /healthz"));
    }
    Ok(())
}

fn usage(text: &str) -> anyhow::Error {
    UsageError(text.to_owned()).into()
}

/// The name of documents that have no name of their own.
const STEM: &str = "ab";

/// Fails, before anything is loaded, if a document has no place or would replace a file.
fn check_documents(args: &AbArgs) -> anyhow::Result<()> {
    // The folder of a new comparison does not exist yet.
    let folder = args.report.as_deref().unwrap_or(&args.out);
    let stem = if args.report.is_some() { STEM } else { "" };
    let documents = args.documents.documents(Some((folder, stem)))?;
    documents.refuse_second_output(&[("--json", args.json)])?;
    if args.force { Ok(()) } else { documents.refuse_existing() }
}

/// Writes the documents of a comparison that has no result, so that a pipeline shows why; returns the error itself.
fn without_result<T>(args: &AbArgs, error: anyhow::Error) -> anyhow::Result<T> {
    let documents = args.documents.documents(Some((&args.out, STEM)))?;
    documents.write_failure(&args.name, &format!("{error:#}"), args.force)?.report(args.quiet);
    Err(error)
}

/// A comparison, and what ended it early.
struct Made<'a> {
    record: &'a AbRecord,
    loads: &'a [AbLoad],
    findings: &'a AbFindings,
    trouble: Option<String>,
}

/// The data for the documents of a comparison.
struct Source<'a> {
    name: &'a str,
    report: AbReport<'a>,
    trouble: Option<&'a str>,
}

impl Documented for Source<'_> {
    fn document(&self, kind: Kind) -> anyhow::Result<String> {
        let report = &self.report;
        Ok(match kind {
            Kind::Html => page_of(report)?,
            Kind::Markdown => markdown_of_ab(report, self.trouble),
            Kind::Junit => junit_of_ab(self.name, report, self.trouble)?,
        })
    }
}

fn page_of(report: &AbReport<'_>) -> anyhow::Result<String> {
    let [a, b] = report.labels;
    let text = text::ab(report, &Page::plain());
    let found = FoundTogether::Ab(json::AbDocument::new(report).into());
    Together { name: &format!("{b} compared with {a}"), text, found, runs: Vec::new() }.page()
}

/// Returns the services as documents name them: URLs without what documents hide, commands as typed.
fn in_documents(record: &AbRecord) -> [String; 2] {
    // `--a` and `--b` come together: with them both labels are commands.
    record.labels.each_ref().map(|label| if record.restarts { label.clone() } else { shown_address(label) })
}

fn show(args: &AbArgs, folder: &Path, made: Made<'_>) -> anyhow::Result<bool> {
    let Made { record, loads, findings, trouble } = made;
    let quantiles = quantile_differences(loads)?;
    let labels = in_documents(record);
    let report = AbReport { labels: &labels, restarts: record.restarts, findings, quantiles: &quantiles };
    let typed = AbReport { labels: &record.labels, ..report };
    let source = Source { name: &args.name, report, trouble: trouble.as_deref() };
    let documents = args.documents.documents(Some((folder, STEM)))?;
    match documents.printed(&source)? {
        Some(document) => result(&document)?,
        None => print(
            args.json,
            || json::render(&json::AbDocument::new(&report)),
            || text::ab(&typed, &page(None)),
        )?,
    }
    let mut written = Written::to(folder, figures(&report), true);
    written.extend(documents.write(&source, args.force));
    let is_written = written.report(args.quiet);
    if !args.quiet {
        remark(&format!(
            "the runs are in {0}; plimsoll ab --report {0} reports them again",
            folder.display()
        ));
    }
    Ok(is_written)
}

/// Draws the difference of each percentile, and the main figure of each round, as far as they are known.
fn figures(report: &AbReport<'_>) -> anyhow::Result<Vec<Output>> {
    let [a, b] = report.labels.each_ref().map(|label| escape_control(label));
    let caption = |title: &str| Caption { title: title.to_owned(), detail: format!("A: {a} · B: {b}") };
    let mut outputs = Vec::new();
    if !report.quantiles.is_empty() {
        let drawn =
            figure::quantile_difference(caption("Latency by percentile, B minus A"), report.quantiles)?;
        outputs.extend(Output::figure("quantiles", drawn));
    }
    if let Some(main) = report.findings.main() {
        let what = text::ab_figure(main.figure);
        let title = format!("{what} of B against A, round by round");
        let drawn = figure::round_ratios(caption(&title), &what, &report.findings.ratios)?;
        outputs.extend(Output::figure("rounds", drawn));
    }
    Ok(outputs)
}

/// Shows the progress of a comparison: one moving line on a terminal, a line for each round in a pipe.
#[derive(Debug)]
struct AbDisplay {
    quiet: bool,
    line: Option<ProgressBar>,
    /// The findings so far, as text.
    known: Mutex<String>,
    /// Problems of loads that were shown.
    shown: Arc<Mutex<BTreeSet<String>>>,
}

impl AbDisplay {
    fn new(quiet: bool) -> Self {
        let on_terminal = std::io::stderr().is_terminal();
        let line = (on_terminal && !quiet).then(ProgressBar::new_spinner);
        Self { quiet, line, known: Mutex::default(), shown: Arc::default() }
    }

    fn say(&self, text: &str) {
        match &self.line {
            Some(line) => line.suspend(|| remark(text)),
            None if !self.quiet => remark(text),
            None => {}
        }
    }

    fn known(&self) -> String {
        self.known.lock().map(|known| known.clone()).unwrap_or_default()
    }

    fn begin(&self, side: &str, round: u32) {
        if let Some(line) = &self.line {
            let round = if round == 0 { "trial".to_owned() } else { format!("round {round}") };
            let known = self.known();
            line.set_message(format!("{round}, {side}{}{known}", if known.is_empty() { "" } else { " · " }));
            line.tick();
        }
    }

    fn round_ended(&self, findings: &AbFindings) {
        let known = text::ab_progress(findings);
        if self.line.is_none() {
            self.say(&known);
        }
        if let Ok(mut kept) = self.known.lock() {
            *kept = known;
        }
    }
}

impl Observer for AbDisplay {
    fn observe(&self, progress: &Progress<'_>) {
        match progress {
            Progress::RunFailed(error) => match &self.line {
                Some(line) => line.suspend(|| report_error(*error)),
                None => report_error(*error),
            },
            Progress::Ab(AbProgress::ConnectionsFound(count)) => {
                self.say(&format!("A reaches its plateau at {count} connections; both sides get as many"));
            }
            Progress::Ab(AbProgress::SideBegins { side, round }) => self.begin(side.name(), *round),
            Progress::Ab(AbProgress::RoundEnded(findings)) => self.round_ended(findings),
            _ => {}
        }
    }

    fn run_observer(&self) -> Box<dyn plimsoll_conductor::Observer> {
        Box::new(TroubleDisplay { line: self.line.clone(), shown: Arc::clone(&self.shown) })
    }
}

/// Shows the problems of the loads of a comparison, each once.
struct TroubleDisplay {
    line: Option<ProgressBar>,
    shown: Arc<Mutex<BTreeSet<String>>>,
}

impl plimsoll_conductor::Observer for TroubleDisplay {
    fn observe(&mut self, progress: &plimsoll_conductor::Progress<'_>) {
        use plimsoll_conductor::Progress;
        let text = match progress {
            Progress::NotKept(error) => format!("the run is not kept: {error}"),
            Progress::FailureSeen { failure, unix_socket } => words::failure_seen(*failure, *unix_socket),
            Progress::Happened(event) if event.kind != EventKind::WarmedUp => escape_control(&event.text),
            _ => return,
        };
        let text = format!("plimsoll: {text}");
        if self.shown.lock().is_ok_and(|mut shown| shown.insert(text.clone())) {
            match &self.line {
                Some(line) => line.suspend(|| remark(&text)),
                None => remark(&text),
            }
        }
    }
}

impl Drop for AbDisplay {
    fn drop(&mut self) {
        if let Some(line) = &self.line {
            line.finish_and_clear();
        }
    }
}
