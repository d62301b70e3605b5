use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use plimsoll_record::{EventKind, Manifest, Phase, StepEnd};
use tempfile::TempDir;

use super::*;
use crate::RunWriter;
use crate::access::companion;
use crate::check;
use crate::fixture::{self, manifest, open_step, record};

fn place(name: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    (folder, path)
}

#[test]
fn a_run_read_back_is_the_run_that_was_written() {
    // A name full of characters with a meaning in a URI, the form in which SQLite gets the path.
    let (_folder, path) = place("50% ?mode=rw&a#b ü.plimsoll");
    let run = fixture::recorded(&path);
    assert_eq!(read(&path).unwrap(), run);
}

/// Names the file that the child process of the test below is to write.
const CHILD_PATH: &str = "PLIMSOLL_STORE_TEST_CHILD_PATH";
const COMMITTED: &str = "the run is committed";

/// Commits a run, adds a frame that is not committed, and waits to be killed (or for its parent's end).
fn write_and_wait(path: &Path) {
    let run = fixture::run();
    let mut writer = RunWriter::create(path, &run.manifest, false).unwrap();
    record(&mut writer, &run);
    writer.commit().unwrap();
    writer.frame(&run.frames[0]).unwrap();
    println!("\n{COMMITTED}");
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

/// This test program once more, running only `test`, with a file to write.
fn spawn_writer(test: &str, path: &Path) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CHILD_PATH, path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == COMMITTED), "the child ended before it had written");
    child
}

#[test]
fn the_file_of_a_live_and_then_killed_process_reads_to_its_last_commit() {
    if let Some(path) = std::env::var_os(CHILD_PATH) {
        return write_and_wait(Path::new(&path));
    }
    let (folder, path) = place("run.plimsoll");
    let test = "reader::tests::the_file_of_a_live_and_then_killed_process_reads_to_its_last_commit";
    let mut child = spawn_writer(test, &path);
    assert_eq!(read(&path).unwrap(), fixture::run(), "while it is written");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(read(&path).unwrap(), fixture::run(), "after the writer was killed");

    let copy = folder.path().join("copy.plimsoll");
    fs::copy(&path, &copy).unwrap();
    assert_eq!(read(&copy).unwrap().manifest, manifest(), "without its log");
    fs::copy(companion(&path, "-wal"), companion(&copy, "-wal")).unwrap();
    assert_eq!(read(&copy).unwrap(), fixture::run(), "copied to another place");
}

#[test]
fn a_step_still_open_in_a_killed_run_ends_with_its_last_frame() {
    let (_folder, path) = place("run.plimsoll");
    let mut writer = RunWriter::create(&path, &manifest(), false).unwrap();
    writer.step(&open_step(0)).unwrap();
    let frames = [
        fixture::frame(0, 1, 4, Phase::Measure),
        fixture::frame(0, 0, 3, Phase::Measure),
        fixture::frame(0, 1, 5, Phase::Drain),
    ];
    frames.iter().for_each(|frame| writer.frame(frame).unwrap());
    writer.step(&open_step(1)).unwrap();
    writer.commit().unwrap();

    let steps = read(&path).unwrap().steps;
    let ended = Step {
        ended_ns: frames[0].head.ended_ns,
        drained_ns: frames[2].head.ended_ns,
        end: StepEnd::Cut,
        ..open_step(0)
    };
    let began_ns = open_step(1).began_ns;
    let without_frames = Step { ended_ns: began_ns, drained_ns: began_ns, end: StepEnd::Cut, ..open_step(1) };
    assert_eq!(steps, [ended, without_frames]);
}

#[test]
fn a_sealed_run_keeps_a_step_that_was_written_only_once() {
    let (_folder, path) = place("run.plimsoll");
    let mut writer = RunWriter::create(&path, &manifest(), false).unwrap();
    writer.step(&open_step(0)).unwrap();
    writer.seal().unwrap();
    assert_eq!(read(&path).unwrap().steps, [open_step(0)]);
}

