//! Questions and answers over one TCP connection that is kept between samples.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use super::DEADLINE;
use super::trouble::Trouble;

/// An answer may be this long; those of the servers asked here are a hundredth of it.
pub(super) const ANSWER_BYTES_MAX: u64 = 1 << 20;

/// A component that speaks over plain TCP.
#[derive(Debug)]
pub(super) struct Conversation {
    /// The component and its address, for errors.
    place: String,
    address: String,
    greeting: Option<Greeting>,
    connection: Option<TcpStream>,
}

/// What a connection begins with. It may hold a password, so its printed form does not show it.
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

    /// From now on each new connection begins with this, which is answered by one line.
    pub(super) fn greet_with(&mut self, greeting: Greeting) {
        self.greeting = Some(greeting);
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    pub(super) fn place(&self) -> &str {
        &self.place
    }

    /// Sends a question and reads its answer. A kept connection may have been closed by the other side meanwhile, which
    /// shows only when it is used: then the question is put once more on a new one.
    pub(super) fn ask<T>(
        &mut self,
        question: &[u8],
        read: impl Fn(&mut Answer<'_>) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let until = Instant::now() + DEADLINE;
        let kept = self.connection.take();
        let was_kept = kept.is_some();
        let connection = kept.map_or_else(|| self.connect(until), Ok)?;
        match self.exchange(connection, question, &read, until) {
            Err(Trouble::Broken { .. }) if was_kept => {
                let connection = self.connect(until)?;
                self.exchange(connection, question, &read, until)
            }
            outcome => outcome,
        }
    }

    /// The connection is kept only after a whole answer: another question would be answered by the rest of this one.
    fn exchange<T>(
        &mut self,
        connection: TcpStream,
        question: &[u8],
        read: &impl Fn(&mut Answer<'_>) -> Result<T, Trouble>,
        until: Instant,
    ) -> Result<T, Trouble> {
        let mut sending = Timed { connection: &connection, until };
        sending.write_all(question).map_err(|error| Trouble::broken(&self.place, &error))?;
        let told = read(&mut answer(&connection, until))?;
        self.connection = Some(connection);
        Ok(told)
    }

    fn connect(&self, until: Instant) -> Result<TcpStream, Trouble> {
        let unreachable = |reason| Trouble::Unreachable { place: self.place.clone(), reason };
        let connection = self.first_reachable(until).map_err(unreachable)?;
        let Some(Greeting(greeting)) = &self.greeting else { return Ok(connection) };
        let broken = |error: io::Error| Trouble::broken(&self.place, &error);
        Timed { connection: &connection, until }.write_all(greeting).map_err(broken)?;
        let line = line(&mut answer(&connection, until), &self.place)?;
        match line.strip_prefix('-') {
            Some(reason) => Err(Trouble::refused_password(&self.place, reason)),
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
    BufReader::new(Timed { connection, until }).take(ANSWER_BYTES_MAX)
}

/// One line of an answer, without its end.
pub(super) fn line(answer: &mut Answer<'_>, place: &str) -> Result<String, Trouble> {
    let mut line = Vec::new();
    answer.read_until(b'\n', &mut line).map_err(|error| Trouble::broken(place, &error))?;
    if line.pop() != Some(b'\n') {
        return Err(Trouble::broken(place, &io::ErrorKind::UnexpectedEof.into()));
    }
    Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
}

/// What is left until an instant; none is an error, for sockets take no timeout of zero.
fn left(until: Instant) -> io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// A connection whose every read and write ends at one deadline: a timeout of the socket would begin anew with each.
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
