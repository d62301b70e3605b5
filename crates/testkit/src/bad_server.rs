//! A server that follows a script, one thread for each connection.

use std::io::{self, BufReader, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use rustix::net::sockopt::{set_socket_linger, set_tcp_nodelay};

use crate::request_text::read_request;
use crate::script::{Reply, Request, Script, Then};

/// The threads do little; tests with a thousand connections should not reserve much for them.
const STACK_BYTES: usize = 256 * 1024;

/// A running server. Dropping it closes all connections and waits for its threads.
pub struct BadServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

impl BadServer {
    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// # Panics
    /// When no port can be listened on or no thread started.
    #[expect(clippy::expect_used, reason = "a test without its server has nothing to show")]
    pub fn start(script: Script) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port on 127.0.0.1");
        let address = listener.local_addr().expect("the address of a listener");
        let listener = Arc::new(listener);
        let sockets = Mutex::new(Some(Sockets { listener: Arc::clone(&listener), streams: Vec::new() }));
        let (connections, requests) = (AtomicU64::new(0), AtomicU64::new(0));
        let shared = Arc::new(Shared { script, connections, requests, sockets, closed: Condvar::new() });
        let of_thread = Arc::clone(&shared);
        let acceptor =
            spawn(move || accept_all(&listener, &of_thread)).expect("a thread for a test's server");
        Self { address, shared, acceptor: Some(acceptor) }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Connections accepted so far.
    pub fn connections(&self) -> u64 {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Requests read whole so far, answered or not.
    pub fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::SeqCst)
    }
}

impl Drop for BadServer {
    fn drop(&mut self) {
        self.shared.close();
        // A thread that panicked has reported it.
        self.acceptor.take().map(JoinHandle::join);
    }
}

fn spawn(work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().stack_size(STACK_BYTES).spawn(work)
}

struct Shared {
    script: Script,
    connections: AtomicU64,
    requests: AtomicU64,
    /// `None` once the server is closed.
    sockets: Mutex<Option<Sockets>>,
    closed: Condvar,
}

struct Sockets {
    listener: Arc<TcpListener>,
    /// A connection closes when its thread lets it go.
    streams: Vec<Weak<TcpStream>>,
}

impl Shared {
    /// Closes the listener and all connections at once; their threads end by themselves.
    fn close(&self) {
        if let Some(sockets) = self.sockets.lock().take() {
            // On Linux this ends a waiting accept, and connecting is refused from now on. It can only fail if
            // the socket does not listen, and then no thread waits.
            rustix::net::shutdown(&sockets.listener, rustix::net::Shutdown::Both).ok();
            for stream in sockets.streams.iter().filter_map(Weak::upgrade) {
                // A connection that the client has closed already cannot be shut down, and need not be.
                stream.shutdown(Shutdown::Both).ok();
            }
        }
        self.closed.notify_all();
    }

    /// Waits for a span; false if the server was closed meanwhile.
    fn pause(&self, span: Duration) -> bool {
        let end = Instant::now() + span;
        let mut sockets = self.sockets.lock();
        while sockets.is_some() && !self.closed.wait_until(&mut sockets, end).timed_out() {}
        sockets.is_some()
    }

    /// Takes a connection in; nothing if the server is closed.
    fn admit(&self, stream: TcpStream) -> Option<Arc<TcpStream>> {
        let stream = Arc::new(stream);
        self.sockets.lock().as_mut()?.streams.push(Arc::downgrade(&stream));
        self.connections.fetch_add(1, Ordering::SeqCst);
        Some(stream)
    }
}

/// Serves each connection on a thread of its own until the listener is closed, and waits for all of them.
fn accept_all(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut threads = Vec::new();
    while let Ok((stream, _)) = listener.accept() {
        let Some(stream) = shared.admit(stream) else { break };
        let of_thread = Arc::clone(shared);
        threads.extend(spawn(move || {
            // A client that leaves in the middle is an ordinary end.
            serve(&stream, &of_thread).ok();
        }));
    }
    for thread in threads {
        thread.join().ok();
    }
}

/// Follows the script on one connection to its end. The connection closes when the caller lets it go.
fn serve(stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    set_tcp_nodelay(stream, true)?;
    let mut reader = BufReader::new(stream);
    let mut before_on_connection = 0;
    while let Some(text) = read_request(&mut reader) {
        let before_on_server = shared.requests.fetch_add(1, Ordering::SeqCst);
        let head_only = text.starts_with("HEAD ");
        let request = Request { before_on_server, before_on_connection, head_only };
        let reply = shared.script.reply(&request);
        send(stream, &reply, shared)?;
        before_on_connection += 1;
        match reply.then {
            Then::Read => {}
            Then::Close => break,
            // Closing with no time to linger drops what is unsent and resets.
            Then::Reset => return Ok(set_socket_linger(stream, Some(Duration::ZERO))?),
            Then::Kill => shared.close(),
        }
    }
    Ok(())
}

fn send(mut stream: &TcpStream, reply: &Reply, shared: &Shared) -> io::Result<()> {
    if !reply.delay.is_zero() && !shared.pause(reply.delay) {
        return Ok(());
    }
    if let Some(piece) = &reply.without_end {
        stream.write_all(&reply.bytes)?;
        loop {
            stream.write_all(piece)?;
        }
    }
    let Some((first_bytes, gap)) = reply.trickle else { return stream.write_all(&reply.bytes) };
    let (first, rest) = reply.bytes.split_at(first_bytes);
    stream.write_all(first)?;
    for byte in rest {
        if !shared.pause(gap) {
            break;
        }
        stream.write_all(&[*byte])?;
    }
    Ok(())
}
