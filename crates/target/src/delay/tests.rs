use super::*;

const MS: u64 = 1_000_000;

fn at_ms(ms: u64) -> Instant {
    Instant::from_nanos(77 * MS + ms * MS)
}

/// Lets all timers fire and gives (ticket, instant in ms).
fn fired(delays: &mut Delays) -> Vec<(Ticket, u64)> {
    let mut log = Vec::new();
    while let Some(due) = delays.next_due() {
        assert_eq!(delays.pop_due(due - Duration::from_nanos(1)), None, "nothing fires early");
        log.push((delays.pop_due(due).unwrap(), due.nanos_since(at_ms(0)) / MS));
    }
    log
}

#[test]
fn a_pool_never_runs_more_than_its_workers_and_serves_in_order_of_arrival() {
    let mut delays = Delays::default();
    for ticket in 0..7 {
        delays.sleep(at_ms(ticket), ticket, Duration::from_millis(10), 3);
    }
    assert_eq!(fired(&mut delays), [(0, 10), (1, 11), (2, 12), (3, 20), (4, 21), (5, 22), (6, 30)]);
}

#[test]
fn a_late_event_loop_costs_a_full_pool_nothing() {
    let mut delays = Delays::default();
    for ticket in 0..3 {
        delays.sleep(at_ms(0), ticket, Duration::from_millis(10), 1);
    }
    // The loop runs at 25 ms only: two have ended by then, and the third began at 20, not at 25.
    assert_eq!(delays.pop_due(at_ms(25)), Some(0));
    assert_eq!(delays.pop_due(at_ms(25)), Some(1));
    assert_eq!(delays.pop_due(at_ms(25)), None);
    assert_eq!(delays.next_due(), Some(at_ms(30)));
}

#[test]
fn a_queued_request_never_begins_before_it_arrived() {
    let mut delays = Delays::default();
    delays.sleep(at_ms(0), 1, Duration::from_millis(10), 1);
    // It arrives after the first one was due but before the loop came to see that.
    delays.sleep(at_ms(12), 2, Duration::from_millis(10), 1);
    assert_eq!(fired(&mut delays), [(1, 10), (2, 22)]);
}

#[test]
fn requests_of_one_pool_share_its_workers_and_other_pools_do_not_wait_for_them() {
    let mut delays = Delays::default();
    delays.sleep(at_ms(0), 1, Duration::from_millis(100), 1);
    delays.sleep(at_ms(0), 2, Duration::from_millis(1), 1);
    delays.sleep(at_ms(0), 3, Duration::from_millis(1), 2);
    assert_eq!(fired(&mut delays), [(3, 1), (1, 100), (2, 101)]);
}

#[test]
fn idle_pools_are_forgotten() {
    let mut delays = Delays::default();
    for workers in 1..100 {
        delays.sleep(at_ms(0), 1, Duration::from_millis(1), workers);
    }
    assert_eq!(fired(&mut delays).len(), 99);
    assert!(delays.pools.is_empty());
}

#[test]
fn half_a_millisecond_is_half_a_millisecond() {
    let mut delays = Delays::default();
    delays.sleep(at_ms(0), 1, Duration::from_micros(500), 8);
    assert_eq!(delays.next_due(), Some(at_ms(0) + Duration::from_micros(500)));
}

#[test]
fn a_stall_holds_the_end_of_each_period_to_the_nanosecond() {
    let mut delays = Delays::default();
    let stall = Stall { every: Duration::from_secs(5), held: Duration::from_millis(500) };
    let ns = Duration::from_nanos(1);
    assert_eq!(delays.stall(at_ms(0), stall), StallEffect::Open);
    for period in 0..3 {
        let begin = at_ms(period * 5000 + 4500);
        let end = at_ms(period * 5000 + 5000);
        assert_eq!(delays.stall(begin - ns, stall), StallEffect::Open);
        assert_eq!(delays.stall(begin, stall), StallEffect::HeldUntil(end));
        assert_eq!(delays.stall(end - ns, stall), StallEffect::HeldUntil(end));
        assert_eq!(delays.stall(end, stall), StallEffect::Open);
    }
}

#[test]
fn each_stall_begins_with_its_own_first_request() {
    let mut delays = Delays::default();
    let slow = Stall { every: Duration::from_secs(5), held: Duration::from_millis(500) };
    let fast = Stall { every: Duration::from_millis(100), held: Duration::from_millis(10) };
    assert_eq!(delays.stall(at_ms(0), slow), StallEffect::Open);
    assert_eq!(delays.stall(at_ms(4999), fast), StallEffect::Open);
    assert_eq!(delays.stall(at_ms(5094), fast), StallEffect::HeldUntil(at_ms(5099)));
    assert_eq!(delays.stall(at_ms(5094), slow), StallEffect::Open);
}

#[test]
fn the_number_of_remembered_stalls_is_bounded() {
    let mut delays = Delays::default();
    let stall = |n: usize| Stall { every: Duration::from_secs(n as u64 + 2), held: Duration::from_secs(1) };
    for n in 0..MAX_STALLS {
        assert_eq!(delays.stall(at_ms(0), stall(n)), StallEffect::Open);
    }
    assert_eq!(delays.stall(at_ms(0), stall(MAX_STALLS)), StallEffect::TooMany);
    assert_eq!(delays.stall(at_ms(0), stall(7)), StallEffect::Open);
}

#[test]
fn timers_of_one_instant_fire_in_the_order_they_were_set() {
    let mut delays = Delays::default();
    for ticket in [5, 3, 9, 1] {
        delays.wake_at(at_ms(4), ticket);
    }
    assert_eq!(fired(&mut delays), [(5, 4), (3, 4), (9, 4), (1, 4)]);
}
