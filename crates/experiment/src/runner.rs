//! Runs plans one after another, in one lab as long as they have the same hosts.

use std::path::{Path, PathBuf};

use plimsoll_lab::{LabError, LabSpec, Privileges};
use plimsoll_plan::PlanFile;

use crate::ExperimentError;
use crate::context::RunContext;
use crate::lab_file::{Case, is_made};
use crate::session::{LabSession, Session};

/// Makes the runs of plans. The lab of the last run is used again if the next plan has the same hosts: what is warm in its
/// servers stays warm, and what was filled stays full.
pub struct PlanRunner<'a> {
    privileges: Option<Privileges>,
    /// Every plan is run in a lab, also one whose hosts run nothing.
    labs_only: bool,
    context: RunContext<'a>,
    cached: CachedLab<Session>,
}

/// A run that was made.
#[derive(Debug)]
pub(crate) struct RunEnd {
    /// The run file.
    pub(crate) path: PathBuf,
    /// The service that ended meanwhile, if one did.
    pub(crate) ended: Option<LabError>,
}

impl<'a> PlanRunner<'a> {
    /// Makes runs in labs, where a plan has hosts to make and there are privileges for it, and else on existing hosts.
    pub fn new(privileges: Option<Privileges>, context: RunContext<'a>) -> Self {
        Self { privileges, labs_only: false, context, cached: CachedLab(None) }
    }

    /// Makes every run in a lab.
    pub(crate) fn in_labs(privileges: Privileges, context: RunContext<'a>) -> Self {
        Self { labs_only: true, ..Self::new(Some(privileges), context) }
    }

    /// True if the lab that is up has the hosts of this case.
    pub(crate) fn reuses_lab(&self, case: &Case<'_>) -> bool {
        self.cached.fits(&case.lab())
    }

    /// Makes the hosts of a case, if it has any.
    pub(crate) fn start(&self, case: &Case<'_>) -> Result<Session, ExperimentError> {
        match self.privileges.filter(|_| self.labs_only || is_made(case.file)) {
            Some(privileges) => {
                Ok(Session::Lab(Box::new(LabSession::start(case, privileges, self.context)?)))
            }
            None => Ok(Session::Existing),
        }
    }

    /// Makes the run of a case. A lab in which a run failed, a service ended or a cap was raised is not used again.
    pub(crate) fn run(&mut self, case: &Case<'_>) -> Result<RunEnd, ExperimentError> {
        let spec = case.lab();
        let cached = self.cached.take(&spec);
        let mut session = cached.map_or_else(|| self.start(case), Ok)?;
        let path = session.run(case, self.context)?;
        let ended = session.alive().err();
        if ended.is_none() && !self.context.settings.prove {
            self.cached.keep(spec, session);
        }
        Ok(RunEnd { path, ended })
    }
}

impl RunEnd {
    /// The run file; an error if a service ended during the run.
    pub(crate) fn whole(self) -> Result<PathBuf, ExperimentError> {
        match self.ended {
            None => Ok(self.path),
            Some(source) => Err(ExperimentError::ServiceEnded { path: self.path, source: Box::new(source) }),
        }
    }
}

/// The lab of the last run, with the hosts that it was made of.
struct CachedLab<L>(Option<(LabSpec, L)>);

impl<L> CachedLab<L> {
    fn fits(&self, spec: &LabSpec) -> bool {
        self.0.as_ref().is_some_and(|(known, _)| known == spec)
    }

    /// The lab, if it has these hosts. Another one ends here: two labs would share the machine.
    fn take(&mut self, spec: &LabSpec) -> Option<L> {
        self.0.take().filter(|(known, _)| known == spec).map(|(_, lab)| lab)
    }

    fn keep(&mut self, spec: LabSpec, lab: L) {
        self.0 = Some((spec, lab));
    }
}

/// A plan under another name than its file's.
pub(crate) fn renamed<'a>(name: &str, folder: &'a Path, file: &'a PlanFile) -> Case<'a> {
    Case { name: name.to_owned(), variant: None, folder, file }
}
