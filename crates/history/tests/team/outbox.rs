//! Runs that wait for a store, and the PostgreSQL that is the store.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use plimsoll_history::{
    Delivery, DeliveryError, RunFolder, RunNotes, StoreAddress, TeamStoreError, deliver, waiting,
};
use plimsoll_plan::{LoadSpec, PlanSpec};
use plimsoll_record::{FirstAnswer, FormatVersion, Limits, Machine, Manifest, Preflight, RunCommand, Tags};
use plimsoll_store::RunWriter;
use plimsoll_testkit::Postgres;

pub(crate) const SECRET: &str = "s3cret-token";

pub(crate) fn manifest(name: &str, started_unix_ms: u64) -> Manifest {
    let load = LoadSpec::Ladder { steps: Some(vec![1]), step_limit: None, budget: None };
    let mut spec = PlanSpec::new("http://127.0.0.1:8080/?user=ann", load);
    spec.headers = vec![format!("Authorization: Bearer {SECRET}")];
    spec.body = Some(format!("body {SECRET}").into_bytes());
    let plan = spec.freeze().unwrap();
    Manifest {
        format: FormatVersion::CURRENT,
        name: name.to_owned(),
        command: RunCommand::Sweep,
        command_line: None,
        plan: plan.to_json(),
        plan_hash: plan.hash(),
        tool_version: "0.1.0".to_owned(),
        machine: Machine {
            hostname: "ci".to_owned(),
            kernel: "Linux".to_owned(),
            architecture: "x86_64".to_owned(),
            limits: Limits { descriptors: 1024, ports: 28_000, cores: 2 },
            lowered_to: None,
            calibration: None,
        },
        preflight: Preflight {
            addresses: vec!["127.0.0.1:8080".to_owned()],
            address: "127.0.0.1:8080".to_owned(),
            local: true,
            resolve_ns: 1,
            connect_ns: 1,
            first: None::<FirstAnswer>,
            streams_max: None,
        },
        driver: "epoll".to_owned(),
        protocol: "HTTP/1.1".to_owned(),
        tls: None,
        started_unix_ms,
        tags: ["commit=4f2a91c".parse().unwrap()].into_iter().collect::<Tags>(),
        sealed: false,
    }
}

/// A folder with sealed runs that wait for a store.
pub(crate) struct Outbox {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) store: StoreAddress,
}

impl Outbox {
    pub(crate) fn new(store: &str, runs: u64) -> Self {
        Self::in_folder(tempfile::tempdir().unwrap(), store, runs)
    }

    pub(crate) fn in_folder(folder: tempfile::TempDir, store: &str, runs: u64) -> Self {
        let outbox = Self { folder, store: store.parse().unwrap() };
        // Runs of different folders have different ids.
        static OUTBOXES: AtomicU64 = AtomicU64::new(0);
        let first_ms = 1_700_000_000_000 + 1000 * OUTBOXES.fetch_add(1, Ordering::Relaxed);
        (0..runs).for_each(|number| drop(outbox.add(&format!("run-{number}"), first_ms + number)));
        outbox
    }

    pub(crate) fn add(&self, name: &str, started_unix_ms: u64) -> PathBuf {
        let path = self.folder.path().join(format!("{name}.plimsoll"));
        RunWriter::create(&path, &manifest(name, started_unix_ms), false).unwrap().seal().unwrap();
        self.queue(&path);
        path
    }

    pub(crate) fn queue(&self, run: &Path) {
        RunNotes::change(run, |notes| notes.waiting_for.extend([self.store.name().to_owned()])).unwrap();
    }

    pub(crate) fn waiting(&self) -> Vec<PathBuf> {
        waiting(&RunFolder::new(self.folder.path(), "test"), &self.store).unwrap()
    }

    pub(crate) fn deliver(&self) -> Delivery {
        deliver(self.waiting(), &self.store, &AtomicBool::new(false))
    }

    /// Nothing of this folder reached the store, and everything waits for the next attempt.
    pub(crate) fn all_wait(&self, count: usize) -> TeamStoreError {
        let mut delivery = self.deliver();
        assert_eq!((delivery.delivered.len(), delivery.waiting, self.waiting().len()), (0, count, count));
        match delivery.trouble.remove(0) {
            DeliveryError::Store(error) => error,
            other => panic!("{other}"),
        }
    }
}

/// One server for all tests that leave it as it is and run at the same time; each has a database of its own. It ends with the last
/// of them.
pub(crate) fn shared() -> Arc<Postgres> {
    static SHARED: Mutex<Weak<Postgres>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    shared.upgrade().unwrap_or_else(|| {
        let server = Arc::new(Postgres::start(&["max_connections=60"]).unwrap());
        *shared = Arc::downgrade(&server);
        server
    })
}

/// The address of a new database, with the password of the superuser.
pub(crate) fn database(server: &Postgres, name: &str) -> String {
    server.query("postgres", &format!("CREATE DATABASE {name}")).unwrap();
    server.url(name)
}

pub(crate) fn count(server: &Postgres, database: &str, table: &str) -> String {
    server.query(database, &format!("SELECT count(*) FROM plimsoll.{table}")).unwrap()
}

/// A transaction that has made this statement, and keeps what it locked until the client's input ends.
pub(crate) fn hold(server: &Postgres, database: &str, sql: &str) -> Child {
    let mut psql = server.psql(database).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let input = psql.stdin.as_mut().unwrap();
    input.write_all(format!("BEGIN; {sql} SELECT 'held';\n").as_bytes()).unwrap();
    input.flush().unwrap();
    let mut line = String::new();
    BufReader::new(psql.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line.trim(), "held");
    psql
}
