//! Ctrl-C: once to end the run and keep it, twice to leave at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::exit::Exit;

/// The flag that the first SIGINT or SIGTERM sets. A second one leaves at once; what was committed to the
/// run file until then is kept.
pub(crate) fn interrupted() -> io::Result<Arc<AtomicBool>> {
    let seen = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order: the first signal finds the flag unset and passes the shutdown by.
        flag::register_conditional_shutdown(signal, Exit::Interrupted.code().into(), Arc::clone(&seen))?;
        flag::register(signal, Arc::clone(&seen))?;
    }
    Ok(seen)
}
