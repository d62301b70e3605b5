//! Before the load: whether the target takes connections, and whether this machine can make the load.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_engine::FixedRequest;
use plimsoll_plan::{DriverKind, Plan};
use plimsoll_record::{EventKind, Limits, Machine, Preflight, TlsUsed};
use plimsoll_sys::{Peer, Route};
use plimsoll_units::{Clock, Instant, RealClock};

use crate::context::RunContext;
use crate::limit::Limit;
use crate::reach::{Stream, reach, route};
use crate::security::Security;
use crate::traffic::Requests;
use greeting::greet;
use limits::{Place, within_limits, workers};

pub use error::PrepareError;

mod error;
mod greeting;
mod limits;
mod names;

/// Addresses that are tried at the same time.
const REACHING_MAX: usize = 64;

/// What is known before the load.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// Where the load goes: every address that takes connections.
    pub(crate) peers: Vec<Peer>,
    pub(crate) preflight: Preflight,
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
    let mut answers = answers(&plan, peers, interrupted)?;
    let peers: Vec<Peer> = answers.open.iter().map(|open| open.peer.clone()).collect();
    let local = peers.iter().all(is_local);
    let place = Place { peers: &peers, local };
    let (plan, limits) = within_limits(plan, &machine.limits, place)?;
    let workers = workers(&plan, &machine.limits, place);
    let first_open = answers.open.swap_remove(0);
    let connect_ns = first_open.connect_ns;
    let mut greeted = greet(&plan, first_open, security.as_ref(), interrupted)?;
    let first = ask.map(|request| greeted.ask(request)).transpose()?;
    let tls = greeted.tls.take();
    let preflight = Preflight {
        addresses: peers.iter().map(ToString::to_string).collect(),
        address: peers[0].to_string(),
        local,
        resolve_ns,
        connect_ns,
        first,
    };
    let dropped = answers.dropped;
    Ok(Prepared { peers, preflight, security, tls, machine, plan, workers, limits, dropped })
}

fn machine() -> Machine {
    let (hostname, kernel, architecture) = plimsoll_sys::kernel_name();
    let limits = plimsoll_sys::resource_limits();
    let cores = plimsoll_sys::allowed_cores();
    let limits = Limits { descriptors: limits.descriptors, ports: limits.ports, cores };
    Machine { hostname, kernel, architecture, limits, calibration: None }
}

fn is_local(peer: &Peer) -> bool {
    peer.tcp().is_none_or(|address| plimsoll_sys::is_local(address.ip()))
}

/// A connection to one of the addresses.
#[derive(Debug)]
struct Open {
    peer: Peer,
    stream: Stream,
    connect_ns: u64,
}

/// Which addresses take connections.
#[derive(Debug)]
struct Answers {
    /// Those that took it, at least one.
    open: Vec<Open>,
    /// The others, in words.
    dropped: Vec<String>,
}

/// Connects to every address. If none takes a connection, the error is about the last one.
fn answers(plan: &Plan, peers: Vec<Peer>, interrupted: &AtomicBool) -> Result<Answers, PrepareError> {
    let routes: Vec<Route> = peers.iter().map(|peer| route(peer, &plan.network.source_ips)).collect();
    let mut answers = Answers { open: Vec::new(), dropped: Vec::new() };
    let mut refusal = None;
    for (peer, result) in peers.into_iter().zip(reach_all(&routes, plan.generator.timeout, interrupted)) {
        match result {
            Ok((stream, connect_ns)) => answers.open.push(Open { peer, stream, connect_ns }),
            Err(source) => {
                let kind = plimsoll_engine::connect_failure(&source).name();
                answers.dropped.push(format!("{peer} takes no connection ({kind}), so it gets no load"));
                refusal = Some((peer, source));
            }
        }
    }
    if interrupted.load(Ordering::Relaxed) {
        return Err(PrepareError::Interrupted);
    }
    match refusal {
        Some((peer, source)) if answers.open.is_empty() => {
            let row = plimsoll_engine::connect_failure(&source).row();
            let remedy = row.remedy_over(peer.tcp().is_none());
            Err(PrepareError::Connect { kind: row.name, peer, source, remedy })
        }
        _ => Ok(answers),
    }
}

/// Takes all routes at the same time, so that several addresses without an answer cost one timeout; gives the
/// connections in the order of the routes, each with the nanoseconds it took.
fn reach_all(
    routes: &[Route],
    timeout: Duration,
    interrupted: &AtomicBool,
) -> Vec<io::Result<(Stream, u64)>> {
    let one = |route: &Route| {
        let began = RealClock.now();
        let stream = reach(route, timeout, interrupted)?;
        Ok((stream, RealClock.now().nanos_since(began)))
    };
    let together = |routes: &[Route]| {
        std::thread::scope(|scope| {
            let threads: Vec<_> = routes.iter().map(|route| scope.spawn(move || one(route))).collect();
            let died = |_| Err(io::Error::other("the connecting thread ended by a fault"));
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(died)).collect::<Vec<_>>()
        })
    };
    routes.chunks(REACHING_MAX).flat_map(together).collect()
}

#[cfg(test)]
mod tests;
