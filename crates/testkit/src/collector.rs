//! The real OpenTelemetry collector.

use std::fs;
use std::path::{Path, PathBuf};

use crate::server::{Server, ServerError, command, run};

impl Server {
    /// Compiles the collector, whose version `programs/collector/go.mod` fixes, and starts it: it takes OTLP over HTTP, and passes on what
    /// it took to this URL as OTLP in JSON before it answers.
    ///
    /// # Errors
    /// When there is no Go, or it does not come up.
    pub fn collector(exported_to: &str) -> Result<Self, ServerError> {
        Self::start(|folder, address| {
            let config = folder.join("collector.yml");
            let text = format!(
                "receivers:\n  otlp:\n    protocols:\n      http:\n        endpoint: {address}\n\
                 exporters:\n  otlp_http:\n    metrics_endpoint: {exported_to}\n    encoding: json\n    compression: none\n    \
                 sending_queue:\n      enabled: false\n    retry_on_failure:\n      enabled: false\n\
                 service:\n  telemetry:\n    metrics:\n      level: none\n  pipelines:\n    metrics:\n      \
                 receivers: [otlp]\n      exporters: [otlp_http]\n"
            );
            fs::write(&config, text)?;
            let mut collector = command(&compile(folder)?.to_string_lossy());
            collector.arg(format!("--config={}", config.display()));
            Ok(collector)
        })
    }
}

/// `make setup` has compiled its modules before, so that this only links.
fn compile(folder: &Path) -> Result<PathBuf, ServerError> {
    let program = folder.join("collector");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/collector");
    run(command("go").current_dir(source).args(["build", "-o"]).arg(&program).arg("."))?;
    Ok(program)
}
