//! The parts of a request that may be different for each request.

use thiserror::Error;

/// A path, a header's value or a body: constant, or rendered for each request.
pub trait Part {
    /// The source of the values that rendering inserts; `()` for parts that are always constant.
    type Values;
    /// The error type of [`Part::check`].
    type Misfit: std::error::Error;

    /// Returns the bytes if they are the same for every request, otherwise `None`.
    fn constant(&self) -> Option<&[u8]>;

    /// Maximum length in bytes of a rendering.
    fn max_bytes(&self) -> usize;

    /// Checks that every byte of every rendering is allowed.
    ///
    /// # Errors
    /// The first byte that is not allowed, with its origin.
    fn check(&self, allowed: fn(u8) -> bool) -> Result<(), Self::Misfit>;

    /// Appends the bytes for the current request. Allocates nothing if `out` has room for [`Part::max_bytes`] more.
    fn render(&self, values: &mut Self::Values, out: &mut Vec<u8>);
}

/// A byte of a constant part that is not allowed. The text is not repeated, because it may be a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("it holds byte {byte:#04x} at offset {at}")]
pub struct InvalidByte {
    pub byte: u8,
    pub at: usize,
}

impl Part for &[u8] {
    type Values = ();
    type Misfit = InvalidByte;

    fn constant(&self) -> Option<&[u8]> {
        Some(self)
    }

    fn max_bytes(&self) -> usize {
        self.len()
    }

    fn check(&self, allowed: fn(u8) -> bool) -> Result<(), InvalidByte> {
        match self.iter().position(|byte| !allowed(*byte)) {
            None => Ok(()),
            Some(at) => Err(InvalidByte { byte: self[at], at }),
        }
    }

    fn render(&self, (): &mut (), out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }
}
