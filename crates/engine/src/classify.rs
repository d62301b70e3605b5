//! From the system's errors to the names of failures.

use std::io;

use plimsoll_http::Malformed;
use plimsoll_record::FailureKind;

/// The name of an error met while connecting.
pub fn connect_failure(error: &io::Error) -> FailureKind {
    use io::ErrorKind as Kind;
    match error.kind() {
        // A unix socket that is not there is a server that does not listen.
        Kind::ConnectionRefused | Kind::NotFound => FailureKind::ConnectRefused,
        Kind::TimedOut => FailureKind::ConnectTimedOut,
        Kind::HostUnreachable | Kind::NetworkUnreachable | Kind::NetworkDown => {
            FailureKind::ConnectUnreachable
        }
        Kind::ConnectionReset | Kind::ConnectionAborted => FailureKind::ConnectReset,
        Kind::AddrNotAvailable | Kind::AddrInUse => FailureKind::NoPortsLeft,
        // Of TCP this comes as a timeout; a unix socket says it at once (connect(2)).
        Kind::WouldBlock => FailureKind::BacklogFull,
        _ if plimsoll_sys::out_of_descriptors(error) => FailureKind::NoDescriptorsLeft,
        _ => FailureKind::ConnectFailed,
    }
}

/// The name of a response that breaks the protocol.
pub fn malformed_failure(malformed: Malformed) -> FailureKind {
    match malformed {
        Malformed::Head => FailureKind::MalformedHead,
        Malformed::HeadTooLarge => FailureKind::HeadTooLarge,
        Malformed::Framing => FailureKind::MalformedFraming,
        Malformed::Chunk => FailureKind::MalformedChunk,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_errors_have_names_of_their_own() {
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
