//! Settings of Envoy.

use super::values::{Values, comments};

/// A bucket of tokens for the rate, the circuit breaker of the cluster for the concurrency, and a budget for retries: retries are
/// what turns an overload into a collapse.
pub(super) fn settings(head: &[String], values: &Values) -> String {
    let Values { burst, concurrency, fill, fill_ms, .. } = values;
    let (how, max_tokens) = (
        [
            "circuit_breakers belongs into the cluster of the service, http_filters in front of the router filter.",
            "What the filter refuses gets 429; what the circuit breaker refuses gets 503 with x-envoy-overloaded.",
        ],
        fill + burst,
    );
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
      tokens_per_fill: {fill}
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
        *fill_ms as f64 / 1e3
    )
}
