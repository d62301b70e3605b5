//! Pushes metrics to an OpenTelemetry collector. The result of a command does not depend on it.

use std::env;

use anyhow::Context as _;
use plimsoll_web::{LiveTotals, OtlpExporter, OtlpSettings};

use crate::exit::UsageError;
use crate::terminal::remark;

/// Reads the settings of `--otlp` and of the environment, so that they are checked before the load.
pub(crate) fn settings(url: Option<&str>) -> anyhow::Result<Option<OtlpSettings>> {
    let read = |url| OtlpSettings::new(url, |name| env::var(name).ok());
    Ok(url.map(read).transpose().map_err(|error| UsageError(error.to_string()))?)
}

/// Starts to push.
pub(crate) fn start(
    settings: Option<OtlpSettings>,
    totals: &LiveTotals,
) -> anyhow::Result<Option<OtlpExporter>> {
    let started = settings.map(|settings| OtlpExporter::start(settings, totals.clone()));
    started.transpose().context("could not start a thread for --otlp")
}

/// Pushes the last metrics, and reports failed pushes.
pub(crate) fn end(exporter: Option<OtlpExporter>) {
    if let Some(trouble) = exporter.and_then(OtlpExporter::end) {
        remark(&format!("plimsoll: {trouble}"));
    }
}
