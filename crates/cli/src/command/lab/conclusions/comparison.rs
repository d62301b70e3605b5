//! Each run against one of them, as `plimsoll diff` and `plimsoll profile --diff` set two against each other.

use plimsoll_analyze::compare;
use plimsoll_report::json::{ComparedDocument, ComparisonDocument};
use plimsoll_report::{Order, text};

use super::profiles::{TOP, taken};
use super::{Conclusions, Made};
use crate::command::diff::{Side, figures};

impl Conclusions {
    /// Each other run against that of the variant, or of the file's own plan. What is in `before` was set against that the
    /// other way round.
    pub(super) fn comparison(
        &mut self,
        (against, before): (Option<&str>, &[Option<String>]),
        own: &str,
        runs: &[Made<'_>],
    ) {
        let name = against.unwrap_or(own);
        let heading = format!("Comparison with {name}");
        let is_new = |run: &&Made<'_>| !before.iter().any(|known| known.as_deref() == run.variant);
        let sides: Vec<(&Made<'_>, Side)> =
            runs.iter().filter(is_new).map(|run| (run, Side::named(run.name, &run.findings))).collect();
        let (reference, others): (Vec<_>, Vec<_>) =
            sides.into_iter().partition(|(run, _)| run.variant == against);
        let with_steps = |(_, side): &&(&Made<'_>, Side)| !side.rungs.is_empty();
        let Some(reference) = reference.first().filter(with_steps) else {
            let text = format!(
                "{name} was not run, or none of its requests ended: there is nothing to compare with.\n"
            );
            return self.section(&heading, &text);
        };
        let mut texts = Vec::new();
        let mut compared = Vec::new();
        for other in &others {
            if other.1.rungs.is_empty() {
                texts.push(format!("{}: no request ended: there is nothing to compare.\n", other.0.name));
                continue;
            }
            let (text, document) = of_two(other, reference);
            texts.push(text);
            compared.push(document);
            let stem = format!("{}_{}_{name}", self.stem, other.0.name);
            self.figures.push(figures(&stem, &other.1, &reference.1));
        }
        self.section(&heading, &texts.join("\n"));
        let lower_bound = reference.0.findings.lower_bound;
        let document = ComparisonDocument::new(name, lower_bound, compared);
        self.document.comparisons.push(document);
    }
}

/// A run against another, and their CPU times if both are known.
fn of_two((a, side_a): &(&Made<'_>, Side), (b, side_b): &(&Made<'_>, Side)) -> (String, ComparedDocument) {
    let comparison = compare(&side_a.rungs, &side_b.rungs);
    let profiles = taken(a).zip(taken(b));
    let mut said = text::comparison(&comparison, &side_a.name, &side_b.name);
    for bounded in [a, b].into_iter().filter(|run| run.findings.lower_bound) {
        said +=
            &format!("  In {} the load generator was the limit: its QPS are lower bounds.\n", bounded.name);
    }
    if let Some((of_a, of_b)) = profiles {
        let difference = text::profile_difference(of_a, of_b, (a.name, b.name), (Order::Cumulative, TOP));
        said = format!("{said}\n{difference}");
    }
    (said, ComparedDocument::new(a.name, a.findings.lower_bound, &comparison, profiles))
}
