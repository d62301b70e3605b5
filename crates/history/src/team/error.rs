//! Errors of a team's store, with advice.

use plimsoll_units::escape_control;
use tokio_postgres::error::{DbError, SqlState};

/// Why a run cannot be delivered to a store. The run stays on this machine and waits.
#[derive(Debug, thiserror::Error)]
pub enum TeamStoreError {
    #[error("a store is written like postgres://user@host/database")]
    Scheme,
    #[error(
        "the address of the store cannot be read; write it like postgres://user@host/database, with characters that have a \
         meaning there as %XX"
    )]
    Address,
    #[error("{store} cannot be reached ({reason}); is it running, and its port open?")]
    Unreachable { store: String, reason: String },
    #[error("{store} did not answer within {sec} s; is it overloaded, or behind a firewall?")]
    TimedOut { store: String, sec: u64 },
    #[error("{store} refused the login ({reason}); check the user, and PGPASSWORD or the password file")]
    Login { store: String, reason: String },
    #[error("{store} does not exist as a database ({reason}); its owner makes it with CREATE DATABASE")]
    NoDatabase { store: String, reason: String },
    #[error("{store} allows no change now ({reason}); it may be a replica: name the primary server")]
    ReadOnly { store: String, reason: String },
    #[error(
        "{store} does not allow that to this user ({reason}); its owner grants it: GRANT CREATE ON DATABASE for the first use, \
         then USAGE on the schema plimsoll and SELECT, INSERT, UPDATE on its tables"
    )]
    NotAllowed { store: String, reason: String },
    #[error("{store} has no room ({reason}); make some")]
    Full { store: String, reason: String },
    #[error(
        "the certificate or the encryption of {store} failed ({reason}); name its authority by sslrootcert=FILE in the address, or in PGSSLROOTCERT"
    )]
    Tls { store: String, reason: String },
    #[error("{store} was made by a newer Plimsoll (tables {found}, this one knows {known}); use that one")]
    Newer { store: String, found: i32, known: i32 },
    #[error("{store} ended the connection ({reason})")]
    Broken { store: String, reason: String },
    #[error("{store} refused it ({reason})")]
    Refused { store: String, reason: String },
    #[error("{store} has no run of the name `{run}`; `plimsoll runs --store …` lists them")]
    NoRun { store: String, run: String },
    #[error(
        "{store} has {count} runs of the name `{run}`; write the beginning of the id that `plimsoll runs --json` shows"
    )]
    SeveralRuns { store: String, run: String, count: usize },
    #[error("{store} has only the figures of `{run}`: its file was too large, or its plan cannot be shared")]
    NoFile { store: String, run: String },
    #[error("what {store} has of `{run}` is damaged ({reason}); deliver it again from where it was made")]
    Damaged { store: String, run: String, reason: String },
}

/// The cause of a failed delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Only the run; the connection remains usable.
    Run,
    /// The run or the store: the next run shows which. A new connection is necessary.
    Unknown,
    /// The store: the next run would fail in the same way.
    Store,
}

impl TeamStoreError {
    pub(crate) fn fault(&self) -> Fault {
        match self {
            Self::Refused { .. }
            | Self::NoRun { .. }
            | Self::SeveralRuns { .. }
            | Self::NoFile { .. }
            | Self::Damaged { .. } => Fault::Run,
            // The run may be too large for the time limit or for the remaining space.
            Self::TimedOut { .. } | Self::Broken { .. } | Self::Full { .. } => Fault::Unknown,
            Self::Scheme
            | Self::Address
            | Self::Unreachable { .. }
            | Self::Login { .. }
            | Self::NoDatabase { .. }
            | Self::ReadOnly { .. }
            | Self::NotAllowed { .. }
            | Self::Tls { .. }
            | Self::Newer { .. } => Fault::Store,
        }
    }
}

/// Converts an error of the client library.
pub(super) fn of_client(store: &str, error: &tokio_postgres::Error) -> TeamStoreError {
    let store = store.to_owned();
    if let Some(error) = error.as_db_error() {
        return of_database(store, error);
    }
    let mut reason = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(known) = cause {
        reason = format!("{reason}: {known}");
        cause = known.source();
    }
    let reason = escape_control(&reason);
    if reason.contains("TLS") || reason.contains("certificate") {
        TeamStoreError::Tls { store, reason }
    } else if ["password missing", "invalid configuration", "authentication"]
        .iter()
        .any(|part| reason.contains(part))
    {
        TeamStoreError::Login { store, reason }
    } else if error.is_closed() || reason.contains("communicating") {
        TeamStoreError::Broken { store, reason }
    } else {
        TeamStoreError::Unreachable { store, reason }
    }
}

fn of_database(store: String, error: &DbError) -> TeamStoreError {
    let reason = escape_control(error.message());
    let code = error.code();
    match code.code().get(..2) {
        _ if *code == SqlState::INVALID_CATALOG_NAME => TeamStoreError::NoDatabase { store, reason },
        _ if *code == SqlState::READ_ONLY_SQL_TRANSACTION => TeamStoreError::ReadOnly { store, reason },
        _ if *code == SqlState::INSUFFICIENT_PRIVILEGE => TeamStoreError::NotAllowed { store, reason },
        Some("28") => TeamStoreError::Login { store, reason },
        Some("53") if *code != SqlState::TOO_MANY_CONNECTIONS => TeamStoreError::Full { store, reason },
        // Classes of errors about statements, transactions and their data. A cancelled statement exceeded the server's own time limit.
        Some("22" | "23" | "40" | "42" | "54" | "55") => TeamStoreError::Refused { store, reason },
        _ if *code == SqlState::QUERY_CANCELED => TeamStoreError::Refused { store, reason },
        _ => TeamStoreError::Broken { store, reason },
    }
}
