use plimsoll_testkit::Noise as Source;

use super::*;
use crate::{Trial, settings_of};

/// Runs of a service whose request takes 100 µs, and 50, 200, 400 µs more for its switches; the last two together 100 µs on
/// top.
fn trials(switches: usize, rounds: u32, noise: f64, seed: u64) -> Trials {
    let mut source = Source::new(seed);
    let costs = [50e-6, 200e-6, 400e-6, 0.0, 0.0];
    let mut all = Vec::new();
    for round in 0..rounds {
        // The whole machine has moods.
        let mood = 1.0 + 0.1 * f64::from(round);
        for settings in settings_of(Design::for_switches(switches), switches) {
            let own: f64 = settings.iter().zip(costs).filter(|(on, _)| **on).map(|(_, cost)| cost).sum();
            let extra =
                if settings.get(1) == Some(&true) && settings.get(2) == Some(&true) { 100e-6 } else { 0.0 };
            let time_sec = (100e-6 + own + extra) * mood * (1.0 + noise * source.normal());
            let calls = settings.iter().filter(|on| **on).count() as f64;
            let per_request = vec![Some(4.0 + calls)];
            all.push(Trial {
                settings,
                round: Some(round),
                throughput_per_sec: 1.0 / time_sec,
                at_most: false,
                per_request,
            });
        }
    }
    let names = (0..switches).map(|index| format!("s{index}")).collect();
    Trials { group: None, switches: names, per_request: vec!["calls".to_owned()], trials: all }
}

fn cost_of<'a>(ledger: &'a Ledger, name: &str) -> &'a SwitchCost {
    ledger.costs.iter().find(|cost| cost.name == name).unwrap()
}

#[test]
fn exact_runs_give_the_costs_in_order_and_the_order_of_fixing() {
    let ledger = ledger(&trials(3, 1, 0.0, 1));
    let names: Vec<&str> = ledger.costs.iter().map(|cost| cost.name.as_str()).collect();
    assert_eq!((names, ledger.design), (vec!["s2", "s1", "s0"], Design::Full));
    assert!((cost_of(&ledger, "s0").cost_sec.value - 50e-6).abs() < 1e-12);
    // Half of the settings of the others have the other of the two that interact.
    assert!((cost_of(&ledger, "s1").cost_sec.value - 250e-6).abs() < 1e-12);
    assert_eq!(cost_of(&ledger, "s1").per_request, [Some(1.0)]);
    assert!(ledger.noise.is_none() && ledger.interactions.is_empty(), "one round shows no noise");
    let order: Vec<&str> = ledger.order.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(order, ["s2", "s1", "s0"]);
    assert!((ledger.order[2].time_sec - 100e-6).abs() < 1e-12 && ledger.order[2].measured);
}

/// Two switches, of which the first costs 300 µs and the second so much; runs differ by 4 % either way.
fn two_switches(second_us: f64) -> Ledger {
    let mut all = Vec::new();
    for round in 0..3_usize {
        for (index, (settings, time_us)) in [
            ([false, false], 100.0),
            ([true, false], 400.0),
            ([false, true], 100.0 + second_us),
            ([true, true], 400.0 + second_us),
        ]
        .into_iter()
        .enumerate()
        {
            let off = 0.04 * (((round + index * index) % 3) as f64 - 1.0);
            all.push(Trial {
                settings: settings.to_vec(),
                round: Some(round as u32),
                throughput_per_sec: 1e6 / (time_us * (1.0 + off)),
                at_most: false,
                per_request: Vec::new(),
            });
        }
    }
    let switches = vec!["first".to_owned(), "second".to_owned()];
    ledger(&Trials { group: None, switches, per_request: Vec::new(), trials: all })
}

#[test]
fn a_switch_that_noise_may_have_put_before_another_is_tied_with_it() {
    let tied = two_switches(310.0).order;
    assert_eq!((tied[0].name.as_str(), tied[0].ties.as_slice()), ("second", ["first".to_owned()].as_slice()));
    assert_eq!(tied[1].ties, Vec::<String>::new(), "nothing else is left");
    let order = two_switches(600.0).order;
    assert_eq!((order[0].name.as_str(), order[0].ties.len()), ("second", 0));
}

#[test]
fn a_switch_whose_removal_was_measured_to_cost_time_is_not_to_be_fixed() {
    let trial = |(settings, time_us): ([bool; 2], f64)| Trial {
        settings: settings.to_vec(),
        round: None,
        throughput_per_sec: 1e6 / time_us,
        at_most: false,
        per_request: Vec::new(),
    };
    // The cache costs 300 µs next to the log, and saves 100 µs without it: 100 µs on average.
    let times =
        [([false, false], 200.0), ([true, false], 500.0), ([false, true], 100.0), ([true, true], 800.0)];
    let switches = vec!["log".to_owned(), "cache".to_owned()];
    let trials = times.map(trial).to_vec();
    let ledger = ledger(&Trials { group: None, switches, per_request: Vec::new(), trials });
    assert!(cost_of(&ledger, "cache").cost_sec.value > 0.0);
    let order: Vec<&str> = ledger.order.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(order, ["log"]);
}

