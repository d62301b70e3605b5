//! How a user shows who it is.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde::Deserialize;
use serde_json::json;

use crate::error::KubernetesError;
use crate::file::read;

/// What a user has to show.
#[derive(Debug, Default)]
pub(crate) struct Credentials {
    /// Its certificate and key, in PEM.
    pub(crate) certificate: Option<(Vec<u8>, Vec<u8>)>,
    pub(crate) login: Login,
}

/// Where the bearer token of a request comes from.
#[derive(Debug, Default)]
pub(crate) enum Login {
    /// There is none.
    #[default]
    None,
    Token(String),
    /// The kubelet renews it.
    TokenFile(PathBuf),
    Program(LoginProgram),
}

/// A program that prints a token, as those of managed clusters do (`ExecCredential` of client.authentication.k8s.io).
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
struct PrintedStatus {
    token: Option<String>,
}

impl Login {
    /// The token to send now; `None` if this user has none.
    pub(crate) fn token(&self) -> Result<Option<String>, KubernetesError> {
        match self {
            Self::None => Ok(None),
            Self::Token(token) => Ok(Some(token.clone())),
            Self::TokenFile(path) => Ok(Some(String::from_utf8_lossy(&read(path)?).trim().to_owned())),
            Self::Program(program) => program.token().map(Some),
        }
    }
}

impl LoginProgram {
    fn token(&self) -> Result<String, KubernetesError> {
        let failed = |why: String| KubernetesError::Login { program: self.command.clone(), why };
        let output = self.command().output().map_err(|error| failed(format!("did not start ({error})")))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(failed(format!("failed: {}", said.trim())));
        }
        let printed: Printed = serde_json::from_slice(&output.stdout)
            .map_err(|error| failed(format!("printed no ExecCredential ({error})")))?;
        printed.status.token.ok_or_else(|| failed("gave no token".to_owned()))
    }

    fn command(&self) -> Command {
        let question = json!({
            "apiVersion": self.api_version, "kind": "ExecCredential", "spec": { "interactive": false },
        });
        let env: BTreeMap<&str, &str> =
            self.env.iter().flatten().map(|one| (one.name.as_str(), one.value.as_str())).collect();
        let mut command = Command::new(&self.command);
        command.args(self.args.iter().flatten()).envs(env).env("KUBERNETES_EXEC_INFO", question.to_string());
        command.stdin(Stdio::null());
        command
    }
}
