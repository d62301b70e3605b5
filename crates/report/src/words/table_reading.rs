//! How a table was read, a sentence each.

use plimsoll_analyze::{ColumnDoubt, GuessedColumn, TableReading, UnreadCells};
use plimsoll_units::{share_text, significant};

/// More names than this are not listed but counted.
const MAX_NAMED: usize = 5;

/// Returns the sentences.
pub(crate) fn table_reading(reading: &TableReading) -> Vec<String> {
    let mut sentences: Vec<String> = guessed(reading).into_iter().collect();
    sentences.extend(left_out(reading));
    sentences.extend(reading.unread.iter().map(unread));
    sentences.extend(reading.doubts.iter().map(doubt));
    sentences
}

fn guessed(reading: &TableReading) -> Option<String> {
    let column = |guess: &GuessedColumn| format!("{}={}", guess.meaning, guess.column);
    let columns: Vec<String> = reading.guessed.iter().map(column).collect();
    let unused = match &reading.unused[..] {
        [] => String::new(),
        unused => format!("; not used: {}", unused.join(", ")),
    };
    let guessed = format!("read as: {}{unused} (--map MEANING=COLUMN corrects it)", columns.join(", "));
    (!columns.is_empty()).then_some(guessed)
}

fn left_out(reading: &TableReading) -> Option<String> {
    let all = &reading.left_out;
    let named = all.iter().take(MAX_NAMED).map(|row| match row.cell.as_str() {
        "" => row.row.to_string(),
        cell => format!("{} (`{cell}`)", row.row),
    });
    let named: Vec<String> = named.collect();
    let more = all.len().saturating_sub(MAX_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let rows = if all.len() == 1 { "row" } else { "rows" };
    (!all.is_empty()).then(|| format!("left out, without a throughput: {rows} {}{more}", named.join(", ")))
}

fn unread(cells: &UnreadCells) -> String {
    let UnreadCells { column, meaning, cell, cells } = cells;
    let count = if *cells == 1 { "one cell".to_owned() } else { format!("{cells} cells") };
    format!("not read: {count} of {column} as {meaning}, such as `{cell}`; they count as unknown")
}

fn doubt(doubt: &ColumnDoubt) -> String {
    match doubt {
        ColumnDoubt::MoreThanAll { column, meaning, most, cells } => format!(
            "not believed: {column} as {meaning} is up to {} in {} of the rows, which is more than all; a sum over cores is cpu_cores",
            share_text(*most),
            significant(*cells as f64)
        ),
        ColumnDoubt::Ratio { column, meaning } => {
            format!(
                "read as a ratio: {column} as {meaning} is never above 1; write the unit % into its header if it is per cent"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_analyze::LeftOut;

    use super::*;

    #[test]
    fn what_was_guessed_and_what_was_not_used_is_named() {
        let guess = |meaning: &str, column: &str| GuessedColumn {
            meaning: meaning.to_owned(),
            column: column.to_owned(),
        };
        let reading = TableReading {
            guessed: vec![guess("qps", "Requests/sec"), guess("rt_ms", "Latency")],
            unused: vec!["p99".to_owned()],
            left_out: vec![LeftOut { row: 3, cell: "-".to_owned() }],
            ..TableReading::default()
        };
        let sentences = table_reading(&reading);
        assert_eq!(
            sentences[0],
            "read as: qps=Requests/sec, rt_ms=Latency; not used: p99 (--map MEANING=COLUMN corrects it)"
        );
        assert_eq!(sentences[1], "left out, without a throughput: row 3 (`-`)");
        assert_eq!(table_reading(&TableReading::default()), Vec::<String>::new());
    }
}
