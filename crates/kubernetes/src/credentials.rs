//! How a user logs in to a cluster.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use crate::error::KubernetesError;
use crate::file::read;
use crate::program::output_within;

/// How long a login program may take. It may wait for a user, who opens a page and enters a code.
const LOGIN_WITHIN: Duration = Duration::from_secs(120);

/// A certificate and its key, in PEM.
pub(crate) type Identity = (Vec<u8>, Vec<u8>);

/// What a user logs in with.
#[derive(Debug, Default)]
pub(crate) struct Credentials {
    /// The certificate of the kubeconfig itself.
    pub(crate) certificate: Option<Identity>,
    pub(crate) login: Login,
}

/// The result of a login: a token, a certificate, or both.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Proof {
    /// A bearer token.
    pub(crate) token: Option<String>,
    pub(crate) certificate: Option<Identity>,
}

/// The source of the bearer token of a request, or of a certificate that is not in the kubeconfig.
#[derive(Debug, Default)]
pub(crate) enum Login {
    /// The user has no login.
    #[default]
    None,
    Token(String),
    /// The kubelet renews it.
    TokenFile(PathBuf),
    Program(LoginProgram),
}

/// A program that prints a token or a certificate, such as those for managed clusters (`ExecCredential` of
/// client.authentication.k8s.io).
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LoginProgram {
    api_version: String,
    command: String,
    #[serde(default)]
    args: Option<Vec<String>>,
    #[serde(default)]
    env: Option<Vec<Variable>>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Variable {
    name: String,
    value: String,
}

#[derive(Deserialize)]
struct Printed {
    status: PrintedStatus,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PrintedStatus {
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
}

impl Login {
    /// Returns the token and the certificate to use now; both are `None` if this user has no login.
    pub(crate) fn proof(&self) -> Result<Proof, KubernetesError> {
        let by_token = |token| Proof { token: Some(token), certificate: None };
        match self {
            Self::None => Ok(Proof::default()),
            Self::Token(token) => Ok(by_token(token.clone())),
            Self::TokenFile(path) => Ok(by_token(String::from_utf8_lossy(&read(path)?).trim().to_owned())),
            Self::Program(program) => program.proof(LOGIN_WITHIN),
        }
    }

    /// True if a new login may be accepted after one was refused.
    pub(crate) fn is_renewed(&self) -> bool {
        matches!(self, Self::TokenFile(_) | Self::Program(_))
    }
}

impl LoginProgram {
    /// Runs the program, and returns what it prints within the limit.
    pub(crate) fn proof(&self, limit: Duration) -> Result<Proof, KubernetesError> {
        let failed = |why: String| KubernetesError::Login { program: self.command.clone(), why };
        let output = output_within(&mut self.command(), limit).map_err(failed)?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let why = if said.is_empty() { output.status.to_string() } else { said.trim().to_owned() };
            return Err(failed(format!("failed: {why}")));
        }
        let printed: Printed = serde_json::from_slice(&output.stdout)
            .map_err(|error| failed(format!("printed no ExecCredential ({error})")))?;
        let PrintedStatus { token, client_certificate_data, client_key_data } = printed.status;
        let certificate = match (client_certificate_data, client_key_data) {
            (Some(certificate), Some(key)) => Some((certificate.into_bytes(), key.into_bytes())),
            (None, None) if token.is_none() => {
                return Err(failed("gave neither a token nor a certificate".to_owned()));
            }
            (None, None) => None,
            _ => return Err(failed("gave a certificate without its key, or a key alone".to_owned())),
        };
        Ok(Proof { token, certificate })
    }

    fn command(&self) -> Command {
        let question = json!({
            "apiVersion": self.api_version, "kind": "ExecCredential", "spec": { "interactive": false },
        });
        let env: BTreeMap<&str, &str> =
            self.env.iter().flatten().map(|one| (one.name.as_str(), one.value.as_str())).collect();
        let mut command = Command::new(&self.command);
        command.args(self.args.iter().flatten()).envs(env).env("KUBERNETES_EXEC_INFO", question.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        // A login by device code prints here where to enter the code.
        let shows = std::io::stderr().is_terminal();
        command.stderr(if shows { Stdio::inherit() } else { Stdio::piped() });
        command
    }
}
