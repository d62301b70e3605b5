//! `plimsoll explain` for production: series of a Prometheus server, or of a file.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::ProgressBar;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use plimsoll_analyze::{
    AmountUnit, ProductionFindings, ProductionKind, ProductionLimit, ProductionSeries, StatedCapacity,
    explain_production, may_name,
};
use plimsoll_experiment::{TimeSeries, TimeSeriesColumns, read_time_series};
use plimsoll_prometheus::{Client, OwnResource, Question, Reading, read};
use plimsoll_report::{figure, json, text};
use plimsoll_units::{parse_bandwidth, parse_bytes, parse_duration, significant, unix_time};

use crate::args::values;
use crate::exit::{Exit, UsageError};
use crate::files::{Output, Written};
use crate::terminal::{page, print, remark};

/// The arguments of other explanations, which have neither queries nor capacities.
const OF_A_RUN: [&str; 2] = ["file", "csv"];

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Production")]
pub(crate) struct ProductionArgs {
    /// Explain production from what the Prometheus server at this URL recorded, such as http://prometheus:9090
    #[arg(long, value_name = "URL", requires = "rate")]
    pub(crate) prometheus: Option<String>,
    /// Explain series over time that a monitoring system exported: comma-separated, with a column of times
    #[arg(long, value_name = "FILE", conflicts_with = "prometheus")]
    pub(crate) series: Option<PathBuf>,
    /// Requests per second: a query that gives one series; with --series the name of a column
    #[arg(long, value_name = "QUERY", conflicts_with_all = OF_A_RUN)]
    rate: Option<String>,
    /// The period that ends now [default: 7d]
    #[arg(long, value_name = "TIME", requires = "prometheus", value_parser = parse_duration)]
    last: Option<Duration>,
    /// Start of the period, instead of --last: 2026-01-31, 2026-01-31T08:00:00Z, or seconds since 1970
    #[arg(long, value_name = "INSTANT", requires = "prometheus", conflicts_with = "last", value_parser = instant)]
    from: Option<f64>,
    /// End of the period, at most now [default: now]
    #[arg(long, value_name = "INSTANT", requires = "prometheus", value_parser = instant)]
    to: Option<f64>,
    /// Interval between points [default: the window of --rate, longer where that gives more than 1,500 points]
    #[arg(long, value_name = "TIME", requires = "prometheus", value_parser = parse_duration)]
    step: Option<Duration>,
    /// Labels of the hosts and containers to read, as 'namespace="shop"'
    #[arg(
        long,
        value_name = "MATCHERS",
        requires = "prometheus",
        default_value = "",
        hide_default_value = true
    )]
    selector: String,
    /// Another resource, by its use: a query whose series are its instances, in the unit of its capacity (bits/s of a link, a share
    /// from 0 to 1); with --series the name of a column
    #[arg(long = "resource", value_name = "NAME=QUERY", conflicts_with_all = OF_A_RUN, value_parser = named)]
    resources: Vec<(String, String)>,
    /// Capacity of a resource, instead of the recorded one; a bare number is in the unit of its column: pool=32,
    /// network_out:eth0=1Gbit, container_cpu:api=0.5
    #[arg(long = "capacity", value_name = "NAME=VALUE", conflicts_with_all = OF_A_RUN, value_parser = capacity)]
    capacities: Vec<(String, StatedCapacity)>,
    /// Leave out the resources of this name, such as the memory of a cache, which is always full; * matches any text,
    /// NAME@INSTANCE is one instance
    #[arg(long = "without", value_name = "NAME", conflicts_with_all = OF_A_RUN)]
    left_out: Vec<String>,
    /// Read only the resources of --resource
    #[arg(long, requires = "resources", requires = "prometheus")]
    only_named: bool,
    /// How full a resource may be: a ratio, or per cent
    #[arg(
        long,
        visible_alias = "utilization",
        value_name = "RATIO",
        default_value = "70%",
        conflicts_with_all = OF_A_RUN,
        value_parser = values::share
    )]
    utilisation: f64,
    /// A header of each request to Prometheus; its last word may be env:NAME or file:PATH, where a secret stands
    #[arg(long = "header", value_name = "NAME: VALUE", requires = "prometheus")]
    headers: Vec<String>,
    /// Trust the certificates in this PEM file instead of the system's authorities; Prometheus's own may be among them
    #[arg(long, value_name = "FILE", requires = "prometheus")]
    cacert: Option<PathBuf>,
    /// How long Prometheus may take for one query
    #[arg(
        long,
        value_name = "TIME",
        default_value = "30s",
        conflicts_with_all = OF_A_RUN,
        value_parser = parse_duration
    )]
    timeout: Duration,
    /// Write a figure to NAME.svg and NAME.png: use over the rate
    #[arg(long, value_name = "NAME", conflicts_with_all = OF_A_RUN)]
    figure: Option<PathBuf>,
    /// Overwrite figures that are there
    #[arg(long, requires = "figure")]
    force: bool,
}

