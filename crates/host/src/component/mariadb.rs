//! MariaDB and MySQL, by SHOW GLOBAL STATUS and SHOW GLOBAL VARIABLES.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::{fmt, io};

use mysql::prelude::Queryable as _;
use mysql::{Conn, DriverError, Opts, OptsBuilder};
use plimsoll_record::metric::mariadb;
use plimsoll_record::{CounterSet, Metric, Source, Subject};

use super::error::ComponentError;
use super::exchange::{DEADLINE, taken};
use crate::collector::{Collector, Read};

/// Status variables that are taken as they are; `Innodb_row_lock_time` counts milliseconds.
const STATUS: &[(&str, Metric)] = &[
    ("questions", mariadb::QUESTIONS),
    ("connections", mariadb::CONNECTIONS),
    ("threads_running", mariadb::THREADS_RUNNING),
    ("threads_connected", mariadb::THREADS_CONNECTED),
    ("threads_created", mariadb::THREADS_CREATED),
    ("slow_queries", mariadb::SLOW_QUERIES),
    ("table_locks_waited", mariadb::TABLE_LOCKS_WAITED),
    ("innodb_row_lock_time", mariadb::INNODB_ROW_LOCK_TIME_MS),
    ("innodb_row_lock_waits", mariadb::INNODB_ROW_LOCK_WAITS),
    ("innodb_row_lock_current_waits", mariadb::INNODB_ROW_LOCK_CURRENT_WAITS),
    ("handler_commit", mariadb::COMMITS),
    // MariaDB does not count these since 10.8.
    ("innodb_os_log_fsyncs", mariadb::INNODB_OS_LOG_FSYNCS),
    ("innodb_os_log_written", mariadb::INNODB_OS_LOG_WRITTEN_BYTES),
    ("innodb_data_fsyncs", mariadb::INNODB_DATA_FSYNCS),
    ("innodb_log_waits", mariadb::INNODB_LOG_WAITS),
    ("innodb_buffer_pool_wait_free", mariadb::INNODB_BUFFER_POOL_WAIT_FREE),
    ("aborted_connects", mariadb::ABORTED_CONNECTS),
    ("connection_errors_max_connections", mariadb::CONNECTION_ERRORS_MAX_CONNECTIONS),
    ("bytes_received", mariadb::RECEIVED_BYTES),
    ("bytes_sent", mariadb::SENT_BYTES),
];

/// Settings that are limits.
const VARIABLES: &[(&str, Metric)] = &[
    ("max_connections", mariadb::MAX_CONNECTIONS),
    ("innodb_buffer_pool_size", mariadb::INNODB_BUFFER_POOL_BYTES),
];

/// The error numbers of a refusal: no access, too many connections.
const ACCESS_DENIED: [u16; 4] = [1044, 1045, 1698, 1227];
const TOO_MANY_CONNECTIONS: u16 = 1040;

const USUAL_PORT: u16 = 3306;

/// A user to log in as. Its printed form does not hold the password.
#[derive(Clone)]
pub struct Login {
    /// The name of a user; it needs no privilege.
    pub user: String,
    /// The user's password.
    pub password: Option<String>,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}

/// One database server. Each sample is two of its questions, over one connection that is kept.
pub(super) struct Mariadb {
    address: String,
    place: String,
    options: Opts,
    connection: Option<Conn>,
}

/// Without the options, which hold the password.
impl fmt::Debug for Mariadb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mariadb").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Mariadb {
    pub(super) fn new(address: &str, login: Login) -> Self {
        let (host, port) = address.rsplit_once(':').unwrap_or((address, ""));
        let options = OptsBuilder::new()
            .ip_or_hostname(Some(host.trim_start_matches('[').trim_end_matches(']')))
            .tcp_port(port.parse().unwrap_or(USUAL_PORT))
            .user(Some(login.user))
            .pass(login.password)
            // The path of the socket that a local server reports may be that of another container.
            .prefer_socket(false)
            .tcp_connect_timeout(Some(DEADLINE))
            .read_timeout(Some(DEADLINE))
            .write_timeout(Some(DEADLINE));
        let place = format!("mariadb at {address}");
        Self { place, address: address.to_owned(), options: options.into(), connection: None }
    }

    /// As with other components, a connection that was closed meanwhile is opened again, once.
    fn counters(&mut self) -> Result<CounterSet, ComponentError> {
        if let Some(connection) = &mut self.connection {
            match ask(connection) {
                Ok(counters) => return Ok(counters),
                Err(_) => self.connection = None,
            }
        }
        let mut connection = Conn::new(self.options.clone()).map_err(|error| self.error(error))?;
        let counters = ask(&mut connection).map_err(|error| self.error(error))?;
        self.connection = Some(connection);
        Ok(counters)
    }

    fn error(&self, error: mysql::Error) -> ComponentError {
        let place = self.place.clone();
        match error {
            mysql::Error::MySqlError(error) if ACCESS_DENIED.contains(&error.code) => {
                ComponentError::Refused {
                    place,
                    reason: error.message,
                    advice: "give a user it knows, as in mariadb://user:password@host:3306",
                }
            }
            mysql::Error::MySqlError(error) if error.code == TOO_MANY_CONNECTIONS => {
                ComponentError::Refused {
                    place,
                    reason: error.message,
                    advice: "raise its max_connections, or connect before the load takes them all",
                }
            }
            mysql::Error::DriverError(DriverError::ConnectTimeout | DriverError::Timeout) => {
                ComponentError::Late { place }
            }
            mysql::Error::DriverError(DriverError::CouldNotConnect(reason)) => {
                let kind = reason.map_or(io::ErrorKind::Other, |(.., kind)| kind);
                ComponentError::Unreachable { place, reason: kind.into() }
            }
            other => match system_error(&other) {
                Some(error) => ComponentError::broken(&place, error),
                None => ComponentError::Broken { place, reason: other.to_string() },
            },
        }
    }
}

/// The system's error behind one of the library, which does not always name its causes.
fn system_error(error: &mysql::Error) -> Option<&io::Error> {
    match error {
        mysql::Error::IoError(error) => Some(error),
        mysql::Error::CodecError(error) => error.source()?.downcast_ref(),
        _ => None,
    }
}

fn ask(connection: &mut Conn) -> mysql::Result<CounterSet> {
    let mut counters = named(connection, "STATUS", STATUS)?;
    counters.merge(named(connection, "VARIABLES", VARIABLES)?);
    Ok(counters)
}

/// Asks only for these names: the whole table has some five hundred rows.
fn named(connection: &mut Conn, table: &str, names: &[(&str, Metric)]) -> mysql::Result<CounterSet> {
    let list: Vec<String> = names.iter().map(|(theirs, _)| format!("'{theirs}'")).collect();
    let question = format!("SHOW GLOBAL {table} WHERE Variable_name IN ({})", list.join(","));
    let rows: Vec<(String, String)> = connection.query(question)?;
    let values: BTreeMap<String, String> =
        rows.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
    Ok(taken(names, |name| values.get(name).map(String::as_str)))
}

impl Collector for Mariadb {
    fn read(&mut self) -> Vec<Read> {
        let counters = self.counters().map_err(Into::into);
        vec![Read::new(Source::Mariadb, Subject::Named(&self.address), counters)]
    }
}
