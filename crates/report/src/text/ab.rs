//! Two services compared in rounds.

use plimsoll_analyze::Margin;
use plimsoll_analyze::ab::{
    AbFigure, AbFindings, AbVerdict, Better, ComparedFigure, Effect, EffectKind, LoadKind, MoreRounds,
    SUCCESS_MARGIN, SideSummary,
};
use plimsoll_units::{count_text, duration_text, escape_control, percent_text, significant};

use super::page::{Ink, Page};
use super::paragraph::wrapped_to;
use super::table::table_within;
use crate::ab::AbReport;
use crate::amount::{connections, counted, range, seconds};

/// Returns the comparison at a glance, in at most 20 lines of a page of 80 columns.
pub fn ab(report: &AbReport<'_>, page: &Page) -> String {
    let findings = report.findings;
    let line = |text: &str| wrapped_to(page.width, "", "", text);
    let [a, b] = report.labels.each_ref().map(|label| escape_control(label));
    let sides = format!("A: {a}\nB: {b}{}\n", if a == b { ", the same as A" } else { "" });
    let headline = line(&headline(findings));
    let ink = match findings.gate {
        Margin::Within => Ink::Good,
        Margin::Beyond => Ink::Bad,
        Margin::Unknown => Ink::Doubt,
    };
    [
        sides,
        page.paint_lines(Ink::Strong, &headline),
        figures(findings, page),
        page.paint_lines(ink, &line(&gate(findings))),
        notes(report).iter().map(|note| wrapped_to(page.width, "  ", "  ", note)).collect(),
    ]
    .concat()
}

/// Summarises the main figure so far, in a few words for a line of progress.
pub fn ab_progress(findings: &AbFindings) -> String {
    let rounds = counted(findings.rounds, "round");
    let Some(main) = findings.main() else { return rounds };
    let interval = range(main.ratio.interval, significant);
    format!("{rounds} · B / A {}: {}{interval}", ab_figure(main.figure), significant(main.ratio.value))
}

pub(crate) fn headline(findings: &AbFindings) -> String {
    let Some(main) = findings.main() else {
        if findings.fails_more {
            return "B fails: too few of its requests succeed for any other figure.".to_owned();
        }
        return "Nothing can be compared: no round measured the main figure of both sides.".to_owned();
    };
    let what = format!("{}{}", ab_figure(main.figure), at(findings));
    let seen = || without_rate(main).unwrap_or_else(|| format!("{what} of B is {} of A's", share(main)));
    if let (Some(text), AbVerdict::Better | AbVerdict::Worse) = (without_rate(main), main.verdict) {
        return format!("{text}.");
    }
    match main.verdict {
        AbVerdict::Better | AbVerdict::Worse => {
            let is_better = main.verdict == AbVerdict::Better;
            format!("B is {} by {}: {what}.", comparative(main.figure, is_better), difference(main))
        }
        AbVerdict::Same { within } => {
            format!("A and B do not differ by more than {}: {what}.", per_cent(within))
        }
        AbVerdict::Open { more } => {
            format!("Not known yet whether A and B differ: {}.{}", seen(), needs(findings, main, more))
        }
        AbVerdict::Bounded => format!(
            "Not known whether A and B differ: {}, and {} may do better than was measured.",
            seen(),
            bounded(&findings.sides, main.figure)
        ),
    }
}

/// Names the sides that are lower bounds; at least one is.
fn bounded(sides: &[SideSummary; 2], figure: AbFigure) -> &'static str {
    match sides.each_ref().map(|side| side.is_lower_bound(figure)) {
        [true, false] => "A",
        [false, true] => "B",
        _ => "both",
    }
}

/// Says which side holds no rate, and what the other holds; `None` if both hold one.
fn without_rate(main: &ComparedFigure) -> Option<String> {
    let (without, with, rate) = match (main.a > 0.0, main.b > 0.0) {
        (true, false) => ("B", "A", main.a),
        (false, true) => ("A", "B", main.b),
        _ => return None,
    };
    Some(format!("{without} holds no rate within the conditions, {with} holds about {}/s", count_text(rate)))
}

/// Says how much longer the comparison would take.
fn needs(findings: &AbFindings, main: &ComparedFigure, more: MoreRounds) -> String {
    // Rounds with too few requests for a percentile are merged.
    let is_merged = matches!(main.figure, AbFigure::Latency(_));
    match more {
        MoreRounds::Unknown if is_merged && (main.count as u32) < findings.rounds => format!(
            " So few requests know it only in {} of {} together: let loads last longer (-d).",
            counted(main.count as u64, "group"),
            counted(findings.rounds, "round"),
        ),
        MoreRounds::Unknown => {
            " Too few rounds show how much they vary: give more (--rounds, --budget).".to_owned()
        }
        MoreRounds::About(more) => {
            let each = findings.elapsed_sec / f64::from(findings.rounds.max(1));
            format!(
                " About {} more, {}, would narrow the interval to ±{} (--budget).",
                counted(more, "round"),
                seconds(each * f64::from(more)),
                percent_text(findings.rule.precision),
            )
        }
    }
}

