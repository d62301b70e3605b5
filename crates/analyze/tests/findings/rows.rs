//! Rows of runs, and what rows with a front and hosts measured alone say together.

use std::sync::LazyLock;
use std::time::Duration;

use plimsoll_analyze::{
    BreakEven, Ceiling, Conclusion, Confidence, Findings, Limit, Place, RowPoint, RowRun, RunRows, Suspect,
    TableFindings, TableRow, TableTier, TriedRow, Verdict, explain_table, run_rows,
};
use plimsoll_plan::{Capacity, PlanHost, RowSpec, Slo};

use super::synthetic::{self, Level};

/// Two APIs alone and through nginx, at so many milliseconds.
fn two(held_ms: f64, alone_per_sec: [f64; 2], through_per_sec: f64) -> TableRow {
    let tier = |name: &str, per_sec: f64| TableTier {
        name: name.to_owned(),
        alone_per_sec: Some(per_sec),
        ..TableTier::default()
    };
    TableRow {
        label: format!("sleep {held_ms}"),
        throughput_per_sec: through_per_sec,
        connections: Some(400.0),
        held_sec: Some(held_ms / 1e3),
        front: Some("nginx".to_owned()),
        tiers: vec![tier("api1", alone_per_sec[0]), tier("api2", alone_per_sec[1])],
        ..TableRow::default()
    }
}

/// The published case, as it was printed.
fn published() -> Vec<TableRow> {
    vec![
        two(200.0, [158.12, 158.60], 317.29),
        two(70.0, [453.59, 453.77], 905.48),
        two(2.0, [9367.26, 9335.16], 12294.76),
        two(0.0, [18829.48, 18776.76], 12408.13),
    ]
}

/// The rows in which tiers carry through a front what they carry alone, or those in which they do not: each with its time
/// over that of one tier, in per cent.
fn multiplied(found: &TableFindings, front: &str, holds: bool) -> Vec<(String, f64)> {
    let rows = |conclusion: &Conclusion| match conclusion {
        Conclusion::Multiplied(all) if all.front == front && all.holds == holds && all.two => {
            Some(all.rows.iter().map(|row| (row.name.label.clone(), (100.0 * row.of_one).round())).collect())
        }
        _ => None,
    };
    found.conclusions.iter().find_map(rows).unwrap_or_default()
}

fn labelled(rows: &[(&str, f64)]) -> Vec<(String, f64)> {
    rows.iter().map(|(label, of_one)| ((*label).to_owned(), *of_one)).collect()
}

/// What a tier in front carries in rows of these requests.
fn ceiling(found: &TableFindings, front: &str) -> Ceiling {
    let of_front = |conclusion: &Conclusion| match conclusion {
        Conclusion::Ceiling(ceiling) if ceiling.front == front => Some(ceiling.clone()),
        _ => None,
    };
    found.conclusions.iter().find_map(of_front).unwrap()
}

fn agrees(found: &TableFindings, label: &str) -> Option<bool> {
    let trials = found.break_evens.iter().flat_map(|even| &even.trials);
    trials.filter(|trial| trial.name.label == label).map(TriedRow::agrees).next()
}

/// The ends of what is predicted for a row, in whole requests per second.
fn predicted(found: &TableFindings, label: &str) -> (f64, f64, f64) {
    let trial = only(found).trials.iter().find(|trial| trial.name.label == label).unwrap();
    let (low, high) = trial.predicted_per_sec.interval.unwrap();
    (low.round(), trial.predicted_per_sec.value.round(), high.round())
}

fn only(found: &TableFindings) -> &BreakEven {
    assert_eq!(found.break_evens.len(), 1, "{:?}", found.break_evens);
    &found.break_evens[0]
}

