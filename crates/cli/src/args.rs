//! The command line.

use std::path::PathBuf;

use clap::{CommandFactory, Parser, Subcommand};
use values::RUNS_FOLDER;

mod ablate;
mod calibrate;
mod explain;
mod foreign;
mod lab;
mod load;
mod misplaced;
mod network;
mod plan;
mod probe;
mod profile;
mod request;
mod scenario;
mod tiers;
mod transport;
mod values;
mod watch;

pub(crate) use ablate::AblateArgs;
pub(crate) use calibrate::CalibrateArgs;
pub(crate) use explain::ExplainArgs;
use foreign::Translated;
pub(crate) use lab::{
    CaseArgs, DiagnoseArgs, GeneratorArgs, LabArgs, LabCommand, LabRunArgs, ListArgs, UpArgs,
};
pub(crate) use load::{AnswerArgs, Asked, RunArgs, SweepArgs};
pub(crate) use plan::PlanArgs;
pub(crate) use probe::ProbeArgs;
pub(crate) use profile::ProfileArgs;
pub(crate) use request::{KeepArgs, RequestArgs, SloArgs};
pub(crate) use tiers::TiersArgs;
pub(crate) use watch::WatchArgs;

const EXAMPLES: &str = "\
Examples:
  plimsoll http://127.0.0.1:8080/api                 how much it holds, in at most 90 s
  plimsoll run  http://127.0.0.1:8080/api -c 100 -d 10s
  plimsoll run  http://127.0.0.1:8080/api -R 2k -d 30s --p99 200ms
  plimsoll run  http://127.0.0.1:8080 --requests shop.txt --csv users.csv --expect status=2xx
  plimsoll sweep http://127.0.0.1:8080/api -n api --ladder 200,500,1k
  plimsoll https://api.test/ --cacert ca.pem         over TLS, trusting that authority; add --http2 for HTTP/2
  plimsoll lab run two-apis.toml                     hosts with known limits, made here; what limits them
  plimsoll http://api.test/ --probe ssh://web --probe db=redis://10.0.0.7     and sample the hosts behind it
  plimsoll diff  plimsoll-runs/api.dat plimsoll-runs/http.dat --margin 5%
  plimsoll report plimsoll-runs/api-20260101-120000.plimsoll
  plimsoll explain plimsoll-runs/api-20260101-120000.plimsoll                     what limits, and why
  plimsoll plan plimsoll-runs/api-20260101-120000.plimsoll --target 100k          machines per tier
  plimsoll tiers -f shop.toml                        the variants of a plan file: what limits each, how tiers scale
  plimsoll ablate -f shop.toml                       what each [[switch]] of a plan file costs a request
  plimsoll wrk -t2 -c100 -d30s --latency -s script.lua http://127.0.0.1:8080/     wrk's and wrk2's own command line";

const AFTER: &str = "\
Exit codes: 0 measured and every condition held · 1 could not run, or not to the end · 2 usage ·
3 an SLO or a margin was broken · 4 refused as evidence under --strict · 130 interrupted, results kept

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
}

/// The commands; without one, a URL gets the whole answer.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// One load: fixed connections (-c) or a fixed rate (-R)
    Run(RunArgs),
    /// A ladder of concurrency: table, .dat and figures
    Sweep(SweepArgs),
    /// Two runs, or two .dat files, side by side
    Diff(DiffArgs),
    /// The recorded runs of a folder
    Runs(RunsArgs),
    /// The report of a recorded run again
    Report(ReportArgs),
    /// A recorded run as dat, csv or json
    Export(ExportArgs),
    /// What limits, of a recorded run or of a table of measurements, with all evidence
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
    /// What this host is doing: once for a person, or as a stream of samples
    Probe(ProbeArgs),
    /// The built-in reference server, for demos and tests
    Target(TargetArgs),
}

impl Args {
    /// Reads a line, which may hold options of ab and hey. Options without effect become remarks.
    ///
    /// # Errors
    /// When an option of ab or hey has no equal here, or an option belongs to another command. Any other wrong line ends the
    /// process.
    pub(crate) fn read(line: Vec<String>) -> anyhow::Result<(Self, Vec<String>)> {
        let mut root = Self::command();
        root.build();
        let Translated { line, remarks } = foreign::translate(&root, line)?;
        let args = match Self::try_parse_from(&line) {
            Ok(args) => args,
            Err(error) => match misplaced::misplaced(&error, &line) {
                Some(misplaced) => return Err(misplaced.into()),
                None => error.exit(),
            },
        };
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

#[derive(Debug, clap::Args)]
#[command(before_help = "\
Examples:
  plimsoll diff api.dat http.dat                     figures and ratios, A against B
  plimsoll diff new.plimsoll old.plimsoll --margin 5%    exit code 3 if A is worse by more than 5 %")]
pub(crate) struct DiffArgs {
    /// What is judged: a run file or a .dat file
    pub(crate) a: PathBuf,
    /// What it is judged by: a run file or a .dat file
    pub(crate) b: PathBuf,
    /// How much worse than B the best QPS or the success ratio of A may be
    #[arg(long, value_name = "RATIO", value_parser = values::ratio)]
    pub(crate) margin: Option<f64>,
    /// Name of the figures' files; by default the names of A and B
    #[arg(short, long, value_parser = values::name)]
    pub(crate) name: Option<String>,
    /// Folder for the figures
    #[arg(short = 'o', long, value_name = "DIR", default_value = RUNS_FOLDER)]
    pub(crate) out: PathBuf,
    /// Write no figures
    #[arg(long, conflicts_with_all = ["name", "out", "force"])]
    pub(crate) no_files: bool,
    /// Overwrite figures that are there
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunsArgs {
    /// The folder of run files
    #[arg(default_value = RUNS_FOLDER)]
    pub(crate) folder: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// A run file
    pub(crate) file: PathBuf,
    /// One JSON document instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// Draw the figures again, and write the .dat, into this folder
    #[arg(short = 'o', long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Name of these files; by default that of the run file
    #[arg(short, long, requires = "out", value_parser = values::name)]
    pub(crate) name: Option<String>,
    /// Overwrite files that are there
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
}

/// The forms a run can be exported to.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum ExportFormat {
    /// One row a step: concurrency, QPS, mean response time in ms, success in per cent
    Dat,
    /// One row a step with all figures, and a header
    Csv,
    /// The JSON document that --json prints
    Json,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// A run file
    pub(crate) file: PathBuf,
    /// The form
    #[arg(short, long, value_enum)]
    pub(crate) format: ExportFormat,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Paths:
  /healthz                      {\"status\":\"ok\"}
  /payload?number=N             N records of JSON, from memory
  /sleep?ms=N&workers=K         answers after N ms, at most K at a time, the rest wait in line
  /cpu?us=N                     burns N µs of CPU
  /status/CODE                  that status
  /chunked                      a chunked body
  /close                        closes the connection after the answer
  /stall?every=5s&for=500ms     holds all answers during the last 500 ms of every 5 s")]
pub(crate) struct TargetArgs {
    /// Address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) listen: std::net::IpAddr,
    /// Port to listen on; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    pub(crate) port: u16,
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
