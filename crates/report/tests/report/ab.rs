//! Two services compared: the short answer, its figures.

use plimsoll_analyze::ab::{
    AbFindings, AbLoad, AbRule, AbSide, LoadKind, QuantileDifference, SearchGap, compare_sides,
    quantile_differences,
};
use plimsoll_record::{EncodedHistogram, latency_histogram};
use plimsoll_report::AbReport;
use plimsoll_report::figure::{Caption, quantile_difference, round_ratios};
use plimsoll_report::json;
use plimsoll_report::text::{self, Page};
use plimsoll_testkit::Noise;

const LABELS: [&str; 2] = ["http://127.0.0.1:8001/api", "http://127.0.0.1:8002/api"];

fn load(side: AbSide, round: u32, number: u64, slower: f64, noise: &mut Noise) -> AbLoad {
    let factor = if side == AbSide::B { slower } else { 1.0 };
    let ms = factor * (0.01 * noise.normal()).exp();
    let mut latency = latency_histogram();
    (0..500).for_each(|_| latency.saturating_record((1e6 * ms * (0.2 * noise.normal()).exp()) as u64));
    AbLoad {
        side,
        round,
        kind: LoadKind::Closed,
        began_unix_ms: 4000 * number,
        ended_unix_ms: 4000 * number + 3500,
        connections: 32,
        rate_per_sec: None,
        throughput_per_sec: 32_000.0 / ms,
        max_rate_per_sec: None,
        gap: None,
        cpu_sec: Some(3e-5 * factor * (0.005 * noise.normal()).exp()),
        succeeded: 500,
        ended: 500,
        lower_bound: false,
        unusable: None,
        latency: EncodedHistogram::encode(&latency),
    }
}

/// A simulated comparison in which B takes so many times as long as A.
pub(crate) fn compared(slower: f64, rounds: u32) -> (AbFindings, Vec<QuantileDifference>) {
    compared_with(slower, rounds, |_| {})
}

/// The same with this change of each load.
fn compared_with(slower: f64, rounds: u32, change: fn(&mut AbLoad)) -> (AbFindings, Vec<QuantileDifference>) {
    let mut noise = Noise::new(11);
    let mut loads = Vec::new();
    for round in 1..=rounds {
        let order = if noise.uniform() < 0.5 { [AbSide::A, AbSide::B] } else { [AbSide::B, AbSide::A] };
        for side in order {
            loads.push(load(side, round, loads.len() as u64, slower, &mut noise));
        }
    }
    loads.iter_mut().for_each(change);
    let rule = AbRule { margin: 0.05, precision: 0.01, budget_sec: 240.0, rounds_max: None };
    (compare_sides(&loads, rule).unwrap(), quantile_differences(&loads).unwrap())
}

fn text_of(slower: f64, rounds: u32) -> String {
    let (findings, quantiles) = compared(slower, rounds);
    text_and_json(&findings, &quantiles).0
}

fn text_and_json(findings: &AbFindings, quantiles: &[QuantileDifference]) -> (String, serde_json::Value) {
    let labels = LABELS.map(ToOwned::to_owned);
    let report = AbReport { labels: &labels, restarts: false, findings, quantiles };
    let text = text::ab(&report, &Page { width: Page::DEFAULT_WIDTH, colours: false, run_name: None });
    let document = json::render(&json::AbDocument::new(&report)).unwrap();
    (text, serde_json::from_str(&document).unwrap())
}

#[test]
fn a_slower_side_is_reported_within_a_page() {
    let text = text_of(1.08, 30);
    assert!(text.lines().count() <= 20 && text.lines().all(|line| text::width(line) <= 80), "{text}");
    insta::with_settings!({omit_expression => true, prepend_module_to_snapshot => false}, {
        insta::assert_snapshot!("ab_slower", text);
    });
}

#[test]
fn what_is_not_known_yet_says_how_long_it_would_take() {
    let text = text_of(1.002, 12);
    assert!(text.contains("Not known yet") && text.contains("--budget"), "{text}");
    assert!(text_of(1.0, 2).contains("--rounds"));
}

#[test]
fn a_side_that_the_generator_held_back_is_not_called_slower() {
    let (findings, quantiles) = compared_with(1.1, 30, |load| load.lower_bound = load.side == AbSide::B);
    let (text, document) = text_and_json(&findings, &quantiles);
    let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("Not known whether A and B differ") && !said.contains("slower"), "{text}");
    assert!(said.contains("of A's, and B may do better than was measured."), "{text}");
    assert!(
        said.contains("in 30 of 30 loads of B: its throughput and latency may be better than shown."),
        "{text}"
    );
    let throughput = &document["figures"][0];
    assert_eq!((&throughput["verdict"], &throughput["same_within"]), (&"not_known".into(), &().into()));
    assert_eq!(
        (&throughput["rounds_more"], &document["gate"]),
        (&().into(), &"beyond".into()),
        "by its CPU time"
    );
}

#[test]
fn what_the_rate_of_a_search_is_and_how_many_are_uncertain_is_said() {
    let (findings, quantiles) = compared_with(1.1, 20, |load| {
        (load.kind, load.max_rate_per_sec) = (LoadKind::Search, Some(load.throughput_per_sec));
        load.gap =
            Some(if load.side == AbSide::B && load.round <= 3 { SearchGap::Wide } else { SearchGap::Narrow });
    });
    let (text, document) = text_and_json(&findings, &quantiles);
    let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("the middle of the highest that held and the lowest that did not"), "{text}");
    assert!(
        said.contains("3 of 20 searches of B ended with the rate that held and the one that did not more than twice as far apart"),
        "{text}"
    );
    assert!(!said.contains("searches of A"), "{text}");
    assert_eq!((&document["sides"][0]["wide"], &document["sides"][1]["wide"]), (&0.into(), &3.into()));
}

#[test]
fn differences_can_be_drawn_even_where_there_are_few() {
    let caption = || Caption { title: "A and B".to_owned(), detail: String::new() };
    for rounds in [8, 30] {
        let (findings, quantiles) = compared(1.1, rounds);
        for figure in [
            quantile_difference(caption(), &quantiles).unwrap(),
            round_ratios(caption(), "throughput", &findings.ratios).unwrap(),
        ] {
            assert!(figure.svg.contains("no difference") && !figure.svg.contains("NaN"));
        }
    }
    let drawn = quantile_difference(caption(), &[]).unwrap();
    assert!(drawn.svg.contains("nothing was measured"));
}
