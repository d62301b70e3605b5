//! Edge-triggered readiness, by epoll.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::{Timespec, epoll};
use rustix::io::Errno;

/// Events taken from the kernel in one call. More connections than this are served in several calls.
const EVENTS_PER_WAIT: usize = 1024;

/// What a socket became ready for. An error or a hang-up shows as both, so that the next read or write meets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Readiness {
    /// A read will give bytes, the end, or an error.
    pub readable: bool,
    /// A write will take bytes, or give an error.
    pub writable: bool,
    /// The peer has closed its side: after the bytes that are there comes the end, and no further event.
    pub closing: bool,
}

/// One ready socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    /// The number the socket was registered under.
    pub token: u64,
    /// What it became ready for.
    pub readiness: Readiness,
}

/// A set of sockets to wait for.
pub struct Poll {
    epoll: OwnedFd,
    events: Vec<epoll::Event>,
    next: usize,
    /// The kernel, or a sandbox around it, knows only waits of whole milliseconds.
    coarse: bool,
}

// SAFETY: `epoll::Event` holds a union with a pointer, which keeps it from being `Send` by itself; every
// event here was registered with a number in that union, so no pointer ever crosses threads.
unsafe impl Send for Poll {}

impl Poll {
    /// An empty set.
    ///
    /// # Errors
    /// When the process has no descriptor left.
    pub fn new() -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        Ok(Self { epoll, events: Vec::with_capacity(EVENTS_PER_WAIT), next: 0, coarse: false })
    }

    /// Watches a socket for both directions, edge-triggered, until it is closed. Nothing needs to be
    /// registered again, so a request costs no call of its own here.
    ///
    /// # Errors
    /// When the kernel refuses, for want of memory or by `fs.epoll.max_user_watches`.
    pub fn watch(&self, socket: impl AsFd, token: u64) -> io::Result<()> {
        use epoll::EventFlags as Flags;
        let flags = Flags::IN | Flags::OUT | Flags::RDHUP | Flags::ET;
        Ok(epoll::add(&self.epoll, socket, epoll::EventData::new_u64(token), flags)?)
    }

    /// Watches a listening socket for incoming connections, level-triggered: what is not accepted now comes again.
    ///
    /// # Errors
    /// As for [`Poll::watch`].
    pub fn watch_listener(&self, socket: impl AsFd, token: u64) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, socket, epoll::EventData::new_u64(token), epoll::EventFlags::IN)?)
    }

    /// Waits until something is ready, at most this long; zero only looks. What became ready is then
    /// given by [`Poll::next_ready`]. A signal ends the wait early, with nothing ready.
    ///
    /// Before Linux 5.11, and in sandboxes that forbid epoll_pwait2(2), waits are rounded up to milliseconds.
    ///
    /// # Errors
    /// When the kernel refuses the call, which it does not for a set made here.
    pub fn wait(&mut self, longest: Duration) -> io::Result<()> {
        self.events.clear();
        self.next = 0;
        let timeout = if self.coarse { whole_ms(longest) } else { longest };
        match self.wait_exactly(timeout) {
            Ok(()) | Err(Errno::INTR) => Ok(()),
            Err(Errno::NOSYS | Errno::PERM) if !self.coarse => {
                self.coarse = true;
                self.wait(longest)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn wait_exactly(&mut self, timeout: Duration) -> Result<(), Errno> {
        let timeout = Timespec {
            tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: timeout.subsec_nanos().into(),
        };
        epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut self.events), Some(&timeout)).map(drop)
    }

    /// The next ready socket of the last wait.
    #[inline]
    pub fn next_ready(&mut self) -> Option<Ready> {
        use epoll::EventFlags as Flags;
        let event = self.events.get(self.next)?;
        self.next += 1;
        let flags = event.flags;
        let broken = flags.intersects(Flags::ERR | Flags::HUP);
        let closing = broken || flags.contains(Flags::RDHUP);
        let readable = closing || flags.contains(Flags::IN);
        let writable = broken || flags.contains(Flags::OUT);
        Some(Ready { token: event.data.u64(), readiness: Readiness { readable, writable, closing } })
    }
}

fn whole_ms(span: Duration) -> Duration {
    Duration::from_millis(u64::try_from(span.as_micros().div_ceil(1000)).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coarse_waits_are_never_too_short() {
        assert_eq!(whole_ms(Duration::ZERO), Duration::ZERO);
        assert_eq!(whole_ms(Duration::from_micros(1)), Duration::from_millis(1));
        assert_eq!(whole_ms(Duration::from_micros(2001)), Duration::from_millis(3));
    }
}
