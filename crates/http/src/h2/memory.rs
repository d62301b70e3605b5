//! Memory that the connections of one worker share, so that an idle connection itself holds little.

use super::head::Head;
use super::hpack::Decoder;
use crate::memory::{HeadCache, Spares};

/// Memory shared by all connections of one worker: the last header block with its parsed form, the decoder's scratch memory,
/// and buffers for data that arrives in pieces or waits to be sent.
#[derive(Debug, Default)]
pub struct Memory {
    cache: HeadCache<Head>,
    pub(super) decoder: Decoder,
    pub(super) spares: Spares,
}

impl Memory {
    /// Returns the parsed form of the cached block if `block` is the same. Without a dynamic table, equal blocks have the same
    /// meaning on every connection.
    pub(super) fn recall(&self, block: &[u8]) -> Option<Head> {
        self.cache.get(|cached| block == cached)
    }

    /// Caches the block of a final head in place of the last one.
    pub(super) fn remember(&mut self, block: &[u8], head: Head) {
        if !head.is_interim() {
            self.cache.set(block, head);
        }
    }
}
