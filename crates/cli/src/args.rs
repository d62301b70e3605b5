//! The command line.

mod compose;
mod fleet;
mod foreign;
mod history;
mod kubernetes;
mod line;
mod load;
mod network;
mod overload;
mod placement;
mod request;
mod scenario;
mod ssh;
mod transport;
pub(crate) mod values;
mod watch;

use std::error::Error as _;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand};
use plimsoll_plan::Target;
use plimsoll_units::nearest;

use crate::command::ab::AbArgs;
use crate::command::ablate::AblateArgs;
use crate::command::calibrate::CalibrateArgs;
use crate::command::diff::DiffArgs;
use crate::command::explain::ExplainArgs;
use crate::command::fleet::{AgentArgs, FleetCommandArgs};
use crate::command::lab::LabArgs;
use crate::command::plan::PlanArgs;
use crate::command::probe::ProbeArgs;
use crate::command::profile::ProfileArgs;
use crate::command::recorded::{CheckArgs, ExportArgs, ReportArgs};
use crate::command::runs::RunsArgs;
use crate::command::target::TargetArgs;
use crate::command::tiers::TiersArgs;
use crate::command::trend::TrendArgs;
use crate::command::view::ViewArgs;
use crate::exit::UsageError;
pub(crate) use compose::ComposeArgs;
pub(crate) use fleet::{FLEET, FLEET_FOLDER, FleetArgs, FleetAt, FleetSetting};
use foreign::Translated;
pub(crate) use history::{HistoryArgs, StoreArgs};
pub(crate) use kubernetes::{KubernetesArgs, OnKubernetesArgs};
pub(crate) use line::command_line;
pub(crate) use load::{AnswerArgs, Asked, RunArgs, SearchArgs, Spread, SweepArgs, fresh_seed};
pub(crate) use overload::{OverloadArgs, RecordedRate};
pub(crate) use placement::{ContainerArgs, PlacedArgs};
pub(crate) use request::{KeepArgs, RequestArgs, SloArgs};
pub(crate) use ssh::{SshArgs, SshHosts};
pub(crate) use watch::WatchArgs;

const EXAMPLES: &str = "\
Examples:
  # What an API holds and what stops it, in at most 90 s
  plimsoll http://127.0.0.1:8080/api
  # The same, with the hosts behind it sampled
  plimsoll http://api.test/ --probe ssh://web --probe db=redis://10.0.0.7
  # One load: 100 connections, or 2000 requests a second and a condition
  plimsoll run http://127.0.0.1:8080/api -c 100 -d 10s
  plimsoll run http://127.0.0.1:8080/api -R 2k -d 30s --p99 200ms
  # The highest rate within conditions, and what happens beyond it
  plimsoll search http://127.0.0.1:8080/api --p99 200ms
  plimsoll overload http://127.0.0.1:8080/api --p99 200ms
  # Two services, or two recorded runs, compared
  plimsoll ab http://127.0.0.1:8001/ http://127.0.0.1:8002/
  plimsoll diff last~1 last --margin 5%
  # Recorded runs: the newest in full, why that limit, machines for a rate
  plimsoll report last --full
  plimsoll explain last
  plimsoll plan last --target 100k
  # The run at which p99 changed; all runs in a browser
  plimsoll trend --metric p99
  plimsoll view
  # Hosts with known limits on this machine, and what limits them
  plimsoll lab run two-apis.toml
  # One load from three agents
  plimsoll fleet up --local 3
  plimsoll run http://127.0.0.1:8080/api -c 100 --fleet nats://127.0.0.1:4222
  # The command lines of wrk and wrk2
  plimsoll wrk -t2 -c100 -d30s --latency -s script.lua http://127.0.0.1:8080/";

const AFTER: &str = "\
Exit codes: 0 measured and every condition held · 1 could not run, or not to the end · 2 usage ·
3 a condition or a margin was broken · 4 not known whether, or no evidence under --strict · 130 interrupted, results kept

The load goes only to the URL you name; redirects are not followed. Test what is yours.";

/// How much an HTTP API holds, and what stops it.
#[derive(Debug, Parser)]
#[command(name = "plimsoll", version, before_help = EXAMPLES, after_help = AFTER)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
    /// Colours in the answer; `auto` leaves them out of pipes and files, and where NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = "Output")]
    pub(crate) color: ColorChoice,
}

