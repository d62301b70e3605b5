//! Compares the plan's needs with the limits of this machine and of the target's accept queue.

use std::net::IpAddr;

use plimsoll_engine::MAX_CONNECTING;
use plimsoll_plan::{IpRange, LadderSteps, Level, Load, Plan};
use plimsoll_record::{ConnectionResource, Limits};
use plimsoll_sys::{Destination, TcpTable};

use super::error::PrepareError;
use crate::limit::{Effect, Limit, LimitedResource};

/// Lowers the depth to the number of streams that the server allows; returns the limit if that lowered it.
pub(super) fn fit_streams(plan: &mut Plan, streams_max: Option<u32>) -> Option<Limit> {
    let available = streams_max?;
    let depth = match &mut plan.load {
        Load::Single { level, .. } => level.depth_mut(),
        Load::Ladder { depth, .. } => depth,
    };
    let needed = std::mem::replace(depth, u16::try_from(available).unwrap_or(u16::MAX).min(*depth));
    (needed > *depth).then(|| Limit {
        resource: LimitedResource::Streams,
        needed: needed.into(),
        available: available.into(),
        effect: Effect::Lowered,
        remedy: "use more connections (-c), or raise the server's limit".to_owned(),
    })
}

/// The limits for the connections and threads of a plan.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds<'a> {
    pub(super) limits: &'a Limits,
    /// The addresses of the target.
    pub(super) peers: &'a [Destination],
    /// True if all of the target's addresses are on this machine.
    pub(super) local: bool,
}

impl Bounds<'_> {
    /// The number of workers: one per core, or half of the cores for a target on this machine, which needs the other half.
    pub(super) fn workers(self, plan: &Plan) -> u32 {
        let cores = self.limits.cores;
        plan.generator.workers.unwrap_or(if self.local { (cores / 2).max(1) } else { cores })
    }

    /// Refuses a plan whose connections cannot be opened. An open end (a doubling ladder, the growth of an open loop) is lowered to
    /// the limit; of a fixed ladder, only the steps within the limit run. Returns the plan with the limits that it exceeds.
    pub(super) fn fit(self, plan: Plan) -> Result<(Plan, Vec<Limit>), PrepareError> {
        let workers = self.workers(&plan);
        let (plan, mut met) = self.fit_connections(plan)?;
        met.extend(self.backlog(&plan, workers));
        met.extend(self.cores(workers));
        Ok((plan, met))
    }

    fn fit_connections(self, mut plan: Plan) -> Result<(Plan, Vec<Limit>), PrepareError> {
        let waiting = in_time_wait(self.peers);
        let available = [
            (ConnectionResource::Descriptors, self.limits.connections()),
            (ConnectionResource::Ports, self.ports(&waiting, &plan.network.source_ips)),
        ];
        let met = |needed, effect| -> Vec<Limit> {
            let short = available.into_iter().filter(|(_, available)| needed > *available);
            let limit = |(resource, available)| {
                let remedy = remedy(resource, needed, waiting.iter().sum());
                let resource = LimitedResource::OfConnections(resource);
                Limit { resource, needed, available, effect, remedy }
            };
            short.map(limit).collect()
        };
        let refused = met(connections_asked(&plan.load), Effect::Refused);
        if !refused.is_empty() {
            return Err(PrepareError::Limits(refused));
        }
        let most = available.iter().map(|(_, available)| *available).min().unwrap_or(u64::MAX);
        let most = u32::try_from(most).unwrap_or(u32::MAX);
        // A search and overloads open connections as needed; only overloads are likely to need many.
        let of_rates = match &plan.overload {
            Some(_) => met(plan.generator.connections_max.into(), Effect::Lowered),
            None => Vec::new(),
        };
        if plan.search.is_some() || plan.overload.is_some() {
            plan.generator.connections_max = most.min(plan.generator.connections_max);
        }
        if let Load::Ladder { steps: LadderSteps::Fixed(steps), .. } = &plan.load {
            // Steps above the limit stay in the plan, and are reported as not run.
            let highest = steps.iter().copied().max().unwrap_or(1);
            let lowered = met(highest.into(), Effect::Lowered);
            return Ok((plan, if lowered.is_empty() { of_rates } else { lowered }));
        }
        let Some(end) = open_end(&mut plan) else { return Ok((plan, of_rates)) };
        let lowered = met((*end).into(), Effect::Lowered);
        *end = most.min(*end);
        Ok((plan, if lowered.is_empty() { of_rates } else { lowered }))
    }

    /// The number of connections that the local ports allow. Each pair of source and destination can use all ports, except those that
    /// connections in TIME-WAIT (`waiting`, per destination) still hold.
    fn ports(self, waiting: &[u64], source_ips: &[IpRange]) -> u64 {
        let to = |(peer, waiting): (&Destination, &u64)| match peer.tcp().map(|address| address.ip()) {
            None => u64::MAX,
            Some(IpAddr::V4(ip)) if ip.is_loopback() && source_ips.is_empty() => u64::MAX,
            Some(ip) => self.limits.ports.saturating_mul(sources(source_ips, ip)).saturating_sub(*waiting),
        };
        // Destinations get equal shares, so the one with the fewest free ports limits them all.
        let least = self.peers.iter().zip(waiting).map(to).min();
        least.unwrap_or(u64::MAX).saturating_mul(self.peers.len() as u64)
    }

    /// The limit of the target's accept queue, if it is on this machine and can be read.
    fn backlog(self, plan: &Plan, workers: u32) -> Option<Limit> {
        let (resource, effect) = (LimitedResource::Backlog, Effect::Risked);
        let available = self.peers.iter().filter_map(backlog_of).min()?;
        let needed = opened_at_once(plan, workers);
        let remedy = backlog_remedy(available, needed);
        (needed > available).then_some(Limit { resource, needed, available, effect, remedy })
    }

    /// The limit of the cores; a target on this machine needs one of them.
    fn cores(self, workers: u32) -> Option<Limit> {
        let (resource, effect) = (LimitedResource::Cores, Effect::Risked);
        let (own, available) = (u64::from(self.local), u64::from(self.limits.cores));
        let needed = u64::from(workers) + own;
        let remedy = if self.local && available < 2 {
            "allow another core (taskset -c 0,1), or press from another machine".to_owned()
        } else {
            format!("use -t {}", available.saturating_sub(own).max(1))
        };
        (needed > available).then_some(Limit { resource, needed, available, effect, remedy })
    }
}

