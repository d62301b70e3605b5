//! Maps errors of the system, of HTTP and of TLS to kinds of failures.

use std::io;

use plimsoll_http::{Malformed, h2};
use plimsoll_record::FailureKind;
use plimsoll_tls::{TlsFailure, TlsFailureKind};

/// Returns the failure kind of a connect error.
pub fn connect_failure(error: &io::Error) -> FailureKind {
    use io::ErrorKind as Kind;
    match error.kind() {
        // A unix socket that does not exist means that no server listens.
        Kind::ConnectionRefused | Kind::NotFound => FailureKind::ConnectRefused,
        Kind::TimedOut => FailureKind::ConnectTimedOut,
        Kind::HostUnreachable | Kind::NetworkUnreachable | Kind::NetworkDown => {
            FailureKind::ConnectUnreachable
        }
        Kind::ConnectionReset | Kind::ConnectionAborted => FailureKind::ConnectReset,
        Kind::AddrNotAvailable | Kind::AddrInUse => FailureKind::NoPortsLeft,
        // The accept queue of a unix socket is full (connect(2)). TCP times out instead.
        Kind::WouldBlock => FailureKind::BacklogFull,
        _ if plimsoll_sys::out_of_descriptors(error) => FailureKind::NoDescriptorsLeft,
        _ => FailureKind::ConnectFailed,
    }
}

/// Returns the failure kind of a malformed response.
pub fn malformed_failure(malformed: Malformed) -> FailureKind {
    match malformed {
        Malformed::Head => FailureKind::MalformedHead,
        Malformed::HeadTooLarge => FailureKind::HeadTooLarge,
        Malformed::TooManyFields => FailureKind::TooManyFields,
        Malformed::InterimFlood => FailureKind::InterimFlood,
        Malformed::Upgrade => FailureKind::UnrequestedUpgrade,
        Malformed::Framing => FailureKind::MalformedFraming,
        Malformed::Chunk => FailureKind::MalformedChunk,
    }
}

/// Returns the failure kind of all requests on a connection whose server violated HTTP/2.
pub(crate) fn broken_failure(broken: h2::Broken) -> FailureKind {
    use h2::Broken;
    match broken {
        Broken::Preface => FailureKind::H2NotSpoken,
        Broken::FrameSize => FailureKind::H2FrameSize,
        Broken::Compression(_) => FailureKind::H2Compression,
        Broken::FlowControl | Broken::Increment => FailureKind::H2FlowControl,
        Broken::Settings => FailureKind::H2Settings,
        Broken::Stream => FailureKind::H2Stream,
        Broken::Padding => FailureKind::H2Padding,
        Broken::Continuation => FailureKind::H2Continuation,
        Broken::Push => FailureKind::H2Push,
        Broken::HeadTooLarge => FailureKind::HeadTooLarge,
        Broken::Flood => FailureKind::H2Flood,
    }
}

/// Returns the failure kind of one request whose response violated HTTP/2.
pub(crate) fn stream_failure(malformed: h2::Malformed) -> FailureKind {
    match malformed {
        h2::Malformed::Head => FailureKind::H2Head,
        h2::Malformed::Length => FailureKind::H2BodyLength,
        h2::Malformed::Order => FailureKind::H2Order,
    }
}

/// Returns the failure kind of a TLS error.
pub fn tls_failure(failure: &TlsFailure) -> FailureKind {
    match failure.kind() {
        TlsFailureKind::Certificate => FailureKind::TlsCertificate,
        TlsFailureKind::Handshake => FailureKind::TlsHandshake,
        TlsFailureKind::Record => FailureKind::TlsRecord,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_of_the_system_counts_as_its_own_kind_of_failure() {
        let check = |errno, kind| {
            assert_eq!(connect_failure(&io::Error::from_raw_os_error(errno)), kind, "errno {errno}");
        };
        check(111, FailureKind::ConnectRefused);
        check(2, FailureKind::ConnectRefused);
        check(110, FailureKind::ConnectTimedOut);
        check(113, FailureKind::ConnectUnreachable);
        check(104, FailureKind::ConnectReset);
        check(101, FailureKind::ConnectUnreachable);
        check(99, FailureKind::NoPortsLeft);
        check(98, FailureKind::NoPortsLeft);
        check(11, FailureKind::BacklogFull);
        check(24, FailureKind::NoDescriptorsLeft);
        check(23, FailureKind::NoDescriptorsLeft);
        check(13, FailureKind::ConnectFailed);
    }
}