#[test]
fn reading_an_abandoned_run_leaves_no_other_file() {
    let (folder, path) = place("run.plimsoll");
    let mut writer = RunWriter::create(&path, &manifest(), false).unwrap();
    record(&mut writer, &fixture::run());
    writer.commit().unwrap();
    drop(writer);
    let before = fs::read(&path).unwrap();
    assert_eq!(read(&path).unwrap(), fixture::run());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn another_major_version_is_refused_by_name_and_a_newer_minor_one_is_read() {
    let (folder, path) = place("newer.plimsoll");
    let write = |path: &Path, format| {
        let manifest = Manifest { format, ..manifest() };
        RunWriter::create(path, &manifest, false).unwrap().seal().unwrap();
    };
    write(&path, FormatVersion { major: 3, minor: 0 });
    let error = read(&path).unwrap_err().to_string();
    assert!(error.contains("written by format 3.0; this Plimsoll reads 2.x: use a newer one"), "{error}");
    let path = folder.path().join("older.plimsoll");
    write(&path, FormatVersion { major: 1, minor: 5 });
    let error = read(&path).unwrap_err().to_string();
    assert!(error.contains("written by format 1.5; this Plimsoll reads 2.x: use an older one"), "{error}");

    let path = folder.path().join("minor.plimsoll");
    write(&path, FormatVersion { major: 2, minor: 9 });
    edit(&path, "ALTER TABLE frame ADD COLUMN weather TEXT; CREATE TABLE moon (phase TEXT)");
    assert_eq!(read(&path).unwrap().manifest.format.minor, 9);
}

#[test]
fn what_an_older_minor_version_did_not_record_is_missing_and_no_error() {
    let (_folder, path) = place("older.plimsoll");
    fixture::recorded(&path);
    let columns = "ALTER TABLE frame DROP COLUMN unsuccessful; ALTER TABLE step DROP COLUMN stages";
    rewrite(&path, &format!("{columns}; UPDATE manifest SET format_minor = 1"));
    let run = read(&path).unwrap();
    assert_eq!(run.frames.len(), fixture::run().frames.len());
    assert!(run.frames.iter().all(|frame| frame.unsuccessful.as_bytes().is_empty()));
    assert!(run.steps.iter().all(|step| step.stages.is_empty()));
}

#[test]
fn the_command_line_is_missing_in_an_older_file_and_damage_in_one_that_should_have_it() {
    let (_folder, path) = place("older.plimsoll");
    let run = fixture::recorded(&path);
    assert_eq!(read(&path).unwrap().manifest.command_line, run.manifest.command_line);
    rewrite(&path, "ALTER TABLE manifest DROP COLUMN command_line");
    assert!(matches!(read(&path), Err(StoreError::Damaged { .. })));
    rewrite(&path, "UPDATE manifest SET format_minor = 4");
    let read = read(&path).unwrap();
    assert_eq!((read.manifest.command_line, read.frames), (None, run.frames));
}

fn edit(path: &Path, sql: &str) {
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

/// Changes what a file says, and its digests with it: as another version of Plimsoll would have written it.
fn rewrite(path: &Path, sql: &str) {
    edit(path, sql);
    let connection = Connection::open(path).unwrap();
    for part in digest::REPLACED.into_iter().chain(digest::GROWING).chain([digest::DIGEST]) {
        digest::rewrite(&connection, part).unwrap();
    }
}

#[test]
fn other_files_are_refused_as_what_they_are() {
    let (folder, path) = place("notes.plimsoll");
    assert!(matches!(read(&path), Err(StoreError::Missing { .. })));
    let mut contents = vec![(Vec::new(), "database of another program, or empty")];
    contents.push((b"just a note".to_vec(), "no SQLite database"));
    contents.push((b"a longer note\n".repeat(1000), "no SQLite database"));
    let other = folder.path().join("other.db");
    edit(&other, "CREATE TABLE manifest (format_major, format_minor); INSERT INTO manifest VALUES (1, 0)");
    contents.push((fs::read(&other).unwrap(), "database of another program"));
    for (content, expected) in contents {
        fs::write(&path, &content).unwrap();
        let error = read(&path).unwrap_err();
        assert!(matches!(error, StoreError::NotARunFile { .. }), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
    assert!(matches!(read(folder.path()), Err(StoreError::NotARunFile { .. })));
}

/// What no writer writes, even if the digests are right.
#[test]
fn what_cannot_be_true_is_damage() {
    for sql in [
        "DROP TABLE event",
        "DROP TABLE digest",
        "DELETE FROM manifest",
        "ALTER TABLE frame DROP COLUMN backlog",
        "UPDATE frame SET status = '{'",
        "UPDATE frame SET failed = '{\"bad_luck\": 1}'",
        "UPDATE frame SET sent = -1",
        "UPDATE frame SET ok = completed + 1 WHERE id = 2",
        "UPDATE frame SET ended_ns = began_ns - 1 WHERE id = 1",
        "UPDATE frame SET completed = completed + 1 WHERE id = 3",
        "UPDATE frame SET step = 77 WHERE id = 1",
        "UPDATE frame SET interval = 0, request = 0 WHERE id = 4",
        "UPDATE step SET ended_by = 'magic'",
        "UPDATE step SET rate_per_sec = 9e999",
        "UPDATE step SET drained_ns = 9223372036854775807",
        "UPDATE frame SET ended_ns = 9223372036854775807 WHERE id = 1",
        "UPDATE frame SET intended = 9223372036854775807 WHERE id = 1",
        "UPDATE frame SET status = '{\"200\": 18446744073709551615}' WHERE id = 1",
        "UPDATE frame SET user_ns = 4611686018427387904",
        "UPDATE event SET at_ns = 9223372036854775807",
    ] {
        let (_folder, path) = place("run.plimsoll");
        fixture::recorded(&path);
        if sql.starts_with("DROP") {
            edit(&path, sql)
        } else {
            rewrite(&path, sql)
        }
        let error = read(&path).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{sql}: {error}");
    }
}

#[test]
fn in_a_run_that_ended_in_order_every_request_is_accounted_for() {
    let (_folder, path) = place("run.plimsoll");
    fixture::recorded(&path);
    let lose_one = "UPDATE frame SET intended = intended + 1 WHERE id = 1;";
    rewrite(&path, lose_one);
    assert!(read(&path).is_ok(), "a worker that did not end may have lost some");
    rewrite(&path, "DELETE FROM event WHERE kind = 'step_failed'");
    assert!(read(&path).unwrap_err().to_string().contains("requests of step 0"));
}

#[test]
fn rows_that_do_not_match_their_digest_are_left_out_with_their_steps() {
    let damaged = |sql: &str| {
        let (_folder, path) = place("run.plimsoll");
        let run = fixture::recorded(&path);
        edit(&path, sql);
        (run, read(&path))
    };
    // All frames of this run were committed at once.
    let (_, read) = damaged("UPDATE frame SET completed = completed + 1, ok = ok + 1 WHERE id = 3");
    assert!(read.unwrap_err().to_string().contains("frames of every step"));
    let (run, read) = damaged("UPDATE event SET at_ns = 1 WHERE id = 3");
    let read = read.unwrap();
    assert_eq!((read.events.len(), &read.frames, &read.steps), (0, &run.frames, &run.steps));
    let event = Damage { table: "event", first: 1, last: Some(10), steps: Vec::new() };
    assert_eq!(read.damage, [event]);
    let (run, read) = damaged("DELETE FROM host_sample WHERE id = 5");
    assert_eq!((read.as_ref().unwrap().hosts.len(), read.unwrap().frames), (0, run.frames));
    let (_, read) = damaged("INSERT INTO event VALUES (NULL, 1, 'other', 'forged')");
    let added = Damage { table: "event", first: 11, last: None, steps: Vec::new() };
    assert_eq!(read.unwrap().damage, [added]);
    let (_, read) = damaged("DELETE FROM digest WHERE part = 'event'");
    assert_eq!(
        read.unwrap().damage.iter().map(|damage| damage.table).collect::<Vec<_>>(),
        ["event", "digest"]
    );
    for table in ["manifest", "step", "profile"] {
        let (_, read) = damaged(&format!("DELETE FROM digest WHERE part = '{table}'"));
        assert!(read.unwrap_err().to_string().contains(&format!("`{table}`")));
    }
}

#[test]
fn rows_that_no_digest_covers_are_damage_wherever_they_are() {
    let damaged = |sql: &str| {
        let (_folder, path) = place("run.plimsoll");
        fixture::recorded(&path);
        edit(&path, "UPDATE manifest SET sealed = 0");
        digest::rewrite(&Connection::open(&path).unwrap(), digest::MANIFEST).unwrap();
        edit(&path, sql);
        let damage = match read(&path) {
            Ok(run) => run.damage,
            Err(_) => check(&path).unwrap().damage,
        };
        damage.into_iter().map(|damage| (damage.table, damage.first, damage.last)).collect::<Vec<_>>()
    };
    assert_eq!(damaged(""), []);
    let before = damaged("UPDATE digest SET first = 2 WHERE part = 'event'");
    assert_eq!(before, [("event", 1, Some(1)), ("event", 2, Some(10))]);
    let overlapping =
        "INSERT INTO digest SELECT NULL, part, 2, last, sha256 FROM digest WHERE part = 'event'";
    assert_eq!(damaged(overlapping), [("event", i64::MIN, None)]);
    let backwards = damaged("UPDATE digest SET first = 9, last = 1 WHERE part = 'event'");
    assert_eq!(backwards, [("event", i64::MIN, None)]);
    let endless = damaged("UPDATE digest SET last = 9223372036854775807 WHERE part = 'event'");
    assert_eq!(endless, [], "it covers the same rows");
}

#[test]
fn a_run_that_lost_rows_together_with_their_digest_is_not_trusted() {
    let (_folder, path) = place("run.plimsoll");
    fixture::recorded(&path);
    edit(&path, "DELETE FROM profile; DELETE FROM digest WHERE part = 'profile'");
    assert!(read(&path).unwrap_err().to_string().contains("`digest`"));
}

#[test]
fn what_computes_its_rows_is_no_run_file() {
    let endless = "WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n) SELECT x FROM n";
    for sql in [
        format!("DROP TABLE event; CREATE VIEW event AS {endless}"),
        format!("DROP TABLE manifest; CREATE VIEW manifest AS {endless}"),
        "ALTER TABLE event ADD COLUMN more BLOB AS (zeroblob(1000000000))".to_owned(),
        "CREATE TRIGGER t AFTER INSERT ON event BEGIN SELECT 1; END".to_owned(),
    ] {
        let (_folder, path) = place("run.plimsoll");
        fixture::recorded(&path);
        edit(&path, &sql);
        let error = read(&path).unwrap_err();
        assert!(matches!(error, StoreError::NotARunFile { .. }), "{sql}: {error}");
        assert!(matches!(check(&path), Err(StoreError::NotARunFile { .. })), "{sql}");
    }
}

#[test]
fn only_the_steps_next_to_damaged_frames_are_left_out() {
    let (_folder, path) = place("run.plimsoll");
    let mut writer = RunWriter::create(&path, &manifest(), false).unwrap();
    for index in 0..4 {
        let mut ended = fixture::step(index, StepEnd::Steady);
        ended.began_ns = u64::from(index);
        writer.step(&ended).unwrap();
        writer.step(&ended).unwrap();
        for interval in 0..3 {
            writer.frame(&fixture::frame(index, 0, interval, Phase::Measure)).unwrap();
            writer.commit().unwrap();
        }
    }
    writer.seal().unwrap();
    edit(&path, "UPDATE frame SET bytes_in = 0 WHERE id = 5");
    let run = read(&path).unwrap();
    assert_eq!(run.steps.iter().map(|step| step.index).collect::<Vec<_>>(), [0, 2, 3]);
    assert_eq!(run.frames.len(), 9);
    assert_eq!(run.damage, [Damage { table: "frame", first: 5, last: Some(5), steps: vec![1] }]);
    edit(&path, "UPDATE frame SET bytes_in = 0 WHERE id = 10");
    assert_eq!(
        read(&path).unwrap().steps.len(),
        1,
        "the tenth may have been of the third step or the fourth"
    );
}

#[test]
fn no_flipped_bit_changes_what_is_read_without_being_named() {
    let (_folder, path) = place("run.plimsoll");
    let run = fixture::recorded(&path);
    let whole = fs::read(&path).unwrap();
    let (mut refused, mut named) = (0, 0);
    for at in (0..whole.len()).step_by(11) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&path, &bytes).unwrap();
        match read(&path) {
            Err(_) => refused += 1,
            Ok(read) if read.damage.is_empty() => assert_eq!(read, run, "byte {at}"),
            Ok(_) => named += 1,
        }
    }
    assert!(refused > 100 && named > 20, "{refused} refused, {named} named");
}

#[test]
fn an_event_without_a_known_word_is_read_with_its_text() {
    let (_folder, path) = place("run.plimsoll");
    let run = fixture::recorded(&path);
    rewrite(&path, "UPDATE event SET kind = 'moon_rose' WHERE id = (SELECT min(id) FROM event)");
    let read = read(&path).unwrap();
    assert_eq!(read.events[0].kind, EventKind::Other);
    assert_eq!(read.events[0].text, run.events[0].text);
    assert_eq!(read.events[1..], run.events[1..]);
}

#[test]
fn a_file_cut_short_anywhere_is_an_error_and_never_a_shorter_run() {
    let (_folder, path) = place("run.plimsoll");
    fixture::recorded(&path);
    let whole = fs::read(&path).unwrap();
    for kept_bytes in (1..whole.len()).step_by(3001).chain([whole.len() - 1]) {
        fs::write(&path, &whole[..kept_bytes]).unwrap();
        let error = read(&path).unwrap_err();
        let named = matches!(error, StoreError::Damaged { .. } | StoreError::NotARunFile { .. });
        assert!(named, "{kept_bytes} bytes: {error:?}");
    }
}
