//! Files next to the run file: the .dat and the figures. None is overwritten without --force.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use plimsoll_analyze::Findings;
use plimsoll_plan::{Load, Plan};
use plimsoll_record::RunCommand;
use plimsoll_report::dat;
use plimsoll_report::figure::{self, Caption, Figure, Series};
use plimsoll_store::{StoreError, file_date};
use plimsoll_units::unix_time;

use crate::terminal::{remark, report_error, with_causes};

#[derive(Debug)]
pub(crate) struct Output {
    name: String,
    content: Vec<u8>,
}

impl Output {
    pub(crate) fn new(name: String, content: impl Into<Vec<u8>>) -> Self {
        Self { name, content: content.into() }
    }

    /// Returns the files of a run: those of its ladder and of its overloads, none for a single level. The findings already hide
    /// what figures must not show.
    pub(crate) fn of_run(stem: &str, command: RunCommand, findings: &Findings) -> anyhow::Result<Vec<Self>> {
        let mut outputs = Vec::new();
        if matches!(findings.plan.load, Load::Ladder { .. }) {
            outputs.extend(Self::ladder(stem, command, findings)?);
        }
        if let Some(overload) = &findings.overload {
            let url = &findings.plan.target.url;
            outputs.extend(Self::figure(&format!("{stem}_overload"), figure::overload(url, overload)?));
            let over_time = figure::overload_over_time(url, overload)?;
            let over_time = over_time.map(|figure| Self::figure(&format!("{stem}_overload_time"), figure));
            outputs.extend(over_time.into_iter().flatten());
        }
        Ok(outputs)
    }

    /// Returns the files of a ladder: the table of wrktest.sh, and the two figures of a sweep or the figure of the answer.
    fn ladder(stem: &str, command: RunCommand, findings: &Findings) -> anyhow::Result<Vec<Self>> {
        let mut outputs = vec![Self::new(format!("{stem}.dat"), dat::render(findings)?)];
        if command == RunCommand::Sweep {
            let (caption, series) = (Caption::new(findings), Series::new(findings));
            let (speeds, success) =
                (figure::throughput(&caption, &series)?, figure::success(&caption, &series)?);
            outputs.extend(Self::figure(&format!("{stem}_qps_ttlb"), speeds));
            outputs.extend(Self::figure(&format!("{stem}_successrate"), success));
        } else {
            outputs.extend(Self::figure(stem, figure::answer(findings)?));
        }
        Ok(outputs)
    }

    /// Returns the PNG and the SVG of a figure.
    pub(crate) fn figure(stem: &str, figure: Figure) -> [Self; 2] {
        [Self::new(format!("{stem}.png"), figure.png), Self::new(format!("{stem}.svg"), figure.svg)]
    }
}

/// The advice next to `--force` if files of a run exist already.
pub(crate) const ANOTHER_NAME: &str = "give another --name NAME";

/// Fails if one of these files exists; `otherwise` is the advice next to `--force`.
pub(crate) fn refuse_existing(
    files: impl IntoIterator<Item = impl AsRef<Path>>,
    otherwise: &str,
) -> anyhow::Result<()> {
    match files.into_iter().find(|path| path.as_ref().exists()) {
        None => Ok(()),
        Some(path) => bail!("{} exists; --force overwrites it, or {otherwise}", path.as_ref().display()),
    }
}

/// Fails if no file can be created in this folder, or in the nearest folder above it that exists.
pub(crate) fn check_writable(folder: &Path) -> anyhow::Result<()> {
    let there = folder.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
    let trial = there.join(format!(".plimsoll-{}-{}.trial", std::process::id(), unix_time().as_nanos()));
    let made = fs::OpenOptions::new().write(true).create_new(true).open(&trial);
    made.and_then(|_| fs::remove_file(&trial)).with_context(|| {
        format!(
            "could not write to the folder {}; name another with -o DIR, or write no files with --no-files",
            folder.display()
        )
    })
}

/// The result of writing files.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// The files that were written.
    pub(crate) paths: Vec<PathBuf>,
    /// Why the others were not.
    pub(crate) trouble: Option<anyhow::Error>,
}

impl Written {
    /// Writes the files, up to the first that cannot be written; none if they could not be made.
    pub(crate) fn to(folder: &Path, outputs: anyhow::Result<Vec<Output>>, force: bool) -> Self {
        let mut written = Self::default();
        written.trouble = outputs.and_then(|outputs| written.write_all(folder, &outputs, force)).err();
        written
    }

    /// Adds the result of writing more files; the first error is kept.
    pub(crate) fn extend(&mut self, more: Self) {
        self.paths.extend(more.paths);
        self.trouble = self.trouble.take().or(more.trouble);
    }

    fn write_all(&mut self, folder: &Path, outputs: &[Output], force: bool) -> anyhow::Result<()> {
        if !force {
            refuse_existing(outputs.iter().map(|output| folder.join(&output.name)), ANOTHER_NAME)?;
        }
        fs::create_dir_all(folder)
            .with_context(|| format!("could not make the folder {}", folder.display()))?;
        for output in outputs {
            self.paths.push(write(folder, output)?);
        }
        Ok(())
    }

