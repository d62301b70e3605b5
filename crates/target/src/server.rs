//! The event loop.

use std::fs::File;
use std::io;
use std::mem;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use plimsoll_sys::{Listener, Poll, Ready, Socket, disable_timer_slack, out_of_descriptors, resource_limits};
use plimsoll_units::{Clock, RealClock, best_effort};

use crate::connection::{Connection, ResponseWriter, Turn};
use crate::service::Service;
use crate::slots::Slots;

/// Why the server could not start, or had to end.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error(
        "could not listen on {address} ({reason}); name an address of this machine and a port that is free \
         (port 0 takes any free one)"
    )]
    Listen { address: SocketAddr, reason: io::Error },
    #[error("could not wait for connections with epoll ({0}); check the limit of open files (`ulimit -n`)")]
    Wait(io::Error),
}

/// The longest time between two checks of the stop flag.
const STOP_CHECK: Duration = Duration::from_millis(50);
/// Maximum number of connections accepted in one turn. The others are accepted in the next one.
const ACCEPTS_PER_TURN: usize = 256;
/// Maximum number of bytes of one read. All connections share one buffer.
const READ_BYTES: usize = 64 * 1024;
/// The listener's token; `Slots` never assigns one so high.
const LISTENER: u64 = u64::MAX;

/// The reference server, which listens and does not respond yet.
pub struct Server {
    listener: Listener,
    poll: Poll,
    address: SocketAddr,
    served: Arc<AtomicU64>,
}

impl Server {
    /// Listens on an address; for port 0 the kernel chooses a free port. Clients can connect from now on, and get responses once
    /// [`Server::run`] is called. Raises this process's soft limit of open files, so that it does not limit the load.
    ///
    /// # Errors
    /// When the address cannot be listened on, or the process has no descriptor left.
    pub fn bind(address: SocketAddr) -> Result<Self, ServerError> {
        resource_limits();
        let refused = |reason| ServerError::Listen { address, reason };
        let listener = Listener::bind(address).map_err(refused)?;
        let address = listener.address().map_err(refused)?;
        let poll = Poll::new().map_err(ServerError::Wait)?;
        Ok(Self { listener, poll, address, served: Arc::new(AtomicU64::new(0)) })
    }

    /// The address that it listens on, with the actual port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The number of requests answered, which the caller can read while the server runs. A request counts when its response is
    /// passed to the kernel; requests to `/stats` and malformed ones do not count.
    pub fn served(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.served)
    }

    /// Serves until the flag is set, which it notices within 50 ms; then closes all connections.
    ///
    /// # Errors
    /// When the kernel refuses to watch the listener or to wait.
    pub fn run(self, stop: &AtomicBool) -> Result<(), ServerError> {
        disable_timer_slack();
        let outcome = EventLoop::new(self, stop).and_then(|mut event_loop| event_loop.run(stop));
        outcome.map_err(ServerError::Wait)
    }
}

struct EventLoop<'s> {
    listener: Listener,
    poll: Poll,
    /// A descriptor in reserve; see [`EventLoop::turn_away`].
    spare: Option<File>,
    connections: Slots<Connection>,
    writer: ResponseWriter<'s>,
    buffer: Vec<u8>,
    /// Connections that were interrupted to give the others their turn.
    unfinished: Vec<u64>,
}

impl<'s> EventLoop<'s> {
    fn new(server: Server, stop: &'s AtomicBool) -> io::Result<Self> {
        let Server { listener, poll, served, .. } = server;
        poll.watch_listener(&listener, LISTENER)?;
        let writer =
            ResponseWriter { service: Service::new(stop, served), answers: Vec::with_capacity(READ_BYTES) };
        Ok(Self {
            listener,
            poll,
            spare: spare_descriptor(),
            connections: Slots::new(),
            writer,
            buffer: vec![0; READ_BYTES],
            unfinished: Vec::new(),
        })
    }

    fn run(&mut self, stop: &AtomicBool) -> io::Result<()> {
        while !stop.load(Ordering::Relaxed) {
            self.poll.wait(self.longest_wait())?;
            // Timers go first, because a worker that is free by now can take a request of this turn.
            self.wake_due();
            while let Some(Ready { token, .. }) = self.poll.next_ready() {
                if token == LISTENER { self.accept() } else { self.turn(token) }
            }
            for token in mem::take(&mut self.unfinished) {
                self.turn(token);
            }
        }
        Ok(())
    }

    fn longest_wait(&self) -> Duration {
        if !self.unfinished.is_empty() {
            return Duration::ZERO;
        }
        let due = self.writer.service.delays.next_due();
        due.map_or(STOP_CHECK, |due| due.since(RealClock.now()).min(STOP_CHECK))
    }

    fn wake_due(&mut self) {
        if self.writer.service.delays.next_due().is_none() {
            return;
        }
        let now = RealClock.now();
        while let Some(token) = self.writer.service.delays.pop_due(now) {
            if let Some(connection) = self.connections.get_mut(token) {
                let turn = connection.wake(&mut self.writer, &mut self.buffer);
                self.settle(token, turn);
            }
        }
    }

    fn turn(&mut self, token: u64) {
        if let Some(connection) = self.connections.get_mut(token) {
            let turn = connection.turn(&mut self.writer, &mut self.buffer);
            self.settle(token, turn);
        }
    }

    fn settle(&mut self, token: u64, turn: Turn) {
        match turn {
            Turn::Parked => {}
            Turn::Again => self.unfinished.push(token),
            Turn::Closed => {
                self.connections.remove(token);
            }
        }
    }

    fn accept(&mut self) {
        for _ in 0..ACCEPTS_PER_TURN {
            match self.listener.accept() {
                Ok(socket) => self.welcome(socket),
                Err(error) if out_of_descriptors(&error) => return self.turn_away(),
                // No connection waits, or one was aborted before it was accepted.
                Err(_) => return,
            }
        }
    }

    fn welcome(&mut self, socket: Socket) {
        let poll = &self.poll;
        // A client that cannot be watched is closed, because its socket is dropped.
        let welcomed = self.connections.insert_with(|token| {
            let watched = poll.watch(&socket, token).is_ok();
            watched.then(|| Connection::new(socket, token))
        });
        if let Some(token) = welcomed {
            self.turn(token);
        }
    }

    /// Without a descriptor a client can be neither accepted nor closed, and the listener would stay ready and keep the loop
    /// busy. Giving up the reserved descriptor makes it possible to accept the client and close it.
    fn turn_away(&mut self) {
        self.spare = None;
        best_effort(self.listener.accept(), "a client that has gone away needs no descriptor");
        self.spare = spare_descriptor();
    }
}

fn spare_descriptor() -> Option<File> {
    File::open("/dev/null").ok()
}
