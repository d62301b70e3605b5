//! The kinds of failures of a request.

use serde::{Deserialize, Serialize};

/// The phase of a request in which it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailurePhase {
    /// Resolving the host's name.
    Resolve,
    /// Opening the connection.
    Connect,
    /// The TLS handshake.
    Handshake,
    /// Writing the request.
    Send,
    /// Waiting for the first byte of the response.
    FirstByte,
    /// Reading the rest of the response.
    Read,
}

/// Why a request has no complete, well-formed response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum FailureKind {
    ConnectRefused,
    ConnectTimedOut,
    ConnectUnreachable,
    ConnectReset,
    ConnectFailed,
    NoPortsLeft,
    NoDescriptorsLeft,
    BacklogFull,
    TlsHandshake,
    TlsCertificate,
    ScriptError,
    SendReset,
    ClosedBeforeResponse,
    ResetBeforeResponse,
    ClosedWithinResponse,
    ResetWithinResponse,
    MalformedHead,
    HeadTooLarge,
    MalformedFraming,
    MalformedChunk,
    BytesAfterResponse,
    TlsRecord,
    H2Protocol,
    H2Reset,
    H2Refused,
    TimedOut,
    Unanswered,
    Unsent,
}

/// One row of the table of failures.
#[derive(Debug, Clone, Copy)]
pub struct FailureRow {
    /// The kind this row describes.
    pub kind: FailureKind,
    /// Its name in JSON, run files and text.
    pub name: &'static str,
    /// The phase in which it happens.
    pub phase: FailurePhase,
    /// What happened, for people.
    pub meaning: &'static str,
    /// What to check or to do.
    pub remedy: &'static str,
}

impl FailureRow {
    /// What to check or to do; over a unix socket there are no ports, routes and firewalls.
    #[must_use]
    pub fn remedy_over(&self, unix_socket: bool) -> &'static str {
        match self.kind {
            _ if !unix_socket => self.remedy,
            K::ConnectRefused => {
                "is the server up and listening on this socket? its file stays behind when a server ends"
            }
            K::ConnectTimedOut => "the server does not accept: look at its log, or raise --timeout",
            K::ConnectReset => "a server that is going down: look at its log",
            K::ConnectFailed => {
                "may this user write to the socket's file, and is it a stream socket (ls -l FILE)?"
            }
            K::TlsHandshake => {
                "does the socket speak TLS 1.2 or 1.3, and does it demand a client certificate (--cert, --key)? look at the server's log"
            }
            K::MalformedHead => "does the socket speak plain HTTP?",
            _ => self.remedy,
        }
    }
}

const fn row(
    kind: FailureKind,
    name: &'static str,
    phase: FailurePhase,
    meaning: &'static str,
    remedy: &'static str,
) -> FailureRow {
    FailureRow { kind, name, phase, meaning, remedy }
}

use FailureKind as K;
use FailurePhase as P;

