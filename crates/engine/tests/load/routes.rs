//! Where connections go to and come from, as the servers see it.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use plimsoll_engine::StepSpec;
use plimsoll_sys::Destination;
use plimsoll_testkit::Nginx;

use super::measured::{Measured, closed, order};

/// A server that keeps the addresses its connections come from.
struct Witness {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<SocketAddr>>>,
}

impl Witness {
    /// Answers every request; with `closes`, one on each connection.
    fn start(closes: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let of_thread = Arc::clone(&seen);
        thread::spawn(move || {
            // Ends with the test's process: nothing waits for it.
            while let Ok((stream, from)) = listener.accept() {
                of_thread.lock().unwrap().push(from);
                thread::spawn(move || answer(stream, closes));
            }
        });
        Self { address, seen }
    }

    fn connections_by_source(&self) -> BTreeMap<IpAddr, usize> {
        let mut by_source = BTreeMap::new();
        for from in self.seen.lock().unwrap().iter() {
            *by_source.entry(from.ip()).or_default() += 1;
        }
        by_source
    }
}

fn answer(mut stream: impl Read + Write, closes: bool) {
    let mut buffer = [0; 4096];
    let connection = if closes { "Connection: close\r\n" } else { "" };
    let response = format!("HTTP/1.1 200 OK\r\n{connection}Content-Length: 2\r\n\r\nok");
    while stream.read(&mut buffer).is_ok_and(|count| count > 0) {
        if stream.write_all(response.as_bytes()).is_err() || closes {
            return;
        }
    }
}

