//! A real server of the system in a folder of its own.

use std::fs::{self, File};
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use plimsoll_sys::ReservedPort;
use tempfile::TempDir;

/// How long a server may take to accept. A database and a program that is compiled first take seconds.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often it is asked whether it accepts; it does not announce when it begins to.
const POLL: Duration = Duration::from_millis(5);

/// Why a server does not run.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error("could not run {program} ({reason}); `make setup` installs it")]
    NotInstalled { program: String, reason: io::Error },
    /// A file or a port that it needs.
    #[error("could not prepare a server ({0}); make room in the folder for temporary files")]
    Setup(#[from] io::Error),
    /// A command that has to run before it starts.
    #[error("{program} failed; it said: {output}")]
    Preparation { program: String, output: String },
    #[error("{program} did not begin to accept; it said: {log}")]
    NotAccepting { program: String, log: String },
}

/// A running server; killed and waited for when dropped.
pub struct Server {
    child: Child,
    program: String,
    ports: Vec<ReservedPort>,
    /// Removed after the child has ended, as fields are dropped after `drop`.
    folder: TempDir,
}

impl Server {
    /// Starts a server on a free port of 127.0.0.1 and waits until it accepts. `prepare` writes what it needs into its
    /// folder and gives the command.
    pub(crate) fn start(
        prepare: impl Fn(&Path, SocketAddr) -> Result<Command, ServerError>,
    ) -> Result<Self, ServerError> {
        Self::start_on(1, |folder, addresses| prepare(folder, addresses[0]), TcpStream::connect)
    }

    /// As [`Server::start`], on several ports; it accepts once `ask` succeeds for the first of them.
    pub(crate) fn start_on<T>(
        ports: usize,
        prepare: impl Fn(&Path, &[SocketAddr]) -> Result<Command, ServerError>,
        ask: impl Fn(SocketAddr) -> io::Result<T>,
    ) -> Result<Self, ServerError> {
        let mut server = Self::spawn(ports, prepare)?;
        if server.accepts_in_time(ask) { Ok(server) } else { Err(server.not_accepting()) }
    }

    fn spawn(
        ports: usize,
        prepare: impl Fn(&Path, &[SocketAddr]) -> Result<Command, ServerError>,
    ) -> Result<Self, ServerError> {
        let folder = tempfile::Builder::new().prefix("plimsoll-server-").tempdir()?;
        let ports = (0..ports).map(|_| ReservedPort::take()).collect::<io::Result<Vec<_>>>()?;
        let addresses: Vec<SocketAddr> = ports.iter().map(ReservedPort::address).collect();
        let mut command = prepare(folder.path(), &addresses)?;
        let log = File::create(log_path(folder.path()))?;
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        Ok(Self { child: spawn(&mut command)?, program: name(&command), ports, folder })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.ports[0].address()
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.ports.iter().map(ReservedPort::address).collect()
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn accepts_in_time<T>(&mut self, ask: impl Fn(SocketAddr) -> io::Result<T>) -> bool {
        let begun = Instant::now();
        // A child that has ended will not accept.
        while matches!(self.child.try_wait(), Ok(None)) && begun.elapsed() < PATIENCE {
            if ask(self.address()).is_ok() {
                return matches!(self.child.try_wait(), Ok(None));
            }
            thread::sleep(POLL);
        }
        false
    }

    fn not_accepting(&self) -> ServerError {
        let log = fs::read_to_string(log_path(self.folder())).unwrap_or_default();
        ServerError::NotAccepting { program: self.program.clone(), log: log.trim().to_owned() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail only if the child has ended and was waited for already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn log_path(folder: &Path) -> PathBuf {
    folder.join("output.log")
}

/// A command for a program that may be where the PATH of an ordinary user does not look, as Debian keeps servers.
pub(crate) fn command(program: &str) -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{path}:/usr/sbin:/sbin:/usr/local/sbin");
    let folders = path.split(':').map(Path::new);
    let found = folders.map(|folder| folder.join(program)).find(|file| file.is_file());
    // Some servers start themselves again and want to know their whole path.
    let mut command = Command::new(found.unwrap_or_else(|| program.into()));
    command.env("PATH", path);
    command
}

pub(crate) fn spawn(command: &mut Command) -> Result<Child, ServerError> {
    command.spawn().map_err(|reason| not_installed(command, reason))
}

/// Runs a command that prepares something, to its end.
pub(crate) fn run(command: &mut Command) -> Result<(), ServerError> {
    let output = command.stdin(Stdio::null()).output().map_err(|reason| not_installed(command, reason))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).trim().to_owned();
    Err(ServerError::Preparation { program: name(command), output: text })
}

fn not_installed(command: &Command, reason: io::Error) -> ServerError {
    ServerError::NotInstalled { program: name(command), reason }
}

fn name(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}

/// The user that runs this, by name where the system has one.
pub(crate) fn user() -> String {
    let id = rustix::process::getuid().as_raw();
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let line = users.lines().find(|line| line.split(':').nth(2) == Some(&id.to_string()));
    line.and_then(|line| line.split(':').next()).map_or_else(|| id.to_string(), ToOwned::to_owned)
}
