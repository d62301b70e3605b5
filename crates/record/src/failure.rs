//! The kinds of failures of a request.

use serde::{Deserialize, Serialize};

/// The phase of a request in which it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailurePhase {
    Resolve,
    Connect,
    Handshake,
    Send,
    /// Waiting for the first byte of the response.
    FirstByte,
    /// Reading the rest of the response.
    Read,
}

/// One row of the table of failures.
#[derive(Debug, Clone, Copy)]
pub struct FailureRow {
    pub kind: FailureKind,
    /// In JSON, run files and text.
    pub name: &'static str,
    pub phase: FailurePhase,
    /// What happened, for people.
    pub meaning: &'static str,
    /// What to check or to do.
    pub remedy: &'static str,
}

/// Makes the kinds and their table. A row is the kind, its name, the phase, the meaning, and the remedy.
macro_rules! failures {
    ($($kind:ident $name:literal $phase:ident $meaning:literal $remedy:literal;)*) => {
        /// Why a request has no complete, well-formed response.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[repr(u8)]
        pub enum FailureKind {
            $($kind),*
        }

        /// Every kind of failure, in the order of [`FailureKind`].
        pub const FAILURES: &[FailureRow] = &[$(FailureRow {
            kind: FailureKind::$kind,
            name: $name,
            phase: FailurePhase::$phase,
            meaning: $meaning,
            remedy: $remedy,
        }),*];
    };
}

failures! {
    ConnectRefused "connect_refused" Connect
        "the target refused the connection"
        "is the server up and listening on this port?";
    ConnectTimedOut "connect_timed_out" Connect
        "no answer to the connection request"
        "look for a firewall, a full accept backlog (net.core.somaxconn), or raise --timeout";
    ConnectUnreachable "connect_unreachable" Connect
        "no route to the target"
        "check the address and the route to it (ip route get ADDRESS)";
    ConnectReset "connect_reset" Connect
        "the target reset the connection while it was being made"
        "a server that is going down, or a full accept backlog: look at the server's log";
    ConnectFailed "connect_failed" Connect
        "the system refused to make the connection"
        "look for a firewall on this machine, or for memory that has run out";
    NoPortsLeft "no_ports_left" Connect
        "this machine has no local port left for the target"
        "widen net.ipv4.ip_local_port_range or use fewer connections";
    NoDescriptorsLeft "no_descriptors_left" Connect
        "this process has no descriptor left"
        "raise the limit (ulimit -n) or use fewer connections";
    BacklogFull "backlog_full" Connect
        "the unix socket's queue of connections to be accepted stayed full"
        "let the server listen with a longer backlog, after raising net.core.somaxconn";
    TlsHandshake "tls_handshake" Handshake
        "client and server did not agree on a TLS session"
        "does the port speak TLS 1.2 or 1.3, and does it demand a client certificate (--cert, --key)? look at the server's log";
    TlsCertificate "tls_certificate" Handshake
        "the server's certificate is not trusted for this name"
        "name its authority with --cacert, or skip the check with --insecure";
    ScriptError "script_error" Send
        "the script or the template that makes the request failed"
        "fix the script: its first error is among the events";
    SendReset "send_reset" Send
        "the connection was reset while the request was sent"
        "the server closes while reading: look at its limits on request size and time";
    ClosedBeforeResponse "closed_before_response" FirstByte
        "the server closed the connection instead of answering"
        "look at the server's log and connection limits";
    ResetBeforeResponse "reset_before_response" FirstByte
        "the server reset the connection instead of answering"
        "look at the server's log and connection limits";
    ClosedWithinResponse "closed_within_response" Read
        "the connection closed before the response was complete"
        "the body is shorter than announced: look at the server's log";
    ResetWithinResponse "reset_within_response" Read
        "the connection was reset before the response was complete"
        "look at the server's log: it broke off an answer";
    MalformedHead "malformed_head" Read
        "the response head is not HTTP/1.1"
        "does the port speak plain HTTP?";
    HeadTooLarge "head_too_large" Read
        "the response head is larger than 64 KiB"
        "look for runaway headers or cookies";
    MalformedFraming "malformed_framing" Read
        "the length of the body is stated wrongly or twice"
        "look at Content-Length and Transfer-Encoding of the response";
    MalformedChunk "malformed_chunk" Read
        "a chunk of the body is not framed as RFC 9112 says"
        "look at the server's chunked encoding";
    BytesAfterResponse "bytes_after_response" Read
        "more bytes came than the response announced"
        "Content-Length is too small, or the server answers twice";
    TlsRecord "tls_record" Read
        "an encrypted record was broken, or cut off without the closing notice"
        "look at the server's log, and for a proxy between that breaks off";
    H2Protocol "h2_protocol" Read
        "the server broke the rules of HTTP/2"
        "look at the server's log: the whole connection was given up for it";
    H2Reset "h2_reset" Read
        "the server reset the request's stream"
        "look at the server's log and its limits on streams and their rate";
    H2Refused "h2_refused" FirstByte
        "the server refused the stream and no other connection served it"
        "ask for fewer streams on a connection, or raise the server's limit on them";
    TimedOut "timed_out" FirstByte
        "no complete response within the timeout"
        "the server is too slow at this load, or raise --timeout";
    Unanswered "unanswered" FirstByte
        "sent, and still without a response when the waiting for it ended"
        "the run was interrupted, or its budget ended first";
    Unsent "unsent" Send
        "due by the schedule, but never sent until the end"
        "lower the rate; where every connection was taken, raise --max-connections, and where the generator itself was at its limit, use more workers (-t) or another machine";
}

impl FailureRow {
    /// What to check or to do; over a unix socket there are no ports, routes and firewalls.
    #[must_use]
    pub fn remedy_over(&self, unix_socket: bool) -> &'static str {
        match self.kind {
            _ if !unix_socket => self.remedy,
            FailureKind::ConnectRefused => {
                "is the server up and listening on this socket? its file stays behind when a server ends"
            }
            FailureKind::ConnectTimedOut => "the server does not accept: look at its log, or raise --timeout",
            FailureKind::ConnectReset => "a server that is going down: look at its log",
            FailureKind::ConnectFailed => {
                "may this user write to the socket's file, and is it a stream socket (ls -l FILE)?"
            }
            FailureKind::TlsHandshake => {
                "does the socket speak TLS 1.2 or 1.3, and does it demand a client certificate (--cert, --key)? look at the server's log"
            }
            FailureKind::MalformedHead => "does the socket speak plain HTTP?",
            _ => self.remedy,
        }
    }
}

impl FailureKind {
    /// How many kinds there are.
    pub const COUNT: usize = FAILURES.len();

    /// This kind's row in the table of failures.
    pub fn row(self) -> &'static FailureRow {
        &FAILURES[self as usize]
    }

    /// The name in JSON, in run files and in text.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The kind of this name, as stored in a run file.
    pub fn from_name(name: &str) -> Option<Self> {
        FAILURES.iter().find(|row| row.name == name).map(|row| row.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_stands_in_its_own_row_and_is_found_by_name() {
        for (index, row) in FAILURES.iter().enumerate() {
            assert_eq!(row.kind as usize, index, "{}", row.name);
            assert_eq!(FailureKind::from_name(row.name), Some(row.kind));
            let serialized = serde_json::to_value(row.kind).unwrap();
            assert_eq!(serialized, row.name);
        }
    }
}
