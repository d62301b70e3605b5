//! Operations that are asked for in one shared queue and answered in another, by io_uring.
//!
//! All memory that the kernel may read or write for an operation belongs to the [`Ring`]: the fixed bytes, the
//! buffers for what is received, copies of what is sent, addresses. It is given up only when no operation is left.

use std::io;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::time::Duration;

use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};

use crate::{Connection, Route};

mod destinations;
mod outbox;
mod provided;

use destinations::Destinations;
use outbox::Outbox;
use provided::ProvidedBuffers;

/// Operations that are asked for in one call of the kernel; more are handed over in several.
const ASKED_MAX: u32 = 1024;
/// Answers that fit into the queue; the kernel keeps more until there is room.
const ANSWERS_MAX: u32 = 4096;
/// The most completions that are waited for at once. So many pieces of work the kernel does in one call, if they are
/// there, and only some twenty if it is not told to.
const TURN_MAX: u32 = ANSWERS_MAX / 2;
/// A send of no more than this goes into the socket's buffer at once, unless the peer does not read.
const IMMEDIATE_BYTES: usize = 16 * 1024;
/// So long is waited in vain at most if it does not.
const IMMEDIATE_LONGEST: Duration = Duration::from_micros(50);
/// Buffers that are in use from the start. Few stay in the caches of the processor; more are taken as they are needed.
const FIRST_BUFFERS: u16 = 32;

/// The one group of buffers that a ring has.
const GROUP: u16 = 0;

// Numbers of the interface that the crate keeps to itself, from `include/uapi/linux/io_uring.h`.
const ENTER_GETEVENTS: u32 = 1;
const ENTER_EXT_ARG: u32 = 8;
const CANCEL_ANY: u32 = 4;
const REGISTER_SYNC_CANCEL: u32 = 24;
const RECEIVE_POLL_FIRST: u16 = 1;
const RECEIVE_MULTISHOT: u16 = 2;

/// Tokens with this bit are the ring's own: the number of a copy in the outbox.
const COPY: u64 = 1 << 63;

/// How often all operations are cancelled when a ring is dropped, before its memory is given up instead. Once is
/// enough for those that wait; more is needed only for what the kernel is just working on.
const CANCELS_MAX: usize = 1000;

/// The memory for what is received.
#[derive(Debug, Clone, Copy)]
pub struct RingMemory {
    /// Buffers, a power of two. They are taken into use as they are needed.
    pub buffers: u16,
    /// The size of each.
    pub buffer_bytes: u32,
}

/// How a receive is to be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arming {
    /// One completion for each piece that arrives, until the connection ends or there is no buffer; or one alone.
    pub multishot: bool,
    /// Nothing can be there yet, so that trying at once would be in vain.
    pub wait_first: bool,
}

/// How long to go on waiting for more once something is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Gathering {
    /// With so many completions the wait is over.
    pub completions: u32,
    /// After so long it is over with any. Zero, or a kernel before 6.12, does not gather.
    pub longest: Duration,
}

/// Why an operation did nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mishap {
    /// There was no buffer for what was received, which is still there.
    NoBuffers,
    /// It was cancelled.
    Canceled,
    /// The system's own number of the error.
    Os(i32),
}

/// What came of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// The token that the operation was asked for with.
    pub token: u64,
    /// How many bytes it moved, or why none.
    pub result: Result<u32, Mishap>,
    /// The operation goes on, and will have further completions.
    pub more: bool,
    /// The socket holds more than was received, its end included.
    pub nonempty: bool,
}

#[derive(Clone, Copy)]
struct Answer {
    token: u64,
    result: i32,
    flags: u32,
}

impl From<cqueue::Entry> for Answer {
    #[inline]
    fn from(entry: cqueue::Entry) -> Self {
        Self { token: entry.user_data(), result: entry.result(), flags: entry.flags() }
    }
}

impl Answer {
    #[inline]
    fn result(self) -> Result<u32, Mishap> {
        u32::try_from(self.result).map_err(|_| match -self.result {
            libc::ENOBUFS => Mishap::NoBuffers,
            libc::ECANCELED => Mishap::Canceled,
            number => Mishap::Os(number),
        })
    }
}

/// What operations under way may use.
struct Memory {
    buffers: ProvidedBuffers,
    outbox: Outbox,
    destinations: Destinations,
    fixed: Arc<[u8]>,
}

/// A queue of operations and a queue of their completions. It belongs to the thread that first uses it.
pub struct Ring {
    uring: IoUring,
    memory: ManuallyDrop<Memory>,
    /// Sockets that are to be closed once what was asked for on them is in the kernel's hands. Until then their
    /// numbers must not be given to other sockets.
    retired: Vec<Connection>,
    answers: Vec<Answer>,
    next: usize,
    /// The buffer of the completion that was given last, and how many bytes are in it.
    current: Option<(u16, usize)>,
    enabled: bool,
    gathers: bool,
    /// Sends asked for since the last wait that will most likely be complete, and say so, as soon as the kernel has
    /// them. A wait is for more than that.
    immediate: u32,
}

