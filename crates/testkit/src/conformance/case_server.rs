//! A server that plays one case to whatever client connects, and notes what the client does.
#![expect(clippy::expect_used, reason = "a test without its server has nothing to show")]

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use rustix::net::sockopt::set_tcp_nodelay;

use super::case::{Case, Suite};
use super::playback::{Pieces, Play, ServerView, Shared};
use super::{http1, http2};

/// A running server. [`CaseServer::finish`] waits until the client has closed all its connections.
pub struct CaseServer {
    address: SocketAddr,
    listener: Arc<TcpListener>,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

impl CaseServer {
    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// # Panics
    /// When no port can be listened on or no thread started.
    pub fn start(suite: Suite, case: &Case, pieces: Pieces, play: Play) -> Self {
        let listener =
            Arc::new(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port on 127.0.0.1"));
        let address = listener.local_addr().expect("the address of a listener");
        let shared = Arc::new(Shared::new(case.clone(), pieces, play));
        let (of_thread, accepting) = (Arc::clone(&shared), Arc::clone(&listener));
        let serve = match suite {
            Suite::Http1 => http1::serve,
            Suite::Http2 => http2::serve,
        };
        let acceptor = thread::spawn(move || accept_all(&accepting, &of_thread, serve));
        Self { address, listener, shared, acceptor: Some(acceptor) }
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes no more connections, waits for the client to close the others, and gives what it saw.
    pub fn finish(mut self) -> ServerView {
        self.stop();
        // A thread that panicked has reported it.
        self.acceptor.take().map(JoinHandle::join);
        self.shared.view()
    }

    /// On Linux this ends a waiting accept. It can only fail if the socket does not listen.
    fn stop(&self) {
        rustix::net::shutdown(&self.listener, rustix::net::Shutdown::Both).ok();
    }
}

impl Drop for CaseServer {
    fn drop(&mut self) {
        self.stop();
    }
}

fn accept_all(
    listener: &TcpListener,
    shared: &Arc<Shared>,
    serve: fn(&TcpStream, &Shared) -> io::Result<()>,
) {
    let mut threads = Vec::new();
    while let Ok((stream, _)) = listener.accept() {
        shared.begin_connection();
        let of_thread = Arc::clone(shared);
        threads.push(thread::spawn(move || {
            // A client that leaves in the middle is an ordinary end.
            set_tcp_nodelay(&stream, true).ok();
            serve(&stream, &of_thread).ok();
        }));
    }
    for thread in threads {
        thread.join().ok();
    }
}
