//! The meanings of a table's columns.

use plimsoll_analyze::{GuessedColumn, TableTier};

use super::cell::Cell;
use super::meaning::Meaning;
use super::unit::Dimension;

/// Why a `--map` is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MappingError {
    #[error("--map `{0}` has no `=`; write MEANING=COLUMN, such as qps=throughput")]
    Form(String),
    #[error("--map `{0}`: no such meaning; plimsoll explain --help lists them")]
    Meaning(String),
    #[error("no column is known to be the throughput; add --map qps=COLUMN with one of {known}")]
    NoThroughput { known: String },
    #[error("--map {meaning}={column}: the table has no column `{column}`; it has {known}")]
    Column { meaning: String, column: String, known: String },
    #[error(
        "the column `{column}` is a counter, which only rises: export rate({counter}[1m]) in its place, or name the columns to \
         read with --rate and --resource"
    )]
    RawCounter { column: String, counter: String },
    #[error("{meaning}: the file has no column `{column}`; it has {known}")]
    NoColumn { meaning: String, column: String, known: String },
}

/// The source of a figure: a column, or a constant for all rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Origin {
    Column(String),
    Number(f64),
}

/// One meaning with its source.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) meaning: Meaning,
    pub(super) origin: Origin,
}

/// The meanings of a table's columns.
#[derive(Debug, Clone, Default)]
pub struct Mapping {
    pub(super) labels: Vec<String>,
    pub(super) groups: Vec<String>,
    pub(super) front: Option<String>,
    pub(super) entries: Vec<Entry>,
    /// Meanings that no column has, from `MEANING=`.
    absent: Vec<String>,
}

fn origin(text: &str) -> Origin {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Origin::Number(number),
        _ => Origin::Column(text.to_owned()),
    }
}

fn meaning(name: &str) -> Result<Meaning, MappingError> {
    Meaning::named(name).ok_or_else(|| MappingError::Meaning(name.to_owned()))
}

impl Mapping {
    /// Parses the values of `--map`. Columns that they do not name are recognised by their headers later; `MEANING=` without a
    /// column says that no column has that meaning.
    ///
    /// # Errors
    /// When one of them is not `MEANING=COLUMN`, or its meaning is unknown.
    pub fn parse(typed: &[String]) -> Result<Self, MappingError> {
        let mut mapping = Self::default();
        for text in typed {
            let (meaning, column) = text.split_once('=').ok_or_else(|| MappingError::Form(text.clone()))?;
            mapping.add(meaning, column)?;
        }
        Ok(mapping)
    }

    fn add(&mut self, name: &str, column: &str) -> Result<(), MappingError> {
        let columns = || column.split(',').filter(|column| !column.is_empty()).map(str::to_owned);
        match name {
            "label" => self.labels.extend(columns()),
            "group" => self.groups.extend(columns()),
            "front" => self.front = Some(column.to_owned()),
            _ if column.is_empty() => {
                meaning(name)?;
            }
            _ => self.put(name, origin(column))?,
        }
        if column.is_empty() {
            self.absent.push(name.to_owned());
        }
        Ok(())
    }