fn named(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').map(|(name, query)| (name.trim(), query.trim()));
    match parts.filter(|(name, query)| !name.is_empty() && !query.is_empty()) {
        Some((name, query)) => Ok((name.to_owned(), query.to_owned())),
        None => Err(format!("`{text}` has no name and value; write NAME=QUERY")),
    }
}

/// Parses a capacity. Its name may contain an `=`; the value may not.
fn capacity(text: &str) -> Result<(String, StatedCapacity), String> {
    let stated = text.rsplit_once('=').and_then(|(name, value)| {
        let name = name.trim();
        Some((name.to_owned(), amount(value.trim())?)).filter(|_| !name.is_empty())
    });
    stated.ok_or_else(|| {
        format!(
            "`{text}` is no capacity; write NAME=VALUE, such as pool=32, network_out:eth0=1Gbit or cpu=90%"
        )
    })
}

/// Parses an amount above 0 with its unit: a number, `1Gbit`, `2GiB`, `90%`.
fn amount(text: &str) -> Option<StatedCapacity> {
    let (value, unit) = if text.contains("bit") {
        (parse_bandwidth(text).ok()? as f64, Some(AmountUnit::BitsPerSec))
    } else if text.ends_with('B') {
        (parse_bytes(text).ok()? as f64, Some(AmountUnit::Bytes))
    } else if text.ends_with('%') {
        // A percentage of one processor can exceed 100.
        (text.trim_end_matches('%').trim().parse::<f64>().ok()? / 100.0, Some(AmountUnit::Ratio))
    } else {
        (text.parse().ok()?, None)
    };
    (value.is_finite() && value > 0.0).then_some(StatedCapacity { value, unit })
}

/// Parses an instant; returns seconds since 1970.
fn instant(text: &str) -> Result<f64, String> {
    // A date alone means its midnight in UTC.
    let without_offset = || Some(text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp());
    let instant = text.parse::<Timestamp>().ok().or_else(without_offset);
    let seconds = instant.map(|instant| instant.as_millisecond() as f64 / 1e3);
    seconds.or_else(|| text.parse().ok().filter(|sec: &f64| sec.is_finite() && *sec > 0.0)).ok_or_else(|| {
        format!("`{text}` is no instant; write 2026-01-31, 2026-01-31T08:00:00Z, or seconds since 1970")
    })
}

