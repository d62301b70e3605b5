//! What a pipeline shows of a run: the summary in Markdown and the conditions as JUnit XML.

use std::collections::BTreeMap;
use std::time::Duration;

use plimsoll_analyze::{
    Breach, Comparison, Drift, Evidence, Held, HighestRates, Overload, OverloadClass, RateBracket,
    RateSearch, SearchEnd, SloCheck, TrialOutcome, TrialSummary, compare, step_outcomes,
};
use plimsoll_plan::{LatencyLimit, Load, OverloadOrder, RateSearchOrder, Slo};
use plimsoll_record::{Damage, RunCommand};
use plimsoll_report::text::Side;
use plimsoll_report::{Values, json, junit, markdown, markdown_of_comparison, text};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::sample::{self, Sample};
use super::variants;

/// What a reader of the XML sees.
const HOSTILE: &str = "</x>\"'&<b>\u{0}\u{1b}[31m\u{fffe}|`*_[a](http://evil)\n# - <!-- ]]> www.evil.com";

fn in_markdown(sample: &Sample) -> String {
    markdown(&sample.run, &sample.findings, Values::Hidden)
}

fn in_junit(sample: &Sample, strict: bool) -> String {
    junit(&sample.run, &sample.findings, Values::Hidden, strict).unwrap()
}

fn check(name: &str, text: &str) {
    insta::with_settings!({omit_expression => true, prepend_module_to_snapshot => false}, {
        insta::assert_snapshot!(name, text);
    });
}

/// An element with its attributes, and the text after its begin.
struct Element {
    name: String,
    attributes: BTreeMap<String, String>,
    text: String,
}

impl Element {
    fn new(start: &BytesStart<'_>) -> Self {
        let attribute = |attribute: quick_xml::events::attributes::Attribute<'_>| {
            let key = String::from_utf8(attribute.key.as_ref().to_vec()).unwrap();
            let value = std::str::from_utf8(&attribute.value).unwrap();
            (key, quick_xml::escape::unescape(value).unwrap().into_owned())
        };
        let attributes = start.attributes().map(|one| attribute(one.unwrap())).collect();
        let name = String::from_utf8(start.name().as_ref().to_vec()).unwrap();
        Self { name, attributes, text: String::new() }
    }
}

/// The elements of a document that is well formed, in their order.
fn elements(xml: &str) -> Vec<Element> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().check_end_names = true;
    let mut found: Vec<Element> = Vec::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Start(start) | Event::Empty(start) => found.push(Element::new(&start)),
            Event::Text(text) => {
                let text = text.decode().unwrap();
                found.iter_mut().next_back().into_iter().for_each(|last| last.text.push_str(&text));
            }
            Event::Eof => return found,
            _ => {}
        }
    }
}

/// The result of each case: its name, the element within it and the message of that.
fn results(sample: &Sample, strict: bool) -> Vec<(String, String, String)> {
    let mut results: Vec<(String, String, String)> = Vec::new();
    for element in elements(&in_junit(sample, strict)) {
        let of = |name: &str| element.attributes.get(name).cloned().unwrap_or_default();
        match element.name.as_str() {
            "testcase" => results.push((of("name"), String::new(), String::new())),
            "failure" | "error" | "skipped" => {
                let last = results.last_mut().unwrap();
                (last.1, last.2) = (element.name.clone(), of("message"));
            }
            _ => {}
        }
    }
    results
}

/// The ladder with conditions that are met, broken and not known.
fn of_each_kind() -> Sample {
    let mut sample = sample::healthy(RunCommand::Answer);
    let slo = Slo {
        latency: vec![LatencyLimit::p99(1.0)],
        success_ratio: Some(0.999),
        throughput_per_sec: Some(5000.0),
    };
    sample.findings.plan.slo = slo.clone();
    sample.findings.slo = Some(SloCheck {
        slo,
        best_step: None,
        throughput_within: None,
        latency: vec![Held::No],
        success: Held::Yes,
        throughput: Held::Unknown,
    });
    sample
}

