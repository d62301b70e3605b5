//! `plimsoll runs`: the recorded runs of a folder and of a store, their tags, and their delivery to the store.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use anyhow::Context as _;
use plimsoll_analyze::RunEntry;
use plimsoll_history::{
    FolderRun, FolderRuns, HistoryError, NotesError, RunFilter, RunFolder, RunNotes, RunOrder, StoreAddress,
    StoredRuns, TeamStore, deliver, parse_instant, waiting,
};
use plimsoll_record::{Tag, TagChanges, Tags};
use plimsoll_report::{json, text};
use plimsoll_store::StoreError;
use plimsoll_units::{grouped, unix_ms};

use crate::args::StoreArgs;
use crate::args::values::{self, RUNS_FOLDER};
use crate::delivery::{self, build};
use crate::exit::{Exit, UsageError};
use crate::files;
use crate::signals;
use crate::terminal::{columns, print, remark, report_error, with_causes};

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(before_help = "\
Examples:
  # The newest runs; other commands take them as `last` and `last~N`
  plimsoll runs
  # Filters and sorting
  plimsoll runs --match checkout --since 7d --limit cpu
  plimsoll runs --tag commit=4f2a91c --sort p99 --json
  # Tags given later; --untag KEY takes one away
  plimsoll runs tag last baseline release=1.4
  # With the runs of the team; deliver what is still to be delivered; fetch one
  plimsoll runs --store postgres://ann@db/perf
  plimsoll runs --store postgres://ann@db/perf --deliver
  plimsoll runs fetch checkout-20261118-100200 --store postgres://ann@db/perf")]
pub(crate) struct RunsArgs {
    #[command(subcommand)]
    action: Option<RunsAction>,
    /// The folder of run files
    #[arg(default_value = RUNS_FOLDER)]
    folder: PathBuf,
    #[command(flatten)]
    filter: FilterArgs,
    /// Only runs with this limit, such as cpu, pool or bandwidth
    #[arg(long, value_name = "LIMIT")]
    limit: Option<String>,
    /// The order: age, qps, p99 or name
    #[arg(long, value_name = "ORDER", default_value = "age", hide_default_value = true)]
    sort: RunOrder,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
    /// Deliver the runs that wait for the store, or all that it does not have
    #[arg(
        long,
        value_name = "WHICH",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "waiting",
        conflicts_with = "json"
    )]
    deliver: Option<Deliver>,
    #[command(flatten)]
    store: StoreArgs,
}

/// Which runs of the folder are delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Deliver {
    /// Those made with --store that it could not take
    Waiting,
    /// Every run of the folder that ended in order
    All,
}

#[derive(Debug, clap::Subcommand)]
enum RunsAction {
    /// Add tags to a run, or remove them; its file is not changed
    Tag(TagRunArgs),
    /// Copy a run of the store into a folder, for `report`, `explain` and the others
    Fetch(FetchArgs),
}

#[derive(Debug, clap::Args)]
struct TagRunArgs {
    /// A run file; `last` is the newest; `store:NAME` a run of the store
    #[arg(value_parser = values::run_file())]
    run: PathBuf,
    /// Tags: `key=value`, or words
    #[arg(required_unless_present = "untag")]
    tags: Vec<Tag>,
    /// Remove the tag with this key; may be given several times
    #[arg(long, value_name = "KEY")]
    untag: Vec<String>,
    #[command(flatten)]
    store: StoreArgs,
}

#[derive(Debug, clap::Args)]
struct FetchArgs {
    /// The name of the run's file, or the first eight letters of its id or more
    run: String,
    /// The folder for the copy
    #[arg(short, long, value_name = "DIR", default_value = RUNS_FOLDER)]
    out: PathBuf,
    #[command(flatten)]
    store: StoreArgs,
}

/// Which runs are listed or followed.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Which runs")]
pub(crate) struct FilterArgs {
    /// Only runs with this text in their name or URL
    #[arg(long = "match", value_name = "TEXT")]
    pub(crate) text: Option<String>,
    /// Only runs with this tag: `key=value`, or `key` with any value; may be given several times
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<Tag>,
    /// Only runs since this time: 90min, 12h, 7d, 2w ago, or a date in UTC, 2026-11-01
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Only runs until this time
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,
    /// Only runs of this command: answer, search, overload, sweep, run or lab
    #[arg(long, value_name = "COMMAND")]
    command: Option<String>,
    /// Only runs whose load this host made
    #[arg(long, value_name = "HOST")]
    machine: Option<String>,
    /// At most N runs, the first in order
    #[arg(short, value_name = "N")]
    number: Option<usize>,
}

