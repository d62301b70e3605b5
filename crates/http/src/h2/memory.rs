//! What the connections of one worker share, so that an idle connection itself holds little.

use super::head::Head;
use super::hpack::Decoder;

/// Header blocks longer than this are decoded every time, in bytes.
const MAX_CACHED_BLOCK_BYTES: usize = 4 * 1024;
/// Spare buffers kept.
const MAX_SPARES: usize = 64;
/// What the spare buffers may hold together, in bytes: bodies that wait for a window can be large.
const MAX_SPARE_BYTES: usize = 16 * 1024 * 1024;
/// Where a new buffer starts; most frames in pieces never outgrow it.
const STASH_BYTES: usize = 1024;

/// Shared by all connections of one worker: the last header block with what it says, the
/// decoder's scratch space, and buffers for what arrives in pieces or waits to be sent.
///
/// Under load a server answers one request with the same block over and over, its `date` changing
/// once a second, and comparing bytes costs a fraction of decoding them.
#[derive(Debug)]
pub struct Memory {
    block: Vec<u8>,
    head: Option<Head>,
    pub(super) decoder: Decoder,
    spares: Vec<Vec<u8>>,
    spare_bytes: usize,
}

impl Memory {
    /// Empty memory, its block cache already allocated.
    #[must_use]
    pub fn new() -> Self {
        Self {
            block: Vec::with_capacity(MAX_CACHED_BLOCK_BYTES),
            head: None,
            decoder: Decoder::new(),
            spares: Vec::with_capacity(MAX_SPARES),
            spare_bytes: 0,
        }
    }

    /// What the remembered block says, if `block` is the same. Without a table one block means the
    /// same on every connection.
    pub(super) fn recall(&self, block: &[u8]) -> Option<Head> {
        self.head.filter(|_| self.block == block)
    }

    /// Remembers the block of a final head in place of the last one.
    pub(super) fn remember(&mut self, block: &[u8], head: Head) {
        if block.len() <= MAX_CACHED_BLOCK_BYTES && !head.is_interim() {
            self.block.clear();
            self.block.extend_from_slice(block);
            self.head = Some(head);
        }
    }

    /// An empty buffer with capacity.
    pub(super) fn take_buffer(&mut self) -> Vec<u8> {
        let Some(buffer) = self.spares.pop() else {
            return Vec::with_capacity(STASH_BYTES);
        };
        self.spare_bytes -= buffer.capacity();
        buffer
    }

    /// Takes a buffer back for the next use; beyond the limits it is freed.
    pub(super) fn return_buffer(&mut self, mut buffer: Vec<u8>) {
        let fits = self.spare_bytes + buffer.capacity() <= MAX_SPARE_BYTES;
        if buffer.capacity() > 0 && self.spares.len() < MAX_SPARES && fits {
            buffer.clear();
            self.spare_bytes += buffer.capacity();
            self.spares.push(buffer);
        }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}
