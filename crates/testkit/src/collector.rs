//! The real OpenTelemetry collector.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::certificate::write_certificate;
use crate::server::{Server, ServerError, command, run};

impl Server {
    /// Compiles the collector, whose version `programs/collector/go.mod` fixes, and starts it: it takes OTLP over HTTP, and passes on what
    /// it took to this URL as OTLP in JSON before it answers.
    ///
    /// # Errors
    /// When there is no Go, or it does not come up.
    pub fn collector(exported_to: &str) -> Result<Self, ServerError> {
        Self::collector_with(exported_to, |_| Ok(String::new()))
    }

    /// The same over TLS, with a certificate of its own.
    ///
    /// # Errors
    /// When there is no Go, or it does not come up.
    pub fn tls_collector(exported_to: &str) -> Result<Self, ServerError> {
        Self::collector_with(exported_to, |folder| {
            write_certificate(folder)?;
            let folder = folder.display();
            Ok(format!(
                "        tls:\n          cert_file: {folder}/cert.pem\n          key_file: {folder}/key.pem\n"
            ))
        })
    }

    /// The certificate of a collector over TLS, for 127.0.0.1: its own authority.
    pub fn certificate(&self) -> PathBuf {
        self.folder().join("cert.pem")
    }

    /// `receiving` gives more settings of its receiver.
    fn collector_with(
        exported_to: &str,
        receiving: impl Fn(&Path) -> io::Result<String>,
    ) -> Result<Self, ServerError> {
        Self::start(|folder, address| {
            let config = folder.join("collector.yml");
            let receiving = receiving(folder)?;
            let text = format!(
                "receivers:\n  otlp:\n    protocols:\n      http:\n        endpoint: {address}\n{receiving}\
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