impl Ring {
    /// A ring whose fixed payloads are parts of `fixed`.
    ///
    /// # Errors
    /// When the kernel does not know all that is needed (6.1 does), forbids it (`kernel.io_uring_disabled`, or a
    /// sandbox), or has no memory or descriptor left.
    pub fn new(fixed: Arc<[u8]>, memory: RingMemory) -> io::Result<Self> {
        let uring = build()?;
        let mut buffers = ProvidedBuffers::new(memory.buffers, memory.buffer_bytes)?;
        let address = buffers.ring_address();
        // SAFETY: the ring of buffers has `count` entries there, and lives until the io_uring is closed or no
        // operation that could take a buffer is left: see `drop`.
        unsafe { uring.submitter().register_buf_ring_with_flags(address, buffers.count(), GROUP, 0)? };
        buffers.release(FIRST_BUFFERS);
        let gathers = uring.params().is_feature_min_timeout();
        let (outbox, destinations) = (Outbox::default(), Destinations::default());
        let memory = ManuallyDrop::new(Memory { buffers, outbox, destinations, fixed });
        Ok(Self {
            uring,
            memory,
            retired: Vec::new(),
            answers: Vec::with_capacity(ANSWERS_MAX as usize),
            next: 0,
            current: None,
            enabled: false,
            gathers,
            immediate: 0,
        })
    }

    /// The ring becomes the calling thread's.
    fn enable(&mut self) -> io::Result<()> {
        if !self.enabled {
            self.uring.submitter().register_enable_rings()?;
            self.enabled = true;
            // Spares the look-up of the descriptor at each call; without it everything works as well.
            if self.uring.submitter().register_ring_fd().is_err() {
                // An old kernel, or a thread that has used up its sixteen places.
            }
        }
        Ok(())
    }

    fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        // SAFETY: every entry is made in this file of memory that belongs to `self.memory`, which is dropped only
        // when no operation is left. Descriptors are numbers, and a wrong one gives an error.
        while unsafe { self.uring.submission().push(entry) }.is_err() {
            self.submit()?;
        }
        Ok(())
    }

    /// Hands over what was asked for without waiting for anything.
    ///
    /// # Errors
    /// When the kernel takes nothing.
    pub fn submit(&mut self) -> io::Result<()> {
        self.enable()?;
        let asked = self.uring.submission().len() as u32;
        // SAFETY: no argument is passed, so that the kernel reads and writes nothing but the queues.
        unsafe { self.uring.submitter().enter::<()>(asked, 0, 0, None)? };
        Ok(())
    }

    /// Begins to connect.
    ///
    /// # Errors
    /// When a unix socket's path cannot be an address, or, as of all operations, the queue is full and the kernel
    /// takes nothing from it.
    pub fn connect(&mut self, socket: &Connection, route: &Route, token: u64) -> io::Result<()> {
        let (address, length) = self.memory.destinations.locate(&route.destination)?;
        let entry = opcode::Connect::new(raw(socket), address, length).build();
        self.push(&entry.user_data(token))
    }

    /// Asks for what arrives, in the ring's own buffers.
    ///
    /// # Errors
    /// As of [`Ring::connect`].
    #[inline]
    pub fn receive(&mut self, socket: &Connection, arming: Arming, token: u64) -> io::Result<()> {
        let multishot = if arming.multishot { RECEIVE_MULTISHOT } else { 0 };
        let entry = opcode::Recv::new(raw(socket), std::ptr::null_mut(), 0)
            .buf_group(GROUP)
            .ioprio(multishot | poll_first(arming.wait_first))
            .build()
            .flags(squeue::Flags::BUFFER_SELECT);
        self.push(&entry.user_data(token))
    }

    /// Asks to throw away at most `count` bytes of what arrives; `wait_first` is as in [`Arming`].
    ///
    /// # Errors
    /// As of [`Ring::connect`].
    #[inline]
    pub fn discard(
        &mut self,
        socket: &Connection,
        count: u32,
        wait_first: bool,
        token: u64,
    ) -> io::Result<()> {
        // With MSG_TRUNC a TCP socket discards instead of writing (tcp(7)), so the pointer is never used; null
        // makes a kernel that would use it fail with EFAULT instead of writing anywhere. MSG_WAITALL does not go
        // with it: after each part the kernel would begin anew to wait for the whole.
        let entry = opcode::Recv::new(raw(socket), std::ptr::null_mut(), count)
            .flags(libc::MSG_TRUNC)
            .ioprio(poll_first(wait_first))
            .build();
        self.push(&entry.user_data(token))
    }

    /// Sends a part of the fixed bytes. Unless `told`, there is a completion only if not all of it could be sent.
    ///
    /// # Errors
    /// As of [`Ring::connect`].
    ///
    /// # Panics
    /// If the range is not within the fixed bytes.
    #[inline]
    pub fn send_fixed(
        &mut self,
        socket: &Connection,
        range: Range<usize>,
        told: bool,
        token: u64,
    ) -> io::Result<()> {
        let bytes = &self.memory.fixed[range];
        let flags = if told { squeue::Flags::empty() } else { squeue::Flags::SKIP_SUCCESS };
        let entry = send(socket, bytes.as_ptr(), bytes.len()).flags(flags);
        self.push(&entry.user_data(token))
    }

    /// Sends a copy of `bytes`, and tells when that is done.
    ///
    /// # Errors
    /// As of [`Ring::connect`].
    pub fn send_copy(&mut self, socket: &Connection, bytes: &[u8], token: u64) -> io::Result<()> {
        let (number, start) = self.memory.outbox.post(bytes, token);
        let entry = send(socket, start, bytes.len()).user_data(COPY | u64::from(number));
        self.immediate += u32::from(bytes.len() <= IMMEDIATE_BYTES);
        self.push(&entry).inspect_err(|_| {
            self.memory.outbox.delivered(number);
        })
    }

    /// Ends the operations that were asked for with this token, which complete with `ECANCELED`. If there is none,
    /// a completion with `quiet` tells so.
    ///
    /// # Errors
    /// As of [`Ring::connect`].
    pub fn cancel(&mut self, token: u64, quiet: u64) -> io::Result<()> {
        let entry = opcode::AsyncCancel::new(token).build().flags(squeue::Flags::SKIP_SUCCESS);
        self.push(&entry.user_data(quiet))
    }

    /// Closes a socket as soon as what was asked for on it is in the kernel's hands, at the next wait. Operations
    /// that are under way hold it open, unless they are cancelled.
    pub fn retire(&mut self, socket: Connection) {
        self.retired.push(socket);
    }

    /// Takes more of the buffers into use. There were too few when a receive fails with `ENOBUFS`.
    pub fn release_buffers(&mut self) {
        let released = self.memory.buffers.released();
        self.memory.buffers.release(released.max(FIRST_BUFFERS));
    }

    /// Hands over what was asked for and waits for a completion, at most this long; with the rest of `gathering`
    /// for more of them. Completions that were not looked at stay.
    ///
    /// # Errors
    /// When the kernel cannot wait. A signal that ends the wait is no error.
    pub fn wait(&mut self, longest: Duration, gathering: Gathering) -> io::Result<()> {
        self.enable()?;
        self.recycle();
        self.answers.drain(..self.next);
        self.next = 0;
        let result = self.enter(longest, gathering);
        self.retired.clear();
        self.answers.extend(self.uring.completion().map(Answer::from));
        match result.map_err(|error| error.raw_os_error()) {
            // The rest waits in the queues until completions have been taken out (EBUSY) or memory is there (EAGAIN).
            Ok(_) | Err(Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN)) => Ok(()),
            Err(code) => Err(code.map_or_else(io::Error::last_os_error, io::Error::from_raw_os_error)),
        }
    }

    fn enter(&mut self, longest: Duration, gathering: Gathering) -> io::Result<usize> {
        let asked = self.uring.submission().len() as u32;
        let timeout = Timespec::from(longest);
        let mut arguments = SubmitArgs::new().timespec(&timeout);
        let immediate = std::mem::take(&mut self.immediate);
        let within = if immediate > 0 { gathering.longest.max(IMMEDIATE_LONGEST) } else { gathering.longest };
        let within_us = within.min(longest).as_micros() as u32;
        let wanted = match () {
            () if longest.is_zero() || !self.answers.is_empty() => 0,
            () if within_us == 0 || !self.gathers => 1,
            () => {
                arguments = arguments.min_wait_usec(within_us);
                (gathering.completions.max(1) + immediate).min(TURN_MAX)
            }
        };
        let flags = ENTER_GETEVENTS | ENTER_EXT_ARG;
        // SAFETY: the argument is the structure that this flag asks for, and outlives the call, as does the time
        // that it points to.
        unsafe { self.uring.submitter().enter(asked, wanted, flags, Some(&arguments)) }
    }

    #[inline]
    fn recycle(&mut self) {
        if let Some((buffer, _)) = self.current.take() {
            self.memory.buffers.put(buffer);
        }
    }

    /// The next completion. The bytes of the one before are gone.
    #[inline]
    pub fn next_completion(&mut self) -> Option<Completion> {
        self.recycle();
        let answer = *self.answers.get(self.next)?;
        self.next += 1;
        if let Some(buffer) = cqueue::buffer_select(answer.flags) {
            self.current = Some((buffer, answer.result.max(0) as usize));
        }
        let token = match answer.token & COPY {
            0 => answer.token,
            _ => self.memory.outbox.delivered((answer.token & !COPY) as u32),
        };
        Some(Completion {
            token,
            result: answer.result(),
            more: cqueue::more(answer.flags),
            nonempty: cqueue::sock_nonempty(answer.flags),
        })
    }

    /// The token and the result of the completion after this one, if it is there already.
    #[inline]
    pub fn upcoming(&self) -> Option<(u64, Result<u32, Mishap>)> {
        self.answers.get(self.next).map(|answer| (answer.token, answer.result()))
    }

    /// The bytes that came with the last completion, if it was of a receive.
    #[inline]
    pub fn bytes(&mut self) -> &mut [u8] {
        match self.current {
            Some((buffer, length)) => self.memory.buffers.bytes(buffer, length),
            None => &mut [],
        }
    }

    /// Ends all operations; false if that cannot be known. The kernel looks for each anew from the start, so that
    /// whoever has thousands had better cancel them by their tokens before.
    fn quiesce(&mut self) -> bool {
        for _ in 0..CANCELS_MAX {
            // Hands over what was asked for. Cancelled operations end here, and so do those that are done.
            while self.end_some() > 0 {}
            self.retired.clear();
            match cancel_all(self.uring.as_raw_fd()) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
        false
    }

    /// Takes completions that are there, and lets the kernel do for them what it has put off; says how many.
    fn end_some(&mut self) -> usize {
        let asked = self.uring.submission().len() as u32;
        let at_once = Timespec::new();
        let arguments = SubmitArgs::new().timespec(&at_once);
        let flags = ENTER_GETEVENTS | ENTER_EXT_ARG;
        // SAFETY: the argument is the structure that this flag asks for, and outlives the call, as does the time
        // that it points to.
        let entered = unsafe { self.uring.submitter().enter(asked, TURN_MAX, flags, Some(&arguments)) };
        if entered.is_err() {
            // Too little came in no time, which is what was expected; what is left then is found by whoever asks.
        }
        self.uring.completion().count()
    }
}

