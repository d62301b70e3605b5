//! Flags about several requests, the values of variables and the checks of responses.

use std::path::{Path, PathBuf};

use plimsoll_experiment::{read_input, read_requests};
use plimsoll_plan::{CsvFile, PlanSpec, RowOrder};
use plimsoll_units::parse_ratio;

/// The order of a CSV file's rows.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum CsvOrder {
    /// From the first to the last, then from the first again; all connections share one sequence
    Sequential,
    /// Any row, each as likely as any other
    Random,
}

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Several requests, variables and checks")]
pub(crate) struct ScenarioArgs {
    /// Send the requests of this file, each as often as its weight says; - reads standard input
    ///
    /// A list of URLs or paths, or vegeta's http or json format. All of them go to one host: that of the URL,
    /// which may be left out if the file names it. Headers given with -H go to every request without one of that
    /// name.
    #[arg(long, value_name = "FILE")]
    pub(crate) requests: Option<PathBuf>,
    /// Take the values of ${csv.COLUMN} from this file, one row for each request
    ///
    /// The URL's path, values of headers and bodies may contain ${uuid}, ${counter}, ${random(1,100)}, ${timestamp_ms},
    /// ${csv.COLUMN} and ${env.NAME}; $${ stands for the characters ${ themselves.
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Order of the rows
    #[arg(long, value_enum, default_value = "sequential", requires = "csv")]
    pub(crate) csv_order: CsvOrder,
    /// Seed of the values of variables and of random arrivals; by default each run draws one, and records it in its file
    /// and JSON
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Send a W3C traceparent header with this share of requests, such as 1% or 0.01
    ///
    /// The report, the JSON document and the run file show the trace ids of the slowest of these requests of each step and of
    /// the first that failed, to be found in the tracing system of the target.
    #[arg(long, value_name = "SHARE", value_parser = parse_ratio)]
    pub(crate) trace: Option<f64>,
    /// Count an answer as a success only if this holds; may be given several times
    ///
    /// status=200, status=2xx,304, size<10k, body=TEXT, body~REGEX, header:Name=TEXT, header:Name~REGEX or
    /// json:/code=200.
    #[arg(long, value_name = "CHECK")]
    pub(crate) expect: Vec<String>,
}

impl ScenarioArgs {
    /// Reads the files that are named, and overrides a plan with them and with the other flags that were given. Returns the
    /// text of the CSV file.
    pub(crate) fn apply_to(&self, spec: &mut PlanSpec) -> anyhow::Result<Option<Vec<u8>>> {
        spec.seed = self.seed.unwrap_or(spec.seed);
        spec.trace = self.trace.or(spec.trace);
        if let Some(path) = &self.requests {
            spec.scenario.requests = read_requests(path, Path::new(""))?;
            // These requests replace the single request of a plan file.
            (spec.method, spec.body) = (None, None);
        }
        let scenario = &mut spec.scenario;
        if !self.expect.is_empty() {
            scenario.checks.clone_from(&self.expect);
        }
        let order = match self.csv_order {
            CsvOrder::Sequential => RowOrder::Sequential,
            CsvOrder::Random => RowOrder::Random,
        };
        let text = self.csv.as_deref().map(|path| read_input(path, "rows of values")).transpose()?;
        if let Some((path, text)) = self.csv.clone().zip(text.as_deref()) {
            scenario.csv = Some(CsvFile::new(path, text, order));
        }
        Ok(text)
    }
}
