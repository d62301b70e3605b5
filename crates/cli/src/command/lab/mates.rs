//! Several generators of one lab, which make one load.

use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use plimsoll_conductor::{Mates, assist};
use plimsoll_plan::Plan;

use crate::exit::Exit;

/// How often the leader's socket is looked for: nobody tells when it is there.
const POLL: Duration = Duration::from_millis(10);

/// How long it is looked for.
const LEADER_WITHIN: Duration = Duration::from_secs(10);

/// Waits at the socket until so many others are ready.
pub(super) fn lead(socket: &Path, mates: usize, interrupted: &AtomicBool) -> anyhow::Result<Mates> {
    let listener = UnixListener::bind(socket)
        .with_context(|| format!("could not make the socket {}", socket.display()))?;
    Ok(Mates::meet(&listener, mates, env!("CARGO_PKG_VERSION"), interrupted)?)
}

/// Makes load as the leader at the socket wishes, until that is gone.
pub(super) fn assist_at(socket: &Path, plan: Plan, interrupted: &AtomicBool) -> anyhow::Result<Exit> {
    let leader = reach(socket, interrupted)?;
    assist(plan, env!("CARGO_PKG_VERSION"), &leader, interrupted)?;
    Ok(Exit::Held)
}

fn reach(socket: &Path, interrupted: &AtomicBool) -> anyhow::Result<UnixStream> {
    let begun = Instant::now();
    loop {
        match UnixStream::connect(socket) {
            Ok(stream) => return Ok(stream),
            Err(error) if begun.elapsed() > LEADER_WITHIN => {
                return Err(error).with_context(|| {
                    format!("the generator that leads the run did not come to {}", socket.display())
                });
            }
            Err(_) if interrupted.load(Ordering::Relaxed) => bail!("interrupted"),
            Err(_) => thread::sleep(POLL),
        }
    }
}
