//! Runs that cannot be delivered do not stop the others, and a store without room loses nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use plimsoll_history::{
    Delivery, DeliveryError, NotesError, Put, RunNotes, TeamStore, TeamStoreError, deliver,
};
use plimsoll_store::RunWriter;
use plimsoll_testkit::Postgres;
use tempfile::TempDir;

use crate::outbox::{Outbox, count, database, hold, manifest, shared};

fn name(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

fn delivered(delivery: &Delivery) -> Vec<String> {
    delivery.delivered.iter().map(|(path, _)| name(path)).collect()
}

#[test]
fn a_run_that_times_out_holds_up_no_other_and_comes_last_from_then_on() {
    let server = shared();
    let outbox = Outbox::new(&database(&server, "slow"), 3);
    TeamStore::connect(&outbox.store).unwrap();
    let id = plimsoll_store::run_id(&outbox.folder.path().join("run-0.plimsoll")).unwrap().unwrap();
    // A client that inserts the same id waits for the end of this transaction.
    let row = format!(
        "INSERT INTO plimsoll.run VALUES ('{id}', '', '', '', '', '', '', '', now(), '{{}}', '{{}}');"
    );
    let mut psql = hold(&server, "slow", &row);
    let delivery = outbox.deliver();
    assert_eq!((delivered(&delivery), delivery.waiting), (vec!["run-1".into(), "run-2".into()], 1));
    assert!(
        matches!(&delivery.trouble[..], [DeliveryError::Store(TeamStoreError::TimedOut { .. })]),
        "{:?}",
        delivery.trouble
    );
    drop(psql.stdin.take());
    psql.wait().unwrap();
    outbox.add("run-9", 1_700_000_500_000);
    assert_eq!(delivered(&outbox.deliver()), ["run-9", "run-0"]);
    assert_eq!((count(&server, "slow", "run"), outbox.waiting().len()), ("4".into(), 0));
}

#[test]
fn runs_that_the_store_refuses_stop_no_other() {
    let server = shared();
    let outbox = Outbox::new(&database(&server, "strict"), 5);
    TeamStore::connect(&outbox.store).unwrap();
    server.query("strict", "ALTER TABLE plimsoll.run ADD CHECK (name = 'run-4')").unwrap();
    let delivery = outbox.deliver();
    assert_eq!((delivered(&delivery), delivery.waiting), (vec!["run-4".into()], 4));
    let error = delivery.trouble[0].to_string();
    assert!(error.contains("refused it") && error.contains("check constraint"), "{error}");
}

#[test]
fn runs_that_are_damaged_or_did_not_end_are_reported_once_and_their_files_stay() {
    let server = shared();
    let outbox = Outbox::new(&database(&server, "damaged"), 2);
    let cut = outbox.folder.path().join("run-0.plimsoll");
    let bytes = fs::read(&cut).unwrap();
    fs::write(&cut, &bytes[..bytes.len() - 100]).unwrap();
    let unsealed = outbox.folder.path().join("unsealed.plimsoll");
    drop(RunWriter::create(&unsealed, &manifest("unsealed", 1_700_000_000_000), false).unwrap());
    outbox.queue(&unsealed);
    let delivery = outbox.deliver();
    assert_eq!((delivered(&delivery), delivery.waiting), (vec!["run-1".into()], 0), "{:?}", delivery.trouble);
    let dropped: BTreeSet<String> =
        delivery.dropped.iter().map(|(path, error)| format!("{}: {error}", name(path))).collect();
    let dropped: Vec<String> = dropped.into_iter().collect();
    assert!(dropped[0].contains("run-0") && dropped[0].contains("cut short"), "{dropped:?}");
    assert_eq!(dropped[1..], ["unsealed: it did not end in order"]);
    assert!(cut.exists() && unsealed.exists() && outbox.waiting().is_empty());
}

#[test]
fn a_run_whose_notes_cannot_be_read_is_trouble_and_stops_no_other() {
    let server = shared();
    let outbox = Outbox::new(&database(&server, "notes"), 2);
    let notes = outbox.folder.path().join("run-0.plimsoll.notes");
    fs::write(&notes, "{").unwrap();
    let delivery = outbox.deliver();
    assert_eq!((delivered(&delivery), delivery.waiting), (vec!["run-1".into()], 1));
    let trouble = &delivery.trouble[..];
    assert!(matches!(trouble, [DeliveryError::Notes(NotesError::Unreadable { .. })]), "{trouble:?}");
    assert_eq!(fs::read_to_string(&notes).unwrap(), "{", "they may be put back");
}

#[test]
fn only_runs_that_the_store_lacks_are_made_to_wait() {
    let server = shared();
    let outbox = Outbox::new(&database(&server, "lacks"), 1);
    outbox.deliver();
    let (known, new) = (outbox.folder.path().join("run-0.plimsoll"), outbox.add("new", 1_700_000_600_000));
    RunNotes::change(&new, |notes| *notes = RunNotes::default()).unwrap();
    let interrupted = AtomicBool::new(true);
    let delivery = deliver(vec![known, new.clone()], &outbox.store, &interrupted);
    assert_eq!((delivery.delivered.len(), outbox.waiting()), (0, vec![new]));
}

#[test]
fn a_schema_that_its_owner_made_before_gets_its_tables() {
    let server = shared();
    let url = database(&server, "made");
    server
        .query("made", "CREATE ROLE ann LOGIN PASSWORD 'ann'; CREATE SCHEMA plimsoll AUTHORIZATION ann")
        .unwrap();
    let ann = url.replace(&format!("plimsoll:{}", Postgres::PASSWORD), "ann:ann");
    let delivery = Outbox::new(&ann, 1).deliver();
    assert_eq!(delivery.delivered.len(), 1, "{:?}", delivery.trouble);
    assert_eq!((count(&server, "made", "run"), count(&server, "made", "version")), ("1".into(), "1".into()));
}

/// A small disk, at a folder of its own; `None` where this user may not mount one.
struct SmallDisk(TempDir);

impl SmallDisk {
    fn mount(options: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        let mounted = mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(folder.path()).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(folder));
        }
        eprintln!("skipped: this user may not mount a small disk");
        None
    }

    /// Takes all the room that is left.
    fn fill(&self) {
        let mut size = 1 << 20;
        for number in 0.. {
            match fs::write(self.0.path().join(format!("filler-{number}")), vec![1; size]) {
                Err(_) if size < 4096 => return,
                Err(_) => size /= 2,
                Ok(()) => {}
            }
        }
    }

    fn make_room(&self) {
        let entries = fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().path());
        entries
            .filter(|path| name(path).starts_with("filler-"))
            .for_each(|path| fs::remove_file(path).unwrap());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        Command::new("umount").arg("--lazy").arg(self.0.path()).status().ok();
    }
}

