//! More clients than descriptors. In a process of its own, whose limit it lowers.

#![expect(clippy::unwrap_used, reason = "a test that cannot talk to the server has to fail")]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use plimsoll_target::Server;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

const REQUEST: &[u8] = b"GET /healthz HTTP/1.1\r\n\r\n";

fn connect(address: SocketAddr) -> TcpStream {
    let mut client = TcpStream::connect(address).unwrap();
    client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    client.write_all(REQUEST).unwrap();
    client
}

/// Whether the client was answered; otherwise it was closed, for a read that waits in vain fails the test.
fn is_answered(client: &mut TcpStream) -> bool {
    let mut buffer = [0; 512];
    match client.read(&mut buffer) {
        Ok(bytes) => bytes > 0,
        Err(error) => {
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
            false
        }
    }
}

fn is_answered_anew(address: SocketAddr) -> bool {
    let mut client = TcpStream::connect(address).unwrap();
    client.write_all(REQUEST).is_ok() && is_answered(&mut client)
}

#[test]
fn clients_beyond_the_descriptors_are_turned_away_and_the_others_served() {
    let server = Server::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
    let address = server.address();
    // They wait in the backlog, as the server does not run yet.
    let mut clients: Vec<_> = (0..20).map(|_| connect(address)).collect();
    let highest = clients.iter().map(|client| client.as_raw_fd() as u64).max().unwrap();
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: Some(highest + 6), maximum }).unwrap();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let running = scope.spawn(|| server.run(&stop));
        let answered = clients.iter_mut().filter_map(|client| is_answered(client).then_some(())).count();
        assert!((1..20).contains(&answered), "{answered} of 20 were answered");
        drop(clients);
        // The server may not have seen yet that they left.
        assert!((0..1000).any(|_| is_answered_anew(address)), "there is room again");
        stop.store(true, Ordering::Relaxed);
        running.join().unwrap().unwrap();
    });
}