/// The argument of a cancellation that is done when the call returns (`struct io_uring_sync_cancel_reg`).
#[repr(C)]
struct SyncCancel {
    token: u64,
    fd: i32,
    flags: u32,
    timeout_sec: i64,
    timeout_ns: i64,
    opcode: u8,
    reserved: [u8; 7],
    reserved_too: [u64; 3],
}

/// Cancels all operations of a ring; says how many there were.
fn cancel_all(ring: RawFd) -> io::Result<usize> {
    let order = SyncCancel {
        token: 0,
        fd: -1,
        flags: CANCEL_ANY,
        timeout_sec: -1,
        timeout_ns: -1,
        opcode: 0,
        reserved: [0; 7],
        reserved_too: [0; 3],
    };
    // SAFETY: the argument is the structure that the call asks for, of which it wants one, and outlives the call.
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

fn raw(socket: &Connection) -> Fd {
    Fd(socket.as_raw())
}

/// Sends all of it, so that less counts as failed.
fn send(socket: &Connection, start: *const u8, length: usize) -> squeue::Entry {
    let flags = libc::MSG_WAITALL | libc::MSG_NOSIGNAL;
    opcode::Send::new(raw(socket), start, length as u32).flags(flags).build()
}

/// A ring that is used by one thread, which does the kernel's deferred work when it waits; not usable yet, so that
/// it may be made by another thread.
fn build() -> io::Result<IoUring> {
    let mut builder = IoUring::builder();
    builder.setup_r_disabled().setup_single_issuer().setup_defer_taskrun().setup_submit_all();
    builder.setup_cqsize(ANSWERS_MAX);
    let bare = builder.clone();
    // Known since 6.6; it spares a step of indirection.
    builder.setup_no_sqarray();
    builder.build(ASKED_MAX).or_else(|_| bare.build(ASKED_MAX))
}

impl Drop for Ring {
    fn drop(&mut self) {
        self.recycle();
        if !self.enabled || self.quiesce() {
            // SAFETY: dropped here and never used again. No operation is left that could use the memory: the kernel
            // has none to cancel, or was never asked for any.
            unsafe { ManuallyDrop::drop(&mut self.memory) };
        }
        // Otherwise the memory is given up for good, since the kernel might still use it.
    }
}

#[cfg(test)]
mod tests;
