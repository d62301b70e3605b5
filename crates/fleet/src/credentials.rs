//! Credentials files: a user's token and the seed of its key, as NATS writes them.

use std::path::Path;
use std::time::Duration;

use nkeys::{KeyPair, KeyPairType};
use serde_json::Value;

use crate::claims::{self, Token, now_sec};
use crate::error::FleetError;
use crate::secret;

/// Mints credentials for a new user and writes them, in place of older ones.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn mint(
    path: &Path,
    name: &str,
    (issuer, nats): (&KeyPair, Value),
    valid: Duration,
) -> Result<(), FleetError> {
    let user = secret::random_key(KeyPairType::User)?;
    let seed = user.seed().map_err(|error| FleetError::Ended { why: error.to_string() })?;
    let expires_sec = Some(now_sec() + valid.as_secs());
    let token = Token { subject: &user.public_key(), name, expires_sec, nats }.sign(issuer)?;
    secret::replace(path, &file(&token, &seed))
}

fn file(token: &str, seed: &str) -> String {
    format!(
        "-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n\
         -----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
    )
}

/// Returns when the credentials in a file's text expire, in seconds since 1970; `None` if they do not.
fn expire_sec(text: &str) -> Option<u64> {
    let token = text.lines().map(str::trim).find(|line| line.starts_with("ey"))?;
    claims::read(token)?["exp"].as_u64()
}

/// Returns how long ago the credentials in a file's text expired; `None` if they have not.
pub(crate) fn expired_for(text: &str) -> Option<Duration> {
    now_sec().checked_sub(expire_sec(text)?).map(Duration::from_secs)
}

/// Returns how long the credentials in a file's text are still valid; `None` if they do not expire.
pub(crate) fn good_for(text: &str) -> Option<Duration> {
    expire_sec(text).map(|expires| Duration::from_secs(expires.saturating_sub(now_sec())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minted(valid: Duration) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.creds");
        for _ in 0..2 {
            mint(&path, "a", (&KeyPair::new_account(), claims::agent("A")), valid).unwrap();
        }
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn credentials_expire() {
        assert_eq!(expired_for(&minted(Duration::from_secs(60))), None);
        assert!(expired_for(&minted(Duration::ZERO)).is_some());
        let good = good_for(&minted(Duration::from_secs(3600))).unwrap();
        assert!((3500..=3600).contains(&good.as_secs()), "{good:?}");
        assert_eq!(good_for("credentials of another kind"), None);
        assert_eq!(expired_for("credentials of another kind"), None);
    }
}
