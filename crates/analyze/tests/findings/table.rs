//! Verdicts from tables of measurements, made up so that the truth is known.

use plimsoll_analyze::{
    Claim, Conclusion, Confidence, Goal, Limit, LoadEffect, Place, RowClaim, TableFindings, TableRow,
    TableTier, explain_table, observe_table, plan_machines,
};

/// An API measured directly: cores of its machine, CPU and link used, bytes of a response.
fn api(cores: f64, cpu_percent: f64, megabits: f64, bytes: f64, per_sec: f64) -> TableRow {
    TableRow {
        label: format!("{cores} cores, {bytes} B"),
        throughput_per_sec: per_sec,
        response_bytes: Some(bytes),
        cores: Some(cores),
        tiers: vec![TableTier {
            name: "api".to_owned(),
            cpu_ratio: Some(cpu_percent / 100.0),
            out_bits_per_sec: Some(megabits * 1e6),
            link_bits_per_sec: Some(2.5e9),
            ..TableTier::default()
        }],
        ..TableRow::default()
    }
}

fn limits(found: &TableFindings) -> Vec<Limit> {
    found.rows.iter().map(|row| row.verdict.limit).collect()
}

#[test]
fn a_full_cpu_before_an_empty_link_gives_throughput_by_the_core() {
    let rows = [
        api(4.0, 99.0, 210.0, 1_100.0, 22_000.0),
        api(8.0, 99.0, 410.0, 1_100.0, 43_000.0),
        api(16.0, 98.0, 788.0, 1_100.0, 82_000.0),
    ];
    let found = explain_table(&rows);
    assert_eq!(limits(&found), [Limit::Cpu; 3]);
    assert!(matches!(found.conclusions[..], [Conclusion::CoresHelp { .. }]), "{:?}", found.conclusions);
    assert_eq!(found.rows[0].verdict.confidence, Confidence::Inferred, "one row is no law");
}

#[test]
fn a_full_link_is_not_helped_by_cores_and_carries_fewer_of_larger_responses() {
    let rows = [
        api(8.0, 70.0, 2_400.0, 43_000.0, 6_980.0),
        api(16.0, 36.0, 2_410.0, 43_000.0, 7_000.0),
        api(8.0, 60.0, 2_420.0, 86_000.0, 3_490.0),
        api(16.0, 30.0, 2_400.0, 86_000.0, 3_500.0),
    ];
    let found = explain_table(&rows);
    assert_eq!(limits(&found), [Limit::Bandwidth; 4]);
    let has = |is: fn(&Conclusion) -> bool| found.conclusions.iter().any(is);
    assert!(has(|one| matches!(one, Conclusion::LinkIsFull { .. })), "{:?}", found.conclusions);
    assert!(has(|one| matches!(one, Conclusion::LargerResponses { .. })), "{:?}", found.conclusions);
}

#[test]
fn cores_that_do_not_help_before_an_empty_link_point_into_the_api() {
    let rows = [api(8.0, 40.0, 200.0, 1_100.0, 9_000.0), api(16.0, 21.0, 202.0, 1_100.0, 9_100.0)];
    let found = explain_table(&rows);
    assert_eq!(limits(&found), [Limit::Unknown; 2]);
    assert_eq!(found.rows[0].verdict.place, Place::host("api"));
    assert!(
        matches!(found.conclusions[..], [Conclusion::LimitIsWithin { limit: None, .. }]),
        "{:?}",
        found.conclusions
    );
}

/// Ten thousand requests/s on so many connections, at a mean of 20 ms.
fn timed(connections: f64) -> TableRow {
    TableRow {
        connections: Some(connections),
        response_sec: Some(0.02),
        ..api(8.0, 99.0, 90.0, 1_100.0, 10_000.0)
    }
}

#[test]
fn a_row_that_breaks_littles_law_is_named_and_not_used_if_it_cannot_be() {
    let found = explain_table(&[timed(200.0), timed(400.0), timed(100.0)]);
    assert!(found.rows[0].breach.is_none());
    let waiting = found.rows[1].breach.as_ref().unwrap();
    assert!(
        (waiting.under_way - 200.0).abs() < 1e-6 && waiting.under_way < waiting.connections,
        "{waiting:?}"
    );
    let impossible = found.rows[2].breach.as_ref().unwrap();
    assert!(impossible.under_way > impossible.connections, "{impossible:?}");
    assert_eq!(limits(&found), [Limit::Cpu, Limit::Cpu, Limit::Unknown]);
    assert_eq!(found.rows[2].verdict.confidence, Confidence::Unknown);
}

/// A row of so many connections whose requests take so many ms each.
fn level(connections: f64, cpu_percent: f64, per_sec: f64, response_ms: f64) -> TableRow {
    TableRow {
        connections: Some(connections),
        response_sec: Some(response_ms / 1e3),
        ..api(8.0, cpu_percent, 90.0, 1_100.0, per_sec)
    }
}

