//! Requests to the API server.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rustls::crypto::aws_lc_rs::default_provider;
use rustls_native_certs::load_native_certs;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use ureq::http::{Request, Response};
use ureq::tls::{Certificate, ClientCert, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body};

use crate::access::Access;
use crate::credentials::{Identity, Login, Proof};
use crate::error::KubernetesError;
use crate::kubeconfig;

/// The largest answer that is read: a page of cAdvisor on a node of 250 pods has about 10 MB.
const MAX_ANSWER_BYTES: u64 = 64 << 20;
/// The namespace of a context that names none.
const DEFAULT_NAMESPACE: &str = "default";
const UNAUTHORIZED: u16 = 401;

/// A cluster, accessed as one user.
#[derive(Debug)]
pub struct Cluster {
    access: Access,
    /// How long one answer may take.
    deadline: Duration,
    /// The client with the certificate of the kubeconfig, if it has one.
    agent: Agent,
    /// The login of the last request.
    proven: Mutex<Option<Proven>>,
}

/// A client that has logged in, and the token that it sends.
#[derive(Debug, Clone)]
struct Proven {
    agent: Agent,
    token: Option<String>,
}

/// The body with which the API server rejects a request.
#[derive(Default, Deserialize)]
struct Status {
    #[serde(default)]
    message: String,
}

impl Cluster {
    /// Uses the cluster of a context of the kubeconfig, or of its current context; in a pod, that of its service account. Sends no
    /// request yet; a later answer may take up to `deadline`.
    ///
    /// # Errors
    /// When there is no kubeconfig, or it cannot be read or lacks what it names.
    pub fn connect(context: Option<&str>, deadline: Duration) -> Result<Self, KubernetesError> {
        Self::new(kubeconfig::choose(context)?, deadline)
    }

    /// Like [`Self::connect`], by these kubeconfigs instead of those that the environment names. They are merged.
    ///
    /// # Errors
    /// When none of them exists, or they cannot be read or lack what they name.
    pub fn connect_by(
        kubeconfigs: &[PathBuf],
        context: Option<&str>,
        deadline: Duration,
    ) -> Result<Self, KubernetesError> {
        Self::new(kubeconfig::by(kubeconfigs, context)?, deadline)
    }

    fn new(access: Access, deadline: Duration) -> Result<Self, KubernetesError> {
        let agent = agent(&access, access.credentials.certificate.as_ref(), deadline)?;
        Ok(Self { access, deadline, agent, proven: Mutex::default() })
    }

