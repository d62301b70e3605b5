//! Guesses the meanings of columns from their headers and cells. The answer shows each guess, and `--map` overrules it.

use std::collections::BTreeSet;

use super::cell::{Cell, NoNumber};
use super::header::Header;
use super::mapping::Mapping;
use super::unit::{self, Dimension};

/// The tier of figures whose header names no tier.
const SERVER: &str = "server";
/// The tier for figures of the load generator itself.
const GENERATOR: &str = "generator";

const THROUGHPUT: [&str; 22] = [
    "qps",
    "rps",
    "tps",
    "cps",
    "throughput",
    "req/s",
    "reqs/s",
    "req/sec",
    "reqs/sec",
    "requests/s",
    "requests/sec",
    "requests/second",
    "queries/s",
    "queries/sec",
    "ops/s",
    "ops/sec",
    "msg/s",
    "msg/sec",
    "msgs/s",
    "messages/s",
    "transactions/s",
    "hits/s",
];
const COUNTED: [&str; 5] = ["requests", "queries", "transactions", "messages", "operations"];
/// Words that mark a rate as something other than the measured total.
const NOT_MEASURED: [&str; 12] = [
    "ideal",
    "linear",
    "expected",
    "max",
    "min",
    "p50",
    "p99",
    "core",
    "gain",
    "change",
    "stdev",
    "recommended",
];
const OFFERED: [&str; 4] = ["offered", "target", "requested", "arrival"];
/// Words for the load of a row, the plainest first.
const LOADS: [&[&str]; 5] = [
    &["connections", "connection", "conns", "conn", "c"],
    &["concurrency", "concurrent"],
    &["clients", "client"],
    &["users", "user", "vus", "vu"],
    &["threads", "thread"],
];
/// Further words that a header of a load may have.
const OF_LOAD: [&str; 11] =
    ["number", "of", "concurrent", "open", "#", "total", "sysbench", "wrk", "client", "virtual", "load"];
const TIME: [&str; 7] = ["latency", "lat", "rt", "response", "duration", "time", "latencia"];
const MEAN: [&str; 9] = ["avg", "average", "mean", "média", "media", "medio", "moyenne", "mittel", "avg/"];
/// Words that mark a time as something other than the mean.
const NOT_MEAN: [&str; 9] = ["max", "min", "median", "percentile", "stdev", "std", "tail", "worst", "best"];
const CORES: [&str; 11] =
    ["cpu", "cpus", "core", "cores", "vcpu", "vcpus", "number", "of", "ghz", "logical", "physical"];
const CPU: [&str; 16] = [
    "cpu",
    "cpu%",
    "%cpu",
    "usage",
    "utilization",
    "utilisation",
    "util",
    "used",
    "use",
    "avg",
    "average",
    "mean",
    "load",
    "total",
    "cores",
    "%",
];
const CLIENTS: [&str; 8] = ["client", "clients", "generator", "loadgen", "wrk", "k6", "jmeter", "bench"];
const INSTANCES: [&str; 8] =
    ["replicas", "replica", "instances", "instance", "pods", "servers", "machines", "workers"];
/// Words of a pool's header in addition to the tier.
const POOL: [&str; 10] =
    ["pool", "size", "max", "maximum", "connections", "connection", "workers", "threads", "of", "used"];
/// Words that mark the part of a pool that is in use.
const IN_USE: [&str; 6] = ["used", "use", "in", "busy", "active", "borrowed"];
/// Words of columns that are neither load, measure nor group.
const NO_GROUP: [&str; 10] =
    ["threads", "thread", "run", "#", "no", "date", "time", "update", "duration", "notes"];

/// A column with its parsed header and cells.
struct Column<'a> {
    name: &'a str,
    header: Header,
    cells: Vec<&'a str>,
    read: Vec<Cell>,
}

impl<'a> Column<'a> {
    fn new(name: &'a str, cells: Vec<&'a str>) -> Self {
        let read = cells.iter().filter_map(|cell| Cell::parse(cell).ok()).collect();
        Self { name, header: Header::parse(name), cells, read }
    }

