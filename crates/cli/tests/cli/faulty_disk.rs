//! A disk that fails at any write of the run file costs the file, and never the answer.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use plimsoll_testkit::{DiskFault, FaultyDisk};

use crate::bench::{Bench, Called, Target};

const RUN_FILES: &str = ".plimsoll";
const THREADS: usize = 4;

/// Every one of these operations is broken; one disk after the other would take a minute.
fn faults(operations: u32) -> Vec<(DiskFault, u32)> {
    let fails = (1..=operations).map(|at| (DiskFault::Fails, at));
    let full = (1..=operations).step_by(2).map(|at| (DiskFault::Full, at));
    let short = (1..=operations).step_by(3).map(|at| (DiskFault::Short, at));
    fails.chain(full).chain(short).collect()
}

fn run_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|ending| ending == "plimsoll")).collect()
}

/// Runs on a disk with this fault: the answer and the exit code must say what has become of the run.
fn check(bench: &Bench, disk: &FaultyDisk, url: &str, (fault, at): (DiskFault, u32)) {
    let folder = format!("runs-{fault:?}-{at}");
    let args = ["run", url, "-c", "1", "-n", "20", "--name", "faulty", "-o", &folder, "--no-git"];
    let mut command = bench.command(&args);
    let called = Called::from(disk.breaks(&mut command, RUN_FILES, fault, at).output().unwrap());
    let said = format!("{fault:?} at operation {at}\n--- out\n{}\n--- err\n{}", called.out, called.err);
    assert!(!called.err.contains("panicked"), "{said}");
    let (kept, before_load) = (called.code == 0, called.err.contains("could not write to the folder"));
    assert!(kept || called.code == 1, "exit code {}: {said}", called.code);
    assert!(kept || called.err.contains(&folder), "it names what it could not write: {said}");
    assert!(before_load || called.out.contains("20 ok"), "the answer is there: {said}");
    assert!(kept || fault != DiskFault::Short, "a short write is written on: {said}");
    let files = run_files(&bench.path(&folder));
    assert!(!kept || files.len() == 1, "{files:?}: {said}");
    for file in &files {
        let checked = bench.call(&["check", file.to_str().unwrap()]);
        assert!(checked.out.contains("Every row matches its digest"), "{}{}{said}", checked.out, checked.err);
        // A log that could not be moved into the file at the end is no loss.
        assert_eq!(kept, !checked.out.contains("did not end in order"), "{}{said}", checked.out);
    }
}

#[test]
fn a_disk_that_fails_at_any_operation_costs_the_file_and_never_the_answer() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let (disk, url) = (FaultyDisk::new(bench.folder()).unwrap(), target.url("/"));
    // Git would meet the faults, and count its operations, too.
    let args = ["run", &url, "-c", "1", "-n", "20", "--name", "faulty", "-o", "runs", "--no-git"];
    let mut whole = bench.command(&args);
    let called = Called::from(disk.counts(&mut whole, RUN_FILES).output().unwrap());
    assert_eq!(called.code, 0, "{}", called.err);
    let operations = disk.operations().unwrap();
    assert!(operations > 20, "{operations} operations on the run file");
    let faults = Mutex::new(faults(operations));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(fault) = { faults.lock().unwrap().pop() } {
                    check(&bench, &disk, &url, fault);
                }
            });
        }
    });
}
