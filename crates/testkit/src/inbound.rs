//! Requests as a server reads them.

use std::io::{self, Read};
use std::net::TcpStream;

/// What is read at once.
const READ_BYTES: usize = 16 * 1024;

/// Reads requests from one connection, pipelined ones too. Bodies are taken by their Content-Length and dropped.
pub(crate) struct Inbound<'s> {
    stream: &'s TcpStream,
    read: Vec<u8>,
}

impl<'s> Inbound<'s> {
    /// Reads from this connection.
    pub(crate) fn new(stream: &'s TcpStream) -> Self {
        Self { stream, read: Vec::new() }
    }

    /// Waits for a whole request and says whether it was HEAD; nothing once the client has closed.
    pub(crate) fn next_is_head(&mut self) -> io::Result<Option<bool>> {
        let Some(head_bytes) = self.find_head()? else { return Ok(None) };
        let head = String::from_utf8_lossy(&self.read[..head_bytes]).into_owned();
        self.read.drain(..head_bytes);
        let body_bytes = content_length(&head);
        while self.read.len() < body_bytes {
            if !self.read_more()? {
                return Ok(None);
            }
        }
        self.read.drain(..body_bytes);
        Ok(Some(head.starts_with("HEAD ")))
    }

    fn find_head(&mut self) -> io::Result<Option<usize>> {
        const END: &[u8] = b"\r\n\r\n";
        loop {
            if let Some(at) = self.read.windows(END.len()).position(|window| window == END) {
                return Ok(Some(at + END.len()));
            }
            if !self.read_more()? {
                return Ok(None);
            }
        }
    }

    fn read_more(&mut self) -> io::Result<bool> {
        let mut buffer = [0; READ_BYTES];
        let bytes = self.stream.read(&mut buffer)?;
        self.read.extend_from_slice(&buffer[..bytes]);
        Ok(bytes > 0)
    }
}

fn content_length(head: &str) -> usize {
    let fields = head.lines().filter_map(|line| line.split_once(':'));
    let mut lengths = fields.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    lengths.next().and_then(|(_, length)| length.trim().parse().ok()).unwrap_or(0)
}
