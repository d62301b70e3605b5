//! Production at a glance, in at most [`MAX_LINES`](super::MAX_LINES) lines: what is full first, what a request costs, what
//! to be wary of.

use jiff::Timestamp;
use plimsoll_analyze::{FullAt, ProductionFindings, ProductionLimit, ResourceFinding};
use plimsoll_units::{count_text, percent_text, share_text};

use super::page::{Ink, Page};
use super::paragraph::{cut, width, wrapped_to};
use super::short::MAX_LINES;
use crate::amount::{counted, if_known};
use crate::words;

/// The maximum number of resources in the table.
const MAX_ROWS: usize = 6;
/// The space between two columns.
const GAP: &str = "  ";

/// Reports the findings about series of production.
pub fn production(findings: &ProductionFindings, page: &Page) -> String {
    let shown = shown(findings);
    let ink = match findings.limit {
        ProductionLimit::Known { .. } => Ink::Strong,
        ProductionLimit::Unknown(_) => Ink::Doubt,
    };
    let limit = wrapped_to(page.width, "", "", &words::production_limit(findings));
    let limit = page.paint_lines(ink, &limit);
    let table = table(findings, &shown, page);
    let last = wrapped_to(page.width, "", "", words::PRODUCTION_TEST_ONLY);
    let head = heading(findings, page);
    let taken = [&head, &limit, &table, &last].iter().map(|part| part.lines().count()).sum::<usize>() + 3;
    let remarks = remarks(findings, &shown, page, MAX_LINES.saturating_sub(taken));
    let parts = [head + &limit, table, remarks + &last];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// An instant, in UTC.
fn time(sec: f64) -> String {
    let instant = Timestamp::from_second(sec as i64);
    instant.map_or_else(|_| "?".to_owned(), |instant| instant.strftime("%Y-%m-%d %H:%M").to_string())
}

fn heading(findings: &ProductionFindings, page: &Page) -> String {
    let rates = if_known(findings.rate, |rate| {
        format!(", {} to {} requests/s", count_text(rate.low), count_text(rate.highest))
    });
    let text = format!(
        "{} to {} UTC, {} of {}{rates}",
        time(findings.start_sec),
        time(findings.end_sec),
        counted(findings.with_rate as u64, "point"),
        words::hours(findings.step_sec),
    );
    page.paint_lines(Ink::Faint, &wrapped_to(page.width, "", "", &text))
}

/// Returns the resources whose law is known, as many as fit. Of several instances, only the one that fills first and
/// their sum.
fn shown(findings: &ProductionFindings) -> Vec<&ResourceFinding> {
    let mut shown: Vec<&ResourceFinding> = Vec::new();
    for resource in findings.resources.iter().filter(|one| one.demand.is_some() && one.kind.limits()) {
        let is_beyond = resource.demand.is_some_and(|demand| matches!(demand.full_at, FullAt::Beyond(_)));
        let same = shown.iter().filter(|other| other.is_same_resource(resource)).count();
        let is_sum = resource.count().is_some();
        if !is_beyond && (same == 0 || (same == 1 && is_sum)) {
            shown.push(resource);
        }
    }
    shown.truncate(MAX_ROWS);
    shown
}

fn table(findings: &ProductionFindings, shown: &[&ResourceFinding], page: &Page) -> String {
    let beyond = beyond(findings);
    if shown.is_empty() {
        return beyond.map_or_else(String::new, |text| wrapped_to(page.width, "", "", &text));
    }
    let header = [
        "a request".to_owned(),
        "background".to_owned(),
        "of".to_owned(),
        format!("{} at", percent_text(findings.safe_share)),
        "full at".to_owned(),
        "resource".to_owned(),
    ];
    let rows = shown.iter().map(|resource| row(resource, findings));
    let lines: Vec<[String; 6]> = std::iter::once(header).chain(rows).collect();
    let widths: Vec<usize> =
        (0..5).map(|column| lines.iter().map(|cells| width(&cells[column])).max().unwrap_or(0)).collect();
    let line = |cells: &[String; 6]| {
        let numbers: String =
            cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}{GAP}")).collect();
        cut(&format!("{numbers}{}", cells[5]), page.width).trim_end().to_owned() + "\n"
    };
    let beyond = beyond.map_or_else(String::new, |text| wrapped_to(page.width, "", "", &text));
    lines.iter().map(line).collect::<String>() + &beyond
}

