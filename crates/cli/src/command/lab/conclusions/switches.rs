//! What the switches of the file cost, as `plimsoll ablate` finds it.

use std::sync::atomic::AtomicBool;

use plimsoll_lab::Standing;

use super::Conclusions;
use crate::args::{AblateArgs, CaseArgs};
use crate::command::ablate::{Ledgers, make};
use crate::command::lab::bed::Maker;
use crate::command::lab::file::LabFile;

/// How often each combination of switches is measured, and how often in a quick pass.
const ROUNDS: u64 = 3;
const QUICK_ROUNDS: u64 = 1;

/// An ablation that is to be made.
pub(in crate::command::lab) struct Ablating<'a> {
    pub(in crate::command::lab) file: &'a LabFile,
    pub(in crate::command::lab) standing: Standing,
    pub(in crate::command::lab) how: &'a CaseArgs,
    pub(in crate::command::lab) interrupted: &'a AtomicBool,
}

impl Conclusions {
    /// Measures the switches; true if no run of that failed.
    pub(in crate::command::lab) fn switches(&mut self, ablating: &Ablating<'_>) -> anyhow::Result<bool> {
        let Ablating { file, standing, how, interrupted } = *ablating;
        let args = AblateArgs::of_lab(file.name(), if how.quick { QUICK_ROUNDS } else { ROUNDS }, how);
        let each = CaseArgs::compared(how.quick, &how.out, how.quiet);
        let maker = Maker::new((file.clone(), Some(standing)), &each, interrupted);
        let runs = make(&maker, &args, interrupted)?;
        let ledgers = Ledgers::of(&runs);
        self.section("Switches", &ledgers.text());
        self.figures.push(ledgers.figures(&runs.stem));
        self.document.files.push(runs.table.to_string_lossy().into_owned());
        self.document.switches = Some(ledgers.document());
        Ok(!runs.failed)
    }
}