    fn is_text(&self) -> bool {
        let is_text = |cell: &&&str| matches!(Cell::parse(cell), Err(NoNumber::Other));
        2 * self.cells.iter().filter(is_text).count() > self.cells.len()
    }

    fn is_numeric(&self) -> bool {
        !self.read.is_empty() && !self.is_text()
    }

    fn is_whole(&self) -> bool {
        self.is_numeric() && self.read.iter().all(|cell| cell.number.fract() == 0.0)
    }

    /// The dimension of the column's unit, from its header or a cell.
    fn dimension(&self) -> Option<Dimension> {
        let unit = self.header.unit.or_else(|| self.read.iter().find_map(|cell| cell.unit));
        unit.map(|unit| unit.dimension)
    }

    fn most(&self) -> f64 {
        self.read.iter().map(|cell| cell.number).fold(0.0, f64::max)
    }

    fn distinct(&self) -> usize {
        self.cells.iter().collect::<BTreeSet<_>>().len()
    }

    fn is_percentile(&self) -> bool {
        let is_rank = |word: &String| {
            let digits = word.trim_start_matches('p').trim_end_matches("th");
            word.len() > 1 && digits.len() < word.len() && digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        self.header.has(&NOT_MEAN) || self.header.words.iter().any(is_rank)
    }

    fn is_rate(&self) -> bool {
        let per_second = self.header.has(&COUNTED) && self.header.has(&["second", "sec", "s"]);
        let is_named = self.header.has(&THROUGHPUT) || per_second;
        let is_of_bytes =
            matches!(self.dimension(), Some(Dimension::BitRate | Dimension::Bytes | Dimension::Share));
        self.is_numeric() && is_named && !is_of_bytes && !self.header.has(&NOT_MEASURED)
    }

    fn is_load(&self, family: &[&str]) -> bool {
        let words: Vec<&str> = family.iter().chain(&OF_LOAD).copied().collect();
        self.is_whole() && self.header.has(family) && self.header.is_only(&words)
    }

    fn is_time(&self) -> bool {
        let is_named = self.header.has(&TIME) || self.header.has(&MEAN);
        self.is_numeric() && is_named && self.dimension() == Some(Dimension::Time) && !self.is_percentile()
    }

    /// True for a number of cores in use without a unit: never more than the machine has.
    fn is_of_cores(&self, cores: Option<f64>) -> bool {
        !self.is_whole() && self.most() > unit::ALL && cores.is_some_and(|cores| self.most() <= cores)
    }

    /// The meaning of a pool's column; `None` for other columns.
    fn pool(&self) -> Option<String> {
        if !self.is_whole() || self.dimension().is_some() || !self.header.has(&POOL[..1]) {
            return None;
        }
        let words = self.header.without(&[&POOL[..], &IN_USE[..]].concat());
        let tier = if words.is_empty() { SERVER } else { &words };
        let meaning = if self.header.has(&IN_USE) { "pool_used" } else { "pool" };
        Some(format!("{tier}.{meaning}"))
    }

    /// The meaning of a CPU column; `None` for other columns. `throughput` are the words of the throughput column, `others` those of
    /// unused columns: a CPU named like one of these belongs to that measure.
    fn cpu(&self, throughput: &str, others: &[String], cores: Option<f64>) -> Option<String> {
        if !self.is_numeric() || !self.header.has(&CPU[..3]) {
            return None;
        }
        let is_client = self.header.has(&CLIENTS);
        let words = self.header.without(&CPU);
        if others.contains(&words) {
            return None;
        }
        let tier = if is_client {
            GENERATOR
        } else if words.is_empty() || words == throughput {
            SERVER
        } else {
            &words
        };
        // More than 100 % of one machine is a sum over cores.
        match self.dimension() {
            None if self.is_of_cores(cores) => Some(format!("{tier}.cpu_cores")),
            Some(Dimension::Share) if self.most() <= 100.0 => Some(format!("{tier}.cpu_percent")),
            Some(Dimension::Share | Dimension::Cores) => Some(format!("{tier}.cpu_cores")),
            _ if self.header.has(&["cores"]) && !self.is_whole() => Some(format!("{tier}.cpu_cores")),
            _ => None,
        }
    }
}

/// The words of a measure's column apart from the measure: `before` in `RPS before`.
fn words_of_measure(name: &str) -> String {
    let measures: Vec<&str> = THROUGHPUT.iter().chain(&COUNTED).chain(&TIME).chain(&MEAN).copied().collect();
    Header::parse(name).without(&measures)
}

/// The meanings of columns that have none yet, as pairs of meaning and column.
pub(super) fn guess(names: &[&str], rows: &[Vec<&str>], known: &Mapping) -> Vec<(String, String)> {
    let cells = |column: usize| rows.iter().map(|row| row.get(column).copied().unwrap_or_default()).collect();
    let columns = names.iter().enumerate().map(|(column, name)| Column::new(name, cells(column)));
    let columns: Vec<Column<'_>> = columns.filter(|column| !known.uses(column.name)).collect();
    let mut guesses = Guesses { columns, taken: Vec::new(), found: Vec::new(), known };
    guesses.measures();
    guesses.parameters(names);
    guesses.found
}

struct Guesses<'a> {
    columns: Vec<Column<'a>>,
    /// The positions of columns that already have a meaning.
    taken: Vec<usize>,
    found: Vec<(String, String)>,
    known: &'a Mapping,
}