/// Explains what a server recorded.
pub(super) fn prometheus(args: &ProductionArgs, url: &str, as_json: bool) -> anyhow::Result<Exit> {
    refuse_bytes(args)?;
    let client = Client::new(url, &args.headers, args.cacert.as_deref(), args.timeout)?;
    // Nothing is recorded after now, and capacities are read at the end of the period.
    let now_sec = unix_time().as_secs_f64();
    let to_sec = args.to.map_or(now_sec, |to_sec| to_sec.min(now_sec));
    let last = args.last.unwrap_or(Duration::from_secs(7 * 86_400)).as_secs_f64();
    let own = |(name, query): &(String, String)| OwnResource { name: name.clone(), query: query.clone() };
    let question = Question {
        rate: args.rate.clone().unwrap_or_default(),
        selector: args.selector.clone(),
        own: args.resources.iter().map(own).collect(),
        defaults: !args.only_named,
        from_sec: args.from.unwrap_or(to_sec - last),
        to_sec,
        step_sec: args.step.map(|step| step.as_secs_f64()),
    };
    let reading = asked(&client, &question)?;
    let kinds = if args.only_named { Vec::new() } else { reading.lacking_kinds() };
    let lacking = Lacking { own: args.resources.iter().map(|(name, _)| name.as_str()).collect(), kinds };
    let notes: Vec<String> = reading.notes.iter().map(ToString::to_string).collect();
    explained(args, reading.series, notes, &lacking, as_json)
}

/// Resources that arguments may name although they were not read this time.
#[derive(Default)]
struct Lacking<'a> {
    own: Vec<&'a str>,
    kinds: Vec<ProductionKind>,
}

/// Queries the server, with a moving line of progress on a terminal.
fn asked(client: &Client, question: &Question) -> anyhow::Result<Reading> {
    let line = std::io::stderr().is_terminal().then(ProgressBar::new_spinner);
    let mut count = 0;
    let reading = read(client, question, &mut |what| {
        count += 1;
        if let Some(line) = &line {
            line.set_message(format!("{} · query {count}: {what}", client.place()));
            line.tick();
        }
    });
    if let Some(line) = line {
        line.finish_and_clear();
    }
    Ok(reading?)
}

/// Explains the series of a file.
pub(super) fn series(args: &ProductionArgs, path: &Path, as_json: bool) -> anyhow::Result<Exit> {
    let columns = TimeSeriesColumns { rate: args.rate.clone(), resources: args.resources.clone() };
    let TimeSeries { series, unread, above_all } = read_time_series(path, &columns)?;
    let is_stated = |name: &str| args.capacities.iter().any(|(stated, _)| stated == name);
    let above_all = above_all.iter().filter(|one| !is_stated(&one.name)).map(ToString::to_string);
    let notes = unread.iter().map(ToString::to_string).chain(above_all).collect();
    explained(args, series, notes, &Lacking::default(), as_json)
}

fn explained(
    args: &ProductionArgs,
    mut series: ProductionSeries,
    mut notes: Vec<String>,
    lacking: &Lacking<'_>,
    as_json: bool,
) -> anyhow::Result<Exit> {
    let say = |notes: &[String]| notes.iter().for_each(|note| remark(&format!("plimsoll: {note}")));
    say(&notes);
    let unused = adjust(args, &mut series, lacking)?;
    say(&unused);
    notes.extend(unused);
    let findings = explain_production(&series, args.utilisation);
    let document = || json::render(&json::ProductionDocument::new(&findings, &notes));
    print(as_json, document, || text::production(&findings, &page(None)))?;
    let is_written = write_figure(args, &findings)?;
    Ok(match findings.limit {
        _ if !is_written => Exit::CouldNotRun,
        ProductionLimit::Known { .. } => Exit::Success,
        ProductionLimit::Unknown(_) => Exit::Refused,
    })
}

/// Sets capacities and leaves out resources as the arguments say. Returns a note for each argument that names a resource that
/// was not read this time.
fn adjust(
    args: &ProductionArgs,
    series: &mut ProductionSeries,
    lacking: &Lacking<'_>,
) -> Result<Vec<String>, UsageError> {
    let mut unused = Vec::new();
    let mut check_lacking = |series: &ProductionSeries, argument: String, name: &str, counted: &str| {
        if series.has(name) || !may_name(name, &lacking.own, &lacking.kinds) {
            return Err(no_resource(&argument, counted, series));
        }
        unused.push(format!("{argument} is not used: nothing of that name was read"));
        Ok(())
    };
    for (name, capacity) in &args.capacities {
        if let Some(highest) = series.beyond_share(name, *capacity) {
            return Err(no_share(name, highest));
        }
        if !series.set_capacity(name, *capacity) {
            check_lacking(series, format!("--capacity {name}"), name, " in that unit")?;
        }
    }
    for name in args.left_out.iter().filter(|name| !series.has(name)) {
        check_lacking(series, format!("--without {name}"), name, "")?;
    }
    series.leave_out(&args.left_out);
    Ok(unused)
}

