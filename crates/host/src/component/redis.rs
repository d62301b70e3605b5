//! Redis, by its command INFO (RESP over TCP).

use std::io::Read;

use plimsoll_record::Reading;

use super::conversation::{ANSWER_BYTES_MAX, Answer, Conversation, Greeting, line};
use super::trouble::Trouble;
use super::{seconds_to_us, taken, told};
use crate::source::{Counters, Source};

const QUESTION: &[u8] = b"*1\r\n$4\r\nINFO\r\n";

/// Fields of INFO that are taken as they are.
const FIELDS: &[(&str, &str)] = &[
    ("total_commands_processed", "commands"),
    ("total_connections_received", "connections"),
    ("rejected_connections", "rejected_connections"),
    ("connected_clients", "connected_clients"),
    ("blocked_clients", "blocked_clients"),
    ("maxclients", "max_clients"),
    ("used_memory", "used_memory_bytes"),
    ("maxmemory", "maxmemory_bytes"),
    ("evicted_keys", "evicted_keys"),
    ("keyspace_hits", "keyspace_hits"),
    ("keyspace_misses", "keyspace_misses"),
    ("total_net_input_bytes", "received_bytes"),
    ("total_net_output_bytes", "sent_bytes"),
    ("aof_delayed_fsync", "delayed_fsyncs"),
];

/// CPU time of the whole process, in seconds with a fraction.
const CPU: [&str; 2] = ["used_cpu_user", "used_cpu_sys"];

/// CPU time of the one thread that runs all commands, which is full at one core however many cores there are. Older servers do
/// not tell of it.
const MAIN_THREAD_CPU: [&str; 2] = ["used_cpu_user_main_thread", "used_cpu_sys_main_thread"];

/// One Redis server. Each sample is one command in its count.
#[derive(Debug)]
pub(super) struct Redis {
    conversation: Conversation,
    /// For a server that wants a password.
    auth: Option<Greeting>,
}

impl Redis {
    pub(super) fn new(address: &str, password: Option<&str>) -> Self {
        let auth = |password: &str| format!("*2\r\n$4\r\nAUTH\r\n${}\r\n{password}\r\n", password.len());
        let auth = password.map(|password| Greeting(auth(password).into_bytes()));
        Self { conversation: Conversation::new("redis", address), auth }
    }

    /// A server without a password takes one for an error, so it is given only where it is wanted.
    fn text(&mut self) -> Result<String, Trouble> {
        let place = self.conversation.place().to_owned();
        match (self.conversation.ask(QUESTION, |answer| bulk(answer, &place)), self.auth.take()) {
            (Err(Trouble::Refused { reason, .. }), Some(auth)) if reason.starts_with("NOAUTH") => {
                self.conversation.greet_with(auth);
                self.conversation.ask(QUESTION, |answer| bulk(answer, &place))
            }
            (outcome, auth) => {
                self.auth = auth;
                outcome
            }
        }
    }

    fn counters(&mut self) -> Result<Counters, Trouble> {
        let text = self.text()?;
        let field = |name: &str| {
            text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
        };
        let mut counters = taken(FIELDS, field);
        if !counters.contains_key("commands") {
            return Err(Trouble::strange(self.conversation.place(), &text, "the answer to INFO"));
        }
        // Zero stands for «no limit» there, which is no limit of zero bytes.
        if counters.get("maxmemory_bytes") == Some(&0) {
            counters.remove("maxmemory_bytes");
        }
        let sum =
            |names: [&str; 2]| Some(seconds_to_us(field(names[0])?)? + seconds_to_us(field(names[1])?)?);
        let cpu = [("cpu_us", sum(CPU)), ("main_thread_cpu_us", sum(MAIN_THREAD_CPU))];
        counters.extend(cpu.into_iter().filter_map(|(name, us)| Some((name.to_owned(), us?))));
        Ok(counters)
    }
}

/// A bulk string of RESP: its length in a line, its bytes, a line's end.
fn bulk(answer: &mut Answer<'_>, place: &str) -> Result<String, Trouble> {
    let first = line(answer, place)?;
    if let Some(reason) = first.strip_prefix('-') {
        return Err(Trouble::refused_password(place, reason));
    }
    let length = first.strip_prefix('$').and_then(|length| length.parse::<u64>().ok());
    let length = length.filter(|length| *length < ANSWER_BYTES_MAX);
    let length = length.ok_or_else(|| Trouble::strange(place, &first, "an answer of Redis"))?;
    let mut text = Vec::new();
    let read = answer.take(length + 2).read_to_end(&mut text);
    read.map_err(|error| Trouble::broken(place, &error))?;
    if text.len() as u64 != length + 2 {
        return Err(Trouble::broken(place, &std::io::ErrorKind::UnexpectedEof.into()));
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

impl Source for Redis {
    fn name(&self) -> &'static str {
        "redis"
    }

    fn read(&mut self) -> Vec<(String, Reading)> {
        vec![(self.conversation.address().to_owned(), told(self.counters()))]
    }
}
