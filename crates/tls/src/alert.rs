//! Alerts: messages by which one side ends a session and says why.

use std::fmt;

/// An alert as encoded on the wire (RFC 8446, 6; RFC 5246, 7.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alert(u8);

impl Alert {
    pub(crate) const CLOSE_NOTIFY: Self = Self(0);
    pub(crate) const UNEXPECTED_MESSAGE: Self = Self(10);
    pub(crate) const BAD_RECORD_MAC: Self = Self(20);
    pub(crate) const RECORD_OVERFLOW: Self = Self(22);
    pub(crate) const DECODE_ERROR: Self = Self(50);
    pub(crate) const INTERNAL_ERROR: Self = Self(80);
    pub(crate) const USER_CANCELED: Self = Self(90);
    pub(crate) const NO_RENEGOTIATION: Self = Self(100);

    pub(crate) const fn new(code: u8) -> Self {
        Self(code)
    }

    /// The number on the wire.
    pub const fn code(self) -> u8 {
        self.0
    }

    /// The name in the RFCs, for alerts that a client can receive.
    pub const fn name(self) -> &'static str {
        match self.0 {
            0 => "close_notify",
            10 => "unexpected_message",
            20 => "bad_record_mac",
            22 => "record_overflow",
            40 => "handshake_failure",
            42 => "bad_certificate",
            43 => "unsupported_certificate",
            44 => "certificate_revoked",
            45 => "certificate_expired",
            46 => "certificate_unknown",
            47 => "illegal_parameter",
            48 => "unknown_ca",
            49 => "access_denied",
            50 => "decode_error",
            51 => "decrypt_error",
            70 => "protocol_version",
            71 => "insufficient_security",
            80 => "internal_error",
            86 => "inappropriate_fallback",
            90 => "user_canceled",
            100 => "no_renegotiation",
            109 => "missing_extension",
            110 => "unsupported_extension",
            112 => "unrecognized_name",
            115 => "unknown_psk_identity",
            116 => "certificate_required",
            120 => "no_application_protocol",
            _ => "unnamed alert",
        }
    }

    /// What the user can do when a server refuses the handshake with this alert.
    pub(crate) const fn advice(self) -> &'static str {
        match self.0 {
            40 => "it may demand a client certificate (--cert, --key) or ciphers that Plimsoll does not have",
            42..=46 | 48 | 49 | 116 => "give a client certificate that it accepts with --cert and --key",
            70 | 71 => "enable TLS 1.2 or 1.3 on the server",
            112 => "ask for a name that the server knows",
            120 => "ask for a protocol that the server speaks; without --http2 that is HTTP/1.1",
            _ => "see the server's error log",
        }
    }

    /// False for a warning. In TLS 1.3 only close_notify and user_canceled are warnings; TLS 1.2 marks them by level 1.
    pub(crate) const fn ends_session(self, level: u8, tls13: bool) -> bool {
        let warning = if tls13 { self.0 == Self::USER_CANCELED.0 } else { level == 1 };
        !warning
    }
}

impl fmt::Display for Alert {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({})", self.name(), self.0)
    }
}
