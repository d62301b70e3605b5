//! Whether what runs on a host is ready.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use plimsoll_plan::Ready;

/// How long one look may take. A server that is slow to answer is asked again.
const LOOK_WITHIN: Duration = Duration::from_secs(2);

/// Looks once, from where the lab's hosts can be reached.
///
/// # Errors
/// When it is not ready yet, with what was seen.
pub(crate) fn look(sign: &Ready, address: Ipv4Addr, name: &str) -> Result<(), String> {
    match sign {
        Ready::Tcp(port) => {
            connect(address, *port).map(drop).map_err(|error| format!("did not connect: {error}"))
        }
        Ready::Page { port, path } => {
            let stream = connect(address, *port).map_err(|error| format!("did not connect: {error}"))?;
            let line = first_line(stream, path, name).map_err(|error| format!("gave no answer: {error}"))?;
            let status = line.split(' ').nth(1).and_then(|status| status.parse::<u16>().ok());
            match status {
                Some(200..400) => Ok(()),
                _ => Err(format!("was answered with `{}`", plimsoll_units::escape_control(&line))),
            }
        }
    }
}

fn connect(address: Ipv4Addr, port: u16) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&SocketAddr::from((address, port)), LOOK_WITHIN)?;
    stream.set_read_timeout(Some(LOOK_WITHIN))?;
    stream.set_write_timeout(Some(LOOK_WITHIN))?;
    Ok(stream)
}

/// The first line of the answer, up to some length.
fn first_line(mut stream: TcpStream, path: &str, name: &str) -> io::Result<String> {
    const LINE_BYTES_MAX: u64 = 200;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n")?;
    let mut line = Vec::new();
    BufReader::new(stream).take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
    Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
}