/// Every kind of failure, in the order of [`FailureKind`].
pub const FAILURES: [FailureRow; 28] = [
    row(
        K::ConnectRefused,
        "connect_refused",
        P::Connect,
        "the target refused the connection",
        "is the server up and listening on this port?",
    ),
    row(
        K::ConnectTimedOut,
        "connect_timed_out",
        P::Connect,
        "no answer to the connection request",
        "look for a firewall, a full accept backlog (net.core.somaxconn), or raise --timeout",
    ),
    row(
        K::ConnectUnreachable,
        "connect_unreachable",
        P::Connect,
        "no route to the target",
        "check the address and the route to it (ip route get ADDRESS)",
    ),
    row(
        K::ConnectReset,
        "connect_reset",
        P::Connect,
        "the target reset the connection while it was being made",
        "a server that is going down, or a full accept backlog: look at the server's log",
    ),
    row(
        K::ConnectFailed,
        "connect_failed",
        P::Connect,
        "the system refused to make the connection",
        "look for a firewall on this machine, or for memory that has run out",
    ),
    row(
        K::NoPortsLeft,
        "no_ports_left",
        P::Connect,
        "this machine has no local port left for the target",
        "widen net.ipv4.ip_local_port_range or use fewer connections",
    ),
    row(
        K::NoDescriptorsLeft,
        "no_descriptors_left",
        P::Connect,
        "this process has no descriptor left",
        "raise the limit (ulimit -n) or use fewer connections",
    ),
    row(
        K::BacklogFull,
        "backlog_full",
        P::Connect,
        "the unix socket's queue of connections to be accepted stayed full",
        "let the server listen with a longer backlog, after raising net.core.somaxconn",
    ),
    row(
        K::TlsHandshake,
        "tls_handshake",
        P::Handshake,
        "client and server did not agree on a TLS session",
        "does the port speak TLS 1.2 or 1.3, and does it demand a client certificate (--cert, --key)? look at the server's log",
    ),
    row(
        K::TlsCertificate,
        "tls_certificate",
        P::Handshake,
        "the server's certificate is not trusted for this name",
        "name its authority with --cacert, or skip the check with --insecure",
    ),
    row(
        K::ScriptError,
        "script_error",
        P::Send,
        "the script or the template that makes the request failed",
        "fix the script: its first error is among the events",
    ),
    row(
        K::SendReset,
        "send_reset",
        P::Send,
        "the connection was reset while the request was sent",
        "the server closes while reading: look at its limits on request size and time",
    ),
    row(
        K::ClosedBeforeResponse,
        "closed_before_response",
        P::FirstByte,
        "the server closed the connection instead of answering",
        "look at the server's log and connection limits",
    ),
    row(
        K::ResetBeforeResponse,
        "reset_before_response",
        P::FirstByte,
        "the server reset the connection instead of answering",
        "look at the server's log and connection limits",
    ),
    row(
        K::ClosedWithinResponse,
        "closed_within_response",
        P::Read,
        "the connection closed before the response was complete",
        "the body is shorter than announced: look at the server's log",
    ),
    row(
        K::ResetWithinResponse,
        "reset_within_response",
        P::Read,
        "the connection was reset before the response was complete",
        "look at the server's log: it broke off an answer",
    ),
    row(
        K::MalformedHead,
        "malformed_head",
        P::Read,
        "the response head is not HTTP/1.1",
        "does the port speak plain HTTP?",
    ),
    row(
        K::HeadTooLarge,
        "head_too_large",
        P::Read,
        "the response head is larger than 64 KiB",
        "look for runaway headers or cookies",
    ),
    row(
        K::MalformedFraming,
        "malformed_framing",
        P::Read,
        "the length of the body is stated wrongly or twice",
        "look at Content-Length and Transfer-Encoding of the response",
    ),
    row(
        K::MalformedChunk,
        "malformed_chunk",
        P::Read,
        "a chunk of the body is not framed as RFC 9112 says",
        "look at the server's chunked encoding",
    ),
    row(
        K::BytesAfterResponse,
        "bytes_after_response",
        P::Read,
        "more bytes came than the response announced",
        "Content-Length is too small, or the server answers twice",
    ),
    row(
        K::TlsRecord,
        "tls_record",
        P::Read,
        "an encrypted record was broken, or cut off without the closing notice",
        "look at the server's log, and for a proxy between that breaks off",
    ),
    row(
        K::H2Protocol,
        "h2_protocol",
        P::Read,
        "the server broke the rules of HTTP/2",
        "look at the server's log: the whole connection was given up for it",
    ),
    row(
        K::H2Reset,
        "h2_reset",
        P::Read,
        "the server reset the request's stream",
        "look at the server's log and its limits on streams and their rate",
    ),
    row(
        K::H2Refused,
        "h2_refused",
        P::FirstByte,
        "the server refused the stream and no other connection served it",
        "ask for fewer streams on a connection, or raise the server's limit on them",
    ),
    row(
        K::TimedOut,
        "timed_out",
        P::FirstByte,
        "no complete response within the timeout",
        "the server is too slow at this load, or raise --timeout",
    ),
    row(
        K::Unanswered,
        "unanswered",
        P::FirstByte,
        "sent, and still without a response when the waiting for it ended",
        "the run was interrupted, or its budget ended first",
    ),
    row(
        K::Unsent,
        "unsent",
        P::Send,
        "due by the schedule, but never sent until the end",
        "lower the rate; where every connection was taken, raise --max-connections, and where the generator itself was at its limit, use more workers (-t) or another machine",
    ),
];

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
