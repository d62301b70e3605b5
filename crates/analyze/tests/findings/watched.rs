//! What hosts reported in addition to their resources.

use std::collections::BTreeMap;

use plimsoll_analyze::{FigureUnit, WatchedHost, watched_hosts};
use plimsoll_record::{HostSample, Reading, Run};

use crate::synthetic::{Level, cpu_sample, findings, single};

const SECOND_NS: u64 = 1_000_000_000;

fn sample(sec: u64, source: &str, subject: &str, counters: &[(&str, u64)]) -> HostSample {
    let counters: BTreeMap<String, u64> = counters.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect();
    HostSample {
        host: "web".into(),
        source: source.into(),
        subject: subject.into(),
        reading: Reading::Ok(counters.into()),
        ..cpu_sample(sec * SECOND_NS, 0, 0)
    }
}

fn failed(sec: u64, source: &str, why: &str) -> HostSample {
    HostSample { reading: Reading::Failed(why.to_owned()), ..sample(sec, source, "", &[]) }
}

/// What is reported of the one host, in a load of some seconds with these samples.
fn reported(hosts: Vec<HostSample>) -> WatchedHost {
    let mut run: Run = single(Level::closed(16));
    run.hosts = hosts;
    let steps = findings(&run).steps;
    let mut hosts = watched_hosts(&run, &steps, 0);
    assert_eq!(hosts.len(), 1, "{hosts:?}");
    hosts.remove(0)
}

#[test]
fn totals_of_a_component_are_reported_by_the_second_and_levels_as_they_are() {
    let read = |sec: u64| {
        let counters = [
            ("commands", 700 * sec),
            ("main_thread_cpu_us", 250_000 * sec),
            ("connected_clients", 12),
            ("blocked_clients", sec),
            ("rejected_connections", 3),
        ];
        sample(sec, "redis", "127.0.0.1:6379", &counters)
    };
    let host = reported((0..=8).map(read).collect());
    let component = &host.components[0];
    assert_eq!((component.source.as_str(), component.address.as_str()), ("redis", "127.0.0.1:6379"));
    let figure = |name: &str| component.figures.iter().find(|figure| figure.name == name);
    let commands = figure("commands").unwrap();
    assert!(commands.unit == FigureUnit::PerSec && (commands.value - 700.0).abs() < 1e-6, "{commands:?}");
    let cpu = figure("of a core in its main thread").unwrap();
    assert!(cpu.unit == FigureUnit::Ratio && (cpu.value - 0.25).abs() < 1e-9, "{cpu:?}");
    assert_eq!(figure("clients").map(|clients| clients.value), Some(12.0));
    assert!(figure("connections rejected").is_none(), "what did not grow is not worth telling");
    assert!(figure("in use").is_none(), "what it did not tell is not zero");
}

#[test]
fn throttling_is_reported_as_a_part_of_the_periods() {
    let read = |sec: u64, group: &str, throttled: u64| {
        sample(sec, "cgroup", group, &[("periods", 10 * sec), ("throttled_periods", throttled * sec)])
    };
    let host = reported((0..=8).flat_map(|sec| [read(sec, "", 4), read(sec, "/api", 0)]).collect());
    let [throttled] = &host.throttled[..] else { panic!("{:?}", host.throttled) };
    assert!(throttled.group.is_empty() && (throttled.ratio - 0.4).abs() < 1e-9, "{throttled:?}");
}

#[test]
fn each_source_that_could_not_be_read_is_reported_once_with_its_first_reason() {
    let host = reported(vec![
        failed(0, "waiting", "no permission"),
        sample(1, "waiting", "7 java", &[("looks", 1)]),
        failed(2, "waiting", "another reason"),
        failed(2, "disk", "strange"),
    ]);
    let reported: Vec<(&str, u64, u64, &str)> = host
        .unread
        .iter()
        .map(|unread| (unread.source.as_str(), unread.times, unread.read, unread.why.as_str()))
        .collect();
    assert_eq!(reported, [("disk", 1, 0, "strange"), ("waiting", 2, 1, "no permission")]);
}

#[test]
fn what_looking_cost_is_the_sum_over_its_threads() {
    let read = |sec, thread, cpu_us| sample(sec, "probe", thread, &[("cpu_us", cpu_us)]);
    let host = reported(vec![
        read(0, "web", 1_000),
        read(0, "redis://web:6379", 0),
        read(4, "web", 9_000),
        read(4, "redis://web:6379", 4_000),
    ]);
    assert!((host.probe_cores.unwrap() - 0.003).abs() < 1e-9, "{host:?}");
    assert_eq!(reported(vec![read(0, "web", 5)]).probe_cores, None, "one reading is no difference");
}
