//! Detects a port that speaks TLS instead of plain HTTP.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use plimsoll_sys::Destination;
use plimsoll_tls::{Client, ServerName, TlsSettings};

/// The record types of an alert and of a handshake (RFC 8446, section 5.1).
const RECORDS: [u8; 2] = [21, 22];
/// The timeout; a TLS server answers at once.
const LONGEST: Duration = Duration::from_secs(1);

/// True if the peer answers a TLS ClientHello with a TLS record. No certificate is verified, and no request is sent.
pub(super) fn speaks_tls(peer: &Destination, host: &str) -> bool {
    first_byte(peer, host).is_ok_and(|first| RECORDS.contains(&first))
}

/// Returns the first byte of a peer's answer to a ClientHello.
fn first_byte(peer: &Destination, host: &str) -> io::Result<u8> {
    let address = peer.tcp().ok_or(io::ErrorKind::Unsupported)?;
    let client = Client::new(&TlsSettings { verify: false, ..TlsSettings::default() });
    let name = ServerName::parse(host).map_err(io::Error::other)?;
    let mut session = client.and_then(|client| client.session(&name)).map_err(io::Error::other)?;
    let mut greeting = Vec::new();
    session.start(&mut greeting).map_err(io::Error::other)?;
    let mut stream = TcpStream::connect_timeout(&address, LONGEST)?;
    stream.set_read_timeout(Some(LONGEST))?;
    stream.write_all(&greeting)?;
    let mut first = [0];
    stream.read_exact(&mut first)?;
    Ok(first[0])
}
