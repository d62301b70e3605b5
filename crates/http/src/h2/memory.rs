//! What the connections of one worker share, so that an idle connection itself holds little.

use super::head::Head;
use super::hpack::Decoder;
use crate::memory::{HeadCache, Spares};

/// Shared by all connections of one worker: the last header block with what it says, the
/// decoder's scratch space, and buffers for what arrives in pieces or waits to be sent.
#[derive(Debug, Default)]
pub struct Memory {
    cache: HeadCache<Head>,
    pub(super) decoder: Decoder,
    pub(super) spares: Spares,
}

impl Memory {
    /// What the remembered block says, if `block` is the same. Without a table one block means the
    /// same on every connection.
    pub(super) fn recall(&self, block: &[u8]) -> Option<Head> {
        self.cache.get(|cached| block == cached)
    }

    /// Remembers the block of a final head in place of the last one.
    pub(super) fn remember(&mut self, block: &[u8], head: Head) {
        if !head.is_interim() {
            self.cache.set(block, head);
        }
    }
}
