//! Runs plans one after another, reusing a lab as long as the hosts are the same.

use std::path::PathBuf;

use plimsoll_lab::{LabError, LabSpec, Privileges};

use crate::ExperimentError;
use crate::context::{Progress, RunContext};
use crate::lab_file::Case;
use crate::recorded::{RecordedRun, read_run};
use crate::session::{LabSession, Session};

/// Makes the runs of plans. The lab of the last run is reused if the next plan has the same hosts: warm servers stay warm, and
/// filled data stays.
pub struct PlanRunner<'a> {
    privileges: Option<Privileges>,
    /// True if every plan runs in a lab, even if its hosts run nothing.
    labs_only: bool,
    context: RunContext<'a>,
    /// The last session, with the specification of its lab.
    cached: Option<(LabSpec, Session)>,
}

impl<'a> PlanRunner<'a> {
    /// Makes runs in labs if a plan has hosts to make and privileges are given, and otherwise on existing hosts.
    pub fn new(privileges: Option<Privileges>, context: RunContext<'a>) -> Self {
        Self { privileges, labs_only: false, context, cached: None }
    }

    /// Makes every run in a lab.
    pub(crate) fn in_labs(privileges: Privileges, context: RunContext<'a>) -> Self {
        Self { labs_only: true, ..Self::new(Some(privileges), context) }
    }

    /// True if the current lab has the hosts of this case.
    pub(crate) fn reuses_lab(&self, case: &Case<'_>) -> bool {
        self.cached.as_ref().is_some_and(|(known, _)| *known == case.lab())
    }

    pub(crate) fn start(&self, case: &Case<'_>) -> Result<Session, ExperimentError> {
        match self.privileges.filter(|_| self.labs_only || case.file.makes_hosts()) {
            Some(privileges) => Ok(Session::Lab(LabSession::start(case, privileges, self.context)?.into())),
            None => Ok(Session::Existing),
        }
    }

    /// Makes the run of a case; returns the run file, and the error of a service that ended during it. A lab in which a run failed, a
    /// service ended or a verdict was tested is not reused.
    pub(crate) fn run(&mut self, case: &Case<'_>) -> Result<(PathBuf, Option<LabError>), ExperimentError> {
        let spec = case.lab();
        // A lab with other hosts is dropped here: two labs would share the machine.
        let cached = self.cached.take().filter(|(known, _)| *known == spec);
        let mut session = cached.map_or_else(|| self.start(case), |(_, session)| Ok(session))?;
        let path = session.run(case, self.context)?;
        let ended = session.alive().err();
        if ended.is_none() && !self.context.settings.prove {
            self.cached = Some((spec, session));
        }
        Ok((path, ended))
    }

    /// Makes the run of a case and reads it back. A service that ended during it is both reported and returned.
    pub(crate) fn run_and_read(
        &mut self,
        case: &Case<'_>,
    ) -> Result<(RecordedRun, Option<LabError>), ExperimentError> {
        let (path, ended) = self.run(case)?;
        if let Some(error) = &ended {
            self.context.report(&Progress::ServiceEnded(error));
        }
        Ok((read_run(&path)?, ended))
    }
}
