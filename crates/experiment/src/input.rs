//! Reads plan files, files of requests, and the files that they name.

use std::path::Path;

use plimsoll_plan::{FleetSpec, PlanFile, RequestSpec, host_end};
use plimsoll_scenario::{Body, RequestText, Template, TemplateError, TemplateScope, parse_requests};

use plimsoll_sys::{read_regular, read_stream};

use crate::ExperimentError;

/// The longest plan file, in bytes.
const MAX_PLAN_BYTES: u64 = 16 << 20;

/// The longest file of requests, rows or a body, in bytes.
const MAX_INPUT_BYTES: u64 = 1 << 30;

/// Reads a plan file, with the bodies and requests that it names. A file without a name gets the stem of its path as its name.
///
/// # Errors
/// When the file, or a file that it names, cannot be read or is invalid.
pub fn read_plan_file(path: &Path) -> Result<PlanFile, ExperimentError> {
    let input =
        |source| ExperimentError::Input { what: "the plan file".into(), path: path.to_owned(), source };
    let text = read_regular(path, MAX_PLAN_BYTES).map_err(input)?;
    let not_text = |_| ExperimentError::NotText { what: "a plan file", path: path.to_owned() };
    let text = String::from_utf8(text).map_err(not_text)?;
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    let wrong = |source| ExperimentError::PlanFile { path: path.to_owned(), source };
    let mut file = PlanFile::named(&text, stem).map_err(wrong)?;
    // The parent of a bare name is empty. A path joined to `.` is never read as `-`, standard input.
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    complete(&mut file, folder)?;
    let files = file.fleet.iter_mut().flat_map(FleetSpec::files_mut);
    files.for_each(|path| *path = folder.join(&*path));
    for variant in &mut file.variants {
        complete(&mut variant.file, folder)?;
    }
    Ok(file)
}

/// Reads the files that a plan file names; paths are relative to its folder.
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

/// Replaces a body of the form `@FILE` with the file's content.
fn read_body(body: &mut Vec<u8>, folder: &Path) -> Result<(), ExperimentError> {
    let Some(name) = std::str::from_utf8(body).ok().and_then(|text| text.strip_prefix('@')) else {
        return Ok(());
    };
    let path = folder.join(name);
    let read = read_regular(&path, MAX_INPUT_BYTES);
    *body = read.map_err(|source| ExperimentError::Body { path, source })?;
    Ok(())
}

/// Reads a file, or standard input for `-`. `what` names the content in errors.
///
/// # Errors
/// When it cannot be read, is not a regular file, or is longer than 1 GiB.
pub fn read_input(path: &Path, what: &str) -> Result<Vec<u8>, ExperimentError> {
    let content = if path == Path::new("-") {
        read_stream(std::io::stdin(), MAX_INPUT_BYTES)
    } else {
        read_regular(path, MAX_INPUT_BYTES)
    };
    content.map_err(|source| ExperimentError::Input {
        what: format!("{what} from"),
        path: path.to_owned(),
        source,
    })
}

/// Reads the requests of a file. Paths of bodies in it are relative to `folder`; an empty `folder` is the current one.
///
/// # Errors
/// When the file, or a file that it names, cannot be read or is invalid.
pub fn read_requests(path: &Path, folder: &Path) -> Result<Vec<RequestSpec>, ExperimentError> {
    let not_text = |_| ExperimentError::NotText { what: "a file of requests", path: path.to_owned() };
    let text = String::from_utf8(read_input(path, "requests")?).map_err(not_text)?;
    let wrong = |source| ExperimentError::Requests { path: path.to_owned(), source };
    let typed = parse_requests(&text).map_err(wrong)?;
    typed.into_iter().map(|typed| request(typed, folder)).collect()
}

fn request(typed: RequestText, folder: &Path) -> Result<RequestSpec, ExperimentError> {
    let RequestText { name, weight, method, url, headers, body, line } = typed;
    let wrong = |source| ExperimentError::Host { line: Some(line), source };
    let url = fill_host(&url).map_err(wrong)?;
    let body = match body {
        Body::None => Vec::new(),
        Body::Inline(bytes) => bytes,
        Body::File(path) => {
            read_input(&folder.join(path), &format!("the body of the request in line {line}"))?
        }
    };
    Ok(RequestSpec { name, weight, line, method, url, headers, body })
}

/// Fills environment variables into the host of a URL: the host must be known before everything else.
///
/// # Errors
/// When a variable is not set, or the template is wrong.
pub fn with_plain_host(url: &str) -> Result<String, ExperimentError> {
    fill_host(url).map_err(|source| ExperimentError::Host { line: None, source })
}

fn fill_host(url: &str) -> Result<String, TemplateError> {
    let (host, path) = url.split_at(host_end(url));
    if !host.contains("${env.") {
        return Ok(url.to_owned());
    }
    let env = |name: &str| std::env::var(name).ok();
    let host = Template::parse(host.as_bytes(), &TemplateScope { feeder: None, env: &env })?;
    let Some(host) = host.constant() else { return Ok(url.to_owned()) };
    // A variable's value must not be read as a template.
    Ok(String::from_utf8_lossy(host).replace("${", "$${") + path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_text_is_called_what_it_was_taken_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan.toml");
        std::fs::write(&path, b"name = \"\xff\"\n").unwrap();
        let what_of = |error| match error {
            ExperimentError::NotText { what, .. } => what,
            other => panic!("{other}"),
        };
        assert_eq!(what_of(read_plan_file(&path).unwrap_err()), "a plan file");
        assert_eq!(what_of(read_requests(&path, folder.path()).unwrap_err()), "a file of requests");
    }

    #[test]
    fn only_the_host_is_filled_in_from_the_environment() {
        let path = std::env::var("PATH").unwrap();
        let filled = |url: &str| with_plain_host(url).unwrap();
        assert_eq!(filled("${env.PATH}/a?b=${env.PATH}"), format!("{path}/a?b=${{env.PATH}}"));
        assert_eq!(filled("http://${env.PATH}"), format!("http://{path}"));
        assert_eq!(filled("/${env.PATH}://"), "/${env.PATH}://");
        assert_eq!(filled("${csv.host}/a"), "${csv.host}/a");
        let error = with_plain_host("${env.PLIMSOLL_NOT_SET}/").unwrap_err();
        assert!(matches!(error, ExperimentError::Host { line: None, .. }));
        assert!(error.to_string().contains("PLIMSOLL_NOT_SET"), "{error}");
    }
}
