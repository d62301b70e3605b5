//! Where requests are: how many connections lead into each process and out of it, step by step.
//!
//! A tier is the processes of one name on one host. Hosts tell who listens (`listener`) and to whom processes are connected
//! (`peers`); what a process is connected to and nobody tells of is an address outside.

mod names;

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_plan::Plan;
use plimsoll_record::Run;

use crate::hosts::{Hosts, Track, name_of, pid_of};
use crate::usage::Seen;
use names::Addresses;

/// A figure of each step; `None` where it was not seen.
pub(crate) type Figures = Vec<Option<f64>>;

/// Where connections go.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Peer {
    /// To a tier that is looked at, by its index.
    Tier(usize),
    /// To something that nobody tells of: the name of its host, or else its address.
    Outside(String),
}

/// Connections out of a tier.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outflow {
    pub(crate) to: Peer,
    pub(crate) connections: Figures,
}

/// The processes of one name on one host.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tier {
    pub(crate) host: String,
    /// The name of its processes; empty if it is not known.
    pub(crate) process: String,
    /// Connections that lead into it.
    pub(crate) established: Figures,
    /// Those of them from which something is still to be read.
    pub(crate) unread: Figures,
    /// Those that are not accepted yet.
    pub(crate) queue: Figures,
    pub(crate) out: Vec<Outflow>,
    /// True if it is known to whom its processes are connected, be it to nobody: hosts list those that have opened
    /// connections, beside their listeners' state, so that one whose listener was seen and that is not listed has opened none.
    pub(crate) out_known: bool,
}

impl Tier {
    /// Where it is, for people: `web: nginx`.
    pub(crate) fn place(&self) -> String {
        if self.process.is_empty() { self.host.clone() } else { format!("{}: {}", self.host, self.process) }
    }
}

/// All tiers, and which of them the load goes to.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Flow {
    pub(crate) tiers: Vec<Tier>,
    /// The tiers that the target's address leads to.
    pub(crate) front: Vec<usize>,
}

/// What stands before the name of a unix socket.
const UNIX: &str = "unix:";

/// What listens on one address of one host.
struct Listening<'a> {
    host: &'a str,
    process: &'a str,
    address: &'a str,
    port: u16,
    track: &'a Track<'a>,
}

/// An address and its port: `10.0.0.1:80`, `[::]:80`. The whole of `unix:/run/app.sock` is an address, which has no port.
fn split(address: &str) -> Option<(&str, u16)> {
    if address.starts_with(UNIX) {
        return Some((address, 0));
    }
    let (host, port) = address.rsplit_once(':')?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    // An IPv4 address seen through a socket of IPv6 is the same address.
    Some((host.strip_prefix("::ffff:").unwrap_or(host), port.parse().ok()?))
}

/// True for an address that stands for all addresses of its host.
fn is_any(address: &str) -> bool {
    matches!(address, "0.0.0.0" | "::" | "*" | "")
}

/// The names of a host's processes, by their numbers.
fn processes<'a>(hosts: &'a Hosts<'a>, host: &str) -> BTreeMap<u64, &'a str> {
    ["thread", "waiting", "peers", "process"]
        .into_iter()
        .flat_map(|source| hosts.of(host, source))
        .filter_map(|(subject, _)| Some((pid_of(subject)?, name_of(subject))))
        .collect()
}

fn listening<'a>(hosts: &'a Hosts<'a>) -> Vec<Listening<'a>> {
    let mut all = Vec::new();
    for host in hosts.names() {
        let processes = processes(hosts, host);
        for (subject, track) in hosts.of(host, "listener") {
            let process =
                track.last("pid").and_then(|pid| processes.get(&(pid as u64)).copied()).unwrap_or("");
            if let Some((address, port)) = split(subject) {
                all.push(Listening { host, process, address, port, track });
            }
        }
    }
    all
}

/// Where requests are in this run.
pub(crate) fn flow(run: &Run, plan: &Plan, seen: &Seen<'_>) -> Flow {
    let addresses = Addresses::of(plan);
    let listening = listening(seen.hosts);
    let mut keys: BTreeSet<(&str, &str)> = listening.iter().map(|one| (one.host, one.process)).collect();
    for host in seen.hosts.names() {
        keys.extend(seen.hosts.of(host, "peers").map(|(subject, _)| (host, name_of(subject))));
    }
    let keys: Vec<(&str, &str)> = keys.into_iter().collect();
    let index = |host: &str, process: &str| keys.iter().position(|key| *key == (host, process));
    let reach = |from: &str, peer: &str| {
        let found = match peer.starts_with(UNIX) {
            // It does not lead out of its host.
            true => listening.iter().find(|one| one.host == from && one.address == peer),
            false => addresses.listener(&listening, peer),
        };
        let found = found.and_then(|one| index(one.host, one.process));
        found.map_or_else(|| Peer::Outside(addresses.name(peer)), Peer::Tier)
    };
    let tiers = keys.iter().map(|(host, process)| tier(seen, host, process, &listening, &reach)).collect();
    let ours = run.manifest.preflight.addresses.iter().map(String::as_str);
    let mut front: Vec<usize> = ours
        .filter_map(|address| addresses.listener(&listening, address))
        .filter_map(|one| index(one.host, one.process))
        .collect();
    front.extend(
        listening
            .iter()
            .filter(|one| one.port == plan.target.port && one.host == plan.target.host)
            .filter_map(|one| index(one.host, one.process)),
    );
    front.sort_unstable();
    front.dedup();
    Flow { tiers, front }
}

fn tier(
    seen: &Seen<'_>,
    host: &str,
    process: &str,
    listening: &[Listening<'_>],
    reach: &impl Fn(&str, &str) -> Peer,
) -> Tier {
    let own = |one: &&Listening<'_>| one.host == host && one.process == process;
    let sum = |gauge: &str| {
        seen.each(|span| {
            let means = listening.iter().filter(own).filter_map(|one| one.track.mean(gauge, span));
            means.reduce(|a, b| a + b)
        })
    };
    let peers: Vec<&Track<'_>> = seen
        .hosts
        .of(host, "peers")
        .filter(|(subject, _)| name_of(subject) == process)
        .map(|(_, t)| t)
        .collect();
    let mut out: BTreeMap<Peer, Figures> = BTreeMap::new();
    for track in &peers {
        for name in track.names().into_iter().filter(|name| split(name).is_some() && !name.contains(' ')) {
            let more = seen.each(|span| track.mean_listed(name, span));
            let sum = out.entry(reach(host, name)).or_insert_with(|| vec![None; more.len()]);
            for (sum, more) in sum.iter_mut().zip(more) {
                *sum = sum.zip(more).map(|(a, b)| a + b).or(*sum).or(more);
            }
        }
    }
    let unread = sum("unread");
    let unlisted = unread.iter().any(Option::is_some) && seen.hosts.failure(host, "peers").is_none();
    Tier {
        host: host.to_owned(),
        process: process.to_owned(),
        established: sum("established"),
        unread,
        queue: sum("queue"),
        out: out.into_iter().map(|(to, connections)| Outflow { to, connections }).collect(),
        out_known: !peers.is_empty() || unlisted,
    }
}
