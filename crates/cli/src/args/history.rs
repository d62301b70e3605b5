//! Flags about the place of a run in a history: tags, and the store of a team.

use std::env;

use plimsoll_history::StoreAddress;
use plimsoll_record::{Tag, Tags};

use crate::exit::UsageError;
use crate::git;

/// The environment variable that names the store if no flag does.
const STORE_VARIABLE: &str = "PLIMSOLL_STORE";
/// The value that turns off the store of the variable.
const NO_STORE: &str = "none";

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct TagArgs {
    /// Tag the run with `key=value`, or a word; may be given several times. In a git checkout Plimsoll adds `commit`, and
    /// `dirty` after changes
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<Tag>,
    /// Do not ask git for the commit
    #[arg(long)]
    no_git: bool,
}

impl TagArgs {
    /// Returns the tags of a run that begins now. Tags of the command line override those of git.
    pub(crate) fn tags(&self) -> Tags {
        let of_git = if self.no_git { Vec::new() } else { git::tags() };
        of_git.into_iter().chain(self.tags.iter().cloned()).collect()
    }
}

/// Tags and store of each of the runs that a command makes.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Each run")]
pub(crate) struct HistoryArgs {
    #[command(flatten)]
    pub(crate) tags: TagArgs,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

impl HistoryArgs {
    /// Refuses these flags for a command that makes no run.
    pub(crate) fn of_no_run(&self) -> anyhow::Result<()> {
        if self.tags.tags.is_empty() && !self.store.is_given() {
            return Ok(());
        }
        let text = "no run is made here: `plimsoll runs tag` tags runs that are there, `plimsoll runs --deliver=all` stores them";
        Err(UsageError(text.to_owned()).into())
    }
}

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct StoreArgs {
    /// The PostgreSQL of a team, postgres://user@host/database; password in PGPASSWORD or ~/.pgpass. A run that it cannot take now is
    /// delivered later [default: $PLIMSOLL_STORE; `none` for none]
    #[arg(long, value_name = "URL")]
    store: Option<String>,
}

impl StoreArgs {
    /// Returns the store of the flag, or else of the environment; `None` if neither names one.
    pub(crate) fn address(&self) -> anyhow::Result<Option<StoreAddress>> {
        let (place, text) = match &self.store {
            Some(text) => ("--store", text.clone()),
            None => (STORE_VARIABLE, env::var(STORE_VARIABLE).unwrap_or_default()),
        };
        if text.is_empty() || text == NO_STORE {
            return Ok(None);
        }
        let address = text.parse().map_err(|error| UsageError(format!("{place}: {error}")))?;
        Ok(Some(address))
    }

    /// Returns the store, or an error if none is named.
    pub(crate) fn required(&self) -> anyhow::Result<StoreAddress> {
        let missing = || {
            UsageError(format!("name a store: --store postgres://user@host/database, or {STORE_VARIABLE}"))
        };
        Ok(self.address()?.ok_or_else(missing)?)
    }

    /// True if the flag names a store.
    pub(crate) fn is_given(&self) -> bool {
        self.store.as_ref().is_some_and(|store| store != NO_STORE)
    }
}
