use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use plimsoll_plan::Shares;

use super::*;

/// A range of 100 ports, so that it is full soon.
const PORTS: RangeInclusive<u16> = 40_000..=40_099;

fn share(index: u32, of: u32, connections: u32) -> Share {
    let shares = Shares::equal(of);
    Share {
        shard: Shard { index, of },
        portion: shares.portion(index),
        connections_before: shares.parts_before(index, connections),
        connections: shares.part(index, connections),
        own_max: shares.part(index, connections),
        max_connections: connections,
        ports: PORTS,
    }
}

fn peers(addresses: &[&str]) -> Vec<Destination> {
    addresses.iter().map(|address| Destination::Tcp(address.parse().unwrap())).collect()
}

fn ranges(texts: &[&str]) -> Vec<IpRange> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

/// The first route of each connection of all workers.
fn all_routes(
    destinations: &[Destination],
    sources: &[IpRange],
    workers: u32,
    connections: u32,
) -> Vec<Route> {
    let of_worker = |index| {
        let share = share(index, workers, connections);
        let mut routes = Routes::new(destinations, sources, &share);
        (0..share.connections as usize).map(move |slot| routes.next(slot)).collect::<Vec<_>>()
    };
    (0..workers).flat_map(of_worker).collect()
}

fn shares<K: Ord>(routes: &[Route], of: impl Fn(&Route) -> K) -> BTreeMap<K, usize> {
    let mut shares = BTreeMap::new();
    for route in routes {
        *shares.entry(of(route)).or_default() += 1;
    }
    shares
}

#[test]
fn destinations_get_equal_shares_of_the_connections_of_all_workers() {
    let three = peers(&["192.0.2.1:80", "192.0.2.2:80", "[2001:db8::1]:80"]);
    for (workers, connections) in [(1, 3), (2, 6), (3, 9), (4, 30), (3, 20)] {
        let routes = all_routes(&three, &[], workers, connections);
        let shares = shares(&routes, |route| route.destination.to_string());
        let (least, most) = (shares.values().min().unwrap(), shares.values().max().unwrap());
        assert_eq!(shares.len(), 3, "{workers} workers, {connections} connections");
        assert!(most - least <= 1, "{workers} workers, {connections} connections: {shares:?}");
    }
}

#[test]
fn a_connection_that_is_opened_again_keeps_its_destination() {
    let two = peers(&["192.0.2.1:80", "192.0.2.2:80"]);
    let mut routes = Routes::new(&two, &[], &share(0, 1, 4));
    for slot in [0, 1, 2, 3, 3, 1, 1, 0, 2] {
        assert_eq!(routes.next(slot).destination, two[slot % 2]);
    }
}

#[test]
fn sources_are_spread_over_every_destination_of_their_family() {
    let destinations = peers(&["192.0.2.1:80", "192.0.2.2:80", "[2001:db8::1]:80"]);
    let routes = all_routes(&destinations, &ranges(&["192.0.2.7-192.0.2.8", "2001:db8::9"]), 1, 12);
    let shares = shares(&routes, |route| (route.destination.to_string(), route.source.unwrap().to_string()));
    let expected = [
        ("192.0.2.1:80", "192.0.2.7:0", 2),
        ("192.0.2.1:80", "192.0.2.8:0", 2),
        ("192.0.2.2:80", "192.0.2.7:0", 2),
        ("192.0.2.2:80", "192.0.2.8:0", 2),
        ("[2001:db8::1]:80", "[2001:db8::9]:0", 4),
    ];
    let expected = expected.map(|(to, from, count)| ((to.to_owned(), from.to_owned()), count));
    assert_eq!(shares, BTreeMap::from(expected));
}

#[test]
fn few_connections_leave_the_local_end_to_the_kernel() {
    for destination in ["192.0.2.1:80", "127.0.0.1:80", "[::1]:80"] {
        let routes = all_routes(&peers(&[destination]), &[], 2, 20);
        assert!(routes.iter().all(|route| route.source.is_none()), "{destination}");
    }
    let unix = [Destination::Unix(Path::new("/run/api.sock").into())];
    let routes = all_routes(&unix, &ranges(&["192.0.2.7"]), 1, 1000);
    assert!(routes.iter().all(|route| route.source.is_none()));
}

