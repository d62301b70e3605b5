//! The real Redis, memcached, MariaDB, Prometheus and node_exporter.

use std::fs;

use crate::server::{Server, ServerError, command, run, user};

impl Server {
    /// A user of [`Server::mariadb`] with all privileges, from anywhere.
    pub const MARIADB_USER: &str = "plimsoll";
    /// The password of [`Server::MARIADB_USER`].
    pub const MARIADB_PASSWORD: &str = "test-only";

    /// Starts a Redis that keeps nothing, with these settings in addition (`&["--maxclients", "10"]`).
    ///
    /// # Errors
    /// When it is not installed, or does not come up.
    pub fn redis(settings: &[&str]) -> Result<Self, ServerError> {
        Self::start(|folder, address| {
            let mut redis = command("redis-server");
            redis.args(["--port", &address.port().to_string(), "--bind", "127.0.0.1", "--save", ""]);
            redis.arg("--dir").arg(folder).args(settings);
            Ok(redis)
        })
    }

    /// Starts a memcached with two threads.
    ///
    /// # Errors
    /// When it is not installed, or does not come up.
    pub fn memcached() -> Result<Self, ServerError> {
        Self::start(|_, address| {
            let mut memcached = command("memcached");
            memcached.args(["-l", "127.0.0.1", "-p", &address.port().to_string(), "-U", "0", "-t", "2"]);
            // It refuses to run as root unless that is asked for.
            memcached.args(["-u", &user()]);
            Ok(memcached)
        })
    }

    /// Makes an empty database `test`, which takes some seconds, and starts MariaDB with these settings in addition
    /// (`&["--max-connections=10"]`).
    ///
    /// # Errors
    /// When it is not installed, or does not come up.
    pub fn mariadb(settings: &[&str]) -> Result<Self, ServerError> {
        Self::start(|folder, address| {
            let (folder, user) = (folder.display(), user());
            let data = [format!("--datadir={folder}/database"), format!("--user={user}")];
            let mut install = command("mariadb-install-db");
            install.args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"]);
            run(install.args(&data))?;
            let (name, password) = (Self::MARIADB_USER, Self::MARIADB_PASSWORD);
            let statements = format!(
                "CREATE USER '{name}'@'%' IDENTIFIED BY '{password}';\nGRANT ALL ON *.* TO '{name}'@'%';\n\
                 CREATE DATABASE test;\n"
            );
            fs::write(format!("{folder}/users.sql"), statements)?;
            let mut mariadb = command("mariadbd");
            mariadb.arg("--no-defaults").args(data).arg(format!("--port={}", address.port()));
            mariadb.args(["socket", "pid-file"].map(|name| format!("--{name}={folder}/{name}")));
            mariadb.arg(format!("--init-file={folder}/users.sql"));
            mariadb.args([
                "--bind-address=127.0.0.1",
                "--skip-name-resolve",
                "--innodb-buffer-pool-size=16M",
            ]);
            mariadb.args(settings);
            Ok(mariadb)
        })
    }

    /// Starts a Prometheus that scrapes this address (`127.0.0.1:9464`) five times a second.
    ///
    /// # Errors
    /// When it is not installed, or does not come up.
    pub fn prometheus(scraped: &str) -> Result<Self, ServerError> {
        Self::start(|folder, address| {
            let config = folder.join("prometheus.yml");
            let text = format!(
                "global:\n  scrape_interval: 200ms\nscrape_configs:\n  - job_name: plimsoll\n    static_configs:\n      \
                 - targets: ['{scraped}']\n"
            );
            fs::write(&config, text)?;
            let mut prometheus = command("prometheus");
            prometheus.arg(format!("--config.file={}", config.display()));
            prometheus.arg(format!("--storage.tsdb.path={}", folder.join("data").display()));
            prometheus.arg(format!("--web.listen-address={address}"));
            Ok(prometheus)
        })
    }

    /// Starts the node_exporter of Prometheus.
    ///
    /// # Errors
    /// When it is not installed, or does not come up.
    pub fn node_exporter() -> Result<Self, ServerError> {
        Self::start(|_, address| {
            let mut exporter = command("prometheus-node-exporter");
            exporter.arg(format!("--web.listen-address={address}"));
            Ok(exporter)
        })
    }
}
