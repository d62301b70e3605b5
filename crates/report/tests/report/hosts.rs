//! Hosts that were sampled, as text and in the document.

use std::collections::BTreeMap;

use plimsoll_analyze::{
    Endpoint, Limit, Part, Place, ProcessId, Resource, ResourceKind, TierEdge, TierNode, Topology,
};
use plimsoll_plan::PlanHost;
use plimsoll_record::{HostSample, Reading, RunCommand};
use plimsoll_report::{Values, json, text};
use serde_json::Value;

use super::sample::{self, Sample};

/// The position of the plateau's step in the ladder.
const PLATEAU: usize = 5;

/// A sample at a second of the run.
fn at(sec: u64, (host, source, subject): (&str, &str, &str), reading: Reading) -> HostSample {
    HostSample {
        host: host.into(),
        source: source.into(),
        subject: subject.into(),
        began_ns: sec * 1_000_000_000,
        ended_ns: sec * 1_000_000_000,
        reading,
    }
}

/// A sample a second, each counter growing by so much, or staying as it is.
pub(super) fn each_second(
    key: (&str, &str, &str),
    growing: &[(&str, u64)],
    level: &[(&str, u64)],
) -> Vec<HostSample> {
    let of = |sec: u64| {
        let growing = growing.iter().map(|(name, by)| ((*name).to_owned(), by * sec));
        let all = growing.chain(level.iter().map(|(name, value)| ((*name).to_owned(), *value)));
        at(sec, key, Reading::Ok(all.collect::<BTreeMap<String, u64>>().into()))
    };
    (0..=10).map(of).collect()
}

fn resource(kind: ResourceKind, (host, part): (&str, Part), used: f64, capacity: Option<f64>) -> Resource {
    let mut used_by_step = vec![None; 8];
    used_by_step[PLATEAU] = Some(used);
    let host = host.to_owned();
    Resource { kind, host, part, capacity, used: used_by_step, others: Vec::new(), demand: None }
}

fn tier(depth: u32, host: &str, process: Option<(u32, &str)>, port: u16, edges: &[(usize, u64)]) -> TierNode {
    TierNode {
        host: host.to_owned(),
        process: process.map(|(_, name)| name.to_owned()),
        pids: process.map(|(pid, _)| pid).into_iter().collect(),
        endpoint: Endpoint::Port(port),
        depth,
        downstream: edges
            .iter()
            .map(|(to, connections)| TierEdge { to: *to, connections: *connections })
            .collect(),
    }
}

/// nginx on one host in front of two APIs, one of them sampled, and a database that is not.
pub(super) fn watched(command: RunCommand) -> Sample {
    let mut sample = sample::healthy(command);
    sample.run.manifest.preflight.addresses = vec!["198.18.0.2:80".to_owned()];
    sample.run.manifest.preflight.local = false;
    sample.findings.plan.hosts = [("web", "198.18.0.2"), ("api1", "198.18.0.3"), ("api2", "198.18.0.4")]
        .map(|(name, address)| PlanHost { address: address.parse().ok(), ..PlanHost::named(name) })
        .to_vec();
    sample.run.hosts = [
        each_second(("web", "listener", "0.0.0.0:80"), &[], &[("pid", 12), ("queue", 0)]),
        each_second(("web", "peers", "12 nginx"), &[], &[("198.18.0.3:9000", 16), ("198.18.0.4:9000", 17)]),
        each_second(
            ("web", "nginx", "127.0.0.1:80"),
            &[("requests", 3190), ("accepts", 0)],
            &[("active", 33)],
        ),
        each_second(("web", "cgroup", ""), &[("periods", 100), ("throttled_periods", 43)], &[]),
        each_second(("web", "probe", "web"), &[("cpu_us", 2_100)], &[]),
        each_second(("api1", "listener", "[::]:9000"), &[], &[("pid", 7), ("queue", 90)]),
        each_second(("api1", "peers", "7 java"), &[], &[("198.18.0.9:3306", 4)]),
        vec![at(
            3,
            ("api1", "jvm", "7"),
            Reading::Failed("jcmd was not allowed\u{1b}[2J; run it as that user".to_owned()),
        )],
    ]
    .concat();
    let tiers = vec![
        tier(1, "web", Some((12, "nginx")), 80, &[(1, 16), (2, 17)]),
        tier(2, "api1", Some((7, "java")), 9000, &[(3, 4)]),
        tier(2, "api2", None, 9000, &[]),
        tier(3, "198.18.0.9", None, 3306, &[]),
    ];
    sample.findings.topology = Topology { tiers };
    let thread = Part::Thread { pid: 12, tid: 12, name: "nginx".to_owned() };
    let nginx = Part::Process(ProcessId::new(12, "nginx"));
    let eth0 = || Part::Interface("eth0".to_owned());
    let listener = Part::Listener("[::]:9000".to_owned());
    sample.findings.resources = vec![
        resource(ResourceKind::Cpu, ("web", Part::Whole), 0.495, Some(0.5)),
        resource(ResourceKind::Thread, ("web", thread), 0.495, Some(1.0)),
        resource(ResourceKind::BandwidthOut, ("web", eth0()), 83.1e6, Some(200e6)),
        resource(ResourceKind::PacketsOut, ("web", eth0()), 12_340.0, Some(20_000.0)),
        resource(ResourceKind::BandwidthIn, ("web", eth0()), 80e3, Some(200e6)),
        resource(ResourceKind::Memory, ("web", Part::Whole), 83e6, Some(256e6)),
        resource(ResourceKind::Descriptors, ("web", nginx), 40.0, Some(1024.0)),
        resource(ResourceKind::Cpu, ("api1", Part::Whole), 0.7, Some(2.0)),
        resource(ResourceKind::Core, ("api1", Part::Core(1)), 0.68, Some(1.0)),
        resource(ResourceKind::AcceptQueue, ("api1", listener), 90.0, Some(128.0)),
        resource(ResourceKind::Disk, ("api1", Part::Device("sda".to_owned())), 0.43, Some(1.0)),
    ];
    sample
}

