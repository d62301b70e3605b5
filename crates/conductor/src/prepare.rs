//! Checks before the load whether the target accepts connections, and whether this machine can make the load.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_engine::available_driver;
use plimsoll_plan::Plan;
use plimsoll_record::{EventKind, Limits, Machine, TlsUsed};
use plimsoll_sys::Destination;
use plimsoll_units::{Clock, RealClock};

use crate::connect::connect;
use crate::context::RunContext;
use crate::error::ConductError;
use crate::limit::Limit;
use crate::traffic::Requests;
use limits::Bounds;
use preflight::Preflight;
use security::Security;

pub use error::PrepareError;
pub use names::destinations;
pub use security::SecurityError;

mod error;
mod limits;
mod names;
mod preflight;
mod security;
mod tls_port;

/// The most addresses that are tried at the same time.
const MAX_CONNECTING: usize = 64;

#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) context: RunContext,
    pub(crate) preflight: plimsoll_record::Preflight,
    /// The TLS parameters of the first connection; `None` without TLS.
    pub(crate) tls: Option<TlsUsed>,
    pub(crate) machine: Machine,
    /// The events to record before the load: addresses that get no load, and limits that the plan exceeds.
    pub(crate) remarks: Vec<(EventKind, String)>,
}

/// Examines this machine and the target. It makes connections and, with `ask_first`, sends one request.
pub(crate) fn prepare(
    plan: Plan,
    requests: Requests,
    ask_first: bool,
    interrupted: &AtomicBool,
) -> Result<Prepared, ConductError> {
    let request = if ask_first { requests.first() } else { None };
    let mut machine = machine();
    names::check_sources(&plan.network.source_ips)?;
    let security = Security::load(&plan).map_err(PrepareError::from)?;
    let began = RealClock.now();
    let peers = destinations(&plan)?;
    let resolve_ns = RealClock.now().nanos_since(began);
    let Reachable { open, dropped } = reachable(&plan, peers, interrupted)?;
    let connect_ns = open.first().map_or(0, |(_, took)| took.as_nanos() as u64);
    let destinations: Vec<Destination> = open.into_iter().map(|(peer, _)| peer).collect();
    let local = destinations.iter().all(is_local);
    let bounds = Bounds { limits: &machine.limits, peers: &destinations, local };
    let (mut plan, mut limits) = bounds.fit(plan)?;
    let workers = bounds.workers(&plan);
    machine.lowered_to = Limit::lowered_to(&limits);
    let (peer, request) = (&destinations[0], request.as_ref());
    let seen = Preflight { plan: &plan, peer, security: security.as_ref(), request, interrupted }.run()?;
    limits.extend(limits::fit_streams(&mut plan, seen.streams_max));
    let preflight = plimsoll_record::Preflight {
        addresses: destinations.iter().map(ToString::to_string).collect(),
        address: peer.to_string(),
        local,
        resolve_ns,
        connect_ns,
        first: seen.first,
        streams_max: seen.streams_max,
    };
    let dropped = dropped.into_iter().map(|text| (EventKind::AddressDropped, text));
    let remarks =
        dropped.chain(limits.iter().map(|limit| (EventKind::LimitMet, limit.to_string()))).collect();
    let context = RunContext {
        tls: security.map(|security| security.order),
        interval: plan.interval(),
        driver: available_driver(plan.generator.driver)?,
        plan,
        destinations,
        requests,
        workers,
        origin: RealClock.now(),
    };
    Ok(Prepared { context, preflight, tls: seen.tls, machine, remarks })
}

fn machine() -> Machine {
    let (hostname, kernel, architecture) = plimsoll_sys::kernel_name();
    let limits = plimsoll_sys::resource_limits();
    let cores = plimsoll_sys::allowed_cores();
    let limits = Limits { descriptors: limits.descriptors, ports: limits.ports, cores };
    Machine { hostname, kernel, architecture, limits, lowered_to: None, calibration: None }
}

fn is_local(peer: &Destination) -> bool {
    peer.tcp().is_none_or(|address| plimsoll_sys::is_local(address.ip()))
}

#[derive(Debug, Default)]
struct Reachable {
    /// The addresses that accept connections, at least one, each with the time to connect.
    open: Vec<(Destination, Duration)>,
    dropped: Vec<String>,
}

/// Connects to every address. If none accepts a connection, the error is about the last one.
fn reachable(
    plan: &Plan,
    peers: Vec<Destination>,
    interrupted: &AtomicBool,
) -> Result<Reachable, PrepareError> {
    let mut reachable = Reachable::default();
    let mut refusal = None;
    let results = connect_all(plan, &peers, interrupted);
    for (peer, result) in peers.into_iter().zip(results) {
        match result {
            Ok(took) => reachable.open.push((peer, took)),
            Err(source) => {
                let kind = plimsoll_engine::connect_failure(&source);
                let text = format!("{peer} takes no connection ({}), so it gets no load", kind.name());
                reachable.dropped.push(text);
                refusal = Some(PrepareError::Connect { kind, peer, source });
            }
        }
    }
    if interrupted.load(Ordering::Relaxed) {
        return Err(PrepareError::Interrupted);
    }
    match refusal {
        Some(error) if reachable.open.is_empty() => Err(error),
        _ => Ok(reachable),
    }
}

/// Connects to all peers concurrently, so that several addresses without an answer cost one timeout. Returns the time to connect to
/// each, in the order of `peers`.
fn connect_all(plan: &Plan, peers: &[Destination], interrupted: &AtomicBool) -> Vec<io::Result<Duration>> {
    let (sources, timeout) = (&plan.network.source_ips, plan.generator.timeout);
    let together = |peers: &[Destination]| {
        std::thread::scope(|scope| {
            let start = |peer| scope.spawn(move || connect(peer, sources, timeout, interrupted));
            let threads: Vec<_> = peers.iter().map(start).collect();
            let died = |_| Err(io::Error::other("the connecting thread ended by a fault"));
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(died)).collect::<Vec<_>>()
        })
    };
    peers.chunks(MAX_CONNECTING).flat_map(together).collect()
}

#[cfg(test)]
mod tests;
