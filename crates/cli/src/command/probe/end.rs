//! The end of a probe: a signal, the end of its standard input, or the end of its parent.

use std::io::{self, IsTerminal as _, Read as _};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use plimsoll_units::{Clock, Instant, RealClock, best_effort};
use rustix::process::{Pid, getppid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// How often a waiting probe checks that its parent is alive.
const PARENT_CHECK: Duration = Duration::from_secs(1);

pub(super) struct End {
    ends: Receiver<()>,
    parent: Option<Pid>,
}

impl End {
    /// Starts to watch. With `with_input` it also watches standard input, whose writer closes it to end the samples; a terminal
    /// is not watched.
    pub(super) fn watch(with_input: bool) -> io::Result<Self> {
        let (sender, ends) = channel();
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let on_signal = sender.clone();
        thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || while signals.forever().next().is_some() && on_signal.send(()).is_ok() {})?;
        if with_input && !io::stdin().is_terminal() {
            thread::Builder::new().name("input".to_owned()).spawn(move || await_end_of_input(&sender))?;
        }
        Ok(Self { ends, parent: getppid() })
    }

    /// Waits until an instant; returns true if the end comes first.
    pub(super) fn comes_before(&self, due: Instant) -> bool {
        loop {
            // The kernel gives an orphan another parent.
            if getppid() != self.parent {
                return true;
            }
            let left = due.since(RealClock.now());
            match self.ends.recv_timeout(left.min(PARENT_CHECK)) {
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return true,
                Err(RecvTimeoutError::Timeout) if left <= PARENT_CHECK => return false,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

/// Waits until standard input is closed, and ignores what is written there.
fn await_end_of_input(sender: &Sender<()>) {
    let mut input = io::stdin().lock();
    let mut buffer = [0; 256];
    while matches!(input.read(&mut buffer), Ok(1..)) {}
    best_effort(sender.send(()), "the probe has ended already");
}
