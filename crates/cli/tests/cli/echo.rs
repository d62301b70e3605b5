//! A server that keeps each request and answers it with its own body, over HTTP/1.1 or HTTP/2 as the client begins.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use plimsoll_http::h2::hpack::Decoder;

/// A request as the server received it, in the same form over both versions of HTTP.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Received {
    pub(crate) method: String,
    pub(crate) path: String,
    /// The `Host` header, or `:authority`.
    pub(crate) authority: String,
    /// The other headers in their order: names in lower case, values without the space around them.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Received {
    /// Method and path.
    pub(crate) fn line(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// The values of all headers of this name, given in lower case.
    pub(crate) fn values_of(&self, name: &str) -> Vec<&str> {
        self.headers.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_str()).collect()
    }

    fn push(&mut self, name: &str, value: &str) {
        let value = value.trim().to_owned();
        match name.to_ascii_lowercase().as_str() {
            ":method" => self.method = value,
            ":path" => self.path = value,
            ":authority" | "host" => self.authority = value,
            ":scheme" => assert_eq!(value, "http"),
            name => self.headers.push((name.to_owned(), value)),
        }
    }
}

/// The server. Its threads end with the test's process: nothing waits for them.
pub(crate) struct Echo {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Echo {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::default();
        let of_thread = Arc::clone(&received);
        thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                let received = Arc::clone(&of_thread);
                thread::spawn(move || serve(stream, &received));
            }
        });
        Self { address, received }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    pub(crate) fn forget(&self) {
        self.received.lock().unwrap().clear();
    }

    /// How often each request line came.
    pub(crate) fn lines(&self) -> BTreeMap<String, u64> {
        let mut lines = BTreeMap::new();
        self.received().iter().for_each(|request| *lines.entry(request.line()).or_default() += 1);
        lines
    }
}

/// Serves a connection until its client closes it.
fn serve(stream: TcpStream, received: &Mutex<Vec<Received>>) {
    let mut writer = stream.try_clone().unwrap();
    let mut reader = BufReader::new(stream);
    let keep = |request: &Received| received.lock().unwrap().push(request.clone());
    if reader.fill_buf().is_ok_and(|bytes| bytes.starts_with(b"PRI")) {
        serve_streams(&mut reader, &mut writer, keep);
    } else {
        while let Some(request) = read_http1(&mut reader) {
            keep(&request);
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", request.body.len());
            let body = if request.method == "HEAD" { "" } else { &request.body };
            if writer.write_all((head + body).as_bytes()).is_err() {
                return;
            }
        }
    }
}

/// Reads one request as its length says; `None` at the end of the connection.
fn read_http1(reader: &mut impl BufRead) -> Option<Received> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
        match line.trim_end() {
            "" => break,
            text => lines.push(text.to_owned()),
        }
    }
    let mut first = lines[0].split(' ').map(str::to_owned);
    let mut request = Received { method: first.next()?, path: first.next()?, ..Received::default() };
    for line in &lines[1..] {
        let (name, value) = line.split_once(':').unwrap();
        request.push(name, value);
    }
    let length = request.values_of("content-length").first().map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    request.body = String::from_utf8(body).unwrap();
    Some(request)
}

/// What a client says before its first frame.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const CONTINUATION: u8 = 9;
const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// The header block of the status 200.
const STATUS_OK: &[u8] = b"\x88";

/// Serves streams of HTTP/2 whose bodies fit into the windows that connections begin with.
fn serve_streams(reader: &mut impl Read, writer: &mut impl Write, keep: impl Fn(&Received)) {
    let mut preface = [0; PREFACE.len()];
    reader.read_exact(&mut preface).unwrap();
    assert_eq!(preface, PREFACE);
    let mut open: BTreeMap<u32, (Vec<u8>, Vec<u8>)> = BTreeMap::new();
    let mut out = frame(SETTINGS, 0, 0, b"");
    while writer.write_all(&out).is_ok() {
        out.clear();
        let Some((kind, flags, stream, payload)) = read_frame(reader) else { return };
        let (block, body) = open.entry(stream).or_default();
        match kind {
            HEADERS | CONTINUATION => block.extend(payload),
            DATA => body.extend(payload),
            SETTINGS if flags & ACK == 0 => out = frame(SETTINGS, ACK, 0, b""),
            GOAWAY => return,
            _ => {}
        }
        if matches!(kind, HEADERS | DATA) && flags & END_STREAM != 0 {
            assert!(kind == DATA || flags & END_HEADERS != 0, "a head in one frame");
            let request = decoded(block, body);
            keep(&request);
            out = frame(HEADERS, END_HEADERS, stream, STATUS_OK);
            let body = if request.method == "HEAD" { "" } else { &request.body };
            out.extend(frame(DATA, END_STREAM, stream, body.as_bytes()));
            open.remove(&stream);
        }
    }
}

fn decoded(block: &[u8], body: &[u8]) -> Received {
    let mut request = Received { body: String::from_utf8(body.to_vec()).unwrap(), ..Received::default() };
    let field = |name: &[u8], value: &[u8]| {
        request.push(std::str::from_utf8(name).unwrap(), std::str::from_utf8(value).unwrap());
    };
    Decoder::default().decode(block, field).unwrap();
    request
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Type, flags, stream and payload of the next frame.
fn read_frame(reader: &mut impl Read) -> Option<(u8, u8, u32, Vec<u8>)> {
    let mut head = [0; 9];
    reader.read_exact(&mut head).ok()?;
    let [a, b, c, kind, flags, stream @ ..] = head;
    let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
    reader.read_exact(&mut payload).ok()?;
    Some((kind, flags, u32::from_be_bytes(stream), payload))
}