/// Runs a step until the servers have accepted so many connections.
fn until_accepted(order: &StepSpec, servers: &[&Witness], connections: usize) -> Measured {
    let order = StepSpec { requests_max: None, ..order.clone() };
    Measured::watched(&order, |_, running| {
        let accepted: usize = servers.iter().map(|server| server.seen.lock().unwrap().len()).sum();
        if accepted >= connections {
            running.end_load();
        }
    })
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn connections_come_in_equal_shares_from_the_sources_that_were_asked_for() {
    let server = Witness::start(false);
    let mut order = order(server.address, closed(12));
    order.workers = 2;
    order.sources = vec!["127.0.0.5".parse().unwrap(), "127.0.1.1-127.0.1.2".parse().unwrap()];
    let measured = until_accepted(&order, &[&server], 12);
    assert_eq!(measured.failures(), [""; 0]);
    let expected = [(ip("127.0.0.5"), 4), (ip("127.0.1.1"), 4), (ip("127.0.1.2"), 4)];
    assert_eq!(server.connections_by_source(), BTreeMap::from(expected));
}

#[test]
fn without_a_source_asked_for_connections_come_from_the_usual_address() {
    let server = Witness::start(false);
    until_accepted(&order(server.address, closed(4)), &[&server], 4);
    assert_eq!(server.connections_by_source(), BTreeMap::from([(ip("127.0.0.1"), 4)]));
}

#[test]
fn two_destinations_get_equal_shares_of_the_connections() {
    let servers = [Witness::start(false), Witness::start(false)];
    let mut order = order(servers[0].address, closed(10));
    order.workers = 2;
    order.destinations = servers.iter().map(|server| server.address.into()).collect();
    let measured = until_accepted(&order, &[&servers[0], &servers[1]], 10);
    assert_eq!(measured.failures(), [""; 0]);
    for server in servers {
        assert_eq!(server.connections_by_source().values().sum::<usize>(), 5);
    }
}

#[test]
fn a_port_that_others_hold_is_passed_over_where_ports_are_chosen_here() {
    let server = Witness::start(true);
    let ports = plimsoll_sys::local_ports().len() as u32;
    // So many connections that ports are chosen, of which this step opens only the first few.
    let mut order = order(server.address, super::measured::open(200.0, 2));
    order.connections_max = ports * 9 / 10;
    order.requests_max = Some(60);
    order.sources = vec!["127.0.2.1".parse().unwrap()];
    let first = *plimsoll_sys::local_ports().start();
    let _held: Vec<TcpListener> =
        (first..first + 20).filter_map(|port| TcpListener::bind(("127.0.2.1", port)).ok()).collect();
    let measured = Measured::new(&order);
    assert_eq!(measured.failures(), [""; 0]);
    assert_eq!(measured.counts.completed, 60);
    let seen = server.seen.lock().unwrap();
    assert!(seen.iter().all(|from| from.ip() == ip("127.0.2.1")));
    let ports: std::collections::BTreeSet<u16> = seen.iter().map(SocketAddr::port).collect();
    assert_eq!(ports.len(), seen.len(), "no port is used twice while others are free");
}

/// A connection to `server` from this address and port, which others may be bound to as well.
fn hold(server: SocketAddr, source: SocketAddr) -> rustix::io::Result<OwnedFd> {
    use rustix::net::{AddressFamily, SocketType, bind, connect, socket, sockopt};
    let held = socket(AddressFamily::INET, SocketType::STREAM, None)?;
    sockopt::set_socket_reuseaddr(&held, true)?;
    bind(&held, &source)?;
    connect(&held, &server)?;
    Ok(held)
}

#[test]
fn another_port_is_tried_where_only_the_connecting_tells_that_one_is_taken() {
    let server = Witness::start(false);
    let ports = plimsoll_sys::local_ports();
    let mut order = order(server.address, super::measured::open(100.0, 2));
    order.connections_max = ports.len() as u32 * 9 / 10;
    order.requests_max = Some(30);
    order.sources = vec!["127.0.2.2".parse().unwrap()];
    // Both ends of these connections are the ones that come first. Binding to their ports goes well.
    let taken: Vec<SocketAddr> = ports.take(4).map(|port| SocketAddr::new(ip("127.0.2.2"), port)).collect();
    let held: Vec<OwnedFd> = taken.iter().filter_map(|source| hold(server.address, *source).ok()).collect();
    assert!(!held.is_empty());
    let measured = Measured::new(&order);
    assert_eq!(measured.failures(), [""; 0]);
    assert_eq!(measured.counts.completed, 30);
    let seen = server.seen.lock().unwrap();
    assert!(seen[held.len()..].iter().all(|from| !taken.contains(from)), "{seen:?}");
}

#[test]
fn a_unix_socket_serves_small_and_large_bodies() {
    let nginx = Nginx::start().unwrap();
    for path in ["/", "/file"] {
        let mut order = order(nginx.address(), closed(8));
        let target = plimsoll_plan::Target::parse(&format!("http://api.test{path}")).unwrap();
        order.traffic = plimsoll_engine::Traffic::Fixed(plimsoll_engine::FixedRequest::new(
            target.encode().unwrap(),
            "GET",
        ));
        order.destinations = vec![Destination::Unix(nginx.socket().as_path().into())];
        let before = nginx.requests().unwrap();
        let measured = Measured::new(&order);
        assert_eq!(measured.failures(), [""; 0]);
        assert_eq!(nginx.requests().unwrap() - before, measured.counts.completed, "{path}");
        assert!(path == "/" || measured.counts.bytes_in / measured.counts.completed >= 100_000);
    }
}

/// A unix socket that listens, with room for two connections that are not accepted yet.
fn short_queue(path: &Path) -> OwnedFd {
    let socket = rustix::net::socket(rustix::net::AddressFamily::UNIX, rustix::net::SocketType::STREAM, None);
    let socket = socket.unwrap();
    rustix::net::bind(&socket, &rustix::net::SocketAddrUnix::new(path).unwrap()).unwrap();
    rustix::net::listen(&socket, 1).unwrap();
    socket
}

#[test]
fn connections_wait_for_a_place_in_the_queue_of_a_unix_socket() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = UnixListener::from(short_queue(&path));
    let (begin, begun) = std::sync::mpsc::channel();
    thread::spawn(move || {
        begun.recv().unwrap();
        for stream in listener.incoming() {
            thread::spawn(|| answer(stream.unwrap(), false));
        }
    });
    let mut order = order("127.0.0.1:1".parse().unwrap(), closed(12));
    order.destinations = vec![Destination::Unix(path.as_path().into())];
    order.duration = Duration::from_secs(600);
    order.requests_max = None;
    let mut most = 0;
    // No connection is accepted before a frame shows that the queue is full, and the load goes on until all are open.
    let measured = Measured::watched(&order, |frame, running| {
        begin.send(()).unwrap_or_default();
        most = frame.head.connections.max(most);
        if most == 12 || frame.head.interval > 200 {
            running.end_load();
        }
    });
    assert_eq!((most, measured.failures()), (12, vec![]));
    assert!(measured.counts.completed >= 12, "{:?}", measured.counts);
}

#[test]
fn a_unix_socket_that_is_gone_or_full_has_a_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let failures = |connections| {
        let mut order = order("127.0.0.1:1".parse().unwrap(), closed(connections));
        order.destinations = vec![Destination::Unix(path.as_path().into())];
        // Waiting connections are never answered. A busy machine may take some time to try each.
        order.timeout = Duration::from_secs(1);
        order.requests_max = Some(connections.into());
        Measured::new(&order).failures()
    };
    assert_eq!(failures(1), ["connect_refused"]);
    let socket = short_queue(&path);
    // Two find room in the queue, where they are not answered.
    assert_eq!(failures(8), ["backlog_full", "timed_out"]);
    drop(socket);
    assert_eq!(failures(1), ["connect_refused"]);
}
