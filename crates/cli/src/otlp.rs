//! Metrics that are pushed to an OpenTelemetry collector. What a command found does not depend on it.

use std::env;

use anyhow::Context as _;
use plimsoll_web::{LiveTotals, OtlpExporter, OtlpSettings};

use crate::exit::UsageError;
use crate::terminal::remark;

/// The settings of `--otlp` and of the environment, which are checked before the load.
pub(crate) fn settings(url: Option<&str>) -> anyhow::Result<Option<OtlpSettings>> {
    let read = |url| OtlpSettings::new(url, |name| env::var(name).ok());
    Ok(url.map(read).transpose().map_err(|error| UsageError(error.to_string()))?)
}

/// Begins to push.
pub(crate) fn start(
    settings: Option<OtlpSettings>,
    totals: &LiveTotals,
) -> anyhow::Result<Option<OtlpExporter>> {
    let started = settings.map(|settings| OtlpExporter::start(settings, totals.clone()));
    started.transpose().context("could not start a thread for --otlp")
}

/// Pushes the last metrics, and says what was not taken.
pub(crate) fn end(exporter: Option<OtlpExporter>) {
    if let Some(trouble) = exporter.and_then(OtlpExporter::end) {
        remark(&format!("plimsoll: {trouble}"));
    }
}