fn user_of_postgres() -> String {
    let id = Command::new("id").args(["-u", "postgres"]).output().unwrap();
    String::from_utf8(id.stdout).unwrap().trim().to_owned()
}

#[test]
fn a_store_whose_disk_is_full_says_so_and_no_run_is_lost() {
    let options = format!("size=24m,mode=700,uid={}", user_of_postgres());
    let Some(disk) = SmallDisk::mount(&options) else { return };
    let server = Postgres::start(&[]).unwrap();
    let folder = disk.0.path().display();
    server.query("postgres", &format!("CREATE TABLESPACE small LOCATION '{folder}'")).unwrap();
    server.query("postgres", "CREATE DATABASE small TABLESPACE small").unwrap();
    let outbox = Outbox::new(&server.url("small"), 40);
    TeamStore::connect(&outbox.store).unwrap();
    disk.fill();
    let full = outbox.deliver();
    let kept = outbox.waiting().len();
    assert!(kept > 0 && full.waiting == kept && full.delivered.len() + kept == 40, "{kept} wait");
    let error = full.trouble[0].to_string();
    assert!(error.contains("has no room") && error.contains("No space left on device"), "{error}");
    assert_eq!(count(&server, "small", "run"), full.delivered.len().to_string(), "half a run is none");
    disk.make_room();
    let delivery = outbox.deliver();
    assert_eq!((delivery.delivered.len(), delivery.waiting), (kept, 0), "{:?}", delivery.trouble);
    assert_eq!(
        (count(&server, "small", "run"), count(&server, "small", "run_file")),
        ("40".into(), "40".into())
    );
}

#[test]
fn a_run_that_the_store_has_is_not_copied_again() {
    let Some(disk) = SmallDisk::mount("size=1m,mode=700") else { return };
    let server = shared();
    let folder = tempfile::tempdir_in(disk.0.path()).unwrap();
    let outbox = Outbox::in_folder(folder, &database(&server, "again"), 1);
    assert_eq!(outbox.deliver().delivered.len(), 1);
    disk.fill();
    let run = outbox.folder.path().join("run-0.plimsoll");
    let again = deliver(vec![run.clone()], &outbox.store, &AtomicBool::new(false));
    assert!(
        matches!(again.delivered[..], [(_, Put::Known)]),
        "there is no room for a copy: {:?}",
        again.trouble
    );
    assert!(RunNotes::read(&run).unwrap().is_for(outbox.store.name()));
}