fn searched() -> Sample {
    let mut sample = sample::healthy(RunCommand::Answer);
    let step = |rate: f64| {
        let mut step = sample::step(9, 64, rate);
        step.rate_per_sec = Some(rate);
        step
    };
    let breach = Breach::Latency(LatencyLimit::p99(500.0));
    sample.findings.search = Some(RateSearch {
        trials: vec![
            TrialSummary { step: step(3000.0), outcome: TrialOutcome::Held, after_overload: false },
            TrialSummary { step: step(3200.0), outcome: TrialOutcome::Broken(breach), after_overload: false },
        ],
        held_per_sec: Some(3000.0),
        broken_per_sec: Some(3200.0),
        breach: Some(breach),
        drift: None,
        hysteresis_per_sec: None,
        outage: None,
        end: SearchEnd::Found,
    });
    sample
}

#[test]
fn a_summary_has_the_answer_its_conditions_and_the_ladder() {
    check("markdown_healthy", &in_markdown(&sample::healthy(RunCommand::Answer)));
}

#[test]
fn conditions_have_a_sign_and_a_word() {
    let text = in_markdown(&of_each_kind());
    for line in ["- ❌ broken: p99 ", "- ✅ met: success 100 %", "- ❔ not known: throughput: "] {
        assert!(text.lines().any(|found| found.starts_with(line)), "{line}\n{text}");
    }
}

#[test]
fn the_trials_of_a_search_are_folded_below_its_result() {
    let text = in_markdown(&searched());
    assert!(text.contains("holds 3,000 requests/s that arrive at random"), "{text}");
    let (_, folded) = text.split_once("<summary>Search, in the order of the trials</summary>\n\n").unwrap();
    assert!(folded.starts_with("| rate | time | QPS | p50 | p99 | success | outcome |\n| ---: |"), "{text}");
    assert!(folded.contains("| broken: more than 1 % of the responses take longer than 500 ms |"), "{text}");
}

/// The summary of a search with this change.
fn searched_with(change: impl Fn(&mut RateSearch)) -> String {
    let mut sample = searched();
    sample.findings.search.as_mut().into_iter().for_each(change);
    in_markdown(&sample)
}

#[test]
fn a_maximum_that_drifts_or_that_needs_rest_is_named_as_such() {
    let drifted = |falls| {
        let drift = Drift { held_per_sec: 3100.0, broken_per_sec: 2900.0, falls };
        searched_with(|search| search.drift = Some(drift))
    };
    let drifts = "It drifts: the figures are the last ones seen.";
    let (fell, rose) = (drifted(true), drifted(false));
    let sentence = format!(" The maximum fell: 3,100 requests/s held at first, 2,900 broke later. {drifts}");
    assert!(fell.contains(&sentence), "{fell}");
    let sentence = format!(" The maximum rose: 2,900 requests/s broke at first, 3,100 held later. {drifts}");
    assert!(rose.contains(&sentence), "{rose}");
    let tired = searched_with(|search| search.hysteresis_per_sec = Some(2950.0));
    let sentence = " Right after an overload 2,950 requests/s broke; after a rest they held.";
    assert!(tired.contains(sentence) && !tired.contains("drifts"), "{tired}");
}

#[test]
fn a_maximum_that_no_rate_broke_is_a_lower_bound_and_says_why() {
    let open =
        |end| searched_with(|search| (search.broken_per_sec, search.breach, search.end) = (None, None, end));
    let limited = open(SearchEnd::GeneratorLimited);
    assert!(limited.contains(" holds ≥ 3,000 requests/s that arrive at random"), "{limited}");
    assert!(limited.contains("; higher rates are beyond the load generator."), "{limited}");
    let unfinished = open(SearchEnd::Unfinished);
    assert!(unfinished.contains(" holds at least 3,000 requests/s that arrive at random"), "{unfinished}");
    assert!(unfinished.contains("; the search ended before a rate broke them."), "{unfinished}");
}

