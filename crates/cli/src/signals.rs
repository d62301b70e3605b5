//! Ctrl-C: once to end the run and keep it, twice to leave at once.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{process, thread};

use anyhow::Context;
use plimsoll_fleet::Interrupts;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use signal_hook::low_level::pipe;

use crate::exit::Exit;
use crate::terminal::remark;

/// The signals that end a run: Ctrl-C, a service manager, or a terminal that was closed.
const ENDING: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// The message if signals cannot be watched.
const UNWATCHED: &str = "could not watch for Ctrl-C";

/// Returns the flag that the first of these signals sets. A second one ends the process at once; what was committed to
/// the run file until then is kept.
pub(crate) fn interrupted() -> anyhow::Result<Arc<AtomicBool>> {
    watched().context(UNWATCHED)
}

/// As [`interrupted`], for a command that started programs in other process groups, which signals of the terminal do not reach: a
/// second signal sets a second flag, so that the command ends them before it exits. A third one ends the process at once.
pub(crate) fn interrupts() -> anyhow::Result<Interrupts> {
    counted().context(UNWATCHED)
}

fn counted() -> io::Result<Interrupts> {
    let interrupts = Interrupts::default();
    let Interrupts { first, second } = interrupts.clone();
    for signal in ENDING {
        flag::register_conditional_shutdown(signal, Exit::Interrupted as i32, Arc::clone(&second))?;
    }
    let mut signals = Signals::new(ENDING)?;
    let count = move || {
        for _ in signals.forever() {
            let is_first = !first.swap(true, Ordering::SeqCst);
            second.fetch_or(!is_first, Ordering::SeqCst);
        }
    };
    thread::Builder::new().name("signals".to_owned()).spawn(count)?;
    Ok(interrupts)
}

fn watched() -> io::Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in ENDING {
        // In this order: the first signal finds the flag unset, so it does not shut down.
        flag::register_conditional_shutdown(signal, Exit::Interrupted as i32, Arc::clone(&interrupted))?;
        flag::register(signal, Arc::clone(&interrupted))?;
    }
    Ok(interrupted)
}

/// As [`interrupted`], for a process that runs scripts: if a script does not return, the process exits `longest` after the
/// first signal. The results are printed by then.
pub(crate) fn interrupted_for(longest: Duration) -> io::Result<Arc<AtomicBool>> {
    let interrupted = watched()?;
    let (mut receiver, sender) = UnixStream::pair()?;
    for signal in ENDING {
        pipe::register(signal, sender.try_clone()?)?;
    }
    let wait = move || {
        if receiver.read_exact(&mut [0]).is_ok() {
            thread::sleep(longest);
            remark("plimsoll: the script did not return after the signal, and was ended");
            process::exit(Exit::Interrupted as i32);
        }
    };
    thread::Builder::new().name("deadline".to_owned()).spawn(wait)?;
    Ok(interrupted)
}