#[test]
fn four_fifths_of_a_cpu_are_full_only_where_throughput_no_longer_grows() {
    let rows = [level(50.0, 81.0, 9_900.0, 5.0), level(100.0, 82.0, 10_000.0, 10.0)];
    assert_eq!(limits(&explain_table(&rows)), [Limit::Cpu; 2]);
    let alone = explain_table(&rows[1..]);
    assert_eq!(limits(&alone), [Limit::Unknown]);
    assert_eq!(alone.rows[0].verdict.also[0].limit, Limit::Cpu, "it cannot be ruled out");
}

#[test]
fn what_a_broken_row_says_of_a_tier_is_not_believed_in_other_rows() {
    let rows = [level(50.0, 81.0, 9_900.0, 5.0), level(100.0, 82.0, 10_000.0, 10.0)];
    let with = |last: TableRow| limits(&explain_table(&[&rows[..], &[last]].concat()));
    assert_eq!(with(level(100.0, 100.0, 10_000.0, 90.0)), [Limit::Cpu, Limit::Cpu, Limit::Unknown]);
    assert_eq!(with(level(200.0, 100.0, 10_100.0, 20.0)), [Limit::Unknown, Limit::Unknown, Limit::Cpu]);
}

#[test]
fn less_load_that_gave_more_is_a_collapse_and_growth_no_limit() {
    let bare = |connections: f64, per_sec: f64| TableRow {
        throughput_per_sec: per_sec,
        connections: Some(connections),
        ..TableRow::default()
    };
    let found = explain_table(&[bare(1.0, 100.0), bare(8.0, 700.0), bare(64.0, 300.0)]);
    assert_eq!(limits(&found), [Limit::None, Limit::Unknown, Limit::Unknown]);
    assert!(matches!(
        found.rows[2].verdict.claim,
        Some(Claim::Row(RowClaim::NotInTable { fullest: None, load: LoadEffect::LessGaveMore { per_sec } })) if per_sec == 700.0
    ));
    let growing = explain_table(&[bare(1.0, 100.0), bare(8.0, 700.0)]);
    assert_eq!(limits(&growing), [Limit::None, Limit::None]);
}

#[test]
fn a_full_generator_is_the_limit_and_a_core_in_use_a_thread() {
    let row = |connections: f64, per_sec: f64, generator: f64, cores_used: f64| {
        let tier = |name: &str| TableTier { name: name.to_owned(), ..TableTier::default() };
        TableRow {
            throughput_per_sec: per_sec,
            connections: Some(connections),
            tiers: vec![
                TableTier { cpu_ratio: Some(generator), ..tier("generator") },
                TableTier { cores_used: Some(cores_used), ..tier("server") },
            ],
            ..TableRow::default()
        }
    };
    let made = explain_table(&[row(10.0, 1_000.0, 0.99, 0.3), row(20.0, 1_010.0, 0.98, 0.3)]);
    assert_eq!(limits(&made), [Limit::Generator; 2]);
    assert_eq!(made.rows[0].verdict.place, Place::Generator);
    let served = explain_table(&[row(10.0, 1_000.0, 0.3, 0.99), row(20.0, 1_010.0, 0.3, 1.0)]);
    assert_eq!(limits(&served), [Limit::Thread; 2]);
}

#[test]
fn how_full_a_tier_was_is_judged_by_what_the_machines_of_each_row_have() {
    let row = |cores: f64, per_sec: f64| TableRow {
        throughput_per_sec: per_sec,
        tiers: vec![TableTier {
            name: "api".to_owned(),
            instances: Some(1.0),
            cores: Some(cores),
            cores_used: Some(cores / 2.0),
            ..TableTier::default()
        }],
        ..TableRow::default()
    };
    // Both were half full: eight cores in use of sixteen are not twice what a machine of four has.
    let rows = [row(4.0, 2_000.0), row(16.0, 8_000.0)];
    let goal = Goal { target_per_sec: 10_000.0, utilisation: 0.7 };
    let plan = plan_machines(&observe_table(&rows, &explain_table(&rows)), goal);
    let need = &plan.tiers[0].needs[0];
    assert!((need.demand.used_most - 0.5).abs() < 1e-9, "{need:?}");
    assert!(plan.tiers[0].machines.unwrap().at_least);
}

#[test]
fn one_time_held_tells_no_pool_and_as_many_connections_as_workers_neither() {
    let row = |held_sec: f64, per_sec: f64, connections: f64| TableRow {
        throughput_per_sec: per_sec,
        held_sec: Some(held_sec),
        connections: Some(connections),
        tiers: vec![TableTier { name: "api".to_owned(), ..TableTier::default() }],
        ..TableRow::default()
    };
    let size = |rows: &[TableRow]| explain_table(rows).rows[0].verdict.size.map(|size| size.value.ceil());
    assert_eq!(size(&[row(0.2, 159.0, 400.0), row(0.07, 455.0, 400.0)]), Some(32.0));
    assert_eq!(size(&[row(0.2, 159.0, 400.0)]), None);
    assert_eq!(size(&[row(0.2, 159.0, 32.0), row(0.07, 455.0, 32.0)]), None, "the load had no more to send");
}
