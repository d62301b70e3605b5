//! Writes a run file during the run.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use plimsoll_record::{
    CpuProfile, EncodedHistogram, Event, Frame, GeneratorShare, HostSample, Manifest, ProfileOutcome,
    Reading, Step,
};
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _, ffi, params};

use crate::access::{OWNER_ONLY, companion};
use crate::digest::{self, GROWING, REPLACED};
use crate::error::{self, StoreError};
use crate::schema::{APPLICATION_ID, Json, TABLES, Word};
use crate::session;

/// Readers block the writer only while the log is moved into the file.
const BUSY_TIMEOUT: Duration = Duration::from_millis(500);

// The values are in the order of the schema's columns.
const INSERT_MANIFEST: &str =
    "INSERT INTO manifest VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)";
/// A step is under way until it is written a second time.
const UPSERT_STEP: &str = "INSERT OR REPLACE INTO step VALUES (?1, ?, ?, ?, ?, ?, ?, ?, ?, ?, \
    NOT EXISTS (SELECT 1 FROM step WHERE step = ?1))";
const UPDATE_GENERATORS: &str = "UPDATE step SET generators = ? WHERE step = ?";
const INSERT_FRAME: &str = "INSERT INTO frame VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, \
    ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
const INSERT_HOST_SAMPLE: &str = "INSERT INTO host_sample VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)";
const UPSERT_PROFILE: &str = "INSERT OR REPLACE INTO profile VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
const INSERT_EVENT: &str = "INSERT INTO event VALUES (NULL, ?, ?, ?)";

/// A step whose end has not been recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnderWay {
    pub index: u32,
    /// The planned end of its load, in nanoseconds since the run began.
    pub ends_ns: u64,
}

/// Writes one run file.
///
/// A transaction is always open, and [`commit`](Self::commit) begins the next one, so a killed process leaves a file that is readable up
/// to its last commit. After the first error of any call nothing more is written, and every later call returns
/// [`StoreError::Stopped`]. The run itself can continue without the file, and dropping the writer is always safe.
#[derive(Debug)]
pub struct RunWriter {
    path: PathBuf,
    connection: Connection,
    /// The last row of each growing part that a digest covers.
    digested: [i64; GROWING.len()],
    /// Parts with rows that were replaced since their digest was written.
    replaced: BTreeSet<&'static str>,
    stopped: bool,
}

impl RunWriter {
    /// Creates the file, and its folder if necessary, and commits the manifest.
    ///
    /// # Errors
    /// When the file exists and `overwrite` is not set, or the file or its folder cannot be created or written.
    pub fn create(path: &Path, manifest: &Manifest, overwrite: bool) -> Result<Self, StoreError> {
        claim(path, overwrite).map_err(|error| error::preparing(path, &error))?;
        match open(path, manifest) {
            Ok(connection) => Ok(Self {
                path: path.to_owned(),
                connection,
                digested: [0; GROWING.len()],
                replaced: BTreeSet::new(),
                stopped: false,
            }),
            Err(error) => Err(abandon(path, &error)),
        }
    }

    /// Continues the file of a process that died, from its last commit. Also returns the step that was under way, if any.
    ///
    /// # Errors
    /// When the run ended normally, another process writes the file, or it cannot be written.
    pub fn resume(path: &Path) -> Result<(Self, Option<UnderWay>), StoreError> {
        let writing = |error| error::writing(path, &error);
        let connection = reopen(path).map_err(writing)?;
        let sealed: bool =
            connection.query_row("SELECT sealed FROM manifest", [], |row| row.get(0)).map_err(writing)?;
        if sealed {
            return Err(StoreError::Complete { path: path.to_owned() });
        }
        let under_way = under_way(&connection).map_err(writing)?;
        let digested = digest::last_keys(&connection).map_err(writing)?;
        let (path, replaced) = (path.to_owned(), BTreeSet::new());
        Ok((Self { path, connection, digested, replaced, stopped: false }, under_way))
    }

    /// Replaces the generators of a step, without ending the step.
    pub fn generators(&mut self, step: u32, generators: &[GeneratorShare]) -> Result<(), StoreError> {
        self.replaced.insert(digest::STEP.table);
        self.insert(UPDATE_GENERATORS, params![Json(generators), step])
    }

    /// Writes a step: once when it begins, with its planned end, and again when it has ended.
    ///
    /// If the process dies in between, the reader uses the end of the step's last frame.
    pub fn step(&mut self, step: &Step) -> Result<(), StoreError> {
        self.replaced.insert(digest::STEP.table);
        self.insert(
            UPSERT_STEP,
            params![
                step.index,
                step.connections,
                step.depth,
                step.rate_per_sec,
                (!step.stages.is_empty()).then_some(Json(&step.stages)),
                step.began_ns,
                step.ended_ns,
                step.drained_ns,
                Word(&step.end),
                (!step.generators.is_empty()).then_some(Json(&step.generators))
            ],
        )
    }

