//! A client over a blocking socket: the least that puts the connection to use.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use plimsoll_http::h2::{self, Connection, Event, Memory};
use plimsoll_http::{Expect, Request, Version};

use super::invariance::{Observed, note};

/// How long a real server may take for anything.
const PATIENCE: Duration = Duration::from_secs(20);
/// A read; small enough that frames come in pieces.
const READ_BYTES: usize = 10_000;

/// One connection to a real server.
pub(crate) struct Client {
    socket: TcpStream,
    address: SocketAddr,
    pub(crate) connection: Connection,
    memory: Memory,
    out: Vec<u8>,
    pub(crate) seen: Vec<Observed>,
    /// Requests sent whose end was not seen.
    open: usize,
}

impl Client {
    /// Connects, opens, and waits for the server's settings.
    pub(crate) fn connect(address: SocketAddr, connection: Connection) -> Self {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.set_write_timeout(Some(PATIENCE)).unwrap();
        let (memory, out, seen) = (Memory::default(), Vec::new(), Vec::new());
        let mut client = Self { socket, address, connection, memory, out, seen, open: 0 };
        client.connection.open(&mut client.out);
        client.turn();
        client
    }

    /// Sends a request, tagged with `tag`; false when there is no capacity.
    pub(crate) fn send(&mut self, tag: u32, method: &str, path: &str, body: &[u8], observe: bool) -> bool {
        let request = Request {
            method,
            secure: false,
            authority: self.address.to_string(),
            path: path.as_bytes(),
            headers: Vec::new(),
            body,
            user_agent: None,
        };
        let (bytes, head_bytes) = request.encode(Version::Http2).unwrap().to_bytes();
        let (block, body) = bytes.split_at(head_bytes);
        let expect = if method == "HEAD" { Expect::NoBody } else { Expect::Body };
        let request = h2::Request { tag, block, body, expect, observe };
        let sent = self.connection.request(&request, &mut self.memory, &mut self.out);
        self.open += usize::from(sent);
        sent
    }

    /// Sends what there is to send and takes one read. False at the end of the stream.
    pub(crate) fn turn(&mut self) -> bool {
        self.socket.write_all(&self.out).unwrap();
        self.out.clear();
        let mut bytes = [0; READ_BYTES];
        let len = self.socket.read(&mut bytes).unwrap();
        let seen = &mut self.seen;
        let before = seen.iter().filter(|seen| matches!(seen, Observed::Ended(..))).count();
        let read = &bytes[..len];
        self.connection
            .receive(read, &mut self.memory, &mut self.out, &mut |event| note(seen, event))
            .unwrap();
        self.open -= seen.iter().filter(|seen| matches!(seen, Observed::Ended(..))).count() - before;
        len > 0
    }

    /// Turns until every request has ended, and gives what was seen, in the order of tags.
    pub(crate) fn finish(&mut self) -> Vec<Observed> {
        while self.open > 0 {
            assert!(self.turn(), "the server closed with {} requests open", self.open);
        }
        let mut seen = std::mem::take(&mut self.seen);
        seen.sort_by_key(|seen| match seen {
            Observed::Field(tag, ..) | Observed::Body(tag, _) | Observed::Ended(tag, _) => *tag,
        });
        seen
    }

    /// Sends one request and gives status and length of its response.
    pub(crate) fn ask(&mut self, method: &str, path: &str, body: &[u8]) -> (u16, u64) {
        assert!(self.send(0, method, path, body, false));
        status_and_length(&self.finish()[0])
    }
}

/// Of a request that was answered.
pub(crate) fn status_and_length(seen: &Observed) -> (u16, u64) {
    match seen {
        Observed::Ended(_, Event::Answered { response, .. }) => (response.status, response.body_bytes),
        other => panic!("{other:?}"),
    }
}