#[test]
fn the_published_apis_double_until_they_are_faster_than_half_of_nginx() {
    let found = explain_table(&published());
    assert_eq!(multiplied(&found, "nginx", true), labelled(&[("sleep 200", 200.0), ("sleep 70", 200.0)]));
    assert_eq!(multiplied(&found, "nginx", false), labelled(&[("sleep 2", 131.0), ("sleep 0", 66.0)]));
    assert_eq!(ceiling(&found, "nginx").mean_per_sec.round(), 12_351.0);
    let pool = |conclusion: &Conclusion| match conclusion {
        Conclusion::Pool(pool) => pool.owners == ["api1", "api2"] && pool.most.ceil() == 32.0,
        _ => false,
    };
    assert!(found.conclusions.iter().any(pool), "{:?}", found.conclusions);
    let even = only(&found);
    // The sum of the two alone is nginx's 12,351 between 70 and 2 ms; a straight line through 1/X there gives 3.8 ms.
    assert!((3.6e-3..=3.9e-3).contains(&even.held_sec.value), "{even:?}");
    let (low, high) = even.held_sec.interval.unwrap();
    assert!(low < even.held_sec.value && even.held_sec.value < high && high < 4.2e-3, "{even:?}");
    assert!((6_175.0..6_177.0).contains(&even.each_per_sec));
    assert!(even.behind.iter().all(|tier| (31.0..=33.0).contains(&tier.at_once)), "{even:?}");
    assert!(
        even.behind.iter().all(|tier| tier.most_per_sec > 18_000.0),
        "without sleep it is no pool: {even:?}"
    );
    assert!((3.7e-3..3.8e-3).contains(&even.held_sec.value) && even.trials.is_empty(), "{even:?}");
}

/// Two hosts that serve so many at once and take 1 ms besides, and carry 8,000/s at most; before them one of so much.
fn made(at_once: f64, front_per_sec: f64, times_ms: &[f64]) -> Vec<TableRow> {
    let one = |held_ms: f64| (at_once / (held_ms + 1.0) * 1e3).min(8_000.0);
    times_ms.iter().map(|ms| two(*ms, [one(*ms); 2], (2.0 * one(*ms)).min(front_per_sec))).collect()
}

#[test]
fn the_break_even_grows_with_the_pool() {
    for at_once in [4.0, 8.0, 16.0, 40.0, 64.0] {
        for front_per_sec in [1_000.0, 3_000.0] {
            let found = explain_table(&made(at_once, front_per_sec, &[400.0, 200.0, 0.5, 0.0]));
            let predicted_sec = 2.0 * at_once / front_per_sec - 1e-3;
            let held_sec = only(&found).held_sec.value;
            assert!((held_sec - predicted_sec).abs() < 1e-6, "{at_once} at {front_per_sec}: {held_sec}");
        }
    }
}

#[test]
fn a_row_near_the_break_even_is_predicted_without_it_and_confirms_it_or_not() {
    // 2·16/(h + 1 ms) is 3,000/s at 9.67 ms.
    let rows = |through_per_sec: f64| {
        let mut rows = made(16.0, 3_000.0, &[200.0, 70.0, 10.0, 2.0, 0.0]);
        rows[2].throughput_per_sec = through_per_sec;
        rows
    };
    let found = explain_table(&rows(2_860.0));
    let [trial] = only(&found).trials.as_slice() else { panic!("{:?}", found.break_evens) };
    assert!(trial.agrees() && (trial.predicted_per_sec.value - 2_909.0).abs() < 1.0, "{trial:?}");
    assert_eq!(
        (agrees(&found, "sleep 10"), predicted(&found, "sleep 10")),
        (Some(true), (2_771.0, 2_909.0, 3_055.0))
    );
    assert_eq!(agrees(&explain_table(&rows(2_500.0)), "sleep 10"), Some(false));
    // It takes no tier measured alone to try it.
    let mut through_alone = rows(2_860.0);
    through_alone[2].tiers.iter_mut().for_each(|tier| tier.alone_per_sec = None);
    let found = explain_table(&through_alone);
    assert_eq!(only(&found).trials.len(), 1, "{:?}", found.break_evens);
}

#[test]
fn no_break_even_is_reported_where_none_was_crossed_or_no_pool_was_seen() {
    let none = |rows: &[TableRow]| assert_eq!(explain_table(rows).break_evens, [], "{rows:?}");
    // The front never limits.
    none(&made(16.0, 20_000.0, &[200.0, 70.0, 2.0]));
    // It always does.
    none(&made(16.0, 100.0, &[200.0, 70.0, 2.0]));
    // One time tells no law.
    none(&made(16.0, 3_000.0, &[2.0]));
    // As much is under way as there are connections: that is the load, and no pool.
    let mut few = made(16.0, 3_000.0, &[200.0, 70.0, 2.0]);
    few.iter_mut().for_each(|row| row.connections = Some(16.0));
    none(&few);
    // What is alone does not follow the time at all.
    none(&[
        two(200.0, [5_000.0; 2], 3_000.0),
        two(70.0, [5_000.0; 2], 3_000.0),
        two(2.0, [1_000.0; 2], 2_000.0),
    ]);
    none(&[]);
}