    /// Adds a frame: what one worker counted in one interval.
    pub fn frame(&mut self, frame: &Frame) -> Result<(), StoreError> {
        let head = &frame.head;
        let counts = &head.counts;
        self.insert(
            INSERT_FRAME,
            params![
                head.step,
                head.worker,
                head.request,
                head.interval,
                Word(&head.phase),
                head.began_ns,
                head.ended_ns,
                counts.intended,
                counts.sent,
                counts.completed,
                counts.ok,
                counts.bytes_in,
                counts.bytes_out,
                counts.reconnects,
                counts.connects,
                counts.handshakes,
                counts.resumed,
                Json(&counts.status),
                Json(&counts.failed),
                Json(&counts.checks),
                head.in_flight,
                head.backlog,
                head.connections,
                head.time.user_ns,
                head.time.system_ns,
                head.time.starved_ns,
                head.time.stalled_ns,
                frame.latency.as_bytes(),
                frame.unsuccessful.as_bytes(),
                frame.service.as_ref().map(EncodedHistogram::as_bytes),
                frame.send_lag.as_bytes(),
                frame.connect.as_bytes(),
                frame.handshake.as_bytes(),
                (!frame.traces.is_empty()).then_some(Json(&frame.traces)),
            ],
        )
    }

    /// Adds a sample of one source of one host.
    pub fn host_sample(&mut self, sample: &HostSample) -> Result<(), StoreError> {
        let (state, counters, failure) = match &sample.reading {
            Reading::Ok(counters) => ("ok", Some(Json(counters)), None),
            Reading::Absent => ("absent", None, None),
            Reading::Failed(why) => ("failed", None, Some(why)),
        };
        self.insert(
            INSERT_HOST_SAMPLE,
            params![
                sample.host.as_str(),
                sample.source.as_str(),
                sample.subject.as_str(),
                sample.began_ns,
                sample.ended_ns,
                state,
                counters,
                failure
            ],
        )
    }

    /// Adds an event. A failure is stored by its name.
    pub fn event(&mut self, event: &Event) -> Result<(), StoreError> {
        let text = event.failure.map_or(event.text.as_str(), |failure| failure.name());
        self.insert(INSERT_EVENT, params![event.at_ns, Word(&event.kind), text])
    }

    /// Writes a CPU profile: once when it begins, so that its step can be recognised, and again when it is complete.
    pub fn profile(&mut self, profile: &CpuProfile) -> Result<(), StoreError> {
        self.replaced.insert(digest::PROFILE.table);
        let (state, content, failure) = match &profile.outcome {
            ProfileOutcome::UnderWay => ("under_way", None, None),
            ProfileOutcome::Taken(content) => ("taken", Some(content), None),
            ProfileOutcome::Failed(why) => ("failed", None, Some(why)),
        };
        self.insert(
            UPSERT_PROFILE,
            params![
                profile.step,
                profile.source,
                Word(&profile.form),
                profile.began_ns,
                profile.ended_ns,
                state,
                content,
                failure
            ],
        )
    }

    /// Makes everything written so far readable for other processes, and durable if this process dies.
    pub fn commit(&mut self) -> Result<(), StoreError> {
        self.digest()?;
        self.write(|connection| connection.execute_batch("COMMIT; BEGIN"))
    }

    /// Marks the run as ended normally, and moves the log into the file. If the log cannot be moved, returns the reason; the run is then
    /// complete together with its log.
    ///
    /// # Errors
    /// When the end cannot be written.
    pub fn seal(mut self) -> Result<Option<StoreError>, StoreError> {
        self.write(|connection| connection.execute_batch("UPDATE manifest SET sealed = 1"))?;
        self.replaced.insert(digest::MANIFEST.table);
        self.digest()?;
        self.write(|connection| {
            digest::rewrite(connection, digest::DIGEST)?;
            connection.execute_batch("COMMIT")
        })?;
        let log_stays = |error: rusqlite::Error| StoreError::LogStays {
            path: self.path.clone(),
            reason: error.to_string(),
        };
        Ok(fold(&self.connection).err().map(log_stays))
    }

    /// Writes digests of the rows written since the last ones.
    fn digest(&mut self) -> Result<(), StoreError> {
        let (mut digested, replaced) = (self.digested, std::mem::take(&mut self.replaced));
        self.write(|connection| {
            for (part, last) in GROWING.into_iter().zip(&mut digested) {
                *last = digest::write(connection, part, *last)?;
            }
            let replaced = REPLACED.into_iter().filter(|part| replaced.contains(part.table));
            replaced.into_iter().try_for_each(|part| digest::rewrite(connection, part))
        })?;
        self.digested = digested;
        Ok(())
    }

