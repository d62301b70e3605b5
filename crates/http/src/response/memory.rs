//! What the parsers of one worker share, so that a connection itself needs no heap.

use super::head::{Expect, Head};

/// Heads longer than this are parsed every time, in bytes.
const MAX_CACHED_HEAD_BYTES: usize = 4 * 1024;
/// Spare buffers kept for heads that arrive in pieces.
const MAX_SPARES: usize = 64;
/// Where a new buffer starts; most heads never outgrow it.
const STASH_BYTES: usize = 1024;

/// Shared by all connections of one worker: the last head, and buffers for heads in pieces.
///
/// Under load a server answers one request with the same head over and over, its `Date` changing
/// once a second, and comparing bytes costs a fraction of parsing them.
#[derive(Debug)]
pub struct ParserMemory {
    head_bytes: Vec<u8>,
    head: Option<(Expect, Head)>,
    spares: Vec<Vec<u8>>,
}

impl ParserMemory {
    /// Empty memory, its head cache already allocated.
    #[must_use]
    pub fn new() -> Self {
        Self {
            head_bytes: Vec::with_capacity(MAX_CACHED_HEAD_BYTES),
            head: None,
            spares: Vec::with_capacity(MAX_SPARES),
        }
    }

    /// What the remembered head says, with its length, if `input` begins with its very bytes. They
    /// end with the empty line, so that nothing after them can change what they mean.
    pub(super) fn recall(&self, input: &[u8], expect: Expect) -> Option<(Head, usize)> {
        let (remembered, head) = self.head?;
        let same = remembered == expect && input.starts_with(&self.head_bytes);
        same.then_some((head, self.head_bytes.len()))
    }

    /// Remembers a complete head in place of the last one. Interim heads are not worth the place.
    pub(super) fn remember(&mut self, bytes: &[u8], expect: Expect, head: Head) {
        if bytes.len() > MAX_CACHED_HEAD_BYTES || head.is_interim() {
            return;
        }
        self.head_bytes.clear();
        self.head_bytes.extend_from_slice(bytes);
        self.head = Some((expect, head));
    }

    /// An empty buffer with capacity.
    pub(super) fn take_stash(&mut self) -> Vec<u8> {
        self.spares.pop().unwrap_or_else(|| Vec::with_capacity(STASH_BYTES))
    }

    /// Takes a buffer back for the next head in pieces; beyond the limit it is freed.
    pub(super) fn return_stash(&mut self, mut stash: Vec<u8>) {
        if stash.capacity() > 0 && self.spares.len() < MAX_SPARES {
            stash.clear();
            self.spares.push(stash);
        }
    }
}

impl Default for ParserMemory {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
impl ParserMemory {
    pub(super) fn spare_count(&self) -> usize {
        self.spares.len()
    }
}