#[test]
fn a_budget_that_is_proposed_can_be_typed() {
    let budget = Duration::from_secs(400);
    let proposed = |budget, order, overload| {
        let mut sample = searched();
        let plan = &mut sample.findings.plan;
        (plan.search, plan.overload) = (Some(order), overload);
        if let Load::Ladder { budget: of_load, .. } = &mut plan.load {
            *of_load = Some(budget);
        }
        in_markdown(&sample)
    };
    let usual = proposed(budget, RateSearchOrder::within(budget), None);
    assert!(usual.contains("; --budget 14m narrows that."), "{usual}");
    let given = proposed(budget, RateSearchOrder { tolerance: 0.05 }, None);
    assert!(given.contains("; --within 2% --budget 14m narrows that."), "{given}");
    let narrow = proposed(budget, RateSearchOrder { tolerance: 0.01 }, None);
    assert!(!narrow.contains("narrows"), "{narrow}");
    let twelve_min = Duration::from_secs(720);
    let as_narrow = proposed(twelve_min, RateSearchOrder::within(twelve_min), None);
    assert!(!as_narrow.contains("narrows"), "twice the time has the same tolerance: {as_narrow}");
    let order = OverloadOrder {
        rate_per_sec: None,
        base: 0.75,
        factors: vec![2.0],
        hold: Duration::from_secs(8),
        settle: Duration::ZERO,
        watch: None,
    };
    let overloaded = proposed(budget, RateSearchOrder { tolerance: 0.05 }, Some(order));
    assert!(!overloaded.contains("narrows"), "its search has no flag: {overloaded}");
}

#[test]
fn every_run_has_a_summary_and_a_suite() {
    let samples = [
        sample::healthy(RunCommand::Sweep),
        sample::lower_bound(),
        sample::dead(),
        sample::unsettled(),
        sample::few(),
        sample::behind(),
        sample::lost(),
        sample::slow(RunCommand::Answer),
        variants::several_requests(RunCommand::Run),
        variants::ramp(),
    ];
    for sample in samples {
        let text = in_markdown(&sample);
        assert!(text.starts_with("## Plimsoll: apiserver\n\n**") && text.contains("0.1.0</sub>\n"), "{text}");
        assert!(!text.contains("\n\n\n") && !text.contains("||"), "{text}");
        assert!(!results(&sample, false).is_empty());
    }
}

#[test]
fn rows_of_a_table_have_the_cells_of_its_head() {
    let samples = [searched(), variants::several_requests(RunCommand::Run), variants::ramp()];
    for sample in samples {
        let text = in_markdown(&sample);
        let cells = |line: &str| line.replace("\\|", "").matches('|').count();
        let lines: Vec<&str> = text.lines().collect();
        let tables: Vec<_> =
            lines.split(|line| !line.starts_with('|')).filter(|rows| !rows.is_empty()).collect();
        assert!(!tables.is_empty(), "{text}");
        for rows in tables {
            assert!(rows.len() >= 3 && rows[1].starts_with("| ---"), "{text}");
            assert!(rows.iter().all(|row| cells(row) == cells(rows[0])), "{text}");
        }
    }
}

#[test]
fn hostile_names_are_text_in_every_document() {
    let mut sample = variants::several_requests(RunCommand::Run);
    sample.findings.plan.name = HOSTILE.to_owned();
    sample.findings.plan.target.url = format!("http://127.0.0.1:1/{HOSTILE}");
    sample.findings.steps[0].requests.iter_mut().for_each(|request| request.name = HOSTILE.to_owned());
    sample.run.manifest.machine.hostname = HOSTILE.to_owned();
    let text = in_markdown(&sample);
    let (before, rest) = text.split_once("**`` ").unwrap();
    let outside_code = before.to_owned() + rest.split_once(" `` served").unwrap().1;
    for raw in ["<b>", "[a](", "http://evil", "www.evil", "<!--", "\n# ", "\u{0}", "\u{1b}"] {
        assert!(!outside_code.contains(raw), "{raw:?}: {text}");
    }
    let xml = in_junit(&sample, false);
    let found = elements(&xml);
    let suite = found.iter().find(|element| element.name == "testsuite").unwrap();
    let name = &suite.attributes["name"];
    assert!(name.starts_with("</x>\"'&<b>\\u{0}") && name.contains("\u{fffd}|`*_[a]"), "{name}");
    let forbidden = |c: char| (c < ' ' && c != '\n') || matches!(c, '\u{fffe}' | '\u{ffff}');
    assert!(!xml.contains(forbidden), "{xml}");
}

#[test]
fn values_of_queries_are_in_neither_document() {
    let mut sample = sample::healthy(RunCommand::Answer);
    sample.findings.plan.target.url.push_str("?token=hunter2");
    for text in [in_markdown(&sample), in_junit(&sample, false)] {
        assert!(text.contains("?token=…") && !text.contains("hunter2"), "{text}");
    }
    assert!(markdown(&sample.run, &sample.findings, Values::Shown).contains("hunter2"));
}

