//! Redis, from its command INFO (RESP over TCP).

use std::io::{self, BufRead, Read as _};

use plimsoll_plan::HostPort;
use plimsoll_record::metric::redis;
use plimsoll_record::{CounterSet, Metric, Source};

use super::conversation::{Conversation, MAX_ANSWER_BYTES, accepted_line};
use super::error::{ServerError, collector as server, seconds_to_us};
use crate::collector::{Collector, after, numbers};

const QUESTION: &[u8] = b"*1\r\n$4\r\nINFO\r\n";

/// Fields of INFO that are copied unchanged.
const FIELDS: &[(&str, Metric)] = &[
    ("total_commands_processed:", redis::COMMANDS),
    ("total_connections_received:", redis::CONNECTIONS),
    ("rejected_connections:", redis::REJECTED_CONNECTIONS),
    ("connected_clients:", redis::CONNECTED_CLIENTS),
    ("blocked_clients:", redis::BLOCKED_CLIENTS),
    ("maxclients:", redis::MAX_CLIENTS),
    ("used_memory:", redis::USED_MEMORY_BYTES),
    ("maxmemory:", redis::MAXMEMORY_BYTES),
    ("evicted_keys:", redis::EVICTED_KEYS),
    ("keyspace_hits:", redis::KEYSPACE_HITS),
    ("keyspace_misses:", redis::KEYSPACE_MISSES),
    ("total_net_input_bytes:", redis::RECEIVED_BYTES),
    ("total_net_output_bytes:", redis::SENT_BYTES),
    ("aof_delayed_fsync:", redis::DELAYED_FSYNCS),
];

/// CPU time of the whole process, in seconds with a fraction.
const CPU: [&str; 2] = ["used_cpu_user:", "used_cpu_sys:"];

/// CPU time of the single thread that runs all commands. It can use at most one core. Older servers do not report it.
const MAIN_THREAD_CPU: [&str; 2] = ["used_cpu_user_main_thread:", "used_cpu_sys_main_thread:"];

/// Returns a collector of one Redis server. Redis counts each sample as a command.
pub(super) fn collector(address: &HostPort, password: Option<&str>) -> Collector {
    let address = address.to_string();
    let mut conversation = Conversation::new(&address);
    let auth = |password: &str| format!("*2\r\n$4\r\nAUTH\r\n${}\r\n{password}\r\n", password.len());
    let mut auth = password.map(|password| auth(password).into_bytes());
    server(Source::Redis, format!("redis at {address}"), address, move || {
        counters(&ask_info(&mut conversation, &mut auth)?)
    })
}

/// Parses the counters of an answer to INFO.
pub(super) fn read(mut answer: impl BufRead) -> Result<CounterSet, ServerError> {
    counters(&bulk(&mut answer)?)
}

/// Sends INFO. A server without a password rejects AUTH, so the password is sent only once the server requires it.
fn ask_info(conversation: &mut Conversation, auth: &mut Option<Vec<u8>>) -> Result<String, ServerError> {
    match conversation.ask(QUESTION, |answer| bulk(answer)) {
        Err(ServerError::Refused { reason, .. }) if reason.starts_with("NOAUTH") && auth.is_some() => {
            conversation.greeting = auth.take();
            conversation.ask(QUESTION, |answer| bulk(answer))
        }
        outcome => outcome,
    }
}

fn counters(info: &str) -> Result<CounterSet, ServerError> {
    let mut counters: CounterSet = numbers(info, FIELDS).collect();
    if counters.get(redis::COMMANDS).is_none() {
        return Err(ServerError::unexpected(info, "the answer to INFO"));
    }
    // 0 means that there is no limit.
    if counters.get(redis::MAXMEMORY_BYTES) == Some(0) {
        counters.remove(redis::MAXMEMORY_BYTES);
    }
    let us = |name: &str| seconds_to_us(after(info, name)?);
    let sum = |[user, system]: [&str; 2]| Some(us(user)?.saturating_add(us(system)?));
    counters.put(redis::CPU_US, sum(CPU));
    counters.put(redis::MAIN_THREAD_CPU_US, sum(MAIN_THREAD_CPU));
    Ok(counters)
}

/// Reads a bulk string of RESP: a line with its length, its bytes, a line end.
fn bulk(answer: &mut impl BufRead) -> Result<String, ServerError> {
    let first = accepted_line(answer)?;
    let length = first.strip_prefix('$').and_then(|length| length.parse::<u64>().ok());
    let length = length.filter(|length| *length < MAX_ANSWER_BYTES);
    let length = length.ok_or_else(|| ServerError::unexpected(&first, "an answer of Redis"))?;
    let mut text = Vec::new();
    answer.by_ref().take(length + 2).read_to_end(&mut text)?;
    if text.len() as u64 != length + 2 {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}
