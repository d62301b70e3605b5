//! A handshake under way: rustls is shown one record at a time, so that it never sees what belongs to the
//! open session.

use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::unbuffered::{ConnectionState, EncodeError, EncodeTlsData};

use crate::alert::Alert;
use crate::channel::Channel;
use crate::established::Established;
use crate::failure::TlsFailure;
use crate::record;

/// A handshake under way.
pub(crate) struct Handshake {
    connection: UnbufferedClientConnection,
    /// Bytes at the front of the input that rustls has seen and not given back.
    shown: usize,
    keeps_tickets: bool,
}

/// What rustls wants next.
enum Wants {
    Another,
    Record,
    Nothing,
}

impl Handshake {
    pub(crate) const fn new(connection: UnbufferedClientConnection, keeps_tickets: bool) -> Self {
        Self { connection, shown: 0, keeps_tickets }
    }

    /// Goes on as far as `input` allows, takes what was used off its front, and returns whether the
    /// handshake is done. After a failure `out` ends with the alert for the server, if one is due.
    pub(crate) fn advance(&mut self, input: &mut Vec<u8>, out: &mut Vec<u8>) -> Result<bool, TlsFailure> {
        loop {
            match self.step(input, out) {
                Ok(Wants::Another) => {}
                Ok(Wants::Nothing) => return self.finished(),
                Ok(Wants::Record) => match record::record_bytes(&input[self.shown..])? {
                    Some(bytes) if bytes <= input.len() - self.shown => self.shown += bytes,
                    _ => return Ok(false),
                },
                Err(failure) => {
                    self.flush_alerts(input, out);
                    return Err(failure);
                }
            }
        }
    }

    fn step(&mut self, input: &mut Vec<u8>, out: &mut Vec<u8>) -> Result<Wants, TlsFailure> {
        let status = self.connection.process_tls_records(&mut input[..self.shown]);
        let wants = match status.state {
            Ok(ConnectionState::EncodeTlsData(chunk)) => append(chunk, out),
            Ok(ConnectionState::TransmitTlsData(sent)) => {
                sent.done();
                Ok(Wants::Another)
            }
            Ok(ConnectionState::BlockedHandshake) => Ok(Wants::Record),
            Ok(ConnectionState::WriteTraffic(_)) => Ok(Wants::Nothing),
            Ok(ConnectionState::PeerClosed | ConnectionState::Closed) => {
                Err(TlsFailure::Refused(Alert::CLOSE_NOTIFY))
            }
            Ok(other) => Err(TlsFailure::BrokenHandshake(format!("unexpected state {other:?}"))),
            Err(error) => Err(TlsFailure::in_handshake(error)),
        };
        let used = status.discard;
        input.drain(..used);
        self.shown -= used;
        wants
    }

    /// Appends the alerts that a failure left behind. Each step takes one, so this ends.
    fn flush_alerts(&mut self, input: &mut Vec<u8>, out: &mut Vec<u8>) {
        while let Ok(Wants::Another) = self.step(input, out) {}
    }

    fn finished(&self) -> Result<bool, TlsFailure> {
        if self.shown == 0 {
            return Ok(true);
        }
        Err(TlsFailure::BrokenHandshake("a message goes on after its end".into()))
    }

    /// Hands the keys over to the record layer of the open session.
    pub(crate) fn open(self) -> Result<(Channel, Established), TlsFailure> {
        let established = Established::from_connection(&self.connection)
            .ok_or_else(|| TlsFailure::BrokenHandshake("it ended without a version or a cipher".into()))?;
        Ok((Channel::new(self.connection, self.keeps_tickets)?, established))
    }
}

/// Appends one encoded message to `out`. rustls reports its length only by refusing a buffer that is too short.
fn append(
    mut chunk: EncodeTlsData<'_, ClientConnectionData>,
    out: &mut Vec<u8>,
) -> Result<Wants, TlsFailure> {
    let begin = out.len();
    if let Err(EncodeError::InsufficientSize(short)) = chunk.encode(&mut []) {
        out.resize(begin + short.required_size, 0);
        let encoded = chunk.encode(&mut out[begin..]);
        encoded.map_err(|error| TlsFailure::BrokenHandshake(error.to_string()))?;
    }
    Ok(Wants::Another)
}
