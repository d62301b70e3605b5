//! Verdicts from what tables say of pools, quotas, memory, disks and failures, made up so that the truth is known.

use plimsoll_analyze::{Claim, Limit, Place, RowClaim, TableRow, TableTier, explain_table};

/// A server under so many connections.
fn row(connections: f64, per_sec: f64, tier: TableTier) -> TableRow {
    TableRow {
        throughput_per_sec: per_sec,
        connections: Some(connections),
        tiers: vec![TableTier { name: "api".to_owned(), ..tier }],
        ..TableRow::default()
    }
}

/// The limits of two rows of a server that gives as much under more load.
fn level(tier: &TableTier) -> [(Limit, Place); 2] {
    let rows = [row(50.0, 1_000.0, tier.clone()), row(100.0, 1_005.0, tier.clone())];
    let found = explain_table(&rows);
    [0, 1].map(|row| (found.rows[row].verdict.limit, found.rows[row].verdict.place.clone()))
}

#[test]
fn a_figure_at_its_end_is_the_limit_of_its_tier() {
    let share = |set: fn(&mut TableTier, f64), value: f64| {
        let mut tier = TableTier::default();
        set(&mut tier, value);
        tier
    };
    let pool = TableTier { pool: Some(20.0), pool_used: Some(19.8), ..TableTier::default() };
    let quota = TableTier { quota_cores: Some(1.5), cores_used: Some(1.48), ..TableTier::default() };
    let cases = [
        (pool, Limit::Pool),
        (quota, Limit::Quota),
        (share(|tier, value| tier.memory_ratio = Some(value), 0.97), Limit::Memory),
        (share(|tier, value| tier.disk_ratio = Some(value), 0.99), Limit::Disk),
        (share(|tier, value| tier.gc_ratio = Some(value), 0.4), Limit::Memory),
        (share(|tier, value| tier.gc_ratio = Some(value), 0.1), Limit::Unknown),
    ];
    for (tier, limit) in cases {
        for (found, place) in level(&tier) {
            assert_eq!(found, limit, "{tier:?}");
            assert!(limit == Limit::Unknown || place == Place::host("api"), "{place:?}");
        }
    }
}

#[test]
fn a_pool_that_is_half_used_is_no_limit() {
    let tier = TableTier { pool: Some(20.0), pool_used: Some(10.0), ..TableTier::default() };
    assert_eq!(level(&tier).map(|(limit, _)| limit), [Limit::Unknown; 2]);
}

#[test]
fn throughput_that_follows_the_size_of_a_pool_names_it() {
    let pool = |size: f64| TableTier { pool: Some(size), ..TableTier::default() };
    let rows = [row(100.0, 550.0, pool(2.0)), row(100.0, 1_110.0, pool(4.0)), row(100.0, 1_150.0, pool(8.0))];
    let found = explain_table(&rows);
    assert_eq!((found.rows[1].verdict.limit, found.rows[1].verdict.size.unwrap().value), (Limit::Pool, 4.0));
    assert_eq!(found.rows[2].verdict.limit, Limit::Unknown, "twice the pool gave hardly more");
}

#[test]
fn requests_that_are_refused_or_fail_are_no_throughput() {
    let with = |refused: f64, failed: f64| {
        let row = row(100.0, 1_000.0, TableTier::default());
        explain_table(&[TableRow { refused_ratio: Some(refused), failed_ratio: Some(failed), ..row }])
    };
    assert_eq!(with(0.2, 0.0).rows[0].verdict.limit, Limit::Refused);
    let failing = with(0.0, 0.03);
    assert_eq!(failing.rows[0].verdict.limit, Limit::Unknown);
    assert!(
        matches!(failing.rows[0].verdict.claim, Some(Claim::Row(RowClaim::RowFails { part })) if part == 0.03)
    );
    assert!(!matches!(with(0.0, 0.001).rows[0].verdict.claim, Some(Claim::Row(RowClaim::RowFails { .. }))));
}

#[test]
fn throughput_that_falls_with_the_time_held_names_workers_of_unknown_number() {
    let held = |ms: f64, connections: f64| {
        // Four workers, three holds a request, and 2.8 ms of work.
        let per_sec = 4.0 / (2.8e-3 + 3.0 * ms / 1e3);
        TableRow { held_sec: Some(ms / 1e3), ..row(connections, per_sec, TableTier::default()) }
    };
    let all: Vec<TableRow> =
        [0.0, 2.0, 5.0].iter().flat_map(|ms| [held(*ms, 64.0), held(*ms, 256.0)]).collect();
    let found = explain_table(&all);
    let last = &found.rows[5].verdict;
    assert_eq!(last.limit, Limit::Pool);
    assert!(
        matches!(last.claim, Some(Claim::Row(RowClaim::HeldQueue { per_hold, .. })) if (per_hold - 4.0 / 3.0).abs() < 0.01),
        "{:?}",
        last.claim
    );
    let one_load: Vec<TableRow> = all.iter().filter(|row| row.connections == Some(64.0)).cloned().collect();
    let alone = explain_table(&one_load);
    assert_eq!(alone.rows[2].verdict.limit, Limit::Unknown, "the workers may be the clients");
}

#[test]
fn machines_of_which_fewer_were_not_full_under_the_same_load_are_not_full() {
    let workers = |count: f64| TableTier { instances: Some(count), ..TableTier::default() };
    let rows = [
        row(100.0, 1_910.0, workers(1.0)),
        row(400.0, 8_490.0, workers(1.0)),
        row(400.0, 8_816.0, workers(8.0)),
    ];
    let found = explain_table(&rows);
    assert_eq!(found.rows[2].verdict.limit, Limit::None);
    let full = [rows[0].clone(), row(400.0, 1_950.0, workers(1.0)), row(400.0, 1_960.0, workers(8.0))];
    assert_eq!(explain_table(&full).rows[2].verdict.limit, Limit::Unknown);
}

#[test]
fn a_link_is_full_at_four_fifths_where_more_cores_give_hardly_more() {
    let of_cores = |cores: f64, per_sec: f64| TableRow {
        throughput_per_sec: per_sec,
        cores: Some(cores),
        response_bytes: Some(100_000.0),
        tiers: vec![TableTier {
            name: "web".to_owned(),
            link_bits_per_sec: Some(80e9),
            ..TableTier::default()
        }],
        ..TableRow::default()
    };
    let rows = [of_cores(16.0, 77_427.0), of_cores(36.0, 89_842.0)];
    assert_eq!(explain_table(&rows).rows[1].verdict.limit, Limit::Bandwidth);
    let growing = [of_cores(16.0, 40_000.0), of_cores(36.0, 89_842.0)];
    assert_ne!(explain_table(&growing).rows[1].verdict.limit, Limit::Bandwidth);
}
