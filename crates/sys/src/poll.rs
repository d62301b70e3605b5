//! epoll: edge-triggered readiness.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

use rustix::event::epoll;

/// Maximum number of events of one wait. More ready sockets are returned by further waits.
const EVENTS_PER_WAIT: usize = 1024;

/// What a socket is ready for. An error or a hang-up sets both, so that the next read or write reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Readiness {
    /// A read will return bytes, the end of the stream, or an error.
    pub readable: bool,
    /// A write will accept bytes, or return an error.
    pub writable: bool,
    /// The peer has closed its side: the end of the stream follows the bytes that have arrived, without a further event.
    pub closing: bool,
}

/// One ready socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    /// The number that the socket was registered with.
    pub token: u64,
    /// What it became ready for.
    pub readiness: Readiness,
}

/// A set of sockets to wait on.
pub struct Poll {
    epoll: OwnedFd,
    events: Vec<libc::epoll_event>,
    next: usize,
    /// True if the kernel, or a seccomp filter, allows only waits of whole milliseconds.
    coarse: bool,
}

impl Poll {
    /// Creates an empty set.
    ///
    /// # Errors
    /// When the process has no descriptor left.
    pub fn new() -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        Ok(Self { epoll, events: Vec::with_capacity(EVENTS_PER_WAIT), next: 0, coarse: false })
    }

    /// Watches a socket in both directions, edge-triggered, until it is closed. No socket is registered twice, so a request
    /// costs no system call for that.
    ///
    /// # Errors
    /// When the kernel refuses, for lack of memory or because of `fs.epoll.max_user_watches`.
    pub fn watch(&self, socket: impl AsFd, token: u64) -> io::Result<()> {
        use epoll::EventFlags as Flags;
        let flags = Flags::IN | Flags::OUT | Flags::RDHUP | Flags::ET;
        Ok(epoll::add(&self.epoll, socket, epoll::EventData::new_u64(token), flags)?)
    }

    /// Watches a listening socket for incoming connections, level-triggered: a connection that is not accepted is reported
    /// again.
    ///
    /// # Errors
    /// As for [`Poll::watch`].
    pub fn watch_listener(&self, socket: impl AsFd, token: u64) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, socket, epoll::EventData::new_u64(token), epoll::EventFlags::IN)?)
    }

    /// Waits until a socket is ready, at most `longest`; zero only polls. [`Poll::next_ready`] then returns the ready sockets.
    /// A signal ends the wait early, with no socket ready.
    ///
    /// Before Linux 5.11, and where a filter forbids epoll_pwait2(2), waits are rounded up to milliseconds.
    ///
    /// # Errors
    /// When the kernel refuses the call, which it does not for a set created here.
    pub fn wait(&mut self, longest: Duration) -> io::Result<()> {
        self.events.clear();
        self.next = 0;
        let count = if self.coarse { self.wait_ms(longest) } else { self.wait_ns(longest) };
        match usize::try_from(count) {
            Ok(count) => {
                // SAFETY: the kernel has written `count` events, at most EVENTS_PER_WAIT, into the spare
                // capacity of that size, and an event is plain integers.
                unsafe { self.events.set_len(count) };
                Ok(())
            }
            Err(_) => self.wait_failed(longest),
        }
    }

    /// Returns the number of events, or -1. The timeout has nanosecond resolution; the whole milliseconds of epoll_wait(2) would
    /// send requests up to 1 ms late.
    fn wait_ns(&mut self, longest: Duration) -> i64 {
        let timeout = libc::timespec {
            tv_sec: i64::try_from(longest.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: longest.subsec_nanos().into(),
        };
        let no_signals = std::ptr::null::<libc::sigset_t>();
        // SAFETY: the event pointer is valid for EVENTS_PER_WAIT writes (the capacity of an emptied vector), the
        // timeout outlives the call, and no signal mask is given.
        unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.epoll.as_raw_fd(),
                self.events.as_mut_ptr(),
                EVENTS_PER_WAIT,
                &raw const timeout,
                no_signals,
                0_usize,
            )
        }
    }

    fn wait_ms(&mut self, longest: Duration) -> i64 {
        let timeout = i32::try_from(whole_ms(longest)).unwrap_or(i32::MAX);
        let most = EVENTS_PER_WAIT as i32;
        // SAFETY: the event pointer is valid for EVENTS_PER_WAIT writes (the capacity of an emptied vector).
        unsafe { libc::epoll_wait(self.epoll.as_raw_fd(), self.events.as_mut_ptr(), most, timeout).into() }
    }

    fn wait_failed(&mut self, longest: Duration) -> io::Result<()> {
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINTR) => Ok(()),
            Some(libc::ENOSYS | libc::EPERM) if !self.coarse => {
                self.coarse = true;
                self.wait(longest)
            }
            _ => Err(error),
        }
    }

    /// Returns the next ready socket of the last wait.
    #[inline]
    pub fn next_ready(&mut self) -> Option<Ready> {
        use epoll::EventFlags as Flags;
        let event = self.events.get(self.next)?;
        self.next += 1;
        let flags = Flags::from_bits_retain(event.events);
        let broken = flags.intersects(Flags::ERR | Flags::HUP);
        let closing = broken || flags.contains(Flags::RDHUP);
        let readable = closing || flags.contains(Flags::IN);
        let writable = broken || flags.contains(Flags::OUT);
        Some(Ready { token: event.u64, readiness: Readiness { readable, writable, closing } })
    }
}

fn whole_ms(span: Duration) -> u128 {
    span.as_micros().div_ceil(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coarse_waits_are_never_too_short() {
        assert_eq!(whole_ms(Duration::ZERO), 0);
        assert_eq!(whole_ms(Duration::from_micros(1)), 1);
        assert_eq!(whole_ms(Duration::from_micros(2001)), 3);
    }

    #[test]
    fn both_kinds_of_wait_see_what_is_ready() {
        for coarse in [false, true] {
            let (reader, mut writer) = std::os::unix::net::UnixStream::pair().unwrap();
            let mut poll = Poll::new().unwrap();
            poll.coarse = coarse;
            poll.watch(&reader, 7).unwrap();
            std::io::Write::write_all(&mut writer, b"x").unwrap();
            poll.wait(Duration::from_secs(5)).unwrap();
            let ready = poll.next_ready().unwrap();
            assert!(ready.token == 7 && ready.readiness.readable && !ready.readiness.closing);
            drop(writer);
            poll.wait(Duration::from_secs(5)).unwrap();
            assert!(poll.next_ready().unwrap().readiness.closing);
        }
    }
}
