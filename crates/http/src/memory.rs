//! Memory that the parsers of one worker share: the last head, and spare buffers.

/// Maximum length in bytes of a cached head; longer ones are parsed every time.
const MAX_CACHED_BYTES: usize = 4 * 1024;
const MAX_SPARES: usize = 64;
/// Maximum total capacity of the spare buffers in bytes. Bodies that wait for a flow-control window can be large.
const MAX_SPARE_BYTES: usize = 16 * 1024 * 1024;
/// Initial capacity of a new buffer; most split heads and frames never outgrow it.
const NEW_BUFFER_BYTES: usize = 1024;

/// The last head and its parsed form.
///
/// Under load a server answers the same request with the same head, except for a `Date` that changes once a second, and
/// comparing bytes costs a fraction of parsing them.
#[derive(Debug)]
pub(crate) struct HeadCache<H> {
    bytes: Vec<u8>,
    head: Option<H>,
}

impl<H: Copy> HeadCache<H> {
    /// Returns the parsed form of the cached head if `same` is true for its bytes.
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

/// Buffers for data that arrives in pieces.
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

    /// Returns a buffer for reuse; it is freed if the limits are reached.
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
