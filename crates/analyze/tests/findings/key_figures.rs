//! The key figures of a run, by which a history compares it.

use plimsoll_analyze::RunFigures;
use plimsoll_plan::{Plan, PlanHost, Probe};

use crate::synthetic::findings;
use crate::watch::Watch;

/// A proxy in front of an API: a request takes 50 µs of the one, and 100 µs of the other if that is sampled.
fn chain(is_api_sampled: bool) -> Watch {
    let proxy = Watch::pool(16.0, 0.005, 128)
        .host("web", 0.5, 50e-6)
        .process("web", "10 nginx", 50e-6)
        .listener("web", "0.0.0.0:8080", 10, |_, _| 0.0)
        .gauge(("web", "peers", "10 nginx"), "10.0.0.3:9000", |_, _| 4.0);
    if !is_api_sampled {
        return proxy;
    }
    proxy.host("api", 1.0, 100e-6).process("api", "20 java", 100e-6).listener(
        "api",
        "0.0.0.0:9000",
        20,
        |_, _| 0.0,
    )
}

/// The processor time of a request in microseconds, where the API has this probe.
fn cpu_us(watch: Watch, probe: &str) -> Option<f64> {
    let mut run = watch.run();
    let mut plan = Plan::from_json(&run.manifest.plan).unwrap();
    let host = |name: &str, address: &str, probe: Probe| PlanHost {
        address: address.parse().ok(),
        probes: vec![probe],
        ..PlanHost::named(name)
    };
    let (web, api) = ("ssh://10.0.0.2".parse().unwrap(), probe.parse().unwrap());
    plan.hosts = vec![host("web", "10.0.0.2", web), host("api", "10.0.0.3", api)];
    run.manifest.plan = plan.to_json();
    let figures = RunFigures::new(&findings(&run));
    figures.cpu_per_request_ns.map(|cpu| (cpu.value / 1e3).round())
}

#[test]
fn a_lost_probe_leaves_no_processor_time_of_a_request() {
    assert_eq!(cpu_us(chain(true), "ssh://10.0.0.3"), Some(150.0));
    assert_eq!(cpu_us(chain(false), "ssh://10.0.0.3"), None);
}

#[test]
fn a_host_of_which_only_a_component_is_asked_hides_no_processor_time() {
    assert_eq!(cpu_us(chain(false), "redis://10.0.0.3:9000"), Some(50.0));
}
