//! Protects a variant with settings that follow from an earlier run of its file.

use std::fs;
use std::path::{Path, PathBuf};

use plimsoll_analyze::Protection;
use plimsoll_lab::substitute_settings;
use plimsoll_plan::{PlanFile, Protector};
use plimsoll_report::snippet;
use plimsoll_units::unix_ms;

use crate::ExperimentError;
use crate::lab_file::Case;

/// The variable for the path of the settings in the commands of hosts.
const VARIABLE: &str = "${protection}";

/// The file of a case with the path of its settings filled into the commands of its hosts; `None` for a case without protection.
/// `limits` come from an earlier run of the file; the settings are written to `folder`.
///
/// # Errors
/// When there are no limits yet, no command uses the settings, or the settings cannot be written.
pub(crate) fn with_settings(
    case: &Case<'_>,
    limits: Option<&Protection>,
    folder: &Path,
) -> Result<Option<PlanFile>, ExperimentError> {
    let asks =
        case.file.lab_hosts.iter().flat_map(|host| &host.run).any(|command| command.contains(VARIABLE));
    let Some(protector) = case.file.protect else { return Ok(None) };
    if !asks {
        return Err(ExperimentError::NothingProtected(case.name.clone()));
    }
    let limits = limits.ok_or_else(|| ExperimentError::NoLimits(case.name.clone()))?;
    let path = written(case, protector, limits, folder)?;
    let mut file = case.file.clone();
    for command in file.lab_hosts.iter_mut().flat_map(|host| &mut host.run) {
        *command = substitute_settings(command, &path);
    }
    Ok(Some(file))
}

/// Writes the settings next to the run files; returns their path.
fn written(
    case: &Case<'_>,
    protector: Protector,
    limits: &Protection,
    folder: &Path,
) -> Result<PathBuf, ExperimentError> {
    let text = snippet(protector, limits, &case.file.spec.url);
    let name = format!("{}-{}.{}", case.name.replace('/', "-"), unix_ms(), protector.name());
    fs::create_dir_all(folder).map_err(ExperimentError::file("make the folder", folder))?;
    let folder = folder.canonicalize().map_err(ExperimentError::file("resolve", folder))?;
    let path = folder.join(name);
    fs::write(&path, text).map_err(ExperimentError::file("write", &path))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Protection = Protection {
        rate_per_sec: 370.0,
        burst: 18,
        concurrency: 37,
        in_progress: 9.0,
        limit_ms: Some(200.0),
        wait_ms: 50.0,
    };

    fn file(overload: &str, command: &str) -> PlanFile {
        let text = format!(
            "[target]\nurl = \"http://web/\"\n[overload]\nrate = 370\n{overload}\n[[host]]\nname = \"web\"\nrun = [{command:?}]\n"
        );
        PlanFile::parse(&text).unwrap()
    }

    fn protected(file: &PlanFile, limits: Option<&Protection>) -> Result<Option<PlanFile>, ExperimentError> {
        let folder = tempfile::tempdir().unwrap();
        let case = Case { name: "lab/one".to_owned(), variant: None, folder: folder.path(), file };
        let found = with_settings(&case, limits, folder.path())?;
        // While the folder is there.
        for host in found.iter().flat_map(|file| &file.lab_hosts) {
            let path = host.run[0].trim_start_matches("nginx -c ");
            let text = std::fs::read_to_string(path).unwrap();
            assert!(text.contains("rate=370r/s"), "{text}");
        }
        Ok(found)
    }

    #[test]
    fn settings_are_written_for_a_case_that_is_to_be_protected() {
        let command = "nginx -c ${protection}";
        assert_eq!(protected(&file("", command), Some(&LIMITS)).unwrap(), None);
        let after = protected(&file("protect = \"nginx\"", command), Some(&LIMITS)).unwrap().unwrap();
        assert!(after.lab_hosts[0].run[0].ends_with(".nginx"));
    }

    #[test]
    fn protection_without_limits_or_without_a_place_is_an_error() {
        let protect = file("protect = \"nginx\"", "nginx -c ${protection}");
        assert!(matches!(protected(&protect, None), Err(ExperimentError::NoLimits(_))));
        let nowhere = file("protect = \"nginx\"", "nginx");
        assert!(matches!(protected(&nowhere, Some(&LIMITS)), Err(ExperimentError::NothingProtected(_))));
    }
}
