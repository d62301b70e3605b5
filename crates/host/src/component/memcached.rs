//! memcached, by its command `stats`.

use std::collections::BTreeMap;

use plimsoll_record::metric::memcached;
use plimsoll_record::{CounterSet, Metric, Source, Subject};

use super::conversation::{Answer, Conversation, line};
use super::error::ComponentError;
use super::exchange::{seconds_to_us, taken};
use crate::collector::{Collector, Read};

/// Statistics that are taken as they are.
const STATISTICS: &[(&str, Metric)] = &[
    ("cmd_get", memcached::COMMANDS_GET),
    ("cmd_set", memcached::COMMANDS_SET),
    ("get_hits", memcached::GET_HITS),
    ("get_misses", memcached::GET_MISSES),
    ("evictions", memcached::EVICTIONS),
    ("threads", memcached::THREADS),
    ("curr_connections", memcached::CURR_CONNECTIONS),
    ("max_connections", memcached::MAX_CONNECTIONS),
    ("total_connections", memcached::CONNECTIONS),
    ("rejected_connections", memcached::REJECTED_CONNECTIONS),
    ("listen_disabled_num", memcached::LISTEN_DISABLED),
    ("conn_yields", memcached::CONNECTION_YIELDS),
    ("bytes", memcached::ITEMS_BYTES),
    ("limit_maxbytes", memcached::LIMIT_BYTES),
    ("bytes_read", memcached::RECEIVED_BYTES),
    ("bytes_written", memcached::SENT_BYTES),
];

/// One memcached.
#[derive(Debug)]
pub(super) struct Memcached {
    conversation: Conversation,
}

impl Memcached {
    pub(super) fn new(address: &str) -> Self {
        Self { conversation: Conversation::new("memcached", address) }
    }

    fn counters(&mut self) -> Result<CounterSet, ComponentError> {
        let place = self.conversation.place().to_owned();
        let statistics = self.conversation.ask(b"stats\r\n", |answer| statistics(answer, &place))?;
        let value = |name: &str| statistics.get(name).map(String::as_str);
        let mut counters = taken(STATISTICS, value);
        let cpu_us = |name| seconds_to_us(value(name)?);
        if let (Some(user), Some(system)) = (cpu_us("rusage_user"), cpu_us("rusage_system")) {
            counters.put(memcached::CPU_US, user + system);
        }
        Ok(counters)
    }
}

/// The lines `STAT name value` up to `END`.
fn statistics(answer: &mut Answer<'_>, place: &str) -> Result<BTreeMap<String, String>, ComponentError> {
    let mut statistics = BTreeMap::new();
    loop {
        let text = line(answer, place)?;
        if text == "END" {
            return Ok(statistics);
        }
        let entry = text.strip_prefix("STAT ").and_then(|entry| entry.split_once(' '));
        let (name, value) =
            entry.ok_or_else(|| ComponentError::unexpected(place, &text, "a line of `stats`"))?;
        statistics.insert(name.to_owned(), value.to_owned());
    }
}

impl Collector for Memcached {
    fn read(&mut self) -> Vec<Read> {
        let counters = self.counters().map_err(Into::into);
        vec![Read::new(Source::Memcached, Subject::Named(self.conversation.address()), counters)]
    }
}