fn row(resource: &ResourceFinding, findings: &ProductionFindings) -> [String; 6] {
    let demand = resource.demand;
    let unit = resource.unit;
    [
        if_known(demand, |demand| words::production_cost(unit, demand.per_request.value)),
        if_known(demand, |demand| words::production_amount(unit, demand.background.value.max(0.0))),
        if_known(resource.capacity, |capacity| words::production_amount(unit, capacity)),
        if_known(demand.and_then(|demand| demand.safe_at), |rate| count_text(rate.value)),
        resource.full_at().map_or_else(String::new, |rate| {
            let half = rate.interval.map(|(lower, upper)| (upper - lower) / (2.0 * rate.value));
            format!("{}{}", count_text(rate.value), if_known(half, |half| format!(" ± {}", share_text(half))))
        }),
        words::production_resource(resource, &findings.resources),
    ]
}

/// Counts the resources that fill too far beyond what was observed.
fn beyond(findings: &ProductionFindings) -> Option<String> {
    let most = words::production_beyond(findings)?;
    let count = findings.resources.iter().filter(|resource| {
        resource.kind.limits()
            && resource.demand.is_some_and(|demand| matches!(demand.full_at, FullAt::Beyond(_)))
    });
    let count = count.count() as u64;
    let fill = if count == 1 { "is" } else { "are" };
    (count > 0).then(|| {
        format!(
            "{} {fill} full beyond {} requests/s, if at all.",
            counted(count, "more resource"),
            count_text(most)
        )
    })
}

/// Returns the remarks, at least one, and as many as there is room for.
fn remarks(findings: &ProductionFindings, shown: &[&ResourceFinding], page: &Page, lines: usize) -> String {
    let mut text = String::new();
    for remark in words::production_remarks(findings, shown, time) {
        let more = wrapped_to(page.width, "", "", &remark);
        if !text.is_empty() && text.lines().count() + more.lines().count() > lines {
            break;
        }
        text += &more;
    }
    text
}

#[cfg(test)]
mod tests {
    use plimsoll_analyze::{
        AmountUnit, Estimate, ProductionKind, ProductionLaw, ProductionSeries, ResourceSeries,
        explain_production,
    };

    use super::*;

    /// A CPU of four cores, and disks of one, over rates that go up and down.
    fn found(cpu: impl Fn(f64) -> f64, disk: impl Fn(usize) -> f64) -> ProductionFindings {
        let usage = |at: usize| vec![Some(cpu(rate_at(at))), Some(disk(at))];
        of_series(&[(ProductionKind::HostCpu, 4.0), (ProductionKind::Disk, 1.0)], usage)
    }

    fn rate_at(at: usize) -> f64 {
        100.0 + 10.0 * (at * 7 % 31) as f64
    }

    /// Resources of these kinds and capacities by their use at each of 200 instants.
    fn of_series(
        kinds: &[(ProductionKind, f64)],
        usage: impl Fn(usize) -> Vec<Option<f64>>,
    ) -> ProductionFindings {
        let of_kind = |(place, (kind, capacity)): (usize, &(ProductionKind, f64))| {
            let usage = (0..200).map(|at| usage(at)[place]).collect();
            let (of, unit, capacity) = (String::new(), AmountUnit::Cores, Some(*capacity));
            ResourceSeries { kind: *kind, of, instance: None, unit, scale: 1.0, usage, capacity }
        };
        let series = ProductionSeries {
            start_sec: 1e9,
            step_sec: 600.0,
            rate_per_sec: (0..200).map(|at| Some(rate_at(at))).collect(),
            resources: kinds.iter().enumerate().map(of_kind).collect(),
        };
        explain_production(&series, 0.7)
    }

    fn text_of(findings: &ProductionFindings) -> String {
        let page = Page { width: Page::DEFAULT_WIDTH, colours: false, run_name: None };
        production(findings, &page).replace('\n', " ")
    }

    #[test]
    fn a_resource_that_is_full_all_the_time_is_named_and_no_other_is_first() {
        let kinds = [(ProductionKind::HostCpu, 4.0), (ProductionKind::HostMemory, 1.0)];
        let text = text_of(&of_series(&kinds, |at| vec![Some(0.3 + 0.004 * rate_at(at)), Some(0.99)]));
        assert!(
            text.contains("What is full first is not known: memory was full (95 % or more) at 200 of 200"),
            "{text}"
        );
        assert!(!text.contains("CPU is full first"), "{text}");
    }

    #[test]
    fn what_the_busy_time_of_a_disk_does_not_say_stands_next_to_the_answer() {
        let text = text_of(&found(|rate| 0.3 + 0.004 * rate, |_| 0.99));
        assert!(text.contains("CPU is full first"), "{text}");
        let may_hold = "disk time was full at 200 points: if it serves one request at a time, it may hold";
        assert_eq!(text.matches("disk time was full").count(), text.matches(may_hold).count(), "{text}");
        assert!(text.contains(may_hold), "{text}");
        let text = text_of(&found(|rate| 0.3 + 0.004 * rate, |at| 0.002 * rate_at(at)));
        assert!(text.contains("disk time is full first"), "{text}");
        assert!(text.contains("A disk that serves several requests at once"), "{text}");
    }

