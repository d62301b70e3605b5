//! The tokens by which NATS identifies an operator, an account and a user: JWTs of version 2, signed with nkeys.
//!
//! NATS defines them in <https://docs.nats.io/running-a-nats-service/nats_admin/security/jwt>; the Go package `jwt/v2` is the
//! reference for the names of fields.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use nkeys::KeyPair;
use plimsoll_units::unix_time;
use serde_json::{Value, json};

use crate::error::FleetError;
use crate::wire::Subjects;

const HEADER: &str = r#"{"typ":"JWT","alg":"ed25519-nkey"}"#;
/// The version of NATS' claims.
const VERSION: u8 = 2;
/// Stands for no limit.
const UNLIMITED: i64 = -1;

/// One token before it is signed.
pub(crate) struct Token<'a> {
    /// The public key that it is about.
    pub(crate) subject: &'a str,
    pub(crate) name: &'a str,
    /// Seconds since 1970; the token does not expire if `None`.
    pub(crate) expires_sec: Option<u64>,
    /// The claims that are specific to NATS.
    pub(crate) nats: Value,
}

impl Token<'_> {
    /// Returns the token, signed by the issuer.
    pub(crate) fn sign(&self, issuer: &KeyPair) -> Result<String, FleetError> {
        let mut claims = json!({
            "jti": format!("{:016x}", crate::random()?),
            "iat": now_sec(),
            "iss": issuer.public_key(),
            "name": self.name,
            "sub": self.subject,
            "nats": self.nats,
        });
        if let Some(expires) = self.expires_sec {
            claims["exp"] = expires.into();
        }
        let encode = |part: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(part);
        let body = format!("{}.{}", encode(HEADER.as_bytes()), encode(claims.to_string().as_bytes()));
        let signature = issuer.sign(body.as_bytes());
        let signature = signature.map_err(|error| FleetError::Ended { why: error.to_string() })?;
        Ok(format!("{body}.{}", encode(&signature)))
    }
}

/// Seconds since 1970.
pub(crate) fn now_sec() -> u64 {
    unix_time().as_secs()
}

/// Decodes the claims of a token, without a check of its signature; `None` if it is no token.
pub(crate) fn read(token: &str) -> Option<Value> {
    let body = token.split('.').nth(1)?;
    serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(body).ok()?).ok()
}

pub(crate) fn operator(system_account: &str) -> Value {
    json!({ "type": "operator", "version": VERSION, "system_account": system_account })
}

/// An account, whose users may keep streams if `agents_key` is given. Users signed with that key have the rights of an agent of this
/// fleet, each on the subjects of its own name, which the server takes from the user's token.
pub(crate) fn account(fleet: &str, agents_key: Option<&str>) -> Value {
    let stored = if agents_key.is_some() { UNLIMITED } else { 0 };
    let scopes: Vec<Value> = agents_key.iter().map(|key| scope(fleet, key)).collect();
    json!({
        "type": "account",
        "version": VERSION,
        "signing_keys": scopes,
        "limits": {
            "subs": UNLIMITED, "data": UNLIMITED, "payload": UNLIMITED,
            "imports": UNLIMITED, "exports": UNLIMITED, "wildcards": true,
            "conn": UNLIMITED, "leaf": UNLIMITED,
            "mem_storage": 0, "disk_storage": stored, "streams": stored, "consumer": stored,
        },
    })
}

fn scope(fleet: &str, key: &str) -> Value {
    let (subjects, agent) = (Subjects::new(fleet), "{{name()}}");
    json!({
        "kind": "user_scope",
        "key": key,
        "role": "agent",
        "description": "an agent of the fleet",
        "template": {
            "pub": { "allow": [subjects.alive(agent), subjects.clock("*"), subjects.frames("*", agent)] },
            "sub": { "allow": [subjects.to(agent), format!("{}.>", subjects.inbox(agent))] },
            "subs": UNLIMITED, "data": UNLIMITED, "payload": UNLIMITED,
        },
    })
}

/// The claims of an agent of this account. Its rights are in the scope.
pub(crate) fn agent(account: &str) -> Value {
    json!({ "type": "user", "version": VERSION, "issuer_account": account })
}

/// A conductor has all rights in its account.
pub(crate) fn conductor() -> Value {
    json!({ "type": "user", "version": VERSION, "subs": UNLIMITED, "data": UNLIMITED, "payload": UNLIMITED })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_signed_by_its_issuer_and_read_again() {
        let issuer = KeyPair::new_account();
        let token =
            Token { subject: "U", name: "a", expires_sec: Some(7), nats: agent("A") }.sign(&issuer).unwrap();
        let (body, signature) = token.rsplit_once('.').unwrap();
        issuer.verify(body.as_bytes(), &BASE64_URL_SAFE_NO_PAD.decode(signature).unwrap()).unwrap();
        let claims = read(&token).unwrap();
        assert_eq!((&claims["exp"], &claims["name"]), (&json!(7), &json!("a")));
        assert_eq!(claims["iss"], issuer.public_key());
        assert_eq!(read("no token"), None);
    }
}
