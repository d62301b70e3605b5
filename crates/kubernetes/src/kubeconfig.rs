//! Which cluster is used, and as which user: by a kubeconfig, or in a pod by its service account.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::access::Access;
use crate::credentials::{Credentials, Login, LoginProgram};
use crate::error::KubernetesError;
use crate::file::read;
use crate::{in_pod, yaml};

#[derive(Deserialize)]
struct Kubeconfig {
    #[serde(rename = "current-context")]
    current_context: Option<String>,
    #[serde(default)]
    contexts: Vec<NamedContext>,
    #[serde(default)]
    clusters: Vec<NamedCluster>,
    #[serde(default)]
    users: Vec<NamedUser>,
}

#[derive(Deserialize)]
struct NamedContext {
    name: String,
    context: ContextEntry,
}

#[derive(Deserialize)]
struct ContextEntry {
    cluster: String,
    user: String,
    namespace: Option<String>,
}

#[derive(Deserialize)]
struct NamedCluster {
    name: String,
    cluster: ClusterEntry,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct ClusterEntry {
    server: String,
    certificate_authority: Option<PathBuf>,
    certificate_authority_data: Option<String>,
    #[serde(default)]
    insecure_skip_tls_verify: bool,
}

#[derive(Deserialize)]
struct NamedUser {
    name: String,
    user: UserEntry,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct UserEntry {
    client_certificate: Option<PathBuf>,
    client_certificate_data: Option<String>,
    client_key: Option<PathBuf>,
    client_key_data: Option<String>,
    token: Option<String>,
    #[serde(rename = "tokenFile")]
    token_file: Option<PathBuf>,
    exec: Option<LoginProgram>,
}

/// The access of the context of this name, or of the current one; without a kubeconfig that of the pod's service account.
/// `KUBECONFIG` may name several files, which count as one.
pub(crate) fn choose(context: Option<&str>) -> Result<Access, KubernetesError> {
    let paths = config_files();
    if paths.is_empty() {
        return in_pod::access().unwrap_or(Err(KubernetesError::NoConfig));
    }
    Files::read(&paths)?.access(context)
}

/// Those that exist: others may be named, as kubectl has it.
fn config_files() -> Vec<PathBuf> {
    let listed = std::env::var_os("KUBECONFIG").unwrap_or_default();
    let usual = std::env::var_os("HOME").map(|home| Path::new(&home).join(".kube/config"));
    let files: Vec<PathBuf> = match listed.is_empty() {
        true => usual.into_iter().collect(),
        false => std::env::split_paths(&listed).collect(),
    };
    files.into_iter().filter(|file| file.is_file()).collect()
}

fn parsed<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, KubernetesError> {
    let read =
        yaml::parse(text).and_then(|value| serde_json::from_value(value).map_err(|error| error.to_string()));
    read.map_err(|why| KubernetesError::Config { path: path.to_owned(), why })
}

/// Kubeconfigs as kubectl merges them: of what several have under one name, the first counts.
struct Files<'a>(Vec<File<'a>>);

impl<'a> Files<'a> {
    fn read(paths: &'a [PathBuf]) -> Result<Self, KubernetesError> {
        let file = |path: &'a PathBuf| {
            let text = read(path)?;
            Ok(File { config: parsed(path, &String::from_utf8_lossy(&text))?, path })
        };
        paths.iter().map(file).collect::<Result<_, _>>().map(Self)
    }

    fn access(&self, context: Option<&str>) -> Result<Access, KubernetesError> {
        let is_set = |name: &&str| !name.is_empty();
        let current = || self.0.iter().filter_map(|file| file.config.current_context.as_deref()).find(is_set);
        let name = context.or_else(current).unwrap_or_default();
        let (_, context) = self.find("context", name, |file| &file.contexts)?;
        let context = &context.context;
        let (cluster_file, cluster) = self.find("cluster", &context.cluster, |file| &file.clusters)?;
        let (user_file, user) = self.find("user", &context.user, |file| &file.users)?;
        let cluster = &cluster.cluster;
        let authority = (&cluster.certificate_authority_data, &cluster.certificate_authority);
        Ok(Access {
            server: cluster.server.trim_end_matches('/').to_owned(),
            authority: cluster_file.content(authority)?,
            is_unverified: cluster.insecure_skip_tls_verify,
            credentials: user_file.credentials(&user.user)?,
            namespace: context.namespace.clone(),
        })
    }

    /// The first entry of this name, and the file that it is in.
    fn find<T: Named>(
        &self,
        kind: &'static str,
        name: &str,
        entries: impl Fn(&Kubeconfig) -> &Vec<T>,
    ) -> Result<(&File<'a>, &T), KubernetesError> {
        let in_file = |file: &&File<'a>| entries(&file.config).iter().any(|entry| entry.name() == name);
        let found =
            self.0.iter().find(in_file).and_then(|file| {
                Some((file, entries(&file.config).iter().find(|entry| entry.name() == name)?))
            });
        found.ok_or_else(|| {
            let paths: Vec<String> = self.0.iter().map(|file| file.path.display().to_string()).collect();
            KubernetesError::NotInConfig { path: paths.join(":").into(), kind, name: name.to_owned() }
        })
    }
}

/// An entry of a kubeconfig, which has a name.
trait Named {
    fn name(&self) -> &str;
}

impl Named for NamedContext {
    fn name(&self) -> &str {
        &self.name
    }
}

impl Named for NamedCluster {
    fn name(&self) -> &str {
        &self.name
    }
}

impl Named for NamedUser {
    fn name(&self) -> &str {
        &self.name
    }
}

/// A kubeconfig and where it lies: paths in it begin at its folder.
struct File<'a> {
    config: Kubeconfig,
    path: &'a Path,
}

impl File<'_> {
    fn credentials(&self, user: &UserEntry) -> Result<Credentials, KubernetesError> {
        let certificate = self.content((&user.client_certificate_data, &user.client_certificate))?;
        let key = self.content((&user.client_key_data, &user.client_key))?;
        let login = match user {
            UserEntry { token: Some(token), .. } => Login::Token(token.clone()),
            UserEntry { token_file: Some(path), .. } => Login::TokenFile(self.in_folder(path)),
            UserEntry { exec: Some(program), .. } => Login::Program(program.clone()),
            _ => Login::None,
        };
        Ok(Credentials { certificate: certificate.zip(key), login })
    }

    /// What stands in the kubeconfig in base64, or else in the file that it names.
    fn content(
        &self,
        (data, file): (&Option<String>, &Option<PathBuf>),
    ) -> Result<Option<Vec<u8>>, KubernetesError> {
        if let Some(data) = data {
            let decoded = BASE64_STANDARD.decode(data.trim());
            return decoded.map(Some).map_err(|error| KubernetesError::Config {
                path: self.path.to_owned(),
                why: format!("a certificate or key in it is not base64 ({error})"),
            });
        }
        file.as_ref().map(|file| read(&self.in_folder(file))).transpose()
    }

    fn in_folder(&self, file: &Path) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(file)
    }
}

#[cfg(test)]
mod tests;
