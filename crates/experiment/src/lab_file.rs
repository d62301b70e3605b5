//! Lab files: where they are, and the cases that are in them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use plimsoll_lab::LabSpec;
use plimsoll_plan::PlanFile;
use plimsoll_units::named;

use crate::ExperimentError;
use crate::input::read_plan_file;

/// Folders that are searched for a lab file by its name alone, below the current folder and each above it.
const PLACES: [&str; 4] = ["lab/experiments", "lab/scenarios", "lab/overload", "lab"];

/// Names the folder of services where it is not next to the lab file.
const SERVICES: &str = "PLIMSOLL_SERVICES";

/// A lab file.
#[derive(Debug, Clone)]
pub struct LabFile {
    /// Its folder, which `${dir}` stands for.
    pub folder: PathBuf,
    pub content: PlanFile,
}

/// One plan of a lab file.
#[derive(Debug, Clone)]
pub struct Case<'a> {
    /// The file's name, and behind a slash that of the variant.
    pub name: String,
    /// The variant; `None` for the file's own plan.
    pub variant: Option<&'a str>,
    pub folder: &'a Path,
    pub file: &'a PlanFile,
}

/// A path, or a name below `lab`.
fn find(named: &str) -> Result<PathBuf, ExperimentError> {
    let path = PathBuf::from(named);
    if path.is_file() {
        return Ok(path);
    }
    let here = std::env::current_dir().map_err(ExperimentError::system("find the current folder"))?;
    let candidates = here.ancestors().flat_map(|above| {
        PLACES.map(|place| above.join(place).join(format!("{}.toml", named.trim_end_matches(".toml"))))
    });
    let mut candidates = candidates.filter(|_| !named.contains('/'));
    candidates.find(|path| path.is_file()).ok_or_else(|| ExperimentError::NoLabFile(named.to_owned()))
}

impl LabFile {
    /// Reads the file of this path, or of this name below `lab`.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn named(named: &str) -> Result<Self, ExperimentError> {
        Self::read(&find(named)?)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, or names a fleet, which makes the load of single runs only.
    pub fn read(path: &Path) -> Result<Self, ExperimentError> {
        let content = read_plan_file(path)?;
        if content.fleet.is_some() {
            return Err(ExperimentError::FleetInLab(path.to_owned()));
        }
        let whole = path.canonicalize().map_err(ExperimentError::file("resolve", path))?;
        let folder = whole.parent().unwrap_or(Path::new("/")).to_owned();
        Ok(Self { folder, content })
    }

    /// The file's own plan and its variants, in a quick pass without those that say `quick = false`.
    pub fn cases(&self, quick: bool) -> Vec<Case<'_>> {
        let own = self.name();
        let passed = self.content.of_pass(quick).map(|(variant, file)| {
            let name = variant.map_or_else(|| own.to_owned(), |variant| format!("{own}/{variant}"));
            Case { name, variant, folder: &self.folder, file }
        });
        passed.collect()
    }

    /// The file's own plan, or a variant by its name.
    ///
    /// # Errors
    /// When there is no such variant.
    pub fn find_case(&self, variant: Option<&str>) -> Result<Case<'_>, ExperimentError> {
        let cases = self.cases(false);
        let names: Vec<&str> = cases.iter().filter_map(|case| case.variant).collect();
        let known =
            if names.is_empty() { "it has none".to_owned() } else { format!("it has {}", named(&names)) };
        cases.into_iter().find(|case| case.variant == variant).ok_or_else(|| ExperimentError::NoVariant {
            file: self.name().to_owned(),
            variant: variant.unwrap_or_default().to_owned(),
            known,
        })
    }

    /// The name of the file's plan.
    pub fn name(&self) -> &str {
        self.content.spec.name.as_deref().unwrap_or("lab")
    }

    /// True if a lab is made for the file or one of its variants.
    pub fn makes_hosts(&self) -> bool {
        self.content.all().any(|(_, file)| file.makes_hosts())
    }
}

impl Case<'_> {
    pub(crate) fn lab(&self) -> LabSpec {
        LabSpec { hosts: self.file.lab_hosts.clone(), generator: self.file.generator }
    }

    /// The name of the variant alone, or that of the file.
    pub fn own_name(&self) -> &str {
        self.variant.unwrap_or(&self.name)
    }

    /// The folder of built services that `${services}` stands for: `PLIMSOLL_SERVICES`, or `services/bin` in the file's
    /// folder or in one of the two above it, where `make services` puts them.
    ///
    /// # Errors
    /// When `PLIMSOLL_SERVICES` names no folder.
    pub(crate) fn services(&self) -> Result<Option<PathBuf>, ExperimentError> {
        services(std::env::var_os(SERVICES), self.folder)
    }
}

/// The folder that is named, or one near the folder of the file. Services start in folders of their own, so that it is absolute.
fn services(named: Option<OsString>, folder: &Path) -> Result<Option<PathBuf>, ExperimentError> {
    let Some(named) = named.filter(|named| !named.is_empty()).map(PathBuf::from) else {
        let mut near = folder.ancestors().take(3).map(|above| above.join("services/bin"));
        return Ok(near.find(|folder| folder.is_dir()));
    };
    match std::path::absolute(&named) {
        Ok(folder) if folder.is_dir() => Ok(Some(folder)),
        _ => Err(ExperimentError::NoServices(named)),
    }
}

/// The lab files of a folder, sorted.
///
/// # Errors
/// When the folder cannot be listed.
pub fn files_in(folder: &Path) -> Result<Vec<PathBuf>, ExperimentError> {
    let listed = std::fs::read_dir(folder).and_then(|entries| {
        entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<PathBuf>>>()
    });
    let mut files = listed.map_err(ExperimentError::file("list the folder", folder))?;
    files.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_services_is_absolute_and_there() {
        let found =
            |named: Option<&str>, folder: &str| services(named.map(OsString::from), Path::new(folder));
        // Tests run in the folder of their crate.
        let own = std::env::current_dir().unwrap().join("src");
        assert_eq!(found(Some("src"), "/").unwrap(), Some(own));
        assert!(matches!(found(Some("no-such-folder"), "/"), Err(ExperimentError::NoServices(_))));
        assert_eq!((found(None, "/").unwrap(), found(Some(""), "/").unwrap()), (None, None));
    }
}
