//! The parts of a request that may differ each time it is sent.

use thiserror::Error;

/// A path, a header's value or a body: constant, or rendered for each request.
pub trait Part {
    /// Where rendering takes its values from; `()` for parts that are always constant.
    type Values;
    /// What [`Part::check`] reports.
    type Misfit: std::error::Error;

    /// The bytes, if they are the same for every request.
    fn constant(&self) -> Option<&[u8]>;

    /// The most bytes that one rendering takes.
    fn max_bytes(&self) -> usize;

    /// Checks that every byte of every rendering is allowed.
    ///
    /// # Errors
    /// The first byte that is not, with its origin.
    fn check(&self, allowed: fn(u8) -> bool) -> Result<(), Self::Misfit>;

    /// Appends the bytes of the current request. Allocates nothing if `out` has room for [`Part::max_bytes`] more.
    fn render(&self, values: &mut Self::Values, out: &mut Vec<u8>);
}

/// A byte of a constant part that is not allowed. The text may be a secret and is not repeated.
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
