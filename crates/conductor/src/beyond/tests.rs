use std::os::unix::net::UnixStream;

use plimsoll_plan::{ArrivalProcess, LoadSpec, OverloadSpec, PlanSpec, RateProfile};
use plimsoll_units::Instant;

use super::*;
use crate::peers::Message;

/// Peers that are ready, each with its workers and its ceiling.
fn peers(coordinator_takes_part: bool, ready: &[(u32, Option<u64>)]) -> Peers {
    let began = Instant::from_nanos(0);
    let mut peers = Peers::new(coordinator_takes_part, began);
    for (index, (workers, ceiling_per_sec)) in ready.iter().enumerate() {
        let (commands, _) = UnixStream::pair().unwrap();
        peers.add(None, Box::new(commands), began);
        let (version, workers, ceiling_per_sec) = ("1".to_owned(), *workers, *ceiling_per_sec);
        peers.introduce(index, Ok(Some(Message::Ready { version, workers, ceiling_per_sec })), "1").unwrap();
    }
    peers
}

fn spec(profile: Option<RateProfile>, connections: u64) -> PlanSpec {
    let load = LoadSpec::Single {
        connections: Some(connections),
        profile,
        arrivals: ArrivalProcess::Constant,
        duration: None,
        requests_max: None,
    };
    PlanSpec::new("http://127.0.0.1/", load)
}

/// An open loop at this rate.
fn open(rate_per_sec: f64, connections: u64) -> Plan {
    spec(Some(RateProfile::Constant(rate_per_sec)), connections).freeze().unwrap()
}

/// Two workers that make 1,000 each, and one that makes 500.
const KNOWN: [(u32, Option<u64>); 2] = [(2, Some(1000)), (1, Some(500))];

#[test]
fn a_rate_beyond_the_sum_of_all_ceilings_is_named_with_that_sum() {
    let fleet = peers(false, &KNOWN);
    let beyond = BeyondCeilings { asked_per_sec: 2501.0, ceiling_per_sec: 2500, workers: 3, available: 3 };
    assert_eq!(BeyondCeilings::new(&open(2501.0, 100), &fleet), Some(beyond));
    assert_eq!(BeyondCeilings::new(&open(2500.0, 100), &fleet), None);
    let ramp = spec(Some("ramp(100,9k,30s)".parse().unwrap()), 100).freeze().unwrap();
    assert_eq!(BeyondCeilings::new(&ramp, &fleet).unwrap().asked_per_sec, 9000.0);
}

#[test]
fn workers_without_a_connection_make_nothing() {
    let fleet = peers(false, &KNOWN);
    let beyond = BeyondCeilings { asked_per_sec: 2100.0, ceiling_per_sec: 2000, workers: 2, available: 3 };
    assert_eq!(BeyondCeilings::new(&open(2100.0, 2), &fleet), Some(beyond));
}

#[test]
fn an_overload_of_a_given_rate_counts_by_its_highest_multiple() {
    let mut spec = spec(None, 100);
    spec.overload_with(OverloadSpec {
        rate_per_sec: Some(1500.0),
        factors: vec![1.2, 2.0],
        ..OverloadSpec::default()
    });
    let beyond = BeyondCeilings::new(&spec.freeze().unwrap(), &peers(false, &KNOWN)).unwrap();
    assert_eq!((beyond.asked_per_sec, beyond.ceiling_per_sec), (3000.0, 2500));
}

#[test]
fn what_is_not_known_is_no_limit() {
    let asked = open(1e6, 100);
    for fleet in [
        peers(false, &[(2, Some(1000)), (1, None)]),
        peers(false, &[(0, None)]),
        // Its own ceiling is not among those of its peers.
        peers(true, &KNOWN),
    ] {
        assert_eq!(BeyondCeilings::new(&asked, &fleet), None);
    }
    let fleet = peers(false, &KNOWN);
    assert_eq!(BeyondCeilings::new(&spec(None, 100).freeze().unwrap(), &fleet), None, "no rate is given");
    let mut piped = spec(Some(RateProfile::Constant(1e6)), 100);
    piped.depth = Some(8);
    assert_eq!(BeyondCeilings::new(&piped.freeze().unwrap(), &fleet), None);
}
