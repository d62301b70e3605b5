//! What carries the protocol: lines of JSON over a Unix socket or a pipe, and the traits that any other carrier implements.

use std::fmt::Debug;
use std::io::{self, BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::protocol::{Command, Message};

/// The longest line, a hundred times the longest frame seen.
const MAX_LINE_BYTES: u64 = 1 << 24;

/// Sends to the other side of a channel.
pub trait SendTo<T>: Debug + Send {
    /// Sends one value.
    ///
    /// # Errors
    /// When the other side is gone.
    fn send(&mut self, value: &T) -> io::Result<()>;

    /// Everything that the other side has sent up to this number of values is safe here, and need not be sent again. Says
    /// nothing where a channel that breaks cannot be taken up again.
    fn kept(&mut self, _values: u64) {}

    /// Closes both directions, so that the other side notices; false if it had closed them before.
    fn close(&mut self) -> bool;
}

/// Receives from the other side of a channel.
pub trait ReceiveFrom<T>: Send {
    /// Waits for the next value; `None` once the other side has closed the channel.
    ///
    /// # Errors
    /// When the channel breaks, or carries something else.
    fn receive(&mut self) -> io::Result<Option<T>>;
}

/// Both directions between two processes.
pub struct Channel<Out, In> {
    /// What the other side is called, if the carrier knows a name.
    pub name: Option<String>,
    pub sender: Box<dyn SendTo<Out>>,
    pub receiver: Box<dyn ReceiveFrom<In>>,
}

/// Where a coordinator's peers arrive.
pub trait Rendezvous {
    /// How long after the command a step begins, so that the command reaches every peer before.
    fn head_start(&self) -> Duration {
        Duration::from_millis(40)
    }

    /// Whether the coordinator makes a share of the load itself.
    fn coordinator_takes_part(&self) -> bool {
        true
    }

    /// The channel to a peer that has arrived; `None` if no other one has.
    ///
    /// # Errors
    /// When no peer can arrive any more.
    fn arrived(&mut self) -> io::Result<Option<Channel<Command, Message>>>;
}

/// Writes a value as one line of JSON.
///
/// # Errors
/// When it cannot be written.
pub fn send_line(to: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    to.write_all(&line)?;
    to.flush()
}

/// Reads one line of JSON; `None` at the end.
///
/// # Errors
/// When it cannot be read, or is no `T`.
pub fn receive_line<T: DeserializeOwned>(from: &mut impl BufRead) -> io::Result<Option<T>> {
    let mut line = Vec::new();
    let read = io::Read::take(from, MAX_LINE_BYTES).read_until(b'\n', &mut line)?;
    if read == 0 { Ok(None) } else { Ok(Some(serde_json::from_slice(&line)?)) }
}

/// A channel over a Unix socket.
///
/// # Errors
/// When the socket cannot be shared between the two directions.
pub fn socket_channel<Out, In>(stream: UnixStream) -> io::Result<Channel<Out, In>>
where
    Out: Serialize,
    In: DeserializeOwned,
{
    let receiver = BufReader::new(stream.try_clone()?);
    Ok(Channel { name: None, sender: Box::new(stream), receiver: Box::new(receiver) })
}

impl<T: Serialize> SendTo<T> for UnixStream {
    fn send(&mut self, value: &T) -> io::Result<()> {
        send_line(self, value)
    }

    fn close(&mut self) -> bool {
        self.shutdown(Shutdown::Both).is_ok()
    }
}

impl<T: DeserializeOwned> ReceiveFrom<T> for BufReader<UnixStream> {
    fn receive(&mut self) -> io::Result<Option<T>> {
        receive_line(self)
    }
}

impl Rendezvous for UnixListener {
    fn arrived(&mut self) -> io::Result<Option<Channel<Command, Message>>> {
        self.set_nonblocking(true)?;
        match self.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false)?;
                socket_channel(stream).map(Some)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
}