    /// Prints in one line on standard error where the files are, and why others are missing; returns true if none is.
    pub(crate) fn report(&self, quiet: bool) -> bool {
        if let Some(line) = self.line().filter(|_| !quiet) {
            remark(&line);
        }
        if let Some(trouble) = &self.trouble {
            report_error(trouble.as_ref());
        }
        self.trouble.is_none()
    }
}

impl Written {
    /// Returns the first path, and the names of the others in its folder; a path elsewhere is whole. `None` without files.
    fn line(&self) -> Option<String> {
        let (first, others) = self.paths.split_first()?;
        let name = |path: &PathBuf| match path.file_name().filter(|_| path.parent() == first.parent()) {
            Some(name) => format!(", {}", name.to_string_lossy()),
            None => format!(", {}", path.display()),
        };
        Some(format!("wrote {}{}", first.display(), others.iter().map(name).collect::<String>()))
    }
}

/// Writes a new file in place of one that an earlier process may have left there. A link is removed and not followed.
pub(crate) fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    fs::OpenOptions::new().write(true).create_new(true).open(path)?.write_all(content)
}

/// Writes a new file that only its owner can read, whole or not at all, and syncs it to the disk.
pub(crate) fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    write_by_part(&path.with_extension(format!("{}.part", std::process::id())), path, |part| {
        write_new(part, &[])?;
        fs::set_permissions(part, fs::Permissions::from_mode(0o600))?;
        let mut file = fs::OpenOptions::new().write(true).open(part)?;
        file.write_all(content)?;
        file.sync_all()
    })
}

/// Writes a file under another name and renames it: under its own name it is always whole, old or new.
fn write_by_part(part: &Path, path: &Path, write: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let outcome = write(part).and_then(|()| fs::rename(part, path));
    if outcome.is_err()
        && let Err(error) = fs::remove_file(part)
        && error.kind() != io::ErrorKind::NotFound
    {
        remark(&format!("plimsoll: could not remove {} ({error})", part.display()));
    }
    outcome
}

fn write(folder: &Path, output: &Output) -> anyhow::Result<PathBuf> {
    let path = folder.join(&output.name);
    let part = folder.join(format!(".{}.{}.part", output.name, std::process::id()));
    let written = write_by_part(&part, &path, |part| write_new(part, &output.content));
    written.with_context(|| {
        format!("could not write {}; is the disk full, or the folder read-only?", path.display())
    })?;
    Ok(path)
}

/// Returns the names of the files of a run with this plan, in the order of [`Output::of_run`].
pub(crate) fn names_of_run(stem: &str, command: RunCommand, plan: &Plan) -> Vec<String> {
    let ladder: &[&str] = match (&plan.load, command) {
        (Load::Single { .. }, _) => &[],
        (Load::Ladder { .. }, RunCommand::Sweep) => {
            &[".dat", "_qps_ttlb.png", "_qps_ttlb.svg", "_successrate.png", "_successrate.svg"]
        }
        (Load::Ladder { .. }, _) => &[".dat", ".png", ".svg"],
    };
    let overload: &[&str] = match plan.overload {
        Some(_) => &["_overload.png", "_overload.svg", "_overload_time.png", "_overload_time.svg"],
        None => &[],
    };
    ladder.iter().chain(overload).map(|name| format!("{stem}{name}")).collect()
}

/// Returns the time for names of files, in the form of run files.
pub(crate) fn stamp() -> String {
    file_date(unix_time().as_millis() as u64)
}

/// Prints on standard error what is wrong with the run file; returns true if nothing is.
pub(crate) fn run_file_is_whole(trouble: Option<StoreError>) -> bool {
    let Some(error) = trouble else { return true };
    remark(&format!("plimsoll: the run file is missing or incomplete: {}", with_causes(&error)));
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_written_before_a_failure_are_named_and_no_part_is_left() {
        let folder = tempfile::tempdir().unwrap();
        // A folder in a file's place cannot be replaced by one.
        fs::create_dir(folder.path().join("b")).unwrap();
        let outputs = ["a", "b", "c"].map(|name| Output::new(name.to_owned(), name)).into();
        let written = Written::to(folder.path(), Ok(outputs), true);
        assert_eq!(written.paths, [folder.path().join("a")]);
        assert!(written.trouble.unwrap().to_string().contains("/b;"));
        let mut left: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["a", "b"]);
    }

    #[test]
    fn a_private_file_that_cannot_get_its_name_leaves_no_part() {
        let folder = tempfile::tempdir().unwrap();
        let (path, taken) = (folder.path().join("a.plimsoll"), folder.path().join("b.plimsoll"));
        write_private(&path, b"a").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"a");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::create_dir(&taken).unwrap();
        assert!(write_private(&taken, b"b").is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "the file and the folder");
    }
}
