use plimsoll_record::{FormatVersion, Manifest, RunCommand};

use super::*;
use crate::RunWriter;
use crate::fixture::{self, URL, manifest};

fn recorded_at(path: &Path, started_unix_ms: u64) {
    let manifest = Manifest { started_unix_ms, ..manifest() };
    RunWriter::create(path, &manifest, false).unwrap().seal().unwrap();
}

#[test]
fn a_row_says_what_was_run_against_what() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plimsoll");
    let run = fixture::recorded(&path);
    let rows = list(folder.path()).unwrap();
    let expected = RunSummary {
        name: run.manifest.name,
        command: RunCommand::Sweep,
        target_url: Some(URL.to_owned()),
        started_unix_ms: run.manifest.started_unix_ms,
        sealed: true,
        step_count: run.steps.len() as u64,
    };
    assert_eq!((rows.len(), rows[0].summary.as_ref().unwrap()), (1, &expected));
    assert_eq!((&rows[0].path, rows[0].size_bytes), (&path, fs::metadata(&path).unwrap().len()));
}

#[test]
fn the_newest_run_comes_first_and_unreadable_files_last() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    recorded_at(&at("b.plimsoll"), 2_000);
    recorded_at(&at("c.plimsoll"), 3_000);
    recorded_at(&at("a.plimsoll"), 1_000);
    fs::write(at("0-junk.plimsoll"), "junk").unwrap();
    fs::create_dir(at("folder.plimsoll")).unwrap();
    fs::write(at("notes.txt"), "not listed").unwrap();
    let format = FormatVersion { major: 3, minor: 0 };
    let newer = Manifest { format, ..manifest() };
    RunWriter::create(&at("newer.plimsoll"), &newer, false).unwrap().seal().unwrap();

    let rows = list(folder.path()).unwrap();
    let names: Vec<_> = rows.iter().map(|row| row.path.file_stem().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["c", "b", "a", "0-junk", "folder", "newer"]);
    assert_eq!(rows.iter().filter(|row| row.summary.is_ok()).count(), 3);
    assert!(matches!(rows[5].summary, Err(StoreError::OtherFormat { .. })));
}

#[test]
fn a_run_under_way_is_listed_as_not_sealed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plimsoll");
    let mut writer = RunWriter::create(&path, &manifest(), false).unwrap();
    writer.step(&fixture::open_step(0)).unwrap();
    writer.commit().unwrap();
    let rows = list(folder.path()).unwrap();
    let summary = rows[0].summary.as_ref().unwrap();
    assert_eq!((rows.len(), summary.sealed, summary.step_count), (1, false, 1));
    assert!(rows[0].size_bytes > fs::metadata(&path).unwrap().len(), "the log counts too");
}

#[test]
fn a_missing_folder_is_an_error_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(list(&folder.path().join("none")), Err(StoreError::Missing { .. })));
}
