//! Redis, by its command INFO (RESP over TCP).

use std::io::Read as _;

use plimsoll_record::metric::redis;
use plimsoll_record::{CounterSet, Metric, Source, Subject};

use super::conversation::{Answer, Conversation, Greeting, MAX_ANSWER_BYTES, line};
use super::error::ComponentError;
use super::exchange::{seconds_to_us, taken};
use crate::collector::{Collector, Read};

const QUESTION: &[u8] = b"*1\r\n$4\r\nINFO\r\n";

/// Fields of INFO that are taken as they are.
const FIELDS: &[(&str, Metric)] = &[
    ("total_commands_processed", redis::COMMANDS),
    ("total_connections_received", redis::CONNECTIONS),
    ("rejected_connections", redis::REJECTED_CONNECTIONS),
    ("connected_clients", redis::CONNECTED_CLIENTS),
    ("blocked_clients", redis::BLOCKED_CLIENTS),
    ("maxclients", redis::MAX_CLIENTS),
    ("used_memory", redis::USED_MEMORY_BYTES),
    ("maxmemory", redis::MAXMEMORY_BYTES),
    ("evicted_keys", redis::EVICTED_KEYS),
    ("keyspace_hits", redis::KEYSPACE_HITS),
    ("keyspace_misses", redis::KEYSPACE_MISSES),
    ("total_net_input_bytes", redis::RECEIVED_BYTES),
    ("total_net_output_bytes", redis::SENT_BYTES),
    ("aof_delayed_fsync", redis::DELAYED_FSYNCS),
];

/// CPU time of the whole process, in seconds with a fraction.
const CPU: [&str; 2] = ["used_cpu_user", "used_cpu_sys"];

/// CPU time of the one thread that runs all commands, which can use one core however many there are. Older servers do not
/// report it.
const MAIN_THREAD_CPU: [&str; 2] = ["used_cpu_user_main_thread", "used_cpu_sys_main_thread"];

/// One Redis server. Each sample is one command of its count.
#[derive(Debug)]
pub(super) struct Redis {
    conversation: Conversation,
    /// For a server that requires a password.
    auth: Option<Greeting>,
}

impl Redis {
    pub(super) fn new(address: &str, password: Option<&str>) -> Self {
        let auth = |password: &str| format!("*2\r\n$4\r\nAUTH\r\n${}\r\n{password}\r\n", password.len());
        let auth = password.map(|password| Greeting(auth(password).into_bytes()));
        Self { conversation: Conversation::new("redis", address), auth }
    }

    /// A server without a password rejects one, so that it is sent only where it is required.
    fn text(&mut self) -> Result<String, ComponentError> {
        let place = self.conversation.place().to_owned();
        match (self.conversation.ask(QUESTION, |answer| bulk(answer, &place)), self.auth.take()) {
            (Err(ComponentError::Refused { reason, .. }), Some(auth)) if reason.starts_with("NOAUTH") => {
                self.conversation.greet_with(auth);
                self.conversation.ask(QUESTION, |answer| bulk(answer, &place))
            }
            (outcome, auth) => {
                self.auth = auth;
                outcome
            }
        }
    }

    fn counters(&mut self) -> Result<CounterSet, ComponentError> {
        let text = self.text()?;
        let field = |name: &str| {
            text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
        };
        let mut counters = taken(FIELDS, field);
        if counters.get(redis::COMMANDS).is_none() {
            return Err(ComponentError::unexpected(self.conversation.place(), &text, "the answer to INFO"));
        }
        // 0 means that there is no limit.
        if counters.get(redis::MAXMEMORY_BYTES) == Some(0) {
            counters.remove(redis::MAXMEMORY_BYTES);
        }
        let sum =
            |names: [&str; 2]| Some(seconds_to_us(field(names[0])?)? + seconds_to_us(field(names[1])?)?);
        counters.put(redis::CPU_US, sum(CPU));
        counters.put(redis::MAIN_THREAD_CPU_US, sum(MAIN_THREAD_CPU));
        Ok(counters)
    }
}

/// A bulk string of RESP: its length in a line, its bytes, a line's end.
fn bulk(answer: &mut Answer<'_>, place: &str) -> Result<String, ComponentError> {
    let first = line(answer, place)?;
    if let Some(reason) = first.strip_prefix('-') {
        return Err(ComponentError::refused_password(place, reason));
    }
    let length = first.strip_prefix('$').and_then(|length| length.parse::<u64>().ok());
    let length = length.filter(|length| *length < MAX_ANSWER_BYTES);
    let length = length.ok_or_else(|| ComponentError::unexpected(place, &first, "an answer of Redis"))?;
    let mut text = Vec::new();
    let read = answer.take(length + 2).read_to_end(&mut text);
    read.map_err(|error| ComponentError::broken(place, &error))?;
    if text.len() as u64 != length + 2 {
        return Err(ComponentError::broken(place, &std::io::ErrorKind::UnexpectedEof.into()));
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

impl Collector for Redis {
    fn read(&mut self) -> Vec<Read> {
        let counters = self.counters().map_err(Into::into);
        vec![Read::new(Source::Redis, Subject::Named(self.conversation.address()), counters)]
    }
}
