//! A lab that stays up from one plan of a file to the next, as long as they have the same hosts.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use plimsoll_lab::{LabSpec, Standing};

use super::case::LoadedLab;
use super::file::Case;
use crate::args::CaseArgs;

/// The lab of the plan that was run last, if it can be used again.
pub(super) struct KeptLab<'a> {
    standing: Standing,
    how: &'a CaseArgs,
    interrupted: &'a AtomicBool,
    /// What it was made of, and the lab.
    there: Option<(LabSpec, LoadedLab)>,
}

impl<'a> KeptLab<'a> {
    pub(super) fn new(standing: Standing, how: &'a CaseArgs, interrupted: &'a AtomicBool) -> Self {
        Self { standing, how, interrupted, there: None }
    }

    /// True if the lab that is up has the hosts of this plan.
    pub(super) fn fits(&self, case: &Case<'_>) -> bool {
        self.there.as_ref().is_some_and(|(known, _)| *known == case.lab())
    }

    /// Runs a plan in the lab that is up if it fits, else in a new one; gives the run file. What has warmed up in servers stays
    /// warm that way, and what was filled stays full.
    pub(super) fn run(&mut self, case: &Case<'_>) -> anyhow::Result<PathBuf> {
        let spec = case.lab();
        // One that does not fit ends here: two labs would share the machine.
        let known = self.there.take().filter(|(known, _)| *known == spec);
        let mut lab = match known {
            Some((_, lab)) => lab,
            None => LoadedLab::up(case, self.standing, self.how, self.interrupted)?,
        };
        let file = lab.load(case, self.how, self.interrupted)?;
        // A cap that was raised, or a service that ended, would be part of what comes next.
        if !lab.tell_ended() && !self.how.prove {
            self.there = Some((spec, lab));
        }
        Ok(file)
    }
}
