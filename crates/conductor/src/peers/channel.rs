//! The transport of the protocol: lines of JSON over a Unix socket or a pipe, and the traits that other transports implement.

use std::fmt::Debug;
use std::io::{self, BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::protocol::{Command, Message};

/// The longest line in bytes, a hundred times the longest frame observed.
const MAX_LINE_BYTES: u64 = 1 << 24;

/// Sends to the other side of a channel.
pub trait SendTo<T>: Debug + Send {
    /// Sends one value.
    ///
    /// # Errors
    /// When the other side is gone.
    fn send(&mut self, value: &T) -> io::Result<()>;

    /// Confirms that the first `_values` values from the other side are stored safely here and need not be sent again. Does
    /// nothing for a channel that cannot be resumed after a break.
    fn kept(&mut self, _values: u64) {}

    /// Closes both directions, so that the other side notices; false if the other side had closed them before.
    fn close(&mut self) -> bool;
}

/// Receives from the other side of a channel.
pub trait ReceiveFrom<T>: Send {
    /// Waits for the next value; `None` once the other side has closed the channel.
    ///
    /// # Errors
    /// When the channel breaks, or a value cannot be parsed.
    fn receive(&mut self) -> io::Result<Option<T>>;
}

/// A bidirectional channel between two processes.
pub struct Channel<Out, In> {
    /// The name of the other side, if the transport knows one.
    pub name: Option<String>,
    pub sender: Box<dyn SendTo<Out>>,
    pub receiver: Box<dyn ReceiveFrom<In>>,
}

/// Accepts the channels of a coordinator's peers.
pub trait Rendezvous {
    /// The time between the command for a step and the start of the step, in which the command must reach every peer.
    fn head_start(&self) -> Duration {
        Duration::from_millis(40)
    }

    /// True if the coordinator makes a share of the load itself.
    fn coordinator_takes_part(&self) -> bool {
        true
    }

    /// Returns the channel to a newly arrived peer; `None` if there is none at present.
    ///
    /// # Errors
    /// When no further peer can arrive.
    fn arrived(&mut self) -> io::Result<Option<Channel<Command, Message>>>;
}

/// Writes a value as one line of JSON.
///
/// # Errors
/// When the line cannot be written.
pub fn send_line(to: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    to.write_all(&line)?;
    to.flush()
}

/// Reads one line of JSON; `None` at the end of the stream.
///
/// # Errors
/// When the line cannot be read, or does not parse as a `T`.
pub fn receive_line<T: DeserializeOwned>(from: &mut impl BufRead) -> io::Result<Option<T>> {
    let mut line = Vec::new();
    let read = io::Read::take(from, MAX_LINE_BYTES).read_until(b'\n', &mut line)?;
    if read == 0 { Ok(None) } else { Ok(Some(serde_json::from_slice(&line)?)) }
}

/// Opens a channel over a Unix socket.
///
/// # Errors
/// When the socket's file descriptor cannot be duplicated.
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