#[test]
fn on_the_loopback_each_source_serves_a_quarter_of_the_ports_and_the_first_is_the_usual_one() {
    let routes = all_routes(&peers(&["127.0.0.1:80"]), &[], 2, 300);
    let shares = shares(&routes, |route| route.source.map(|source| source.to_string()));
    assert_eq!(shares[&None], 24, "both workers begin with half of a turn each");
    assert!(shares.len() >= 12, "{shares:?}");
    assert!(shares.values().all(|count| *count <= 25), "{shares:?}");
}

#[test]
fn a_loopback_source_is_not_used_again_while_its_ports_are_remembered() {
    let mut routes = Routes::new(&peers(&["127.0.0.1:80"]), &[], &share(0, 1, 1));
    let sources: Vec<_> = (0..10_000).map(|_| routes.next(0).source).collect();
    let turns = sources.chunk_by(|a, b| a == b).count();
    assert_eq!((turns, sources.iter().collect::<HashSet<_>>().len()), (400, 400));
}

#[test]
fn beyond_half_of_the_range_ports_are_chosen_and_none_comes_twice() {
    for sources in [&[][..], &["192.0.2.7"]] {
        let routes = all_routes(&peers(&["192.0.2.1:80"]), &ranges(sources), 3, 99);
        let ports: HashSet<u16> = routes.iter().map(|route| route.source.unwrap().port()).collect();
        assert_eq!(ports.len(), 99);
        assert!(ports.iter().all(|port| PORTS.contains(port)));
    }
}

#[test]
fn several_sources_multiply_the_ports() {
    let routes = all_routes(&peers(&["192.0.2.1:80"]), &ranges(&["192.0.2.7-192.0.2.8"]), 2, 200);
    let local: HashSet<SocketAddr> = routes.iter().map(|route| route.source.unwrap()).collect();
    assert_eq!(local.len(), 200);
}

#[test]
fn the_port_that_was_free_for_longest_is_used_first() {
    let mut routes = Routes::new(&peers(&["192.0.2.1:80"]), &[], &share(0, 1, 60));
    let mut port = |slot| routes.next(slot).source.unwrap().port();
    let first: Vec<u16> = (0..60).map(&mut port).collect();
    let again: Vec<u16> = (0..60).map(&mut port).collect();
    assert_eq!(first, (40_000..40_060).collect::<Vec<_>>());
    assert_eq!(again[..40], (40_060..40_100).collect::<Vec<_>>());
    assert_eq!(again[40], 40_000);
}

#[test]
fn a_port_that_is_taken_is_passed_over_and_a_full_range_is_not_searched_for_ever() {
    let mut routes = Routes::new(&peers(&["192.0.2.1:80"]), &[], &share(0, 1, 60));
    let taken = || Err(io::ErrorKind::AddrInUse.into());
    for slot in 0..10 {
        let mut used = 0;
        let free_above = |route: &Route| {
            used = route.source.unwrap().port();
            if used < 40_080 { taken() } else { Ok(()) }
        };
        routes.open(slot, free_above).unwrap();
        assert!(used >= 40_080);
    }
    let mut tries = 0;
    let error = routes.open(10, |_| {
        tries += 1;
        taken()
    });
    assert_eq!((error.unwrap_err().kind(), tries), (io::ErrorKind::AddrInUse, MAX_TRIES));
}

#[test]
fn other_failures_are_not_tried_again() {
    let mut routes =
        Routes::new(&peers(&["127.0.0.1:80"]), &ranges(&["127.0.0.1-127.0.0.9"]), &share(0, 1, 60));
    let mut tries = 0;
    let refused = routes.open(0, |_| {
        tries += 1;
        Err(io::ErrorKind::ConnectionRefused.into())
    });
    assert_eq!((refused.unwrap_err().kind(), tries), (io::ErrorKind::ConnectionRefused, 1));
}
