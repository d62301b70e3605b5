//! When a probe is to end: a signal, the end of its standard input, or the end of its parent.

use std::io::{self, IsTerminal as _, Read as _};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use plimsoll_units::{Clock, Instant, RealClock};
use rustix::process::{Pid, getppid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// How often a probe that waits looks whether its parent is there.
const LOOK: Duration = Duration::from_secs(1);

/// What ends a probe.
pub(super) struct End {
    wishes: Receiver<()>,
    parent: Option<Pid>,
}

impl End {
    /// Watches from now on; standard input too if somebody may hold it open for as long as samples are wanted. A terminal is
    /// left to its user.
    pub(super) fn watch(with_input: bool) -> io::Result<Self> {
        let (sender, wishes) = channel();
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let wish = sender.clone();
        thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || while signals.forever().next().is_some() && wish.send(()).is_ok() {})?;
        if with_input && !io::stdin().is_terminal() {
            thread::Builder::new().name("input".to_owned()).spawn(move || await_end_of_input(&sender))?;
        }
        Ok(Self { wishes, parent: getppid() })
    }

    /// Waits until an instant, or for the end if that comes before.
    pub(super) fn comes_before(&self, due: Instant) -> bool {
        loop {
            // Whoever has lost its parent is given another one.
            if getppid() != self.parent {
                return true;
            }
            let left = due.since(RealClock.now());
            match self.wishes.recv_timeout(left.min(LOOK)) {
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return true,
                Err(RecvTimeoutError::Timeout) if left <= LOOK => return false,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

/// What is written there means nothing; that it is closed does.
fn await_end_of_input(sender: &Sender<()>) {
    let mut input = io::stdin().lock();
    let mut buffer = [0; 256];
    while matches!(input.read(&mut buffer), Ok(1..)) {}
    if sender.send(()).is_err() {
        // The probe has ended already.
    }
}
