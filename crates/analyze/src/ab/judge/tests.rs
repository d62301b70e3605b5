//! Comparisons of simulated loads.

use plimsoll_record::{EncodedHistogram, latency_histogram};
use plimsoll_testkit::Noise;

use super::*;
use crate::ab::{EffectKind, MoreRounds, Unusable, quantile_differences};

const RULE: AbRule = AbRule { margin: 0.05, precision: 0.01, budget_sec: 1e6, rounds_max: Some(40) };

/// Simulated loads: B takes `slower` times as long as A for a request, each load differs by 1 %.
struct World {
    noise: Noise,
    slower: f64,
    /// What B leaves behind for the next load, as a part of its speed.
    carried: f64,
    /// How much slower the second load of a round is.
    second: f64,
    requests: u64,
}

impl World {
    fn new(slower: f64) -> Self {
        Self { noise: Noise::new(7), slower, carried: 0.0, second: 0.0, requests: 400 }
    }

    fn loads(&mut self, rounds: u32) -> Vec<AbLoad> {
        let mut loads: Vec<AbLoad> = Vec::new();
        for round in 1..=rounds {
            let a_first = self.noise.uniform() < 0.5;
            let order = if a_first { [AbSide::A, AbSide::B] } else { [AbSide::B, AbSide::A] };
            for (place, side) in order.into_iter().enumerate() {
                let after_b = loads.last().is_some_and(|load| load.side == AbSide::B);
                let speed = 1.0
                    - if after_b { self.carried } else { 0.0 }
                    - if place == 1 { self.second } else { 0.0 };
                let load = self.load(side, round, loads.len() as u64, speed);
                loads.push(load);
            }
        }
        loads
    }

    fn load(&mut self, side: AbSide, round: u32, number: u64, speed: f64) -> AbLoad {
        let factor = if side == AbSide::B { self.slower } else { 1.0 };
        let ms = factor / speed * (0.01 * self.noise.normal()).exp();
        let mut latency = latency_histogram();
        for _ in 0..self.requests {
            let ns = 1e6 * ms * (0.2 * self.noise.normal()).exp();
            latency.saturating_record(ns as u64);
        }
        AbLoad {
            side,
            round,
            kind: LoadKind::Closed,
            began_unix_ms: 1000 * number,
            ended_unix_ms: 1000 * number + 900,
            connections: 8,
            rate_per_sec: None,
            throughput_per_sec: 8000.0 / ms,
            max_rate_per_sec: None,
            gap: None,
            cpu_sec: Some(1e-4 * factor * (0.01 * self.noise.normal()).exp()),
            succeeded: self.requests,
            ended: self.requests,
            lower_bound: false,
            unusable: None,
            latency: EncodedHistogram::encode(&latency),
        }
    }
}

fn compared(slower: f64, rounds: u32) -> AbFindings {
    compare_sides(&World::new(slower).loads(rounds), RULE).unwrap()
}

fn verdict(findings: &AbFindings, figure: AbFigure) -> AbVerdict {
    findings.figures.iter().find(|known| known.figure == figure).unwrap().verdict
}

#[test]
fn a_slower_side_is_worse_in_all_that_follows_from_it() {
    let findings = compared(1.1, 40);
    for figure in [AbFigure::Throughput, AbFigure::Cpu, AbFigure::Latency(0.5), AbFigure::Latency(0.99)] {
        assert_eq!(verdict(&findings, figure), AbVerdict::Worse, "{figure:?}");
    }
    let main = findings.main().unwrap();
    assert!((main.ratio.value - 1.0 / 1.1).abs() < 0.01, "{main:?}");
    assert_eq!((findings.gate, findings.rounds, findings.connections), (Margin::Beyond, 40, Some(8)));
    assert_eq!(compared(0.9, 40).gate, Margin::Within);
    assert_eq!(verdict(&compared(0.9, 40), AbFigure::Throughput), AbVerdict::Better);
}

#[test]
fn equal_sides_differ_by_no_more_than_a_small_part() {
    let findings = compared(1.0, 40);
    let AbVerdict::Same { within } = verdict(&findings, AbFigure::Throughput) else { panic!("{findings:?}") };
    assert!(within < 0.012, "{within}");
    assert_eq!(findings.gate, Margin::Within);
}

