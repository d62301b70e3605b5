//! The recorded data of requests with a trace id.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::FailureKind;

/// A trace id as in the `traceparent` header of W3C Trace Context. It is not zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TraceId(pub u128);

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// The error for a text that is not a trace id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a trace id has 32 hexadecimal digits and is not zero")]
pub struct NoTraceId;

impl FromStr for TraceId {
    type Err = NoTraceId;

    fn from_str(text: &str) -> Result<Self, NoTraceId> {
        let is_hex = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let id = u128::from_str_radix(text, 16).ok().filter(|id| is_hex && *id != 0);
        id.map(Self).ok_or(NoTraceId)
    }
}

impl Serialize for TraceId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TraceId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// A request that carried a trace id, and how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    pub id: TraceId,
    /// Index of the request in the plan.
    pub request: u16,
    /// When it was sent, in nanoseconds since the run began; if it was sent twice, the second time.
    pub sent_ns: u64,
    /// done − intended, or its age when it was given up; `None` if its connection failed.
    pub latency_ns: Option<u64>,
    /// The status of its response; `None` if it got none.
    pub status: Option<u16>,
    /// The kind of failure; `None` if it got a response.
    pub failure: Option<FailureKind>,
    /// Whether its response was a success, as in [`Counts::ok`](crate::Counts::ok).
    pub ok: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_as_it_is_written() {
        let text = "00000000000000010000000000abcdef";
        assert_eq!(text.parse::<TraceId>().unwrap().to_string(), text);
        for wrong in ["", "1", &"0".repeat(32), &"g".repeat(32), &format!("+{}", "1".repeat(31))] {
            assert_eq!(wrong.parse::<TraceId>(), Err(NoTraceId), "{wrong}");
        }
    }
}
