//! MariaDB and MySQL, by SHOW GLOBAL STATUS and SHOW GLOBAL VARIABLES.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::{fmt, io};

use mysql::prelude::Queryable as _;
use mysql::{Conn, DriverError, Opts, OptsBuilder};
use plimsoll_record::Reading;

use super::trouble::Trouble;
use super::{DEADLINE, taken, told};
use crate::source::{Counters, Source};

/// Status variables that are taken as they are; `Innodb_row_lock_time` counts milliseconds.
const STATUS: &[(&str, &str)] = &[
    ("questions", "questions"),
    ("connections", "connections"),
    ("threads_running", "threads_running"),
    ("threads_connected", "threads_connected"),
    ("threads_created", "threads_created"),
    ("slow_queries", "slow_queries"),
    ("table_locks_waited", "table_locks_waited"),
    ("innodb_row_lock_time", "innodb_row_lock_time_ms"),
    ("innodb_row_lock_waits", "innodb_row_lock_waits"),
    ("innodb_row_lock_current_waits", "innodb_row_lock_current_waits"),
    ("handler_commit", "commits"),
    // MariaDB has not counted these since 10.8.
    ("innodb_os_log_fsyncs", "innodb_os_log_fsyncs"),
    ("innodb_os_log_written", "innodb_os_log_written_bytes"),
    ("innodb_data_fsyncs", "innodb_data_fsyncs"),
    ("innodb_log_waits", "innodb_log_waits"),
    ("innodb_buffer_pool_wait_free", "innodb_buffer_pool_wait_free"),
    ("aborted_connects", "aborted_connects"),
    ("connection_errors_max_connections", "connection_errors_max_connections"),
    ("bytes_received", "received_bytes"),
    ("bytes_sent", "sent_bytes"),
];

/// Settings that are limits.
const VARIABLES: &[(&str, &str)] =
    &[("max_connections", "max_connections"), ("innodb_buffer_pool_size", "innodb_buffer_pool_bytes")];

/// The error numbers by which a server says no: no access, too many connections, blocked host.
const ACCESS_DENIED: [u16; 4] = [1044, 1045, 1698, 1227];
const TOO_MANY_CONNECTIONS: u16 = 1040;

const USUAL_PORT: u16 = 3306;

/// Who asks. Its printed form does not hold the password.
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
            // The socket's path, as a local server would tell it, may be that of another container.
            .prefer_socket(false)
            .tcp_connect_timeout(Some(DEADLINE))
            .read_timeout(Some(DEADLINE))
            .write_timeout(Some(DEADLINE));
        let place = format!("mariadb at {address}");
        Self { place, address: address.to_owned(), options: options.into(), connection: None }
    }

    /// As with other components, a connection that was closed meanwhile is made anew, once.
    fn counters(&mut self) -> Result<Counters, Trouble> {
        if let Some(connection) = &mut self.connection {
            match asked(connection) {
                Ok(counters) => return Ok(counters),
                Err(_) => self.connection = None,
            }
        }
        let mut connection = Conn::new(self.options.clone()).map_err(|error| self.trouble(error))?;
        let counters = asked(&mut connection).map_err(|error| self.trouble(error))?;
        self.connection = Some(connection);
        Ok(counters)
    }

    fn trouble(&self, error: mysql::Error) -> Trouble {
        let place = self.place.clone();
        match error {
            mysql::Error::MySqlError(error) if ACCESS_DENIED.contains(&error.code) => Trouble::Refused {
                place,
                reason: error.message,
                advice: "give a user it knows, as in mariadb://user:password@host:3306",
            },
            mysql::Error::MySqlError(error) if error.code == TOO_MANY_CONNECTIONS => Trouble::Refused {
                place,
                reason: error.message,
                advice: "raise its max_connections, or look at it before the load takes them all",
            },
            mysql::Error::DriverError(DriverError::ConnectTimeout | DriverError::Timeout) => {
                Trouble::Late { place }
            }
            mysql::Error::DriverError(DriverError::CouldNotConnect(reason)) => {
                let kind = reason.map_or(io::ErrorKind::Other, |(.., kind)| kind);
                Trouble::Unreachable { place, reason: kind.into() }
            }
            other => match system_error(&other) {
                Some(error) => Trouble::broken(&place, error),
                None => Trouble::Broken { place, reason: other.to_string() },
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

fn asked(connection: &mut Conn) -> mysql::Result<Counters> {
    let mut counters = named(connection, "STATUS", STATUS)?;
    counters.extend(named(connection, "VARIABLES", VARIABLES)?);
    Ok(counters)
}

/// The server leaves out what is not asked for: all of it is some five hundred rows.
fn named(connection: &mut Conn, table: &str, names: &[(&str, &str)]) -> mysql::Result<Counters> {
    let wanted: Vec<String> = names.iter().map(|(theirs, _)| format!("'{theirs}'")).collect();
    let question = format!("SHOW GLOBAL {table} WHERE Variable_name IN ({})", wanted.join(","));
    let rows: Vec<(String, String)> = connection.query(question)?;
    let values: BTreeMap<String, String> =
        rows.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
    Ok(taken(names, |name| values.get(name).map(String::as_str)))
}

impl Source for Mariadb {
    fn name(&self) -> &'static str {
        "mariadb"
    }

    fn read(&mut self) -> Vec<(String, Reading)> {
        vec![(self.address.clone(), told(self.counters()))]
    }
}
