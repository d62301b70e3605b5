//! Settings of Envoy.

use super::values::{Values, comments};

/// The shortest interval that Envoy accepts (*Local rate limit*, `fill_interval`).
const MIN_INTERVAL_MS: u64 = 50;

/// A token bucket limits the rate, the circuit breaker of the cluster the concurrency, and a retry budget the retries,
/// which turn an overload into a collapse. Older versions fill the bucket once in an interval, newer ones continuously,
/// so it has room for both a burst and an interval. Over HTTP/1.1 `max_connections` applies, and a request without a
/// connection is pending; over HTTP/2 `max_requests` applies (Envoy, *Circuit breaking*).
pub(super) fn settings(head: &[String], values: &Values) -> String {
    let Values { rate, burst, concurrency, .. } = values;
    let period = values.period(1, MIN_INTERVAL_MS);
    let max_tokens = period.requests + burst;
    let how = [
        format!("Let in by the filter: {rate} requests/s, {max_tokens} at once. The rest gets 429 at once."),
        format!("{concurrency} at a time go to the service. Over HTTP/1.1 {burst} more wait for a connection, as long as the route's timeout"),
        "lets them; the rest gets 503 with x-envoy-overloaded at once.".to_owned(),
        "circuit_breakers belongs into the cluster of the service, http_filters in front of the router filter.".to_owned(),
    ];
    format!(
        "{}{}circuit_breakers:
  thresholds:
  - priority: DEFAULT
    max_connections: {concurrency}
    max_pending_requests: {burst}
    max_requests: {concurrency}
    retry_budget:
      budget_percent:
        value: 10
      min_retry_concurrency: 1
http_filters:
- name: envoy.filters.http.local_ratelimit
  typed_config:
    \"@type\": type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit
    stat_prefix: plimsoll
    token_bucket:
      max_tokens: {max_tokens}
      tokens_per_fill: {}
      fill_interval: {}s
    filter_enabled:
      default_value:
        numerator: 100
        denominator: HUNDRED
    filter_enforced:
      default_value:
        numerator: 100
        denominator: HUNDRED
",
        comments("#", head),
        comments("#", &how),
        period.requests,
        period.length_us as f64 / 1e6
    )
}