/// A ladder of which only the throughput is changed: making one takes its time.
static LADDER: LazyLock<Findings> = LazyLock::new(|| {
    let levels = [16, 32, 64].map(|connections| Level::at(connections, 1_000.0));
    synthetic::findings(&synthetic::ladder(&levels, Slo::default()))
});

/// The findings of a ladder that stops at so much, with this verdict.
/// `api1: java` or `web`.
fn place_of(text: &str) -> Place {
    text.split_once(": ").map_or_else(|| Place::host(text), |(host, process)| Place::process(host, process))
}

fn findings(per_sec: f64, limit: Limit, place: &str) -> Findings {
    let mut findings = LADDER.clone();
    findings.steps.iter_mut().for_each(|step| step.throughput.value = per_sec);
    findings.verdict = Verdict::new(limit, place_of(place), Confidence::Measured);
    let host = |name: &str, tier: &str, cores: f64| PlanHost {
        name: name.to_owned(),
        tier: Some(tier.to_owned()),
        address: None,
        probes: Vec::new(),
        capacity: Capacity { cores: Some(cores), ..Capacity::default() },
    };
    findings.plan.hosts =
        vec![host("web", "nginx", 0.5), host("api1", "api", 0.25), host("api2", "api", 0.25)];
    findings.plan.target.host = "WEB".to_owned();
    findings
}

fn spec(case: &str, alone: Option<&str>, held_ms: u64) -> RowSpec {
    RowSpec {
        case: Some(case.to_owned()),
        alone: alone.map(str::to_owned),
        front: Some("web".to_owned()),
        held: Some(Duration::from_millis(held_ms)),
        ..RowSpec::default()
    }
}

/// The runs of a case: both APIs alone, and through the front.
fn case(held_ms: u64, alone: (f64, Limit), through: (f64, Limit, &str)) -> Vec<RowRun> {
    let name = format!("sleep {held_ms}");
    let run = |alone: Option<&str>, findings: Findings| {
        RowRun::from_findings(
            &format!("{name} {}", alone.unwrap_or("web")),
            &spec(&name, alone, held_ms),
            &findings,
        )
        .unwrap()
    };
    vec![
        run(Some("api1"), findings(alone.0, alone.1, "api1: java")),
        run(Some("api2"), findings(alone.0, alone.1, "api2: java")),
        run(None, findings(through.0, through.1, through.2)),
    ]
}

/// Sixteen workers in each API at 1 ms besides, and a front whose CPU is full at 1,300/s.
fn five_cases() -> Vec<RowRun> {
    let pool = Limit::Pool;
    [
        case(200, (79.6, pool), (159.0, pool, "api1: java")),
        case(70, (225.0, pool), (450.0, pool, "api1: java")),
        case(24, (640.0, pool), (1_260.0, Limit::Cpu, "web")),
        case(2, (1_900.0, Limit::Cpu), (1_310.0, Limit::Cpu, "web")),
        case(0, (1_950.0, Limit::Cpu), (1_290.0, Limit::Cpu, "web")),
    ]
    .concat()
}

#[test]
fn runs_of_one_case_make_one_row_with_the_verdict_of_the_run() {
    let made = run_rows(&five_cases());
    assert_eq!((made.rows.len(), made.runs.len(), made.found.rows.len()), (5, 5, 5));
    let row = &made.rows[1];
    assert_eq!((row.label.as_str(), row.cores, row.held_sec), ("sleep 70", Some(0.5), Some(0.07)));
    assert!((row.throughput_per_sec / 450.0 - 1.0).abs() < 0.02 && row.response_bytes.is_some(), "{row:?}");
    let alone: Vec<(&str, bool)> =
        row.tiers.iter().map(|tier| (tier.name.as_str(), tier.alone_per_sec.is_some())).collect();
    assert_eq!(alone, [("nginx", false), ("api", false), ("api1", true), ("api2", true)]);
    assert_eq!(made.found.rows[4].verdict.limit, Limit::Cpu);
    assert_eq!(made.found.rows[1].verdict.confidence, Confidence::Measured, "it is the run's, not a table's");
}