    #[test]
    fn what_is_full_at_nearly_the_same_rate_is_named_without_a_claim_of_intervals() {
        let text = text_of(&found(|rate| 0.3 + 0.004 * rate, |at| rate_at(at) / 950.0));
        assert!(text.contains("CPU is full first, at about 925"), "{text}");
        assert!(text.contains("disk time is full at nearly the same rate."), "{text}");
        assert!(!text.contains("overlap"), "{text}");
    }

    #[test]
    fn a_resource_that_is_known_in_a_part_of_the_time_is_named() {
        let usage = |at: usize| vec![Some(0.3 + 0.004 * rate_at(at)).filter(|_| at >= 100)];
        let text = text_of(&of_series(&[(ProductionKind::HostCpu, 4.0)], usage));
        assert!(text.contains("CPU is known at 100 of 200 points."), "{text}");
    }

    #[test]
    fn a_release_is_named_with_what_the_figures_are_of() {
        let released = |from: usize| {
            let cost = move |at: usize| if at < from { 0.004 } else { 0.006 };
            let usage = move |at: usize| vec![Some(0.3 + cost(at) * rate_at(at))];
            text_of(&of_series(&[(ProductionKind::HostCpu, 4.0)], usage))
        };
        let text = released(160);
        // (4 − 0.3) / 0.006.
        assert!(text.contains("CPU is full first, at about 617 requests/s"), "{text}");
        let said = "CPU: since 2001-09-10 04:26 UTC 390 requests/s use 42 % more than before";
        assert!(text.contains(said), "{text}");
        let text = released(190);
        assert!(text.contains("too short for figures of its own"), "{text}");
    }

    #[test]
    fn instances_that_were_more_answer_for_those_of_now_and_reached_nothing() {
        let usage = |at: usize| {
            let (is_early, is_turn) = (at < 150, at.is_multiple_of(8));
            let each = Some(0.01 * rate_at(at) / if is_early { 2.0 } else { 1.0 });
            // Two take turns, so that none is there all the time.
            vec![each.filter(|_| !is_turn), each.filter(|_| is_turn), each.filter(|_| is_early)]
        };
        let text = text_of(&of_series(&[(ProductionKind::HostCpu, 2.5); 3], usage));
        let said = "with the 1 there are now (1 to 2 in this time; the highest rate was 400)";
        assert!(text.contains(said) && !text.contains("which was reached"), "{text}");
    }

    #[test]
    fn a_share_that_is_used_without_requests_has_the_rate_0() {
        let text = text_of(&found(|rate| 3.0 + 0.001 * rate, |_| 0.1));
        let cells = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(cells.contains("3.00 cores 4.00 cores 0 1,000"), "{text}");
        assert!(cells.contains("CPU: 70 % of it or more is used without requests."), "{text}");
        assert!(!text_of(&found(|rate| 0.3 + 0.004 * rate, |_| 0.1)).contains("used without requests"));
    }

    #[test]
    fn a_bend_is_said_only_with_its_whole_interval() {
        let mut findings = found(|rate| 0.3 + 0.004 * rate, |_| 0.1);
        findings.resources[0].law = ProductionLaw::Bent;
        let mut with = |interval| {
            let demand = findings.resources[0].demand.as_mut().unwrap();
            demand.bend = Estimate { value: 0.35, interval: Some(interval) };
            text_of(&findings)
        };
        let sure = with((0.1, 0.6));
        assert!(sure.contains("A request costs 35 % more at the high rates"), "{sure}");
        let chance = with((-0.1, 0.8));
        assert!(!chance.contains("35 %") && chance.contains("below zero at no requests"), "{chance}");
    }

    #[test]
    fn requests_that_cost_little_more_than_a_wake_up_are_named() {
        let mut findings = found(|rate| 0.3 + 0.004 * rate, |_| 0.1);
        assert!(!text_of(&findings).contains("waking up"));
        findings.resources[0].demand.as_mut().unwrap().per_request.value = 119e-6;
        let text = text_of(&findings);
        assert!(text.contains("A request costs 119 µs of CPU, and waking up for each"), "{text}");
        // One of ten instances has a tenth of each request.
        let whole = found(|rate| 0.3 + 0.004 * rate, |_| 0.1).resources.swap_remove(0);
        findings.resources.push(whole);
        assert!(!text_of(&findings).contains("waking up"));
    }

    #[test]
    fn what_is_unclear_is_named_next_to_what_is_first() {
        // It goes up and down by much, and by nothing that the rate explains.
        let text = text_of(&found(|rate| 0.3 + 0.004 * rate, |at| 0.4 + 0.3 * (at as f64 / 9.0).sin()));
        assert!(text.contains("CPU is full first"), "{text}");
        assert!(text.contains("Whether disk time follows the rate is not known"), "{text}");
    }
}
