//! Plays a case of HTTP/1.1.

use std::io::{self, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;

use super::case::Step;
use super::playback::{CONTROL_STATUS, Shared, close};
use crate::request_text::read_request;

/// Serves a connection to its end.
pub(super) fn serve(stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut played = false;
    while read_request(&mut reader).is_some() {
        if played {
            shared.note_reuse();
        }
        let Some(plays) = shared.begin_request() else { continue };
        if !plays {
            let control = format!("HTTP/1.1 {CONTROL_STATUS} Control\r\nContent-Length: 0\r\n\r\n");
            (&mut &*stream).write_all(control.as_bytes())?;
            continue;
        }
        played = true;
        for step in &shared.case.steps {
            if let Step::Send(bytes) = step {
                shared.send(stream, bytes)?;
            }
        }
        if shared.case.resets {
            // Closing with no time to linger resets.
            return Ok(set_socket_linger(stream, Some(Duration::ZERO))?);
        }
        if shared.case.closes {
            return close(stream);
        }
    }
    Ok(())
}