fn comparative(figure: AbFigure, is_better: bool) -> &'static str {
    match (figure, is_better) {
        (AbFigure::Cpu, true) => "cheaper",
        (AbFigure::Cpu, false) => "dearer",
        (AbFigure::MaxRate, true) => "better",
        (AbFigure::MaxRate, false) => "worse",
        (_, true) => "faster",
        (_, false) => "slower",
    }
}

/// Formats the difference, `4.1 % (2.8 to 5.4 %)`, if the interval of the ratio excludes 1; otherwise as [`share`].
fn difference(known: &ComparedFigure) -> String {
    let away = |ratio: f64| format!("{:.1}", 100.0 * (ratio - 1.0).abs());
    match known.ratio.interval {
        Some((low, high)) if low > 1.0 || high < 1.0 => {
            let (near, far) = if low > 1.0 { (low, high) } else { (high, low) };
            format!("{} % ({} to {} %)", away(known.ratio.value), away(near), away(far))
        }
        _ => share(known),
    }
}

/// Formats B as a share of A in per cent, with its interval.
fn share(known: &ComparedFigure) -> String {
    format!("{}{}", per_cent(known.ratio.value), range(known.ratio.interval, per_cent))
}

fn per_cent(ratio: f64) -> String {
    format!("{:.1} %", 100.0 * ratio)
}

/// Returns the name of a figure, as in a sentence.
pub fn ab_figure(figure: AbFigure) -> String {
    match figure {
        AbFigure::Throughput => "throughput".to_owned(),
        AbFigure::MaxRate => "highest rate within the conditions".to_owned(),
        AbFigure::Cpu => "CPU a request".to_owned(),
        AbFigure::Latency(p) => format!("p{}", 100.0 * p),
    }
}

fn at(findings: &AbFindings) -> String {
    match (findings.kind, findings.rate_per_sec, findings.connections) {
        (LoadKind::Open, Some(rate), _) => format!(" at {} requests/s", count_text(rate)),
        (LoadKind::Closed, _, Some(count)) => format!(" at {}", connections(count)),
        _ => String::new(),
    }
}

fn figures(findings: &AbFindings, page: &Page) -> String {
    let column = |index: usize| move |row: &Row| row[index].clone();
    let [label, a, b, ratio, interval, verdict] = [0, 1, 2, 3, 4, 5].map(column);
    table_within(
        page.width,
        &rows(findings),
        &[
            (HEADS[0], &label),
            (HEADS[1], &a),
            (HEADS[2], &b),
            (HEADS[3], &ratio),
            (HEADS[4], &interval),
            (HEADS[5], &verdict),
        ],
    )
}

type Row = [String; 6];

/// The names of the columns of [`rows`].
pub(crate) const HEADS: [&str; 6] = ["", "A", "B", "B / A", "95 % interval", ""];

/// Returns a row for each figure that is known, and one for success.
pub(crate) fn rows(findings: &AbFindings) -> Vec<Row> {
    findings.figures.iter().map(row).chain([success(&findings.sides)]).collect()
}

/// Returns B over A by a figure, with its interval, in a sentence.
pub(crate) fn compared(known: &ComparedFigure) -> String {
    let [_, a, b, ratio, interval, verdict] = row(known);
    let interval = if interval.is_empty() { interval } else { format!(" ({interval})") };
    format!("{} is {b} for B and {a} for A, B / A {ratio}{interval}: {verdict}", ab_figure(known.figure))
}

fn row(known: &ComparedFigure) -> Row {
    let value = |value: f64| match known.figure {
        AbFigure::Throughput | AbFigure::MaxRate => format!("{}/s", count_text(value)),
        AbFigure::Cpu => duration_text(value * 1e9),
        AbFigure::Latency(_) => duration_text(value),
    };
    let ratio = |ratio: f64| match (known.a > 0.0, known.b > 0.0) {
        (true, false) => "0".to_owned(),
        (false, true) => "∞".to_owned(),
        _ => format!("{ratio:.3}"),
    };
    let interval = known.ratio.interval.filter(|_| known.a > 0.0 && known.b > 0.0);
    let interval = interval.map(|(low, high)| format!("{} to {}", ratio(low), ratio(high)));
    let label = match known.figure {
        AbFigure::MaxRate => "max rate".to_owned(),
        AbFigure::Cpu => "CPU/request".to_owned(),
        figure => ab_figure(figure),
    };
    [
        label,
        value(known.a),
        value(known.b),
        ratio(known.ratio.value),
        interval.unwrap_or_default(),
        verdict(known),
    ]
}

fn verdict(known: &ComparedFigure) -> String {
    let more = match known.figure.better() {
        Better::Higher => ["B more", "B less"],
        Better::Lower => ["B less", "B more"],
    };
    match known.verdict {
        AbVerdict::Better => more[0].to_owned(),
        AbVerdict::Worse => more[1].to_owned(),
        AbVerdict::Same { within } => format!("same within {}", per_cent(within)),
        AbVerdict::Open { .. } | AbVerdict::Bounded => "not known".to_owned(),
    }
}