impl FilterArgs {
    pub(crate) fn filter(&self, limit: Option<&String>) -> anyhow::Result<RunFilter> {
        let now_unix_ms = unix_ms();
        let instant = |text: &Option<String>, ends| {
            let parsed = text.as_ref().map(|text| parse_instant(text, now_unix_ms, ends));
            parsed.transpose().map_err(UsageError)
        };
        Ok(RunFilter {
            text: self.text.clone(),
            target: None,
            tags: self.tags.clone(),
            since_unix_ms: instant(&self.since, false)?,
            until_unix_ms: instant(&self.until, true)?,
            command: self.command.clone(),
            limit: limit.cloned(),
            hostname: self.machine.clone(),
        })
    }

    pub(crate) fn number(&self) -> Option<usize> {
        self.number
    }
}

/// A row of the list.
#[derive(Debug)]
struct Row {
    name: String,
    is_stored: bool,
    file: String,
    entry: Result<RunEntry, String>,
    damaged_in_part: bool,
}

pub(crate) fn runs(args: &RunsArgs) -> anyhow::Result<Exit> {
    match &args.action {
        Some(RunsAction::Tag(args)) => tag(args),
        Some(RunsAction::Fetch(args)) => fetch(args),
        None => match args.deliver {
            Some(which) => deliver_from(args, which),
            None => list(args),
        },
    }
}

fn list(args: &RunsArgs) -> anyhow::Result<Exit> {
    let filter = args.filter.filter(args.limit.as_ref())?;
    let is_usual = args.folder == Path::new(RUNS_FOLDER);
    let mut listed = folder_runs(&args.folder)?;
    let store = args.store.address()?;
    let others = store.and_then(|store| other_runs(&store, &mut listed.runs, "shown"));
    let mut rows = rows_of_folder(listed, is_usual);
    rows.extend(others.into_iter().flat_map(|stored| stored.runs).map(row_of_store));
    let all = rows.len();
    keep_matching(&mut rows, &filter);
    args.sort.sort(&mut rows, |row| row.entry.as_ref().ok());
    rows.truncate(args.filter.number().unwrap_or(usize::MAX));
    if rows.is_empty() {
        remark(&nothing_listed(all, &args.folder));
        if !args.json {
            return Ok(Exit::Success);
        }
    }
    print(args.json, || json::render(&document(&rows)), || table(&rows, is_usual))?;
    remark_on_future(rows.iter().filter_map(|row| row.entry.as_ref().ok()));
    Ok(Exit::Success)
}

fn keep_matching(rows: &mut Vec<Row>, filter: &RunFilter) {
    rows.retain(|row| matches(&row.entry, filter));
}

/// Returns true if a run matches; one that cannot be read matches only an empty filter.
fn matches<E>(entry: &Result<RunEntry, E>, filter: &RunFilter) -> bool {
    entry.as_ref().map_or(*filter == RunFilter::default(), |run| filter.holds(run))
}

/// Returns the runs that match, newest first, as `plimsoll runs --json` lists them.
pub(super) fn matching(runs: FolderRuns, filter: &RunFilter) -> json::RunsDocument {
    let mut rows = rows_of_folder(runs, false);
    keep_matching(&mut rows, filter);
    document(&rows)
}

/// Explains why a list is empty; `all` is the number of runs before the filter.
fn nothing_listed(all: usize, folder: &Path) -> String {
    match all {
        0 => format!("no run files in {}; `plimsoll run URL` makes one", folder.display()),
        1 => "the only run does not match; `plimsoll runs` shows it".to_owned(),
        _ => format!("none of {all} runs matches; `plimsoll runs` shows them"),
    }
}

fn document(rows: &[Row]) -> json::RunsDocument {
    let readable: Vec<RunEntry> = rows.iter().filter_map(|row| row.entry.as_ref().ok().cloned()).collect();
    let unreadable =
        |row: &Row| Some((row.file.clone(), row.entry.as_ref().err()?.clone(), row.damaged_in_part));
    let unreadable: Vec<(String, String, bool)> = rows.iter().filter_map(unreadable).collect();
    json::RunsDocument::new(&readable, &unreadable)
}

