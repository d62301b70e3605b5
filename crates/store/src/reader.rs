//! Reads a run file.

use std::collections::BTreeSet;
use std::path::Path;

use plimsoll_record::{
    Counts, CpuProfile, Damage, EncodedHistogram, Event, EventKind, FailureKind, FormatVersion, Frame,
    FrameHead, HostSample, Manifest, ProfileOutcome, Reading, Run, Sharing, Step, TlsUsed, WorkerTime,
};
use rusqlite::types::Type;
use rusqlite::{Connection, Result, Row};

use crate::access;
use crate::digest::{self, Part};
use crate::error::{self, StoreError};
use crate::invariants::check_run;
use crate::named_row::{Columns, NamedRow};
use crate::schema::{Json, Word};
use crate::verify;

/// Reads a run up to its last commit, even if the run was killed or another process is still writing it.
///
/// In a run that did not end normally, a step that was under way ends with its last frame, by
/// [`StepEnd::Cut`](plimsoll_record::StepEnd::Cut). Rows that do not match their digest are left out, together with the steps that they
/// may belong to, and listed in [`Run::damage`]. Everything else is returned as it was written, in the same order.
///
/// # Errors
/// When the file is missing, unreadable, not a run file, of another major version, or so damaged that none of its steps can be trusted.
pub fn read(path: &Path) -> std::result::Result<Run, StoreError> {
    let mut connection = access::open(path)?;
    let run = read_tables(&mut connection).map_err(|error| error::reading(path, &error))?;
    check_run(&run).map_err(|reason| StoreError::Damaged { path: path.to_owned(), reason })?;
    Ok(run)
}

/// Reads all tables in one transaction, so that they are consistent while another process continues to write.
fn read_tables(connection: &mut Connection) -> Result<Run> {
    let snapshot = connection.transaction()?;
    let manifest =
        snapshot.query_row("SELECT * FROM manifest", [], |row| manifest(&Columns::default().name(row)))?;
    let mut damage = verify::damage(&snapshot, manifest.sealed)?;
    // With such damage nothing can be trusted, so the rest is not read.
    if verify::total(&damage).is_some() {
        return Ok(Run { damage, ..Run::begun(manifest) });
    }
    if manifest.format.minor >= 2 {
        // Only a file of an older format may lack these columns. In any other file, a missing column means that the schema is damaged.
        snapshot.prepare("SELECT stages FROM step")?;
        snapshot.prepare("SELECT unsuccessful FROM frame")?;
    }
    if manifest.format.minor >= 3 {
        snapshot.prepare("SELECT generators FROM step")?;
        snapshot.prepare("SELECT traces FROM frame")?;
    }
    if manifest.format.minor >= 5 {
        snapshot.prepare("SELECT command_line FROM manifest")?;
    }
    let steps = values(intact(&snapshot, digest::STEP, &damage, step)?);
    let frames = intact(&snapshot, digest::FRAME, &damage, frame)?;
    note_steps(&mut damage, &steps, &frames);
    let mut run = Run {
        steps,
        frames: frames.into_iter().map(|(_, frame)| frame).collect(),
        hosts: host_samples(&snapshot, &damage)?,
        events: values(intact(&snapshot, digest::EVENT, &damage, event)?),
        profiles: values(intact(&snapshot, digest::PROFILE, &damage, profile)?),
        damage,
        ..Run::begun(manifest)
    };
    if !run.manifest.sealed {
        let open = rows(&snapshot, "SELECT step FROM step WHERE under_way = 1", |row| row.get(0))?;
        run.end_open_steps(&open);
    }
    leave_out(&mut run);
    Ok(run)
}

fn values<T>(rows: Vec<(i64, T)>) -> Vec<T> {
    rows.into_iter().map(|(_, value)| value).collect()
}