#[test]
fn few_rounds_leave_it_open() {
    let findings = compared(1.0, 4);
    assert_eq!(findings.gate, Margin::Unknown);
    let open = AbVerdict::Open { more: MoreRounds::Unknown };
    assert!(findings.figures.iter().all(|known| known.verdict == open), "{findings:?}");
    let none = compare_sides(&[], RULE).unwrap();
    assert!(none.main().is_none() && none.gate == Margin::Unknown);
}

#[test]
fn a_round_in_which_a_side_was_lost_counts_for_neither_and_its_failures_count() {
    let mut loads = World::new(1.0).loads(30);
    for load in loads.iter_mut().filter(|load| load.side == AbSide::B && load.round > 20) {
        load.unusable = Some(Unusable::Failing(0.5));
        load.succeeded /= 2;
    }
    let findings = compare_sides(&loads, RULE).unwrap();
    assert_eq!((findings.rounds, findings.sides[1].unusable), (20, 10));
    // A sixth of all requests of B failed.
    assert_eq!(findings.gate, Margin::Beyond);
}

#[test]
fn b_may_not_fail_more_than_a_by_more_than_a_tenth_of_a_percent() {
    let gate = |failed_of_1000: [u64; 2]| {
        let mut loads = World { requests: 10_000, ..World::new(1.0) }.loads(20);
        for load in &mut loads {
            load.succeeded -= load.ended * failed_of_1000[load.side as usize] / 1000;
        }
        compare_sides(&loads, RULE).unwrap().gate
    };
    assert_eq!(gate([0, 0]), Margin::Within);
    assert_eq!(gate([0, 1]), Margin::Within);
    assert_eq!(gate([0, 4]), Margin::Beyond);
    assert_eq!(gate([20, 20]), Margin::Within, "A fails as much");
    assert_eq!(gate([20, 0]), Margin::Within, "B fails less");
}

#[test]
fn failures_of_one_round_in_twenty_are_not_for_sure_those_of_b() {
    let mut loads = World { requests: 10_000, ..World::new(1.0) }.loads(20);
    let one = loads.iter_mut().find(|load| load.side == AbSide::B && load.round == 7).unwrap();
    one.succeeded -= one.ended / 25;
    let findings = compare_sides(&loads, RULE).unwrap();
    assert!(!findings.fails_more, "{:?}", findings.sides);
}

#[test]
fn failures_of_a_search_are_of_the_rates_that_it_tries() {
    let mut loads = World::new(1.0).loads(20);
    for load in &mut loads {
        load.kind = LoadKind::Search;
        load.max_rate_per_sec = Some(load.throughput_per_sec);
        load.succeeded -= if load.side == AbSide::B { load.ended / 10 } else { 0 };
    }
    assert!(!compare_sides(&loads, RULE).unwrap().fails_more);
}

/// What searches come to, of which `rate` replaces the rate that each side holds in a round.
fn searched(rate: impl Fn(&AbLoad) -> Option<f64>) -> AbFindings {
    let mut loads = World::new(1.0).loads(20);
    for load in &mut loads {
        load.kind = LoadKind::Search;
        load.max_rate_per_sec = Some(load.throughput_per_sec);
        load.max_rate_per_sec = rate(load);
    }
    compare_sides(&loads, RULE).unwrap()
}

#[test]
fn a_side_of_which_no_rate_holds_is_beyond_any_margin() {
    let without = |side: AbSide, rounds: u32| {
        searched(move |load| {
            let is_without = load.side == side && load.round <= rounds;
            if is_without { Some(0.0) } else { load.max_rate_per_sec }
        })
    };
    let never = without(AbSide::B, 20);
    let main = never.main().unwrap();
    assert_eq!((never.gate, main.verdict, main.b), (Margin::Beyond, AbVerdict::Worse, 0.0));
    assert_eq!((main.count, never.sides[1].without_rate, never.sides[0].without_rate), (20, 20, 0));
    assert_eq!(without(AbSide::B, 18).gate, Margin::Beyond);
    assert_eq!(without(AbSide::B, 1).gate, Margin::Within, "one of twenty");
    let a = without(AbSide::A, 20);
    assert_eq!((a.gate, a.main().unwrap().verdict), (Margin::Within, AbVerdict::Better));
}

