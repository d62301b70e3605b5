//! Lists of runs and trends, in every form.

use plimsoll_analyze::{
    EntryMachine, Estimate, Measured, RunEntry, RunFigures, Trend, TrendMetric, TrendOptions, trend,
};
use plimsoll_record::{RunCommand, Tags};
use plimsoll_report::figure;
use plimsoll_report::json::{self, schema_of};
use plimsoll_report::text::{self, ListedRun, Page, RunsPage};
use plimsoll_testkit::Noise;

const DAY_MS: u64 = 86_400_000;
/// 2024-02-29 12:34:56 UTC.
const FIRST_MS: u64 = 1_709_210_096_000;

fn run(index: u64, per_sec: f64) -> RunEntry {
    let around = |value: f64| Some(Measured { value, interval: Some((value * 0.99, value * 1.01)) });
    RunEntry {
        id: Some(format!("{index:064}")),
        file: format!("checkout-{index}.plimsoll"),
        name: "checkout".to_owned(),
        command: RunCommand::Answer,
        target: "http://127.0.0.1:8080/checkout".to_owned(),
        plan_hash: "plan".to_owned(),
        machine: EntryMachine { hostname: "ci".to_owned(), kernel: "Linux".to_owned(), cores: 2 },
        tool_version: "0.1.0".to_owned(),
        started_unix_ms: FIRST_MS + index * DAY_MS,
        ended_early: false,
        tags: [format!("commit=c{index:07}").parse().unwrap()].into_iter().collect::<Tags>(),
        figures: RunFigures {
            throughput_per_sec: around(per_sec),
            is_least: index.is_multiple_of(5),
            held_per_sec: None,
            p50_ns: around(1e9 / per_sec),
            p99_ns: around(3e9 / per_sec),
            success_ratio: Some(1.0),
            cpu_per_request_ns: None,
            limit: "cpu".to_owned(),
            generator_healthy: true,
        },
        limit_phrase: "CPU of web".to_owned(),
    }
}

fn runs() -> Vec<RunEntry> {
    let mut noise = Noise::new(11);
    let level = |index| if index < 25 { 3200.0 } else { 3040.0 };
    (0..40).map(|index| run(index, level(index) * (1.0 + 0.01 * noise.normal()))).collect()
}

fn of(metric: TrendMetric, runs: &[RunEntry]) -> Trend {
    let options = TrendOptions {
        metric,
        any_plan: false,
        any_machine: false,
        hostname: None,
        runs_max: 200,
        unreadable_unix_ms: &[],
    };
    trend(runs, options).unwrap()
}

