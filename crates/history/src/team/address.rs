//! The address of a team's store, and the password for it.

use std::borrow::Cow;
use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::str::FromStr;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use super::error::TeamStoreError;

/// The port if an address names none.
const DEFAULT_PORT: u16 = 5432;
/// The maximum length of a password file, in bytes.
const MAX_PASSWORDS_BYTES: u64 = 1 << 20;

/// The address of a store: `postgres://user@host:port/database`, with libpq's parameters after a `?`.
///
/// The password comes from the address, from `PGPASSWORD`, or from libpq's password file (`PGPASSFILE`, `~/.pgpass`). It is never shown.
#[derive(Clone)]
pub struct StoreAddress {
    config: Config,
    /// The file of certificate authorities given by `sslrootcert`.
    authorities: Option<PathBuf>,
    /// `postgres://host:port/database`.
    name: String,
}

impl StoreAddress {
    /// Returns the address for display, without user and password.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the file of certificate authorities for verifying the store; `None` for the system's authorities.
    pub(super) fn authorities(&self) -> Option<PathBuf> {
        self.authorities.clone().or_else(|| env::var_os("PGSSLROOTCERT").map(PathBuf::from))
    }

    /// Whether a connection to the store may be encrypted, so that a certificate is verified.
    pub(super) fn may_be_encrypted(&self) -> bool {
        let is_tcp = |host: &Host| matches!(host, Host::Tcp(_));
        self.config.get_ssl_mode() != SslMode::Disable && self.config.get_hosts().iter().any(is_tcp)
    }

    /// Returns the configuration of a connection, including the password.
    pub(super) fn config(&self) -> Config {
        let mut config = self.config.clone();
        if config.get_password().is_none() {
            let known = env::var("PGPASSWORD").ok().filter(|password| !password.is_empty());
            if let Some(password) = known.or_else(|| self.password_of_file()) {
                config.password(password);
            }
        }
        config
    }

    /// Returns the password for this address from libpq's password file, provided that other users cannot read that file.
    fn password_of_file(&self) -> Option<String> {
        let path = env::var_os("PGPASSFILE").map(PathBuf::from);
        let path = path.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".pgpass")))?;
        if fs::metadata(&path).ok()?.permissions().mode() & 0o077 != 0 {
            return None;
        }
        let text = String::from_utf8(plimsoll_sys::read_regular(&path, MAX_PASSWORDS_BYTES).ok()?).ok()?;
        let place = place(&self.config);
        let user = self.config.get_user().unwrap_or_default();
        password_for(&text, [&place.host, &place.port.to_string(), &place.database, user])
    }
}

struct Place {
    host: String,
    port: u16,
    database: String,
}

/// Returns the first host of a configuration. In libpq's password file every unix socket is called `localhost`.
fn place(config: &Config) -> Place {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        Some(Host::Unix(_)) | None => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(DEFAULT_PORT);
    let database = config.get_dbname().or(config.get_user()).unwrap_or_default().to_owned();
    Place { host, port, database }
}

/// Returns the password of the first matching line `host:port:database:user:password`; `*` matches anything, and a backslash escapes.
fn password_for(text: &str, asked: [&str; 4]) -> Option<String> {
    let fits = |line: &&str| {
        let parts = parts(line);
        let pairs = parts.iter().zip(asked);
        parts.len() == 5 && pairs.into_iter().all(|(part, asked)| part == "*" || part == asked)
    };
    let line = text.lines().filter(|line| !line.starts_with('#')).find(fits)?;
    parts(line).pop()
}

fn parts(line: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        let letter = match letter {
            ':' if parts.len() < 5 => {
                parts.push(String::new());
                continue;
            }
            '\\' => letters.next().unwrap_or('\\'),
            letter => letter,
        };
        if let Some(part) = parts.last_mut() {
            part.push(letter);
        }
    }
    parts
}

/// Splits off libpq's parameters that the client library does not know: the file of certificate authorities, and the modes that require a
/// verified certificate, because certificates are always verified here.
fn own_parameters(text: &str) -> (String, Option<PathBuf>) {
    let Some((address, parameters)) = text.split_once('?') else { return (text.to_owned(), None) };
    let mut authorities = None;
    let kept: Vec<&str> = parameters
        .split('&')
        .filter_map(|parameter| match parameter.split_once('=') {
            Some(("sslrootcert", path)) => {
                let path: Cow<'_, [u8]> = percent_decode_str(path).into();
                authorities = Some(PathBuf::from(OsStr::from_bytes(&path)));
                None
            }
            Some(("sslmode", "verify-full" | "verify-ca")) => Some("sslmode=require"),
            _ => Some(parameter),
        })
        .collect();
    (format!("{address}?{}", kept.join("&")), authorities)
}