fn text_of(sample: &Sample) -> String {
    text::full(&sample.run, &sample.findings)
}

/// The lines of the block of hosts.
fn block(text: &str) -> Vec<&str> {
    let lines = text.lines().skip_while(|line| !line.starts_with("Tiers:"));
    lines.take_while(|line| !line.is_empty()).collect()
}

#[test]
fn the_plateau_shows_what_matters_of_each_host() {
    for command in [RunCommand::Answer, RunCommand::Sweep] {
        let text = text_of(&watched(command));
        let expected = [
            "Tiers: generator → nginx:80 (web) → java:9000 (api1) + api2:9000 → 198.18.0.9:3306",
            "Hosts at 32 connections (sampling them took 0.2 % of a core here):",
            "  api1        CPU 35 % of 2 cores; core 1 68 %; disk sda busy 43 % of the time; [::]:9000 90 of 128",
            "              connections not accepted yet",
            "              jvm could not be read: jcmd was not allowed\\u{1b}[2J; run it as that user",
            "  web         CPU 99 % of 0.5 cores; hottest thread 12/12 nginx 50 % of a core; throttled in 43 % of",
            "              its periods; out 83.1 Mbit/s of 200 Mbit/s (12,340 of 20,000 packets/s); memory",
            "              83.0 MB of 256 MB",
            "              nginx 127.0.0.1:80: 3,190 requests/s, 33 connections",
        ];
        assert_eq!(block(&text), expected, "{text}");
    }
}

#[test]
fn hosts_that_were_not_sampled_have_no_block() {
    let text = text_of(&sample::healthy(RunCommand::Answer));
    assert!(!text.contains("Tiers") && !text.contains("Hosts at"), "{text}");
}

#[test]
fn the_document_has_a_row_for_each_resource_that_was_seen() {
    let sample = watched(RunCommand::Answer);
    let document =
        serde_json::to_value(json::Document::new(&sample.run, &sample.findings, Values::Hidden)).unwrap();
    let hosts = document["hosts"].as_array().unwrap();
    let names: Vec<&str> = hosts.iter().map(|host| host["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["api1", "web"]);
    let web = &hosts[1];
    let row = serde_json::json!({
        "step": 5, "connections": 32, "resource": "bandwidth_out", "of": "eth0",
        "used": 83.1e6, "capacity": 200e6, "unit": "bits_per_sec",
    });
    assert!(web["usage"].as_array().unwrap().contains(&row), "{web}");
    assert_eq!((&web["address"], &web["tier"]), (&Value::from("198.18.0.2"), &Value::Null));
    assert_eq!(hosts[0]["unread"][0]["times"], 1);
    assert_eq!(document["tiers"][0]["downstream"][1], serde_json::json!({"to": 2, "connections": 17}));
    assert_eq!(
        document["tiers"][2],
        serde_json::json!({
            "host": "api2", "process": null, "pids": [], "port": 9000, "unix_socket": null, "depth": 2,
            "cores": null, "is_limit": false, "downstream": [],
        })
    );
}

#[test]
fn only_the_tier_of_the_limit_is_marked_among_those_of_one_host() {
    let mut sample = watched(RunCommand::Answer);
    let cpu = |process: &str, us| each_second(("box", "process", process), &[("cpu_us", us)], &[]);
    sample.run.hosts = [cpu("12 nginx", 400_000), cpu("7 java", 100_000)].concat();
    let tiers = &mut sample.findings.topology.tiers;
    tiers.iter_mut().for_each(|tier| tier.host = "box".to_owned());
    let thread = Part::Thread { pid: 12, tid: 12, name: "nginx".to_owned() };
    let mut marked = |limit, place| {
        sample.findings.verdict.limit = limit;
        sample.findings.verdict.place = place;
        let document = json::Document::new(&sample.run, &sample.findings, Values::Hidden);
        let of = |tier: &json::TierDocument| {
            (tier.is_limit, tier.cores.map(|cores| (cores * 10.0).round() / 10.0))
        };
        document.tiers.iter().map(of).collect::<Vec<_>>()
    };
    let [nginx, java, others] = [Some(0.4), Some(0.1), None];
    let expected = [(true, nginx), (false, java), (false, others), (false, others)];
    assert_eq!(marked(Limit::Thread, Place::part("box", thread)), expected);
    let pool = Place::process("box", "java");
    let expected = [(false, nginx), (true, java), (false, others), (false, others)];
    assert_eq!(marked(Limit::Pool, pool.clone()), expected);
    assert!(marked(Limit::Unknown, pool).iter().all(|(is_limit, _)| !is_limit));
    assert!(marked(Limit::Cpu, Place::host("box")).iter().all(|(is_limit, _)| *is_limit));
}
