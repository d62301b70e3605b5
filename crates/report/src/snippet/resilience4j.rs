//! Settings of resilience4j in Spring Boot.

use super::values::{Values, comments};

/// The minimum number of calls in a period: at 90 % of the rate 0.4 % of Poisson arrivals exceed 150, and 0.8 % a
/// hundred.
const MIN_CALLS: u64 = 150;
const MIN_PERIOD_MS: u64 = 50;

/// The limiter issues the permits of a period at its start; unused permits expire with it. A call without a permit waits
/// for all of `timeoutDuration` before it is refused, and for `maxWaitDuration` at the bulkhead: both are 0. The limiter
/// stands behind the bulkhead (a higher order is further inside), so that a call that the bulkhead refuses takes no
/// permit.
pub(super) fn settings(head: &[String], values: &Values) -> String {
    let Values { rate, burst, concurrency, .. } = values;
    let period = values.period(MIN_CALLS.max(*burst), MIN_PERIOD_MS);
    let how = [
        format!(
            "Let in: {rate} calls/s, as {} in each {} ms, which may come at once; {concurrency} at a time.",
            period.requests,
            period.length_us as f64 / 1e3
        ),
        "The rest fails at once with RequestNotPermitted or BulkheadFullException; answer those with 429."
            .to_owned(),
        "This is of application.yml. Annotate what calls the service, or what serves, with".to_owned(),
        "@RateLimiter(name = \"protected\") and @Bulkhead(name = \"protected\").".to_owned(),
        "A @Retry around them retries what they refuse: ignore both exceptions there.".to_owned(),
    ];
    format!(
        "{}{}resilience4j:
  ratelimiter:
    rateLimiterAspectOrder: {}
    instances:
      protected:
        limitForPeriod: {}
        limitRefreshPeriod: {}us
        timeoutDuration: 0ms
  bulkhead:
    instances:
      protected:
        maxConcurrentCalls: {concurrency}
        maxWaitDuration: 0ms
",
        comments("#", head),
        comments("#", &how),
        i32::MAX,
        period.requests,
        period.length_us
    )
}
