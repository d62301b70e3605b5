//! `plimsoll lab list`: the lab files there are.

use plimsoll_plan::PlanFile;

use super::file::{LabFile, files_in};
use super::table::words;
use crate::args::ListArgs;
use crate::exit::Exit;
use crate::terminal::{remark, result, with_causes};

pub(super) fn list(args: &ListArgs) -> anyhow::Result<Exit> {
    let folders = [args.folder.clone(), args.folder.join("experiments"), args.folder.join("scenarios")];
    let mut lines = String::new();
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        for path in files_in(folder)? {
            lines += &match LabFile::read(&path) {
                Ok(file) => line(file.name(), &file.content),
                Err(error) => format!("{}: {}\n", path.display(), with_causes(&error)),
            };
        }
    }
    if lines.is_empty() {
        remark(&format!("no lab files in {}; their names end in .toml", args.folder.display()));
    }
    result(&lines)?;
    Ok(Exit::Held)
}

/// One line a file: its name, its hosts, how many variants, what it expects.
fn line(name: &str, file: &PlanFile) -> String {
    let hosts: Vec<&str> = file.lab_hosts.iter().map(|host| host.name.as_str()).collect();
    let variants = match file.variants.len() {
        0 => String::new(),
        1 => ", 1 variant".to_owned(),
        count => format!(", {count} variants"),
    };
    let expected =
        file.expect.as_ref().map_or_else(String::new, |expected| format!("  expects {}", words(expected)));
    format!("{name:<28}  {}{variants}{expected}\n", hosts.join(", "))
}
