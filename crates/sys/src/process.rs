//! Other processes of this user.

use std::io;
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};

/// Asks a child to end as Ctrl-C does. A child that has ended and was waited for must not be asked: its number may be
/// another's by now.
///
/// # Errors
/// When it is not there.
pub fn interrupt(child: &Child) -> io::Result<()> {
    Ok(kill_process(Pid::from_child(child), Signal::INT)?)
}
