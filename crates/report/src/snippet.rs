//! The limits that protect a service, as settings of the programs that can enforce them. Each text can be pasted as is.

mod envoy;
mod grpc;
mod haproxy;
mod nginx;
mod resilience4j;
mod values;

use plimsoll_analyze::Protection;
use plimsoll_plan::Protector;
use plimsoll_units::{duration_text, escape_control, grouped};
use values::Values;

/// Returns the settings with which a program enforces these limits for the service at a URL.
pub fn snippet(protector: Protector, limits: &Protection, url: &str) -> String {
    let values = Values::new(limits);
    let head = head(&values, limits, url);
    match protector {
        Protector::Nginx => nginx::settings(&head, &values),
        Protector::Envoy => envoy::settings(&head, &values),
        Protector::Haproxy => haproxy::settings(&head, &values),
        Protector::Resilience4j => resilience4j::settings(&head, &values),
        Protector::Grpc => grpc::settings(&head, &values),
    }
}

/// Returns lines that say what the settings are for and what they follow from.
fn head(values: &Values, limits: &Protection, url: &str) -> Vec<String> {
    // The URL must not be able to end the comment.
    let url = escape_control(url).replace("*/", "* /");
    let within =
        limits.limit_ms.map_or_else(String::new, |ms| format!(" within {}", duration_text(ms * 1e6)));
    let rate = if values.rate >= 100.0 { grouped(values.rate as u64) } else { values.rate.to_string() };
    vec![
        format!("Protects {url} from overload, as measured by Plimsoll."),
        format!(
            "It holds {rate} requests/s{within}, with {:.0} in progress on average.",
            limits.in_progress.ceil()
        ),
        "If several instances share these limits, each gets its part of them.".to_owned(),
    ]
}
