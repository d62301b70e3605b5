//! The page of a run: where it is written, and the flag that asks for it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use plimsoll_analyze::{Findings, timeline};
use plimsoll_record::Run;
use plimsoll_report::json::{PageDocument, PageRunDocument};
use plimsoll_report::{Values, html};

use crate::exit::UsageError;
use crate::files::{Output, Written};

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct HtmlArgs {
    /// Write a page as well, one file that is read without a network: FILE, or NAME.html next to the run file
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    html: Option<Option<PathBuf>>,
}

/// Where a page goes.
#[derive(Debug)]
pub(crate) struct PagePlace {
    folder: PathBuf,
    name: String,
}

impl HtmlArgs {
    /// Where the page goes, if one is asked for; `usual` is the folder and the stem where no file is named.
    ///
    /// # Errors
    /// When no file is named and there is no folder, or the name is no text.
    pub(crate) fn place(&self, usual: Option<(&Path, &str)>) -> anyhow::Result<Option<PagePlace>> {
        let Some(asked) = &self.html else { return Ok(None) };
        let Some(file) = asked else {
            let missing = || UsageError("nothing else is written, so name the page: --html FILE".to_owned());
            let (folder, stem) = usual.ok_or_else(missing)?;
            return Ok(Some(PagePlace { folder: folder.to_owned(), name: format!("{stem}.html") }));
        };
        let name = file.file_name().map(OsString::from).and_then(|name| name.into_string().ok());
        let name = name.ok_or_else(|| UsageError(format!("--html {}: name a file", file.display())))?;
        let folder = file.parent().filter(|parent| !parent.as_os_str().is_empty());
        Ok(Some(PagePlace { folder: folder.unwrap_or(Path::new(".")).to_owned(), name }))
    }
}

impl PagePlace {
    /// Writes the page of these runs.
    pub(crate) fn write(self, runs: &[(&Run, &Findings)], values: Values, force: bool) -> Written {
        let page = page(runs, values).map(|page| vec![Output::new(self.name, page)]);
        Written::to(&self.folder, page, force)
    }
}

fn page(runs: &[(&Run, &Findings)], values: Values) -> anyhow::Result<String> {
    let of_run = |(run, findings): &(&Run, &Findings)| -> anyhow::Result<PageRunDocument> {
        Ok(PageRunDocument::new(run, findings, &timeline(run)?, values))
    };
    let runs = runs.iter().map(of_run).collect::<anyhow::Result<_>>()?;
    Ok(html(&PageDocument::new(runs))?)
}
