//! Components that do not exist, do not answer, or are something else.

use std::io::Write as _;
use std::net::{SocketAddr, TcpListener};
use std::thread;

use plimsoll_plan::{HostPort, Probe};
use plimsoll_testkit::refused_address;
use plimsoll_units::best_effort;

use crate::Probed;

/// Every component that is asked over the network, at this address.
fn all(address: SocketAddr) -> [Probed; 6] {
    let url = format!("http://{address}/page");
    let address: HostPort = address.to_string().parse().unwrap();
    [
        Probe::Redis { password: None, address: address.clone() },
        Probe::Memcached(address.clone()),
        Probe::Mariadb { user: "ann".to_owned(), password: None, address },
        Probe::Nginx(url.clone()),
        Probe::Expvar(url.clone()),
        Probe::Page(url),
    ]
    .map(|probe| Probed::new(&probe))
}

#[test]
fn where_nothing_listens_every_component_names_the_address_and_what_to_look_for() {
    let address = refused_address();
    for mut probed in all(address) {
        let why = probed.failure();
        assert!(why.contains(&address.to_string()) && why.contains("could not connect"), "{why}");
        assert!(why.contains("refused") && why.contains("see that it runs"), "{why}");
    }
}

#[test]
fn a_component_that_does_not_answer_is_not_waited_for() {
    // The kernel accepts the connections; no process answers them.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    for mut probed in all(silent.local_addr().unwrap()) {
        let why = probed.failure();
        assert!(why.contains("did not answer within 500 ms"), "{why}");
    }
}

/// A server that writes one text to each client, and closes.
fn saying(words: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // It ends with the test's process: there is no last connection to wait for.
    thread::spawn(move || {
        while let Ok((mut connection, _)) = listener.accept() {
            best_effort(connection.write_all(words), "the client may have gone, and the next one comes");
        }
    });
    address
}

#[test]
fn an_answer_that_breaks_off_or_is_another_ones_is_a_failure_and_never_a_panic() {
    let answers: [&[u8]; 9] = [
        b"",
        b"$100\r\nshort",
        b"$18446744073709551615\r\nx",
        b"STAT a\r\n",
        b"-ERR no\r\n",
        b"\xff\xfe\x00\x01\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx 1\n",
        b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
    ];
    for answer in answers {
        let address = saying(answer);
        for mut probed in all(address) {
            let why = probed.failure();
            assert!(why.contains(&address.to_string()) || why.contains("127.0.0.1"), "{why}");
        }
    }
}
