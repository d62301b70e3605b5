//! Where a metric changed over many runs, on one page.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use plimsoll_analyze::{
    LeftOutRuns, LevelChange, MIN_SUCCESS_RATIO, NewerRuns, Trend, TrendLevel, TrendMetric, TrendPoint,
};
use plimsoll_units::{escape_control, percent_text};

use super::page::{Ink, Page};
use super::paragraph::{cut, width, wrapped_to};
use crate::amount::{counted, list, range};
use crate::words::trend as words;

/// The maximum number of levels shown, the newest ones.
const MAX_LEVELS: usize = 6;
/// The characters of a bar by height.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The widest row of bars.
const MAX_BARS: usize = 60;

/// Reports the levels of a metric and the changes between them. `tag` is the key whose value is shown for the first run
/// of each level.
pub fn trend(trend: &Trend, tag: &str, page: &Page) -> String {
    let wrap = |text: &str| wrapped_to(page.width, "", "", text);
    let head = page.paint_lines(Ink::Strong, &wrap(&headline(trend)));
    let newest = trend.changes.last().map_or_else(words::no_change, |change| newest(trend, change, tag));
    let sure = trend.changes.last().filter(|change| !change.is_bounded);
    let ink = match sure.and_then(|change| change.worse) {
        Some(true) => Ink::Bad,
        Some(false) => Ink::Good,
        None => Ink::Faint,
    };
    let remarks = wrap(&remarks(trend));
    format!(
        "{head}\n{}\n{}\n{}{}",
        bars(trend),
        levels(trend, tag, page),
        page.paint_lines(ink, &wrap(&newest)),
        page.paint_lines(Ink::Faint, &remarks)
    )
}

fn headline(trend: &Trend) -> String {
    let (Some(first), Some(last)) = (trend.points.first(), trend.points.last()) else { return String::new() };
    format!(
        "{}: {} of {}, {} to {}",
        escape_control(&last.run.target),
        words::metric(trend.metric),
        counted(trend.points.len() as u64, "run"),
        date(first, "%Y-%m-%d"),
        date(last, "%Y-%m-%d"),
    )
}

/// Formats the start of a run in UTC.
fn date(point: &TrendPoint, form: &str) -> String {
    let ms = i64::try_from(point.run.started_unix_ms).unwrap_or(i64::MAX);
    let instant = Timestamp::from_millisecond(ms).unwrap_or(Timestamp::MAX);
    instant.to_zoned(TimeZone::UTC).strftime(form).to_string()
}

/// Returns the values as bars from the lowest to the highest; if there are many, neighbours share a bar.
fn bars(trend: &Trend) -> String {
    let values: Vec<f64> = trend.points.iter().map(|point| point.value.value).collect();
    let each = values.len().div_ceil(MAX_BARS).max(1);
    let means: Vec<f64> =
        values.chunks(each).map(|part| part.iter().sum::<f64>() / part.len() as f64).collect();
    let (low, high) = means
        .iter()
        .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), mean| (low.min(*mean), high.max(*mean)));
    let bar = |mean: &f64| {
        let height = if high > low { (mean - low) / (high - low) } else { 0.5 };
        BARS[((height * 8.0) as usize).min(7)]
    };
    let row: String = means.iter().map(bar).collect();
    let changes: Vec<usize> = trend.changes.iter().map(|change| change.at / each).collect();
    let marks: String = (0..means.len()).map(|at| if changes.contains(&at) { '^' } else { ' ' }).collect();
    let text = |value| words::value(trend.metric, value);
    let marks = if changes.is_empty() { String::new() } else { format!("  {}\n", marks.trim_end()) };
    format!("  {row}  {} to {}\n{marks}", text(low), text(high))
}

fn levels(trend: &Trend, tag: &str, page: &Page) -> String {
    let shown = trend.levels.len().saturating_sub(MAX_LEVELS);
    let mut rows = vec![["since (UTC)", "runs", "mean", "change", tag].map(ToOwned::to_owned)];
    rows.extend(trend.levels.iter().enumerate().skip(shown).map(|(index, level)| {
        let change = index.checked_sub(1).and_then(|before| trend.changes.get(before)?.ratio);
        row(trend, level, change.map(|ratio| words::signed_change(ratio.value)), tag)
    }));
    let widest = |column: usize| rows.iter().map(|cells| width(&cells[column])).max().unwrap_or(0);
    let widths: Vec<usize> = (0..4).map(widest).collect();
    let line = |cells: &[String; 5]| {
        let [since, runs, mean, change, tag] = cells;
        let line = format!(
            "  {since:<a$}  {runs:>b$}  {mean:<c$}  {change:>d$}  {tag}",
            a = widths[0],
            b = widths[1],
            c = widths[2],
            d = widths[3]
        );
        cut(line.trim_end(), page.width) + "\n"
    };
    let earlier = if shown > 0 { format!("  ({shown} earlier)\n") } else { String::new() };
    rows.iter().map(line).collect::<String>() + &earlier
}

