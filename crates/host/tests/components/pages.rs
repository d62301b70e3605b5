//! Pages over HTTP: nginx and node_exporter.

use std::path::Path;

use plimsoll_host::{Host, Watched};
use plimsoll_plan::Probe;
use plimsoll_record::metric::{nginx, scheduler, sockets, tcp};
use plimsoll_record::{Metric, Reading, Source};
use plimsoll_testkit::{Nginx, Server};
use plimsoll_units::Instant;

use crate::{Probed, connect, say};

#[test]
fn nginx_reports_its_connections_and_requests() {
    let nginx = Nginx::start().unwrap();
    let address = nginx.address().to_string();
    let mut probed = Probed::new(&Probe::Nginx(format!("http://{address}/stub")));
    let before = probed.counters(Source::Nginx, &address);
    let mut user = connect(nginx.address());
    for _ in 0..5 {
        say(&mut user, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "{\"status\":\"ok\"}");
    }
    let after = probed.counters(Source::Nginx, &address);
    let grown = |metric: Metric| after[metric] - before[metric];
    let (requests, accepts) = (grown(nginx::REQUESTS), grown(nginx::ACCEPTS));
    assert!((6..=6 + probed.missed).contains(&requests), "{requests}: five of the user, one of the probe");
    assert!((1..=1 + probed.missed).contains(&accepts), "{accepts}: the probe keeps its connection");
    if probed.missed == 0 {
        assert_eq!((after[nginx::ACTIVE], after[nginx::WRITING], after[nginx::WAITING]), (2, 1, 1));
    }
    assert_eq!(after[nginx::HANDLED], after[nginx::ACCEPTS]);
}

#[test]
fn a_page_that_is_not_the_one_expected_is_shown() {
    let nginx = Nginx::start().unwrap();
    let failure = |probe| Probed::new(&probe).failure();
    let why = failure(Probe::Nginx(format!("http://{}/name", nginx.address())));
    assert!(why.contains("stub_status page"), "{why}");
    let why = failure(Probe::Page(format!("http://{}/", nginx.address())));
    assert!(why.contains("{\"status\":\"ok\"}") && why.contains("Prometheus"), "{why}");
    let why = failure(Probe::Expvar(format!("http://{}/", nginx.address())));
    assert!(why.contains("memstats"), "{why}");
    let why = failure(Probe::Page(format!("http://{}/file/none", nginx.address())));
    assert!(why.contains("Prometheus"), "{why}");
}

/// The exporter of this machine and the machine's own files must report the same.
#[test]
fn node_exporters_page_reports_what_the_hosts_own_files_report() {
    let exporter = Server::node_exporter().unwrap();
    let page = Probed::new(&Probe::Page(format!("http://{}/metrics", exporter.address()))).samples_in_time();
    let own = Host::local("web", Path::new("/"), &Watched::default()).samples(Instant::default());
    for source in [Source::Cpu, Source::Core, Source::Scheduler, Source::Memory, Source::Tcp, Source::Sockets]
    {
        let theirs = page.iter().filter(|sample| sample.source == source);
        for theirs in theirs {
            let ours = own.iter().find(|sample| sample.source == source && sample.subject == theirs.subject);
            let (Reading::Ok(ours), Reading::Ok(theirs)) = (&ours.unwrap().reading, &theirs.reading) else {
                panic!("{source}: {ours:?} {theirs:?}");
            };
            for (name, value) in theirs.iter() {
                let own = ours.named(name);
                let own =
                    own.unwrap_or_else(|| panic!("{source} has {name} only on the page, not in {ours:?}"));
                assert!(alike(name, value, own), "{source} {name}: {value} on the page, {own} here");
            }
        }
    }
    let count = |samples: &[plimsoll_record::HostSample], source: Source| {
        samples.iter().filter(|sample| sample.source == source).count()
    };
    assert_eq!(count(&page, Source::Core), count(&own, Source::Core));
    assert!(count(&page, Source::Interface) >= 1 && count(&page, Source::Prometheus) == 0);
}

/// Levels change while they are read. Counters grow, and by little between two reads of a test.
fn alike(name: &str, one: u64, other: u64) -> bool {
    let levels = [
        scheduler::RUNNING,
        scheduler::BLOCKED,
        tcp::ESTABLISHED,
        sockets::TIME_WAIT,
        sockets::ORPHANS,
        sockets::IN_USE,
    ];
    levels.iter().any(|metric| metric.name == name) || one.abs_diff(other) <= one.max(other) / 10 + 100_000
}
