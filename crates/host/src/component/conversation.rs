//! Questions and answers over one TCP connection that stays open between samples.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use plimsoll_units::{Clock, Instant, RealClock};

use super::error::ComponentError;
use super::exchange::DEADLINE;

/// The longest answer; those of the servers asked here are a hundredth of it.
pub(super) const MAX_ANSWER_BYTES: u64 = 1 << 20;

/// A component that speaks over plain TCP.
#[derive(Debug)]
pub(super) struct Conversation {
    /// The component and its address, for errors.
    place: String,
    address: String,
    greeting: Option<Greeting>,
    connection: Option<TcpStream>,
}

/// The first bytes of a connection. They may hold a password, so that the printed form does not show them.
#[derive(Clone)]
pub(super) struct Greeting(pub(super) Vec<u8>);

impl fmt::Debug for Greeting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Greeting")
    }
}

/// The answer as it arrives, in lines or in counted bytes.
pub(super) type Answer<'a> = io::Take<BufReader<Timed<'a>>>;

impl Conversation {
    pub(super) fn new(what: &str, address: &str) -> Self {
        let place = format!("{what} at {address}");
        Self { place, address: address.to_owned(), greeting: None, connection: None }
    }

    /// Begins each new connection with this from now on; it is answered by one line.
    pub(super) fn greet_with(&mut self, greeting: Greeting) {
        self.greeting = Some(greeting);
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    pub(super) fn place(&self) -> &str {
        &self.place
    }

    /// Sends a question and reads its answer. The other side may have closed an open connection meanwhile, which shows only
    /// when it is used: then the question is sent once more on a new one.
    pub(super) fn ask<T>(
        &mut self,
        question: &[u8],
        read: impl Fn(&mut Answer<'_>) -> Result<T, ComponentError>,
    ) -> Result<T, ComponentError> {
        let until = RealClock.now() + DEADLINE;
        let open = self.connection.take();
        let was_open = open.is_some();
        let connection = open.map_or_else(|| self.connect(until), Ok)?;
        match self.exchange(connection, question, &read, until) {
            Err(ComponentError::Broken { .. }) if was_open => {
                let connection = self.connect(until)?;
                self.exchange(connection, question, &read, until)
            }
            outcome => outcome,
        }
    }

    /// The connection stays open only after a whole answer: the rest of this one would answer the next question.
    fn exchange<T>(
        &mut self,
        connection: TcpStream,
        question: &[u8],
        read: &impl Fn(&mut Answer<'_>) -> Result<T, ComponentError>,
        until: Instant,
    ) -> Result<T, ComponentError> {
        let mut sending = Timed { connection: &connection, until };
        sending.write_all(question).map_err(|error| ComponentError::broken(&self.place, &error))?;
        let value = read(&mut answer(&connection, until))?;
        self.connection = Some(connection);
        Ok(value)
    }

    fn connect(&self, until: Instant) -> Result<TcpStream, ComponentError> {
        let unreachable = |reason| ComponentError::Unreachable { place: self.place.clone(), reason };
        let connection = self.first_reachable(until).map_err(unreachable)?;
        let Some(Greeting(greeting)) = &self.greeting else { return Ok(connection) };
        let broken = |error: io::Error| ComponentError::broken(&self.place, &error);
        Timed { connection: &connection, until }.write_all(greeting).map_err(broken)?;
        let line = line(&mut answer(&connection, until), &self.place)?;
        match line.strip_prefix('-') {
            Some(reason) => Err(ComponentError::refused_password(&self.place, reason)),
            None => Ok(connection),
        }
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

/// One line of an answer, without its end.
pub(super) fn line(answer: &mut Answer<'_>, place: &str) -> Result<String, ComponentError> {
    let mut line = Vec::new();
    answer.read_until(b'\n', &mut line).map_err(|error| ComponentError::broken(place, &error))?;
    if line.pop() != Some(b'\n') {
        return Err(ComponentError::broken(place, &io::ErrorKind::UnexpectedEof.into()));
    }
    Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
}

/// The time left until an instant; none is an error, since a socket takes no timeout of zero.
fn left(until: Instant) -> io::Result<Duration> {
    let left = until.since(RealClock.now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// A connection whose reads and writes all end at one deadline: a timeout of the socket would begin again with each.
#[derive(Debug)]
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
