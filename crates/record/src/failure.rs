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

/// A row of the table of failures.
#[derive(Debug, Clone, Copy)]
pub struct FailureRow {
    pub kind: FailureKind,
    /// The name in JSON, run files and text.
    pub name: &'static str,
    pub phase: FailurePhase,
}

/// Defines the kinds of failures and their table. A row is the kind, its name and the phase.
macro_rules! failures {
    ($($kind:ident $name:literal $phase:ident;)*) => {
        /// The reason why a request has no complete, well-formed response.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[repr(u8)]
        pub enum FailureKind {
            $($kind),*
        }

        /// All kinds of failure, in the order of [`FailureKind`].
        pub const FAILURES: &[FailureRow] = &[$(FailureRow {
            kind: FailureKind::$kind,
            name: $name,
            phase: FailurePhase::$phase,
        }),*];
    };
}

failures! {
    ConnectRefused "connect_refused" Connect;
    ConnectTimedOut "connect_timed_out" Connect;
    ConnectUnreachable "connect_unreachable" Connect;
    ConnectReset "connect_reset" Connect;
    ConnectFailed "connect_failed" Connect;
    NoPortsLeft "no_ports_left" Connect;
    NoDescriptorsLeft "no_descriptors_left" Connect;
    BacklogFull "backlog_full" Connect;
    TlsHandshake "tls_handshake" Handshake;
    TlsCertificate "tls_certificate" Handshake;
    ScriptError "script_error" Send;
    SendReset "send_reset" Send;
    ClosedBeforeResponse "closed_before_response" FirstByte;
    ResetBeforeResponse "reset_before_response" FirstByte;
    ClosedWithinResponse "closed_within_response" Read;
    ResetWithinResponse "reset_within_response" Read;
    MalformedHead "malformed_head" Read;
    HeadTooLarge "head_too_large" Read;
    TooManyFields "too_many_fields" Read;
    InterimFlood "interim_flood" Read;
    UnrequestedUpgrade "unrequested_upgrade" Read;
    MalformedFraming "malformed_framing" Read;
    MalformedChunk "malformed_chunk" Read;
    BytesAfterResponse "bytes_after_response" Read;
    TlsRecord "tls_record" Read;
    H2NotSpoken "h2_not_spoken" Read;
    H2FrameSize "h2_frame_size" Read;
    H2Compression "h2_compression" Read;
    H2FlowControl "h2_flow_control" Read;
    H2Settings "h2_settings" Read;
    H2Stream "h2_stream" Read;
    H2Padding "h2_padding" Read;
    H2Continuation "h2_continuation" Read;
    H2Push "h2_push" Read;
    H2Flood "h2_flood" Read;
    H2Head "h2_head" Read;
    H2BodyLength "h2_body_length" Read;
    H2Order "h2_order" Read;
    H2Reset "h2_reset" Read;
    H2Refused "h2_refused" FirstByte;
    H2NoStreams "h2_no_streams" Send;
    TimedOut "timed_out" FirstByte;
    Unanswered "unanswered" FirstByte;
    Unsent "unsent" Send;
}

impl FailureKind {
    /// The number of kinds.
    pub const COUNT: usize = FAILURES.len();

    /// Returns this kind's row in the table of failures.
    pub fn row(self) -> &'static FailureRow {
        &FAILURES[self as usize]
    }

    /// Returns the name in JSON, run files and text.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the kind with this name; `None` for a name of another version.
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
