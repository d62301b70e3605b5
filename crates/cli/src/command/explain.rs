//! `plimsoll explain`: what limits, from a run or from a table of measurements.

use plimsoll_analyze::explain_table;
use plimsoll_report::{json, text};

use super::recorded;
use super::table_file::{self, Mapping};
use crate::args::ExplainArgs;
use crate::exit::Exit;
use crate::terminal::result;

pub(crate) fn explain(args: &ExplainArgs) -> anyhow::Result<Exit> {
    let explained = match (&args.file, &args.csv) {
        (_, Some(csv)) => {
            let mapping = Mapping::parse(&args.map)?;
            let rows = table_file::read(csv, &mapping)?;
            let found = explain_table(&rows);
            if args.json { json::table_explanation(&found)? } else { text::table_explanation(&found) }
        }
        (Some(file), None) => {
            let (run, findings) = recorded::read(file)?;
            if args.json { json::explanation(&findings)? } else { text::explanation(&run, &findings) }
        }
        // The command line requires one of them.
        (None, None) => return Ok(Exit::Usage),
    };
    result(&explained)?;
    Ok(Exit::Held)
}