fn table(rows: &[Row], has_names: bool) -> String {
    let listed: Vec<text::ListedRun<'_>> = rows
        .iter()
        .map(|row| text::ListedRun {
            name: row.name.clone(),
            is_stored: row.is_stored,
            file: &row.file,
            entry: row.entry.as_ref().map_err(Clone::clone),
        })
        .collect();
    let columns = columns().unwrap_or(usize::MAX);
    text::runs(&listed, text::RunsPage { columns, has_names, now_unix_ms: unix_ms() })
}

/// Returns the runs of a folder, and reports its errors; none if the folder does not exist yet.
pub(super) fn folder_runs(folder: &Path) -> anyhow::Result<FolderRuns> {
    let listed = read_folder(folder)?;
    listed.trouble.iter().for_each(|trouble| report_error(trouble));
    Ok(listed)
}

/// As [`folder_runs`], but leaves the errors to the caller.
pub(super) fn read_folder(folder: &Path) -> Result<FolderRuns, StoreError> {
    match RunFolder::new(folder, &build()).runs() {
        Err(StoreError::Missing { .. }) => Ok(FolderRuns::default()),
        listed => listed,
    }
}

fn rows_of_folder(listed: FolderRuns, has_names: bool) -> Vec<Row> {
    let row = |(before, run): (usize, FolderRun)| {
        let name = match (run.started_unix_ms.filter(|_| has_names), before) {
            (None, _) => String::new(),
            (Some(_), 0) => "last".to_owned(),
            (Some(_), before) => format!("last~{before}"),
        };
        let file = run.path.file_name().unwrap_or(run.path.as_os_str()).to_string_lossy().into_owned();
        let damaged_in_part = matches!(run.entry, Err(HistoryError::PartlyDamaged { .. }));
        let entry = run.entry.map_err(|error| with_causes(&error));
        Row { name, is_stored: false, file, entry, damaged_in_part }
    };
    // Runs without a start come last, so that the position of a run is its name.
    listed.runs.into_iter().enumerate().map(row).collect()
}

fn row_of_store(run: RunEntry) -> Row {
    let (name, file) = ("store".to_owned(), run.file.clone());
    Row { name, is_stored: true, file, entry: Ok(run), damaged_in_part: false }
}

/// Reports how many runs begin in the future: a wrong clock makes them the newest.
pub(super) fn remark_on_future<'a>(runs: impl Iterator<Item = &'a RunEntry>) {
    let now_unix_ms = unix_ms();
    let (begin, machine, count) = match runs.filter(|run| run.started_unix_ms > now_unix_ms).count() {
        0 => return,
        1 => ("1 run begins".to_owned(), "its machine", "it counts"),
        count => (format!("{count} runs begin"), "their machines", "they count"),
    };
    remark(&format!(
        "plimsoll: {begin} in the future: see the clock of {machine}; until then {count} as the newest there"
    ));
}

/// Returns the runs of a store that are not in the folder; `None`, with a message, if the store is unavailable. Runs in both get
/// their tags from the store, unless it still lacks tags from here. `done` completes the message: `shown`, `judged`.
pub(super) fn other_runs(store: &StoreAddress, local: &mut [FolderRun], done: &str) -> Option<StoredRuns> {
    let mut stored = store_runs(store, done)?;
    let tags_by_id = |run: &RunEntry| Some((run.id.clone()?, run.tags.clone()));
    let tags: BTreeMap<String, Tags> = stored.runs.iter().filter_map(tags_by_id).collect();
    let mut known = BTreeSet::new();
    for run in local {
        let Ok(entry) = &mut run.entry else { continue };
        let Some((id, tags)) = entry.id.as_ref().and_then(|id| tags.get_key_value(id)) else { continue };
        known.insert(id);
        let is_up_to_date = |notes: RunNotes| notes.unsent_to(store.name()) == TagChanges::default();
        if RunNotes::read(&run.path).is_ok_and(is_up_to_date) {
            entry.tags.clone_from(tags);
        }
    }
    stored.runs.retain(|run| run.id.as_ref().is_none_or(|id| !known.contains(id)));
    Some(stored)
}

/// Reads all runs of a store; `None`, with a message, if it is unavailable.
fn store_runs(store: &StoreAddress, done: &str) -> Option<StoredRuns> {
    let stored = match TeamStore::connect(store).and_then(|open| open.runs()) {
        Ok(stored) => stored,
        Err(error) => {
            remark(&format!("plimsoll: only the runs of this machine are {done}: {}", with_causes(&error)));
            return None;
        }
    };
    let unknown = stored.unknown_unix_ms.len();
    if unknown > 0 {
        remark(&format!(
            "plimsoll: {unknown} runs of {} were delivered by another version and are not {done}; use that one, or fetch them",
            store.name()
        ));
    }
    if stored.is_cut {
        remark(&format!(
            "plimsoll: only the newest {} runs of {} are read; it has older ones",
            grouped((stored.runs.len() + unknown) as u64),
            store.name()
        ));
    }
    Some(stored)
}

