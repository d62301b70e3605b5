//! Reading a run file back.

use std::path::Path;

use plimsoll_record::{
    Counts, CpuProfile, EncodedHistogram, Event, EventKind, FailureKind, FormatVersion, Frame, FrameHead,
    HostSample, Manifest, Phase, ProfileOutcome, Reading, Run, Sharing, Step, StepEnd, TlsUsed, WorkerTime,
};
use rusqlite::types::Type;
use rusqlite::{Connection, Result, Row};

use crate::access;
use crate::error::{self, StoreError};
use crate::schema::{Json, Word};

/// Reads a run, also one that was killed or is being written by another process: then to its last commit.
///
/// In a run that did not end in order, a step that was under way ends with its last frame, by [`StepEnd::Cut`].
/// Everything else is given back as it was written, in the same order.
///
/// # Errors
/// When the file is missing, unreadable, not a run file, damaged, or of a newer major version.
pub fn read(path: &Path) -> std::result::Result<Run, StoreError> {
    let mut connection = access::open(path)?;
    read_tables(&mut connection).map_err(|error| error::reading(path, &error))
}

/// One transaction over all tables, so that they agree with each other while another process writes on.
fn read_tables(connection: &mut Connection) -> Result<Run> {
    let snapshot = connection.transaction()?;
    let mut run = Run {
        manifest: snapshot.query_row("SELECT * FROM manifest", [], manifest)?,
        steps: rows(&snapshot, "SELECT * FROM step ORDER BY step", step)?,
        frames: rows(&snapshot, "SELECT * FROM frame ORDER BY id", frame)?,
        hosts: host_samples(&snapshot)?,
        events: rows(&snapshot, "SELECT * FROM event ORDER BY id", event)?,
        profiles: profiles(&snapshot)?,
    };
    if !run.manifest.sealed {
        let open = rows(&snapshot, "SELECT step FROM step WHERE under_way = 1", |row| row.get(0))?;
        end_open_steps(&mut run, &open);
    }
    Ok(run)
}

/// The profiles; none in a file of format 1.0, which had no table for them.
fn profiles(connection: &Connection) -> Result<Vec<CpuProfile>> {
    if connection.table_exists(None, "profile")? {
        rows(connection, "SELECT * FROM profile ORDER BY step", profile)
    } else {
        Ok(Vec::new())
    }
}

fn rows<T>(connection: &Connection, sql: &str, from_row: fn(&Row<'_>) -> Result<T>) -> Result<Vec<T>> {
    connection.prepare(sql)?.query_map([], from_row)?.collect()
}

fn host_samples(connection: &Connection) -> Result<Vec<HostSample>> {
    let mut sharing = Sharing::default();
    let mut rows = connection.prepare("SELECT * FROM host_sample ORDER BY id")?;
    let samples = rows.query_map([], host_sample)?;
    samples.map(|sample| sample.map(|sample| sharing.share(sample))).collect()
}

fn manifest(row: &Row<'_>) -> Result<Manifest> {
    Ok(Manifest {
        format: FormatVersion { major: row.get("format_major")?, minor: row.get("format_minor")? },
        name: row.get("name")?,
        command: word(row, "command")?,
        plan: row.get("plan")?,
        plan_hash: row.get("plan_hash")?,
        tool_version: row.get("tool_version")?,
        machine: json(row, "machine")?,
        preflight: json(row, "preflight")?,
        driver: row.get("driver")?,
        protocol: row.get("protocol")?,
        tls: row.get::<_, Option<Json<TlsUsed>>>("tls")?.map(|Json(tls)| tls),
        started_unix_ms: row.get("started_unix_ms")?,
        sealed: row.get("sealed")?,
    })
}

fn step(row: &Row<'_>) -> Result<Step> {
    Ok(Step {
        index: row.get("step")?,
        connections: row.get("connections")?,
        depth: row.get("depth")?,
        rate_per_sec: row.get("rate_per_sec")?,
        began_ns: row.get("began_ns")?,
        ended_ns: row.get("ended_ns")?,
        drained_ns: row.get("drained_ns")?,
        end: word(row, "ended_by")?,
    })
}

fn frame(row: &Row<'_>) -> Result<Frame> {
    Ok(Frame {
        head: frame_head(row)?,
        latency: EncodedHistogram::from_bytes(row.get("latency")?),
        service: row.get::<_, Option<_>>("service")?.map(EncodedHistogram::from_bytes),
        send_lag: EncodedHistogram::from_bytes(row.get("send_lag")?),
        connect: EncodedHistogram::from_bytes(row.get("connect")?),
        handshake: EncodedHistogram::from_bytes(row.get("handshake")?),
    })
}

fn frame_head(row: &Row<'_>) -> Result<FrameHead> {
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
        },
    })
}

fn counts(row: &Row<'_>) -> Result<Counts> {
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

fn host_sample(row: &Row<'_>) -> Result<HostSample> {
    let state: String = row.get("state")?;
    let reading = match state.as_str() {
        "ok" => Reading::Ok(json(row, "counters")?),
        "absent" => Reading::Absent,
        "failed" => Reading::Failed(row.get("failure")?),
        _ => return Err(wrong_state(row, &state, "ok, absent or failed")?),
    };
    Ok(HostSample {
        host: row.get::<_, String>("host")?.into(),
        source: row.get::<_, String>("source")?.as_str().into(),
        subject: row.get::<_, String>("subject")?.into(),
        began_ns: row.get("began_ns")?,
        ended_ns: row.get("ended_ns")?,
        reading,
    })
}

fn profile(row: &Row<'_>) -> Result<CpuProfile> {
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

fn wrong_state(row: &Row<'_>, state: &str, expected: &str) -> Result<rusqlite::Error> {
    let reason = format!("state is `{state}`; expected {expected}");
    let column = row.as_ref().column_index("state")?;
    Ok(rusqlite::Error::FromSqlConversionFailure(column, Type::Text, reason.into()))
}

fn event(row: &Row<'_>) -> Result<Event> {
    let (kind, text): (EventKind, String) = (word(row, "kind")?, row.get("text")?);
    let failure = if kind == EventKind::FailureSeen { failure_named(&text) } else { None };
    let text = if failure.is_some() { String::new() } else { text };
    Ok(Event { at_ns: row.get("at_ns")?, kind, failure, text })
}

/// Formats before 1.5 have a colon and sentences after the name.
fn failure_named(text: &str) -> Option<FailureKind> {
    FailureKind::from_name(text.split_once(':').map_or(text, |(name, _)| name))
}

fn json<T: serde::de::DeserializeOwned>(row: &Row<'_>, column: &str) -> Result<T> {
    row.get(column).map(|Json(value)| value)
}

fn word<T: serde::de::DeserializeOwned>(row: &Row<'_>, column: &str) -> Result<T> {
    row.get(column).map(|Word(value)| value)
}

/// Gives the steps that were under way when the process died the end that their frames show.
fn end_open_steps(run: &mut Run, open: &[u32]) {
    for step in run.steps.iter_mut().filter(|step| open.contains(&step.index)) {
        let frames = || run.frames.iter().map(|frame| &frame.head).filter(|head| head.step == step.index);
        let measured = frames().filter(|head| head.phase == Phase::Measure).map(|head| head.ended_ns).max();
        let ended_ns = measured.unwrap_or(step.began_ns);
        step.drained_ns = frames().map(|head| head.ended_ns).max().unwrap_or(ended_ns);
        step.ended_ns = ended_ns;
        step.end = StepEnd::Cut;
    }
}

#[cfg(test)]
mod tests;
