//! Receive buffers that the kernel takes from a shared ring, one for each piece that it receives.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::types::BufRingEntry;

/// Alignment of the ring of buffers. The kernel requires page alignment, and no Linux machine has larger pages.
const PAGE_BYTES: usize = 64 * 1024;

/// Buffers of one size. Each is in one of three places: held back; in the ring, where the kernel may take and fill it; or with
/// the caller, from the completion that names it until `put`.
pub(super) struct ProvidedBuffers {
    entries: NonNull<BufRingEntry>,
    entries_layout: Layout,
    memory: NonNull<u8>,
    memory_layout: Layout,
    buffer_bytes: usize,
    count: u16,
    /// Number of buffers that were put into the ring at least once; the memory of the others was never touched.
    released: u16,
    tail: u16,
}

// SAFETY: this value alone owns both pointers, as if they were boxes, and nothing in it is tied to a thread.
unsafe impl Send for ProvidedBuffers {}

fn allocate(layout: Layout) -> io::Result<NonNull<u8>> {
    // SAFETY: every layout here has a size above zero, as `new` checks.
    NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

fn invalid<E>(_: E) -> io::Error {
    io::ErrorKind::InvalidInput.into()
}

impl ProvidedBuffers {
    /// Allocates `count` buffers, a power of two; none of them is in the ring yet.
    pub(super) fn new(count: u16, buffer_bytes: u32) -> io::Result<Self> {
        if !count.is_power_of_two() || buffer_bytes == 0 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let buffer_bytes = buffer_bytes as usize;
        let entries_layout = Layout::array::<BufRingEntry>(usize::from(count)).map_err(invalid)?;
        let entries_layout = entries_layout.align_to(PAGE_BYTES).map_err(invalid)?.pad_to_align();
        let memory_layout = Layout::array::<u8>(usize::from(count) * buffer_bytes).map_err(invalid)?;
        let entries = allocate(entries_layout)?;
        let memory = allocate(memory_layout).inspect_err(|_| {
            // SAFETY: allocated just above with this layout and not used yet.
            unsafe { dealloc(entries.as_ptr(), entries_layout) };
        })?;
        let entries = entries.cast();
        let (released, tail) = (0, 0);
        Ok(Self { entries, entries_layout, memory, memory_layout, buffer_bytes, count, released, tail })
    }

    /// The address of the ring of buffers.
    pub(super) fn ring_address(&self) -> u64 {
        self.entries.as_ptr() as u64
    }

    pub(super) fn count(&self) -> u16 {
        self.count
    }

    /// Puts up to `more` of the buffers that were held back into the ring.
    pub(super) fn release(&mut self, more: u16) {
        for _ in 0..more.min(self.count - self.released) {
            self.released += 1;
            self.put(self.released - 1);
        }
    }

    pub(super) fn released(&self) -> u16 {
        self.released
    }

    /// Puts a buffer back into the ring. The caller must hold it.
    #[inline]
    pub(super) fn put(&mut self, buffer: u16) {
        let index = usize::from(self.tail & (self.count - 1));
        let address = self.address(buffer);
        // SAFETY: `index` is below `count`, the length of the ring, which this value owns. The kernel only reads
        // entries, and reads none beyond the tail, where this one lies.
        let entry = unsafe { self.entries.add(index).as_mut() };
        entry.set_addr(address as u64);
        entry.set_len(self.buffer_bytes as u32);
        entry.set_bid(buffer);
        self.tail = self.tail.wrapping_add(1);
        // SAFETY: the ring's memory is valid and initialised (zeroed), and `entries` is its first entry, whose
        // reserved field is the tail. It is aligned to its size and shared with the kernel by atomic access alone.
        let tail = unsafe { AtomicU16::from_ptr(BufRingEntry::tail(self.entries.as_ptr()).cast_mut()) };
        tail.store(self.tail, Ordering::Release);
    }

    fn address(&self, buffer: u16) -> *mut u8 {
        debug_assert!(buffer < self.count);
        self.memory.as_ptr().wrapping_add(usize::from(buffer) * self.buffer_bytes)
    }

    /// The first `length` bytes of a buffer that the caller holds.
    #[inline]
    pub(super) fn bytes(&mut self, buffer: u16, length: usize) -> &mut [u8] {
        assert!(
            buffer < self.count && length <= self.buffer_bytes,
            "the kernel named a buffer that is not ours"
        );
        // SAFETY: just checked to lie within the memory that this value owns and has zeroed; the buffer is not in the
        // ring, so the kernel does not write to it; and the borrow of `self` keeps it from being put there.
        unsafe { std::slice::from_raw_parts_mut(self.address(buffer), length) }
    }
}

impl Drop for ProvidedBuffers {
    fn drop(&mut self) {
        // SAFETY: both were allocated in `new` with these layouts. The ring that owns this value drops it only when
        // no operation is left that could use it.
        unsafe {
            dealloc(self.entries.as_ptr().cast(), self.entries_layout);
            dealloc(self.memory.as_ptr(), self.memory_layout);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel reads of the ring: the numbers of the buffers in it, from the first to the tail.
    fn in_ring(buffers: &ProvidedBuffers, from: u16) -> Vec<u16> {
        // SAFETY: the tail is where `put` wrote it, in memory that `buffers` owns.
        let tail = unsafe { AtomicU16::from_ptr(BufRingEntry::tail(buffers.entries.as_ptr()).cast_mut()) };
        let mut numbers = Vec::new();
        let mut at = from;
        while at != tail.load(Ordering::Acquire) {
            // SAFETY: the index is below the length of the ring.
            let entry = unsafe { buffers.entries.add(usize::from(at % buffers.count)).as_ref() };
            assert_eq!(entry.addr(), buffers.address(entry.bid()) as u64);
            numbers.push(entry.bid());
            at = at.wrapping_add(1);
        }
        numbers
    }

    #[test]
    fn buffers_go_round_whatever_their_order() {
        let mut buffers = ProvidedBuffers::new(4, 8).unwrap();
        assert_eq!(in_ring(&buffers, 0), [0; 0]);
        buffers.release(3);
        assert_eq!(in_ring(&buffers, 0), [0, 1, 2]);
        buffers.release(9);
        assert_eq!((in_ring(&buffers, 0), buffers.released()), (vec![0, 1, 2, 3], 4));
        // The tail wraps around several times, as that of a long run does.
        for round in 1..=20_000_u16 {
            let taken = in_ring(&buffers, round.wrapping_sub(1).wrapping_mul(4));
            for (place, buffer) in taken.iter().enumerate() {
                buffers.bytes(*buffer, 8).fill(place as u8);
            }
            taken.iter().rev().for_each(|buffer| buffers.put(*buffer));
            if cfg!(miri) && round > 20 {
                break;
            }
        }
    }

    #[test]
    #[should_panic(expected = "a buffer that is not ours")]
    fn a_length_beyond_a_buffer_is_no_slice() {
        ProvidedBuffers::new(4, 8).unwrap().bytes(3, 9);
    }
}
