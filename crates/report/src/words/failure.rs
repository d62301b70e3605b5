//! The meaning of each kind of failure, and what helps against it.

use plimsoll_record::FailureKind;

/// Returns what happened to the requests.
pub fn failure_meaning(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::ConnectRefused => "the target refused the connection",
        FailureKind::ConnectTimedOut => "no answer to the connection request",
        FailureKind::ConnectUnreachable => "no route to the target",
        FailureKind::ConnectReset => "the target reset the connection while it was being made",
        FailureKind::ConnectFailed => "the system refused to make the connection",
        FailureKind::NoPortsLeft => "this machine has no local port left for the target",
        FailureKind::NoDescriptorsLeft => "this process has no descriptor left",
        FailureKind::BacklogFull => "the unix socket's queue of connections to be accepted stayed full",
        FailureKind::TlsHandshake => "client and server did not agree on a TLS session",
        FailureKind::TlsCertificate => "the server's certificate is not trusted for this name",
        FailureKind::ScriptError => "the script or the template that makes the request failed",
        FailureKind::SendReset => "the connection was reset while the request was sent",
        FailureKind::ClosedBeforeResponse => "the server closed the connection instead of answering",
        FailureKind::ResetBeforeResponse => "the server reset the connection instead of answering",
        FailureKind::ClosedWithinResponse => "the connection closed before the response was complete",
        FailureKind::ResetWithinResponse => "the connection was reset before the response was complete",
        FailureKind::MalformedHead => "the response head is not HTTP/1.1",
        FailureKind::HeadTooLarge => "the response head is larger than 64 KiB",
        FailureKind::TooManyFields => "the response head has more than 256 header fields",
        FailureKind::InterimFlood => "more than 16 interim (1xx) responses came before the final one",
        FailureKind::UnrequestedUpgrade => "the server changed the protocol (status 101) unasked",
        FailureKind::MalformedFraming => "the length of the body is stated wrongly or twice",
        FailureKind::MalformedChunk => "a chunk of the body is not framed as RFC 9112 says",
        FailureKind::BytesAfterResponse => "more bytes came than the response announced",
        FailureKind::TlsRecord => "an encrypted record was broken, or cut off without the closing notice",
        FailureKind::H2NotSpoken => "the server's first bytes are not HTTP/2",
        FailureKind::H2FrameSize => "the server sent an HTTP/2 frame of a size that it cannot have",
        FailureKind::H2Compression => "the response's header block cannot be decompressed (HPACK)",
        FailureKind::H2FlowControl => "the server broke HTTP/2's flow control",
        FailureKind::H2Settings => "the server sent an HTTP/2 setting that is out of range",
        FailureKind::H2Stream => "the server sent an HTTP/2 frame on a stream where it cannot be",
        FailureKind::H2Padding => "the server sent an HTTP/2 frame whose padding is longer than the frame",
        FailureKind::H2Continuation => {
            "the server interrupted a header block, or continued one that was not open"
        }
        FailureKind::H2Push => "the server pushed a response although push is switched off",
        FailureKind::H2Flood => "the server sent thousands of HTTP/2 frames that carry nothing",
        FailureKind::H2Head => "the response head breaks the rules of HTTP/2, such as by a missing :status",
        FailureKind::H2BodyLength => "the body is not as long as its content-length",
        FailureKind::H2Order => "the response's head, body and trailers came in a wrong order",
        FailureKind::H2Reset => "the server reset the request's stream",
        FailureKind::H2Refused => "the server refused the stream and no other connection served it",
        FailureKind::H2NoStreams => {
            "the server allowed no request on the connection (SETTINGS_MAX_CONCURRENT_STREAMS is 0)"
        }
        FailureKind::TimedOut => "no complete response within the timeout",
        FailureKind::Unanswered => "sent, and still without a response when the waiting for it ended",
        FailureKind::Unsent => "due by the schedule, but never sent until the end",
    }
}

/// True for a status that names another URL to load (RFC 9110, section 15.4).
pub fn is_redirect(status: u16) -> bool {
    matches!(status, 301..=303 | 307 | 308)
}

/// Returns what to check or to do.
pub fn failure_remedy(kind: FailureKind, unix_socket: bool) -> &'static str {
    over_unix_socket(kind).filter(|_| unix_socket).unwrap_or_else(|| usual_remedy(kind))
}

