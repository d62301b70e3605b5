//! What the settings let in of random arrivals: each program's limiter of rates, as it is documented or written, with the numbers
//! that stand in its settings.

use plimsoll_analyze::Protection;
use plimsoll_plan::{ArrivalProcess, Arrivals, Protector, RateProfile, Shard};
use plimsoll_report::snippet;

/// Asked at each arrival, in nanoseconds: whether it is let in.
type Limiter = Box<dyn FnMut(u64) -> bool>;

/// The text between two others in the settings.
fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("no `{before}` in {text}"));
    rest.split_once(after).unwrap_or_else(|| panic!("no `{after}` in {text}")).0
}

fn number(text: &str, before: &str, after: &str) -> f64 {
    let found = between(text, before, after);
    found.parse().unwrap_or_else(|_| panic!("`{found}` in {text}"))
}

/// A bucket that fills at a rate from full.
fn bucket(rate: f64, room: f64) -> Limiter {
    let (mut tokens, mut last_ns) = (room, 0);
    Box::new(move |now_ns| {
        tokens = room.min(tokens + (now_ns - last_ns) as f64 / 1e9 * rate);
        last_ns = now_ns;
        let passes = tokens >= 1.0;
        tokens -= f64::from(u8::from(passes));
        passes
    })
}

/// nginx counts thousandths of a request in whole milliseconds, and what is refused does not count
/// (`ngx_http_limit_req_lookup`).
fn nginx(text: &str) -> Limiter {
    let (rate, unit) = between(text, "rate=", ";").split_once("r/").unwrap();
    let per_minute = unit == "m";
    let rate = rate.parse::<i64>().unwrap() * 1000 / if per_minute { 60 } else { 1 };
    let burst = number(text, "burst=", " nodelay") as i64 * 1000;
    let (mut excess, mut last_ms) = (0, 0);
    Box::new(move |now_ns| {
        let now_ms = (now_ns / 1_000_000) as i64;
        let next = (excess - rate * (now_ms - last_ms) / 1000 + 1000).max(0);
        if next <= burst {
            (excess, last_ms) = (next, now_ms);
        }
        next <= burst
    })
}

/// HAProxy adds the part of the last period that is still within reach to the count of this one, which only what is let in
/// raises (`freq_ctr_total`).
fn haproxy(text: &str) -> Limiter {
    let period_ms = number(text, "gpc0_rate(", "ms)") as u64;
    let limit = number(text, "sc_gpc0_rate(2) ge ", " }") as u64;
    let (mut began_ms, mut now, mut past) = (0, 0, 0);
    Box::new(move |now_ns| {
        let now_ms = now_ns / 1_000_000;
        if now_ms - began_ms >= period_ms {
            past = if now_ms - began_ms >= 2 * period_ms { 0 } else { now };
            began_ms = now_ms - (now_ms - began_ms) % period_ms;
            now = 0;
        }
        let rest_ms = period_ms - (now_ms - began_ms);
        let passes = now + past * rest_ms / period_ms < limit;
        now += u64::from(passes);
        passes
    })
}

/// resilience4j gives out all permits of a period at its beginning (`AtomicRateLimiter`).
fn resilience4j(text: &str) -> Limiter {
    let permits = number(text, "limitForPeriod: ", "\n") as u64;
    let period_ns = number(text, "limitRefreshPeriod: ", "us\n") as u64 * 1000;
    assert_eq!(between(text, "timeoutDuration: ", "\n"), "0ms");
    let (mut period, mut left) = (0, permits);
    Box::new(move |now_ns| {
        if now_ns / period_ns > period {
            (period, left) = (now_ns / period_ns, permits);
        }
        let passes = left > 0;
        left -= u64::from(passes);
        passes
    })
}

fn limiter(protector: Protector, text: &str) -> Limiter {
    match protector {
        Protector::Nginx => nginx(text),
        Protector::Envoy => {
            let per_fill = number(text, "tokens_per_fill: ", "\n");
            let interval_sec = number(text, "fill_interval: ", "s\n");
            assert!(interval_sec >= 0.05, "Envoy refuses {interval_sec} s");
            bucket(per_fill / interval_sec, number(text, "max_tokens: ", "\n"))
        }
        Protector::Haproxy => haproxy(text),
        Protector::Resilience4j => resilience4j(text),
        Protector::Grpc => bucket(
            number(text, "NewLimiter(", ", "),
            between(text, "NewLimiter(", ")").split_once(", ").unwrap().1.parse().unwrap(),
        ),
    }
}

/// The part of Poisson arrivals at a rate that is let in, and how much that is a second: of the second half, as a limiter begins
/// with room for a burst.
fn let_in(mut limiter: Limiter, rate_per_sec: f64) -> (f64, f64) {
    const REQUESTS: u32 = 400_000;
    let profile = RateProfile::Constant(rate_per_sec);
    let arrivals = Arrivals::new(ArrivalProcess::Poisson, &profile, Shard { index: 0, of: 1 }, 5);
    let (mut passed, mut began_ns, mut last_ns) = (0_u32, 0, 0);
    for (now_ns, at) in arrivals.zip(0..REQUESTS) {
        if at == REQUESTS / 2 {
            (passed, began_ns) = (0, now_ns);
        }
        passed += u32::from(limiter(now_ns));
        last_ns = now_ns;
    }
    let passed = f64::from(passed);
    (passed / f64::from(REQUESTS / 2), passed / ((last_ns - began_ns) as f64 / 1e9))
}

#[test]
fn random_arrivals_below_the_limit_are_let_in_and_no_more_than_the_limit_beyond_it() {
    // The last has a limit of latency of a millisecond.
    let rates = [
        (1.7, 0.05),
        (7.0, 0.05),
        (29.0, 0.05),
        (101.9, 0.05),
        (742.7, 0.05),
        (20_000.0, 0.05),
        (100_000.0, 0.00025),
    ];
    for (rate, burst_sec) in rates {
        let limits = Protection {
            rate_per_sec: rate,
            burst: 20.max((rate * burst_sec) as u64),
            concurrency: 75,
            in_progress: 9.4,
            limit_ms: Some(200.0),
            wait_ms: 50.0,
        };
        for protector in Protector::ALL {
            let text = snippet(protector, &limits, "http://api.test/");
            let (below, _) = let_in(limiter(protector, &text), 0.9 * rate);
            assert!(below > 0.99, "{below} of 90 % of {rate}: {text}");
            let (_, beyond) = let_in(limiter(protector, &text), 2.0 * rate);
            assert!((0.98..1.01).contains(&(beyond / rate)), "{beyond} of {rate}: {text}");
        }
    }
}
