//! The real sshd, with keys and a configuration of its own.

use std::fs::{self, DirBuilder};
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use crate::server::{Server, ServerError, command, run, user};

/// Where sshd, started by root, locks its unprivileged part in. The system's service makes it at each start; here there is
/// no service. It stays, empty, as sshd wants it.
const CAGE: &str = "/run/sshd";

/// A running sshd that lets the user who runs the test log in with a key made for it; killed and waited for when dropped.
pub struct Sshd(Server);

impl Sshd {
    /// Starts sshd on a free port of 127.0.0.1 and waits until it accepts. Commands find programs in `first` before
    /// those of the system.
    ///
    /// # Errors
    /// When it is not installed, or does not come up.
    pub fn start(first: &Path) -> Result<Self, ServerError> {
        make_cage()?;
        Server::start(|folder, address| {
            for key in ["host_key", "user_key"] {
                let mut keygen = command("ssh-keygen");
                run(keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(folder.join(key)))?;
            }
            fs::copy(folder.join("user_key.pub"), folder.join("authorized_keys"))?;
            let key = fs::read_to_string(folder.join("host_key.pub"))?;
            fs::write(folder.join("known_hosts"), format!("[127.0.0.1]:{} {key}", address.port()))?;
            fs::write(folder.join("sshd_config"), server_configuration(folder, address, first))?;
            let user_key = format!("{}/user_key", folder.display());
            fs::write(folder.join("client_config"), client_configuration(folder, &user_key))?;
            fs::write(folder.join("stranger_config"), client_configuration(folder, "none"))?;
            let mut sshd = command("sshd");
            sshd.args(["-D", "-e", "-f"]).arg(folder.join("sshd_config"));
            Ok(sshd)
        })
        .map(Self)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }

    /// A configuration for ssh with which it gets in (`ssh -F`).
    pub fn client_configuration(&self) -> PathBuf {
        self.0.folder().join("client_config")
    }

    /// A configuration for ssh with which it does not, for want of a key.
    pub fn stranger_configuration(&self) -> PathBuf {
        self.0.folder().join("stranger_config")
    }
}

fn make_cage() -> Result<(), ServerError> {
    if !rustix::process::geteuid().is_root() || Path::new(CAGE).is_dir() {
        return Ok(());
    }
    Ok(DirBuilder::new().mode(0o755).recursive(true).create(CAGE)?)
}

/// The folder for temporary files may be written by all, which sshd would not stand for keys (`StrictModes`).
fn server_configuration(folder: &Path, address: SocketAddr, first: &Path) -> String {
    format!(
        "ListenAddress {ip}\nPort {port}\nHostKey {folder}/host_key\nAuthorizedKeysFile {folder}/authorized_keys\n\
         PidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n\
         PermitRootLogin prohibit-password\nAllowUsers {user}\nSetEnv PATH={first}:/usr/local/bin:/usr/bin:/bin\n",
        ip = address.ip(),
        port = address.port(),
        folder = folder.display(),
        user = user(),
        first = first.display(),
    )
}

fn client_configuration(folder: &Path, key: &str) -> String {
    format!(
        "IdentityFile {key}\nIdentitiesOnly yes\nIdentityAgent none\nUserKnownHostsFile {folder}/known_hosts\n\
         GlobalKnownHostsFile /dev/null\nStrictHostKeyChecking yes\n",
        folder = folder.display(),
    )
}
