//! The parts of a run file that cannot be trusted.

use plimsoll_record::Damage;
use plimsoll_units::grouped;

/// Names the rows that do not match their digest, and what was left out because of them.
pub fn damage(damage: &Damage) -> String {
    let Damage { table, first, last, steps } = damage;
    if *table == "digest" {
        return "the digests do not match their own digest: rows may be missing".to_owned();
    }
    let number = |key: i64| grouped(key.unsigned_abs());
    let rows = match last {
        Some(last) if last == first => format!("row {} of `{table}` does not match its", number(*first)),
        Some(last) if *first < 0 => format!("rows up to {} of `{table}` do not match their", number(*last)),
        Some(last) => format!("rows {} to {} of `{table}` do not match their", number(*first), number(*last)),
        None if *first < 0 => format!("the rows of `{table}` do not match their"),
        None => format!("rows from {} on of `{table}` do not match their", number(*first)),
    };
    let left_out = match steps.as_slice() {
        [] => "they are left out".to_owned(),
        [step] => format!("step {} is left out", step + 1),
        [first, .., last] => format!("steps {} to {} are left out", first + 1, last + 1),
    };
    format!("{rows} digest: {left_out}")
}
