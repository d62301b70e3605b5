//! Requests as typed.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// What marks a text as a template.
pub(super) const OPENING: &str = "${";

/// Several requests, and what belongs to them, as typed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ScenarioSpec {
    /// The requests of a file; none if the command's own is the only one.
    pub requests: Vec<RequestSpec>,
    /// The file that `${csv.column}` takes values from.
    pub csv: Option<CsvFile>,
    /// The checks that every response must pass, as typed.
    pub checks: Vec<String>,
}

/// One request of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestSpec {
    /// What reports call it; requests of one name are reported together.
    pub name: String,
    /// How often it is sent compared with the others; at least 1.
    pub weight: u32,
    /// The line of the file that it begins in.
    pub line: usize,
    pub method: String,
    /// A URL, or a path on the host of the command's URL.
    pub url: String,
    /// Its headers; those of the command are added where it has none of that name.
    pub headers: Vec<(String, String)>,
    /// The body; empty for none.
    pub body: Vec<u8>,
}

/// The order in which requests take the rows of a CSV file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowOrder {
    /// Each once before any comes again, over all workers.
    #[default]
    Sequential,
    /// Any, each as likely as any other.
    Random,
}

/// The CSV file of a plan. Its rows are not part of the plan; equal hashes mean equal rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CsvFile {
    /// Where it was read from.
    pub path: PathBuf,
    /// Its length in bytes.
    pub bytes: u64,
    /// SHA-256 of its bytes, in hex.
    pub sha256: String,
    /// The order of its rows.
    pub order: RowOrder,
}

impl CsvFile {
    /// The file with this text.
    pub fn new(path: PathBuf, text: &[u8], order: RowOrder) -> Self {
        Self { path, bytes: text.len() as u64, sha256: hex(&Sha256::digest(text)), order }
    }
}

/// Bytes in hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
