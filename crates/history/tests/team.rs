//! Delivery to a real PostgreSQL: several writers, a server that dies, one that refuses. Nothing is lost, and nothing arrives twice.
#![expect(clippy::unwrap_used, clippy::panic, reason = "in tests, a failed step is the failure")]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use plimsoll_history::{
    Delivery, DeliveryError, Put, RunFolder, RunNotes, StoreAddress, TeamStore, TeamStoreError, deliver,
    waiting,
};
use plimsoll_plan::{LoadSpec, PlanSpec};
use plimsoll_record::{
    FirstAnswer, FormatVersion, Limits, Machine, Manifest, Preflight, RunCommand, TagChanges, Tags,
};
use plimsoll_store::RunWriter;
use plimsoll_testkit::{Postgres, refused_address};

const SECRET: &str = "s3cret-token";

fn manifest(name: &str, started_unix_ms: u64) -> Manifest {
    let load = LoadSpec::Ladder { steps: Some(vec![1]), step_limit: None, budget: None };
    let mut spec = PlanSpec::new("http://127.0.0.1:8080/?user=ann", load);
    spec.headers = vec![format!("Authorization: Bearer {SECRET}")];
    spec.body = Some(format!("body {SECRET}").into_bytes());
    let plan = spec.freeze().unwrap();
    Manifest {
        format: FormatVersion::CURRENT,
        name: name.to_owned(),
        command: RunCommand::Sweep,
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
struct Outbox {
    folder: tempfile::TempDir,
    store: StoreAddress,
}

impl Outbox {
    fn new(store: &str, runs: u64) -> Self {
        let outbox = Self { folder: tempfile::tempdir().unwrap(), store: store.parse().unwrap() };
        // Runs of different folders have different ids.
        static OUTBOXES: AtomicU64 = AtomicU64::new(0);
        let first_ms = 1_700_000_000_000 + 1000 * OUTBOXES.fetch_add(1, Ordering::Relaxed);
        (0..runs).for_each(|number| drop(outbox.add(&format!("run-{number}"), first_ms + number)));
        outbox
    }

    fn add(&self, name: &str, started_unix_ms: u64) -> PathBuf {
        let path = self.folder.path().join(format!("{name}.plimsoll"));
        RunWriter::create(&path, &manifest(name, started_unix_ms), false).unwrap().seal().unwrap();
        RunNotes::change(&path, |notes| notes.waiting_for.extend([self.store.name().to_owned()])).unwrap();
        path
    }

    fn waiting(&self) -> Vec<PathBuf> {
        waiting(&RunFolder::new(self.folder.path(), "test"), &self.store).unwrap()
    }

    fn deliver(&self) -> Delivery {
        deliver(self.waiting(), &self.store, &AtomicBool::new(false))
    }

    /// Nothing of this folder reached the store, and everything waits for the next attempt.
    fn all_wait(&self, count: usize) -> TeamStoreError {
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
fn shared() -> Arc<Postgres> {
    static SHARED: Mutex<Weak<Postgres>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    shared.upgrade().unwrap_or_else(|| {
        let server = Arc::new(Postgres::start(&["max_connections=60"]).unwrap());
        *shared = Arc::downgrade(&server);
        server
    })
}

/// The address of a new database, with the password of the superuser.
fn database(server: &Postgres, name: &str) -> String {
    server.query("postgres", &format!("CREATE DATABASE {name}")).unwrap();
    server.url(name)
}

fn count(server: &Postgres, database: &str, table: &str) -> String {
    server.query(database, &format!("SELECT count(*) FROM plimsoll.{table}")).unwrap()
}

#[test]
fn eight_writers_at_once_make_the_tables_once_and_lose_no_run() {
    let server = shared();
    let url = database(&server, "writers");
    let outboxes: Vec<Outbox> = (0..8).map(|_| Outbox::new(&url, 3)).collect();
    std::thread::scope(|scope| {
        for outbox in &outboxes {
            scope.spawn(|| {
                let delivery = outbox.deliver();
                assert_eq!((delivery.delivered.len(), delivery.waiting), (3, 0), "{:?}", delivery.trouble);
            });
        }
    });
    assert_eq!(
        (count(&server, "writers", "run"), count(&server, "writers", "version")),
        ("24".into(), "1".into())
    );
    assert_eq!(count(&server, "writers", "run_file"), "24");
}

#[test]
fn two_processes_that_deliver_one_folder_deliver_each_run_once() {
    let server = shared();
    let outbox = Outbox::new(&database(&server, "twice"), 6);
    let runs = outbox.waiting();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let runs = runs.clone();
            scope.spawn(|| {
                assert_eq!(deliver(runs, &outbox.store, &AtomicBool::new(false)).delivered.len(), 6)
            });
        }
    });
    assert_eq!((count(&server, "twice", "run"), outbox.waiting().len()), ("6".into(), 0));
}

#[test]
fn a_colleague_gets_a_run_as_documents_show_it_without_what_they_hide() {
    let server = shared();
    let outbox = Outbox::new(&database(&server, "colleague"), 1);
    assert_eq!(outbox.deliver().delivered[0].1, Put::New);
    let store = TeamStore::connect(&outbox.store).unwrap();
    let listed = store.runs().unwrap().runs;
    assert_eq!((listed.len(), listed[0].target.as_str()), (1, "http://127.0.0.1:8080/?user=…"));
    let file = store.file("run-0").unwrap();
    assert_eq!(Some(&file.id), listed[0].id.as_ref());
    let holds_secret = file.content.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
    assert!(!holds_secret);
    let copy = outbox.folder.path().join("copy.plimsoll");
    fs::write(&copy, &file.content).unwrap();
    let run = plimsoll_store::read(&copy).unwrap();
    assert!(run.damage.is_empty() && run.manifest.plan.contains("(hidden)"));
    assert_eq!(run.manifest.plan_hash, listed[0].plan_hash);
    assert!(matches!(store.file("nothing"), Err(TeamStoreError::NoRun { .. })));
    let left: Vec<PathBuf> =
        fs::read_dir(outbox.folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left.len(), 2, "no copy stays behind: {left:?}");
}

#[test]
fn tags_of_colleagues_stay_when_one_delivers_changed_tags() {
    let server = shared();
    let outbox = Outbox::new(&database(&server, "tags"), 1);
    outbox.deliver();
    let store = TeamStore::connect(&outbox.store).unwrap();
    let mut theirs = TagChanges::default();
    theirs.set("seen=bob".parse().unwrap());
    store.change_tags("run-0", &theirs).unwrap();
    let run = outbox.folder.path().join("run-0.plimsoll");
    RunNotes::change(&run, |notes| {
        notes.tags.unset("commit");
        notes.tags.set("release=1.4".parse().unwrap());
        notes.waiting_for.extend([outbox.store.name().to_owned()]);
    })
    .unwrap();
    assert_eq!(outbox.deliver().delivered[0].1, Put::Known);
    assert_eq!(store.runs().unwrap().runs[0].tags.to_string(), "release=1.4 seen=bob");
    assert_eq!(count(&server, "tags", "run"), "1");
}

/// Holds a lock on the table of files until it is dropped.
fn lock_files(server: &Postgres) -> std::process::Child {
    let mut psql = server.psql("postgres").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let input = psql.stdin.as_mut().unwrap();
    input.write_all(b"BEGIN; LOCK TABLE plimsoll.run_file; SELECT 'locked';\n").unwrap();
    input.flush().unwrap();
    let mut line = String::new();
    BufReader::new(psql.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line.trim(), "locked");
    psql
}

#[test]
fn a_server_that_dies_in_the_middle_of_a_delivery_costs_nothing() {
    let mut server = Postgres::start(&[]).unwrap();
    let outbox = Outbox::new(&server.url("postgres"), 1);
    assert_eq!(outbox.deliver().waiting, 0);
    let (one, two) = (outbox.add("second", 1_700_000_000_001), outbox.add("third", 1_700_000_000_002));
    let mut psql = lock_files(&server);
    std::thread::scope(|scope| {
        let delivering = scope.spawn(|| outbox.deliver());
        // The run is inserted and its file is not: the transaction waits for the lock.
        let blocked = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
        while server.query("postgres", blocked).unwrap() != "1" {}
        server.kill();
        let delivery = delivering.join().unwrap();
        assert_eq!((delivery.delivered.len(), delivery.waiting), (0, 2));
        let error = delivery.trouble[0].to_string();
        assert!(error.contains("ended the connection"), "{error}");
    });
    psql.wait().unwrap();
    let away = outbox.all_wait(2);
    assert!(matches!(away, TeamStoreError::Unreachable { .. }), "{away}");
    assert!([&one, &two].iter().all(|path| plimsoll_store::check(path).unwrap().is_intact()));

    server.restart().unwrap();
    assert_eq!(
        server.query("postgres", "SELECT count(*) FROM plimsoll.run").unwrap(),
        "1",
        "half a delivery is none"
    );
    let delivery = outbox.deliver();
    assert_eq!((delivery.delivered.len(), delivery.waiting), (2, 0), "{:?}", delivery.trouble);
    assert_eq!(
        server.query("postgres", "SELECT count(*), count(DISTINCT id) FROM plimsoll.run").unwrap(),
        "3|3"
    );
}

#[test]
fn a_refused_connection_and_a_wrong_password_are_named_and_the_run_waits() {
    let server = shared();
    let refused = Outbox::new(&format!("postgres://ann@{}/perf", refused_address()), 1).all_wait(1);
    assert!(matches!(refused, TeamStoreError::Unreachable { .. }), "{refused}");
    let url = server.url("postgres").replace(Postgres::PASSWORD, "wr0ng");
    let wrong = Outbox::new(&url, 1).all_wait(1);
    assert!(matches!(wrong, TeamStoreError::Login { .. }) && !wrong.to_string().contains("wr0ng"), "{wrong}");
    let missing = Outbox::new(&server.url("absent"), 1).all_wait(1);
    assert!(matches!(missing, TeamStoreError::NoDatabase { .. }), "{missing}");
}

#[test]
fn a_read_only_database_and_one_without_rights_are_named_and_the_runs_wait() {
    let server = shared();
    let url = database(&server, "frozen");
    Outbox::new(&url, 1).deliver();
    server.query("postgres", "ALTER DATABASE frozen SET default_transaction_read_only = on").unwrap();
    let frozen = Outbox::new(&url, 2);
    let error = frozen.all_wait(2);
    assert!(matches!(error, TeamStoreError::ReadOnly { .. }), "{error}");
    assert_eq!(
        TeamStore::connect(&frozen.store).unwrap().runs().unwrap().runs.len(),
        1,
        "it can still be read"
    );
    server.query("postgres", "CREATE ROLE guest LOGIN PASSWORD 'guest'").unwrap();
    let guest = url.replace(&format!("plimsoll:{}", Postgres::PASSWORD), "guest:guest");
    server.query("postgres", "ALTER DATABASE frozen RESET default_transaction_read_only").unwrap();
    let error = Outbox::new(&guest, 1).all_wait(1);
    assert!(matches!(error, TeamStoreError::NotAllowed { .. }), "{error}");
    assert_eq!(frozen.deliver().waiting, 0);
}

#[test]
fn runs_of_a_form_that_is_not_known_are_counted() {
    let server = shared();
    let outbox = Outbox::new(&database(&server, "forms"), 2);
    outbox.deliver();
    server.query("forms", "UPDATE plimsoll.run SET entry = '{}' WHERE name = 'run-0'").unwrap();
    let stored = TeamStore::connect(&outbox.store).unwrap().runs().unwrap();
    assert_eq!((stored.runs.len(), stored.unknown), (1, 1));
}

#[test]
fn tables_of_a_newer_version_are_left_alone() {
    let server = shared();
    let url = database(&server, "newer");
    Outbox::new(&url, 1).deliver();
    server.query("newer", "UPDATE plimsoll.version SET version = 99").unwrap();
    let error = Outbox::new(&url, 1).all_wait(1);
    assert!(matches!(error, TeamStoreError::Newer { found: 99, .. }), "{error}");
}

#[test]
fn a_server_that_accepts_and_says_nothing_is_waited_for_three_seconds() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let outbox = Outbox::new(&format!("postgres://ann@{}/perf", silent.local_addr().unwrap()), 1);
    let error = outbox.all_wait(1);
    assert!(matches!(error, TeamStoreError::TimedOut { sec: 3, .. }), "{error}");
}

#[test]
fn an_encrypted_connection_is_made_only_to_a_server_whose_certificate_is_trusted() {
    let server = Postgres::start(&["ssl=on"]).unwrap();
    let url = server.url("postgres");
    let untrusted = Outbox::new(&format!("{url}?sslmode=require"), 1).all_wait(1);
    assert!(matches!(untrusted, TeamStoreError::Tls { .. }), "{untrusted}");
    let certificate = server.certificate();
    let trusted = Outbox::new(&format!("{url}?sslmode=verify-full&sslrootcert={}", certificate.display()), 1);
    assert_eq!(trusted.deliver().waiting, 0);
    let plain = Postgres::start(&[]).unwrap();
    let refused = Outbox::new(&format!("{}?sslmode=require", plain.url("postgres")), 1).all_wait(1);
    assert!(matches!(refused, TeamStoreError::Tls { .. }), "{refused}");
}
