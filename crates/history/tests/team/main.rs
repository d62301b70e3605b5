//! Delivery to a real PostgreSQL: several writers, a server that dies, one that refuses. Nothing is lost, and nothing arrives twice.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "in tests, a failed step is the failure"
)]

mod failures;
mod outbox;

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use plimsoll_history::{Put, RunNotes, TeamStore, TeamStoreError, deliver};
use plimsoll_record::TagChanges;
use plimsoll_testkit::{Postgres, refused_address};

use outbox::{Outbox, SECRET, count, database, hold, shared};

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
                let delivery = deliver(runs, &outbox.store, &AtomicBool::new(false));
                assert_eq!(delivery.delivered.len(), 6, "{:?}", delivery.trouble);
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
    assert_eq!(left.len(), 3, "the run, its notes and the copy of here: {left:?}");
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
        notes.change_tags(|tags| {
            tags.unset("commit");
            tags.set("release=1.4".parse().unwrap());
        });
    })
    .unwrap();
    outbox.queue(&run);
    assert_eq!(outbox.deliver().delivered[0].1, Put::NewTags);
    assert_eq!(store.runs().unwrap().runs[0].tags.to_string(), "release=1.4 seen=bob");
    assert_eq!(count(&server, "tags", "run"), "1");
}

#[test]
fn a_tag_that_a_colleague_changed_since_stays_when_the_run_is_delivered_again() {
    let server = shared();
    let outbox = Outbox::new(&database(&server, "newer_tags"), 1);
    let run = outbox.folder.path().join("run-0.plimsoll");
    let ours = |changes: &mut TagChanges| changes.set("release=1.4".parse().unwrap());
    RunNotes::change(&run, |notes| notes.change_tags(ours)).unwrap();
    outbox.deliver();
    let store = TeamStore::connect(&outbox.store).unwrap();
    let tags = || store.runs().unwrap().runs[0].tags.to_string();
    assert_eq!(tags(), "commit=4f2a91c release=1.4");
    let mut theirs = TagChanges::default();
    theirs.set("release=1.5".parse().unwrap());
    store.change_tags("run-0", &theirs).unwrap();
    outbox.queue(&run);
    assert_eq!(outbox.deliver().delivered[0].1, Put::Known);
    assert_eq!(tags(), "commit=4f2a91c release=1.5");
    // Set again on purpose, it is a newer change than theirs.
    RunNotes::change(&run, |notes| notes.change_tags(ours)).unwrap();
    outbox.queue(&run);
    outbox.deliver();
    assert_eq!(tags(), "commit=4f2a91c release=1.4");
}

#[test]
fn a_list_of_the_newest_runs_says_that_there_are_older_ones() {
    let server = shared();
    let outbox = Outbox::new(&database(&server, "many"), 1);
    outbox.deliver();
    let store = TeamStore::connect(&outbox.store).unwrap();
    let add = |numbers: &str| {
        let columns = "file_name, name, command, target, plan_hash, hostname, tool_version";
        let sql = format!(
            "INSERT INTO plimsoll.run (id, {columns}, started_at, tags, entry)
             SELECT 'copy-' || n, {columns}, started_at - n * interval '1 second', tags, entry
             FROM plimsoll.run, generate_series({numbers}) AS n WHERE id NOT LIKE 'copy-%'"
        );
        server.query("many", &sql).unwrap();
        let listed = store.runs().unwrap();
        (listed.runs.len(), listed.is_cut)
    };
    assert_eq!(add("1, 9999"), (10_000, false));
    assert_eq!(add("10000, 10001"), (10_000, true));
}

#[test]
fn a_server_that_dies_in_the_middle_of_a_delivery_costs_nothing() {
    let mut server = Postgres::start(&[]).unwrap();
    let outbox = Outbox::new(&server.url("postgres"), 1);
    assert_eq!(outbox.deliver().waiting, 0);
    let (one, two) = (outbox.add("second", 1_700_000_000_001), outbox.add("third", 1_700_000_000_002));
    let mut psql = hold(&server, "postgres", "LOCK TABLE plimsoll.run_file;");
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
    assert_eq!((stored.runs.len(), stored.unknown_unix_ms.len()), (1, 1));
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
    let missing = "sslrootcert=/missing.pem";
    let unread = Outbox::new(&format!("{url}?{missing}"), 1).all_wait(1);
    assert!(matches!(unread, TeamStoreError::Tls { .. }), "{unread}");
    let not_encrypted = Outbox::new(&format!("{url}?sslmode=disable&{missing}"), 1);
    assert_eq!(not_encrypted.deliver().waiting, 0, "the file is not needed");
    let plain = Postgres::start(&[]).unwrap();
    let refused = Outbox::new(&format!("{}?sslmode=require", plain.url("postgres")), 1).all_wait(1);
    assert!(matches!(refused, TeamStoreError::Tls { .. }), "{refused}");
}
