//! A real server of the system in a folder of its own.

use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Starts that are tried: the port may be taken by another process between being chosen and being used.
const STARTS_MAX: usize = 3;

/// How long a server may take to accept. A database and a program that is compiled first take seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often it is asked whether it accepts; it does not announce when it begins to.
const POLL: Duration = Duration::from_millis(5);

/// Why a server does not run.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The program is not there, or cannot be run.
    #[error("could not run {program} ({reason}); `make setup` installs it")]
    NotInstalled {
        /// The program.
        program: String,
        /// What the system said.
        reason: io::Error,
    },
    /// Its folder could not be written.
    #[error("could not write the folder of a server ({reason}); make room in the folder for temporary files")]
    Folder {
        /// What the system said.
        reason: io::Error,
    },
    /// What has to be done before it starts failed.
    #[error("{program} failed; it said: {said}")]
    Preparation {
        /// The program.
        program: String,
        /// Its output.
        said: String,
    },
    /// It ended or did not accept in time.
    #[error("{program} did not begin to accept; it said: {log}")]
    NotAccepting {
        /// The program.
        program: String,
        /// What it wrote.
        log: String,
    },
}

/// A running server; killed and waited for when dropped.
pub(crate) struct Server {
    child: Child,
    address: SocketAddr,
    /// Removed after the child has ended, as fields are dropped after `drop`.
    folder: TempDir,
}

impl Server {
    /// Starts a server on a free port of 127.0.0.1 and waits until it accepts. `prepare` writes what it needs into its
    /// folder and gives the command.
    pub(crate) fn start(
        prepare: impl Fn(&Path, SocketAddr) -> Result<Command, ServerError>,
    ) -> Result<Self, ServerError> {
        let mut outcome = Self::start_once(&prepare);
        for _ in 1..STARTS_MAX {
            match outcome {
                Err(ServerError::NotAccepting { .. }) => outcome = Self::start_once(&prepare),
                other => return other,
            }
        }
        outcome
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    fn start_once(
        prepare: &impl Fn(&Path, SocketAddr) -> Result<Command, ServerError>,
    ) -> Result<Self, ServerError> {
        let failed = |reason| ServerError::Folder { reason };
        let folder = tempfile::Builder::new().prefix("plimsoll-server-").tempdir().map_err(failed)?;
        let reserved = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
        let address = reserved.local_addr().map_err(failed)?;
        let mut command = prepare(folder.path(), address)?;
        let log = File::create(log_path(folder.path())).map_err(failed)?;
        let again = log.try_clone().map_err(failed)?;
        command.stdin(Stdio::null()).stdout(log).stderr(again);
        drop(reserved);
        let child = spawned(&mut command)?;
        // From here on the child is owned, and ended with its handle whatever follows.
        let mut server = Self { child, address, folder };
        if server.accepts_in_time() {
            return Ok(server);
        }
        let log = fs::read_to_string(log_path(server.folder.path())).unwrap_or_default();
        Err(ServerError::NotAccepting { program: name(&command), log: log.trim().to_owned() })
    }

    fn accepts_in_time(&mut self) -> bool {
        let begun = Instant::now();
        // A child that has ended will not accept; another process at its port must not be taken for it.
        while matches!(self.child.try_wait(), Ok(None)) && begun.elapsed() < PATIENCE {
            if TcpStream::connect(self.address).is_ok() {
                return matches!(self.child.try_wait(), Ok(None));
            }
            thread::sleep(POLL);
        }
        false
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

/// Starts a command.
pub(crate) fn spawned(command: &mut Command) -> Result<Child, ServerError> {
    let outcome = command.spawn();
    outcome.map_err(|reason| ServerError::NotInstalled { program: name(command), reason })
}

/// Runs a command that prepares something, to its end.
pub(crate) fn run(command: &mut Command) -> Result<(), ServerError> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|reason| ServerError::NotInstalled { program: name(command), reason })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).trim().to_owned();
    Err(ServerError::Preparation { program: name(command), said })
}

/// Writes a file of a server.
pub(crate) fn write(path: &Path, content: &str) -> Result<(), ServerError> {
    fs::write(path, content).map_err(|reason| ServerError::Folder { reason })
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
