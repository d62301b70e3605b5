use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;

use plimsoll_record::{EventKind, Phase, StepEnd};

use super::*;
use crate::fixture::{self, frame, manifest, record};
use crate::read;

fn names_in(folder: &Path) -> Vec<OsString> {
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

#[test]
fn a_sealed_run_is_one_file_in_a_folder_made_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/run.plimsoll");
    fixture::recorded(&path);
    assert_eq!(names_in(path.parent().unwrap()), ["run.plimsoll"]);
}

#[test]
fn only_the_owner_may_read_a_run_and_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plimsoll");
    let mut writer = RunWriter::create(&path, &manifest(), false).unwrap();
    record(&mut writer, &fixture::run());
    writer.commit().unwrap();
    let modes = || {
        names_in(folder.path()).into_iter().map(|name| {
            let mode = fs::metadata(folder.path().join(&name)).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, 0o600, "{}", name.display());
        })
    };
    assert_eq!(modes().count(), 3);
    writer.seal().unwrap();
    assert_eq!(modes().count(), 1);
}

#[test]
fn an_existing_file_is_kept_unless_it_may_be_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plimsoll");
    let run = fixture::recorded(&path);
    let error = RunWriter::create(&path, &manifest(), false).unwrap_err();
    assert!(matches!(error, StoreError::Exists { .. }) && error.to_string().contains("--force"), "{error}");
    assert_eq!(read(&path).unwrap(), run);

    RunWriter::create(&path, &manifest(), true).unwrap().seal().unwrap();
    assert!(read(&path).unwrap().frames.is_empty());
}

#[test]
fn overwriting_a_killed_run_takes_nothing_of_it_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plimsoll");
    let mut killed = RunWriter::create(&path, &manifest(), false).unwrap();
    record(&mut killed, &fixture::run());
    killed.commit().unwrap();
    std::mem::forget(killed);
    assert_eq!(names_in(folder.path()).len(), 3);

    RunWriter::create(&path, &manifest(), true).unwrap().seal().unwrap();
    assert_eq!(names_in(folder.path()), ["run.plimsoll"]);
    assert!(read(&path).unwrap().frames.is_empty());
}

#[test]
fn a_file_in_the_place_of_the_folder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    for path in [file.join("run.plimsoll"), file.join("deeper/run.plimsoll")] {
        let error = RunWriter::create(&path, &manifest(), true).unwrap_err();
        assert!(matches!(error, StoreError::Unwritable { .. }), "{error}");
        let text = error.to_string().to_lowercase();
        assert!(text.contains("not a ") && text.contains("choose a folder"), "{text}");
    }
}

/// Shrinks what the file may grow to, which SQLite reports just as it does a disk without room.
fn fill_disk(writer: &RunWriter) {
    let pages: u32 = writer.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    let limit = format!("PRAGMA max_page_count = {}", pages + 2);
    writer.connection.query_row(&limit, [], |_| Ok(())).unwrap();
}

fn write_until_full(writer: &mut RunWriter) -> StoreError {
    let many = 0..1000;
    many.map(|n| writer.frame(&frame(9, 0, n, Phase::Measure))).find_map(Result::err).unwrap()
}

#[test]
fn a_full_disk_ends_the_file_at_its_last_commit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plimsoll");
    let run = fixture::run();
    let mut writer = RunWriter::create(&path, &run.manifest, false).unwrap();
    record(&mut writer, &run);
    writer.commit().unwrap();
    fill_disk(&writer);

    let error = write_until_full(&mut writer);
    assert!(matches!(error, StoreError::DiskFull { .. }), "{error}");
    assert!(error.to_string().contains("run.plimsoll"), "{error}");
    // What comes after is refused, even if it would fit: a run with a hole in its middle would be a false one.
    assert!(matches!(writer.event(&run.events[0]), Err(StoreError::Stopped { .. })));
    assert!(matches!(writer.commit(), Err(StoreError::Stopped { .. })));
    assert!(matches!(writer.seal(), Err(StoreError::Stopped { .. })));
    assert_eq!(read(&path).unwrap(), run);
}