#[test]
fn a_trend_fits_a_page_and_names_the_run_that_changed_it() {
    let page = Page { width: 80, colours: false, run_name: None };
    let text = text::trend(&of(TrendMetric::Throughput, &runs()), "commit", &page);
    insta::with_settings!({omit_expression => true, prepend_module_to_snapshot => false}, {
        insta::assert_snapshot!("trend", text);
    });
    assert!(text.lines().count() <= 20 && text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let mut patched = runs();
    patched[30..].iter_mut().for_each(|run| run.machine.kernel = "Linux 6.1.1".to_owned());
    let patched = text::trend(&of(TrendMetric::Throughput, &patched), "commit", &page).replace('\n', " ");
    assert!(
        patched.contains("The kernel changed from Linux to Linux 6.1.1 with checkout-30.plimsoll."),
        "{patched}"
    );
    let still = text::trend(&of(TrendMetric::P99, &runs()[..20]), "commit", &page);
    assert!(still.contains("No change was found."), "{still}");
}

#[test]
fn a_level_that_may_be_the_same_is_neither_worse_nor_better() {
    let mut trend = of(TrendMetric::Throughput, &runs());
    let [change] = &mut trend.changes[..] else { panic!("{:?}", trend.changes) };
    change.ratio = Some(Estimate { value: 0.997, interval: Some((0.985, 1.009)) });
    change.worse = None;
    let page = Page { width: 80, colours: false, run_name: None };
    let text = text::trend(&trend, "commit", &page).replace('\n', " ");
    assert!(text.contains("QPS fell by 0.3 %, which may be no change of the level"), "{text}");
    assert!(!text.contains("which is worse") && !text.contains("which is better"), "{text}");
    let document = serde_json::to_value(json::TrendDocument::new(&trend, Some(0.0), None)).unwrap();
    assert_eq!(document["changes"][0]["worse"], serde_json::Value::Null);
    assert_eq!(document["regressed"], false);
}

#[test]
fn newer_runs_without_a_value_leave_it_open_whether_the_level_fell() {
    let mut runs = runs();
    runs.truncate(20);
    runs[18].figures.throughput_per_sec = None;
    runs[19].figures.throughput_per_sec = None;
    runs[19].plan_hash = "other".to_owned();
    let trend = of(TrendMetric::Throughput, &runs);
    let document = |margin| serde_json::to_value(json::TrendDocument::new(&trend, margin, None)).unwrap();
    assert_eq!(document(Some(0.03))["regressed"], serde_json::Value::Null);
    assert_eq!(document(None)["newer_without_value"], 2);
    let text = text::newest_without_value(&trend);
    let expected = "1 comparable run (too little was answered) and 1 run with another plan or of another machine, newer than the last one \
                    compared, have no QPS";
    assert!(text.starts_with(expected) && text.contains("--match"), "{text}");
}

#[test]
fn newer_runs_that_fail_are_named_as_such() {
    let mut runs = runs();
    runs[38].figures.success_ratio = Some(0.05);
    (runs[5].ended_early, runs[39].ended_early) = (true, true);
    let trend = of(TrendMetric::Throughput, &runs);
    let text = text::newest_without_value(&trend);
    let expected = "1 comparable run of which more than 5 % of the requests failed and 1 comparable run that did not run to the end";
    assert!(text.starts_with(expected) && !text.contains("too little was answered"), "{text}");
    let left_out = text::left_out(trend.left_out).unwrap();
    assert_eq!(
        left_out,
        "Left out: 2 runs that did not run to the end, 1 run of which more than 5 % of the requests failed."
    );
    let document = serde_json::to_value(json::TrendDocument::new(&trend, Some(0.03), None)).unwrap();
    assert_eq!((&document["left_out"]["failing"], &document["newer_without_value"]), (&1.into(), &2.into()));
}

#[test]
fn latency_of_a_busy_generator_is_an_upper_bound() {
    let mut runs = runs();
    for run in &mut runs {
        run.figures.is_least = false;
    }
    for run in &mut runs[25..] {
        (run.figures.is_least, run.figures.generator_healthy) = (true, false);
    }
    let trend = of(TrendMetric::P99, &runs);
    let page = Page { width: 80, colours: false, run_name: None };
    let text = text::trend(&trend, "commit", &page).replace('\n', " ");
    assert!(text.contains("15 of 40 values are upper bounds (≤)") && !text.contains("is worse"), "{text}");
    let document = serde_json::to_value(json::TrendDocument::new(&trend, Some(0.0), None)).unwrap();
    assert_eq!(document["regressed"], false);
    let newest = &document["points"][39];
    assert_eq!((&newest["upper_bound"], &newest["lower_bound"]), (&true.into(), &false.into()));
}

#[test]
fn a_trend_of_any_length_and_any_metric_can_be_drawn() {
    for metric in [TrendMetric::Throughput, TrendMetric::P99] {
        let many: Vec<RunEntry> = (0..150).map(|index| run(index, 1000.0 + (index % 7) as f64)).collect();
        for trend in [of(metric, &runs()), of(metric, &many)] {
            let figure = figure::trend(&trend).unwrap();
            assert!(figure.svg.starts_with("<svg") && !figure.svg.contains("NaN"));
            assert!(figure.svg.contains("mean of") && !figure.png.is_empty());
            let labels = figure.svg.lines().filter(|line| line.trim() == "change").count();
            assert_eq!(labels, trend.changes.len().min(1), "{}", figure.svg);
        }
    }
}

#[test]
fn lists_and_trends_satisfy_their_schemas() {
    let mut unsealed = run(1, 10.0);
    (unsealed.id, unsealed.figures.throughput_per_sec) = (None, None);
    let unreadable = [("x.plimsoll".to_owned(), "it is no SQLite database".to_owned(), false)];
    let list = serde_json::to_value(json::RunsDocument::new(&[run(0, 5.0), unsealed], &unreadable)).unwrap();
    let trend = of(TrendMetric::Throughput, &runs());
    let document =
        |store_read| serde_json::to_value(json::TrendDocument::new(&trend, Some(0.03), store_read)).unwrap();
    let (trend, without_store) = (document(Some(true)), document(Some(false)));
    assert_eq!(trend["regressed"], true);
    assert_eq!(without_store["regressed"], serde_json::Value::Null, "some runs are missing");
    for (document, schema) in
        [(list, schema_of::<json::RunsDocument>()), (trend, schema_of::<json::TrendDocument>())]
    {
        let validator = jsonschema::validator_for(&schema).unwrap();
        let errors: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
}

#[test]
fn a_list_is_as_wide_as_its_page_and_whole_in_a_pipe() {
    let entries = runs();
    let listed = |name: &str, index: usize| ListedRun {
        name: name.to_owned(),
        is_stored: name == "store",
        file: &entries[index].file,
        entry: Ok(&entries[index]),
    };
    let rows = [listed("last", 1), listed("last~1", 0)];
    let page = |columns| RunsPage { columns, has_names: true, now_unix_ms: FIRST_MS + 3 * DAY_MS };
    let narrow = text::runs(&rows, page(80));
    assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
    assert!(narrow.contains("\n           commit=c0000001\n"), "{narrow}");
    let whole = text::runs(&rows, page(usize::MAX));
    assert!(whole.contains("checkout-1.plimsoll") && whole.contains("commit=c0000001"), "{whole}");
    assert!(whole.contains("≥ 3,") && whole.contains("2 d"), "{whole}");
    let of_store = text::runs(&[listed("last", 1), listed("store", 39)], page(80));
    assert!(of_store.contains("checkout-39.plimsoll\n"), "commands take its file: {of_store}");
    assert!(of_store.contains("  future  ") && !of_store.contains("checkout-1.plimsoll"), "{of_store}");
}
