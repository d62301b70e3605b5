//! The tiers that requests pass, found by following sockets.

use std::collections::BTreeMap;

use plimsoll_analyze::{Endpoint, Topology};
use plimsoll_plan::{Plan, PlanHost};
use plimsoll_record::{HostSample, Reading, Run};

use crate::synthetic::{Level, cpu_sample, findings, single};

fn sample(host: &str, source: &str, subject: &str, counters: &[(&str, u64)]) -> HostSample {
    let counters: BTreeMap<String, u64> = counters.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect();
    HostSample {
        host: host.into(),
        source: source.into(),
        subject: subject.into(),
        reading: Reading::Ok(counters.into()),
        ..cpu_sample(0, 0, 0)
    }
}

fn listener(host: &str, address: &str, pid: u64) -> HostSample {
    sample(host, "listener", address, &[("pid", pid), ("queue", 0)])
}

fn peers(host: &str, process: &str, peers: &[(&str, u64)]) -> HostSample {
    sample(host, "peers", process, peers)
}

/// A run against this address with these samples.
fn run(target: &str, local: bool, hosts: Vec<HostSample>) -> Run {
    let mut run = single(Level::closed(4));
    run.manifest.preflight.addresses = vec![target.to_owned()];
    run.manifest.preflight.local = local;
    run.hosts = hosts;
    run
}

/// Names a host of the plan with its address.
fn place(run: &mut Run, name: &str, address: &str) {
    let mut plan = Plan::from_json(&run.manifest.plan).unwrap();
    plan.hosts.push(PlanHost { address: address.parse().ok(), ..PlanHost::named(name) });
    run.manifest.plan = plan.to_json();
}

/// The tiers of a run.
fn found(run: &Run) -> Topology {
    findings(run).topology
}

/// `2 web nginx:80 -> 1x4` and so on: depth, host, process and port, and edges with their connections.
fn reported(topology: &Topology) -> Vec<String> {
    let edges = |edges: &[plimsoll_analyze::TierEdge]| -> String {
        edges.iter().map(|edge| format!(" -> {}x{}", edge.to, edge.connections)).collect()
    };
    let tiers = topology.tiers.iter();
    tiers
        .map(|tier| {
            let process = tier.process.as_deref().unwrap_or("?");
            let endpoint = match &tier.endpoint {
                Endpoint::Port(port) => port.to_string(),
                Endpoint::Unix(path) => path.clone(),
            };
            format!("{} {} {process}:{endpoint}{}", tier.depth, tier.host, edges(&tier.downstream))
        })
        .collect()
}

#[test]
fn a_chain_on_this_machine_is_followed_over_loopback() {
    let run = run(
        "127.0.0.1:80",
        true,
        vec![
            listener("local", "0.0.0.0:80", 10),
            // The worker is connected, its master listens.
            sample("local", "process", "10 nginx", &[]),
            peers("local", "11 nginx", &[("127.0.0.1:9000", 3), ("unsent 127.0.0.1:9000", 1)]),
            peers("local", "11 nginx", &[("127.0.0.1:9000", 8)]),
            peers("local", "12 nginx", &[("127.0.0.1:9000", 2)]),
            listener("local", "[::]:9000", 20),
            peers("local", "20 java", &[("[::ffff:127.0.0.1]:6379", 5), ("192.0.2.9:3306", 1)]),
            listener("local", "127.0.0.1:6379", 30),
            peers("local", "30 redis-server", &[]),
        ],
    );
    let tiers = found(&run);
    let expected = [
        "1 local nginx:80 -> 1x10",
        "2 local java:9000 -> 2x5 -> 3x1",
        "3 local redis-server:6379",
        "3 192.0.2.9 ?:3306",
    ];
    assert_eq!(reported(&tiers), expected);
    assert_eq!(tiers.tiers[0].pids, [10, 11, 12]);
    let levels: Vec<usize> = tiers.levels().iter().map(Vec::len).collect();
    assert_eq!(levels, [1, 1, 2]);
}

