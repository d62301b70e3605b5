//! An HTTP/2 server that answers, refuses and goes away as a test says.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use rustls::{ServerConfig, ServerConnection, StreamOwned};

const PREFACE_BYTES: usize = 24;
const REFUSED_STREAM: u32 = 7;

/// The settings of a server that sets nothing.
pub(crate) fn settings(settings: &[(u16, u32)]) -> Vec<u8> {
    let bytes = |(name, value): &(u16, u32)| [&name.to_be_bytes()[..], &value.to_be_bytes()].concat();
    frame(4, 0, 0, &settings.iter().flat_map(bytes).collect::<Vec<_>>())
}

/// A complete 200 without a body.
pub(crate) fn answer(stream: u32) -> Vec<u8> {
    frame(1, 5, stream, b"\x88")
}

pub(crate) fn refuse(stream: u32) -> Vec<u8> {
    frame(3, 0, stream, &REFUSED_STREAM.to_be_bytes())
}

/// No stream after `last` was or will be processed.
pub(crate) fn go_away(last: u32) -> Vec<u8> {
    frame(7, 0, 0, &[last.to_be_bytes(), 0_u32.to_be_bytes()].concat())
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Requests that were read together.
pub(crate) struct Batch<'a> {
    /// Connections before this one.
    pub(crate) connection: u64,
    /// Requests before these on their connection.
    pub(crate) before: u64,
    /// The stream of each request, and its body.
    pub(crate) requests: &'a [(u32, Vec<u8>)],
}

impl Batch<'_> {
    pub(crate) fn streams(&self) -> impl Iterator<Item = u32> {
        self.requests.iter().map(|(stream, _)| *stream)
    }
}

/// What a server does.
pub(crate) trait Play: Send + Sync + 'static {
    /// What it says first on a connection, so many having been before.
    fn greet(&self, _connection: u64) -> Vec<u8> {
        settings(&[])
    }

    /// What it says to requests.
    fn reply(&self, batch: &Batch<'_>) -> Vec<u8>;
}

impl<F: Fn(&Batch<'_>) -> Vec<u8> + Send + Sync + 'static> Play for F {
    fn reply(&self, batch: &Batch<'_>) -> Vec<u8> {
        self(batch)
    }
}

/// A running server. It never closes a connection before its client does, and ends with the test's process.
pub(crate) struct Refuser {
    pub(crate) address: SocketAddr,
    connections: Arc<AtomicU64>,
    /// The bodies of all requests, in the order in which they came.
    pub(crate) seen: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Refuser {
    pub(crate) fn start(play: impl Play) -> Self {
        Self::start_with(play, None)
    }

    pub(crate) fn start_with(play: impl Play, tls: Option<Arc<ServerConfig>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (connections, seen) = (Arc::new(AtomicU64::new(0)), Arc::new(Mutex::default()));
        let server = Self { address, connections: Arc::clone(&connections), seen: Arc::clone(&seen) };
        let play = Arc::new(play);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let number = connections.fetch_add(1, Ordering::SeqCst);
                let (play, seen, tls) = (Arc::clone(&play), Arc::clone(&seen), tls.clone());
                thread::spawn(move || {
                    let (mut stream, greeting) = (stream.unwrap(), play.greet(number));
                    let ended = match tls {
                        None => {
                            stream.write_all(&greeting).unwrap();
                            serve(stream, number, &*play, &seen)
                        }
                        Some(tls) => {
                            let mut connection = ServerConnection::new(tls).unwrap();
                            connection.writer().write_all(&greeting).unwrap();
                            serve(StreamOwned::new(connection, stream), number, &*play, &seen)
                        }
                    };
                    // A client that leaves is an ordinary end.
                    ended.unwrap_or_default();
                });
            }
        });
        server
    }

    pub(crate) fn connections(&self) -> u64 {
        self.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn requests(&self) -> u64 {
        self.seen.lock().unwrap().len() as u64
    }
}

/// A client's side of the talk, as far as it has come.
#[derive(Default)]
struct Inbound {
    bytes: Vec<u8>,
    began: bool,
    /// Requests whose bodies go on.
    open: Vec<(u32, Vec<u8>)>,
}

impl Inbound {
    /// The requests that are complete by now.
    fn take(&mut self) -> Vec<(u32, Vec<u8>)> {
        let mut whole = Vec::new();
        if !self.began && self.bytes.len() >= PREFACE_BYTES {
            self.bytes.drain(..PREFACE_BYTES);
            self.began = true;
        }
        while self.began
            && let Some([a, b, c, kind, flags, stream @ ..]) = self.bytes.first_chunk::<9>().copied()
        {
            let length = u32::from_be_bytes([0, a, b, c]) as usize;
            if self.bytes.len() < 9 + length {
                break;
            }
            let payload: Vec<u8> = self.bytes.drain(..9 + length).skip(9).collect();
            self.take_frame((kind, flags, u32::from_be_bytes(stream)), payload, &mut whole);
        }
        whole
    }

    fn take_frame(
        &mut self,
        (kind, flags, stream): (u8, u8, u32),
        payload: Vec<u8>,
        whole: &mut Vec<(u32, Vec<u8>)>,
    ) {
        match kind {
            0 => {
                self.open.iter_mut().filter(|open| open.0 == stream).for_each(|open| open.1.extend(&payload))
            }
            1 => self.open.push((stream, Vec::new())),
            _ => return,
        }
        if flags & 1 == 1
            && let Some(at) = self.open.iter().position(|open| open.0 == stream)
        {
            whole.push(self.open.remove(at));
        }
    }
}

fn serve(
    mut stream: impl Read + Write,
    connection: u64,
    play: &impl Play,
    seen: &Mutex<Vec<Vec<u8>>>,
) -> std::io::Result<()> {
    let (mut inbound, mut before, mut buffer) = (Inbound::default(), 0, vec![0; 1 << 20]);
    loop {
        let count = stream.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        inbound.bytes.extend_from_slice(&buffer[..count]);
        let requests = inbound.take();
        if requests.is_empty() {
            continue;
        }
        seen.lock().unwrap().extend(requests.iter().map(|(_, body)| body.clone()));
        stream.write_all(&play.reply(&Batch { connection, before, requests: &requests }))?;
        stream.flush()?;
        before += requests.len() as u64;
    }
}

/// What TLS servers of tests are made of: a configuration that lets a server speak before its client has ended the
/// handshake, and the certificate to trust, in PEM.
pub(crate) fn eager_tls() -> (Arc<ServerConfig>, Vec<u8>) {
    let signed = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::try_from(signed.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![signed.cert.der().clone()], key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    config.send_half_rtt_data = true;
    (Arc::new(config), signed.cert.pem().into_bytes())
}