#[test]
fn each_condition_is_a_case_with_its_result() {
    let sample = of_each_kind();
    check("junit_of_each_kind", &in_junit(&sample, false));
    let results = results(&sample, false);
    let kinds: Vec<(&str, &str)> = results.iter().map(|(name, kind, _)| (&**name, &**kind)).collect();
    let expected = [
        ("measurement", ""),
        ("p99 ≤ 1.00 ms", "failure"),
        ("success ≥ 99.9 %", ""),
        ("throughput ≥ 5,000 requests/s", "skipped"),
    ];
    assert_eq!(kinds, expected);
    assert!(results[1].2.contains("(limit 1.00 ms)"), "{}", results[1].2);
    assert!(results[3].2.ends_with("not known: too little was measured to decide"), "{}", results[3].2);
}

#[test]
fn the_counts_of_a_suite_are_those_of_its_cases() {
    let found = elements(&in_junit(&of_each_kind(), false));
    let suite = found.iter().find(|element| element.name == "testsuite").unwrap();
    let counts = ["tests", "failures", "errors", "skipped"].map(|name| suite.attributes[name].as_str());
    assert_eq!(counts, ["4", "1", "0", "1"]);
    assert_eq!(suite.attributes["timestamp"], "2027-01-15T08:00:00");
    let property = |name: &str| {
        let is_it = |element: &&Element| {
            element.name == "property" && element.attributes.get("name").is_some_and(|found| found == name)
        };
        found.iter().find(is_it).unwrap().attributes["value"].clone()
    };
    assert_eq!(property("version"), "0.1.0");
    assert_eq!(property("target"), "http://127.0.0.1:8080/healthz");
    assert_eq!(property("plan_hash").len(), 64);
    let output = found.iter().find(|element| element.name == "system-out").unwrap();
    assert!(output.text.contains("holds 3,190 requests/s") || output.text.contains("Its best was"));
}

#[test]
fn a_run_that_failed_is_an_error_and_a_lower_bound_a_failure_only_if_strict() {
    let measurement = |sample: &Sample, strict| {
        let (name, kind, why) = results(sample, strict).swap_remove(0);
        assert_eq!(name, "measurement");
        (kind, why)
    };
    assert_eq!(measurement(&sample::healthy(RunCommand::Answer), true).0, "");
    let (kind, why) = measurement(&sample::lost(), false);
    assert!(kind == "error" && why.contains("the target refused every connection"), "{why}");
    let mut dead = sample::dead();
    let (kind, why) = measurement(&dead, false);
    assert!(kind == "error" && why.contains("connection refused\\u{1b}[2J"), "{why}");
    dead.run.events.clear();
    dead.findings.slo = None;
    let (kind, why) = measurement(&dead, false);
    assert!(kind == "error" && why.contains("none was answered"), "{why}");
    assert_eq!(measurement(&sample::lower_bound(), false).0, "");
    let (kind, why) = measurement(&sample::lower_bound(), true);
    assert!(kind == "failure" && why.starts_with("This is a lower bound (≥)"), "{why}");
    let (kind, why) = measurement(&sample::few(), true);
    assert!(kind == "failure" && why.contains("2 connections: That step was too short"), "{why}");
    let mut damaged = sample::healthy(RunCommand::Answer);
    damaged.run.damage.push(Damage { table: "frame", first: 3, last: Some(3), steps: vec![] });
    let (kind, why) = measurement(&damaged, false);
    assert!(kind == "error" && why.starts_with("damaged: row 3 of `frame`"), "{why}");
    assert!(
        in_markdown(&damaged).contains("- ⚠️ damaged: row 3 of \\`frame\\`"),
        "{}",
        in_markdown(&damaged)
    );
}

