//! MariaDB and MySQL, from SHOW GLOBAL STATUS and SHOW GLOBAL VARIABLES.

use std::error::Error as _;
use std::io;

use mysql::prelude::Queryable as _;
use mysql::{Conn, DriverError, Opts, OptsBuilder};
use plimsoll_plan::HostPort;
use plimsoll_record::metric::mariadb;
use plimsoll_record::{CounterSet, Metric, Source};

use super::error::{DEADLINE, ServerError, collector as server};
use crate::collector::Collector;

/// Status variables that are copied unchanged; `Innodb_row_lock_time` is in milliseconds.
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
    // MariaDB has not counted these since 10.8.
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

/// The error numbers of a refusal: access denied, too many connections.
const ACCESS_DENIED: [u16; 4] = [1044, 1045, 1698, 1227];
const TOO_MANY_CONNECTIONS: u16 = 1040;

/// Returns a collector of one database server. The user needs no privilege. Each sample takes two questions, over one
/// persistent connection.
pub(super) fn collector(address: &HostPort, user: &str, password: Option<&str>) -> Collector {
    let options: Opts = OptsBuilder::new()
        .ip_or_hostname(Some(&address.host))
        .tcp_port(address.port)
        .user(Some(user))
        .pass(password)
        // The socket path that a local server reports may be in another container.
        .prefer_socket(false)
        .tcp_connect_timeout(Some(DEADLINE))
        .read_timeout(Some(DEADLINE))
        .write_timeout(Some(DEADLINE))
        .into();
    let mut connection = None;
    server(Source::Mariadb, format!("mariadb at {address}"), address.to_string(), move || {
        Ok(counters(&options, &mut connection)?)
    })
}

/// Queries the server. As with other servers, a connection closed in the meantime is reopened once.
fn counters(options: &Opts, connection: &mut Option<Conn>) -> mysql::Result<CounterSet> {
    if let Some(mut open) = connection.take()
        && let Ok(counters) = ask(&mut open)
    {
        *connection = Some(open);
        return Ok(counters);
    }
    let mut opened = Conn::new(options.clone())?;
    let counters = ask(&mut opened)?;
    *connection = Some(opened);
    Ok(counters)
}

impl From<mysql::Error> for ServerError {
    fn from(error: mysql::Error) -> Self {
        let refused = |reason, advice| Self::Refused { reason, advice };
        match error {
            mysql::Error::MySqlError(error) if ACCESS_DENIED.contains(&error.code) => {
                refused(error.message, "give a user it knows, as in mariadb://user:password@host:3306")
            }
            mysql::Error::MySqlError(error) if error.code == TOO_MANY_CONNECTIONS => {
                refused(error.message, "raise its max_connections, or connect before the load takes them all")
            }
            mysql::Error::DriverError(DriverError::ConnectTimeout | DriverError::Timeout) => Self::Late,
            mysql::Error::DriverError(DriverError::CouldNotConnect(reason)) => {
                Self::Unreachable(reason.map_or(io::ErrorKind::Other, |(.., kind)| kind).into())
            }
            mysql::Error::IoError(error) => error.into(),
            // The library's message does not name the cause of this error.
            mysql::Error::CodecError(error) => {
                match error.source().and_then(|cause| cause.downcast_ref::<io::Error>()) {
                    Some(cause) => Self::from(cause),
                    None => Self::Broken(mysql::Error::CodecError(error).to_string()),
                }
            }
            other => Self::Broken(other.to_string()),
        }
    }
}

fn ask(connection: &mut Conn) -> mysql::Result<CounterSet> {
    let mut counters = named(connection, "STATUS", STATUS)?;
    counters.merge(named(connection, "VARIABLES", VARIABLES)?);
    Ok(counters)
}

/// Queries only these names: the whole table has about five hundred rows.
fn named(connection: &mut Conn, table: &str, names: &[(&str, Metric)]) -> mysql::Result<CounterSet> {
    let list: Vec<String> = names.iter().map(|(theirs, _)| format!("'{theirs}'")).collect();
    let question = format!("SHOW GLOBAL {table} WHERE Variable_name IN ({})", list.join(","));
    let rows: Vec<(String, String)> = connection.query(question)?;
    let value = |theirs: &str| {
        let row = rows.iter().find(|(name, _)| name.eq_ignore_ascii_case(theirs))?;
        row.1.trim().parse::<u64>().ok()
    };
    Ok(names.iter().map(|(theirs, metric)| (*metric, value(theirs))).collect())
}