    fn put(&mut self, name: &str, origin: Origin) -> Result<(), MappingError> {
        self.entries.push(Entry { name: name.to_owned(), meaning: meaning(name)?, origin });
        Ok(())
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// The column of a meaning; `None` if it has none.
    pub(super) fn column(&self, meaning: &str) -> Option<&str> {
        match &self.entry(meaning)?.origin {
            Origin::Column(column) => Some(column),
            Origin::Number(_) => None,
        }
    }

    /// The constant of a meaning; `None` if it has none.
    pub(super) fn number(&self, meaning: &str) -> Option<f64> {
        match self.entry(meaning)?.origin {
            Origin::Number(number) => Some(number),
            Origin::Column(_) => None,
        }
    }

    /// True for a meaning that has a column or is known to have none.
    pub(super) fn has(&self, name: &str) -> bool {
        let is_named = match name {
            "label" => !self.labels.is_empty(),
            "group" => !self.groups.is_empty(),
            _ => self.entry(name).is_some(),
        };
        is_named || self.absent.iter().any(|absent| absent == name)
    }

    /// True for a column that has a meaning.
    pub(super) fn uses(&self, column: &str) -> bool {
        let of_entry = |entry: &Entry| matches!(&entry.origin, Origin::Column(name) if name == column);
        let is_name = |names: &[String]| names.iter().any(|name| name == column);
        self.entries.iter().any(of_entry) || is_name(&self.labels) || is_name(&self.groups)
    }

    /// Adds guesses (pairs of meaning and column) and returns them, with the response size if the throughput's column names it.
    ///
    /// # Errors
    /// When no column of `names` is the throughput.
    pub(super) fn complete(
        &mut self,
        guesses: Vec<(String, String)>,
        names: &[&str],
    ) -> Result<Vec<GuessedColumn>, MappingError> {
        for (meaning, column) in &guesses {
            match meaning.as_str() {
                "label" => self.labels.push(column.clone()),
                "group" => self.groups.push(column.clone()),
                name => self.put(name, Origin::Column(column.clone()))?,
            }
        }
        if self.entry("qps").is_none() {
            return Err(MappingError::NoThroughput { known: names.join(", ") });
        }
        let size = self.guess_size()?;
        let columns = guesses.into_iter().map(|(meaning, column)| GuessedColumn { meaning, column });
        Ok(columns.chain(size).collect())
    }

    /// The size of responses, if it is the name of the throughput's column: `100 KB`.
    fn guess_size(&mut self) -> Result<Option<GuessedColumn>, MappingError> {
        let meaning = "response_bytes";
        let size_of = |column: &str| {
            let size = Cell::parse(column).ok()?;
            let unit = size.unit.filter(|unit| unit.dimension == Dimension::Bytes && size.number > 0.0)?;
            Some((column.to_owned(), size.number * unit.base))
        };
        let found = self.column("qps").filter(|_| !self.has(meaning)).and_then(size_of);
        let Some((column, bytes)) = found else { return Ok(None) };
        self.put(meaning, Origin::Number(bytes))?;
        Ok(Some(GuessedColumn { meaning: meaning.to_owned(), column }))
    }

    /// The tiers in the order in which they are first named.
    pub(super) fn tiers(&self) -> Vec<TableTier> {
        let mut tiers: Vec<TableTier> = Vec::new();
        for name in self.entries.iter().filter_map(|entry| entry.meaning.tier()) {
            if !tiers.iter().any(|tier| tier.name == name) {
                tiers.push(TableTier { name: name.to_owned(), ..TableTier::default() });
            }
        }
        tiers
    }
}

#[cfg(test)]
mod tests {
    use super::super::guess::guess;
    use super::*;

    /// As a table with this header and these rows completes it.
    fn complete(
        mapping: &mut Mapping,
        names: &[&str],
        rows: &[Vec<&str>],
    ) -> Result<Vec<GuessedColumn>, MappingError> {
        let guesses = guess(names, rows, mapping);
        mapping.complete(guesses, names)
    }

    fn parse(typed: &[&str]) -> Result<Mapping, MappingError> {
        Mapping::parse(&typed.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn meanings_name_columns_or_numbers() {
        let mapping =
            parse(&["label=a,b", "front=nginx", "qps=x", "nginx.link_mbit=1500", "db.qps=y"]).unwrap();
        assert_eq!(mapping.labels, ["a", "b"]);
        assert_eq!(mapping.front.as_deref(), Some("nginx"));
        assert_eq!(mapping.entries[1].origin, Origin::Number(1500.0));
        let tiers = mapping.tiers();
        assert_eq!(tiers.iter().map(|tier| tier.name.as_str()).collect::<Vec<_>>(), ["nginx", "db"]);
    }

    #[test]
    fn a_wrong_mapping_is_named() {
        assert_eq!(parse(&["qps"]).unwrap_err(), MappingError::Form("qps".to_owned()));
        assert_eq!(parse(&["qbs=x"]).unwrap_err(), MappingError::Meaning("qbs".to_owned()));
        assert_eq!(parse(&["db.memory=x"]).unwrap_err(), MappingError::Meaning("db.memory".to_owned()));
        let mut mapping = parse(&["rt_ms=x"]).unwrap();
        let known = "x".to_owned();
        assert_eq!(
            complete(&mut mapping, &["x"], &[vec!["5"]]).unwrap_err(),
            MappingError::NoThroughput { known }
        );
    }

    #[test]
    fn what_is_typed_overrules_a_guess() {
        let mut mapping = parse(&["connections=", "qps=slow"]).unwrap();
        let guessed = complete(&mut mapping, &["clients", "rps", "slow"], &[vec!["1", "20", "10"]]).unwrap();
        assert_eq!(guessed, []);
        assert!(mapping.uses("slow") && !mapping.uses("rps"));
    }
}
