//! A lab that stays up from one plan of a file to the next, as long as they have the same hosts.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use plimsoll_lab::{Lab, LabSpec, Standing};

use super::case;
use super::file::Case;
use crate::args::CaseArgs;

/// The lab of the plan that was run last, if it can be used again.
pub(super) struct KeptLab<'a> {
    standing: Standing,
    how: &'a CaseArgs,
    interrupted: &'a AtomicBool,
    there: Option<There>,
}

/// A lab that is up.
struct There {
    /// What it was made of.
    spec: LabSpec,
    lab: Lab,
    /// The pages in it that were warmed up.
    warmed: BTreeSet<String>,
}

impl<'a> KeptLab<'a> {
    pub(super) fn new(standing: Standing, how: &'a CaseArgs, interrupted: &'a AtomicBool) -> Self {
        Self { standing, how, interrupted, there: None }
    }

    /// True if the lab that is up has the hosts of this plan.
    pub(super) fn fits(&self, case: &Case<'_>) -> bool {
        self.there.as_ref().is_some_and(|there| there.spec == case.lab())
    }

    /// Runs a plan in the lab that is up if it fits, else in a new one; gives the run file. What has warmed up in servers stays
    /// warm that way, and what was filled stays full.
    pub(super) fn run(&mut self, case: &Case<'_>) -> anyhow::Result<PathBuf> {
        let spec = case.lab();
        // One that does not fit ends here: two labs would share the machine.
        let mut there = match self.there.take().filter(|known| known.spec == spec) {
            Some(there) => there,
            None => {
                let lab = case::up(case, self.standing, self.interrupted, self.how.quiet)?;
                There { spec, lab, warmed: BTreeSet::new() }
            }
        };
        let file = case::load(case, (&mut there.lab, &mut there.warmed), self.how, self.interrupted)?;
        // A cap that was raised, or a service that ended, would be part of what comes next.
        if !case::tell_ended(&mut there.lab) && !self.how.prove {
            self.there = Some(there);
        }
        Ok(file)
    }
}
