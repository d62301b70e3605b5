//! Settings of HAProxy.

use plimsoll_units::duration_text;

use super::values::{Values, comments};

/// The minimum number of requests in a period. The requests of the last period are a loss system with this many places:
/// by Erlang's formula it refuses 0.7 % of Poisson arrivals at 90 % of the rate, and 2.7 % with a hundred places.
const MIN_REQUESTS: u64 = 250;
/// HAProxy's clock counts milliseconds.
const MIN_PERIOD_MS: u64 = 100;

/// The counter counts admitted requests. The rate of a frontend would also count refused ones, so that under overload all
/// would be refused. `gpc0_rate` counts this period and the rest of the last one, so that the requests of a whole period
/// may come at once (HAProxy, *Configuration Manual*, `stick-table` and `sc_gpc0_rate`).
pub(super) fn settings(head: &[String], values: &Values) -> String {
    let Values { rate, concurrency, wait_ms, .. } = values;
    let period_ms = values.period(MIN_REQUESTS, MIN_PERIOD_MS).length_us.div_ceil(1000);
    let requests = (rate * period_ms as f64 / 1e3).round();
    let how = [
        format!(
            "Let in: {rate} requests/s, counted over {}: {requests} may come at once.",
            duration_text(period_ms as f64 * 1e6)
        ),
        "The rest gets 429 at once.".to_owned(),
        format!(
            "{concurrency} at a time go to each server; with several servers, divide maxconn by their number."
        ),
        format!("What finds none free waits in a queue, and gets 503 after {wait_ms} ms."),
        "Put these lines into the backend of the service, in front of its servers (HAProxy 2.2 or newer)."
            .to_owned(),
    ];
    format!(
        "{}{}    \
         stick-table type integer size 1 expire 1h store gpc0,gpc0_rate({period_ms}ms)\n    \
         http-request track-sc2 int(1)\n    \
         http-request deny deny_status 429 if {{ sc_gpc0_rate(2) ge {requests} }}\n    \
         http-request sc-inc-gpc0(2)\n    \
         timeout queue {wait_ms}ms\n    \
         default-server maxconn {concurrency}\n",
        comments("#", head),
        comments("#", &how)
    )
}
