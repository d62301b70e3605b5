//! Where the figures come from: the target before the load, the machine, and the events of the run.

use plimsoll_analyze::{Findings, wants_status};
use plimsoll_record::{Event, EventKind, FirstAnswer, Preflight, Run};
use plimsoll_units::{bytes_text, duration_text, escape_control, grouped};

use super::paragraph::{fact, headed, wrapped};
use crate::amount::{counted, if_known, list, seconds};
use crate::privacy::shown_sentence;
use crate::words;

/// Says that a run was killed.
pub(crate) const UNFINISHED: &str =
    "This run did not finish. The report covers what was recorded until then.";

/// Says that a run is in progress.
pub(crate) const UNDER_WAY: &str = "This run is still going on. The report covers what was recorded so far.";

/// Returns remarks that change how the figures are read: the run was killed, the target was not warm, or its answers are
/// not what was meant.
pub(super) fn remarks(run: &Run, findings: &Findings) -> String {
    let remarks = damage(run).into_iter().chain(remark_texts(run, findings));
    remarks.map(|text| wrapped("", "", &text) + "\n").collect()
}

/// Says which parts of the run file cannot be trusted; the rest of a report is about the rest of the file.
pub(crate) fn damage(run: &Run) -> Option<String> {
    let texts = list(run.damage.iter().map(words::damage), "; ");
    (!run.damage.is_empty()).then(|| format!("damaged: {texts}. What follows is of the rest."))
}

/// Returns the same remarks, unformatted.
pub(super) fn remark_texts(run: &Run, findings: &Findings) -> impl Iterator<Item = String> {
    let unsealed = (!run.manifest.sealed).then(|| UNFINISHED.to_owned());
    let cold = run.events.iter().find(|event| event.kind == EventKind::NotWarm).map(|event| {
        let said = escape_control(&event.text);
        format!("The target was {said}. It may have become faster during the steps; use a longer warm-up.")
    });
    let empty =
        run.manifest.preflight.first.as_ref().filter(|first| is_empty(first, findings)).map(|first| {
            format!(
                "The answer with status {} has an empty body. Is it the page that you mean?",
                first.status
            )
        });
    let changed = findings.changed_answer().map(|(least, most)| {
        format!(
            "Answers had {} in one step and {} in another, the mean with headers: the steps are not of the same work.",
            bytes_text(least),
            bytes_text(most)
        )
    });
    let streams = run.manifest.preflight.streams_max.filter(|max| is_at_limit(*max, findings)).map(|max| {
        format!("The server allows {max} requests at a time on a connection, and the load has as many: more needs more connections.")
    });
    unsealed.into_iter().chain(streams).chain(cold).chain(empty).chain(changed)
}

/// True if a step has as many requests on each connection as the server allows.
fn is_at_limit(streams_max: u32, findings: &Findings) -> bool {
    findings.steps.iter().any(|step| u32::from(step.depth) == streams_max)
}

/// True if a body was expected but missing: it was a GET, with a status that has a body.
fn is_empty(first: &FirstAnswer, findings: &Findings) -> bool {
    first.body_bytes == 0 && first.status == 200 && findings.plan.target.method == "GET"
}

/// Returns the events with their times; empty if there were none. The event `rested` is left out.
pub(super) fn events(run: &Run) -> String {
    let line = |event: &Event| fact(&seconds(event.at_ns as f64 / 1e9), &escape_control(&in_words(event)));
    let shown = run.events.iter().filter(|event| event.kind != EventKind::Rested);
    headed("Events", shown.map(line).collect())
}

/// Returns an event in words, without the remedy of a failure, which the block of failures has.
pub(crate) fn in_words(event: &Event) -> String {
    event.failure.map_or_else(|| shown_sentence(&event.text), words::failure_name)
}

/// Describes the target before the load, and the machine that made the load.
pub(super) fn preflight(run: &Run, findings: &Findings) -> String {
    let before = &run.manifest.preflight;
    let facts = [
        fact("target", &target(before)),
        if_known(before.first.as_ref(), |first| fact("answer", &first_answer(first, findings))),
        fact("protocol", &protocol(run)),
        fact("generator", &machine(run)),
    ];
    headed("Before the load", facts.concat())
}

fn target(before: &Preflight) -> String {
    let place = if before.local { ", on this machine" } else { "" };
    let others = before.addresses.iter().filter(|address| **address != before.address);
    let others = list(others.cloned(), ", ");
    let others = if others.is_empty() { others } else { format!("; and {others}") };
    let text = format!(
        "{}{place}, resolved in {}, connected in {}{others}",
        before.address,
        duration_text(before.resolve_ns as f64),
        duration_text(before.connect_ns as f64)
    );
    escape_control(&text)
}

/// Describes the one request before the load, if the command sent one.
fn first_answer(first: &FirstAnswer, findings: &Findings) -> String {
    let target = &findings.plan.target;
    let request = escape_control(&format!("{} {}", target.method, target.path));
    let kept = if first.keep_alive { "connection kept" } else { "connection closed by the server" };
    let success = wants_status(&findings.plan, first.status);
    let doubt = if success { "" } else { ": no success, is the request right?" };
    format!(
        "{request} → status {}{doubt}, {} in {}, {kept}",
        first.status,
        bytes_text(first.body_bytes as f64),
        duration_text(first.service_ns as f64)
    )
}

/// Describes the protocol of the connections, their encryption, and the driver.
fn protocol(run: &Run) -> String {
    let manifest = &run.manifest;
    let tls = if_known(manifest.tls.as_ref(), |tls| {
        let verified = if tls.verified { "verified" } else { "NOT verified" };
        let resumed = if tls.resumption { "sessions resumed" } else { "no session resumed" };
        let peer = if_known(tls.peer.as_ref(), |peer| format!(" of {peer}"));
        format!(" over {}, {}; certificate{peer} {verified}, {resumed}", tls.version, tls.cipher)
    });
    escape_control(&format!("{}{tls}; driven by {}", manifest.protocol, manifest.driver))
}

/// Describes the machine that made the load, and gives the version of Plimsoll.
pub(crate) fn machine(run: &Run) -> String {
    let machine = &run.manifest.machine;
    let limits = &machine.limits;
    let text = format!(
        "{}, {} {}: {}, {} descriptors, {} local ports; plimsoll {}",
        machine.hostname,
        machine.kernel,
        machine.architecture,
        counted(limits.cores, "core"),
        grouped(limits.descriptors),
        grouped(limits.ports),
        run.manifest.tool_version
    );
    escape_control(&text)
}