#[test]
fn searches_that_say_nothing_of_the_main_figure_are_counted() {
    let neither = searched(|_| Some(0.0));
    assert!(neither.main().is_none() && neither.gate == Margin::Unknown);
    let open = searched(|load| load.max_rate_per_sec.filter(|_| load.side == AbSide::A || load.round > 3));
    assert_eq!((open.main().unwrap().count, open.sides[1].undecided, open.rounds), (17, 3, 20));
}

#[test]
fn what_is_carried_over_and_what_the_order_does_are_kept_apart() {
    let mut carries = World { carried: 0.2, ..World::new(1.0) };
    let found = |world: &mut World| -> Vec<EffectKind> {
        let findings = compare_sides(&world.loads(40), RULE).unwrap();
        findings.effects.iter().filter(|effect| effect.is_sure()).map(|effect| effect.kind).collect()
    };
    assert_eq!(found(&mut carries), [EffectKind::CarryOver]);
    let mut orders = World { second: 0.2, ..World::new(1.0) };
    assert_eq!(found(&mut orders), [EffectKind::Order]);
    assert_eq!(found(&mut World::new(1.1)), []);
}

#[test]
fn a_percentile_that_one_round_does_not_know_is_that_of_several() {
    let findings = compare_sides(&World { requests: 100, ..World::new(1.0) }.loads(40), RULE).unwrap();
    let count = |p| {
        let known = findings.figures.iter().find(|known| known.figure == AbFigure::Latency(p));
        known.map(|known| known.count)
    };
    assert_eq!((count(0.5), count(0.9), count(0.99), count(0.999)), (Some(40), Some(40), Some(13), Some(1)));
}

#[test]
fn what_a_percentile_needs_more_is_counted_in_rounds_and_not_in_groups_of_them() {
    let findings = compare_sides(&World { requests: 100, ..World::new(1.0) }.loads(40), RULE).unwrap();
    let known = findings.figures.iter().find(|known| known.figure == AbFigure::Latency(0.99)).unwrap();
    let AbVerdict::Open { more: MoreRounds::About(more) } = known.verdict else { panic!("{known:?}") };
    let (low, high) = known.ratio.interval.unwrap();
    // 13 groups of 3 rounds.
    let expected = 39.0 * (((high / low).ln() / 2.0 / RULE.precision).powi(2) - 1.0);
    assert!((f64::from(more) - expected).abs() <= 1.0, "{more}, not {expected}");
}

#[test]
fn the_differences_of_quantiles_are_those_of_the_distributions() {
    let differences = quantile_differences(&World::new(1.5).loads(30)).unwrap();
    let median = differences.iter().find(|one| one.percentile == 50.0).unwrap();
    let (low, high) = median.difference_ns.interval.unwrap();
    assert!(low < 0.5e6 && 0.5e6 < high && high - low < 0.1e6, "{median:?}");
    assert!(differences.windows(2).all(|pair| pair[0].difference_ns.value <= pair[1].difference_ns.value));
    assert_eq!(
        differences.last().unwrap().percentile,
        99.8,
        "6 groups of 4 rounds know it, and 3 of 8 rounds p99.9"
    );
}

#[test]
fn loads_that_the_generator_limited_do_not_show_that_b_is_as_fast() {
    let mut loads = World::new(1.0).loads(40);
    loads.iter_mut().filter(|load| load.side == AbSide::A).for_each(|load| load.lower_bound = true);
    let findings = compare_sides(&loads, RULE).unwrap();
    assert!(findings.sides[0].is_lower_bound(AbFigure::Throughput));
    assert_eq!(findings.gate, Margin::Unknown);
    assert_eq!(verdict(&findings, AbFigure::Throughput), AbVerdict::Bounded, "A may be faster");
    assert!(matches!(verdict(&findings, AbFigure::Cpu), AbVerdict::Same { .. }), "no generator limits it");
}

