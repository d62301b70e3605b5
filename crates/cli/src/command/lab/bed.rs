//! Where several runs of one plan file are made: in a lab that stays up between them, or on hosts that exist already.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, bail};
use plimsoll_lab::Standing;
use plimsoll_plan::PlanFile;

use super::case::LoadedLab;
use super::file::{Case, LabFile};
use super::kept::Kept;
use super::{case, permitted};
use crate::args::{Asked, CaseArgs, KeepArgs};
use crate::command::measure;

/// A plan file with its folder, and how runs of it are made.
#[derive(Debug)]
pub(crate) struct Maker<'a> {
    file: LabFile,
    standing: Option<Standing>,
    how: &'a CaseArgs,
    interrupted: &'a AtomicBool,
}

/// Where the runs of one state of a plan file are made.
pub(crate) enum Bed<'a> {
    /// In this lab.
    Lab(Box<LoadedLab>, &'a Maker<'a>),
    /// On hosts that exist already.
    Outside(&'a Maker<'a>),
}

/// The bed of the plan that was run last, for plans one after another.
pub(crate) struct KeptBed<'a> {
    maker: &'a Maker<'a>,
    kept: Kept<Bed<'a>>,
}

impl<'a> KeptBed<'a> {
    pub(crate) fn new(maker: &'a Maker<'a>) -> Self {
        Self { maker, kept: Kept::NONE }
    }

    /// Makes the run of a file, in the lab that is up if it has the same hosts; gives the run file. A lab in which a run failed is
    /// not used again.
    pub(crate) fn run(&mut self, name: &str, file: &PlanFile) -> anyhow::Result<PathBuf> {
        let spec = self.maker.case(name, file).lab();
        let mut bed = self.kept.take_or(&spec, || self.maker.bed(name, file))?;
        let path = bed.run(name, file)?;
        self.kept.keep(spec, bed);
        Ok(path)
    }
}

/// True if the file's hosts are made in a lab.
fn is_made(file: &PlanFile) -> bool {
    file.lab_hosts.iter().any(|host| !host.run.is_empty())
}

/// Reads the file that is meant: a path, or a name below `lab`. The right to make labs has to be had before anything starts a
/// second thread, so that is asked for here.
pub(crate) fn named(named: &str) -> anyhow::Result<(LabFile, Option<Standing>)> {
    let file = LabFile::named(named)?;
    let made = file.content.all().any(|(_, file)| is_made(file));
    let standing = made.then(permitted).transpose()?;
    Ok((file, standing))
}

impl<'a> Maker<'a> {
    pub(crate) fn new(
        (file, standing): (LabFile, Option<Standing>),
        how: &'a CaseArgs,
        interrupted: &'a AtomicBool,
    ) -> Self {
        Self { file, standing, how, interrupted }
    }

    pub(crate) fn content(&self) -> &PlanFile {
        &self.file.content
    }

    pub(crate) fn name(&self) -> &str {
        self.file.name()
    }

    fn case<'c>(&'c self, name: &str, file: &'c PlanFile) -> Case<'c> {
        Case { name: name.to_owned(), folder: &self.file.folder, file }
    }

    /// Makes the hosts of a file, which may differ from the one that was read, if it has any.
    pub(crate) fn bed(&'a self, name: &str, file: &PlanFile) -> anyhow::Result<Bed<'a>> {
        match self.standing.filter(|_| is_made(file)) {
            Some(standing) => {
                let lab = LoadedLab::up(&self.case(name, file), standing, self.how, self.interrupted)?;
                Ok(Bed::Lab(Box::new(lab), self))
            }
            None => Ok(Bed::Outside(self)),
        }
    }
}

impl Bed<'_> {
    /// Makes the run of a file; gives the run file. A run during which a service of the lab ended fails: it is none of what was
    /// asked for.
    pub(crate) fn run(&mut self, name: &str, file: &PlanFile) -> anyhow::Result<PathBuf> {
        match self {
            Self::Lab(lab, maker) => {
                let path = lab.load(&maker.case(name, file), maker.how, maker.interrupted)?;
                lab.alive().with_context(|| {
                    format!("a service ended during the run, so that {} is not used", path.display())
                })?;
                Ok(path)
            }
            Self::Outside(maker) => outside(name, file, maker),
        }
    }

    /// False if a service of the lab ended: then nothing else is to be run in it.
    pub(crate) fn is_up(&mut self) -> bool {
        match self {
            Self::Lab(lab, ..) => lab.alive().is_ok(),
            Self::Outside(_) => true,
        }
    }

    /// Calls a shell command on a host of the lab, or on this machine, and waits for its end.
    pub(crate) fn call(&self, host: Option<&str>, text: &str) -> anyhow::Result<()> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", text]);
        let status = match (self, host) {
            (Self::Lab(lab, maker), Some(name)) => {
                let host = lab.hosts().iter().find(|host| host.name() == name);
                let Some(host) = host else { bail!("the switch's host `{name}` is none of this lab's") };
                host.spawn(command, &maker.file.folder)?.wait().context("could not wait for it")?
            }
            (Self::Outside(_), Some(name)) => {
                bail!(
                    "the host `{name}` is not made here, so that no command can be called on it; leave `host` out, and \
                       write how to reach it into the command"
                )
            }
            (Self::Lab(_, maker) | Self::Outside(maker), None) => {
                command.current_dir(&maker.file.folder).status().context("could not start it")?
            }
        };
        if status.success() { Ok(()) } else { bail!("`{text}` failed: {status}") }
    }
}

/// A run on hosts that exist already.
fn outside(name: &str, file: &PlanFile, maker: &Maker<'_>) -> anyhow::Result<PathBuf> {
    let mut spec = file.spec.clone();
    spec.name = Some(name.replace('/', "-"));
    if maker.how.quick {
        case::quicken(&mut spec);
    }
    let asked = Asked { plan: spec.freeze()?, csv: None, probing: true };
    let keep = KeepArgs {
        name: None,
        out: maker.how.out.clone(),
        no_files: false,
        force: false,
        json: false,
        quiet: maker.how.quiet,
    };
    let outcome = measure::make_run(asked, "sweep", &keep, maker.interrupted)?;
    outcome.file.context("the run left no file")
}
