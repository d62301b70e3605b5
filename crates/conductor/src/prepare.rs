//! Before the load: whether the target takes connections, and whether this machine can make the load.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_engine::FixedRequest;
use plimsoll_plan::{DriverKind, Plan};
use plimsoll_record::{EventKind, Limits, Machine, TlsUsed};
use plimsoll_sys::Destination;
use plimsoll_units::{Clock, Instant, RealClock};

use crate::connect::connect;
use crate::context::RunContext;
use crate::limit::Limit;
use crate::traffic::Requests;
use limits::{Place, within_limits, workers};
use preflight::Preflight;
use security::Security;

pub use error::PrepareError;
pub use security::SecurityError;

mod error;
mod limits;
mod names;
mod preflight;
mod security;

/// Addresses that are tried at the same time.
const MAX_CONNECTING: usize = 64;

/// What is known before the load.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// Where the load goes: every address that takes connections.
    pub(crate) peers: Vec<Destination>,
    pub(crate) preflight: plimsoll_record::Preflight,
    /// What encrypts the load's connections.
    pub(crate) security: Option<Security>,
    /// How the first connection was encrypted.
    pub(crate) tls: Option<TlsUsed>,
    pub(crate) machine: Machine,
    /// The plan, with an open end of the ladder brought within the limits.
    pub(crate) plan: Plan,
    /// Worker threads.
    pub(crate) workers: u32,
    /// The limits that the plan meets.
    pub(crate) limits: Vec<Limit>,
    /// Addresses that take no connection and so get no load, in words.
    pub(crate) dropped: Vec<String>,
}

impl Prepared {
    /// What the steps of the run are made with.
    pub(crate) fn into_context(self, requests: Requests, driver: DriverKind, origin: Instant) -> RunContext {
        let interval = self.plan.interval();
        let tls = self.security.map(|security| security.order);
        let (plan, destinations, workers) = (self.plan, self.peers, self.workers);
        RunContext { plan, destinations, requests, tls, interval, workers, driver, origin }
    }

    /// The events to record before the load.
    pub(crate) fn remarks(&self) -> impl Iterator<Item = (EventKind, String)> {
        let dropped = self.dropped.iter().map(|text| (EventKind::AddressDropped, text.clone()));
        dropped.chain(self.limits.iter().map(|limit| (EventKind::LimitMet, limit.to_string())))
    }
}

/// Examines this machine and the target. The request `ask` is sent if it is given; otherwise only connections are made.
pub(crate) fn prepare(
    plan: Plan,
    ask: Option<&FixedRequest>,
    interrupted: &AtomicBool,
) -> Result<Prepared, PrepareError> {
    let machine = machine();
    names::check_sources(&plan.network.source_ips)?;
    let security = Security::load(&plan)?;
    let began = RealClock.now();
    let peers = names::peers(&plan)?;
    let resolve_ns = RealClock.now().nanos_since(began);
    let Reachable { open, dropped } = reachable(&plan, peers, interrupted)?;
    let connect_ns = open.first().map_or(0, |(_, took)| took.as_nanos() as u64);
    let peers: Vec<Destination> = open.into_iter().map(|(peer, _)| peer).collect();
    let local = peers.iter().all(is_local);
    let place = Place { peers: &peers, local };
    let (plan, limits) = within_limits(plan, &machine.limits, place)?;
    let workers = workers(&plan, &machine.limits, place);
    let peer = &peers[0];
    let seen =
        Preflight { plan: &plan, peer, security: security.as_ref(), request: ask, interrupted }.run()?;
    let preflight = plimsoll_record::Preflight {
        addresses: peers.iter().map(ToString::to_string).collect(),
        address: peer.to_string(),
        local,
        resolve_ns,
        connect_ns,
        first: seen.first,
    };
    Ok(Prepared { peers, preflight, security, tls: seen.tls, machine, plan, workers, limits, dropped })
}

fn machine() -> Machine {
    let (hostname, kernel, architecture) = plimsoll_sys::kernel_name();
    let limits = plimsoll_sys::resource_limits();
    let cores = plimsoll_sys::allowed_cores();
    let limits = Limits { descriptors: limits.descriptors, ports: limits.ports, cores };
    Machine { hostname, kernel, architecture, limits, calibration: None }
}

fn is_local(peer: &Destination) -> bool {
    peer.tcp().is_none_or(|address| plimsoll_sys::is_local(address.ip()))
}

/// Which addresses take connections.
#[derive(Debug, Default)]
struct Reachable {
    /// Those that do, at least one, with the time each took.
    open: Vec<(Destination, Duration)>,
    /// The others, in words.
    dropped: Vec<String>,
}

/// Connects to every address. If none takes a connection, the error is about the last one.
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
                let kind = plimsoll_engine::connect_failure(&source).name();
                reachable.dropped.push(format!("{peer} takes no connection ({kind}), so it gets no load"));
                refusal = Some((peer, source));
            }
        }
    }
    if interrupted.load(Ordering::Relaxed) {
        return Err(PrepareError::Interrupted);
    }
    match refusal {
        Some((peer, source)) if reachable.open.is_empty() => {
            let row = plimsoll_engine::connect_failure(&source).row();
            let remedy = row.remedy_over(peer.tcp().is_none());
            Err(PrepareError::Connect { kind: row.name, peer, source, remedy })
        }
        _ => Ok(reachable),
    }
}

/// Connects to all peers at the same time, so that several addresses without an answer cost one timeout; gives the time that
/// each took, in their order.
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
