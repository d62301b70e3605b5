//! `plimsoll lab list`: the lab files there are.

use std::path::PathBuf;

use anyhow::Context;
use plimsoll_plan::PlanFile;

use super::file::{LabFile, files_in};
use super::table::{aligned, words};
use crate::args::ListArgs;
use crate::exit::Exit;
use crate::terminal::{remark, result, with_causes};

/// The folder of lab files where none is named, in the current folder or one above, as names of files are looked for.
const FOLDER: &str = "lab";

pub(super) fn list(args: &ListArgs) -> anyhow::Result<Exit> {
    let folder = folder(args)?;
    let folders = [folder.clone(), folder.join("experiments"), folder.join("scenarios")];
    let mut rows = Vec::new();
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        for path in files_in(folder)? {
            match LabFile::read(&path) {
                Ok(file) => rows.push(row(file.name(), &file.content)),
                Err(error) => remark(&format!("{}: {}", path.display(), with_causes(&error))),
            }
        }
    }
    if rows.is_empty() {
        remark(&format!("no lab files in {}; their names end in .toml", folder.display()));
        return Ok(Exit::Held);
    }
    rows.insert(0, ["name", "hosts", "expects", "variants"].map(ToOwned::to_owned));
    result(&aligned(&rows, &[]))?;
    Ok(Exit::Held)
}

fn folder(args: &ListArgs) -> anyhow::Result<PathBuf> {
    if let Some(folder) = &args.folder {
        return Ok(folder.clone());
    }
    let here = std::env::current_dir().context("could not tell the current folder")?;
    let above = here.ancestors().map(|folder| folder.join(FOLDER)).find(|folder| folder.is_dir());
    Ok(above.unwrap_or_else(|| PathBuf::from(FOLDER)))
}

/// A file's name, its hosts, what it expects, and the names of its variants.
fn row(name: &str, file: &PlanFile) -> [String; 4] {
    let hosts: Vec<&str> = file.lab_hosts.iter().map(|host| host.name.as_str()).collect();
    let variants: Vec<&str> = file.variants.iter().map(|variant| variant.name.as_str()).collect();
    let expected = file.expect.as_ref().map(words).unwrap_or_default();
    [name.to_owned(), hosts.join(", "), expected, variants.join(", ")]
}
