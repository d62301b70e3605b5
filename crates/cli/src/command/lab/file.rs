//! Lab files: where they are, and the cases that are in them.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use plimsoll_lab::LabSpec;
use plimsoll_plan::PlanFile;

use crate::args::plan_file;

/// Where a lab file is looked for by its name alone, below each folder from the current one upwards.
const PLACES: [&str; 3] = ["lab/experiments", "lab/scenarios", "lab"];

/// Names the folder of services where it is not beside the lab file.
const SERVICES: &str = "PLIMSOLL_SERVICES";

/// A lab file.
#[derive(Debug, Clone)]
pub(crate) struct LabFile {
    /// Its folder, which `${dir}` stands for.
    pub(super) folder: PathBuf,
    pub(super) content: PlanFile,
}

/// One plan of a lab file, to be run in a lab.
#[derive(Debug)]
pub(super) struct Case<'a> {
    /// The file's name, and behind a slash that of the variant.
    pub(super) name: String,
    pub(super) folder: &'a Path,
    pub(super) file: &'a PlanFile,
}

/// The file that is meant: a path, or a name below `lab`.
fn path_of(named: &str) -> anyhow::Result<PathBuf> {
    let path = PathBuf::from(named);
    if path.is_file() {
        return Ok(path);
    }
    let here = std::env::current_dir().context("could not tell the current folder")?;
    let candidates = here.ancestors().flat_map(|above| {
        PLACES.map(|place| above.join(place).join(format!("{}.toml", named.trim_end_matches(".toml"))))
    });
    match candidates.filter(|_| !named.contains('/')).find(|path| path.is_file()) {
        Some(path) => Ok(path),
        None => bail!("there is no lab file `{named}`; name one that is there, or see `plimsoll lab list`"),
    }
}

impl LabFile {
    /// Reads the file that is meant.
    pub(super) fn named(named: &str) -> anyhow::Result<Self> {
        Self::read(&path_of(named)?)
    }

    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let content = plan_file::read(path)?;
        let whole = path.canonicalize().with_context(|| path.display().to_string())?;
        let folder = whole.parent().unwrap_or(Path::new("/")).to_owned();
        Ok(Self { folder, content })
    }

    /// The file's own plan and its variants, those that a pass makes.
    pub(super) fn cases(&self, quick: bool) -> Vec<Case<'_>> {
        let of = |(variant, file): (Option<&str>, _)| {
            let name = self.name();
            let name = variant.map_or_else(|| name.to_owned(), |variant| format!("{name}/{variant}"));
            Case { name, folder: &self.folder, file }
        };
        self.content.of_pass(quick).map(of).collect()
    }

    pub(super) fn name(&self) -> &str {
        self.content.spec.name.as_deref().unwrap_or("lab")
    }
}

impl Case<'_> {
    /// The hosts that are made for it.
    pub(super) fn lab(&self) -> LabSpec {
        LabSpec { hosts: self.file.lab_hosts.clone(), generator: self.file.generator }
    }

    /// The name of the variant alone, or that of the file.
    pub(super) fn own_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// The folder of built services that `${services}` stands for: named by the environment, or where `make services`
    /// puts them, beside the file's folder or one above.
    pub(super) fn services(&self) -> Option<PathBuf> {
        let named = std::env::var_os(SERVICES).map(PathBuf::from);
        let beside = self.folder.ancestors().take(3).map(|above| above.join("services/bin"));
        named.into_iter().chain(beside).find(|folder| folder.is_dir())
    }
}

/// The lab files of a folder, by their names.
pub(super) fn files_in(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| {
        format!("could not list the folder {}; name one with lab files", folder.display())
    })?;
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "toml")).collect();
    files.sort();
    Ok(files)
}
