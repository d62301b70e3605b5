//! io_uring: operations are submitted through one shared queue, and complete through another.
//!
//! All memory that the kernel may read or write for an operation belongs to the [`Ring`]: the fixed bytes, the receive buffers,
//! copies of sent bytes, addresses. It is freed only when no operation is left.

use std::io;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::time::Duration;

use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};

use crate::route::Route;
use crate::socket::Socket;

mod memory;
mod provided;

use memory::{Addresses, SendCopies};
use provided::ProvidedBuffers;

/// Size of the submission queue. More operations are submitted in several calls.
const MAX_SUBMISSIONS: u32 = 1024;
/// Size of the completion queue. The kernel keeps further completions until there is room.
const MAX_COMPLETIONS: u32 = 4096;
/// Maximum number of completions that one wait asks for. The kernel runs up to that much deferred work in one call; if the wait
/// asks for fewer completions, it runs only some twenty items.
const MAX_WAIT: u32 = MAX_COMPLETIONS / 2;
/// A send of at most this size fits the socket's buffer and completes at once, unless the peer does not read.
const IMMEDIATE_BYTES: usize = 16 * 1024;
/// A wait that expects such a send to complete lasts at most this much longer if it does not.
const IMMEDIATE_WAIT: Duration = Duration::from_micros(50);
/// Number of buffers in use from the start. Few buffers stay in the processor's caches; more are released when needed.
const FIRST_BUFFERS: u16 = 32;

/// The ring's only buffer group.
const GROUP: u16 = 0;

// Constants that the io-uring crate keeps private, from `include/uapi/linux/io_uring.h`.
const ENTER_GETEVENTS: u32 = 1;
const ENTER_EXT_ARG: u32 = 8;
const CANCEL_ANY: u32 = 4;
const REGISTER_SYNC_CANCEL: u32 = 24;
const RECEIVE_POLL_FIRST: u16 = 1;
const RECEIVE_MULTISHOT: u16 = 2;

/// Tokens with this bit are used by the ring itself: they contain the number of a copy in `SendCopies`.
const COPY: u64 = 1 << 63;

/// How often a dropped ring cancels all operations before it leaks its memory instead. One pass ends every waiting operation;
/// more passes are needed only for operations that the kernel is executing.
const MAX_CANCELS: usize = 1000;

/// The number and size of the receive buffers.
#[derive(Debug, Clone, Copy)]
pub struct RingMemory {
    /// Number of buffers, a power of two. Their memory is touched only when they are used.
    pub buffers: u16,
    /// Bytes of each buffer.
    pub buffer_bytes: u32,
}

/// How a receive operation behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecvMode {
    /// If true, one completion for each piece that arrives, until the connection ends or no buffer is left; otherwise only one
    /// completion.
    pub multishot: bool,
    /// If true, wait for readiness before the first read, because the socket is known to be empty.
    pub wait_first: bool,
}

/// How long a wait lingers for more completions once it has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WaitPolicy {
    /// The wait ends at once when there are this many completions.
    pub completions: u32,
    /// After this time one completion is enough. With zero, or before Linux 6.12, the wait does not linger.
    pub linger: Duration,
}

/// Why an operation failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpError {
    /// A receive found no free buffer. The bytes are still in the socket.
    NoBuffers,
    /// The operation was cancelled, or a send of a copy was only partial, for which the kernel reports no cause.
    Canceled,
    /// The errno of the failure.
    Os(i32),
}

/// A copy whose send is pending, see [`Ring::send_copy`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyId(u32);

impl CopyId {
    /// The number by which the kernel identifies the send.
    fn user_data(self) -> u64 {
        COPY | u64::from(self.0)
    }
}

/// The outcome of one operation, or of one step of a multishot operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// The token that the operation was submitted with.
    pub token: u64,
    /// Number of bytes transferred.
    pub result: Result<u32, OpError>,
    /// True if the operation is still active and will complete again.
    pub more: bool,
    /// True if the socket holds more bytes, or the end of the stream.
    pub nonempty: bool,
}

#[derive(Clone, Copy)]
struct RawCompletion {
    token: u64,
    result: i32,
    flags: u32,
}

impl From<cqueue::Entry> for RawCompletion {
    #[inline]
    fn from(entry: cqueue::Entry) -> Self {
        Self { token: entry.user_data(), result: entry.result(), flags: entry.flags() }
    }
}

