//! `plimsoll lab list`: experiments, scenarios and other lab files.

use std::path::{Path, PathBuf};

use anyhow::Context;
use plimsoll_experiment::{LabFile, files_in};
use plimsoll_plan::PlanFile;

use super::table::{aligned, words};
use crate::exit::Exit;
use crate::terminal::{remark, result, with_causes};

#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// The folder of lab files, with its folders `experiments` and `scenarios` [default: `lab`, here or in a folder above]
    folder: Option<PathBuf>,
}

/// The default folder of lab files, in the current folder or in one above.
const FOLDER: &str = "lab";

/// Each section's subfolder and title, and how its files are run by their names.
const SECTIONS: [(&str, &str, &str); 3] = [
    ("experiments", "Experiments", "plimsoll lab run NAME, with --quick for a first look"),
    ("scenarios", "Scenarios", "plimsoll lab run NAME, or plimsoll lab diagnose for all of them"),
    ("", "Lab files", "plimsoll lab run NAME"),
];

pub(super) fn list(args: &ListArgs) -> anyhow::Result<Exit> {
    let folder = folder(args)?;
    let mut sections = Vec::new();
    for (below, title, command) in SECTIONS {
        // Files of another folder cannot be found by their names alone.
        let heading = if args.folder.is_none() { format!("{title} ({command})") } else { title.to_owned() };
        let files = files(&folder.join(below))?;
        sections.extend((!files.is_empty()).then(|| format!("{heading}\n{}", entries(&files))));
    }
    if sections.is_empty() {
        remark(&format!("no lab files in {}; their names end in .toml", folder.display()));
        return Ok(Exit::Success);
    }
    result(&sections.join("\n"))?;
    Ok(Exit::Success)
}

fn folder(args: &ListArgs) -> anyhow::Result<PathBuf> {
    if let Some(folder) = &args.folder {
        return Ok(folder.clone());
    }
    let here = std::env::current_dir().context("could not find the current folder")?;
    let above = here.ancestors().map(|folder| folder.join(FOLDER)).find(|folder| folder.is_dir());
    Ok(above.unwrap_or_else(|| PathBuf::from(FOLDER)))
}

/// Reads the lab files of a folder, if it exists. One that cannot be read is reported on standard error.
fn files(folder: &Path) -> anyhow::Result<Vec<LabFile>> {
    let paths = if folder.is_dir() { files_in(folder)? } else { Vec::new() };
    let read = |path: PathBuf| match LabFile::read(&path) {
        Ok(file) => Some(file),
        Err(error) => {
            remark(&with_causes(&error));
            None
        }
    };
    Ok(paths.into_iter().filter_map(read).collect())
}

/// Formats the files with an `about` line, then the others as a table.
fn entries(files: &[LabFile]) -> String {
    let mut text = String::new();
    let mut rows = vec![["name", "expects"].map(ToOwned::to_owned)];
    for file in files {
        match &file.content.about {
            Some(about) => text += &format!("  {}: {}\n    {about}\n", file.name(), counts(&file.content)),
            None => rows.push([file.name().to_owned(), expected(&file.content)]),
        }
    }
    if rows.len() > 1 {
        text.extend(aligned(&rows, &[]).lines().map(|line| format!("  {line}\n")));
    }
    text
}

/// Describes how many hosts, runs and switches a file has.
fn counts(file: &PlanFile) -> String {
    let (whole, quick) = (file.of_pass(false).count(), file.of_pass(true).count());
    let mut parts = vec![counted(file.lab_hosts.len(), ["host", "hosts"]), counted(whole, ["run", "runs"])];
    if quick < whole {
        parts.push(format!("{quick} of them with --quick"));
    }
    if !file.switches.is_empty() {
        parts.push(counted(file.switches.len(), ["switch", "switches"]));
    }
    parts.join(", ")
}

fn counted(count: usize, [one, several]: [&str; 2]) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

fn expected(file: &PlanFile) -> String {
    file.expect.as_ref().map(words).unwrap_or_default()
}
