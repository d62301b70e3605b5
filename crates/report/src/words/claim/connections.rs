//! Claims about connections and refusals, a clause each.

use plimsoll_analyze::{At, AtOnceLaw, Place, Verdict};
use plimsoll_units::{count_text, share_text, significant};

use super::resources::law_text;
use crate::amount::counted;
use crate::words::evidence::at;
use crate::words::phrase::{part_name, placed, whole};

pub(super) fn descriptors(verdict: &Verdict, open: f64, limit: f64, step: &At) -> String {
    format!(
        "the descriptors of {} on {} are the limit: {} of the {} it may have were open at {}",
        part_name(verdict),
        verdict.host(),
        whole(open),
        whole(limit),
        at(step)
    )
}

pub(super) fn turned_away(verdict: &Verdict, per_sec: f64, step: &At) -> String {
    format!(
        "the connections that {} on {} allows are the limit: it turned away {} a second at {}",
        part_name(verdict),
        verdict.host(),
        significant(per_sec),
        at(step)
    )
}

pub(super) fn full(verdict: &Verdict, open: f64, most: f64) -> String {
    format!(
        "the connections that {} on {} allows are the limit: {} of {} were open",
        part_name(verdict),
        verdict.host(),
        whole(open),
        whole(most)
    )
}

pub(super) fn tracked_full(verdict: &Verdict, entries: f64, limit: f64, step: &At) -> String {
    format!(
        "the connections that the kernel of {} tracks are the limit: its table had {} of {} at {}, and new connections timed out",
        verdict.host(),
        whole(entries),
        whole(limit),
        at(step)
    )
}

pub(super) fn accept_queue(verdict: &Verdict, per_sec: f64, step: &At) -> String {
    format!(
        "the accept queue of {} is the limit: {} connections a second found it full at {}",
        placed(&verdict.place),
        significant(per_sec),
        at(step)
    )
}

pub(super) fn accepted(verdict: &Verdict, connections: f64, threads: f64) -> String {
    format!(
        "the connections that {} accepts are the limit: it has {} at a time, with {} that run{}, and accepts no more",
        placed(&verdict.place),
        whole(connections),
        counted(threads.round() as u64, "thread"),
        if threads.round() == 1.0 { "s" } else { "" }
    )
}

pub(super) fn opened_anew(verdict: &Verdict, by: &Place, connections: f64, law: &AtOnceLaw) -> String {
    format!(
        "the connections that {} allows are the limit: {} opens one for each request and has {} open at once. {}; the others \
         wait there",
        placed(&verdict.place),
        placed(by),
        significant(connections),
        law_text(law)
    )
}

/// `part` of the requests of `step` found their connections closed. Throughput is level from `from` on.
pub(super) fn closed(verdict: &Verdict, part: f64, per_sec: f64, (step, from): (&At, &At)) -> String {
    format!(
        "the connections that {} allows are the limit: {} of the requests at {} found theirs closed. About {} requests/s were \
         served at any load beyond {}",
        placed(&verdict.place),
        share_text(part),
        at(step),
        count_text(per_sec),
        at(from)
    )
}

pub(super) fn refused(verdict: &Verdict, per_sec: f64, part: f64, step: &At) -> String {
    format!(
        "{} refuses what is more than about {} requests/s: {} of the answers at {} had status 429 or 503. What was served did \
         not grow with the load",
        placed(&verdict.place),
        count_text(per_sec),
        share_text(part),
        at(step)
    )
}
