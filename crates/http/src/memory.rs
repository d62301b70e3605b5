//! Memory that the parsers of one worker share: the last head, and spare buffers.

/// Heads longer than this are parsed every time, in bytes.
const MAX_CACHED_BYTES: usize = 4 * 1024;
const MAX_SPARES: usize = 64;
/// What the spare buffers may hold together, in bytes: bodies that wait for a window can be large.
const MAX_SPARE_BYTES: usize = 16 * 1024 * 1024;
/// Where a new buffer starts; most heads and frames in pieces never outgrow it.
const NEW_BUFFER_BYTES: usize = 1024;

/// The last head, and what it says.
///
/// Under load a server answers one request with the same head over and over, its `Date` changing
/// once a second, and comparing bytes costs a fraction of parsing them.
#[derive(Debug)]
pub(crate) struct HeadCache<H> {
    bytes: Vec<u8>,
    head: Option<H>,
}

impl<H: Copy> HeadCache<H> {
    /// What the cached head says, if `same` finds its bytes to be the ones that have come.
    pub(crate) fn get(&self, same: impl FnOnce(&[u8]) -> bool) -> Option<H> {
        self.head.filter(|_| same(&self.bytes))
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn set(&mut self, bytes: &[u8], head: H) {
        if bytes.len() <= MAX_CACHED_BYTES {
            self.bytes.clear();
            self.bytes.extend_from_slice(bytes);
            self.head = Some(head);
        }
    }
}

impl<H> Default for HeadCache<H> {
    fn default() -> Self {
        Self { bytes: Vec::with_capacity(MAX_CACHED_BYTES), head: None }
    }
}

/// Buffers for what arrives in pieces.
#[derive(Debug)]
pub(crate) struct Spares {
    buffers: Vec<Vec<u8>>,
    bytes: usize,
}

impl Spares {
    pub(crate) fn take(&mut self) -> Vec<u8> {
        let Some(buffer) = self.buffers.pop() else {
            return Vec::with_capacity(NEW_BUFFER_BYTES);
        };
        self.bytes -= buffer.capacity();
        buffer
    }

    /// Takes a buffer back for the next use; beyond the limits it is freed.
    pub(crate) fn put(&mut self, mut buffer: Vec<u8>) {
        let fits = self.bytes + buffer.capacity() <= MAX_SPARE_BYTES;
        if buffer.capacity() > 0 && self.buffers.len() < MAX_SPARES && fits {
            buffer.clear();
            self.bytes += buffer.capacity();
            self.buffers.push(buffer);
        }
    }

    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.buffers.len()
    }
}

impl Default for Spares {
    fn default() -> Self {
        Self { buffers: Vec::with_capacity(MAX_SPARES), bytes: 0 }
    }
}
