//! System calls of IO that processes of a host made during a step.

use plimsoll_record::Run;

use crate::StepSummary;
use crate::hosts::{GENERATOR, Hosts};
use crate::usage::spans;

/// Calls per second of all watched processes of each host other than the generator's, as the kernel counts reads and writes of any
/// kind of file for each process; calls that only sockets have (send, recv) are not among them. Hosts of which nothing was
/// read are left out.
pub fn io_calls_per_sec(run: &Run, steps: &[StepSummary], position: usize) -> Vec<(String, f64)> {
    let hosts = Hosts::new(&run.hosts);
    let Some(span) = spans(run, steps).get(position).copied() else { return Vec::new() };
    let of = |name: &str| {
        let tracks = hosts.of(name, "process").map(|(_, track)| track);
        let calls = tracks.filter_map(|track| {
            Some(track.per_sec("read_calls", span)? + track.per_sec("write_calls", span)?)
        });
        Some((name.to_owned(), calls.reduce(|a, b| a + b)?))
    };
    hosts.names().into_iter().filter(|name| *name != GENERATOR).filter_map(of).collect()
}
