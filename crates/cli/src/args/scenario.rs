//! Flags about several requests, the values of variables and what is expected of answers.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use plimsoll_plan::{CsvFile, RequestSpec, RowOrder, ScenarioSpec};
use plimsoll_scenario::{Body, Known, RequestText, Template, parse_requests};

/// Stands for standard input where a file is named.
const STANDARD_INPUT: &str = "-";

/// The order of a CSV file's rows.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum CsvOrder {
    /// From the first to the last and round again, each once a round over all connections
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
    /// The URL's path, values of headers and bodies may hold ${uuid}, ${counter}, ${random(1,100)}, ${timestamp_ms},
    /// ${csv.COLUMN} and ${env.NAME}; $${ stands for the characters ${ themselves.
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// The order of its rows
    #[arg(long, value_enum, default_value = "sequential", requires = "csv")]
    pub(crate) csv_order: CsvOrder,
    /// Seed of the values of variables and of random arrivals; each run draws another one, which its file and its
    /// JSON hold
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Count an answer as a success only if this holds; may be given several times
    ///
    /// status=200, status=2xx,304, size<10k, body=TEXT, body~REGEX, header:Name=TEXT, header:Name~REGEX or
    /// json:/code=200.
    #[arg(long, value_name = "CHECK")]
    pub(crate) expect: Vec<String>,
}

impl ScenarioArgs {
    /// Reads the files that are named: what belongs to the plan, and the text of the CSV file.
    pub(crate) fn read(&self) -> anyhow::Result<(ScenarioSpec, Option<Vec<u8>>)> {
        let order = match self.csv_order {
            CsvOrder::Sequential => RowOrder::Sequential,
            CsvOrder::Random => RowOrder::Random,
        };
        let text = self.csv.as_deref().map(|path| read(path, "rows of values")).transpose()?;
        let csv = self.csv.clone().zip(text.as_deref()).map(|(path, text)| CsvFile::new(path, text, order));
        let requests = self.requests.as_deref();
        let requests = requests.map_or_else(|| Ok(Vec::new()), |path| self::requests(path, Path::new("")))?;
        Ok((ScenarioSpec { requests, csv, checks: self.expect.clone() }, text))
    }
}

/// A file of requests that is no text.
#[derive(Debug, thiserror::Error)]
#[error("`{}` is not UTF-8; a file of requests is text", .0.display())]
pub(crate) struct NotText(PathBuf);

/// The whole of a file, for errors called by what is in it.
fn read(path: &Path, what: &str) -> anyhow::Result<Vec<u8>> {
    let text = if path == Path::new(STANDARD_INPUT) {
        let mut text = Vec::new();
        std::io::stdin().read_to_end(&mut text).map(|_| text)
    } else {
        std::fs::read(path)
    };
    let path = path.display();
    text.map_err(|error| {
        anyhow!("could not read {what} from `{path}` ({error}); name a file that can be read")
    })
}

/// The requests of a file. The files of bodies that it names are looked for in `folder`; an empty one is the current.
pub(super) fn requests(path: &Path, folder: &Path) -> anyhow::Result<Vec<RequestSpec>> {
    let text = String::from_utf8(read(path, "requests")?).map_err(|_| NotText(path.to_owned()))?;
    let typed = parse_requests(&text).with_context(|| path.display().to_string())?;
    typed.into_iter().map(|typed| request(typed, folder)).collect()
}

fn request(typed: RequestText, folder: &Path) -> anyhow::Result<RequestSpec> {
    let RequestText { name, weight, method, url, headers, body, line } = typed;
    let url = with_plain_host(&url).with_context(|| format!("the request in line {line}"))?;
    let body = match body {
        Body::None => Vec::new(),
        Body::Inline(bytes) => bytes,
        Body::File(path) => read(&folder.join(path), &format!("the body of the request in line {line}"))?,
    };
    Ok(RequestSpec { name, weight, line, method, url, headers, body })
}

/// A URL whose host comes from the environment, with the host put in: it must be known before anything else is.
pub(super) fn with_plain_host(url: &str) -> anyhow::Result<String> {
    let ends = ['/', '?', '#'];
    let start = url.find("://").filter(|at| !url[..*at].contains(ends)).map_or(0, |at| at + 3);
    let end = url[start..].find(ends).map_or(url.len(), |end| start + end);
    let (host, path) = url.split_at(end);
    if !host.contains("${env.") {
        return Ok(url.to_owned());
    }
    let env = |name: &str| std::env::var(name).ok();
    let host = Template::parse(host.as_bytes(), &Known { columns: &[], env: &env })?;
    let Some(host) = host.constant() else { return Ok(url.to_owned()) };
    // What a variable holds is no template.
    Ok(String::from_utf8_lossy(host).replace("${", "$${") + path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_host_is_filled_in_from_the_environment() {
        let path = std::env::var("PATH").unwrap();
        let filled = |url: &str| with_plain_host(url).unwrap();
        assert_eq!(filled("${env.PATH}/a?b=${env.PATH}"), format!("{path}/a?b=${{env.PATH}}"));
        assert_eq!(filled("http://${env.PATH}"), format!("http://{path}"));
        assert_eq!(filled("/${env.PATH}://"), "/${env.PATH}://");
        assert_eq!(filled("${csv.host}/a"), "${csv.host}/a");
        let error = with_plain_host("${env.PLIMSOLL_NOT_SET}/").unwrap_err().to_string();
        assert!(error.contains("PLIMSOLL_NOT_SET"), "{error}");
    }
}