impl RawCompletion {
    #[inline]
    fn result(self) -> Result<u32, OpError> {
        u32::try_from(self.result).map_err(|_| match -self.result {
            libc::ENOBUFS => OpError::NoBuffers,
            libc::ECANCELED => OpError::Canceled,
            number => OpError::Os(number),
        })
    }
}

/// All memory that an operation in the kernel may still read or write.
struct Memory {
    buffers: ProvidedBuffers,
    copies: SendCopies,
    addresses: Addresses,
    fixed: Arc<[u8]>,
}

/// A submission queue and a completion queue. They are bound to the thread that first uses them.
pub struct Ring {
    uring: IoUring,
    memory: ManuallyDrop<Memory>,
    /// Sockets to close once the kernel has accepted every operation on them. Until then no other socket may get their
    /// descriptors.
    retired: Vec<Socket>,
    completions: Vec<RawCompletion>,
    next: usize,
    /// The buffer of the last completion returned, and the number of bytes in it.
    current: Option<(u16, usize)>,
    enabled: bool,
    /// True if the kernel supports [`WaitPolicy::linger`].
    can_linger: bool,
    /// Number of sends queued since the last wait that complete at once. The next wait asks for that many more completions.
    immediate: u32,
}

impl Ring {
    /// Creates a ring whose fixed payloads are parts of `fixed`.
    ///
    /// # Errors
    /// When the kernel lacks a needed feature (6.1 has all), forbids io_uring (`kernel.io_uring_disabled`, or a sandbox), or has
    /// no memory or descriptor left.
    pub fn new(fixed: Arc<[u8]>, memory: RingMemory) -> io::Result<Self> {
        let uring = build()?;
        let mut buffers = ProvidedBuffers::new(memory.buffers, memory.buffer_bytes)?;
        let address = buffers.ring_address();
        // SAFETY: the ring of buffers has `count` entries there, and lives until the io_uring is closed or no
        // operation that could take a buffer is left: see `drop`.
        unsafe { uring.submitter().register_buf_ring_with_flags(address, buffers.count(), GROUP, 0)? };
        buffers.release(FIRST_BUFFERS);
        let can_linger = uring.params().is_feature_min_timeout();
        let (copies, addresses) = (SendCopies::default(), Addresses::default());
        let memory = ManuallyDrop::new(Memory { buffers, copies, addresses, fixed });
        Ok(Self {
            uring,
            memory,
            retired: Vec::new(),
            completions: Vec::with_capacity(MAX_COMPLETIONS as usize),
            next: 0,
            current: None,
            enabled: false,
            can_linger,
            immediate: 0,
        })
    }

    /// Enables the ring, which binds it to the calling thread.
    fn enable(&mut self) -> io::Result<()> {
        if !self.enabled {
            self.uring.submitter().register_enable_rings()?;
            self.enabled = true;
            // An optimisation that avoids the look-up of the descriptor at each call. Old kernels refuse it, and so does a
            // thread that has used its sixteen slots; everything works without it.
            self.uring.submitter().register_ring_fd().unwrap_or_default();
        }
        Ok(())
    }

    fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        // SAFETY: every entry is built in this file and points into `self.memory`, which is dropped only when no
        // operation is left. Descriptors are numbers, and a wrong one gives an error.
        while unsafe { self.uring.submission().push(entry) }.is_err() {
            self.submit()?;
        }
        Ok(())
    }

    /// Submits the queued operations without waiting.
    ///
    /// # Errors
    /// When the kernel accepts none.
    pub fn submit(&mut self) -> io::Result<()> {
        self.enable()?;
        let queued = self.uring.submission().len() as u32;
        // SAFETY: no argument is passed, so that the kernel reads and writes nothing but the queues.
        unsafe { self.uring.submitter().enter::<()>(queued, 0, 0, None)? };
        Ok(())
    }

    /// Queues a connect.
    ///
    /// # Errors
    /// When a unix socket's path is not a valid address. For every operation: when the queue is full and the kernel accepts
    /// none of it.
    pub fn connect(&mut self, socket: &Socket, route: &Route, token: u64) -> io::Result<()> {
        let (address, length) = self.memory.addresses.locate(&route.destination)?;
        let entry = opcode::Connect::new(raw(socket), address, length).build();
        self.push(&entry.user_data(token))
    }

    /// Queues a receive into the ring's own buffers.
    ///
    /// # Errors
    /// As for [`Ring::connect`].
    #[inline]
    pub fn receive(&mut self, socket: &Socket, mode: RecvMode, token: u64) -> io::Result<()> {
        let multishot = if mode.multishot { RECEIVE_MULTISHOT } else { 0 };
        let entry = opcode::Recv::new(raw(socket), std::ptr::null_mut(), 0)
            .buf_group(GROUP)
            .ioprio(multishot | poll_first(mode.wait_first))
            .build()
            .flags(squeue::Flags::BUFFER_SELECT);
        self.push(&entry.user_data(token))
    }

    /// Queues a receive that discards at most `count` bytes in the kernel; `wait_first` is as in [`RecvMode`].
    ///
    /// # Errors
    /// As for [`Ring::connect`].
    #[inline]
    pub fn discard(&mut self, socket: &Socket, count: u32, wait_first: bool, token: u64) -> io::Result<()> {
        // With MSG_TRUNC a TCP socket discards instead of writing (tcp(7)), so the pointer is never used; null
        // makes a kernel that would use it fail with EFAULT instead of writing anywhere. MSG_WAITALL cannot be
        // added: after each part the kernel would wait for the whole length again.
        let entry = opcode::Recv::new(raw(socket), std::ptr::null_mut(), count)
            .flags(libc::MSG_TRUNC)
            .ioprio(poll_first(wait_first))
            .build();
        self.push(&entry.user_data(token))
    }

    /// Queues a send of a part of the fixed bytes. A `silent` send completes only if it did not send all of them.
    ///
    /// # Errors
    /// As for [`Ring::connect`].
    ///
    /// # Panics
    /// If the range is not within the fixed bytes.
    #[inline]
    pub fn send_fixed(
        &mut self,
        socket: &Socket,
        range: Range<usize>,
        silent: bool,
        token: u64,
    ) -> io::Result<()> {
        let bytes = &self.memory.fixed[range];
        let flags = if silent { squeue::Flags::SKIP_SUCCESS } else { squeue::Flags::empty() };
        let entry = send(socket, bytes.as_ptr(), bytes.len()).flags(flags);
        self.push(&entry.user_data(token))
    }

    /// Queues a send of a copy of `bytes`. It always completes, and reports an error unless it sent all of them.
    ///
    /// # Errors
    /// As for [`Ring::connect`].
    pub fn send_copy(&mut self, socket: &Socket, bytes: &[u8], token: u64) -> io::Result<CopyId> {
        let (number, start) = self.memory.copies.keep(bytes, token);
        let copy = CopyId(number);
        let entry = send(socket, start, bytes.len()).user_data(copy.user_data());
        self.immediate += u32::from(bytes.len() <= IMMEDIATE_BYTES);
        self.push(&entry).inspect_err(|_| {
            self.memory.copies.release(number);
        })?;
        Ok(copy)
    }

    /// Queues the cancellation of the operations that carry `token`; they complete with [`OpError::Canceled`]. If
    /// there are none, the cancellation itself completes, with the token `not_found`.
    ///
    /// # Errors
    /// As for [`Ring::connect`].
    pub fn cancel(&mut self, token: u64, not_found: u64) -> io::Result<()> {
        let entry = opcode::AsyncCancel::new(token).build().flags(squeue::Flags::SKIP_SUCCESS);
        self.push(&entry.user_data(not_found))
    }

    /// Queues the cancellation of the send of a copy, like [`Ring::cancel`] for a token. Once its completion was returned, its id
    /// may belong to another send.
    ///
    /// # Errors
    /// As for [`Ring::connect`].
    pub fn cancel_copy(&mut self, copy: CopyId, not_found: u64) -> io::Result<()> {
        self.cancel(copy.user_data(), not_found)
    }

    /// Closes a socket at the next wait, when the kernel has accepted every operation on it. Operations in the kernel keep it
    /// open until they end or are cancelled.
    pub fn retire(&mut self, socket: Socket) {
        self.retired.push(socket);
    }

    /// Submits the queued operations, and closes retired sockets now.
    ///
    /// # Errors
    /// As for [`Ring::submit`].
    pub fn flush_retired(&mut self) -> io::Result<()> {
        self.submit()?;
        self.close_retired();
        Ok(())
    }

    /// Adds more receive buffers; called after [`OpError::NoBuffers`].
    pub fn release_buffers(&mut self) {
        let released = self.memory.buffers.released();
        self.memory.buffers.release(released.max(FIRST_BUFFERS));
    }

    /// Submits the queued operations and waits for completions, at most `longest` and as `policy` says. Completions that were
    /// not returned yet are kept.
    ///
    /// # Errors
    /// When the kernel cannot wait. A signal that ends the wait is not an error.
    pub fn wait(&mut self, longest: Duration, policy: WaitPolicy) -> io::Result<()> {
        self.enable()?;
        self.recycle();
        self.completions.drain(..self.next);
        self.next = 0;
        let result = self.enter(longest, policy);
        self.close_retired();
        self.completions.extend(self.uring.completion().map(RawCompletion::from));
        match result.map_err(|error| error.raw_os_error()) {
            // EBUSY: completions have to be read first. EAGAIN: the kernel lacks memory now. Operations stay queued.
            Ok(_) | Err(Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN)) => Ok(()),
            Err(code) => Err(code.map_or_else(io::Error::last_os_error, io::Error::from_raw_os_error)),
        }
    }

    /// Closes retired sockets, unless operations are left in the queue: they may refer to a retired socket, and would act on the
    /// socket that gets its descriptor next.
    fn close_retired(&mut self) {
        if self.uring.submission().is_empty() {
            self.retired.clear();
        }
    }

    fn enter(&mut self, longest: Duration, policy: WaitPolicy) -> io::Result<usize> {
        let queued = self.uring.submission().len() as u32;
        let timeout = Timespec::from(longest);
        let mut arguments = SubmitArgs::new().timespec(&timeout);
        let immediate = std::mem::take(&mut self.immediate);
        let linger = if immediate > 0 { policy.linger.max(IMMEDIATE_WAIT) } else { policy.linger };
        let linger_us = linger.min(longest).as_micros() as u32;
        let completions_min = match () {
            () if longest.is_zero() || !self.completions.is_empty() => 0,
            () if linger_us == 0 || !self.can_linger => 1,
            () => {
                arguments = arguments.min_wait_usec(linger_us);
                (policy.completions.max(1) + immediate).min(MAX_WAIT)
            }
        };
        let flags = ENTER_GETEVENTS | ENTER_EXT_ARG;
        // SAFETY: the argument is the structure that this flag asks for, and outlives the call, as does the time
        // that it points to.
        unsafe { self.uring.submitter().enter(queued, completions_min, flags, Some(&arguments)) }
    }

    #[inline]
    fn recycle(&mut self) {
        if let Some((buffer, _)) = self.current.take() {
            self.memory.buffers.put(buffer);
        }
    }

    /// Returns the next completion. Frees the buffer of the previous one.
    #[inline]
    pub fn next_completion(&mut self) -> Option<Completion> {
        self.recycle();
        let raw = *self.completions.get(self.next)?;
        self.next += 1;
        if let Some(buffer) = cqueue::buffer_select(raw.flags) {
            self.current = Some((buffer, raw.result.max(0) as usize));
        }
        let (token, result) = match raw.token & COPY {
            0 => (raw.token, raw.result()),
            _ => self.end_copy(raw),
        };
        Some(Completion {
            token,
            result,
            more: cqueue::more(raw.flags),
            nonempty: cqueue::sock_nonempty(raw.flags),
        })
    }

    /// Returns the token and the result of a completed send of a copy. If a send is cut short, the kernel reports the number of
    /// bytes sent instead of the error.
    fn end_copy(&mut self, raw: RawCompletion) -> (u64, Result<u32, OpError>) {
        let (token, length) = self.memory.copies.release((raw.token & !COPY) as u32);
        let whole = |sent: u32| if sent as usize == length { Ok(sent) } else { Err(OpError::Canceled) };
        (token, raw.result().and_then(whole))
    }

    /// The token and the result of the completion after the last one returned, if it has arrived.
    #[inline]
    pub fn upcoming(&self) -> Option<(u64, Result<u32, OpError>)> {
        self.completions.get(self.next).map(|raw| (raw.token, raw.result()))
    }

    /// The bytes that came with the last completion; empty if it was not a receive.
    #[inline]
    pub fn bytes(&mut self) -> &mut [u8] {
        match self.current {
            Some((buffer, length)) => self.memory.buffers.bytes(buffer, length),
            None => &mut [],
        }
    }

    /// Ends all operations; returns false if some may be left. The kernel searches for each from the start of its list, so a
    /// caller with thousands of operations should cancel them by their tokens first.
    fn quiesce(&mut self) -> bool {
        for _ in 0..MAX_CANCELS {
            // Submits what is queued. Operations that are cancelled or done complete here.
            while self.reap() > 0 {}
            self.close_retired();
            match cancel_all(self.uring.as_raw_fd()) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
        false
    }

    /// Lets the kernel run its deferred work and drops the available completions; returns their number.
    fn reap(&mut self) -> usize {
        let queued = self.uring.submission().len() as u32;
        let at_once = Timespec::new();
        let arguments = SubmitArgs::new().timespec(&at_once);
        let flags = ENTER_GETEVENTS | ENTER_EXT_ARG;
        // SAFETY: the argument is the structure that this flag asks for, and outlives the call, as does the time
        // that it points to.
        let entered = unsafe { self.uring.submitter().enter(queued, MAX_WAIT, flags, Some(&arguments)) };
        // A timeout of zero usually returns an error, because fewer than MAX_WAIT completions are there. Whatever the error,
        // `cancel_all` finds the operations that are left.
        entered.unwrap_or_default();
        self.uring.completion().count()
    }
}

