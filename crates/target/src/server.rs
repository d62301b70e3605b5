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

/// Why the server could not be set up, or had to end.
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
/// Connections taken before those that are open have their turn; the others come again.
const ACCEPTS_PER_TURN: usize = 256;
/// Bytes read at once. All connections read into one buffer.
const READ_BYTES: usize = 64 * 1024;
/// The listener's token; slots give out none so high.
const LISTENER: u64 = u64::MAX;

/// The reference server: listening, not yet answering.
pub struct Server {
    listener: Listener,
    poll: Poll,
    address: SocketAddr,
    served: Arc<AtomicU64>,
}

impl Server {
    /// Listens on an address; port 0 takes a free one. Clients can connect from now on and are answered once
    /// [`Server::run`] is called. Raises this process's soft limit of open files, so that it is not the limit.
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

    /// Where it listens, with the port that was taken.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The number of requests answered, which can be watched from outside while the server runs. A request counts
    /// when its answer is handed to the kernel; those to `/stats` and what is no HTTP do not count.
    pub fn served(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.served)
    }

    /// Answers until the flag is set, which it sees within 50 ms; then closes all connections.
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
    /// Connections that were interrupted so that others have their turn.
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
            // Timers go first: a worker that is free by now is free for the requests of this round.
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
                // None waits, or one gave up before it was taken.
                Err(_) => return,
            }
        }
    }

    fn welcome(&mut self, socket: Socket) {
        let poll = &self.poll;
        // A client that cannot be watched is closed by dropping it.
        let welcomed = self.connections.insert_with(|token| {
            let watched = poll.watch(&socket, token).is_ok();
            watched.then(|| Connection::new(socket, token))
        });
        if let Some(token) = welcomed {
            self.turn(token);
        }
    }

    /// Without a descriptor a client can be neither taken nor turned away, and the listener would stay ready and
    /// the loop spin. The descriptor in reserve makes room to take it and close it.
    fn turn_away(&mut self) {
        self.spare = None;
        best_effort(self.listener.accept(), "a client that has gone away needs no descriptor");
        self.spare = spare_descriptor();
    }
}

fn spare_descriptor() -> Option<File> {
    File::open("/dev/null").ok()
}