#[test]
fn that_a_target_holds_up_is_the_only_condition_of_an_overload() {
    let with = |class| {
        let mut sample = sample::healthy(RunCommand::Overload);
        sample.findings.overload = Some(Overload {
            class,
            at_factor: None,
            doubt: None,
            by_ladder: None,
            rate_per_sec: Some(740.0),
            limit_ms: Some(200.0),
            reference: None,
            reference_doubt: None,
            held_per_sec: Some(740.0),
            steps: Vec::new(),
            ramp: None,
        });
        let text = in_markdown(&sample);
        assert!(text.contains("**`http://127.0.0.1:8080/healthz` "), "{text}");
        let results = results(&sample, false);
        assert_eq!(results.len(), 2);
        (results[1].0.clone(), results[1].1.clone())
    };
    let case = |kind: &str| ("holds up under overload".to_owned(), kind.to_owned());
    assert_eq!(with(OverloadClass::Graceful), case(""));
    assert_eq!(with(OverloadClass::Metastable), case("failure"));
    assert_eq!(with(OverloadClass::Unknown), case("skipped"));
}

#[test]
fn evidence_is_folded_below_the_verdict() {
    let sample = sample::healthy(RunCommand::Answer);
    let rows: &[Evidence] = &sample.findings.verdict.evidence;
    let text = in_markdown(&sample);
    assert_eq!(text.contains("<details><summary>Evidence ("), !rows.is_empty(), "{text}");
}

#[test]
fn a_comparison_is_a_table_with_its_ratios() {
    let (old, new) = (sample::healthy(RunCommand::Sweep), sample::lower_bound());
    let comparison = compare(&step_outcomes(&new.findings), &step_outcomes(&old.findings));
    let side = |name, label| Side { name, label };
    let (candidate, reference) = (side("c|d", "new"), side("a*b", "old"));
    let text = markdown_of_comparison(&comparison, candidate, reference, &[], "New is within the margin.\n");
    assert!(text.starts_with("## Plimsoll: a\\*b and c\\|d\n\n**c\\|d: best QPS is "), "{text}");
    assert!(text.contains("| conns | QPS old | QPS new | new / old |"), "{text}");
    assert!(text.contains("\n\nNew is within the margin.\n\n"), "{text}");
}

#[test]
fn a_comparison_of_two_searches_has_their_highest_rates() {
    let sample = sample::healthy(RunCommand::Answer);
    let steps = step_outcomes(&sample.findings);
    let bracket = |held_per_sec, broken_per_sec| RateBracket { held_per_sec, broken_per_sec };
    let (candidate, reference) = (bracket(None, Some(1590.0)), bracket(Some(3173.0), Some(3331.0)));
    let highest_rates = Some(HighestRates { candidate, reference });
    let comparison = Comparison { highest_rates, ..compare(&steps, &steps) };
    let sides = [("b", "new"), ("a", "old")].map(|(name, label)| Side { name, label });
    let text = text::comparison(&comparison, sides[0], sides[1]);
    let markdown = markdown_of_comparison(&comparison, sides[0], sides[1], &[], "");
    for document in [text, markdown] {
        let flowing = document.replace('\n', " ");
        assert!(flowing.contains("in requests/s: old 3,173 (to 3,331), new below 1,590."), "{document}");
    }
    let document = json::DiffDocument::new(["a", "b"], &comparison, &[], None, None);
    let document = serde_json::to_value(document).unwrap();
    let rates = &document["highest_rates"];
    assert_eq!(rates["held_per_sec"], serde_json::Value::Null);
    assert_eq!((&rates["broken_per_sec"], &rates["against_held_per_sec"]), (&1590.0.into(), &3173.0.into()));
}

#[test]
fn the_best_of_an_unfinished_ladder_is_shown_as_a_bound() {
    let sample = sample::healthy(RunCommand::Sweep);
    let mut steps = step_outcomes(&sample.findings);
    let whole = steps.clone();
    let cut = &mut steps[..2];
    cut.iter_mut().for_each(|step| step.unfinished = true);
    let comparison = compare(cut, &whole);
    let sides = [("b", "new"), ("a", "old")].map(|(name, label)| Side { name, label });
    let text = text::comparison(&comparison, sides[0], sides[1]);
    assert!(text.contains(": ≥ ") && !text.contains("against ≥"), "{text}");
    let document = serde_json::to_value(json::DiffDocument::new(["a", "b"], &comparison, &[], None, None));
    let best = &document.unwrap()["best"];
    assert_eq!((&best["lower_bound"], &best["against_lower_bound"]), (&true.into(), &false.into()));
}
