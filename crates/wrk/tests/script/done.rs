//! The totals and the distributions that `done` gets.

use plimsoll_wrk::stats::{Measured, SocketErrors};

use super::{Bench, nothing, with_latency};

/// What `done` prints with the format `%.14g`, joined by commas, for a list of Lua expressions.
fn evaluate(expressions: &str, measured: &Measured) -> String {
    let text = format!(
        "function done(summary, latency, requests)
           local shown = {{}}
           for i, value in ipairs({{{expressions}}}) do shown[i] = tostring(value) end
           error(table.concat(shown, ','), 0)
         end"
    );
    let (mut script, threads) = Bench::new().load(&text).unwrap();
    let message = script.done(threads, measured).unwrap_err().to_string();
    message.strip_prefix("the script failed in done(): ").unwrap().to_owned()
}

fn of_latency(expressions: &str, latency: &[(u64, u64)]) -> String {
    evaluate(expressions, &with_latency(latency))
}

#[test]
fn the_summary_holds_totals_and_five_kinds_of_errors() {
    let measured = Measured {
        runtime_us: 30_000_000,
        requests: 7,
        bytes: 5_000_000_000,
        errors: SocketErrors { connect: 1, read: 2, write: 3, timeout: 5 },
        bad_statuses: 4,
        ..nothing()
    };
    let shown =
        "summary.duration, summary.requests, summary.bytes, summary.errors.connect, summary.errors.read,
        summary.errors.write, summary.errors.status, summary.errors.timeout";
    assert_eq!(evaluate(shown, &measured), "30000000,7,5000000000,1,2,3,4,5");
}

#[test]
fn distributions_give_their_moments_and_different_values() {
    let pairs = [(30, 1), (10, 2), (20, 1), (99, 0), (10, 1)];
    let shown = "latency.min, latency.max, latency.mean, latency.stdev, #latency, type(latency)";
    assert_eq!(of_latency(shown, &pairs), "10,30,16,8.9442719099992,3,userdata");
}

#[test]
fn a_distribution_is_called_for_its_values_in_order() {
    let shown = "latency(1), select(2, latency(1)), latency(2), select(2, latency(2))";
    assert_eq!(of_latency(shown, &[(20, 5), (10, 2)]), "10,2,20,5");
}

#[test]
fn beyond_the_last_value_comes_zero_and_how_many_there_are() {
    assert_eq!(of_latency("latency(3), select(2, latency(3))", &[(20, 5), (10, 2)]), "0,2");
    assert_eq!(of_latency("latency(0), select(2, latency(0))", &[(20, 5), (10, 2)]), "0,2");
}

#[test]
fn percentiles_take_the_value_at_the_rounded_rank() {
    let hundred: Vec<_> = (1..=100).map(|value| (value, 1)).collect();
    let shown =
        "latency:percentile(50), latency:percentile(99), latency:percentile(0), latency:percentile(100)";
    assert_eq!(of_latency(shown, &hundred), "51,100,1,100");
}

#[test]
fn an_empty_distribution_is_all_zeros() {
    let shown = "latency.min, latency.max, latency.mean, latency.stdev, #latency, latency:percentile(50)";
    assert_eq!(of_latency(shown, &[]), "0,0,0,0,0,0");
}

#[test]
fn rates_of_the_threads_come_as_the_third_argument() {
    let measured = Measured { rates: vec![50_000; 4], ..nothing() };
    let shown = "requests.mean, #requests, tostring(latency.mean)";
    assert_eq!(evaluate(shown, &measured), "50000,1,0");
}

#[test]
fn a_script_without_done_is_not_asked() {
    let (mut script, threads) = Bench::new().load("").unwrap();
    script.done(threads, &nothing()).unwrap();
}
