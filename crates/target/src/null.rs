//! A server that does as little as possible, so that a load on it meets the limit of the client.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use plimsoll_sys::{Cores, Listener, Poll, Ready, Socket};
use plimsoll_units::best_effort;

use crate::server::ServerError;
use crate::slots::Slots;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
/// The end of every request, because requests have no body.
const END: &[u8] = b"\r\n\r\n";
/// The longest time between two checks of the stop flag.
const STOP_CHECK: Duration = Duration::from_millis(20);
/// Maximum number of bytes of one read, and of responses of one write.
const READ_BYTES: usize = 64 * 1024;
const MAX_ANSWERS: usize = 1024;
/// The listener's token; `Slots` never assigns one so high.
const LISTENER: u64 = u64::MAX;

/// A null server on loopback. It responds in a thread of its own until it is dropped.
///
/// It sends the same 40 bytes for each end of a head, and parses nothing: a single request costs one read and one write. It is
/// for requests without a body, from a trusted client.
#[derive(Debug)]
pub struct NullServer {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl NullServer {
    /// Starts the server on a free loopback port. With a `core`, its thread is bound to that core if the system allows
    /// it.
    ///
    /// # Errors
    /// When no port, descriptor or thread is available.
    pub fn start(core: Option<u32>) -> Result<Self, ServerError> {
        let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let refused = |reason| ServerError::Listen { address: anywhere, reason };
        let listener = Listener::bind(anywhere).map_err(refused)?;
        let address = listener.address().map_err(refused)?;
        let poll = Poll::new().map_err(ServerError::Wait)?;
        poll.watch_listener(&listener, LISTENER).map_err(ServerError::Wait)?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let work = move || {
            if let Some(core) = core {
                best_effort(Cores::only(core).bind(), "it answers from whichever core the system gives it");
            }
            EventLoop::new(listener, poll).run(&stopped);
        };
        let thread = thread::Builder::new().name("null-server".to_owned()).spawn(work);
        let thread = thread.map_err(ServerError::Wait)?;
        Ok(Self { address, stop, thread: Some(thread) })
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for NullServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            best_effort(thread.join(), "a thread that panicked has reported it");
        }
    }
}

/// A client, the number of bytes of [`END`] matched so far, and the number of response bytes still to send.
struct Client {
    socket: Socket,
    matched: usize,
    owed_bytes: usize,
}

struct EventLoop {
    listener: Listener,
    poll: Poll,
    clients: Slots<Client>,
    buffer: Vec<u8>,
    answers: Vec<u8>,
}

impl EventLoop {
    fn new(listener: Listener, poll: Poll) -> Self {
        let (buffer, answers) = (vec![0; READ_BYTES], ANSWER.repeat(MAX_ANSWERS));
        Self { listener, poll, clients: Slots::new(), buffer, answers }
    }

    fn run(&mut self, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) && self.poll.wait(STOP_CHECK).is_ok() {
            while let Some(ready) = self.poll.next_ready() {
                self.serve(ready);
            }
        }
    }

    fn serve(&mut self, ready: Ready) {
        if ready.token == LISTENER {
            return self.accept();
        }
        let Some(client) = self.clients.get_mut(ready.token) else { return };
        if client.turn(&mut self.buffer, &self.answers).is_err() {
            self.clients.remove(ready.token);
        }
    }

    fn accept(&mut self) {
        while let Ok(socket) = self.listener.accept() {
            let poll = &self.poll;
            self.clients.insert_with(|token| {
                let watched = poll.watch(&socket, token).is_ok();
                watched.then(|| Client { socket, matched: 0, owed_bytes: 0 })
            });
        }
    }
}

impl Client {
    /// Writes pending responses, reads requests and responds to them. An error ends the connection.
    fn turn(&mut self, buffer: &mut [u8], answers: &[u8]) -> io::Result<()> {
        loop {
            if !self.pay(answers)? {
                // Do not read from a client that does not read its responses.
                return Ok(());
            }
            let count = match self.socket.receive(buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            self.owed_bytes += self.requests_in(&buffer[..count]) * ANSWER.len();
            if count < buffer.len() {
                // A stream that returned fewer bytes than the buffer holds is empty (epoll(7)).
                return self.pay(answers).map(|_| ());
            }
        }
    }

    fn requests_in(&mut self, bytes: &[u8]) -> usize {
        let mut ended = 0;
        for byte in bytes {
            self.matched = match self.matched {
                matched if *byte == END[matched] => matched + 1,
                _ => usize::from(*byte == END[0]),
            };
            if self.matched == END.len() {
                self.matched = 0;
                ended += 1;
            }
        }
        ended
    }

    /// Writes pending responses; returns true if none are left.
    fn pay(&mut self, answers: &[u8]) -> io::Result<bool> {
        while self.owed_bytes > 0 {
            // The rest of a partly sent response comes first.
            let begin = (ANSWER.len() - self.owed_bytes % ANSWER.len()) % ANSWER.len();
            let end = answers.len().min(begin + self.owed_bytes);
            match self.socket.send(&answers[begin..end]) {
                Ok(count) => self.owed_bytes -= count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpStream;

    fn connect(server: &NullServer) -> TcpStream {
        let stream = TcpStream::connect(server.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    #[test]
    fn each_request_gets_one_answer_however_it_arrives() {
        let server = NullServer::start(None).unwrap();
        let mut stream = connect(&server);
        for part in ["GET / HTTP/1.1\r\nHost: x\r\n\r", "\nGET / HTTP/1.1\r\n\r\nGET", " / HTTP/1.1\r\n\r\n"]
        {
            stream.write_all(part.as_bytes()).unwrap();
        }
        let mut answers = vec![0; 3 * ANSWER.len()];
        stream.read_exact(&mut answers).unwrap();
        assert_eq!(answers, ANSWER.repeat(3));
    }

    #[test]
    fn a_client_that_reads_late_misses_nothing() {
        const REQUESTS: usize = 200_000;
        let server = NullServer::start(None).unwrap();
        let mut stream = connect(&server);
        let mut writer = stream.try_clone().unwrap();
        let writing = thread::spawn(move || writer.write_all(&b"GET / HTTP/1.1\r\n\r\n".repeat(REQUESTS)));
        let mut answers = vec![0; REQUESTS * ANSWER.len()];
        stream.read_exact(&mut answers).unwrap();
        assert!(answers.chunks(ANSWER.len()).all(|answer| answer == ANSWER));
        writing.join().unwrap().unwrap();
    }

    #[test]
    fn a_server_that_is_dropped_is_gone() {
        let server = NullServer::start(Some(0)).unwrap();
        let address = server.address();
        drop(server);
        assert!(TcpStream::connect(address).is_err());
    }
}