/// Returns the error for a capacity that is stated as a share although the use goes above 1.
fn no_share(name: &str, highest: f64) -> UsageError {
    UsageError(format!(
        "--capacity {name}: it goes up to {}, and a share of all there is lies between 0 and 1; divide it by 100 if it is in per \
         cent, or state the capacity as a number of its unit",
        significant(highest)
    ))
}

/// Fails if a capacity is in bits and its query in bytes.
fn refuse_bytes(args: &ProductionArgs) -> Result<(), UsageError> {
    for (name, capacity) in &args.capacities {
        let is_of_bytes = |query: &str| {
            let query = query.replace(' ', "");
            query.contains("_bytes") && !query.contains("*8") && !query.contains("8*")
        };
        let own = args.resources.iter().find(|(own, query)| own == name && is_of_bytes(query));
        if let Some((_, query)) = own.filter(|_| capacity.unit == Some(AmountUnit::BitsPerSec)) {
            return Err(UsageError(format!(
                "--capacity {name} is in bits, and the query takes bytes; write {name}='({query}) * 8'"
            )));
        }
    }
    Ok(())
}

/// Returns the error for an argument that names no resource; `counted` says in which unit.
fn no_resource(argument: &str, counted: &str, series: &ProductionSeries) -> UsageError {
    let mut known: Vec<String> =
        series.resources.iter().map(plimsoll_analyze::ResourceSeries::name).collect();
    known.sort();
    known.dedup();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    UsageError(format!("{argument}: there is no resource of that name{counted}; there are {known}"))
}

/// Writes the figure, if one is asked for; returns false if it cannot be written.
fn write_figure(args: &ProductionArgs, findings: &ProductionFindings) -> anyhow::Result<bool> {
    let Some(path) = &args.figure else { return Ok(true) };
    let stem = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let outputs = Output::figure(&stem, figure::production(findings)?).into();
    Ok(Written::to(folder, Ok(outputs), args.force).report(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacities_are_numbers_with_units() {
        let read = |text: &str| capacity(text).map(|(name, stated)| (name, stated.value, stated.unit));
        assert_eq!(read("pool=32"), Ok(("pool".to_owned(), 32.0, None)));
        let link = ("network_out:eth0".to_owned(), 2e7, Some(AmountUnit::BitsPerSec));
        assert_eq!(read("network_out:eth0=20Mbit"), Ok(link));
        assert_eq!(read("m=2GiB"), Ok(("m".to_owned(), 2_147_483_648.0, Some(AmountUnit::Bytes))));
        for (text, ratio) in [("cpu=90%", 0.9), ("cpu=400 %", 4.0)] {
            assert_eq!(read(text), Ok(("cpu".to_owned(), ratio, Some(AmountUnit::Ratio))), "{text}");
        }
        for wrong in ["pool", "=3", "pool=0", "pool=-1", "pool=many", "cpu=%", "cpu=0%"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn instants_are_dates_times_or_seconds() {
        assert_eq!(instant("2026-01-31"), Ok(1_769_817_600.0));
        for text in
            ["2026-01-31T08:00:00Z", "2026-01-31T08:00:00", "2026-01-31 08:00", "2026-01-31T09:00+01:00"]
        {
            assert_eq!(instant(text), Ok(1_769_846_400.0), "{text}");
        }
        assert_eq!(instant("1769846400"), Ok(1_769_846_400.0));
        assert!(instant("yesterday").is_err());
    }
}
