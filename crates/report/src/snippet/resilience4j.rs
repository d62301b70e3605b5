//! Settings of resilience4j in Spring Boot.

use super::values::{Values, comments};

/// The limiter of rates refuses without a wait; the bulkhead lets a request wait a little for its turn.
pub(super) fn settings(head: &[String], values: &Values) -> String {
    let Values { concurrency, wait_ms, fill, fill_ms, .. } = values;
    let how = [
        "This is of application.yml. Annotate what calls the service, or what serves, with",
        "@RateLimiter(name = \"protected\") and @Bulkhead(name = \"protected\").",
        "A @Retry around them retries what they refuse: ignore RequestNotPermitted and BulkheadFullException there.",
    ];
    format!(
        "{}{}resilience4j:
  ratelimiter:
    instances:
      protected:
        limitForPeriod: {fill}
        limitRefreshPeriod: {fill_ms}ms
        timeoutDuration: 0ms
  bulkhead:
    instances:
      protected:
        maxConcurrentCalls: {concurrency}
        maxWaitDuration: {wait_ms}ms
",
        comments("#", head),
        comments("#", &how)
    )
}
