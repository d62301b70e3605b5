//! A server that keeps every request it gets, connection by connection.

use std::io::{BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use plimsoll_testkit::read_request;

/// The requests of each connection, in the order of the connections' first.
type ReceivedRequests = Arc<Mutex<Vec<Vec<String>>>>;

/// A recording server. Its threads end with the connections that they serve.
pub(crate) struct Recorder {
    address: SocketAddr,
    seen: ReceivedRequests,
}

impl Recorder {
    /// Serves on a free port, for as long as the test's process lives.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, seen) = (listener.local_addr().unwrap(), ReceivedRequests::default());
        let kept = Arc::clone(&seen);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, seen) = (stream.unwrap(), Arc::clone(&kept));
                thread::spawn(move || serve(&stream, &seen));
            }
        });
        Self { address, seen }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/start?a=b", self.address)
    }

    /// What came since the last call of this, on the connections that carried a request.
    pub(crate) fn take(&self) -> Vec<Vec<String>> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }
}

/// Answers the requests of a connection until that ends.
fn serve(stream: &TcpStream, seen: &ReceivedRequests) {
    let mut reader = BufReader::new(stream);
    let mut place = None;
    while let Some(request) = read_request(&mut reader) {
        keep(seen, &mut place, request);
        let mut out = stream;
        if out.write_all(b"HTTP/1.1 200 OK\r\nX-Token: secret\r\nContent-Length: 2\r\n\r\nok").is_err() {
            return;
        }
    }
}

fn keep(seen: &ReceivedRequests, place: &mut Option<usize>, request: String) {
    let mut connections = seen.lock().unwrap();
    let place = *place.get_or_insert_with(|| {
        connections.push(Vec::new());
        connections.len() - 1
    });
    // A connection may still be busy when the next program's requests are already read.
    if let Some(requests) = connections.get_mut(place) {
        requests.push(request);
    }
}
