//! Derives the history entry of a run file.

use std::path::Path;

use plimsoll_analyze::{EntryMachine, RunEntry, RunFigures, analyze};
use plimsoll_record::EventKind;
use plimsoll_report::{Values, for_figures, text};

use crate::HistoryError;

/// Events that end a run before all of its load is made.
const EARLY_ENDS: [EventKind; 3] = [EventKind::Interrupted, EventKind::TargetLost, EventKind::StepFailed];

/// Reads a run file and derives its history entry, with the tags that the run was started with.
///
/// # Errors
/// When the file cannot be read, or a part of it is damaged.
pub fn entry_of(path: &Path) -> Result<RunEntry, HistoryError> {
    let run = plimsoll_store::read(path)?;
    if !run.damage.is_empty() {
        return Err(HistoryError::PartlyDamaged { path: path.to_owned() });
    }
    let findings = analyze(&run)?;
    let ended_early = run.events.iter().any(|event| EARLY_ENDS.contains(&event.kind));
    let manifest = run.manifest;
    Ok(RunEntry {
        id: plimsoll_store::run_id(path)?,
        file: path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
        target: for_figures(&findings, Values::Hidden).plan.target.url,
        name: manifest.name,
        command: manifest.command,
        plan_hash: manifest.plan_hash,
        machine: EntryMachine {
            hostname: manifest.machine.hostname,
            kernel: manifest.machine.kernel,
            cores: manifest.machine.limits.cores,
        },
        tool_version: manifest.tool_version,
        started_unix_ms: manifest.started_unix_ms,
        ended_early,
        tags: manifest.tags,
        limit_phrase: text::limit_in_short(&findings),
        figures: RunFigures::new(&findings),
    })
}