/// The commands; without one, a URL gets the whole answer.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// One load: fixed connections (-c) or a fixed rate (-R)
    Run(RunArgs),
    /// The highest rate of arrivals within conditions such as --p99 200ms, and what breaks beyond it
    Search(SearchArgs),
    /// Offer a target more than it holds: how it degrades, whether it recovers, and what protects it
    Overload(OverloadArgs),
    /// A ladder of concurrency: table, .dat and figures
    Sweep(SweepArgs),
    /// Two runs, or two .dat files, side by side
    Diff(DiffArgs),
    /// Two services loaded in turn until it is known by how much B differs from A
    Ab(Box<AbArgs>),
    /// The recorded runs of a folder and of a team: filters, tags, delivery
    Runs(RunsArgs),
    /// Where a metric changed over many runs
    Trend(TrendArgs),
    /// The recorded runs of a folder as pages in a browser: a list, one run, several side by side
    View(ViewArgs),
    /// Print the report of a recorded run again
    Report(ReportArgs),
    /// Whether a run file is intact: each part by its digests
    Check(CheckArgs),
    /// A recorded run as dat, csv or json
    Export(ExportArgs),
    /// What limits a service: from a recorded run, a table of measurements, or what production recorded
    Explain(ExplainArgs),
    /// The CPU profile of a recorded run: where the time of a request goes
    Profile(ProfileArgs),
    /// How many machines each tier needs for a target rate, from recorded runs or a table of measurements
    Plan(PlanArgs),
    /// Tier by tier: the variants of a plan file side by side, what limits each, how well tiers scale out
    Tiers(TiersArgs),
    /// What each of several switches costs a request: on and off, in turn, repeated
    Ablate(AblateArgs),
    /// How much load this machine can make at most; later runs are judged by it
    Calibrate(CalibrateArgs),
    /// Hosts with known limits on this machine: make them, load them, name what limits them
    Lab(LabArgs),
    /// Make shares of the loads that a conductor asks for: one machine of a fleet
    Agent(AgentArgs),
    /// A broker and agents: start them, see who is there, end them
    Fleet(FleetCommandArgs),
    /// What this host is doing: once for a person, or as a stream of samples
    Probe(ProbeArgs),
    /// The built-in reference server, for demos and tests
    Target(TargetArgs),
}

impl Args {
    /// Parses a command line, which may contain options of ab and hey. Also returns remarks about options without effect.
    ///
    /// # Errors
    /// When the line is wrong. Help and version are printed, and end the process.
    pub(crate) fn read(line: Vec<String>) -> anyhow::Result<(Self, Vec<String>)> {
        let mut root = whole_command();
        root.build();
        let Translated { line, remarks } = foreign::translate(&root, line)?;
        let matches = whole_command().try_get_matches_from(&line);
        matches.iter().for_each(|matches| line::keep(&root, matches));
        let args = match matches.and_then(|matches| Self::from_arg_matches(&matches)) {
            Ok(args) => args,
            Err(error) => match explained(&error, &line) {
                Some(meant) => return Err(meant.into()),
                None if is_mistake(&error) => return Err(in_our_voice(&error, &line).into()),
                None => error.exit(),
            },
        };
        if let Some(url) = &args.answer.url
            && Target::is_word(url)
        {
            return Err(no_command(url).into());
        }
        let remarks = if args.quiet() { Vec::new() } else { remarks };
        Ok((args, remarks))
    }

    fn quiet(&self) -> bool {
        match &self.command {
            Some(Command::Run(run)) => run.keep.quiet,
            _ => self.answer.keep.quiet,
        }
    }
}

const LADDER: &str = "is about a ladder of loads: write plimsoll sweep URL --ladder N,N,… --step TIME";
const RATE: &str =
    "is about one load: write plimsoll run URL -R RATE; a sweep climbs in connections, --ladder N,N,…";
const STEP: &str = "is about one load; in a sweep --step TIME is how long one step lasts at most";
const ONE_LOAD: &str = "is about one load: write plimsoll run URL; a sweep's connections are --ladder N,N,…";
const BUDGET: &str = "is about the whole answer: write plimsoll URL --budget TIME; one load lasts -d TIME";
const APACHE_BENCH: &str = "is no option of `plimsoll ab`, which compares two services in turn; ApacheBench's ab is `plimsoll run`, \
     which takes its options: plimsoll run -n 100 -c 10 URL";
const VERSION: &str = "has no meaning here: write plimsoll --version";

/// Returns a better message than the parser's for a line that it refuses, if there is one.
fn explained(error: &clap::Error, line: &[String]) -> Option<UsageError> {
    misplaced(error, line).or_else(|| two_urls(error, line)).or_else(|| mistyped(error, line))
}

