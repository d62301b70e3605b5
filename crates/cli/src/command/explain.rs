//! `plimsoll explain`: what limits, from a run or from a table of measurements.

use plimsoll_analyze::explain_table;
use plimsoll_experiment::{Mapping, read_run, read_table};
use plimsoll_report::{json, text};

use crate::args::ExplainArgs;
use crate::exit::Exit;
use crate::terminal::result;

pub(crate) fn explain(args: &ExplainArgs) -> anyhow::Result<Exit> {
    let explained = match (&args.file, &args.csv) {
        (_, Some(csv)) => {
            let mapping = Mapping::parse(&args.map)?;
            let rows = read_table(csv, &mapping)?;
            let found = explain_table(&rows);
            if args.json {
                json::render(&json::TableDocument::new(&found))?
            } else {
                text::table_explanation(&found)
            }
        }
        (Some(file), None) => {
            let recorded = read_run(file)?;
            if args.json {
                json::render(&json::ExplanationDocument::new(&recorded.findings))?
            } else {
                text::explanation(&recorded.run, &recorded.findings)
            }
        }
        // The command line requires one of them.
        (None, None) => return Ok(Exit::Usage),
    };
    result(&explained)?;
    Ok(Exit::Success)
}
