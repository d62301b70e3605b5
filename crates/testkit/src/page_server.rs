//! A server whose answers are a function of what is asked for.

use std::io::{self, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use parking_lot::Mutex;

use crate::request_text::read_request;

/// What is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    Page {
        status: u16,
        body: String,
    },
    /// Nothing; the connection stays open until the client closes it.
    Silence,
}

/// A running server on a free port of 127.0.0.1. Dropping it ends it.
pub struct PageServer {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
    acceptor: Option<JoinHandle<()>>,
    listener: Arc<TcpListener>,
}

impl PageServer {
    /// Starts a server that answers a request by its target, such as `/path?query`, as it is sent.
    ///
    /// # Panics
    /// When no port can be listened on.
    #[expect(clippy::expect_used, reason = "a test without its server has nothing to show")]
    pub fn start(reply: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Self {
        let listener =
            Arc::new(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port on 127.0.0.1"));
        let address = listener.local_addr().expect("the address of a listener");
        let heads = Arc::new(Mutex::new(Vec::new()));
        let (of_thread, seen, reply) = (Arc::clone(&listener), Arc::clone(&heads), Arc::new(reply));
        let accept = move || {
            while let Ok((stream, _)) = of_thread.accept() {
                let (seen, reply) = (Arc::clone(&seen), Arc::clone(&reply));
                // A client that leaves in the middle is an ordinary end.
                thread::spawn(move || serve(&stream, &seen, &*reply).ok());
            }
        };
        Self { address, heads, acceptor: Some(thread::spawn(accept)), listener }
    }

    /// `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The heads of all requests so far, in order.
    pub fn heads(&self) -> Vec<String> {
        self.heads.lock().clone()
    }
}

impl Drop for PageServer {
    fn drop(&mut self) {
        // On Linux this ends a waiting accept; it fails only if nothing waits.
        rustix::net::shutdown(&self.listener, rustix::net::Shutdown::Both).ok();
        // A thread that panicked has reported it.
        self.acceptor.take().map(JoinHandle::join);
    }
}

fn serve(mut stream: &TcpStream, seen: &Mutex<Vec<String>>, reply: &dyn Fn(&str) -> Reply) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    while let Some(head) = read_request(&mut reader) {
        let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
        seen.lock().push(head);
        match reply(&target) {
            Reply::Page { status, body } => {
                let length = body.len();
                write!(stream, "HTTP/1.1 {status} Because\r\nContent-Length: {length}\r\n\r\n{body}")?;
            }
            Reply::Silence => {}
        }
    }
    Ok(())
}
