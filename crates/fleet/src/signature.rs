//! Signatures of a conductor's messages, and the keys that an agent obeys.
//!
//! A conductor signs each message to an agent with an ed25519 key in the format of NATS. The signature covers the subject, which
//! names the fleet and the agent, and the content, which names the run, the agent's incarnation, and the instant of a state. So
//! no message is valid for another agent, another process of that name, or another run.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use async_nats::HeaderMap;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use nkeys::{KeyPair, KeyPairType};

use crate::error::FleetError;
use crate::secret;

/// The header with the public key and the signature, in base64.
const HEADER: &str = "Plimsoll-Signature";
/// Prefix of the signed bytes, so that no signature for another purpose is valid.
const PURPOSE: &str = "plimsoll fleet 1";

/// The key with which a conductor signs.
#[derive(Debug)]
pub struct ConductorKey(KeyPair);

impl ConductorKey {
    /// Reads the seed in a file.
    ///
    /// # Errors
    /// When it cannot be read, others may read it, or it holds no seed.
    pub fn read(path: &Path) -> Result<Self, FleetError> {
        secret::read_key(path).map(Self)
    }

    /// Makes a key, and writes its seed to a file that only its owner may read.
    ///
    /// # Errors
    /// When the file is there already, or cannot be written.
    pub(crate) fn make(path: &Path) -> Result<Self, FleetError> {
        secret::make_key(KeyPairType::User, path).map(Self)
    }

    /// Returns the public key that agents trust.
    pub(crate) fn public(&self) -> String {
        self.0.public_key()
    }

    /// Returns the headers that sign a message with this content on this subject.
    pub(crate) fn sign(&self, subject: &str, content: &[u8]) -> Result<HeaderMap, nkeys::error::Error> {
        let signature = self.0.sign(&signed(subject, content))?;
        let mut headers = HeaderMap::new();
        headers.insert(HEADER, format!("{} {}", self.public(), BASE64_STANDARD.encode(signature)));
        Ok(headers)
    }
}

fn signed(subject: &str, content: &[u8]) -> Vec<u8> {
    [PURPOSE.as_bytes(), b"\n", subject.as_bytes(), b"\n", content].concat()
}

/// The public key of a conductor that an agent obeys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedKey(String);

/// A text that is not a public key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("write the public key of a conductor, 56 letters and digits as plimsoll fleet keys prints it")]
pub struct NoKey;

impl FromStr for TrustedKey {
    type Err = NoKey;

    fn from_str(text: &str) -> Result<Self, NoKey> {
        KeyPair::from_public_key(text).map(|_| Self(text.to_owned())).map_err(|_| NoKey)
    }
}

impl fmt::Display for TrustedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why an agent does not obey a message.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Distrust {
    #[error(
        "it is not signed, and this agent obeys only the keys of its --trust; give the conductor --fleet-key FILE"
    )]
    Unsigned,
    #[error("it is signed with {key}, which is no --trust of this agent; if that key is yours, add it there")]
    Stranger { key: String },
    #[error("its signature does not fit: it was changed, or is meant for another agent")]
    Forged,
}

/// The keys that an agent obeys. Without any it obeys every process that may publish at the broker.
#[derive(Debug, Clone)]
pub(crate) struct Trust(Vec<TrustedKey>);

impl Trust {
    pub(crate) fn new(keys: &[TrustedKey]) -> Self {
        Self(keys.to_vec())
    }

    /// Checks whether to obey a message on this subject.
    pub(crate) fn examine(
        &self,
        subject: &str,
        headers: Option<&HeaderMap>,
        content: &[u8],
    ) -> Result<(), Distrust> {
        if self.0.is_empty() {
            return Ok(());
        }
        let header = headers.and_then(|headers| headers.get(HEADER)).ok_or(Distrust::Unsigned)?;
        let (key, signature) = header.as_str().split_once(' ').ok_or(Distrust::Forged)?;
        let Some(trusted) = self.0.iter().find(|trusted| trusted.0 == key) else {
            return Err(
                TrustedKey::from_str(key).map_or(Distrust::Forged, |key| Distrust::Stranger { key: key.0 })
            );
        };
        let signature = BASE64_STANDARD.decode(signature).map_err(|_| Distrust::Forged)?;
        let pair = KeyPair::from_public_key(&trusted.0).map_err(|_| Distrust::Forged)?;
        pair.verify(&signed(subject, content), &signature).map_err(|_| Distrust::Forged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(folder: &tempfile::TempDir, name: &str) -> ConductorKey {
        ConductorKey::make(&folder.path().join(name)).unwrap()
    }

    #[test]
    fn only_what_a_trusted_key_signed_for_this_subject_is_obeyed() {
        let folder = tempfile::tempdir().unwrap();
        let (own, other) = (key(&folder, "own"), key(&folder, "other"));
        let trust = Trust::new(&[own.public().parse().unwrap()]);
        let headers = own.sign("to.a", b"begin").unwrap();
        assert_eq!(trust.examine("to.a", Some(&headers), b"begin"), Ok(()));
        assert_eq!(trust.examine("to.b", Some(&headers), b"begin"), Err(Distrust::Forged));
        assert_eq!(trust.examine("to.a", Some(&headers), b"begun"), Err(Distrust::Forged));
        assert_eq!(trust.examine("to.a", None, b"begin"), Err(Distrust::Unsigned));
        let foreign = other.sign("to.a", b"begin").unwrap();
        let stranger = Distrust::Stranger { key: other.public() };
        assert_eq!(trust.examine("to.a", Some(&foreign), b"begin"), Err(stranger));
    }

    #[test]
    fn a_key_in_a_file_signs_as_before() {
        let folder = tempfile::tempdir().unwrap();
        let made = key(&folder, "own");
        let read = ConductorKey::read(&folder.path().join("own")).unwrap();
        let trust = Trust::new(&[made.public().parse().unwrap()]);
        assert_eq!(trust.examine("s", Some(&read.sign("s", b"c").unwrap()), b"c"), Ok(()));
    }

    #[test]
    fn a_text_that_is_no_public_key_is_refused() {
        for text in ["", "UABC", "SUANQDPB2RUOE4ETUA26CNX7FUKE5ZZKFCQIIW63OX225F2CO7UEXTM7ZY"] {
            assert_eq!(text.parse::<TrustedKey>(), Err(NoKey), "{text}");
        }
    }
}
