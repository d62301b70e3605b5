//! A server that follows a script, one thread for each connection.

use std::collections::HashMap;
use std::io::{self, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::sockopt::{set_socket_linger, set_tcp_nodelay};

use crate::inbound::Inbound;
use crate::script::{Place, Reply, Script, Then};

/// The threads do little; tests with a thousand connections should not reserve much for them.
const STACK_BYTES: usize = 256 * 1024;

/// A running server. Dropping it closes all connections and waits for its threads.
pub struct BadServer {
    address: SocketAddr,
    stage: Arc<Stage>,
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
        let stage = Arc::new(Stage::new(script, Arc::clone(&listener)));
        let of_thread = Arc::clone(&stage);
        stage.enter();
        spawn(move || {
            accept_all(&listener, &of_thread);
            drop(listener);
            of_thread.leave(None);
        })
        .expect("a thread for a test's server");
        Self { address, stage }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Connections accepted so far.
    pub fn connections(&self) -> u64 {
        self.stage.connections.load(Ordering::SeqCst)
    }

    /// Requests read whole so far, answered or not.
    pub fn requests(&self) -> u64 {
        self.stage.requests.load(Ordering::SeqCst)
    }
}

impl Drop for BadServer {
    fn drop(&mut self) {
        self.stage.close();
        let mut cast = self.stage.lock();
        while cast.threads > 0 {
            cast = self.stage.changed.wait(cast).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn spawn(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().stack_size(STACK_BYTES).spawn(work).map(drop)
}

/// What the threads of one server share.
struct Stage {
    script: Script,
    connections: AtomicU64,
    requests: AtomicU64,
    cast: Mutex<Cast>,
    changed: Condvar,
}

struct Cast {
    /// Nothing once the server is closed.
    listener: Option<Arc<TcpListener>>,
    open: HashMap<u64, Arc<TcpStream>>,
    threads: usize,
}

impl Stage {
    fn new(script: Script, listener: Arc<TcpListener>) -> Self {
        let cast = Cast { listener: Some(listener), open: HashMap::new(), threads: 0 };
        let (connections, requests) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { script, connections, requests, cast: Mutex::new(cast), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Cast> {
        self.cast.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self) {
        self.lock().threads += 1;
    }

    fn leave(&self, connection: Option<u64>) {
        let mut cast = self.lock();
        cast.threads -= 1;
        if let Some(connection) = connection {
            cast.open.remove(&connection);
        }
        self.changed.notify_all();
    }

    /// Closes the listener and all connections at once; their threads end by themselves.
    fn close(&self) {
        let mut cast = self.lock();
        if let Some(listener) = cast.listener.take() {
            // On Linux this ends a waiting accept, and connecting is refused from now on. It can only fail if
            // the socket does not listen, and then no thread waits.
            rustix::net::shutdown(&listener, rustix::net::Shutdown::Both).ok();
        }
        for (_, stream) in cast.open.drain() {
            // A connection that the client has closed already cannot be shut down, and need not be.
            stream.shutdown(Shutdown::Both).ok();
        }
        self.changed.notify_all();
    }

    /// Waits for a span; false if the server was closed meanwhile.
    fn pause(&self, span: Duration) -> bool {
        let end = Instant::now() + span;
        let mut cast = self.lock();
        while cast.listener.is_some() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            cast = self.changed.wait_timeout(cast, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        false
    }

    /// Takes a connection in; nothing if the server is closed.
    fn admit(&self, stream: TcpStream) -> Option<(u64, Arc<TcpStream>)> {
        let mut cast = self.lock();
        cast.listener.as_ref()?;
        let number = self.connections.fetch_add(1, Ordering::SeqCst);
        let stream = Arc::new(stream);
        cast.open.insert(number, Arc::clone(&stream));
        cast.threads += 1;
        Some((number, stream))
    }
}

fn accept_all(listener: &TcpListener, stage: &Arc<Stage>) {
    while let Ok((stream, _)) = listener.accept() {
        let Some((number, stream)) = stage.admit(stream) else { return };
        let of_thread = Arc::clone(stage);
        let spawned = spawn(move || {
            // A client that leaves in the middle is an ordinary end of the play.
            play(&stream, &of_thread).ok();
            drop(stream);
            of_thread.leave(Some(number));
        });
        if spawned.is_err() {
            stage.leave(Some(number));
        }
    }
}

/// Follows the script on one connection to its end. The connection closes when the caller lets it go.
fn play(stream: &TcpStream, stage: &Stage) -> io::Result<()> {
    set_tcp_nodelay(stream, true)?;
    let mut inbound = Inbound::new(stream);
    let mut of_connection = 0;
    while let Some(head_only) = inbound.next_is_head()? {
        let of_server = stage.requests.fetch_add(1, Ordering::SeqCst);
        let reply = stage.script.reply(&Place { of_server, of_connection, head_only });
        send(stream, &reply, stage)?;
        of_connection += 1;
        match reply.then {
            Then::Read => {}
            Then::Close => break,
            // Closing with no time to linger drops what is unsent and resets.
            Then::Reset => return Ok(set_socket_linger(stream, Some(Duration::ZERO))?),
            Then::Kill => stage.close(),
        }
    }
    Ok(())
}

fn send(mut stream: &TcpStream, reply: &Reply, stage: &Stage) -> io::Result<()> {
    if !reply.delay.is_zero() && !stage.pause(reply.delay) {
        return Ok(());
    }
    let Some((first_bytes, gap)) = reply.trickle else { return stream.write_all(&reply.bytes) };
    let (first, rest) = reply.bytes.split_at(first_bytes);
    stream.write_all(first)?;
    for byte in rest {
        if !stage.pause(gap) {
            break;
        }
        stream.write_all(&[*byte])?;
    }
    Ok(())
}
