//! Bodies that are longer than any buffer on their way, in both directions.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use plimsoll_engine::{FixedRequest, StepSpec, Traffic};
use plimsoll_plan::Target;
use plimsoll_testkit::{BadServer, Nginx, Script};
use rustix::event::{PollFd, PollFlags, poll};

use super::measured::{Measured, closed, order};

/// More than the kernel keeps of one connection at both ends together.
const HUGE_BYTES: usize = 32 * 1024 * 1024;

/// Gives each connection to `serve`, in a thread of its own; counts them.
fn server(serve: fn(TcpStream) -> std::io::Result<()>) -> (SocketAddr, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let connections = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&connections);
    thread::spawn(move || {
        for stream in listener.incoming() {
            counted.fetch_add(1, Ordering::Relaxed);
            // A connection that the client gives up ends its thread, and tells nothing more.
            thread::spawn(move || serve(stream.unwrap()).unwrap_or_default());
        }
    });
    (address, connections)
}

fn upload(address: SocketAddr, bytes: usize) -> plimsoll_engine::StepSpec {
    let mut order = order(address, closed(2));
    let mut target = Target::parse(&format!("http://{address}/")).unwrap();
    target.method = "POST".to_owned();
    target.body = vec![b'x'; bytes];
    order.requests_max = None;
    order.traffic = Traffic::Fixed(FixedRequest::new(target.encode().unwrap(), &target.method));
    order
}

#[test]
fn ten_megabytes_are_counted_to_the_byte() {
    let server = BadServer::start(Script::Correct { body: vec![b'x'; 10_000_000] });
    let mut order = order(server.address(), closed(3));
    order.requests_max = Some(6);
    let measured = Measured::new(&order);
    assert_eq!(measured.failures(), [""; 0]);
    let per_response = measured.counts.bytes_in / measured.counts.completed;
    assert_eq!(measured.counts.bytes_in % measured.counts.completed, 0);
    assert!((10_000_000..10_000_200).contains(&per_response), "{per_response} bytes a response");
}

/// Announces a million bytes and sends a part of them.
fn answer_in_part(mut stream: &TcpStream) -> std::io::Result<()> {
    stream.read_exact(&mut [0; 16])?;
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")?;
    stream.write_all(&[b'x'; 200_000])
}

/// How requests fail, of which there are twenty.
fn failures_of_twenty(address: SocketAddr) -> Vec<&'static str> {
    let mut order = order(address, closed(2));
    order.requests_max = Some(20);
    Measured::new(&order).failures()
}

#[test]
fn a_server_that_closes_within_a_long_body_is_noticed() {
    let (address, _) = server(|mut stream| {
        answer_in_part(&stream)?;
        stream.shutdown(Shutdown::Write)?;
        // Closed with bytes unread it would be a reset.
        stream.read_to_end(&mut Vec::new()).map(drop)
    });
    assert_eq!(failures_of_twenty(address), ["closed_within_response"]);
}

#[test]
fn a_server_that_resets_within_a_long_body_is_noticed() {
    let (address, _) = server(|stream| {
        answer_in_part(&stream)?;
        rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO))?;
        Ok(())
    });
    assert_eq!(failures_of_twenty(address), ["reset_within_response"]);
}

#[test]
fn a_long_request_arrives_whole_and_its_connection_is_used_again() {
    let (address, connections) = server(|mut stream| {
        loop {
            let mut head = [0; 4096];
            let mut seen = stream.read(&mut head)?;
            let length = head.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4 + HUGE_BYTES;
            let mut rest = vec![0; 1 << 20];
            while seen < length {
                let most = rest.len().min(length - seen);
                match stream.read(&mut rest[..most])? {
                    0 => return Ok(()),
                    count => seen += count,
                }
            }
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")?;
        }
    });
    let mut completed = 0;
    let measured = Measured::watched(&upload(address, HUGE_BYTES), |frame, running| {
        completed += frame.head.counts.completed;
        // More than one on one of the two connections.
        if completed > 2 && connections.load(Ordering::Relaxed) >= 2 {
            running.end_load();
        }
    });
    assert_eq!(measured.failures(), [""; 0]);
    assert_eq!(connections.load(Ordering::Relaxed), 2);
    assert!(measured.counts.bytes_out >= measured.counts.completed * HUGE_BYTES as u64);
}

