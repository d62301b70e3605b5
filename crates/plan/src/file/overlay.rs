//! Lays a variant over a file: the variant's values replace the file's, table by table.

use plimsoll_units::nearest;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::error::{PlanFileError, Problem, Result, line_of};

/// Keys that a variant's key removes from the same table, because at most one of them makes sense.
fn rivals(table: &str, key: &str, value: &DeValue<'_>) -> &'static [&'static str] {
    match (table, key) {
        // Stages have times of their own.
        ("load", "rate") if value.as_str().is_some_and(|text| text.contains('(')) => {
            &["ladder", "rate", "arrivals", "search", "budget", "within", "step"]
        }
        ("target", "requests") => &["method", "body"],
        ("target", "method" | "body") => &["requests"],
        ("target", "cacert") => &["insecure"],
        ("target", "insecure") => &["cacert"],
        ("load", "ladder" | "rate" | "search") => {
            &["ladder", "rate", "arrivals", "search", "budget", "within"]
        }
        ("expect", "either") => &["limit", "where", "size"],
        ("expect", "limit") => &["either", "where", "size"],
        ("expect", "where" | "size") => &["either"],
        _ => &[],
    }
}

/// Keys of the target that define what is sent, which tables `request` do as well.
const SENT: [&str; 3] = ["requests", "method", "body"];

/// Lays the values of `over` over those of `base`. Tables are merged, hosts and switches by name; any other value replaces the
/// existing one.
pub(super) fn lay_over<'a>(text: &str, base: &mut DeTable<'a>, over: &DeTable<'a>) -> Result<()> {
    remove_replaced_requests(base, over);
    for (key, value) in over.iter() {
        let name = key.get_ref().as_ref();
        match (base.get_mut(name).map(Spanned::get_mut), value.get_ref()) {
            (Some(DeValue::Array(known)), DeValue::Array(others)) if matches!(name, "host" | "switch") => {
                lay_over_named(text, name, known, others)?;
            }
            (None, DeValue::Array(others)) if name == "switch" => {
                lay_over_named(text, name, &mut DeArray::new(), others)?;
            }
            (Some(DeValue::Table(table)), DeValue::Table(other)) => lay_over_table(name, table, other),
            _ => replace(base, key, value),
        }
    }
    Ok(())
}

/// Removes the file's requests if the variant defines its own, in either form.
fn remove_replaced_requests<'a>(base: &mut DeTable<'a>, over: &DeTable<'a>) {
    if over.contains_key("request")
        && let Some(DeValue::Table(target)) = base.get_mut("target").map(Spanned::get_mut)
    {
        for key in SENT {
            target.remove(key);
        }
    }
    if let Some(DeValue::Table(target)) = over.get("target").map(Spanned::get_ref)
        && SENT.iter().any(|key| target.contains_key(*key))
    {
        base.remove("request");
    }
}

fn replace<'a>(base: &mut DeTable<'a>, key: &Spanned<toml::de::DeString<'a>>, value: &Spanned<DeValue<'a>>) {
    // Removed first, so that the key's position is the variant's too.
    base.remove(key.get_ref().as_ref());
    base.insert(key.clone(), value.clone());
}

fn lay_over_table<'a>(place: &str, base: &mut DeTable<'a>, over: &DeTable<'a>) {
    for (key, value) in over.iter() {
        let name = key.get_ref().as_ref();
        // An option that is switched off excludes no other.
        if !matches!(value.get_ref(), DeValue::Boolean(false)) {
            let rivals =
                rivals(place, name, value.get_ref()).iter().filter(|rival| !over.contains_key(**rival));
            for rival in rivals {
                base.remove(*rival);
            }
        }
        match (base.get_mut(name).map(Spanned::get_mut), value.get_ref()) {
            (Some(DeValue::Table(table)), DeValue::Table(other)) => lay_over_table(name, table, other),
            _ => replace(base, key, value),
        }
    }
}

fn name_of<'t>(host: &'t DeValue<'_>) -> Option<&'t str> {
    host.as_table()?.get("name")?.get_ref().as_str()
}

/// Changes the file's host or switch with the same name, or adds a new host. A variant cannot add switches, because only equal
/// switches can be compared across variants.
fn lay_over_named<'a>(text: &str, what: &str, base: &mut DeArray<'a>, over: &DeArray<'a>) -> Result<()> {
    for other in over.iter() {
        let line = line_of(text, other.span().start);
        let (Some(name), DeValue::Table(values)) = (name_of(other.get_ref()), other.get_ref()) else {
            let why = format!("what a variant says of a {what} is found by its name");
            let problem = Problem::Missing { key: format!("variant.{what}.name"), why };
            return Err(PlanFileError { line, problem });
        };
        let known = base.iter_mut().find(|known| name_of(known.get_ref()) == Some(name));
        match known.map(Spanned::get_mut) {
            Some(DeValue::Table(known)) => lay_over_table(what, known, values),
            // An added host runs something or is sampled; one that only changes values has a mistyped name.
            _ if what == "host" && (values.contains_key("run") || values.contains_key("probe")) => {
                base.push(other.clone());
            }
            _ => return Err(PlanFileError { line, problem: unknown(what, base, name) }),
        }
    }
    Ok(())
}

fn unknown(what: &str, base: &DeArray<'_>, name: &str) -> Problem {
    let names: Vec<&str> = base.iter().filter_map(|known| name_of(known.get_ref())).collect();
    let near = nearest(name, names.iter().copied()).map_or_else(|| names.join(", "), ToOwned::to_owned);
    let expected = match what {
        "host" => format!("the name of one ({near}), or the host needs `run` or `probe` to be one more"),
        _ if names.is_empty() => "left out, for the file has none".to_owned(),
        _ => format!("the name of one ({near})"),
    };
    let found = format!("`{name}`, which is no {what} of the file");
    Problem::Wrong { key: format!("variant.{what}.name"), found, expected }
}