/// Returns an error if the parser refuses an option that belongs to another command.
fn misplaced(error: &clap::Error, line: &[String]) -> Option<UsageError> {
    let (ErrorKind::UnknownArgument, Some(ContextValue::String(typed))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
    else {
        return None;
    };
    let command = line.get(1).map(String::as_str).unwrap_or_default();
    let words = match (command, typed.as_str()) {
        (_, "-V" | "--version") => VERSION,
        ("run", "--budget") => BUDGET,
        ("ab", short) if short.starts_with('-') && !short.starts_with("--") => APACHE_BENCH,
        ("sweep", "-R" | "--rate" | "--arrivals") => RATE,
        ("sweep", "-d" | "--duration") => STEP,
        ("sweep", "-c" | "--connections" | "-n" | "--requests-count" | "--pipeline") => ONE_LOAD,
        ("sweep", "--ladder" | "--step") => return None,
        (_, "--ladder" | "--step") => LADDER,
        _ => return None,
    };
    Some(UsageError(format!("{typed} {words}")))
}

/// Returns the command line with `wrk`, whose arguments are parsed elsewhere by rules of their own.
fn whole_command() -> clap::Command {
    let wrk = clap::Command::new("wrk").about("wrk's and wrk2's own command line, Lua scripts and text");
    Args::command().subcommand(wrk)
}

/// Returns an error for two URLs, the second of which the parser takes for a command.
fn two_urls(error: &clap::Error, line: &[String]) -> Option<UsageError> {
    if line.get(1).is_none_or(|word| is_command(word)) {
        return None;
    }
    let is_url = |word: &&String| word.starts_with("http://") || word.starts_with("https://");
    let urls: Vec<&String> = line.iter().skip(1).filter(is_url).collect();
    let [first, second] = urls[..] else { return None };
    let said = || UsageError(format!("one call loads one URL, and there are two, {first} and {second}"));
    (error.kind() == ErrorKind::ArgumentConflict).then(said)
}

/// Returns true unless the line asks for help or the version, or is empty.
fn is_mistake(error: &clap::Error) -> bool {
    error.use_stderr() && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
}

/// Turns the parser's message into a sentence, with where to read more.
fn in_our_voice(error: &clap::Error, line: &[String]) -> UsageError {
    let said = wrong_value(error).unwrap_or_else(|| parsers_words(error));
    let command =
        line.get(1).filter(|word| is_command(word)).map(|word| format!(" {word}")).unwrap_or_default();
    UsageError(format!("{said}; see `plimsoll{command} --help`"))
}

/// Returns the message of the value's own type for a wrong value. The parser would repeat the value, which may be a secret.
fn wrong_value(error: &clap::Error) -> Option<String> {
    let reason = error.source().filter(|_| error.kind() == ErrorKind::ValueValidation)?.to_string();
    // The errors of the standard library's number parsers do not mention the value.
    if !reason.contains('`') {
        return None;
    }
    let Some(ContextValue::String(arg)) = error.get(ContextKind::InvalidArg) else { return None };
    let arg = arg.split(' ').next().unwrap_or_default();
    Some(if arg.starts_with('-') { format!("{arg}: {reason}") } else { reason })
}

fn parsers_words(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let text = text.split("\n\nUsage:").next().unwrap_or_default();
    let text = text.split("\n\nFor more information").next().unwrap_or_default();
    let mut said = String::new();
    // The parser's tip to pass a word with a dash as a value is never what the user meant.
    let is_said = |part: &&str| !part.is_empty() && !part.starts_with("tip: to pass");
    for part in text.trim_start_matches("error:").lines().map(str::trim).filter(is_said) {
        let joint = match said.chars().last() {
            None => "",
            Some(':') => " ",
            Some(_) => "; ",
        };
        said = format!("{said}{joint}{}", part.trim_start_matches("tip: "));
    }
    said
}

/// Returns an error for an unknown word in place of a command, which the parser takes for a URL.
fn mistyped(error: &clap::Error, line: &[String]) -> Option<UsageError> {
    let is_refused = matches!(
        error.kind(),
        ErrorKind::UnknownArgument | ErrorKind::ArgumentConflict | ErrorKind::InvalidSubcommand
    );
    line.get(1)
        .filter(|word| is_refused && Target::is_word(word) && !is_command(word))
        .map(|word| no_command(word))
}

fn is_command(word: &str) -> bool {
    whole_command().get_subcommands().any(|command| command.get_name() == word)
}

/// Returns the error for a single word that is neither a command nor a URL.
fn no_command(word: &str) -> UsageError {
    let root = whole_command();
    let names = root.get_subcommands().map(clap::Command::get_name);
    let meant = match nearest(word, names) {
        Some(name) => format!("did you mean `plimsoll {name}`?"),
        None => "`plimsoll --help` lists the commands.".to_owned(),
    };
    UsageError(format!(
        "`{word}` is neither a command nor a URL: {meant} For a host of that name write http://{word}/"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_alone_is_a_command() {
        let args = Args::parse_from(["plimsoll", "http://127.0.0.1/"]);
        assert_eq!(args.answer.url, Some("http://127.0.0.1/".to_owned()));
    }

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }
}
