//! Plan files where a command line names them.

use std::path::Path;

use anyhow::{Context, anyhow};
use plimsoll_plan::{PlanFile, PlanFileError};

use super::{Asked, KeepArgs, WatchArgs, scenario};

/// A plan file that is meant for another command.
#[derive(Debug, thiserror::Error)]
#[error(
    "host `{host}` is made in a lab; call `plimsoll lab run {file}`, or give the host a `probe` if it exists"
)]
pub(crate) struct MadeInLab {
    host: String,
    file: String,
}

/// Reads a plan file, with the bodies that it names; it is called as the file if it has no name.
pub(crate) fn read(path: &Path) -> anyhow::Result<PlanFile> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| {
        anyhow!("could not read the plan file `{shown}` ({error}); name a file that can be read")
    })?;
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    let mut file = PlanFile::named(&text, stem).with_context(|| shown.to_string())?;
    // A bare name's folder is empty; what is joined to this one is never taken for standard input, `-`.
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    complete(&mut file, folder)?;
    for variant in &mut file.variants {
        complete(&mut variant.file, folder)?;
    }
    Ok(file)
}

/// What a plan file names is looked for beside it.
fn complete(file: &mut PlanFile, folder: &Path) -> anyhow::Result<()> {
    let spec = &mut file.spec;
    let requests = &mut spec.scenario.requests;
    let bodies = requests.iter_mut().map(|request| &mut request.body).chain(&mut spec.body);
    bodies.into_iter().try_for_each(|body| read_body(body, folder))?;
    if let Some(name) = &file.requests {
        *requests = scenario::requests(&folder.join(name), folder)?;
    }
    if let Some(path) = &mut spec.transport.tls.cacert {
        *path = folder.join(&*path);
    }
    Ok(())
}

/// Puts the content of the file that a body names in its place.
fn read_body(body: &mut Vec<u8>, folder: &Path) -> anyhow::Result<()> {
    let Some(name) = std::str::from_utf8(body).ok().and_then(|text| text.strip_prefix('@')) else {
        return Ok(());
    };
    let path = folder.join(name);
    *body = std::fs::read(&path).map_err(|error| {
        anyhow!(
            "could not read the request body from `{}` ({error}); it is looked for beside the plan file",
            path.display()
        )
    })?;
    Ok(())
}

/// The plan of a file whose hosts all exist already.
pub(super) fn asked(path: &Path, keep: &KeepArgs, watch: &WatchArgs) -> anyhow::Result<Asked> {
    let PlanFile { mut spec, lab_hosts, profile, .. } = read(path)?;
    if let Some(host) = lab_hosts.into_iter().find(|host| !host.run.is_empty()) {
        let file = path.display().to_string();
        return Err(MadeInLab { host: host.name, file }.into());
    }
    spec.name = keep.name.clone().or(spec.name);
    spec.hosts.extend(watch.hosts());
    let plan = watch.profiled(spec.freeze()?, profile.as_ref())?;
    Ok(Asked { plan, csv: None, probing: !watch.no_probe })
}

/// True if what a plan file says is wrong.
pub(crate) fn mistyped(error: &anyhow::Error) -> bool {
    error.is::<PlanFileError>() || error.is::<MadeInLab>()
}