    /// Removes the file, because the run has no data to keep.
    pub fn discard(self) -> Result<(), StoreError> {
        let Self { path, connection, .. } = self;
        drop(connection);
        remove(&path).map_err(|error| error::preparing(&path, &error))
    }

    fn insert(&mut self, sql: &str, values: &[&dyn rusqlite::ToSql]) -> Result<(), StoreError> {
        self.write(|connection| connection.prepare_cached(sql)?.execute(values).map(drop))
    }

    fn write(&mut self, work: impl FnOnce(&Connection) -> rusqlite::Result<()>) -> Result<(), StoreError> {
        if self.stopped {
            return Err(StoreError::Stopped { path: self.path.clone() });
        }
        work(&self.connection).map_err(|error| {
            self.stopped = true;
            error::writing(&self.path, &error)
        })
    }
}

/// Creates an empty file atomically, so that no other process can have created it at the same time.
fn claim(path: &Path, overwrite: bool) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| in_folder(folder, error))?;
    }
    if overwrite {
        remove(path)?;
    }
    OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(path).map(drop)
}

/// Distinguishes a file in place of the folder. That is also `AlreadyExists`, but --force does not help against it.
fn in_folder(folder: &Path, error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::AlreadyExists => io::Error::other(format!("{} is not a folder", folder.display())),
        _ => error,
    }
}

/// Removes a run file and the files that a killed writer left next to it.
fn remove(path: &Path) -> io::Result<()> {
    for ending in ["", "-wal", "-shm", "-journal", session::ENDING] {
        match fs::remove_file(companion(path, ending)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => (),
        }
    }
    Ok(())
}

/// Removes the empty file of a run that could not be started.
fn abandon(path: &Path, error: &rusqlite::Error) -> StoreError {
    match remove(path) {
        // The first error is the one to fix; an empty file that stays behind adds nothing to it.
        Ok(()) | Err(_) => error::writing(path, error),
    }
}

/// Creates the database. The tables and the manifest are written before the log is enabled, so the file alone, moved without its log, is
/// still a run file, if a short one.
fn open(path: &Path, manifest: &Manifest) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.execute_batch("BEGIN")?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.execute_batch(TABLES)?;
    insert_manifest(&connection, manifest)?;
    digest::rewrite(&connection, digest::MANIFEST)?;
    connection.execute_batch("COMMIT")?;
    begin_log(&connection)?;
    connection.execute_batch("PRAGMA synchronous = NORMAL; BEGIN")?;
    Ok(connection)
}

fn reopen(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    begin_log(&connection)?;
    // Takes the write lock immediately, or fails if another process is writing.
    connection.execute_batch("PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE")?;
    Ok(connection)
}

fn under_way(connection: &Connection) -> rusqlite::Result<Option<UnderWay>> {
    let sql = "SELECT step, ended_ns FROM step WHERE under_way = 1 ORDER BY step DESC LIMIT 1";
    connection.query_row(sql, [], |row| Ok(UnderWay { index: row.get(0)?, ends_ns: row.get(1)? })).optional()
}

/// Enables the write-ahead log, or fails. SQLite silently works without it on file systems that cannot share memory. But readers conclude
/// from a missing log that there is no writer.
fn begin_log(connection: &Connection) -> rusqlite::Result<()> {
    let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if mode == "wal" {
        return Ok(());
    }
    let reason = "its file system does not support a write-ahead log".to_owned();
    Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CANTOPEN), Some(reason)))
}

fn insert_manifest(connection: &Connection, manifest: &Manifest) -> rusqlite::Result<()> {
    let values = params![
        manifest.format.major,
        manifest.format.minor,
        manifest.name,
        Word(&manifest.command),
        manifest.command_line,
        manifest.plan,
        manifest.plan_hash,
        manifest.tool_version,
        Json(&manifest.machine),
        Json(&manifest.preflight),
        manifest.driver,
        manifest.protocol,
        manifest.tls.as_ref().map(Json),
        manifest.started_unix_ms,
        Json(&manifest.tags),
    ];
    connection.execute(INSERT_MANIFEST, values).map(drop)
}

/// Moves the content of the write-ahead log into the file, and stops using the log.
///
/// A reader that has the file open prevents this. That is not an error: the run is committed and sealed, and reads the same from two
/// files.
fn fold(connection: &Connection) -> rusqlite::Result<()> {
    let moved = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get("busy"));
    let folded = moved.and_then(|is_busy: bool| match is_busy {
        true => Ok(()),
        false => connection.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(())),
    });
    match folded {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(()),
        folded => folded,
    }
}

#[cfg(test)]
mod tests;
