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
    kept: Kept<LoadedLab>,
}

/// A lab that is up, by what it was made of.
pub(super) struct Kept<L>(Option<(LabSpec, L)>);

impl<L> Kept<L> {
    pub(super) const NONE: Self = Self(None);

    pub(super) fn fits(&self, spec: &LabSpec) -> bool {
        self.0.as_ref().is_some_and(|(known, _)| known == spec)
    }

    /// The lab that is up if it is made of this, else a new one. One that does not fit ends before: two labs would share the
    /// machine.
    pub(super) fn take_or(
        &mut self,
        spec: &LabSpec,
        make: impl FnOnce() -> anyhow::Result<L>,
    ) -> anyhow::Result<L> {
        match self.0.take().filter(|(known, _)| known == spec) {
            Some((_, lab)) => Ok(lab),
            None => make(),
        }
    }

    pub(super) fn keep(&mut self, spec: LabSpec, lab: L) {
        self.0 = Some((spec, lab));
    }
}

impl<'a> KeptLab<'a> {
    pub(super) fn new(standing: Standing, how: &'a CaseArgs, interrupted: &'a AtomicBool) -> Self {
        Self { standing, how, interrupted, kept: Kept::NONE }
    }

    /// True if the lab that is up has the hosts of this plan.
    pub(super) fn fits(&self, case: &Case<'_>) -> bool {
        self.kept.fits(&case.lab())
    }

    /// Runs a plan in the lab that is up if it fits, else in a new one; gives the run file. What has warmed up in servers stays
    /// warm that way, and what was filled stays full.
    pub(super) fn run(&mut self, case: &Case<'_>) -> anyhow::Result<PathBuf> {
        let spec = case.lab();
        let make = || LoadedLab::up(case, self.standing, self.how, self.interrupted);
        let mut lab = self.kept.take_or(&spec, make)?;
        let file = lab.load(case, self.how, self.interrupted)?;
        // A cap that was raised, or a service that ended, would be part of what comes next.
        if !lab.tell_ended() && !self.how.prove {
            self.kept.keep(spec, lab);
        }
        Ok(file)
    }
}