#[test]
fn an_answer_before_the_request_is_written_costs_the_connection() {
    let (address, connections) = server(|mut stream| {
        stream.read_exact(&mut [0; 16])?;
        stream.write_all(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")?;
        // Nothing more is read: only a client that gives the connection up goes on.
        let closed = PollFlags::RDHUP | PollFlags::HUP;
        poll(&mut [PollFd::new(&stream, closed)], None)?;
        Ok(())
    });
    let order = StepSpec { duration: Duration::from_secs(60), ..upload(address, HUGE_BYTES) };
    let mut completed = 0;
    let measured = Measured::watched(&order, |frame, running| {
        completed += frame.head.counts.completed;
        if completed > 2 {
            running.end_load();
        }
    });
    assert_eq!(measured.failures(), [""; 0]);
    assert!(measured.counts.completed > 2, "{:?}", measured.counts);
    assert!(connections.load(Ordering::Relaxed) >= measured.counts.completed);
}

/// Answers before it has read the request, and resets the connection while the client still sends.
fn answer_and_reset(mut stream: TcpStream, answer: &[u8]) -> std::io::Result<()> {
    stream.read_exact(&mut [0; 16])?;
    // The client is in the middle of its request once its own buffer and this one are full.
    let mut seen = 0;
    while seen < 8 * 1024 * 1024 {
        seen += stream.read(&mut vec![0; 1 << 20])?;
    }
    stream.write_all(answer)?;
    rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO))?;
    Ok(())
}

#[test]
fn an_answer_that_comes_with_a_reset_while_the_request_is_sent_counts() {
    let (address, _) =
        server(|stream| answer_and_reset(stream, b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nno!"));
    let mut order = upload(address, HUGE_BYTES);
    order.requests_max = Some(40);
    order.duration = Duration::from_secs(600);
    let measured = Measured::new(&order);
    assert_eq!(measured.failures(), [""; 0]);
    assert_eq!(measured.counts.status.iter().collect::<Vec<_>>(), [(413, 40)]);
}

#[test]
fn a_reset_while_the_request_is_sent_is_named_after_what_came_before_it() {
    let failures = |serve| {
        let (address, _) = server(serve);
        let mut order = upload(address, HUGE_BYTES);
        order.requests_max = Some(10);
        order.duration = Duration::from_secs(600);
        Measured::new(&order).failures()
    };
    assert_eq!(failures(|stream| answer_and_reset(stream, b"")), ["send_reset"]);
    let begun =
        failures(|stream| answer_and_reset(stream, b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\n"));
    assert_eq!(begun, ["reset_within_response"]);
}

#[test]
fn long_requests_fill_a_pipeline_as_they_leave() {
    let nginx = Nginx::start().unwrap();
    for secure in [false, true] {
        let address = if secure { nginx.tls_address() } else { nginx.address() };
        let mut order = order(address, closed(2));
        let mut target = Target::parse("http://localhost/").unwrap();
        target.headers = vec![("X-Long".to_owned(), "x".repeat(7_000))];
        let bytes = target.encode().unwrap();
        order.traffic = Traffic::Fixed(FixedRequest::new(bytes, "GET"));
        order.tls = secure.then(|| super::layered::tls(&nginx, "localhost", false));
        order.depth = 64;
        order.requests_max = Some(640);
        order.duration = Duration::from_secs(600);
        let measured = Measured::new(&order);
        assert_eq!(measured.failures(), [""; 0]);
        assert_eq!(measured.counts.ok, 640);
    }
}
