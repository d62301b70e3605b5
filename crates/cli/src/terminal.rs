//! Words to the user: results on standard output, everything else on standard error.

use std::io::{self, Write};

use crate::exit::Exit;

/// Writes a result to standard output. A reader that has gone away (`| head`) is not an error.
pub(crate) fn result(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(anyhow::Error::new(error).context("could not write to standard output"))
        }
        _ => Ok(()),
    }
}

/// Writes one line to standard error.
pub(crate) fn remark(text: &str) {
    if writeln!(io::stderr().lock(), "{text}").is_err() {
        // Nobody reads standard error, and there is no other place to say so.
    }
}

/// Tells why a command failed, and with which code it ends.
pub(crate) fn fail(error: &anyhow::Error) -> Exit {
    remark(&format!("plimsoll: {error:#}"));
    if error.is::<plimsoll_plan::PlanError>() { Exit::Usage } else { Exit::CouldNotRun }
}