#[test]
fn a_side_that_the_generator_limited_is_not_said_to_be_worse() {
    let limited = |side: AbSide, slower: f64| {
        let mut loads = World::new(slower).loads(40);
        loads.iter_mut().filter(|load| load.side == side).for_each(|load| load.lower_bound = true);
        compare_sides(&loads, RULE).unwrap()
    };
    let b = limited(AbSide::B, 1.1);
    for figure in [AbFigure::Throughput, AbFigure::Latency(0.5)] {
        assert_eq!(verdict(&b, figure), AbVerdict::Bounded, "{figure:?}");
    }
    assert_eq!(verdict(&b, AbFigure::Cpu), AbVerdict::Worse);
    assert_eq!(verdict(&limited(AbSide::A, 1.1), AbFigure::Throughput), AbVerdict::Worse);
    assert_eq!(verdict(&limited(AbSide::B, 0.9), AbFigure::Throughput), AbVerdict::Better);
    assert_eq!(verdict(&limited(AbSide::A, 0.9), AbFigure::Throughput), AbVerdict::Bounded);
}

#[test]
fn a_rate_is_a_bound_where_none_broke_and_not_where_the_generator_limited_the_ladder() {
    let with = |gap: SearchGap| {
        let mut loads = World::new(1.0).loads(20);
        for load in &mut loads {
            (load.kind, load.max_rate_per_sec) = (LoadKind::Search, Some(load.throughput_per_sec));
            (load.gap, load.lower_bound) = (Some(gap), true);
        }
        compare_sides(&loads, RULE).unwrap()
    };
    let found = with(SearchGap::Wide);
    assert_eq!((found.gate, found.sides[1].wide, found.sides[1].open_ended), (Margin::Within, 20, 0));
    assert_ne!(verdict(&found, AbFigure::MaxRate), AbVerdict::Bounded);
    assert_eq!(verdict(&found, AbFigure::Throughput), AbVerdict::Bounded);
    let open = with(SearchGap::Open);
    assert_eq!((open.gate, open.sides[1].wide, open.sides[1].open_ended), (Margin::Unknown, 0, 20));
    assert_eq!(verdict(&open, AbFigure::MaxRate), AbVerdict::Bounded);
}

#[test]
fn a_clock_that_is_set_between_two_rounds_changes_nothing() {
    let rule = AbRule { budget_sec: 60.0, rounds_max: None, ..RULE };
    let loads = World::new(1.0).loads(20);
    let begins = 1_000_000;
    let set_by = |ms: i64| {
        let mut loads = loads.clone();
        for load in &mut loads {
            let by = begins + if load.round > 5 { ms } else { 0 };
            load.began_unix_ms = load.began_unix_ms.saturating_add_signed(by);
            load.ended_unix_ms = load.ended_unix_ms.saturating_add_signed(by);
        }
        compare_sides(&loads, rule).unwrap()
    };
    let (steady, back, ahead) = (set_by(0), set_by(-900_000), set_by(900_000));
    assert!((steady.elapsed_sec - 39.9).abs() < 1e-9, "{}", steady.elapsed_sec);
    for set in [back, ahead] {
        assert!(
            (set.elapsed_sec - 39.8).abs() < 1e-9,
            "all but the time between both rounds: {}",
            set.elapsed_sec
        );
        assert_eq!((&set.ratios, &set.effects), (&steady.ratios, &steady.effects));
        assert_eq!((set.gate, set.main().unwrap().ratio.interval.is_some()), (steady.gate, true));
    }
}

#[test]
fn an_open_loop_is_about_its_p99() {
    let mut loads = World::new(1.2).loads(40);
    for load in &mut loads {
        (load.kind, load.rate_per_sec) = (LoadKind::Open, Some(500.0));
    }
    let findings = compare_sides(&loads, RULE).unwrap();
    assert_eq!(findings.main().unwrap().figure, AbFigure::Latency(0.99));
    assert_eq!((findings.gate, findings.rate_per_sec), (Margin::Beyond, Some(500.0)));
}
