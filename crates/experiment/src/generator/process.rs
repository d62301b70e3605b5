//! The generator's side: a process on a host of the lab that makes the load.

use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use plimsoll_conductor::peers::{Message, PeerGroup, send_line, socket_channel};
use plimsoll_conductor::{FollowOptions, Observer, RunOptions, conduct};
use plimsoll_host::SampleSource;
use plimsoll_plan::Plan;
use plimsoll_record::RunCommand;
use plimsoll_store::StoreError;
use plimsoll_units::{Clock, RealClock};

use super::caps::RemoteCaps;
use crate::ExperimentError;

/// The interval between attempts to connect to the leader's socket.
const POLL: Duration = Duration::from_millis(10);

/// The time limit for connecting to the leader's socket.
const LEADER_WITHIN: Duration = Duration::from_secs(10);

/// The options of a generator process.
#[derive(Debug, Clone)]
pub struct GeneratorOptions {
    /// The frozen plan as JSON.
    pub plan: PathBuf,
    /// The command line to record with the run.
    pub command_line: Option<String>,
    pub out: PathBuf,
    pub prove: bool,
    /// True if hosts have no core caps in the first part of the warm-up, until this process asks for them.
    pub starts_uncapped: bool,
    /// The socket on which the generators of the run meet, if there are several.
    pub socket: Option<PathBuf>,
    /// The number of generators that this one leads; 0 for a follower.
    pub others: usize,
}

/// Makes the run of a frozen plan, or a share of it. Requests for caps go to standard output, samples of hosts come from standard
/// input; the last message names the run file. Returns the error that left that file incomplete, if any.
///
/// # Errors
/// When the load cannot be made.
pub fn generate(
    options: &GeneratorOptions,
    observer: &mut dyn Observer,
    interrupted: &AtomicBool,
) -> Result<Option<StoreError>, ExperimentError> {
    let text =
        std::fs::read_to_string(&options.plan).map_err(ExperimentError::file("read", &options.plan))?;
    let plan = Plan::from_json(&text)?;
    let peers = match &options.socket {
        None => None,
        Some(socket) if options.others == 0 => return follow(socket, plan, interrupted).map(|()| None),
        Some(socket) => Some(lead(socket, options.others, interrupted)?),
    };
    let mut caps = RemoteCaps;
    let run = RunOptions {
        command_line: options.command_line.clone(),
        folder: Some(&options.out),
        feeds: vec![SampleSource::reader("the lab", io::stdin())],
        caps: Some(&mut caps),
        starts_uncapped: options.starts_uncapped,
        prove: options.prove,
        peers,
        // No calibrations: they are valid for the whole machine, not for this host.
        ..RunOptions::new(RunCommand::Lab, env!("CARGO_PKG_VERSION"), interrupted)
    };
    let outcome = conduct(plan, run, observer)?;
    if let Some(file) = outcome.file {
        let sent = send_line(&mut io::stdout().lock(), &Message::Recorded { file });
        sent.map_err(ExperimentError::system("write the name of the run file"))?;
    }
    Ok(outcome.trouble)
}

/// Waits at the socket until all other generators are ready.
fn lead(socket: &Path, others: usize, interrupted: &AtomicBool) -> Result<PeerGroup, ExperimentError> {
    let mut listener =
        UnixListener::bind(socket).map_err(ExperimentError::file("make the socket", socket))?;
    let peers = PeerGroup::meet(&mut listener, others, env!("CARGO_PKG_VERSION"), interrupted);
    Ok(peers.map_err(plimsoll_conductor::ConductError::from)?)
}

/// Makes load at the commands of the leader at the socket, until the leader is gone.
fn follow(socket: &Path, plan: Plan, interrupted: &AtomicBool) -> Result<(), ExperimentError> {
    let leader = connect(socket, interrupted)?;
    let channel = socket_channel(leader).map_err(ExperimentError::file("use the socket", socket))?;
    // No calibrations, as in the leader.
    let options = FollowOptions { version: env!("CARGO_PKG_VERSION"), calibrations: &[] };
    Ok(plimsoll_conductor::follow(plan, None, options, channel, interrupted)?)
}

fn connect(socket: &Path, interrupted: &AtomicBool) -> Result<UnixStream, ExperimentError> {
    let begun = RealClock.now();
    loop {
        match UnixStream::connect(socket) {
            Ok(stream) => return Ok(stream),
            Err(source) if RealClock.now().since(begun) > LEADER_WITHIN => {
                let (path, within_sec) = (socket.to_owned(), LEADER_WITHIN.as_secs());
                return Err(ExperimentError::NoLeader { path, within_sec, source });
            }
            Err(_) if interrupted.load(Ordering::Relaxed) => return Err(ExperimentError::Interrupted),
            Err(_) => thread::sleep(POLL),
        }
    }
}