/// The argument of a synchronous cancellation (`struct io_uring_sync_cancel_reg`).
#[repr(C)]
struct SyncCancel {
    token: u64,
    fd: i32,
    flags: u32,
    timeout_sec: i64,
    timeout_ns: i64,
    opcode: u8,
    reserved: [u8; 7],
    reserved_2: [u64; 3],
}

/// Cancels all operations of a ring; returns their number.
fn cancel_all(ring: RawFd) -> io::Result<usize> {
    let order = SyncCancel {
        token: 0,
        fd: -1,
        flags: CANCEL_ANY,
        timeout_sec: -1,
        timeout_ns: -1,
        opcode: 0,
        reserved: [0; 7],
        reserved_2: [0; 3],
    };
    // SAFETY: the argument is the one structure that the call takes, and it outlives the call.
    let count = unsafe {
        libc::syscall(libc::SYS_io_uring_register, ring, REGISTER_SYNC_CANCEL, &raw const order, 1_u32)
    };
    match usize::try_from(count) {
        Ok(count) => Ok(count),
        Err(_) => match io::Error::last_os_error() {
            error if error.raw_os_error() == Some(libc::ENOENT) => Ok(0),
            error => Err(error),
        },
    }
}

fn poll_first(wait_first: bool) -> u16 {
    if wait_first { RECEIVE_POLL_FIRST } else { 0 }
}

