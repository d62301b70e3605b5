//! Lab files: finds and reads them, and lists their cases.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use plimsoll_lab::LabSpec;
use plimsoll_plan::PlanFile;
use plimsoll_units::named;

use crate::ExperimentError;
use crate::input::read_plan_file;

/// Folders to search for a lab file by its bare name, relative to the current folder and each of its parents.
const PLACES: [&str; 4] = ["lab/experiments", "lab/scenarios", "lab/overload", "lab"];

/// The environment variable with the folder of services, if that is not near the lab file.
const SERVICES: &str = "PLIMSOLL_SERVICES";

/// A lab file.
#[derive(Debug, Clone)]
pub struct LabFile {
    /// The folder of the file, which `${dir}` stands for.
    pub folder: PathBuf,
    pub content: PlanFile,
}

/// One plan of a lab file.
#[derive(Debug, Clone)]
pub struct Case<'a> {
    /// The file's name, followed by a slash and the variant's name if there is a variant.
    pub name: String,
    /// The variant; `None` for the file's own plan.
    pub variant: Option<&'a str>,
    pub folder: &'a Path,
    pub file: &'a PlanFile,
}

/// Returns a path to a lab file, given as a path or as a name below `lab`.
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
    /// Reads the file at this path, or with this name below `lab`.
    ///
    /// # Errors
    /// When there is no such file, or it cannot be read.
    pub fn named(named: &str) -> Result<Self, ExperimentError> {
        Self::read(&find(named)?)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, or names a fleet; a fleet makes only the load of single runs.
    pub fn read(path: &Path) -> Result<Self, ExperimentError> {
        let content = read_plan_file(path)?;
        if content.fleet.is_some() {
            return Err(ExperimentError::FleetInLab(path.to_owned()));
        }
        let whole = path.canonicalize().map_err(ExperimentError::file("resolve", path))?;
        let folder = whole.parent().unwrap_or(Path::new("/")).to_owned();
        Ok(Self { folder, content })
    }

    /// The file's own plan and its variants; a quick pass leaves out those with `quick = false`.
    pub fn cases(&self, quick: bool) -> Vec<Case<'_>> {
        let own = self.name();
        let passed = self.content.of_pass(quick).map(|(variant, file)| {
            let name = variant.map_or_else(|| own.to_owned(), |variant| format!("{own}/{variant}"));
            Case { name, variant, folder: &self.folder, file }
        });
        passed.collect()
    }

    /// The file's own plan for `None`, or a variant by its name.
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

    /// True if the file or one of its variants needs a lab.
    pub fn makes_hosts(&self) -> bool {
        self.content.all().any(|(_, file)| file.makes_hosts())
    }
}

impl Case<'_> {
    pub(crate) fn lab(&self) -> LabSpec {
        LabSpec { hosts: self.file.lab_hosts.clone(), generator: self.file.generator }
    }

    /// The variant's name alone, or the file's name without a variant.
    pub fn own_name(&self) -> &str {
        self.variant.unwrap_or(&self.name)
    }

    /// The folder of built services, which `${services}` stands for: `PLIMSOLL_SERVICES`, or `services/bin` in the file's folder
    /// or one of the two folders above it, where `make services` puts them. `None` if there is none.
    ///
    /// # Errors
    /// When `PLIMSOLL_SERVICES` does not name a folder.
    pub(crate) fn services(&self) -> Result<Option<PathBuf>, ExperimentError> {
        services(std::env::var_os(SERVICES), self.folder)
    }
}

/// The given folder, or one near the file's folder. The path is absolute, because services start in other folders.
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

/// Lists the lab files of a folder, sorted by path.
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
