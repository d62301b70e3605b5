use std::collections::BTreeSet;

use super::*;

fn share(worker: u32, workers: u32) -> Share {
    Share { worker, workers }
}

fn row_source(order: Order) -> Option<RowSource> {
    let feeder = Arc::new(Feeder::from_csv(b"a,b\n0,zero\n1,one\n2,two\n3,three\n4,four\n").unwrap());
    Some(RowSource { feeder, order })
}

fn first_cell(values: &mut Values) -> u8 {
    values.next_request(0);
    values.cell(0)[0] - b'0'
}

#[test]
fn the_workers_numbers_together_are_all_numbers_once() {
    let mut seen = Vec::new();
    for worker in 0..3 {
        let mut values = Values::new(1, share(worker, 3), Start::default(), None);
        for _ in 0..10 {
            values.next_request(0);
            seen.push(values.number());
        }
    }
    seen.sort_unstable();
    assert_eq!(seen, (0..30).collect::<Vec<_>>());
}

#[test]
fn a_request_has_one_number_and_one_without_the_counter_takes_none() {
    let mut values = Values::new(1, share(0, 1), Start::default(), None);
    values.next_request(0);
    assert_eq!((values.number(), values.number()), (0, 0));
    values.next_request(0);
    values.next_request(0);
    assert_eq!(values.number(), 1);
}

#[test]
fn a_round_over_all_workers_uses_each_row_once_and_the_next_begins_again() {
    for workers in [1, 2, 3, 5, 7] {
        let mut each: Vec<_> = (0..workers)
            .map(|worker| {
                Values::new(1, share(worker, workers), Start::default(), row_source(Order::Sequential))
            })
            .collect();
        let taken: Vec<u8> = (0..10).map(|n| first_cell(&mut each[n % workers as usize])).collect();
        assert_eq!(taken, [0, 1, 2, 3, 4, 0, 1, 2, 3, 4], "{workers} workers");
    }
}

#[test]
fn all_fields_of_a_request_come_from_one_row_in_either_order() {
    let names = ["zero", "one", "two", "three", "four"];
    for order in [Order::Sequential, Order::Random] {
        let mut values = Values::new(7, share(0, 1), Start::default(), row_source(order));
        for _ in 0..50 {
            let row = first_cell(&mut values);
            assert_eq!(values.cell(1), names[usize::from(row)].as_bytes());
        }
    }
}

#[test]
fn random_rows_reach_every_row_and_do_not_repeat_the_file() {
    let mut values = Values::new(7, share(0, 1), Start::default(), row_source(Order::Random));
    let taken: Vec<u8> = (0..100).map(|_| first_cell(&mut values)).collect();
    assert_eq!(taken.iter().collect::<BTreeSet<_>>().len(), 5);
    assert!((0..100).any(|n| usize::from(taken[n]) != n % 5));
}

#[test]
fn a_later_start_leaves_out_what_was_taken() {
    let mut values: Vec<_> =
        (0..2).map(|worker| Values::new(1, share(worker, 2), Start::default(), None)).collect();
    values[1].next_request(0);
    assert_eq!(values[1].number(), 1);
    let start = values.iter().map(Values::unused).fold(Start::default(), Start::max);
    let mut next = Values::new(2, share(0, 2), start, None);
    next.next_request(0);
    assert!(next.number() > 1, "1 was taken");
}

#[test]
fn random_numbers_keep_to_their_range_and_reach_its_ends() {
    let mut values = Values::new(3, share(0, 1), Start::default(), None);
    let drawn: BTreeSet<i64> = (0..500).map(|_| values.random_within(-2, 2)).collect();
    assert_eq!(drawn, (-2..=2).collect());
    assert_eq!(values.random_within(5, 5), 5);
    assert_eq!(values.random_within(i64::MAX, i64::MAX), i64::MAX);
    let wide: BTreeSet<bool> = (0..100).map(|_| values.random_within(i64::MIN, i64::MAX) < 0).collect();
    assert_eq!(wide.len(), 2, "both signs come");
}

#[test]
fn workers_draw_different_numbers_and_a_seed_gives_the_same_ones_again() {
    let draw = |seed, worker| Values::new(seed, share(worker, 2), Start::default(), None).random_bytes();
    assert_eq!(draw(5, 0), draw(5, 0));
    assert_ne!(draw(5, 0), draw(5, 1));
    assert_ne!(draw(5, 0), draw(6, 0));
}