impl Guesses<'_> {
    fn measures(&mut self) {
        self.first("offered", |column| column.is_rate() && column.header.has(&OFFERED));
        self.first("qps", |column| column.is_rate());
        for family in LOADS {
            self.first("connections", |column| column.is_load(family));
        }
        self.first("think_ms", |column| column.is_time() && column.header.has(&["think"]));
        self.first("rt_ms", |column| column.is_time() && column.header.has(&MEAN));
        self.first("rt_ms", |column| column.is_time());
        self.first("cores", |column| {
            column.is_whole() && column.header.is_only(&CORES) && column.most() >= 1.0
        });
        self.processors();
        self.pools();
        self.first(&format!("{SERVER}.instances"), |column| {
            column.is_whole() && column.header.is_only(&INSTANCES)
        });
    }

    fn processors(&mut self) {
        let typed = self.known.column("qps");
        let found =
            self.found.iter().find(|(meaning, _)| meaning == "qps").map(|(_, column)| column.as_str());
        let throughput = typed.or(found).map(words_of_measure).unwrap_or_default();
        let is_other = |(position, column): &(usize, &Column<'_>)| {
            column.is_numeric() && !column.header.has(&CPU[..3]) && !self.taken.contains(position)
        };
        let others = self.columns.iter().enumerate().filter(is_other);
        let others = others.map(|(_, column)| words_of_measure(column.name));
        let others: Vec<String> = others.filter(|words| !words.is_empty()).collect();
        let cores = self.known.number("cores");
        for position in 0..self.columns.len() {
            if let Some(meaning) = self.columns[position].cpu(&throughput, &others, cores) {
                self.take(&meaning, position);
            }
        }
    }

    fn pools(&mut self) {
        for position in 0..self.columns.len() {
            if let Some(meaning) = self.columns[position].pool() {
                self.take(&meaning, position);
            }
        }
    }

    /// Gives a meaning that has no column yet to the first free column that fits.
    fn first(&mut self, meaning: &str, fits: impl Fn(&Column<'_>) -> bool) {
        let mut free = (0..self.columns.len()).filter(|position| !self.taken.contains(position));
        if let Some(position) = free.find(|position| fits(&self.columns[*position])) {
            self.take(meaning, position);
        }
    }

    fn take(&mut self, meaning: &str, position: usize) {
        let is_found = self.found.iter().any(|(found, _)| found == meaning);
        if !is_found && !self.known.has(meaning) && !self.taken.contains(&position) {
            self.taken.push(position);
            self.found.push((meaning.to_owned(), self.columns[position].name.to_owned()));
        }
    }

    /// Columns before the first measure: columns with repeating values are groups, text columns without repeats are labels.
    fn parameters(&mut self, names: &[&str]) {
        let place = |name: &str| names.iter().position(|other| *other == name).unwrap_or(names.len());
        let measures = ["qps", "rt_ms", "offered"];
        let of_measure = self.found.iter().filter(|(meaning, _)| measures.contains(&meaning.as_str()));
        let end = of_measure.map(|(_, column)| place(column)).min().unwrap_or(0);
        for position in 0..self.columns.len() {
            let column = &self.columns[position];
            if place(column.name) >= end || self.taken.contains(&position) || column.header.has(&NO_GROUP) {
                continue;
            }
            let (distinct, all) = (column.distinct(), column.cells.len());
            let repeats = distinct > 1 && distinct < all;
            let meaning = if repeats { "group" } else { "label" };
            if (repeats || column.is_text()) && distinct > 1 && !self.known.has(meaning) {
                self.found.push((meaning.to_owned(), column.name.to_owned()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is recognised where nothing is typed but the number of cores.
    fn guessed(names: &[&str], rows: &[&[&str]]) -> Vec<String> {
        let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.to_vec()).collect();
        let found = guess(names, &rows, &Mapping::parse(&["cores=6".to_owned()]).unwrap());
        found.into_iter().map(|(meaning, column)| format!("{meaning}={column}")).collect()
    }

    #[test]
    fn the_columns_of_a_load_test_are_recognised() {
        let names = ["Server", "Concurrency", "Requests/sec", "Latency", "p99"];
        let rows: [&[&str]; 3] = [
            &["a", "10", "1,000", "9.7ms", "20ms"],
            &["a", "20", "1,100", "18ms", "40ms"],
            &["b", "10", "900", "11ms", "30ms"],
        ];
        assert_eq!(
            guessed(&names, &rows),
            ["qps=Requests/sec", "connections=Concurrency", "rt_ms=Latency", "group=Server"]
        );
    }

    #[test]
    fn a_column_of_bytes_or_of_an_ideal_is_no_throughput() {
        let names = ["Clients", "Throughput (MB/s)", "Ideal RPS", "TPS"];
        assert_eq!(
            guessed(&names, &[&["1", "10", "50", "40"], &["2", "20", "100", "70"]]),
            ["qps=TPS", "connections=Clients"]
        );
    }

    #[test]
    fn cpu_is_of_a_machine_or_in_cores_and_may_be_the_generators() {
        let names = ["VUs", "rps", "API CPU %", "k6 CPU %", "CPU (cores)"];
        let rows: [&[&str]; 2] = [&["1", "10", "50", "250", "0.98"], &["2", "20", "90", "390", "1.5"]];
        let found = guessed(&names, &rows);
        for meaning in
            ["api.cpu_percent=API CPU %", "generator.cpu_cores=k6 CPU %", "server.cpu_cores=CPU (cores)"]
        {
            assert!(found.iter().any(|one| one == meaning), "{meaning}: {found:?}");
        }
    }

    #[test]
    fn a_time_without_a_unit_and_a_percentile_are_no_mean() {
        assert_eq!(
            guessed(&["c", "rps", "latency", "p99 (ms)"], &[&["1", "10", "50", "3"]]),
            ["qps=rps", "connections=c"]
        );
    }

    #[test]
    fn a_cpu_that_is_named_like_a_column_is_of_its_rows() {
        let names = ["c", "RPS before", "RPS after", "before CPU", "after CPU"];
        let rows: [&[&str]; 2] = [&["1", "10", "20", "0.57", "0.54"], &["50", "100", "200", "5.26", "5.65"]];
        let found = guessed(&names, &rows);
        assert!(found.contains(&"qps=RPS before".to_owned()), "{found:?}");
        assert!(found.contains(&"server.cpu_cores=before CPU".to_owned()), "{found:?}");
        assert!(!found.iter().any(|one| one.ends_with("=after CPU")), "{found:?}");
    }

    #[test]
    fn a_pool_has_a_size_and_a_part_in_use() {
        let names = ["DB pool size", "rps", "DB pool in use"];
        let found = guessed(&names, &[&["10", "100", "10"], &["20", "190", "20"]]);
        assert_eq!(found, ["qps=rps", "db.pool=DB pool size", "db.pool_used=DB pool in use"]);
    }
}
