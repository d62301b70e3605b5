//! The ways to move bytes.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A way to move bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DriverKind {
    /// Readiness, by epoll: on every Linux.
    Epoll,
    /// Completions, by io_uring: from Linux 6.1 on, where it is not forbidden.
    IoUring,
}

impl DriverKind {
    /// Every driver.
    pub const ALL: [Self; 2] = [Self::Epoll, Self::IoUring];

    /// Its name, as flags and outputs have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Epoll => "epoll",
            Self::IoUring => "io_uring",
        }
    }
}

/// A name that no driver has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no driver; write epoll or io_uring")]
pub struct UnknownDriver(String);

impl FromStr for DriverKind {
    type Err = UnknownDriver;

    fn from_str(text: &str) -> Result<Self, UnknownDriver> {
        Self::ALL
            .into_iter()
            .find(|driver| driver.name() == text)
            .ok_or_else(|| UnknownDriver(text.to_owned()))
    }
}