/// The least number of connections that the plan needs; an open end needs one.
fn connections_asked(load: &Load) -> u64 {
    u64::from(match load {
        Load::Single { level, .. } => level.connections(),
        Load::Ladder { steps: LadderSteps::Fixed(steps), .. } => steps.iter().copied().min().unwrap_or(1),
        Load::Ladder { steps: LadderSteps::Doubling { .. }, .. } => 1,
    })
}

/// The upper bound of the plan's open end; `None` if it has none.
fn open_end(plan: &mut Plan) -> Option<&mut u32> {
    match &mut plan.load {
        Load::Ladder { steps: LadderSteps::Doubling { connections_max }, .. } => Some(connections_max),
        Load::Single { level: Level::Open { .. }, .. } => Some(&mut plan.generator.connections_max),
        _ => None,
    }
}

fn remedy(resource: ConnectionResource, connections: u64, waiting: u64) -> String {
    if resource == ConnectionResource::Descriptors {
        let descriptors = Limits::descriptors_for(connections);
        return format!(
            "raise the limit as root with ulimit -n {descriptors}, or nofile in /etc/security/limits.conf"
        );
    }
    let again = match waiting {
        0 => String::new(),
        count => format!("wait a minute for the ports in TIME-WAIT ({count}), "),
    };
    format!(
        "{again}use more source addresses with --source-ip, or widen the range with sysctl -w \
         net.ipv4.ip_local_port_range='1024 65535'"
    )
}

/// For each peer, the number of local ports held by connections in TIME-WAIT. 0 if the kernel does not report them.
fn in_time_wait(peers: &[Destination]) -> Vec<u64> {
    let closed = TcpTable::open(None).and_then(|mut table| table.in_time_wait()).unwrap_or_default();
    let to =
        |peer: &Destination| closed.iter().filter(|socket| Some(socket.remote) == peer.tcp()).count() as u64;
    peers.iter().map(to).collect()
}

fn sources(ranges: &[IpRange], destination: IpAddr) -> u64 {
    let same_family = ranges.iter().filter(|range| range.first().is_ipv4() == destination.is_ipv4());
    same_family.fold(0_u64, |sum, range| sum.saturating_add(range.count())).max(1)
}

/// The most connections that may be opening at the same time.
fn opened_at_once(plan: &Plan, workers: u32) -> u64 {
    let most = match &plan.load {
        Load::Ladder { steps: LadderSteps::Doubling { connections_max }, .. } => u64::from(*connections_max),
        // An open loop opens more connections the further the target falls behind, which is unknown before the run.
        Load::Single { level: Level::Open { .. }, .. } if plan.network.keep_alive => {
            plan.generator.connections_max.into()
        }
        load => connections_asked(load),
    };
    // With keep-alive, each worker opens a limited number of connections at a time. Without it, connections are replaced as they close.
    let gently = u64::from(workers) * MAX_CONNECTING as u64;
    if plan.network.keep_alive { most.min(gently) } else { most }
}

/// The accept backlog of a peer on this machine. If its listener is not visible, for example in another network namespace, the
/// kernel's maximum.
fn backlog_of(peer: &Destination) -> Option<u64> {
    let address = peer.tcp().filter(|address| plimsoll_sys::is_local(address.ip()))?;
    plimsoll_sys::accept_backlog(address).or_else(plimsoll_sys::accept_backlog_max)
}

/// How to raise the backlog: a listener gets what it asks for, up to the kernel's maximum.
fn backlog_remedy(backlog: u64, needed: u64) -> String {
    let server =
        format!("let the server listen with a backlog of {needed} (nginx: listen … backlog={needed})");
    match plimsoll_sys::accept_backlog_max() {
        Some(allowed) if allowed < needed || allowed == backlog => {
            format!("{server} after sysctl -w net.core.somaxconn={}", needed.max(allowed))
        }
        _ => server,
    }
}