fn row(trend: &Trend, level: &TrendLevel, change: Option<String>, tag: &str) -> [String; 5] {
    let first = &trend.points[level.points.start];
    let text = |value| words::value(trend.metric, value);
    [
        date(first, "%Y-%m-%d %H:%M"),
        level.points.len().to_string(),
        format!("{}{}", text(level.mean.value), range(level.mean.interval, text)),
        change.unwrap_or_default(),
        escape_control(first.run.tags.get(tag).unwrap_or_default()),
    ]
}

fn newest(trend: &Trend, change: &LevelChange, tag: &str) -> String {
    let run = &trend.points[change.at].run;
    let value = run.tags.get(tag).filter(|value| !value.is_empty());
    let tagged = value.map(|value| format!(" ({tag} {})", escape_control(value))).unwrap_or_default();
    format!("{}. It begins with {}{tagged}.", words::change(trend, change), escape_control(&run.file))
}

fn remarks(trend: &Trend) -> String {
    let kind = match trend.metric.is_rate() {
        true => "lower bounds (≥): the target may serve more",
        false => "upper bounds (≤): the load generator was the limit and may have added to them",
    };
    let bounds = trend.bounds();
    let bounds = (bounds > 0).then(|| format!("{bounds} of {} values are {kind}.", trend.points.len()));
    let newest = (trend.newer_without_value.count() > 0).then(|| newest_without_value(trend));
    let sentences =
        [newest, Some(words::false_alarms()), words::kernels(trend), bounds, left_out(trend.left_out)];
    list(sentences.into_iter().flatten(), " ")
}

/// Says that the newest runs have no value that counts, and what that may mean.
pub fn newest_without_value(trend: &Trend) -> String {
    let NewerRuns { comparable, failing, unfinished, unreadable, others } = trend.newer_without_value;
    let runs = |count: usize, what: &str| counted(count as u64, what);
    let kinds = [
        (comparable, format!("{}{}", runs(comparable, "comparable run"), why_unknown(trend.metric))),
        (failing, format!("{} {}", runs(failing, "comparable run"), of_failures())),
        (unfinished, format!("{} that did not run to the end", runs(unfinished, "comparable run"))),
        (unreadable, format!("{} that cannot be read", runs(unreadable, "run"))),
        (others, format!("{} with another plan or of another machine", runs(others, "run"))),
    ];
    let runs = list(kinds.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text), " and ");
    let has = if trend.newer_without_value.count() == 1 { "has" } else { "have" };
    let advice = if others > 0 { " Follow one series with --match or --machine." } else { "" };
    format!(
        "{runs}, newer than the last one compared, {has} no {} that counts. Whether it is worse is not \
         known.{advice}",
        words::metric(trend.metric)
    )
}

/// Says of runs that too many of their requests failed.
fn of_failures() -> String {
    format!("of which more than {} of the requests failed", percent_text(1.0 - MIN_SUCCESS_RATIO))
}

/// Says why a run may lack a metric.
fn why_unknown(metric: TrendMetric) -> &'static str {
    match metric {
        TrendMetric::HighestRate => " (no rate was found to hold)",
        TrendMetric::CpuPerRequest => " (the target's host was not sampled, or nothing was answered)",
        TrendMetric::Throughput => " (too little was answered)",
        TrendMetric::Median | TrendMetric::P99 => {
            " (too little was answered, or a search found no rate that holds)"
        }
    }
}

/// Says which runs were left out and why; `None` if none was.
pub fn left_out(left_out: LeftOutRuns) -> Option<String> {
    let failing = of_failures();
    let reasons = [
        (left_out.other_plan, "with another plan (--any-plan)"),
        (left_out.other_machine, "of another machine (--machine HOST, --any-machine)"),
        (left_out.unreadable, "that cannot be read (`plimsoll runs` says why)"),
        (left_out.unfinished, "that did not run to the end"),
        (left_out.failing, failing.as_str()),
        (left_out.without_value, "without this metric"),
        (left_out.older, "older than these (-n)"),
    ];
    let parts = reasons.into_iter().filter(|(count, _)| *count > 0);
    let text = list(parts.map(|(count, why)| format!("{} {why}", counted(count as u64, "run"))), ", ");
    (!text.is_empty()).then(|| format!("Left out: {text}."))
}