impl FromStr for StoreAddress {
    type Err = TeamStoreError;

    /// Errors do not repeat the text: it may contain a password.
    fn from_str(text: &str) -> Result<Self, TeamStoreError> {
        if !(text.starts_with("postgres://") || text.starts_with("postgresql://")) {
            return Err(TeamStoreError::Scheme);
        }
        let (text, authorities) = own_parameters(text);
        let config: Config = text.parse().map_err(|_| TeamStoreError::Address)?;
        let has_sign = |host: &Host| matches!(host, Host::Tcp(name) if name.contains('@'));
        // With several `@`, the text after the first may be the rest of a password.
        let is_ambiguous = text.matches('@').count() > 1 || config.get_hosts().iter().any(has_sign);
        if config.get_hosts().is_empty() || config.get_user().is_none() || is_ambiguous {
            return Err(TeamStoreError::Address);
        }
        let host = match config.get_hosts().first() {
            Some(Host::Unix(path)) => path.display().to_string(),
            _ => place(&config).host,
        };
        let Place { port, database, .. } = place(&config);
        Ok(Self { name: format!("postgres://{host}:{port}/{database}"), authorities, config })
    }
}

impl fmt::Debug for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_named_without_its_user_and_password() {
        let name = |text: &str| text.parse::<StoreAddress>().unwrap().name().to_owned();
        assert_eq!(name("postgres://ann:s3cret@db.test/perf"), "postgres://db.test:5432/perf");
        assert_eq!(name("postgresql://ann@[::1]:5433/perf?sslmode=require"), "postgres://::1:5433/perf");
        assert_eq!(name("postgres://ann@%2Frun%2Fpg/perf"), "postgres:///run/pg:5432/perf");
        assert!(
            !format!("{:?}", "postgres://ann:s3cret@db/perf".parse::<StoreAddress>().unwrap())
                .contains("s3cret")
        );
    }

    #[test]
    fn the_file_of_authorities_is_read_as_the_rest_of_an_address_is() {
        let (address, authorities) =
            own_parameters("postgres://db/perf?sslrootcert=%2Fetc%2Fdb%20ca.pem&sslmode=verify-full");
        assert_eq!(address, "postgres://db/perf?sslmode=require");
        assert_eq!(authorities, Some(PathBuf::from("/etc/db ca.pem")));
    }

    #[test]
    fn a_certificate_is_verified_where_a_connection_may_be_encrypted() {
        let is_verified = |text: &str| text.parse::<StoreAddress>().unwrap().may_be_encrypted();
        assert!(
            is_verified("postgres://ann@db/perf") && is_verified("postgres://ann@db/perf?sslmode=require")
        );
        assert!(!is_verified("postgres://ann@db/perf?sslmode=disable"));
        assert!(!is_verified("postgres://ann@%2Frun%2Fpg/perf"));
    }

    #[test]
    fn what_is_no_address_is_refused_without_being_repeated() {
        for text in [
            "db.test/perf",
            "mysql://ann:s3cret@db/perf",
            "postgres://",
            "postgres://ann:s3cret@db:x/perf",
            "postgres://db/perf",
            "postgres://ann:p@s3cret@db/perf",
            "postgres://ann:p@s3cret/@db/perf",
            "postgres://ann:p@s3cret%40db/perf",
        ] {
            let error = text.parse::<StoreAddress>().unwrap_err().to_string();
            assert!(error.contains("postgres://user@host/database") && !error.contains("s3cret"), "{error}");
        }
    }

    #[test]
    fn the_password_file_is_read_as_libpq_reads_it() {
        let file = "# comment\ndb:5432:perf:ann:one\n*:*:*:bob:t\\:wo\\\\\ndb:*:perf:*:three:3";
        let password = |place| password_for(file, place);
        assert_eq!(password(["db", "5432", "perf", "ann"]).as_deref(), Some("one"));
        assert_eq!(password(["x", "1", "y", "bob"]).as_deref(), Some("t:wo\\"));
        assert_eq!(password(["db", "9", "perf", "eve"]).as_deref(), Some("three:3"));
        assert_eq!(password(["db", "9", "other", "eve"]), None);
    }
}
