//! Settings of HAProxy.

use super::values::{Values, comments};

/// The counter counts what is let in. The rate of a frontend would count what is refused as well, so that under overload all would
/// be refused.
pub(super) fn settings(head: &[String], values: &Values) -> String {
    let Values { rate, concurrency, wait_ms, .. } = values;
    let how = [
        "Put these lines into the backend of the service, in front of its servers (HAProxy 2.2 or newer).",
        "With several servers, maxconn is that of each. What waits longer than timeout queue gets 503.",
    ];
    format!(
        "{}{}    \
         stick-table type integer size 1 expire 1m store gpc0,gpc0_rate(1s)\n    \
         http-request track-sc2 int(1)\n    \
         http-request deny deny_status 429 if {{ sc_gpc0_rate(2) ge {rate} }}\n    \
         http-request sc-inc-gpc0(2)\n    \
         timeout queue {wait_ms}ms\n    \
         default-server maxconn {concurrency}\n",
        comments("#", head),
        comments("#", &how)
    )
}