#[test]
fn an_interaction_is_named_and_only_that_one() {
    let ledger = ledger(&trials(3, 4, 0.01, 2));
    let named: Vec<(&str, Option<&str>)> =
        ledger.interactions.iter().map(|one| (one.switch.as_str(), one.with.as_deref())).collect();
    assert_eq!(named, [("s1", Some("s2"))]);
    let extra = ledger.interactions[0].extra_sec;
    // The moods of the rounds have a mean of 1.15.
    assert!((extra.value / 115e-6 - 1.0).abs() < 0.15, "{extra:?}");
}

#[test]
fn moods_of_rounds_are_no_noise_and_intervals_cover_the_truth() {
    let mut covered = 0;
    for seed in 0..200 {
        let ledger = ledger(&trials(2, 3, 0.02, seed));
        let (cv, degrees) = ledger.noise.unwrap();
        assert!(cv < 0.06 && degrees == 6.0, "{cv} {degrees}");
        let (low, high) = cost_of(&ledger, "s0").cost_sec.interval.unwrap();
        let mood = (1.0_f64 * 1.1 * 1.2).powf(1.0 / 3.0);
        covered += i32::from(low <= 50e-6 * mood && 50e-6 * mood <= high);
    }
    assert!(covered >= 180, "{covered} of 200");
}

#[test]
fn many_switches_are_taken_one_at_a_time_and_interact_with_the_rest() {
    let ledger = ledger(&trials(5, 4, 0.005, 3));
    assert_eq!((ledger.design, ledger.cells.len()), (Design::OneAtATime, 12));
    let with_rest: Vec<&str> = ledger.interactions.iter().map(|one| one.switch.as_str()).collect();
    assert!(with_rest.contains(&"s1") && with_rest.contains(&"s2"), "{with_rest:?}");
    assert!(ledger.interactions.iter().all(|one| one.with.is_none()));
}

#[test]
fn runs_that_are_missing_cost_only_what_they_would_have_shown() {
    let mut cut = trials(3, 3, 0.01, 4);
    cut.trials.truncate(19);
    let ledger = ledger(&cut);
    assert_eq!(ledger.costs.len(), 3);
    assert!((cost_of(&ledger, "s2").cost_sec.value / 450e-6 - 1.0).abs() < 0.2);
    cut.trials.retain(|trial| !trial.settings[0]);
    let ledger = super::ledger(&cut);
    assert_eq!((ledger.untold, ledger.costs.len()), (vec!["s0".to_owned()], 2));
}

#[test]
fn one_run_written_down_twice_is_no_repeat() {
    let mut twice = trials(2, 1, 0.0, 5);
    let again = twice.trials[3].clone();
    twice.trials.push(again);
    let ledger = ledger(&twice);
    assert_eq!((ledger.noise, ledger.no_noise), (None, Some(NoNoise::Equal)));
}

#[test]
fn it_is_known_why_repeats_show_no_noise() {
    let once = trials(2, 1, 0.01, 6);
    assert_eq!(ledger(&once).no_noise, Some(NoNoise::Single));
    let mut again = once.clone();
    again.trials.push(Trial { round: Some(1), ..once.trials[0].clone() });
    assert_eq!(ledger(&again).no_noise, Some(NoNoise::TooFew), "the second round may differ by itself");
    assert_eq!(ledger(&trials(2, 2, 0.01, 6)).no_noise, None);
}

#[test]
fn a_later_state_is_held_against_the_last_one_with_the_same_switches() {
    let state = |group: &str, times: &[(&[bool], f64)]| {
        let trial = |(settings, per_sec): &(&[bool], f64)| Trial {
            settings: settings.to_vec(),
            round: None,
            throughput_per_sec: *per_sec,
            at_most: false,
            per_request: Vec::new(),
        };
        let switches = vec!["a".to_owned(), "b".to_owned()];
        let trials = times.iter().map(trial).collect();
        ledger(&Trials { group: Some(group.to_owned()), switches, per_request: Vec::new(), trials })
    };
    let both: &[bool] = &[true, true];
    let one: &[bool] = &[true, false];
    let ledgers = [
        state("start", &[(both, 100.0), (one, 500.0)]),
        state("first", &[(both, 200.0)]),
        state("second", &[(both, 400.0)]),
    ];
    let replays = replays(&ledgers, &["a".to_owned(), "b".to_owned()]);
    let read: Vec<(Option<&str>, (f64, f64))> =
        replays.iter().map(|replay| (replay.from.as_deref(), replay.time_sec)).collect();
    assert_eq!(read.len(), 2);
    assert_eq!((read[0].0, read[1].0), (Some("start"), Some("first")));
    assert!((read[1].1.0 - 0.005).abs() < 1e-12 && (read[1].1.1 - 0.0025).abs() < 1e-12);
}
