//! Before the load: is the target there, and can this machine make the load that is asked for?

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_plan::{Level, Load, Plan, Rungs};
use plimsoll_record::{FirstAnswer, Limits, Machine, Preflight};
use plimsoll_units::{Clock, RealClock};

use crate::attempt::{self, AttemptError};

/// Descriptors that are not connections: files, event sets, the standard streams.
const DESCRIPTORS_OWN: u64 = 64;

/// Why a run could not begin.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// The host's name stands for no address.
    #[error("dns: `{host}` does not resolve ({source}); check the name, or use an address")]
    Resolve {
        /// The name.
        host: String,
        /// What the resolver said.
        source: io::Error,
    },
    /// No address took a connection.
    #[error("{kind}: {address} does not take a connection ({source}); {remedy}")]
    Connect {
        /// The failure's name.
        kind: &'static str,
        /// The address tried last.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
        /// What to do.
        remedy: &'static str,
    },
    /// The one request before the load failed.
    #[error("{kind}: the first request to {address} has no answer: {meaning}; {remedy}")]
    FirstRequest {
        /// The failure's name.
        kind: &'static str,
        /// The address.
        address: SocketAddr,
        /// What happened.
        meaning: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// The user ended it before it began.
    #[error("interrupted before any load was made")]
    Interrupted,
    /// The plan needs more than this machine gives.
    #[error("the plan asks for {wanted} connections, and this machine allows {allowed} ({what}); {remedy}")]
    Limit {
        /// Connections asked for.
        wanted: u64,
        /// Connections possible.
        allowed: u64,
        /// What bounds them.
        what: &'static str,
        /// The command that lifts it.
        remedy: &'static str,
    },
}

/// What is known before the load.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) address: SocketAddr,
    pub(crate) preflight: Preflight,
    pub(crate) machine: Machine,
    /// The plan, with an open end of the ladder brought within this machine's limits.
    pub(crate) plan: Plan,
    /// What was brought within limits, in words.
    pub(crate) limited: Option<String>,
}

/// Looks at this machine and the target. With `ask` one request is sent; else only a connection is made.
pub(crate) fn prepare(plan: Plan, ask: bool, interrupted: &AtomicBool) -> Result<Prepared, PrepareError> {
    let machine = machine();
    let (plan, limited) = within_limits(plan, &machine.limits)?;
    let began = RealClock.now();
    let addresses = resolve(&plan)?;
    let resolve_ns = RealClock.now().nanos_since(began);
    let (address, mut stream, connect_ns) = connect(&addresses, plan.generator.timeout)?;
    if interrupted.load(Ordering::Relaxed) {
        return Err(PrepareError::Interrupted);
    }
    let first = if ask { Some(first_answer(&plan, address, &mut stream, interrupted)?) } else { None };
    let preflight = Preflight {
        addresses: addresses.iter().map(ToString::to_string).collect(),
        address: address.to_string(),
        local: plimsoll_sys::is_local(address.ip()),
        resolve_ns,
        connect_ns,
        first,
    };
    Ok(Prepared { address, preflight, machine, plan, limited })
}

fn machine() -> Machine {
    let (hostname, kernel, architecture) = plimsoll_sys::kernel_name();
    let limits = plimsoll_sys::resource_limits();
    let cores = plimsoll_sys::allowed_cores();
    let limits = Limits { descriptors: limits.descriptors, ports: limits.ports, cores };
    Machine { hostname, kernel, architecture, limits }
}

fn resolve(plan: &Plan) -> Result<Vec<SocketAddr>, PrepareError> {
    let host = &plan.target.host;
    let error = |source| PrepareError::Resolve { host: host.clone(), source };
    let mut addresses: Vec<SocketAddr> =
        (host.as_str(), plan.target.port).to_socket_addrs().map_err(error)?.collect();
    addresses.dedup();
    if addresses.is_empty() {
        return Err(error(io::ErrorKind::NotFound.into()));
    }
    Ok(addresses)
}

/// Connects to the first address that takes it; of those that do not, the last is told about.
fn connect(
    addresses: &[SocketAddr],
    timeout: Duration,
) -> Result<(SocketAddr, std::net::TcpStream, u64), PrepareError> {
    let mut refusal = None;
    for address in addresses {
        let began = RealClock.now();
        match std::net::TcpStream::connect_timeout(address, timeout) {
            Ok(stream) => return Ok((*address, stream, RealClock.now().nanos_since(began))),
            Err(source) => refusal = Some((*address, source)),
        }
    }
    let (address, source) = refusal.unwrap_or_else(|| (addresses[0], io::ErrorKind::NotFound.into()));
    let row = plimsoll_engine::connect_failure(&source).row();
    Err(PrepareError::Connect { kind: row.name, address, source, remedy: row.remedy })
}

fn first_answer(
    plan: &Plan,
    address: SocketAddr,
    stream: &mut std::net::TcpStream,
    interrupted: &AtomicBool,
) -> Result<FirstAnswer, PrepareError> {
    attempt::ask(&plan.target, stream, plan.generator.timeout, interrupted).map_err(|error| match error {
        AttemptError::Interrupted => PrepareError::Interrupted,
        AttemptError::Failed(kind) => {
            let row = kind.row();
            PrepareError::FirstRequest { kind: row.name, address, meaning: row.meaning, remedy: row.remedy }
        }
    })
}

/// The most connections to one address, and what bounds them.
fn connections_allowed(limits: &Limits) -> (u64, &'static str, &'static str) {
    let by_descriptors = limits.descriptors.saturating_sub(DESCRIPTORS_OWN);
    if by_descriptors <= limits.ports {
        (by_descriptors, "descriptors of this process", "raise the limit with ulimit -n")
    } else {
        let remedy = "widen the range with sysctl net.ipv4.ip_local_port_range='1024 65535'";
        (limits.ports, "local ports to one address", remedy)
    }
}

/// Refuses what cannot be opened; an open end (the doubling ladder, the growth of an open loop) is only
/// brought within the limit, and that is told.
fn within_limits(mut plan: Plan, limits: &Limits) -> Result<(Plan, Option<String>), PrepareError> {
    let (allowed, what, remedy) = connections_allowed(limits);
    let most = u32::try_from(allowed).unwrap_or(u32::MAX).max(1);
    let wanted = match &plan.load {
        Load::Single {
            level: Level::Closed { connections, .. } | Level::Open { connections, .. }, ..
        } => *connections,
        Load::Ladder { rungs: Rungs::Fixed(rungs), .. } => rungs.iter().copied().max().unwrap_or(1),
        Load::Ladder { rungs: Rungs::Doubling { .. }, .. } => 1,
    };
    if wanted > most {
        return Err(PrepareError::Limit { wanted: wanted.into(), allowed, what, remedy });
    }
    let open_end = match &mut plan.load {
        Load::Ladder { rungs: Rungs::Doubling { connections_max }, .. } => connections_max,
        Load::Single { level: Level::Open { .. }, .. } => &mut plan.generator.connections_max,
        _ => return Ok((plan, None)),
    };
    let limited = (*open_end > most)
        .then(|| format!("at most {most} connections instead of {open_end}: {what} allow no more; {remedy}"));
    *open_end = most.min(*open_end);
    Ok((plan, limited))
}

#[cfg(test)]
mod tests;