fn deliver_from(args: &RunsArgs, which: Deliver) -> anyhow::Result<Exit> {
    let store = args.store.required()?;
    let filter = args.filter.filter(args.limit.as_ref())?;
    let interrupted = signals::interrupted()?;
    let runs = runs_to_deliver(args, &filter, &store, which)?;
    if runs.is_empty() {
        let matching = if filter == RunFilter::default() { "" } else { " that matches" };
        remark(&format!("no run of {}{matching} waits for {}", args.folder.display(), store.name()));
    }
    let delivery = deliver(runs, &store, &interrupted);
    delivery::say(&delivery, &store, false);
    let is_interrupted = delivery.waiting > 0 && interrupted.load(Ordering::Relaxed);
    Ok(Exit::of_all(delivery.waiting == 0 && delivery.dropped.is_empty(), is_interrupted))
}

/// Returns the runs of the folder that match and either wait for the store or, with [`Deliver::All`], ended in order; at most
/// the number that was asked for.
fn runs_to_deliver(
    args: &RunsArgs,
    filter: &RunFilter,
    store: &StoreAddress,
    which: Deliver,
) -> anyhow::Result<Vec<PathBuf>> {
    let mut runs = folder_runs(&args.folder)?.runs;
    match which {
        Deliver::Waiting => {
            let waiting = waiting(&RunFolder::new(&args.folder, &build()), store)?;
            runs.retain(|run| waiting.contains(&run.path));
        }
        Deliver::All => runs.retain(|run| run.entry.as_ref().is_ok_and(RunEntry::is_sealed)),
    }
    runs.retain(|run| matches(&run.entry, filter));
    args.sort.sort(&mut runs, |run| run.entry.as_ref().ok());
    runs.truncate(args.filter.number().unwrap_or(usize::MAX));
    Ok(runs.into_iter().map(|run| run.path).collect())
}

fn tag(args: &TagRunArgs) -> anyhow::Result<Exit> {
    let change = |changes: &mut TagChanges| {
        args.untag.iter().for_each(|key| changes.unset(key));
        args.tags.iter().for_each(|tag| changes.set(tag.clone()));
    };
    if let Some(run) = args.run.to_str().and_then(|run| run.strip_prefix("store:")) {
        let mut changes = TagChanges::default();
        change(&mut changes);
        TeamStore::connect(&args.store.required()?)?.change_tags(run, &changes)?;
        return Ok(Exit::Success);
    }
    let store = args.store.address()?;
    plimsoll_store::summarize(&args.run)?;
    RunNotes::change(&args.run, |notes| notes.change_tags(change))?;
    // A store of the environment gets the tags only of runs that are meant for it.
    let is_for = |store: &StoreAddress| {
        Ok::<_, NotesError>(args.store.is_given() || RunNotes::read(&args.run)?.is_for(store.name()))
    };
    if let Some(store) = store
        && is_for(&store)?
    {
        let interrupted = signals::interrupted()?;
        delivery::hand_over(&args.run, &store, true, &interrupted);
    }
    Ok(Exit::Success)
}

fn fetch(args: &FetchArgs) -> anyhow::Result<Exit> {
    let store = args.store.required()?;
    let file = TeamStore::connect(&store)?.file(&args.run)?;
    // The name that a store gives must not be used as a path.
    let name = Path::new(&file.name).file_name().map(ToOwned::to_owned);
    let path = args.out.join(name.unwrap_or_else(|| "run.plimsoll".into()));
    if path.exists() {
        return Err(
            UsageError(format!("{} exists already; name another folder with -o", path.display())).into()
        );
    }
    let written =
        std::fs::create_dir_all(&args.out).and_then(|()| files::write_private(&path, &file.content));
    written.with_context(|| format!("could not write {}; is its folder writable?", path.display()))?;
    // A file of a newer version cannot be read here: then every tag of the store counts as set later.
    let recorded = plimsoll_store::read(&path).map(|run| run.manifest.tags).unwrap_or_default();
    RunNotes::change(&path, |notes| *notes = RunNotes::of_copy(&file, store.name(), &recorded))?;
    remark(&format!("wrote {}", path.display()));
    Ok(Exit::Success)
}
