//! An open session: decrypts records, encrypts requests, and handles messages that a server may send after the handshake.

use rustls::ProtocolVersion;
use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::kernel::KernelConnection;

use crate::alert::Alert;
use crate::failure::TlsFailure;
use crate::record::{self, Fault, MAX_PLAIN_BYTES, RecordKey};

const HELLO_REQUEST: u8 = 0;
const NEW_SESSION_TICKET: u8 = 4;
const KEY_UPDATE: u8 = 24;
const MESSAGE_HEADER_BYTES: usize = 4;
/// The longest handshake message accepted after the handshake: a ticket of 65,535 bytes in addition to its few fields.
const MAX_MESSAGE_BYTES: usize = (1 << 16) + 1024;

/// The record layer of a session whose handshake is done.
pub(crate) struct Channel {
    send: RecordKey,
    receive: RecordKey,
    /// Derives later keys and keeps tickets. `None` for TLS 1.2, which has neither after its handshake.
    kernel: Option<KernelConnection<ClientConnectionData>>,
    /// The received part of an incomplete handshake message.
    message: Vec<u8>,
    /// Number of records after which the sending key is replaced (TLS 1.3 only).
    records_per_key: u64,
    keeps_tickets: bool,
    answered: bool,
    pub(crate) peer_closed: bool,
    closed: bool,
}

impl Channel {
    /// Replaces the sending key after `records`, so that a test can observe it.
    #[cfg(test)]
    pub(crate) const fn renew_after(&mut self, records: u64) {
        self.records_per_key = records;
    }

    /// Takes over the keys of a connection whose handshake is complete.
    pub(crate) fn new(
        connection: UnbufferedClientConnection,
        keeps_tickets: bool,
    ) -> Result<Self, TlsFailure> {
        let (secrets, kernel) =
            connection.dangerous_into_kernel_connection().map_err(TlsFailure::in_handshake)?;
        let tls13 = kernel.protocol_version() == ProtocolVersion::TLSv1_3;
        let suite = kernel.negotiated_cipher_suite();
        let limit = suite.tls13().map_or(u64::MAX, |suite| suite.common.confidentiality_limit);
        Ok(Self {
            send: RecordKey::new(secrets.tx.0, &secrets.tx.1, tls13)?,
            receive: RecordKey::new(secrets.rx.0, &secrets.rx.1, tls13)?,
            kernel: tls13.then_some(kernel),
            message: Vec::new(),
            records_per_key: limit,
            keeps_tickets,
            answered: false,
            peer_closed: false,
            closed: false,
        })
    }

    pub(crate) const fn is_open(&self) -> bool {
        !self.closed && !self.peer_closed
    }

    /// Decrypts one whole record in place. A fault is reported to the server by an alert.
    pub(crate) fn receive(
        &mut self,
        record: &mut [u8],
        out: &mut Vec<u8>,
        plain: &mut impl FnMut(&[u8]),
    ) -> Result<(), TlsFailure> {
        self.open(record, out, plain).map_err(|fault| self.report(fault, out))
    }

    fn open(
        &mut self,
        record: &mut [u8],
        out: &mut Vec<u8>,
        plain: &mut impl FnMut(&[u8]),
    ) -> Result<(), Fault> {
        let (kind, content) = self.receive.open(record)?;
        if kind != record::HANDSHAKE && !self.message.is_empty() {
            return Err(unexpected("a handshake message was interrupted"));
        }
        match kind {
            record::APPLICATION => {
                self.answered = true;
                if !content.is_empty() {
                    plain(content);
                }
                Ok(())
            }
            record::ALERT => self.read_alert(content),
            record::HANDSHAKE => self.read_messages(content, out),
            _ => Err(unexpected("a record has a type that has no place here")),
        }
    }

    fn report(&mut self, fault: Fault, out: &mut Vec<u8>) -> TlsFailure {
        self.send_alert(2, fault.alert, out).err().unwrap_or(fault.failure)
    }

    fn send_alert(&mut self, level: u8, alert: Alert, out: &mut Vec<u8>) -> Result<(), TlsFailure> {
        if self.closed {
            return Ok(());
        }
        self.send.seal(record::ALERT, &[level, alert.code()], out)
    }

    /// Encrypts `plain` and appends it to `out`, in as many records as it needs.
    pub(crate) fn seal(&mut self, plain: &[u8], out: &mut Vec<u8>) -> Result<(), TlsFailure> {
        if !self.is_open() {
            return Err(TlsFailure::NotOpen);
        }
        for piece in plain.chunks(MAX_PLAIN_BYTES) {
            if self.send.sequence() >= self.records_per_key {
                self.renew_sending_key(out).map_err(|fault| fault.failure)?;
            }
            self.send.seal(record::APPLICATION, piece, out)?;
        }
        Ok(())
    }