/// Returns the rows of a part that match their digests, with their keys.
fn intact<T>(
    connection: &Connection,
    part: Part,
    damage: &[Damage],
    from_row: fn(&NamedRow<'_>) -> Result<T>,
) -> Result<Vec<(i64, T)>> {
    let of_part = || damage.iter().filter(|damage| damage.table == part.table);
    let end = of_part().filter(|damage| damage.last.is_none()).map(|damage| damage.first).min();
    let mut statement = connection.prepare(&digest::select(part, "< ?"))?;
    let columns = Columns::default();
    let mut rows = statement.query([end.unwrap_or(i64::MAX)])?;
    let mut intact = Vec::new();
    while let Some(row) = rows.next()? {
        let key = row.get(0)?;
        if !of_part().any(|damage| damage.first <= key && damage.last.is_none_or(|last| key <= last)) {
            intact.push((key, from_row(&columns.name(row))?));
        }
    }
    Ok(intact)
}

/// Adds the steps that lost frames to each damage: from the step of the last intact frame before the damage to that of the first one after.
fn note_steps(damage: &mut [Damage], steps: &[Step], frames: &[(i64, Frame)]) {
    for damage in damage.iter_mut().filter(|damage| damage.table == digest::FRAME.table) {
        let step_of = |(_, frame): &(i64, Frame)| frame.head.step;
        let before = frames.iter().rev().find(|(key, _)| *key < damage.first).map(step_of);
        let after = damage.last.and_then(|last| frames.iter().find(|(key, _)| *key > last)).map(step_of);
        let may_be = before.unwrap_or(0)..=after.unwrap_or(u32::MAX);
        damage.steps = steps.iter().map(|step| step.index).filter(|step| may_be.contains(step)).collect();
    }
}

/// Removes the steps that lost frames.
fn leave_out(run: &mut Run) {
    let lost: BTreeSet<u32> = run.damage.iter().flat_map(|damage| damage.steps.iter().copied()).collect();
    run.steps.retain(|step| !lost.contains(&step.index));
    run.frames.retain(|frame| !lost.contains(&frame.head.step));
}

fn rows<T>(connection: &Connection, sql: &str, from_row: fn(&Row<'_>) -> Result<T>) -> Result<Vec<T>> {
    connection.prepare(sql)?.query_map([], from_row)?.collect()
}

fn host_samples(connection: &Connection, damage: &[Damage]) -> Result<Vec<HostSample>> {
    let mut sharing = Sharing::default();
    let samples = intact(connection, digest::HOST_SAMPLE, damage, host_sample)?;
    Ok(samples.into_iter().map(|(_, sample)| sharing.share(sample)).collect())
}

fn manifest(row: &NamedRow<'_>) -> Result<Manifest> {
    Ok(Manifest {
        format: FormatVersion { major: row.get("format_major")?, minor: row.get("format_minor")? },
        name: row.get("name")?,
        command: word(row, "command")?,
        command_line: row.get_newer("command_line")?,
        plan: row.get("plan")?,
        plan_hash: row.get("plan_hash")?,
        tool_version: row.get("tool_version")?,
        machine: json(row, "machine")?,
        preflight: json(row, "preflight")?,
        driver: row.get("driver")?,
        protocol: row.get("protocol")?,
        tls: row.get::<Option<Json<TlsUsed>>>("tls")?.map(|Json(tls)| tls),
        started_unix_ms: row.get("started_unix_ms")?,
        tags: newer_json(row, "tags")?,
        sealed: row.get("sealed")?,
    })
}

fn step(row: &NamedRow<'_>) -> Result<Step> {
    Ok(Step {
        index: row.get("step")?,
        connections: row.get("connections")?,
        depth: row.get("depth")?,
        rate_per_sec: row.get("rate_per_sec")?,
        stages: newer_json(row, "stages")?,
        began_ns: row.get("began_ns")?,
        ended_ns: row.get("ended_ns")?,
        drained_ns: row.get("drained_ns")?,
        end: word(row, "ended_by")?,
        generators: newer_json(row, "generators")?,
    })
}

fn frame(row: &NamedRow<'_>) -> Result<Frame> {
    Ok(Frame {
        head: frame_head(row)?,
        latency: EncodedHistogram::from_bytes(row.get("latency")?),
        unsuccessful: EncodedHistogram::from_bytes(row.get_newer("unsuccessful")?.unwrap_or_default()),
        service: row.get::<Option<_>>("service")?.map(EncodedHistogram::from_bytes),
        send_lag: EncodedHistogram::from_bytes(row.get("send_lag")?),
        connect: EncodedHistogram::from_bytes(row.get("connect")?),
        handshake: EncodedHistogram::from_bytes(row.get("handshake")?),
        traces: newer_json(row, "traces")?,
    })
}

fn frame_head(row: &NamedRow<'_>) -> Result<FrameHead> {
    Ok(FrameHead {
        step: row.get("step")?,
        worker: row.get("worker")?,
        request: row.get("request")?,
        interval: row.get("interval")?,
        phase: word(row, "phase")?,
        began_ns: row.get("began_ns")?,
        ended_ns: row.get("ended_ns")?,
        counts: counts(row)?,
        in_flight: row.get("in_flight")?,
        backlog: row.get("backlog")?,
        connections: row.get("connections")?,
        time: WorkerTime {
            user_ns: row.get("user_ns")?,
            system_ns: row.get("system_ns")?,
            starved_ns: row.get("starved_ns")?,
            stalled_ns: row.get("stalled_ns")?,
        },
    })
}

fn counts(row: &NamedRow<'_>) -> Result<Counts> {
    Ok(Counts {
        intended: row.get("intended")?,
        sent: row.get("sent")?,
        completed: row.get("completed")?,
        ok: row.get("ok")?,
        bytes_in: row.get("bytes_in")?,
        bytes_out: row.get("bytes_out")?,
        reconnects: row.get("reconnects")?,
        connects: row.get("connects")?,
        handshakes: row.get("handshakes")?,
        resumed: row.get("resumed")?,
        status: json(row, "status")?,
        failed: json(row, "failed")?,
        checks: json(row, "checks")?,
    })
}

fn host_sample(row: &NamedRow<'_>) -> Result<HostSample> {
    let state: String = row.get("state")?;
    let reading = match state.as_str() {
        "ok" => Reading::Ok(json(row, "counters")?),
        "absent" => Reading::Absent,
        "failed" => Reading::Failed(row.get("failure")?),
        _ => return Err(wrong_state(row, &state, "ok, absent or failed")?),
    };
    Ok(HostSample {
        host: row.get::<String>("host")?.into(),
        source: row.get::<String>("source")?.as_str().into(),
        subject: row.get::<String>("subject")?.into(),
        began_ns: row.get("began_ns")?,
        ended_ns: row.get("ended_ns")?,
        reading,
    })
}

fn profile(row: &NamedRow<'_>) -> Result<CpuProfile> {
    let state: String = row.get("state")?;
    let outcome = match state.as_str() {
        "under_way" => ProfileOutcome::UnderWay,
        "taken" => ProfileOutcome::Taken(row.get("content")?),
        "failed" => ProfileOutcome::Failed(row.get("failure")?),
        _ => return Err(wrong_state(row, &state, "under_way, taken or failed")?),
    };
    Ok(CpuProfile {
        step: row.get("step")?,
        source: row.get("source")?,
        form: word(row, "form")?,
        began_ns: row.get("began_ns")?,
        ended_ns: row.get("ended_ns")?,
        outcome,
    })
}

fn wrong_state(row: &NamedRow<'_>, state: &str, expected: &str) -> Result<rusqlite::Error> {
    let reason = format!("state is `{state}`; expected {expected}");
    let column = row.index("state")?;
    Ok(rusqlite::Error::FromSqlConversionFailure(column, Type::Text, reason.into()))
}

fn event(row: &NamedRow<'_>) -> Result<Event> {
    let (kind, text): (EventKind, String) = (word(row, "kind")?, row.get("text")?);
    let failure = if kind == EventKind::FailureSeen { FailureKind::from_name(&text) } else { None };
    let text = if failure.is_some() { String::new() } else { text };
    Ok(Event { at_ns: row.get("at_ns")?, kind, failure, text })
}

fn json<T: serde::de::DeserializeOwned>(row: &NamedRow<'_>, column: &'static str) -> Result<T> {
    row.get(column).map(|Json(value)| value)
}

/// Reads a JSON column; returns the default if a file of an older format lacks the column.
fn newer_json<T: serde::de::DeserializeOwned + Default>(
    row: &NamedRow<'_>,
    column: &'static str,
) -> Result<T> {
    Ok(row.get_newer(column)?.map(|Json(value)| value).unwrap_or_default())
}

fn word<T: serde::de::DeserializeOwned>(row: &NamedRow<'_>, column: &'static str) -> Result<T> {
    row.get(column).map(|Word(value)| value)
}

#[cfg(test)]
mod tests;
