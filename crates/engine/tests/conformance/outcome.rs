//! What a step made of a case, in the words of the case files.

use plimsoll_testkit::conformance::{CONTROL_STATUS, Case, ServerView, Suite};

use super::probe::{Counted, Response};

/// The response as it was counted, or the name of the failure; then what was sent about it. What does not fit together, such
/// as a second request that was not answered, is added.
pub(crate) fn describe(of: Suite, case: &Case, counted: &Counted, server: &ServerView) -> String {
    let (controls, of_case): (Vec<&Response>, Vec<&Response>) =
        counted.responses.iter().partition(|response| response.status == CONTROL_STATUS);
    let mut parts = vec![match (&of_case[..], &failures(counted)[..]) {
        ([one], []) if of == Suite::Http2 => format!("{} {}", one.status, one.body_bytes),
        ([one], []) => {
            let after = if one.keep_alive { "keep" } else { "close" };
            format!("{} {} {after}", one.status, one.body_bytes)
        }
        ([], [one]) => one.clone(),
        ([], []) => "sent again".to_owned(),
        (responses, failures) => format!("{responses:?} and {failures:?}"),
    }];
    parts.extend(server.sent.iter().cloned());
    let expected_controls = if parts[0] == "sent again" { 2 } else { 1 };
    if controls.len() != expected_controls {
        parts.push(format!("{} other responses", controls.len()));
    }
    if of == Suite::Http1 && !case.closes && server.reused != parts[0].ends_with(" keep") {
        parts.push(format!("connection used again: {}", server.reused));
    }
    if of == Suite::Http2 && server.reused == ends_the_connection(case, &parts) {
        parts.push(if server.reused { "connection used again" } else { "another connection" }.to_owned());
    }
    parts.join("; ")
}

fn failures(counted: &Counted) -> Vec<String> {
    let failed = counted.counts.failed.iter();
    failed.flat_map(|(kind, count)| vec![kind.name().to_owned(); count as usize]).collect()
}

/// Whether the next request has to come on another connection.
fn ends_the_connection(case: &Case, parts: &[String]) -> bool {
    case.closes || parts.iter().any(|part| part.starts_with("goaway "))
}