    /// Appends close_notify, at most once.
    pub(crate) fn close(&mut self, out: &mut Vec<u8>) {
        // Sealing two bytes with a valid key cannot fail, and the session ends anyway.
        let sent = self.send_alert(1, Alert::CLOSE_NOTIFY, out);
        self.closed |= sent.is_ok();
    }

    fn read_alert(&mut self, content: &[u8]) -> Result<(), Fault> {
        let &[level, code] = content else {
            return Err(Fault::broken("an alert is not two bytes long", Alert::DECODE_ERROR));
        };
        let alert = Alert::new(code);
        if alert == Alert::CLOSE_NOTIFY {
            self.peer_closed = true;
            return Ok(());
        }
        if !alert.ends_session(level, self.kernel.is_some()) {
            return Ok(());
        }
        // In TLS 1.3 the client completes its handshake first, so a server refuses its certificate only afterwards.
        let refused = self.kernel.is_some() && !self.answered;
        let failure = if refused { TlsFailure::Refused(alert) } else { TlsFailure::Ended(alert) };
        // A fatal alert is not answered (RFC 8446, 6.2).
        self.closed = true;
        Err(Fault { failure, alert })
    }

    /// Reads the handshake messages of one record. An incomplete message is kept until the next record.
    fn read_messages(&mut self, content: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        if content.is_empty() {
            return Err(unexpected("a handshake record is empty"));
        }
        // An incomplete message stays in this buffer, so that one that arrives byte by byte is not copied each time.
        let mut joined = std::mem::take(&mut self.message);
        joined.extend_from_slice(content);
        let mut rest = joined.as_slice();
        while let Some((kind, body, after)) = split_message(rest)? {
            if kind == KEY_UPDATE && !after.is_empty() {
                return Err(unexpected("a key update is not the end of its record"));
            }
            self.read_message(kind, body, out)?;
            rest = after;
        }
        let consumed = joined.len() - rest.len();
        // Usually everything is consumed. The buffer is then freed, so that an idle connection holds no memory for it.
        if consumed < joined.len() {
            joined.drain(..consumed);
            self.message = joined;
        }
        Ok(())
    }

    fn read_message(&mut self, kind: u8, body: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        match (kind, self.kernel.as_mut()) {
            (HELLO_REQUEST, None) => Ok(self.send_alert(1, Alert::NO_RENEGOTIATION, out)?),
            (NEW_SESSION_TICKET, Some(_)) if !self.keeps_tickets => Ok(()),
            (NEW_SESSION_TICKET, Some(kernel)) => kernel
                .handle_new_session_ticket(body)
                .map_err(|_| Fault::broken("a session ticket cannot be read", Alert::DECODE_ERROR)),
            (KEY_UPDATE, Some(_)) => self.read_key_update(body, out),
            _ => Err(unexpected("a handshake message has no place after the handshake")),
        }
    }

    fn read_key_update(&mut self, body: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        let answer = match body {
            [0] => false,
            [1] => true,
            _ => return Err(Fault::broken("a key update cannot be read", Alert::DECODE_ERROR)),
        };
        let next = self.kernel.as_mut().and_then(|kernel| kernel.update_rx_secret().ok());
        self.receive = next_key(next)?;
        if answer { self.renew_sending_key(out) } else { Ok(()) }
    }

    /// Announces a new sending key and switches to it (RFC 8446, 4.6.3).
    fn renew_sending_key(&mut self, out: &mut Vec<u8>) -> Result<(), Fault> {
        if self.closed {
            return Ok(());
        }
        self.send.seal(record::HANDSHAKE, &[KEY_UPDATE, 0, 0, 1, 0], out)?;
        let next = self.kernel.as_mut().and_then(|kernel| kernel.update_tx_secret().ok());
        self.send = next_key(next)?;
        Ok(())
    }
}

fn unexpected(what: &'static str) -> Fault {
    Fault::broken(what, Alert::UNEXPECTED_MESSAGE)
}

fn next_key(secrets: Option<(u64, rustls::ConnectionTrafficSecrets)>) -> Result<RecordKey, Fault> {
    let key = secrets.and_then(|(sequence, secrets)| RecordKey::new(sequence, &secrets, true).ok());
    key.ok_or_else(|| Fault::broken("a new key cannot be made", Alert::INTERNAL_ERROR))
}

/// Splits the first handshake message of `bytes` into its type, its body and the rest; `None` if it is incomplete.
#[expect(clippy::type_complexity, reason = "three parts of one slice, taken apart at the only call")]
fn split_message(bytes: &[u8]) -> Result<Option<(u8, &[u8], &[u8])>, Fault> {
    let Some((&[kind, high, middle, low], rest)) = bytes.split_first_chunk::<MESSAGE_HEADER_BYTES>() else {
        return Ok(None);
    };
    let length = u32::from_be_bytes([0, high, middle, low]) as usize;
    if length > MAX_MESSAGE_BYTES {
        return Err(Fault::broken("a handshake message is too long", Alert::DECODE_ERROR));
    }
    Ok(rest.split_at_checked(length).map(|(body, after)| (kind, body, after)))
}
