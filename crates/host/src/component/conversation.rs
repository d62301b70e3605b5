//! Requests and answers over one TCP connection that stays open between samples.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use plimsoll_units::{Clock, Instant, RealClock};

use super::error::{DEADLINE, ServerError, beginning};

/// The longest accepted answer. Typical answers of these servers are a hundredth of this.
pub(super) const MAX_ANSWER_BYTES: u64 = 1 << 20;

/// A client of a server with a plain TCP protocol.
pub(super) struct Conversation {
    address: String,
    /// Bytes sent first on each connection; the server answers them with one line. They may hold a password.
    pub(super) greeting: Option<Vec<u8>>,
    connection: Option<TcpStream>,
}

/// An answer that is read from the connection, at most [`MAX_ANSWER_BYTES`].
pub(super) type Answer<'a> = io::Take<BufReader<Timed<'a>>>;

impl Conversation {
    pub(super) fn new(address: &str) -> Self {
        Self { address: address.to_owned(), greeting: None, connection: None }
    }

    /// Sends a question and reads its answer. The server may have closed the idle connection, which shows only when it is
    /// used; the question is then sent once more on a new connection.
    pub(super) fn ask<T>(
        &mut self,
        question: &[u8],
        read: impl Fn(&mut Answer<'_>) -> Result<T, ServerError>,
    ) -> Result<T, ServerError> {
        let until = RealClock.now() + DEADLINE;
        if let Some(connection) = self.connection.take() {
            match self.exchange(connection, question, &read, until) {
                Err(ServerError::Broken(_)) => {}
                outcome => return outcome,
            }
        }
        let connection = self.connect(until)?;
        self.exchange(connection, question, &read, until)
    }

    /// The connection is kept only after a complete answer: leftover bytes would be taken for the next answer.
    fn exchange<T>(
        &mut self,
        connection: TcpStream,
        question: &[u8],
        read: &impl Fn(&mut Answer<'_>) -> Result<T, ServerError>,
        until: Instant,
    ) -> Result<T, ServerError> {
        Timed { connection: &connection, until }.write_all(question)?;
        let value = read(&mut answer(&connection, until))?;
        self.connection = Some(connection);
        Ok(value)
    }

    fn connect(&self, until: Instant) -> Result<TcpStream, ServerError> {
        let connection = self.first_reachable(until).map_err(ServerError::Unreachable)?;
        if let Some(greeting) = &self.greeting {
            Timed { connection: &connection, until }.write_all(greeting)?;
            accepted_line(&mut answer(&connection, until))?;
        }
        Ok(connection)
    }

    fn first_reachable(&self, until: Instant) -> io::Result<TcpStream> {
        let mut reason = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        for address in self.address.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, left(until)?) {
                Ok(connection) => {
                    connection.set_nodelay(true)?;
                    return Ok(connection);
                }
                Err(error) => reason = error,
            }
        }
        Err(reason)
    }
}

fn answer(connection: &TcpStream, until: Instant) -> Answer<'_> {
    BufReader::new(Timed { connection, until }).take(MAX_ANSWER_BYTES)
}

/// Reads one line of an answer, without its line end.
pub(super) fn line(answer: &mut impl BufRead) -> Result<String, ServerError> {
    let mut line = Vec::new();
    answer.read_until(b'\n', &mut line)?;
    if line.pop() != Some(b'\n') {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
}

/// Reads a line that is not a RESP error. Those begin with a dash; most often the server requires a password or rejects it.
pub(super) fn accepted_line(answer: &mut impl BufRead) -> Result<String, ServerError> {
    let line = line(answer)?;
    match line.strip_prefix('-') {
        Some(reason) => Err(ServerError::Refused {
            reason: beginning(reason),
            advice: "give its password, as in redis://:password@host:6379",
        }),
        None => Ok(line),
    }
}

/// Returns the time left until an instant. No time left is an error, since sockets reject a timeout of zero.
fn left(until: Instant) -> io::Result<Duration> {
    let left = until.since(RealClock.now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// A connection whose reads and writes share one deadline: a socket timeout would begin again with each call.
pub(super) struct Timed<'a> {
    connection: &'a TcpStream,
    until: Instant,
}

impl Read for Timed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.connection.set_read_timeout(Some(left(self.until)?))?;
        self.connection.read(buffer)
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.connection.set_write_timeout(Some(left(self.until)?))?;
        self.connection.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