fn success(sides: &[SideSummary; 2]) -> Row {
    let [a, b] = sides
        .each_ref()
        .map(|side| side.success.map_or_else(|| "n/k".to_owned(), |success| percent_text(success.value)));
    ["success".to_owned(), a, b, String::new(), String::new(), String::new()]
}

pub(crate) fn gate(findings: &AbFindings) -> String {
    let margin = percent_text(findings.rule.margin);
    match findings.gate {
        Margin::Beyond if findings.fails_more => {
            let allowed = percent_text(SUCCESS_MARGIN);
            format!("B fails more than A: by more than {allowed} of its requests, for sure.")
        }
        Margin::Beyond => format!("B is worse than A by more than the margin of {margin}."),
        Margin::Within => format!("B is not worse than A by more than the margin of {margin}."),
        Margin::Unknown => {
            format!("Whether B is worse than A by more than the margin of {margin} is not known.")
        }
    }
}

pub(crate) fn notes(report: &AbReport<'_>) -> Vec<String> {
    let findings = report.findings;
    let how = if report.restarts { ", each service started for each load" } else { "" };
    let mut notes = vec![format!(
        "{} in {}, A and B in random order{how}. All intervals hold together in 95 % of comparisons.",
        counted(findings.rounds, "round"),
        seconds(findings.elapsed_sec),
    )];
    if findings.kind == LoadKind::Search {
        notes.push(
            "The rate of a search is the middle of the highest that held and the lowest that did not."
                .to_owned(),
        );
    }
    notes.extend(findings.sides.iter().filter_map(unusable));
    notes.extend(findings.sides.iter().filter_map(|side| limited(side, findings.kind)));
    notes.extend(findings.sides.iter().filter_map(open_ended));
    notes.extend(findings.sides.iter().filter_map(wide));
    notes.extend(findings.sides.iter().filter_map(no_rate));
    notes.extend(findings.sides.iter().filter_map(undecided));
    if findings.figures.iter().any(|known| known.moved) {
        notes.push(
            "The ratio changed during the comparison: later rounds exclude what earlier ones showed."
                .to_owned(),
        );
    }
    notes.extend(findings.effects.iter().filter(|effect| effect.is_sure()).map(effect));
    notes
}

fn unusable(side: &SideSummary) -> Option<String> {
    let name = side.side.name();
    let loads = counted(side.unusable, "load");
    (side.unusable > 0).then(|| format!("{loads} of {name} failed and count for nothing but its success."))
}

fn no_rate(side: &SideSummary) -> Option<String> {
    let (count, name) = (side.without_rate, side.side.name());
    (count > 0).then(|| {
        format!(
            "{count} of {} searches of {name} found that no rate holds: each counts as a thousandth of the other side's rate, and for \
             nothing where that holds none either.",
            side.loads
        )
    })
}

fn undecided(side: &SideSummary) -> Option<String> {
    let (count, name) = (side.undecided, side.side.name());
    (count > 0).then(|| {
        format!(
            "{count} of {} searches of {name} ended before it was known whether any rate holds, and their rounds count for nothing: \
             let them last longer (-d).",
            side.loads
        )
    })
}

fn limited(side: &SideSummary, kind: LoadKind) -> Option<String> {
    let (count, name) = (side.limited, side.side.name());
    let (loads, better) = match kind {
        LoadKind::Search => ("ladders", "its throughput may be higher than shown"),
        LoadKind::Closed | LoadKind::Open => ("loads", "its throughput and latency may be better than shown"),
    };
    let is_bound = side.is_lower_bound(AbFigure::Throughput);
    let meaning = if is_bound { better } else { "those show less than it can do" };
    (count > 0).then(|| {
        format!("The load generator was the limit in {count} of {} {loads} of {name}: {meaning}.", side.loads)
    })
}

fn open_ended(side: &SideSummary) -> Option<String> {
    let (count, name) = (side.open_ended, side.side.name());
    let meaning = match side.is_lower_bound(AbFigure::MaxRate) {
        true => format!("its rate is a lower bound, and {name} may hold more"),
        false => "those show less than it may hold".to_owned(),
    };
    (count > 0).then(|| {
        format!("{count} of {} searches of {name} found no rate that breaks: {meaning}.", side.loads)
    })
}

fn wide(side: &SideSummary) -> Option<String> {
    let (count, name) = (side.wide, side.side.name());
    (count > 0).then(|| {
        format!(
            "{count} of {} searches of {name} ended with the rate that held and the one that did not more than twice as far apart as is \
             asked for, so that their middle is uncertain: let them last longer (-d).",
            side.loads
        )
    })
}

fn effect(effect: &Effect) -> String {
    let size = per_cent(effect.size.value.abs());
    match effect.kind {
        EffectKind::Order => format!(
            "The second load of a round differs from the first by {} (99 % sure). The random order takes this out of the ratio.",
            per_cent(effect.size.value.abs() / 2.0)
        ),
        EffectKind::CarryOver => format!(
            "What ran before matters: the ratio differs by {size} by which side was loaded before (99 % sure), so it may be off by \
             {}. Leave time between loads (--pause 5s), or start the services for each load (--a, --b).",
            per_cent(effect.bias())
        ),
    }
}