    /// The namespace of the context; `default` if it names none.
    pub fn namespace(&self) -> &str {
        self.access.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE)
    }

    /// Returns the object at a path such as `/api/v1/namespaces/default/pods`.
    ///
    /// # Errors
    /// When the API server does not answer, refuses, or gives something else.
    pub fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, KubernetesError> {
        let text = self.text(path)?;
        serde_json::from_str(&text).map_err(|error| KubernetesError::Answer {
            request: format!("GET {path}"),
            why: error.to_string(),
        })
    }

    /// Returns the page at a path, as text.
    ///
    /// # Errors
    /// When the API server does not answer, or refuses.
    pub fn text(&self, path: &str) -> Result<String, KubernetesError> {
        self.send("GET", path, None)
    }

    /// Creates an object in the list at a path.
    ///
    /// # Errors
    /// When the API server does not answer, refuses, or has an object of that name.
    pub fn create(&self, path: &str, object: &Value) -> Result<(), KubernetesError> {
        self.send("POST", path, Some(object)).map(drop)
    }

    /// Deletes the object at a path and its dependents; false if there is no such object.
    ///
    /// # Errors
    /// When the API server does not answer, or refuses.
    pub fn delete(&self, path: &str) -> Result<bool, KubernetesError> {
        let deleted = self.send("DELETE", &format!("{path}?propagationPolicy=Foreground"), None);
        match deleted {
            Ok(_) => Ok(true),
            Err(KubernetesError::NotFound { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Result<String, KubernetesError> {
        let mut answer = self.attempt((method, path), body)?;
        // The token or certificate of a login program expires.
        let is_refused = answer.status().as_u16() == UNAUTHORIZED;
        if is_refused && self.access.credentials.login.is_renewed() {
            self.proven.lock().take();
            answer = self.attempt((method, path), body)?;
        }
        let status = answer.status().as_u16();
        let text = answer.body_mut().with_config().limit(MAX_ANSWER_BYTES).read_to_string();
        let text = text.map_err(|error| self.unreachable(&error))?;
        match status {
            200..=299 => Ok(text),
            _ => Err(refused(&format!("{method} {path}"), status, &text)),
        }
    }

    fn attempt(
        &self,
        (method, path): (&str, &str),
        body: Option<&Value>,
    ) -> Result<Response<Body>, KubernetesError> {
        let malformed = |error: ureq::http::Error| KubernetesError::Answer {
            request: format!("{method} {path}"),
            why: error.to_string(),
        };
        let Proven { agent, token } = self.proven()?;
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.access.server));
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let sent = match body {
            Some(body) => {
                let request = request.header("content-type", "application/json");
                agent.run(request.body(body.to_string()).map_err(malformed)?)
            }
            None => agent.run(request.body(()).map_err(malformed)?),
        };
        sent.map_err(|error| self.unreachable(&error))
    }

    /// Returns the login for the next request. That of a program is kept until it is refused; a token file is read each time.
    fn proven(&self) -> Result<Proven, KubernetesError> {
        let mut kept = self.proven.lock();
        let login = &self.access.credentials.login;
        if let Some(proven) = kept.as_ref()
            && !matches!(login, Login::TokenFile(_))
        {
            return Ok(proven.clone());
        }
        let Proof { token, certificate } = login.proof()?;
        let agent = match &certificate {
            Some(certificate) => agent(&self.access, Some(certificate), self.deadline)?,
            None => self.agent.clone(),
        };
        Ok(kept.insert(Proven { agent, token }).clone())
    }

    fn unreachable(&self, error: &ureq::Error) -> KubernetesError {
        let (server, why) = (self.access.server.clone(), error.to_string());
        KubernetesError::Unreachable { server, why, may_be_sent: !is_before_sending(error) }
    }
}

/// True if the error came before a request could be sent: there was no connection.
fn is_before_sending(error: &ureq::Error) -> bool {
    match error {
        // `InvalidData` is an error of TLS.
        ureq::Error::Io(error) => matches!(
            error.kind(),
            ErrorKind::ConnectionRefused
                | ErrorKind::HostUnreachable
                | ErrorKind::NetworkUnreachable
                | ErrorKind::InvalidData
        ),
        ureq::Error::HostNotFound
        | ureq::Error::ConnectionFailed
        | ureq::Error::Tls(_)
        | ureq::Error::Rustls(_) => true,
        _ => false,
    }
}

fn refused(request: &str, status: u16, text: &str) -> KubernetesError {
    let said = serde_json::from_str::<Status>(text).unwrap_or_default().message;
    let message = if said.is_empty() { text.chars().take(200).collect() } else { said };
    let request = request.to_owned();
    match status {
        UNAUTHORIZED => KubernetesError::LoggedOut { request, message },
        403 => KubernetesError::Forbidden { request, message },
        404 => KubernetesError::NotFound { request, message },
        409 => KubernetesError::Exists { message },
        _ => KubernetesError::Refused { request, status, message },
    }
}

/// Makes a client of the API server that authenticates with this certificate.
fn agent(
    access: &Access,
    certificate: Option<&Identity>,
    deadline: Duration,
) -> Result<Agent, KubernetesError> {
    let config = Agent::config_builder()
        .timeout_global(Some(deadline))
        .http_status_as_error(false)
        .max_redirects(0)
        // `http_proxy` is meant for the web.
        .proxy(None)
        .tls_config(security(access, certificate)?)
        .user_agent(concat!("plimsoll/", env!("CARGO_PKG_VERSION")))
        .build();
    Ok(config.into())
}

fn security(access: &Access, certificate: Option<&Identity>) -> Result<TlsConfig, KubernetesError> {
    let authorities = match &access.authority {
        Some(pem) => certificates(access, pem)?,
        None => load_native_certs().certs.iter().map(|one| Certificate::from_der(one).to_owned()).collect(),
    };
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&authorities))
        .client_cert(client(access, certificate)?)
        .disable_verification(access.is_unverified)
        .unversioned_rustls_crypto_provider(Arc::new(default_provider()))
        .build())
}

fn client(access: &Access, certificate: Option<&Identity>) -> Result<Option<ClientCert>, KubernetesError> {
    let Some((certificate, key)) = certificate else { return Ok(None) };
    let chain = certificates(access, certificate)?;
    let key = ureq::tls::PrivateKey::from_pem(key).map_err(|error| unfit(access, &error))?;
    Ok(Some(ClientCert::new_with_certs(&chain, key)))
}

fn certificates(access: &Access, pem: &[u8]) -> Result<Vec<Certificate<'static>>, KubernetesError> {
    let certificate = |item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(Ok(certificate)),
        Ok(_) => None,
        Err(error) => Some(Err(unfit(access, &error))),
    };
    parse_pem(pem).filter_map(certificate).collect()
}

fn unfit(access: &Access, error: &ureq::Error) -> KubernetesError {
    KubernetesError::Unreachable {
        server: access.server.clone(),
        why: format!(
            "a certificate or key of the kubeconfig, or of its login program, cannot be read ({error})"
        ),
        may_be_sent: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_that_is_refused_is_no_missing_role() {
        let refused = |status| refused("GET /api", status, r#"{"message": "no"}"#);
        assert!(
            matches!(refused(401), KubernetesError::LoggedOut { request, message } if request == "GET /api" && message == "no")
        );
        assert!(matches!(refused(403), KubernetesError::Forbidden { .. }));
        assert!(matches!(refused(409), KubernetesError::Exists { .. }));
        assert!(matches!(refused(429), KubernetesError::Refused { status: 429, .. }));
    }
}
