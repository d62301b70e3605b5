use super::*;
use plimsoll_plan::{ArrivalProcess, LoadSpec, PlanSpec, Slo};

const LIMITS: Limits = Limits { descriptors: 1000, ports: 28_232, cores: 2 };

fn plan(load: LoadSpec) -> Plan {
    let spec = PlanSpec {
        name: None,
        url: "http://127.0.0.1:1/".to_owned(),
        method: None,
        headers: Vec::new(),
        body: None,
        network: plimsoll_plan::Network::default(),
        load,
        workers: None,
        timeout: Duration::from_secs(1),
        connections_max: None,
        seed: 1,
        slo: Slo::default(),
    };
    spec.freeze().unwrap()
}

fn ladder(rungs: Option<Vec<u64>>) -> Plan {
    plan(LoadSpec::Ladder { rungs, step_limit: None, budget: None })
}

#[test]
fn more_connections_than_descriptors_are_refused_with_the_command_that_lifts_it() {
    let error = within_limits(ladder(Some(vec![10, 5000])), &LIMITS).unwrap_err().to_string();
    assert!(error.contains("5000") && error.contains("936") && error.contains("ulimit -n"), "{error}");
}

#[test]
fn more_connections_than_ports_are_refused_with_the_command_that_lifts_it() {
    let limits = Limits { descriptors: 1_000_000, ..LIMITS };
    let error = within_limits(ladder(Some(vec![50_000])), &limits).unwrap_err().to_string();
    assert!(error.contains("ip_local_port_range"), "{error}");
}

#[test]
fn an_open_ended_ladder_is_brought_within_the_limit_and_that_is_told() {
    let (plan, limited) = within_limits(ladder(None), &LIMITS).unwrap();
    let Load::Ladder { rungs: Rungs::Doubling { connections_max }, .. } = plan.load else {
        panic!("a ladder")
    };
    assert_eq!(connections_max, 936);
    assert!(limited.unwrap().contains("936"));
}

#[test]
fn an_open_loop_grows_no_further_than_the_limit() {
    let load = LoadSpec::Single {
        connections: None,
        rate_per_sec: Some(10.0),
        arrivals: ArrivalProcess::Constant,
        duration: Duration::from_secs(1),
    };
    let (plan, limited) = within_limits(plan(load), &LIMITS).unwrap();
    assert_eq!(plan.generator.connections_max, 936);
    assert!(limited.is_some());
}

#[test]
fn what_fits_is_left_alone() {
    let (plan, limited) = within_limits(ladder(Some(vec![1, 900])), &LIMITS).unwrap();
    assert_eq!(plan, ladder(Some(vec![1, 900])));
    assert_eq!(limited, None);
}
