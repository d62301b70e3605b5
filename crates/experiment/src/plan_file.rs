//! Plan files, with the files that they name.

use std::path::Path;

use plimsoll_plan::PlanFile;

use crate::ExperimentError;
use crate::requests::read_requests;

/// Reads a plan file, with the bodies and requests that it names. A file without a name takes that of its path.
///
/// # Errors
/// When the file, or one that it names, cannot be read or is wrong.
pub fn read_plan_file(path: &Path) -> Result<PlanFile, ExperimentError> {
    let input =
        |source| ExperimentError::Input { what: "the plan file".into(), path: path.to_owned(), source };
    let text = std::fs::read_to_string(path).map_err(input)?;
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    let wrong = |source| ExperimentError::PlanFile { path: path.to_owned(), source };
    let mut file = PlanFile::named(&text, stem).map_err(wrong)?;
    // A bare name's folder is empty. A path joined to `.` is never taken for standard input, `-`.
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    complete(&mut file, folder)?;
    for variant in &mut file.variants {
        complete(&mut variant.file, folder)?;
    }
    Ok(file)
}

/// Reads what a plan file names; paths are relative to its folder.
fn complete(file: &mut PlanFile, folder: &Path) -> Result<(), ExperimentError> {
    let spec = &mut file.spec;
    let requests = &mut spec.scenario.requests;
    let bodies = requests.iter_mut().map(|request| &mut request.body).chain(&mut spec.body);
    bodies.into_iter().try_for_each(|body| read_body(body, folder))?;
    if let Some(name) = &file.requests {
        *requests = read_requests(&folder.join(name), folder)?;
    }
    if let Some(path) = &mut spec.transport.tls.cacert {
        *path = folder.join(&*path);
    }
    Ok(())
}

/// Puts the content of the file that a body names in its place.
fn read_body(body: &mut Vec<u8>, folder: &Path) -> Result<(), ExperimentError> {
    let Some(name) = std::str::from_utf8(body).ok().and_then(|text| text.strip_prefix('@')) else {
        return Ok(());
    };
    let path = folder.join(name);
    *body = std::fs::read(&path).map_err(|source| ExperimentError::Body { path, source })?;
    Ok(())
}
