//! `plimsoll explain`: what limits, from a run, from a table of measurements, or from what production recorded.

use std::path::PathBuf;

use plimsoll_analyze::explain_table;
use plimsoll_experiment::{Mapping, RecordedRun, read_run, read_table};
use plimsoll_report::{json, text};

use crate::args::values;
use crate::exit::Exit;
use crate::terminal::print;
use production::ProductionArgs;

mod production;

#[derive(Debug, clap::Args)]
#[command(before_help = "\
Examples:
  # The verdict of the newest run again, with everything it rests on
  plimsoll explain last
  # A table of measurements; columns are recognised by their headers, or named
  plimsoll explain --csv table.csv
  plimsoll explain --csv table.csv --map qps=served --map rt_ms=mean
  plimsoll explain --csv tiers.csv --map qps=qps --map tomcat.instances=tomcats \\
      --map tomcat.cpu_percent=cpu --map nginx.in_mbit=in --map nginx.link_mbit=1000
  # A week of production, without a load test
  plimsoll explain --prometheus http://prometheus:9090 --last 7d \\
      --rate 'sum(rate(http_requests_total[1m]))'
  # One namespace, with a pool of 40 connections
  plimsoll explain --prometheus http://prometheus:9090 \\
      --rate 'sum(rate(nginx_http_requests_total{namespace=\"shop\"}[5m]))' --selector 'namespace=\"shop\"' \\
      --resource pool='sum(hikaricp_connections_active{namespace=\"shop\"})' --capacity pool=40
  # Series exported from a dashboard
  plimsoll explain --series dashboard.csv --rate 'requests/s' --capacity 'CPU (cores)=4'")]
#[command(after_help = "\
Meanings of columns (MEANING=COLUMN; a number in place of a column stands for itself in all rows). Columns that are not
named are recognised by their headers, and the answer begins with what was recognised; `MEANING=` is for none. A unit in a
cell or a header (µs, k, MB/s, %, cores) counts before that of the meaning's name:
  label                names of rows; several columns are joined: label=phase,note
  group                rows of the same requests; what a request costs is not carried from one group to another
  qps                  requests per second
  offered              requests per second that the load offered
  connections          connections, or requests under way; with rt_ms each row is checked by Little's law
  rt_ms                mean response time
  error_percent        requests that failed
  refused_percent      requests that were refused by policy
  think_ms             how long a client waits from an answer to its next request
  sleep_ms             how long the target delays each request on purpose
  load_machines        machines that made the load
  response_bytes       bytes of a response
  cores                cores of the machines under test
  front                (a name, no column) the tier that passes requests on to those measured alone
  TIER.instances       machines or processes of a tier; 0 where it takes no part
  TIER.cores           cores of each machine
  TIER.cpu_percent     CPU used of each machine, of all its cores
  TIER.cpu_cores       CPU used of each machine, in cores; 250 % are 2.5
  TIER.core_percent    CPU used by each process that can use one core at most
  TIER.quota_cores     cores that a quota leaves each machine, below what it has
  TIER.pool            workers or connections in the pool of each machine
  TIER.pool_used       how many of them are in use
  TIER.memory_percent  memory used of each machine
  TIER.disk_percent    the time that the disk of each machine is busy
  TIER.gc_percent      the time that goes to garbage collection
  TIER.in_mbit, TIER.out_mbit     Mbit/s into and out of each machine
  TIER.link_mbit       what its link carries each way
  TIER.link_both_mbit  what its link carries both ways together
  TIER.in_packets, TIER.out_packets   packets per second into and out of each machine
  TIER.link_packets    what its link carries of them each way
  TIER.qps             requests per second of one of them, measured alone

The tier `generator` is the machine that makes the load. docs/verdict.md says what follows from which,
docs/production.md what production shows without a load test. Exit code 4: what is full first is not known.")]
pub(crate) struct ExplainArgs {
    /// A run file; `last` is the newest
    #[arg(
        required_unless_present_any = ["csv", "prometheus", "series"],
        conflicts_with_all = ["csv", "prometheus", "series"],
        value_parser = values::run_file()
    )]
    file: Option<PathBuf>,
    /// A table of measurements instead of a run: comma-separated, with a header
    #[arg(long, value_name = "FILE", conflicts_with_all = ["prometheus", "series"])]
    csv: Option<PathBuf>,
    /// What a column of the table means
    #[arg(long, value_name = "MEANING=COLUMN", requires = "csv")]
    map: Vec<String>,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    production: ProductionArgs,
}

pub(crate) fn explain(args: &ExplainArgs) -> anyhow::Result<Exit> {
    if let Some(url) = &args.production.prometheus {
        return production::prometheus(&args.production, url, args.json);
    }
    if let Some(file) = &args.production.series {
        return production::series(&args.production, file, args.json);
    }
    if let Some(csv) = &args.csv {
        let (rows, reading) = read_table(csv, &Mapping::parse(&args.map)?)?;
        let found = explain_table(&rows);
        let document = || json::render(&json::TableDocument::new(&found, &reading));
        print(args.json, document, || text::table_explanation(&found, &reading))?;
    } else if let Some(file) = &args.file {
        let RecordedRun { run, findings, .. } = read_run(file)?;
        let document = || json::render(&json::ExplanationDocument::new(&findings));
        print(args.json, document, || text::explanation(&run, &findings))?;
    }
    Ok(Exit::Success)
}
