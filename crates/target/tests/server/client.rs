//! A running server and a plain client.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use plimsoll_target::{Server, ServerError};

/// Longer than anything here takes; only a hang reaches it.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server on its own thread, stopped and waited for when dropped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) served: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), ServerError>>>,
}

impl Running {
    pub(crate) fn start() -> Self {
        let server = Server::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let (address, served) = (server.address(), server.served());
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let thread = Some(thread::spawn(move || server.run(&flag)));
        Self { address, served, stop, thread }
    }

    pub(crate) fn client(&self) -> Client {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Client { stream, read: Vec::new() }
    }

    /// One request on a connection of its own.
    pub(crate) fn get(&self, target: &str) -> Answer {
        let mut client = self.client();
        client.get(target);
        client.answer()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let outcome = self.thread.take().unwrap().join();
        if !thread::panicking() {
            outcome.unwrap().unwrap();
        }
    }
}

/// An answer, with its chunks joined.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    fn field(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    read: Vec<u8>,
}

impl Client {
    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).unwrap();
    }

    pub(crate) fn get(&mut self, target: &str) {
        self.send(format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    }

    pub(crate) fn answer(&mut self) -> Answer {
        let mut answer = self.head();
        answer.body = if answer.field("Transfer-Encoding").is_some() {
            self.chunks()
        } else {
            let length = answer.field("Content-Length").map_or(0, |text| text.parse().unwrap());
            self.take(length)
        };
        answer
    }

    /// An answer of which only the head comes.
    pub(crate) fn head(&mut self) -> Answer {
        let head = String::from_utf8(self.take_through(b"\r\n\r\n")).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head, body: Vec::new() }
    }

    /// What comes until the server closes.
    pub(crate) fn rest(mut self) -> Vec<u8> {
        self.stream.read_to_end(&mut self.read).unwrap();
        self.read
    }

    fn chunks(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let line = String::from_utf8(self.take_through(b"\r\n")).unwrap();
            let bytes = usize::from_str_radix(line.trim_end(), 16).unwrap();
            body.extend(self.take(bytes));
            assert_eq!(self.take(2), b"\r\n");
            if bytes == 0 {
                return body;
            }
        }
    }

    fn take(&mut self, bytes: usize) -> Vec<u8> {
        while self.read.len() < bytes {
            self.read_more();
        }
        self.read.drain(..bytes).collect()
    }

    fn take_through(&mut self, end: &[u8]) -> Vec<u8> {
        loop {
            if let Some(at) = self.read.windows(end.len()).position(|window| window == end) {
                return self.read.drain(..at + end.len()).collect();
            }
            self.read_more();
        }
    }

    fn read_more(&mut self) {
        let mut buffer = vec![0; 256 * 1024];
        let bytes = self.stream.read(&mut buffer).unwrap();
        assert!(bytes > 0, "the server closed after {:?}", String::from_utf8_lossy(&self.read));
        self.read.extend_from_slice(&buffer[..bytes]);
    }
}
