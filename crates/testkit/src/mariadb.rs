//! The real MariaDB.

use std::net::SocketAddr;

use crate::server::{Server, ServerError, command, run, user, write};

/// A running MariaDB with an empty database `test`; killed and waited for when dropped. Its user is [`Mariadb::USER`].
pub struct Mariadb(Server);

impl Mariadb {
    /// A user with all privileges, from anywhere.
    pub const USER: &str = "plimsoll";

    /// That user's password.
    pub const PASSWORD: &str = "test-only";

    /// Makes a database, which takes some seconds, starts MariaDB on a free port of 127.0.0.1 with these settings in addition to those for
    /// that (`&["--max-connections=10"]`), and waits until it accepts.
    ///
    /// # Errors
    /// When it is not installed, or does not come up.
    pub fn start(settings: &[&str]) -> Result<Self, ServerError> {
        Server::start(|folder, address| {
            let (database, user) = (folder.join("database"), user());
            let mut install = command("mariadb-install-db");
            install.arg("--no-defaults").arg(format!("--datadir={}", database.display()));
            run(install.args(["--auth-root-authentication-method=normal", "--skip-test-db"]).args([format!("--user={user}")]))?;
            let (name, password) = (Self::USER, Self::PASSWORD);
            let statements = format!(
                "CREATE USER '{name}'@'%' IDENTIFIED BY '{password}';\nGRANT ALL ON *.* TO '{name}'@'%';\nCREATE DATABASE test;\n"
            );
            write(&folder.join("users.sql"), &statements)?;
            let mut mariadb = command("mariadbd");
            mariadb.arg("--no-defaults").arg(format!("--datadir={}", database.display()));
            mariadb.arg(format!("--socket={}", folder.join("socket").display()));
            mariadb.arg(format!("--pid-file={}", folder.join("pid").display()));
            mariadb.arg(format!("--init-file={}", folder.join("users.sql").display()));
            mariadb.arg(format!("--port={}", address.port())).arg(format!("--user={user}"));
            mariadb.args(["--bind-address=127.0.0.1", "--skip-name-resolve", "--innodb-buffer-pool-size=16M"]);
            mariadb.args(settings);
            Ok(mariadb)
        })
        .map(Self)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.0.pid()
    }
}
