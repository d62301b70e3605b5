//! Records of an open session: framing, and the keys of one direction.
//!
//! TLS 1.3 (RFC 8446, 5.2 and 5.3): the nonce is the initialisation vector xored with the record's number, the header is
//! authenticated, and the true type is the last non-zero byte. TLS 1.2 with AES-GCM (RFC 5288, 3): the last eight bytes of
//! the nonce precede the ciphertext. TLS 1.2 with ChaCha20 (RFC 7905, 2): the nonce of TLS 1.3. Both TLS 1.2 suites
//! authenticate number, type, version and length (RFC 5246, 6.2.3.3).

use aws_lc_rs::aead::{
    AES_128_GCM, AES_256_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey,
};
use rustls::ConnectionTrafficSecrets;

use crate::alert::Alert;
use crate::failure::TlsFailure;

/// Content types (RFC 8446, 5.1).
pub(crate) const CHANGE_CIPHER_SPEC: u8 = 20;
pub(crate) const ALERT: u8 = 21;
pub(crate) const HANDSHAKE: u8 = 22;
pub(crate) const APPLICATION: u8 = 23;

/// Maximum number of plaintext bytes in a record.
pub(crate) const MAX_PLAIN_BYTES: usize = 1 << 14;
pub(crate) const HEADER_BYTES: usize = 5;
/// Maximum length of a record's body: TLS 1.2 allows 2048 bytes more than the plaintext, TLS 1.3 allows 256.
const MAX_BODY_BYTES: usize = MAX_PLAIN_BYTES + 2048;
const TAG_BYTES: usize = 16;

/// A fault that ends the session from this side: the failure, and the alert that reports it to the server.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) failure: TlsFailure,
    pub(crate) alert: Alert,
}

impl Fault {
    pub(crate) const fn broken(what: &'static str, alert: Alert) -> Self {
        Self { failure: TlsFailure::BrokenRecord(what), alert }
    }

    const fn undecryptable() -> Self {
        Self { failure: TlsFailure::Undecryptable, alert: Alert::BAD_RECORD_MAC }
    }
}

/// Converts a failure of this side, not of the server.
impl From<TlsFailure> for Fault {
    fn from(failure: TlsFailure) -> Self {
        Self { failure, alert: Alert::INTERNAL_ERROR }
    }
}

/// Returns the length in bytes of the first record of `bytes`, header included; `None` until the header is complete.
///
/// # Errors
/// [`TlsFailure::NotTls`] when no record begins with these bytes.
pub(crate) fn record_bytes(bytes: &[u8]) -> Result<Option<usize>, TlsFailure> {
    let Some(&[kind, major, _, high, low]) = bytes.first_chunk::<HEADER_BYTES>() else {
        return Ok(None);
    };
    let body_bytes = usize::from(u16::from_be_bytes([high, low]));
    let known = (CHANGE_CIPHER_SPEC..=APPLICATION).contains(&kind) && major == 3;
    if known && body_bytes <= MAX_BODY_BYTES {
        Ok(Some(HEADER_BYTES + body_bytes))
    } else {
        Err(TlsFailure::NotTls)
    }
}

pub(crate) struct RecordKey {
    key: LessSafeKey,
    vector: [u8; NONCE_LEN],
    sequence: u64,
    tls13: bool,
    /// Number of nonce bytes on the wire: 8 in TLS 1.2 with AES-GCM, otherwise 0.
    explicit_bytes: usize,
}

