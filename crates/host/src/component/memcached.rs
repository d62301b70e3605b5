//! memcached, by its command `stats`.

use std::collections::BTreeMap;

use plimsoll_record::Reading;

use super::conversation::{Answer, Conversation, line};
use super::trouble::Trouble;
use super::{seconds_to_us, taken, told};
use crate::source::{Counters, Source};

/// Statistics that are taken as they are. Gauges are `curr_connections`, `max_connections`, `threads`, `items_bytes` and
/// `limit_bytes`.
const STATISTICS: &[(&str, &str)] = &[
    ("cmd_get", "commands_get"),
    ("cmd_set", "commands_set"),
    ("get_hits", "get_hits"),
    ("get_misses", "get_misses"),
    ("evictions", "evictions"),
    ("threads", "threads"),
    ("curr_connections", "curr_connections"),
    ("max_connections", "max_connections"),
    ("total_connections", "connections"),
    ("rejected_connections", "rejected_connections"),
    ("listen_disabled_num", "listen_disabled"),
    ("conn_yields", "connection_yields"),
    ("bytes", "items_bytes"),
    ("limit_maxbytes", "limit_bytes"),
    ("bytes_read", "received_bytes"),
    ("bytes_written", "sent_bytes"),
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

    fn counters(&mut self) -> Result<Counters, Trouble> {
        let place = self.conversation.place().to_owned();
        let statistics = self.conversation.ask(b"stats\r\n", |answer| statistics(answer, &place))?;
        let value = |name: &str| statistics.get(name).map(String::as_str);
        let mut counters = taken(STATISTICS, value);
        let cpu_us = |name| seconds_to_us(value(name)?);
        if let (Some(user), Some(system)) = (cpu_us("rusage_user"), cpu_us("rusage_system")) {
            counters.insert("cpu_us".to_owned(), user + system);
        }
        Ok(counters)
    }
}

/// The lines `STAT name value` up to `END`.
fn statistics(answer: &mut Answer<'_>, place: &str) -> Result<BTreeMap<String, String>, Trouble> {
    let mut statistics = BTreeMap::new();
    loop {
        let text = line(answer, place)?;
        if text == "END" {
            return Ok(statistics);
        }
        let entry = text.strip_prefix("STAT ").and_then(|entry| entry.split_once(' '));
        let (name, value) = entry.ok_or_else(|| Trouble::strange(place, &text, "a line of `stats`"))?;
        statistics.insert(name.to_owned(), value.to_owned());
    }
}

impl Source for Memcached {
    fn name(&self) -> &'static str {
        "memcached"
    }

    fn read(&mut self) -> Vec<(String, Reading)> {
        vec![(self.conversation.address().to_owned(), told(self.counters()))]
    }
}