#[test]
fn a_file_that_cannot_be_begun_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plimsoll");
    let manifest = Manifest { started_unix_ms: u64::MAX, ..manifest() };
    let error = RunWriter::create(&path, &manifest, false).unwrap_err();
    assert!(matches!(error, StoreError::Unwritable { .. }), "{error}");
    assert!(names_in(folder.path()).is_empty());
}

#[test]
fn a_count_that_sqlite_cannot_hold_is_refused_and_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = RunWriter::create(&folder.path().join("run.plimsoll"), &manifest(), false).unwrap();
    let mut huge = frame(0, 0, 0, Phase::Measure);
    huge.head.counts.bytes_in = u64::MAX;
    assert!(writer.frame(&huge).is_err());
}

#[test]
fn a_reader_does_not_spoil_the_sealing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plimsoll");
    let run = fixture::run();
    let mut writer = RunWriter::create(&path, &run.manifest, false).unwrap();
    record(&mut writer, &run);
    writer.commit().unwrap();

    let reader = Connection::open(&path).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM frame").unwrap();
    assert!(writer.seal().unwrap().is_none());
    drop(reader);

    let sealed = read(&path).unwrap();
    assert!(sealed.manifest.sealed);
    assert_eq!(sealed.frames, run.frames);
}

#[test]
fn a_log_that_cannot_be_moved_into_the_file_costs_nothing_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plimsoll");
    let run = fixture::run();
    let mut writer = RunWriter::create(&path, &run.manifest, false).unwrap();
    record(&mut writer, &run);
    // To give the log up, SQLite needs a journal for a moment, and there is a folder in its place.
    fs::create_dir(companion(&path, "-journal")).unwrap();
    let stays = writer.seal().unwrap();
    assert!(matches!(stays, Some(StoreError::LogStays { .. })), "{stays:?}");
    let sealed = read(&path).unwrap();
    assert_eq!((sealed.manifest.sealed, &sealed.frames), (true, &run.frames));
    assert!(crate::check(&path).unwrap().is_intact());
}

#[test]
fn a_step_written_again_replaces_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plimsoll");
    let mut writer = RunWriter::create(&path, &manifest(), false).unwrap();
    writer.step(&fixture::open_step(1)).unwrap();
    writer.commit().unwrap();
    writer.step(&fixture::step(1, StepEnd::Steady)).unwrap();
    writer.seal().unwrap();
    assert_eq!(read(&path).unwrap().steps, [fixture::step(1, StepEnd::Steady)]);
}

#[test]
fn a_killed_run_is_written_on_from_its_last_commit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plimsoll");
    let mut writer = RunWriter::create(&path, &manifest(), false).unwrap();
    let open = fixture::open_step(1);
    writer.step(&open).unwrap();
    writer.frame(&frame(1, 0, 0, Phase::Measure)).unwrap();
    writer.commit().unwrap();
    writer.frame(&frame(1, 0, 1, Phase::Measure)).unwrap();
    drop(writer);

    let (mut writer, under_way) = RunWriter::resume(&path).unwrap();
    assert_eq!(under_way, Some(UnderWay { index: 1, ends_ns: open.ended_ns }));
    assert_eq!(read(&path).unwrap().frames.len(), 1, "what was not committed is gone");
    let other = RunWriter::resume(&path).unwrap_err();
    assert!(matches!(other, StoreError::Unwritable { .. }), "{other}");
    writer.generators(1, &fixture::step(1, StepEnd::Steady).generators).unwrap();
    writer.frame(&frame(1, 0, 1, Phase::Measure)).unwrap();
    writer.commit().unwrap();
    assert_eq!(read(&path).unwrap().steps[0].end, StepEnd::Cut, "it is still under way");
    writer.step(&fixture::step(1, StepEnd::Steady)).unwrap();
    let text = "not all requests are accounted for".to_owned();
    writer.event(&Event { at_ns: 1, kind: EventKind::StepFailed, failure: None, text }).unwrap();
    writer.seal().unwrap();

    let run = read(&path).unwrap();
    assert_eq!((run.damage.len(), run.frames.len(), run.steps[0].end), (0, 2, StepEnd::Steady));
    assert!(crate::check(&path).unwrap().is_intact());
    assert!(matches!(RunWriter::resume(&path), Err(StoreError::Complete { .. })));
}