impl RecordKey {
    /// Creates a key from `secrets`; the next record has the number `sequence`.
    pub(crate) fn new(
        sequence: u64,
        secrets: &ConnectionTrafficSecrets,
        tls13: bool,
    ) -> Result<Self, TlsFailure> {
        let (algorithm, key, iv) = match secrets {
            ConnectionTrafficSecrets::Aes128Gcm { key, iv } => (&AES_128_GCM, key, iv),
            ConnectionTrafficSecrets::Aes256Gcm { key, iv } => (&AES_256_GCM, key, iv),
            ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv } => (&CHACHA20_POLY1305, key, iv),
            _ => return Err(unusable("a cipher that Plimsoll does not have")),
        };
        let explicit_bytes = if tls13 || algorithm == &CHACHA20_POLY1305 { 0 } else { 8 };
        let unbound =
            UnboundKey::new(algorithm, key.as_ref()).map_err(|_| unusable("a key of wrong size"))?;
        let vector = iv.as_ref().try_into().map_err(|_| unusable("a vector of wrong size"))?;
        Ok(Self { key: LessSafeKey::new(unbound), vector, sequence, tls13, explicit_bytes })
    }

    pub(crate) const fn sequence(&self) -> u64 {
        self.sequence
    }

    fn nonce(&self) -> [u8; NONCE_LEN] {
        let mut nonce = self.vector;
        for (byte, number) in nonce[NONCE_LEN - 8..].iter_mut().zip(self.sequence.to_be_bytes()) {
            *byte ^= number;
        }
        nonce
    }

    /// Encrypts `plain`, at most [`MAX_PLAIN_BYTES`] long, and appends it to `out` as one record.
    pub(crate) fn seal(&mut self, kind: u8, plain: &[u8], out: &mut Vec<u8>) -> Result<(), TlsFailure> {
        let nonce = self.nonce();
        let body_bytes = self.explicit_bytes + plain.len() + usize::from(self.tls13) + TAG_BYTES;
        let header = header(if self.tls13 { APPLICATION } else { kind }, body_bytes);
        out.reserve(HEADER_BYTES + body_bytes);
        out.extend_from_slice(&header);
        out.extend_from_slice(&nonce[NONCE_LEN - self.explicit_bytes..]);
        let begin = out.len();
        out.extend_from_slice(plain);
        if self.tls13 {
            out.push(kind);
        }
        let mut covered = [0; 13];
        let aad = Aad::from(self.authenticated(&header, plain.len(), &mut covered));
        let nonce = Nonce::assume_unique_for_key(nonce);
        let tag = self.key.seal_in_place_separate_tag(nonce, aad, &mut out[begin..]);
        out.extend_from_slice(tag.map_err(|_| TlsFailure::NotOpen)?.as_ref());
        self.sequence += 1;
        Ok(())
    }

    /// Decrypts one whole record in place; returns its true type and its plaintext.
    pub(crate) fn open<'a>(&mut self, record: &'a mut [u8]) -> Result<(u8, &'a mut [u8]), Fault> {
        let Some((header, body)) = record.split_first_chunk_mut::<HEADER_BYTES>() else {
            return Err(Fault::undecryptable());
        };
        let kind = header[0];
        if self.tls13 && kind != APPLICATION {
            return Err(Fault::broken("a record came in the clear", Alert::UNEXPECTED_MESSAGE));
        }
        let mut nonce = self.nonce();
        let parts = body.split_at_mut_checked(self.explicit_bytes);
        let parts = parts.filter(|(_, sealed)| sealed.len() >= TAG_BYTES);
        let (wire_nonce, sealed) = parts.ok_or_else(Fault::undecryptable)?;
        nonce[NONCE_LEN - self.explicit_bytes..].copy_from_slice(wire_nonce);
        let mut covered = [0; 13];
        let aad = Aad::from(self.authenticated(header, sealed.len() - TAG_BYTES, &mut covered));
        let opened = self.key.open_in_place(Nonce::assume_unique_for_key(nonce), aad, sealed);
        let plain = opened.map_err(|_| Fault::undecryptable())?;
        self.sequence += 1;
        if self.tls13 { strip(plain) } else { limit(kind, plain) }
    }

    /// The additional authenticated data of a record: five bytes in TLS 1.3, thirteen in TLS 1.2.
    fn authenticated<'a>(
        &self,
        header: &'a [u8; HEADER_BYTES],
        plain_bytes: usize,
        covered: &'a mut [u8; 13],
    ) -> &'a [u8] {
        if self.tls13 {
            return header;
        }
        covered[..8].copy_from_slice(&self.sequence.to_be_bytes());
        covered[8..11].copy_from_slice(&header[..3]);
        covered[11..].copy_from_slice(&length(plain_bytes));
        covered
    }
}

fn unusable(what: &str) -> TlsFailure {
    TlsFailure::BrokenHandshake(format!("it ended with {what}"))
}

/// Encodes a record's length; records are short enough for two bytes.
fn length(bytes: usize) -> [u8; 2] {
    debug_assert!(bytes <= MAX_BODY_BYTES, "no record is that long");
    u16::try_from(bytes).unwrap_or(u16::MAX).to_be_bytes()
}

fn header(kind: u8, body_bytes: usize) -> [u8; HEADER_BYTES] {
    let [high, low] = length(body_bytes);
    [kind, 3, 3, high, low]
}

/// Removes padding and type from the end of TLS 1.3's inner plaintext (RFC 8446, 5.4); returns type and content.
fn strip(inner: &mut [u8]) -> Result<(u8, &mut [u8]), Fault> {
    let Some(end) = inner.iter().rposition(|byte| *byte != 0) else {
        return Err(Fault::broken("a record has no type", Alert::UNEXPECTED_MESSAGE));
    };
    let kind = inner[end];
    limit(kind, &mut inner[..end])
}

fn limit(kind: u8, plain: &mut [u8]) -> Result<(u8, &mut [u8]), Fault> {
    if plain.len() > MAX_PLAIN_BYTES {
        return Err(Fault::broken("a record is longer than 16 KiB", Alert::RECORD_OVERFLOW));
    }
    Ok((kind, plain))
}