fn raw(socket: &Socket) -> Fd {
    Fd(socket.as_raw())
}

/// Builds a send of all bytes: a partial send counts as failed.
fn send(socket: &Socket, start: *const u8, length: usize) -> squeue::Entry {
    let flags = libc::MSG_WAITALL | libc::MSG_NOSIGNAL;
    opcode::Send::new(raw(socket), start, length as u32).flags(flags).build()
}

/// Creates a ring for one thread, which runs the kernel's deferred work when it waits. The ring starts disabled, so that
/// another thread may create it.
fn build() -> io::Result<IoUring> {
    let mut builder = IoUring::builder();
    builder.setup_r_disabled().setup_single_issuer().setup_defer_taskrun().setup_submit_all();
    builder.setup_cqsize(MAX_COMPLETIONS);
    let bare = builder.clone();
    // Available since Linux 6.6; it avoids an indirection.
    builder.setup_no_sqarray();
    builder.build(MAX_SUBMISSIONS).or_else(|_| bare.build(MAX_SUBMISSIONS))
}

impl Drop for Ring {
    fn drop(&mut self) {
        self.recycle();
        if !self.enabled || self.quiesce() {
            // SAFETY: dropped here and never used again. No operation is left that could use the memory: the kernel
            // has none to cancel, or never got one.
            unsafe { ManuallyDrop::drop(&mut self.memory) };
        }
        // Otherwise the memory is leaked, because the kernel might still use it.
    }
}

#[cfg(test)]
mod tests;