#[test]
fn a_unix_socket_leads_to_the_process_of_the_same_host_that_listens_on_it() {
    let mut run = run(
        "198.18.0.2:80",
        false,
        vec![
            listener("web", "0.0.0.0:80", 10),
            peers("web", "11 nginx", &[("unix:/run/x.sock", 6), ("unix:@gone", 1)]),
            sample("web", "process", "10 nginx", &[]),
            listener("other", "unix:/run/x.sock", 30),
            listener("web", "unix:/run/x.sock", 20),
            peers("web", "20 gunicorn", &[]),
        ],
    );
    place(&mut run, "web", "198.18.0.2");
    let expected = ["1 web nginx:80 -> 1x6 -> 2x1", "2 web gunicorn:/run/x.sock", "2 web ?:@gone"];
    assert_eq!(reported(&found(&run)), expected);
}

#[test]
fn hosts_of_a_plan_are_distinguished_by_their_addresses() {
    let mut run = run(
        "198.18.0.2:80",
        false,
        vec![
            listener("web", "0.0.0.0:80", 10),
            peers("web", "10 nginx", &[("198.18.0.3:9000", 4), ("198.18.0.4:9000", 5), ("198.18.0.5:7", 1)]),
            listener("api1", "0.0.0.0:9000", 10),
            peers("api1", "10 java", &[]),
            listener("api2", "0.0.0.0:9000", 10),
            peers("api2", "10 java", &[("198.18.0.3:9000", 1)]),
        ],
    );
    for (name, address) in
        [("web", "198.18.0.2"), ("api1", "198.18.0.3"), ("api2", "198.18.0.4"), ("db", "198.18.0.5")]
    {
        place(&mut run, name, address);
    }
    let expected =
        ["1 web nginx:80 -> 1x4 -> 2x5 -> 3x1", "2 api1 java:9000", "2 api2 java:9000 -> 1x1", "2 db ?:7"];
    assert_eq!(reported(&found(&run)), expected, "a host that reports nothing keeps its name");
}

#[test]
fn a_listener_of_another_address_or_host_is_not_taken_for_the_one_meant() {
    let run = run(
        "127.0.0.1:80",
        true,
        vec![
            listener("local", "127.0.0.1:80", 10),
            peers("local", "10 nginx", &[("192.0.2.1:6379", 1), ("192.0.2.2:9000", 1)]),
            // Only on loopback: no connection to another address leads there.
            listener("local", "127.0.0.1:6379", 30),
            listener("far", "0.0.0.0:9000", 5),
            peers("far", "5 node", &[]),
        ],
    );
    let expected = ["1 local nginx:80 -> 1x1 -> 2x1", "2 192.0.2.1 ?:6379", "2 far node:9000"];
    assert_eq!(reported(&found(&run)), expected);
}

#[test]
fn two_servers_of_one_name_keep_their_own_children() {
    let run = run(
        "127.0.0.1:80",
        true,
        vec![
            listener("local", "0.0.0.0:80", 10),
            listener("local", "0.0.0.0:81", 20),
            peers("local", "10 nginx", &[("127.0.0.1:81", 1)]),
            peers("local", "11 nginx", &[("127.0.0.1:81", 1)]),
            peers("local", "20 nginx", &[]),
            peers("local", "21 nginx", &[("127.0.0.1:9000", 6)]),
            // The first server replaced a worker after the second was started.
            sample("local", "process", "31 nginx", &[("parent", 10)]),
            peers("local", "31 nginx", &[("127.0.0.1:81", 4)]),
        ],
    );
    let tiers = found(&run);
    let expected = ["1 local nginx:80 -> 1x6", "2 local nginx:81 -> 2x6", "3 local ?:9000"];
    assert_eq!(reported(&tiers), expected);
}

#[test]
fn without_samples_there_is_only_the_address() {
    let tiers = found(&run("192.0.2.7:8080", false, Vec::new()));
    assert_eq!(reported(&tiers), ["1 192.0.2.7 ?:8080"]);
    assert!(!tiers.is_known());
    assert!(found(&run("unix:/run/api.sock", true, Vec::new())).tiers.is_empty());
}
