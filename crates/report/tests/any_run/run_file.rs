//! What holds for every run file with changed bytes: shared by the tests and the fuzz target.

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use plimsoll_record::Run;
use plimsoll_store::{RunWriter, StoreError, check as examine, read};
use tempfile::TempDir;

use crate::{base, report};

/// Bytes of one change: the place in three, and what is changed there.
const CHANGE_BYTES: usize = 4;

struct Whole {
    folder: TempDir,
    run: Run,
    bytes: Vec<u8>,
}

static WHOLE: LazyLock<Whole> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("whole.plimsoll");
    let run = base::run();
    let mut writer = RunWriter::create(&path, &run.manifest, false).expect("a run file");
    for step in &run.steps {
        writer.step(step).expect("a step");
        writer.step(step).expect("its end");
    }
    // A commit for each step, so that damage to one leaves the others.
    for frames in run.frames.chunk_by(|one, other| one.head.step == other.head.step) {
        frames.iter().for_each(|frame| writer.frame(frame).expect("a frame"));
        writer.commit().expect("a commit");
    }
    run.hosts.iter().for_each(|sample| writer.host_sample(sample).expect("a sample"));
    run.events.iter().for_each(|event| writer.event(event).expect("an event"));
    writer.seal().expect("a sealed file");
    let bytes = fs::read(&path).expect("the file");
    Whole { folder, run, bytes }
});

/// Changes a whole run file: the first byte says how much of its end is cut, then four bytes each say where a byte is and which of
/// its bits are flipped. The file is refused, or what is not as it was written is named.
pub(crate) fn check(input: &[u8]) {
    let Some((cut, changes)) = input.split_first() else { return };
    let mut bytes = WHOLE.bytes.clone();
    let kept = bytes.len() - usize::from(*cut) * bytes.len() / 256;
    bytes.truncate(kept);
    for change in changes.chunks_exact(CHANGE_BYTES) {
        let at = usize::from(change[0]) << 16 | usize::from(change[1]) << 8 | usize::from(change[2]);
        let at = at % kept.max(1);
        bytes[at] ^= change[3];
    }
    let is_whole = bytes == WHOLE.bytes;
    let path = path();
    fs::write(&path, &bytes).expect("a file");
    match read(&path) {
        Ok(run) => {
            assert!(!is_whole || run == WHOLE.run, "a file that was not changed");
            assert!(!run.damage.is_empty() || run == WHOLE.run, "a change that is not named");
            assert!(
                run.frames.iter().all(|frame| WHOLE.run.frames.contains(frame)),
                "a frame that was not written"
            );
            if is_whole || *cut == 0 && changes.len() % 16 == 0 {
                report::check(&run, changes.len() as u8 / 16);
            }
        }
        Err(error) => {
            assert!(!is_whole, "{error}");
            let is_known = matches!(error, StoreError::Damaged { .. } | StoreError::NotARunFile { .. });
            assert!(
                is_known || matches!(error, StoreError::OtherFormat { .. } | StoreError::Unreadable { .. }),
                "{error}"
            );
        }
    }
    if let Ok(checked) = examine(&path) {
        assert!(is_whole || !checked.is_intact() || read(&path).is_ok_and(|run| run == WHOLE.run));
    }
}

fn path() -> PathBuf {
    thread_local! {
        static NAME: String = format!("{:?}.plimsoll", std::thread::current().id());
    }
    NAME.with(|name| WHOLE.folder.path().join(name))
}