/// Returns the remedy over a unix socket, which has no ports, routes or firewalls; `None` if it is the same.
fn over_unix_socket(kind: FailureKind) -> Option<&'static str> {
    Some(match kind {
        FailureKind::ConnectRefused => {
            "is the server up and listening on this socket? its file stays behind when a server ends"
        }
        FailureKind::ConnectTimedOut => "the server does not accept: look at its log, or raise --timeout",
        FailureKind::ConnectReset => "a server that is going down: look at its log",
        FailureKind::ConnectFailed => {
            "may this user write to the socket's file, and is it a stream socket (ls -l FILE)?"
        }
        FailureKind::TlsHandshake => {
            "does the socket speak TLS 1.2 or 1.3, and does it demand a client certificate (--cert, \
             --key)? look at the server's log"
        }
        FailureKind::MalformedHead => "does the socket speak plain HTTP?",
        _ => return None,
    })
}

fn usual_remedy(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::ConnectRefused => "is the server up and listening on this port?",
        FailureKind::ConnectTimedOut => {
            "look for a firewall, a full accept backlog (net.core.somaxconn), or raise --timeout"
        }
        FailureKind::ConnectUnreachable => "check the address and the route to it (ip route get ADDRESS)",
        FailureKind::ConnectReset => {
            "a server that is going down, or a full accept backlog: look at the server's log"
        }
        FailureKind::ConnectFailed => "look for a firewall on this machine, or for memory that has run out",
        FailureKind::NoPortsLeft => "widen net.ipv4.ip_local_port_range or use fewer connections",
        FailureKind::NoDescriptorsLeft => "raise the limit (ulimit -n) or use fewer connections",
        FailureKind::BacklogFull => {
            "let the server listen with a longer backlog, after raising net.core.somaxconn"
        }
        FailureKind::TlsHandshake => {
            "does the port speak TLS 1.2 or 1.3, and does it demand a client certificate (--cert, \
             --key)? look at the server's log"
        }
        FailureKind::TlsCertificate => "name its authority with --cacert, or skip the check with --insecure",
        FailureKind::ScriptError => "fix the script: its first error is among the events",
        FailureKind::SendReset => {
            "the server closes while reading: look at its limits on request size and time"
        }
        FailureKind::ClosedBeforeResponse => "look at the server's log and connection limits",
        FailureKind::ResetBeforeResponse => "look at the server's log and connection limits",
        FailureKind::ClosedWithinResponse => "the body is shorter than announced: look at the server's log",
        FailureKind::ResetWithinResponse => "look at the server's log: it broke off an answer",
        FailureKind::MalformedHead => "does the port speak plain HTTP?",
        FailureKind::HeadTooLarge | FailureKind::TooManyFields => "look for runaway headers or cookies",
        FailureKind::InterimFlood => "look at what sends 1xx responses: the server, or a proxy before it",
        FailureKind::UnrequestedUpgrade => "is the path one for WebSocket? choose another",
        FailureKind::MalformedFraming => "look at Content-Length and Transfer-Encoding of the response",
        FailureKind::MalformedChunk => "look at the server's chunked encoding",
        FailureKind::BytesAfterResponse => "Content-Length is too small, or the server answers twice",
        FailureKind::TlsRecord => "look at the server's log, and for a proxy between that breaks off",
        FailureKind::H2NotSpoken => {
            "does the port speak HTTP/2 without TLS (prior knowledge)? leave out --http2 otherwise"
        }
        FailureKind::H2FrameSize
        | FailureKind::H2Compression
        | FailureKind::H2FlowControl
        | FailureKind::H2Settings
        | FailureKind::H2Stream
        | FailureKind::H2Padding
        | FailureKind::H2Continuation
        | FailureKind::H2Push
        | FailureKind::H2Flood => {
            "look at the server or the proxy before it: the whole connection was given up for it"
        }
        FailureKind::H2Head | FailureKind::H2BodyLength | FailureKind::H2Order => {
            "look at what sets the headers of this response: the server, or a proxy before it"
        }
        FailureKind::H2Reset => "look at the server's log and its limits on streams and their rate",
        FailureKind::H2Refused => {
            "ask for fewer streams on a connection, or raise the server's limit on them"
        }
        FailureKind::H2NoStreams => "raise the server's limit on concurrent streams",
        FailureKind::TimedOut => "the server is too slow at this load, or raise --timeout",
        FailureKind::Unanswered => "the run was interrupted, or its budget ended first",
        FailureKind::Unsent => {
            "lower the rate; where every connection was taken, raise --max-connections, and where the \
             generator itself was at its limit, use more workers (-t) or another machine"
        }
    }
}

/// Returns the name and the meaning: `timed_out: no complete response within the timeout`.
pub(crate) fn failure_name(kind: FailureKind) -> String {
    format!("{}: {}", kind.name(), failure_meaning(kind))
}

/// Describes a failure that is new in a run, with what helps against it.
pub fn failure_seen(kind: FailureKind, unix_socket: bool) -> String {
    format!("{} → {}", failure_name(kind), failure_remedy(kind, unix_socket))
}