#[test]
fn runs_tell_what_the_front_carries_and_why_and_where_doubling_ends() {
    let RunRows { found, .. } = run_rows(&five_cases());
    let web = ceiling(&found, "web");
    assert!((1_200.0..1_300.0).contains(&web.mean_per_sec) && web.limit == Some(Limit::Cpu), "{web:?}");
    assert_eq!(multiplied(&found, "web", true)[..2], labelled(&[("sleep 200", 200.0), ("sleep 70", 200.0)]));
    assert_eq!(multiplied(&found, "web", false)[0], ("sleep 2".to_owned(), 69.0));
    let even = only(&found);
    // 2·16/(h + 1 ms) = 1,300/s at 23.6 ms.
    assert!((even.held_sec.value - 23.6e-3).abs() < 0.7e-3, "{even:?}");
    assert_eq!(agrees(&found, "sleep 24"), Some(true));
}

#[test]
fn a_row_in_which_the_cpu_may_have_been_full_tells_nothing_of_the_pool() {
    // Busy processors make each request of 10 ms take longer, which would be put down to all of them.
    let overhead_sec = |also: &[Suspect]| {
        let mut alone = case(10, (1_380.0, Limit::Pool), (1_300.0, Limit::Cpu, "web"));
        alone.iter_mut().for_each(|run| run.verdict.also = also.to_vec());
        let runs = [five_cases(), alone].concat();
        let law = only(&run_rows(&runs).found).behind[0].clone();
        assert!(
            (law.most_per_sec / 1_950.0 - 1.0).abs() < 0.01,
            "what it carried where the pool was not the limit: {law:?}"
        );
        law.overhead_sec
    };
    let cpu = Suspect { limit: Limit::Cpu, place: Place::host("api1"), at_per_sec: None };
    let (sure, tied) = (overhead_sec(&[]), overhead_sec(&[cpu]));
    assert!(sure > 1.45e-3 && tied < 1.3e-3, "{sure} {tied}");
}

#[test]
fn a_row_that_its_front_stops_counts_for_the_front_though_nothing_was_measured_alone() {
    let through = findings(1_150.0, Limit::Cpu, "web");
    let mut runs = five_cases();
    runs.push(RowRun::from_findings("sleep 12", &spec("sleep 12", None, 12), &through).unwrap());
    let found = run_rows(&runs).found;
    let (low, _) = only(&found).front_per_sec.interval.unwrap();
    assert!((low / 1_150.0 - 1.0).abs() < 0.01, "{:?}", found.break_evens);
}

#[test]
fn a_trial_is_predicted_no_more_exactly_than_the_front_is_known() {
    let mut rows = made(16.0, 3_000.0, &[200.0, 70.0, 10.0, 2.0, 0.0]);
    (rows[3].throughput_per_sec, rows[4].throughput_per_sec) = (2_600.0, 3_400.0);
    rows[2].throughput_per_sec = 2_660.0;
    let found = explain_table(&rows);
    assert!(only(&found).front_per_sec.interval.is_some_and(|(low, high)| (low, high) == (2_600.0, 3_400.0)));
    assert_eq!(
        (agrees(&found, "sleep 10"), predicted(&found, "sleep 10")),
        (Some(true), (2_600.0, 2_909.0, 3_055.0))
    );
}

#[test]
fn a_tier_measured_alone_counts_as_often_as_it_has_machines() {
    let alone =
        RowRun::from_findings("alone", &spec("a", Some("api"), 70), &findings(225.0, Limit::Pool, "api1"))
            .unwrap();
    let through =
        RowRun::from_findings("a", &spec("a", None, 70), &findings(450.0, Limit::Pool, "api1")).unwrap();
    let made = run_rows(&[through, alone]);
    let tier = made.rows[0].tiers.iter().find(|tier| tier.name == "api").unwrap();
    assert_eq!(tier.instances, Some(2.0));
    assert_eq!(multiplied(&made.found, "web", true), labelled(&[("a", 200.0)]));
}

#[test]
fn what_was_not_pushed_to_its_end_is_compared_with_nothing() {
    for limit in [Limit::Generator, Limit::None] {
        let made = run_rows(&case(2, (1_900.0, limit), (1_310.0, Limit::Cpu, "web")));
        assert!(made.rows[0].tiers.iter().all(|tier| tier.alone_per_sec.is_none()));
        assert_eq!(made.found.uncompared, ["sleep 2"]);
        let multiplied = |conclusion: &Conclusion| matches!(conclusion, Conclusion::Multiplied(_));
        assert!(!made.found.conclusions.iter().any(multiplied), "{:?}", made.found.conclusions);
    }
}

