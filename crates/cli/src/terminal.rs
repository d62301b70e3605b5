//! Words to the user: results on standard output, everything else on standard error.

use std::io::{self, Write};

use plimsoll_conductor::ConductError;
use plimsoll_lab::LabError;
use plimsoll_plan::PlanError;
use plimsoll_scenario::{RequestsError, TemplateError};

use crate::args::{Misplaced, NotText, Refusal, plan_file};
use crate::command::table_file::MappingError;
use crate::command::{ablate, lab, plan};
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

/// Writes an error to standard error: what failed, then each cause that was not named yet.
pub(crate) fn tell_error(error: &anyhow::Error) {
    remark(&format!("plimsoll: {}", with_causes(error)));
}

/// An error with each cause that it does not name itself.
pub(crate) fn with_causes(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// Tells why a command failed, and with which code it ends.
pub(crate) fn fail(error: &anyhow::Error) -> Exit {
    tell_error(error);
    let conducting = |is: fn(&ConductError) -> bool| error.downcast_ref::<ConductError>().is_some_and(is);
    if conducting(ConductError::interrupted)
        || error.downcast_ref::<LabError>().is_some_and(LabError::interrupted)
    {
        Exit::Interrupted
    } else if mistyped(error) || error.is::<Refusal>() || conducting(ConductError::mistyped) {
        Exit::Usage
    } else {
        Exit::CouldNotRun
    }
}

/// Whether what was typed, on the line or in the files of requests, is wrong.
fn mistyped(error: &anyhow::Error) -> bool {
    plan_file::mistyped(error)
        || lab::mistyped(error)
        || error.is::<PlanError>()
        || error.is::<RequestsError>()
        || error.is::<NotText>()
        || error.is::<Misplaced>()
        || error.is::<TemplateError>()
        || error.is::<MappingError>()
        || plan::mistyped(error)
        || ablate::mistyped(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_told_once() {
        let refused = || io::Error::other("refused");
        let told = |outer: &'static str| with_causes(&anyhow::Error::new(refused()).context(outer));
        assert_eq!(told("no connection"), "no connection: refused");
        assert_eq!(told("no connection (refused); is it up?"), "no connection (refused); is it up?");
    }
}
