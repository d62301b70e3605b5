//! The tiers that requests pass through, as a small drawing: `generator → nginx:80 → java:9000 ×2 → redis:6379`.

use std::collections::BTreeSet;

use plimsoll_analyze::{Endpoint, TierNode, Topology};
use plimsoll_plan::PlanHost;
use plimsoll_units::escape_control;

use super::paragraph::wrapped;
use crate::amount::list;

/// Returns the drawing; empty if only the target's address is known.
pub(super) fn drawing(topology: &Topology) -> String {
    if !topology.is_known() {
        return String::new();
    }
    let hosts: BTreeSet<&str> = topology.tiers.iter().map(|tier| tier.host.as_str()).collect();
    let levels = topology.levels().into_iter().map(|level| level_text(&level, hosts.len() > 1));
    let drawing = list(std::iter::once(PlanHost::GENERATOR.to_owned()).chain(levels), " → ");
    wrapped("", "  ", &format!("Tiers: {}", escape_control(&drawing)))
}

/// Returns the tiers at one distance from the generator; equal processes are counted.
fn level_text(level: &[&TierNode], with_hosts: bool) -> String {
    let mut groups: Vec<(String, Vec<&TierNode>)> = Vec::new();
    for tier in level {
        let name = name(tier);
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, tiers)) => tiers.push(tier),
            None => groups.push((name, vec![tier])),
        }
    }
    list(groups.iter().map(|(name, tiers)| group_text(name, tiers, with_hosts)), " + ")
}

/// Returns the process and its port or unix socket; the host and the port if the host is not sampled.
fn name(tier: &TierNode) -> String {
    let host = || if tier.host.contains(':') { format!("[{}]", tier.host) } else { tier.host.clone() };
    let name = tier.process.clone().unwrap_or_else(host);
    match &tier.endpoint {
        Endpoint::Port(port) => format!("{name}:{port}"),
        Endpoint::Unix(path) => format!("{name} (unix:{path})"),
    }
}

fn group_text(name: &str, tiers: &[&TierNode], with_hosts: bool) -> String {
    let hosts: Vec<&str> = tiers.iter().map(|tier| tier.host.as_str()).collect();
    let known = tiers.iter().any(|tier| tier.process.is_some());
    match (with_hosts && known, hosts.len()) {
        (true, _) => format!("{name} ({})", hosts.join(", ")),
        (false, 1) => name.to_owned(),
        (false, count) => format!("{name} ×{count}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tier(depth: u32, host: &str, process: Option<&str>, port: u16) -> TierNode {
        let process = process.map(ToOwned::to_owned);
        TierNode {
            host: host.to_owned(),
            process,
            pids: Vec::new(),
            endpoint: Endpoint::Port(port),
            depth,
            downstream: Vec::new(),
        }
    }

    #[test]
    fn a_chain_on_one_host_shows_processes_and_ports() {
        let tiers = vec![
            tier(1, "local", Some("nginx"), 80),
            tier(2, "local", Some("java"), 9000),
            tier(2, "local", Some("java"), 9000),
            tier(3, "local", Some("redis"), 6379),
        ];
        let drawing = drawing(&Topology { tiers });
        assert_eq!(drawing, "Tiers: generator → nginx:80 → java:9000 ×2 → redis:6379\n");
    }

    #[test]
    fn a_unix_socket_is_shown_with_its_path() {
        let mut app = tier(2, "local", Some("gunicorn"), 0);
        app.endpoint = Endpoint::Unix("/run/x.sock".to_owned());
        let drawing = drawing(&Topology { tiers: vec![tier(1, "local", Some("nginx"), 80), app] });
        assert_eq!(drawing, "Tiers: generator → nginx:80 → gunicorn (unix:/run/x.sock)\n");
    }

    #[test]
    fn several_hosts_are_named_and_unsampled_ones_by_their_address() {
        let tiers = vec![
            tier(1, "web", Some("nginx"), 80),
            tier(2, "api1", Some("java"), 9000),
            tier(2, "api2", Some("java"), 9000),
            tier(2, "192.0.2.1", None, 3306),
            tier(3, "2001:db8::1", None, 6379),
        ];
        let expected = "Tiers: generator → nginx:80 (web) → java:9000 (api1, api2) + 192.0.2.1:3306 → \
                        [2001:db8::1]:6379\n";
        assert_eq!(drawing(&Topology { tiers }), expected);
    }

    #[test]
    fn an_address_alone_is_no_drawing() {
        assert_eq!(drawing(&Topology { tiers: vec![tier(1, "192.0.2.1", None, 80)] }), "");
    }
}