/// A row of its own, of so many cores.
fn of_cores(name: &str, cores: f64, per_sec: f64, limit: Limit, place: &str) -> RowRun {
    let spec = RowSpec { cores: Some(cores), group: Some("slow".to_owned()), ..RowSpec::default() };
    RowRun::from_findings(name, &spec, &findings(per_sec, limit, place)).unwrap()
}

#[test]
fn runs_whose_verdicts_name_something_within_say_that_cores_do_not_help() {
    let runs = |limit: Limit| {
        run_rows(&[
            of_cores("quarter", 0.25, 800.0, limit, "stock"),
            of_cores("half", 0.5, 805.0, limit, "stock"),
            of_cores("whole", 1.0, 799.0, limit, "stock"),
        ])
        .found
    };
    let found = runs(Limit::Dependency);
    let [Conclusion::LimitIsWithin { ends, limit }] = &found.conclusions[..] else { panic!("{found:?}") };
    assert_eq!(*limit, Some((Limit::Dependency, "stock".to_owned())));
    let point = |row: &RowPoint| (row.per_sec, row.cores, row.group.clone());
    let slow = Some("slow".to_owned());
    assert_eq!(point(&ends.low), (800.0, Some(0.25), slow.clone()));
    assert_eq!(point(&ends.high), (799.0, Some(1.0), slow));
    let unseen = runs(Limit::Unknown);
    assert_eq!(unseen.conclusions, [], "no CPU was observed");
}

#[test]
fn responses_that_differ_by_less_than_noise_are_of_one_size() {
    let row = |cores: f64, bytes: f64, per_sec: f64| TableRow {
        label: format!("{cores} {bytes}"),
        throughput_per_sec: per_sec,
        response_bytes: Some(bytes),
        cores: Some(cores),
        tiers: vec![TableTier {
            name: "api".to_owned(),
            cpu_ratio: Some(0.99),
            out_bits_per_sec: Some(1e6),
            link_bits_per_sec: Some(1e9),
            ..TableTier::default()
        }],
        ..TableRow::default()
    };
    let found = explain_table(&[row(0.25, 1_100.4, 1_000.0), row(0.5, 1_099.7, 2_050.0)]);
    assert!(matches!(found.conclusions[..], [Conclusion::CoresHelp { more_than_linear: false, .. }]));
    let found = explain_table(&[row(0.25, 1_100.0, 1_000.0), row(0.5, 1_100.0, 3_000.0)]);
    assert!(matches!(found.conclusions[..], [Conclusion::CoresHelp { more_than_linear: true, .. }]));
}

/// The rows of one case with these throughputs of the APIs and of the front, of requests of a group and through a front.
fn cases_of(group: &str, front: &str, alone_per_sec: f64, through_per_sec: f64, limit: Limit) -> Vec<RowRun> {
    let cases = [2, 0].map(|held_ms| {
        let mut runs = case(held_ms, (alone_per_sec, Limit::Cpu), (through_per_sec, limit, front));
        for run in &mut runs {
            run.spec.case = run.spec.case.take().map(|case| format!("{group} {case}"));
            (run.spec.group, run.spec.front) = (Some(group.to_owned()), Some(front.to_owned()));
        }
        runs
    });
    cases.concat()
}

#[test]
fn rows_of_other_requests_or_through_another_front_are_distinguished() {
    let runs = [
        cases_of("text", "web", 1_900.0, 1_300.0, Limit::Cpu),
        cases_of("image", "edge", 1_900.0, 1_290.0, Limit::Bandwidth),
    ];
    let RunRows { found, .. } = run_rows(&runs.concat());
    let of = |front: &str| {
        let Ceiling { rows, group, limit, .. } = ceiling(&found, front);
        (rows, group.unwrap_or_default(), limit)
    };
    assert_eq!(of("web"), (2, "text".to_owned(), Some(Limit::Cpu)));
    assert_eq!(of("edge"), (2, "image".to_owned(), Some(Limit::Bandwidth)));
    assert!(["web", "edge"].iter().all(|front| multiplied(&found, front, false).len() == 2));
}

#[test]
fn a_row_whose_throughput_still_grew_is_not_set_against_what_its_hosts_carry_alone() {
    let reported = |limit: Limit| {
        let found = run_rows(&cases_of("text", "web", 1_900.0, 900.0, limit)).found;
        !multiplied(&found, "web", false).is_empty()
    };
    assert!(reported(Limit::Cpu) && !reported(Limit::None) && !reported(Limit::Generator));
}
