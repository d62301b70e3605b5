//! Readiness checks of hosts and services.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use plimsoll_plan::Ready;

/// The time limit of one check. A slow server is checked again.
const CHECK_WITHIN: Duration = Duration::from_secs(2);

/// Why a host or a service is not ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotReady {
    /// Nothing answers yet.
    Silent(String),
    /// Something answers, but without success: it may need other hosts first.
    Failing(String),
}

impl NotReady {
    /// The response, or the error.
    pub fn text(self) -> String {
        let (Self::Silent(text) | Self::Failing(text)) = self;
        text
    }
}

/// Checks once whether a unix socket accepts connections and, if `page` is given, whether a GET of it is answered with success.
///
/// # Errors
/// When it is not ready.
pub fn check_ready_unix(socket: &Path, page: Option<&str>, name: &str) -> Result<(), NotReady> {
    let stream = UnixStream::connect(socket).and_then(|stream| {
        stream.set_read_timeout(Some(CHECK_WITHIN))?;
        stream.set_write_timeout(Some(CHECK_WITHIN))?;
        Ok(stream)
    });
    let stream = stream.map_err(|error| silent("did not connect", error))?;
    page.map_or(Ok(()), |path| check_page(stream, path, name))
}

/// Checks once whether the service at this address is ready; requests for pages carry `name` as their host. A host of a lab must be
/// checked from a network from which it can be reached.
///
/// # Errors
/// When it is not ready.
pub fn check_ready(sign: &Ready, address: IpAddr, name: &str) -> Result<(), NotReady> {
    let (Ready::Tcp(port) | Ready::Page { port, .. }) = sign;
    let stream = connect(address, *port).map_err(|error| silent("did not connect", error))?;
    let Ready::Page { path, .. } = sign else { return Ok(()) };
    check_page(stream, path, name)
}

fn silent(what: &str, error: io::Error) -> NotReady {
    NotReady::Silent(format!("{what}: {error}"))
}

fn check_page(stream: impl Read + Write, path: &str, name: &str) -> Result<(), NotReady> {
    let line = first_line(stream, path, name).map_err(|error| silent("gave no answer", error))?;
    match line.split(' ').nth(1).and_then(|status| status.parse::<u16>().ok()) {
        Some(200..400) => Ok(()),
        _ => Err(NotReady::Failing(format!("was answered with `{}`", plimsoll_units::escape_control(&line)))),
    }
}

fn connect(address: IpAddr, port: u16) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&SocketAddr::from((address, port)), CHECK_WITHIN)?;
    stream.set_read_timeout(Some(CHECK_WITHIN))?;
    stream.set_write_timeout(Some(CHECK_WITHIN))?;
    Ok(stream)
}

/// Sends the request and returns the first line of the response, at most 200 bytes.
fn first_line(mut stream: impl Read + Write, path: &str, name: &str) -> io::Result<String> {
    const MAX_LINE_BYTES: u64 = 200;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n")?;
    let mut line = Vec::new();
    BufReader::new(stream).take(MAX_LINE_BYTES).read_until(b'\n', &mut line)?;
    Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
}
