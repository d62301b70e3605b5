//! Against the real nginx and the real nghttpd.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use plimsoll_http::h2::{Connection, Event};
use plimsoll_testkit::Nginx;
use tempfile::TempDir;

use super::client::{Client, status_and_length};
use super::invariance::Observed;

/// How long nghttpd may take to accept.
const PATIENCE: Duration = Duration::from_secs(10);

/// A running nghttpd that sends bodies back; killed and waited for when dropped.
struct Nghttpd {
    address: SocketAddr,
    child: Child,
    folder: TempDir,
}

impl Nghttpd {
    fn start(options: &[&str]) -> Self {
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("nghttpd");
        command.args(["--no-tls", "--echo-upload", "-a", "127.0.0.1", "-d"]).arg(folder.path());
        command.args(options).arg(address.port().to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().expect("nghttpd runs; `make setup` installs it");
        let mut server = Self { address, child, folder };
        server.wait();
        server
    }

    /// It does not report when it begins to accept.
    fn wait(&mut self) {
        let begun = Instant::now();
        while TcpStream::connect(self.address).is_err() {
            assert!(matches!(self.child.try_wait(), Ok(None)), "nghttpd ended");
            assert!(begun.elapsed() < PATIENCE, "nghttpd does not accept");
            thread::sleep(Duration::from_millis(2));
        }
    }

    fn connect(&self, connection: Connection) -> Client {
        Client::connect(self.address, connection)
    }
}

impl Drop for Nghttpd {
    fn drop(&mut self) {
        // Both fail only if the child has ended and was waited for already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The observed body of a tag.
fn body(seen: &[Observed], of: u32) -> Vec<u8> {
    let bodies = seen.iter().filter_map(|seen| match seen {
        Observed::Body(tag, body) if *tag == of => Some(body.clone()),
        _ => None,
    });
    bodies.flatten().collect()
}

#[test]
fn nginx_answers_small_and_large_requests_one_after_another() {
    let nginx = Nginx::start().unwrap();
    let mut client = Client::connect(nginx.http2_address(), Connection::new(1));
    for _ in 0..3 {
        assert_eq!(client.ask("GET", "/", b""), (200, 15));
        assert_eq!(client.ask("GET", "/file", b""), (200, Nginx::FILE_BYTES as u64));
        assert_eq!(client.ask("HEAD", "/file", b""), (200, 0));
        assert_eq!(client.ask("GET", "/large", b""), (200, Nginx::LARGE_BYTES as u64));
    }
    assert_eq!(nginx.requests().unwrap(), 12);
}

#[test]
fn nginx_sends_a_large_body_through_a_small_window() {
    let nginx = Nginx::start().unwrap();
    let mut client = Client::connect(nginx.http2_address(), Connection::with_window(2, 20_000));
    assert_eq!(client.ask("GET", "/large", b""), (200, Nginx::LARGE_BYTES as u64));
    assert_eq!(client.ask("GET", "/file", b""), (200, Nginx::FILE_BYTES as u64));
}

#[test]
fn nginx_answers_a_hundred_streams_on_one_connection() {
    let nginx = Nginx::start().unwrap();
    let mut client = Client::connect(nginx.http2_address(), Connection::new(100));
    assert_eq!(client.connection.capacity(), 100, "nginx takes 128");
    for tag in 0..100 {
        assert!(client.send(tag, "GET", if tag % 10 == 0 { "/file" } else { "/" }, b"", tag % 7 == 0));
    }
    assert_eq!(client.connection.capacity(), 0);
    let seen = client.finish();
    for tag in (0..100).step_by(7) {
        let expected =
            if tag % 10 == 0 { vec![b'f'; Nginx::FILE_BYTES] } else { br#"{"status":"ok"}"#.to_vec() };
        assert_eq!(body(&seen, tag), expected);
        let named =
            |seen: &Observed| matches!(seen, Observed::Field(of, name, _) if *of == tag && name == b"server");
        assert_eq!(seen.iter().filter(|seen| named(seen)).count(), 1);
    }
    let ended = seen.iter().filter(|seen| matches!(seen, Observed::Ended(..)));
    assert!(ended.map(status_and_length).all(|(status, _)| status == 200));
    assert_eq!(nginx.requests().unwrap(), 100);
}

#[test]
fn nginx_answers_a_large_post() {
    let nginx = Nginx::start().unwrap();
    let mut client = Client::connect(nginx.http2_address(), Connection::new(4));
    for _ in 0..3 {
        assert_eq!(client.ask("POST", "/", &vec![b'p'; 1_000_000]), (200, 15));
    }
    // Beyond what it takes it answers before the body's end.
    assert_eq!(client.ask("POST", "/", &vec![b'p'; 2_000_000]).0, 413);
    assert_eq!(client.ask("GET", "/", b""), (200, 15), "and the connection goes on");
}

#[test]
fn nghttpd_sends_a_megabyte_back_as_it_got_it() {
    let server = Nghttpd::start(&[]);
    let mut client = server.connect(Connection::new(4));
    let upload: Vec<u8> = (0..1_000_000_u32).map(|at| ((at * 31) >> 3) as u8).collect();
    for tag in 0..4 {
        assert!(client.send(tag, "POST", "/", &upload[tag as usize..], true));
    }
    let seen = client.finish();
    for tag in 0..4 {
        assert!(body(&seen, tag) == upload[tag as usize..], "tag {tag}");
    }
}

#[test]
fn nghttpd_gets_bodies_through_its_smallest_windows() {
    let server = Nghttpd::start(&["-w", "1", "-W", "16"]);
    let mut client = server.connect(Connection::with_window(2, 100));
    for tag in 0..2 {
        assert!(client.send(tag, "POST", "/", &[b'x'; 3000], true));
    }
    let seen = client.finish();
    assert_eq!((body(&seen, 0).len(), body(&seen, 1).len()), (3000, 3000));
}

#[test]
fn nghttpd_limits_streams_and_tables_and_is_understood() {
    let server = Nghttpd::start(&["-m", "3", "-c", "0", "--trailer", "x-end: 1", "--padding", "200"]);
    std::fs::write(server.folder.path().join("page"), vec![b'n'; 50_000]).unwrap();
    let mut client = server.connect(Connection::new(50));
    assert_eq!(client.connection.capacity(), 3);
    for _ in 0..20 {
        for tag in 0..3 {
            assert!(client.send(tag, "GET", ["/page", "/none", "/page"][tag as usize], b"", tag == 2));
        }
        assert!(!client.send(3, "GET", "/page", b"", false));
        let seen = client.finish();
        assert_eq!(status_and_length(&seen[0]), (200, 50_000));
        assert_eq!(status_and_length(&seen[1]).0, 404);
        assert_eq!(body(&seen, 2), vec![b'n'; 50_000]);
    }
}

#[test]
fn nghttpd_answers_before_the_end_of_a_request() {
    let server = Nghttpd::start(&["--early-response"]);
    std::fs::write(server.folder.path().join("page"), b"early").unwrap();
    let mut client = server.connect(Connection::new(2));
    for _ in 0..5 {
        assert!(client.send(0, "PUT", "/page", &[b'x'; 300_000], false));
        let seen = client.finish();
        assert!(matches!(&seen[..], [Observed::Ended(0, Event::Answered { .. })]), "{seen:?}");
    }
}
