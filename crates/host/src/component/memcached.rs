//! memcached, from its command `stats`.

use std::io::BufRead;

use plimsoll_plan::HostPort;
use plimsoll_record::metric::memcached;
use plimsoll_record::{CounterSet, Metric, Source};

use super::conversation::{Conversation, line};
use super::error::{ServerError, collector as server, seconds_to_us};
use crate::collector::{Collector, after, numbers};

/// Statistics that are copied unchanged.
const STATISTICS: &[(&str, Metric)] = &[
    ("cmd_get ", memcached::COMMANDS_GET),
    ("cmd_set ", memcached::COMMANDS_SET),
    ("get_hits ", memcached::GET_HITS),
    ("get_misses ", memcached::GET_MISSES),
    ("evictions ", memcached::EVICTIONS),
    ("threads ", memcached::THREADS),
    ("curr_connections ", memcached::CURR_CONNECTIONS),
    ("max_connections ", memcached::MAX_CONNECTIONS),
    ("total_connections ", memcached::CONNECTIONS),
    ("rejected_connections ", memcached::REJECTED_CONNECTIONS),
    ("listen_disabled_num ", memcached::LISTEN_DISABLED),
    ("conn_yields ", memcached::CONNECTION_YIELDS),
    ("bytes ", memcached::ITEMS_BYTES),
    ("limit_maxbytes ", memcached::LIMIT_BYTES),
    ("bytes_read ", memcached::RECEIVED_BYTES),
    ("bytes_written ", memcached::SENT_BYTES),
];

/// Returns a collector of one memcached server.
pub(super) fn collector(address: &HostPort) -> Collector {
    let address = address.to_string();
    let mut conversation = Conversation::new(&address);
    server(Source::Memcached, format!("memcached at {address}"), address, move || {
        conversation.ask(b"stats\r\n", |answer| read(answer))
    })
}

/// Parses the counters of an answer to `stats`.
pub(super) fn read(mut answer: impl BufRead) -> Result<CounterSet, ServerError> {
    let statistics = statistics(&mut answer)?;
    let mut counters: CounterSet = numbers(&statistics, STATISTICS).collect();
    let us = |name: &str| seconds_to_us(after(&statistics, name)?);
    let cpu_us = us("rusage_user ").zip(us("rusage_system "));
    counters.put(memcached::CPU_US, cpu_us.map(|(user, system)| user.saturating_add(system)));
    Ok(counters)
}

/// Reads the lines `STAT name value` up to `END`, without their first word.
fn statistics(answer: &mut impl BufRead) -> Result<String, ServerError> {
    let mut statistics = String::new();
    loop {
        let text = line(answer)?;
        if text == "END" {
            return Ok(statistics);
        }
        let entry = text.strip_prefix("STAT ").filter(|entry| entry.contains(' '));
        statistics += entry.ok_or_else(|| ServerError::unexpected(&text, "a line of `stats`"))?;
        statistics.push('\n');
    }
}
