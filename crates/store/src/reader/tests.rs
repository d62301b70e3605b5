use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use plimsoll_record::{EventKind, Manifest};
use tempfile::TempDir;

use super::*;
use crate::RunWriter;
use crate::access::companion;
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
fn a_newer_major_version_is_refused_by_name_and_a_newer_minor_one_is_read() {
    let (folder, path) = place("newer.plimsoll");
    let write = |path: &Path, format| {
        let manifest = Manifest { format, ..manifest() };
        RunWriter::create(path, &manifest, false).unwrap().seal().unwrap();
    };
    write(&path, FormatVersion { major: 2, minor: 0 });
    let error = read(&path).unwrap_err().to_string();
    assert!(
        error.contains("written by format 2.0; this Plimsoll reads 1.x: use a newer Plimsoll"),
        "{error}"
    );

    let path = folder.path().join("minor.plimsoll");
    write(&path, FormatVersion { major: 1, minor: 9 });
    edit(&path, "ALTER TABLE frame ADD COLUMN weather TEXT; CREATE TABLE moon (phase TEXT)");
    assert_eq!(read(&path).unwrap().manifest.format.minor, 9);
}

fn edit(path: &Path, sql: &str) {
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
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

#[test]
fn damage_is_reported_as_damage() {
    for sql in [
        "DROP TABLE event",
        "DELETE FROM manifest",
        "ALTER TABLE frame DROP COLUMN backlog",
        "UPDATE frame SET status = '{'",
        "UPDATE frame SET failed = '{\"bad_luck\": 1}'",
        "UPDATE frame SET sent = -1",
        "UPDATE step SET ended_by = 'magic'",
    ] {
        let (_folder, path) = place("run.plimsoll");
        fixture::recorded(&path);
        edit(&path, sql);
        let error = read(&path).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{sql}: {error}");
    }
}

#[test]
fn an_event_without_a_known_word_is_read_with_its_text() {
    let (_folder, path) = place("run.plimsoll");
    let run = fixture::recorded(&path);
    edit(&path, "UPDATE event SET kind = 'moon_rose' WHERE id = (SELECT min(id) FROM event)");
    let read = read(&path).unwrap();
    assert_eq!(read.events[0].kind, EventKind::Other);
    assert_eq!(read.events[0].text, run.events[0].text);
    assert_eq!(read.events[1..], run.events[1..]);
}

#[test]
fn a_failure_is_read_by_its_name_alone_and_before_the_sentences_of_earlier_formats() {
    let (_folder, path) = place("run.plimsoll");
    let run = fixture::recorded(&path);
    let of_text = |text: &str| {
        edit(&path, &format!("UPDATE event SET text = '{text}' WHERE kind = 'failure_seen'"));
        read(&path).unwrap().events
    };
    assert_eq!(of_text("timed_out"), run.events);
    assert_eq!(of_text("timed_out: no complete response → raise --timeout"), run.events);
    let unknown =
        of_text("moon_rose: it rose").into_iter().find(|event| event.kind == EventKind::FailureSeen);
    let unknown = unknown.unwrap();
    assert_eq!((unknown.failure, unknown.text.as_str()), (None, "moon_rose: it rose"));
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

#[test]
fn a_file_of_the_format_without_profiles_reads_as_a_run_without_any() {
    let (_folder, path) = place("run.plimsoll");
    let run = fixture::recorded(&path);
    let older = "DROP TABLE profile; UPDATE manifest SET format_minor = 0";
    Connection::open(&path).unwrap().execute_batch(older).unwrap();
    let read = read(&path).unwrap();
    assert!(read.profiles.is_empty() && !run.profiles.is_empty());
    assert_eq!(read.steps, run.steps);
}
