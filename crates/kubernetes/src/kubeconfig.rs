//! Chooses the cluster and the user: by a kubeconfig, or in a pod by its service account.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::access::Access;
use crate::credentials::{Credentials, Login, LoginProgram};
use crate::error::KubernetesError;
use crate::file::read;
use crate::{in_pod, yaml};

/// Fields that would change how a cluster is reached, and are not supported.
const UNREAD_OF_CLUSTERS: [&str; 2] = ["tls-server-name", "proxy-url"];
/// Fields that would change who a user is, and are not supported.
const UNREAD_OF_USERS: [&str; 7] =
    ["as", "as-uid", "as-groups", "as-user-extra", "auth-provider", "username", "password"];

#[derive(Default, Deserialize)]
struct Kubeconfig {
    #[serde(rename = "current-context")]
    current_context: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    contexts: Vec<NamedContext>,
    #[serde(default, deserialize_with = "or_default")]
    clusters: Vec<NamedCluster>,
    #[serde(default, deserialize_with = "or_default")]
    users: Vec<NamedUser>,
}

#[derive(Deserialize)]
struct NamedContext {
    name: String,
    context: ContextEntry,
}

#[derive(Deserialize)]
struct ContextEntry {
    #[serde(default)]
    cluster: String,
    /// Without a user, requests are anonymous.
    user: Option<String>,
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
    #[serde(flatten)]
    others: Fields,
}

#[derive(Deserialize)]
struct NamedUser {
    name: String,
    #[serde(default, deserialize_with = "or_default")]
    user: UserEntry,
}

#[derive(Default, Deserialize)]
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
    #[serde(flatten)]
    others: Fields,
}

/// The fields of an entry that are not read.
type Fields = BTreeMap<String, Value>;

/// Reads `null`, which kubectl writes for an empty field, as the default.
fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(from: D) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(from)?.unwrap_or_default())
}

/// Returns the access of the context of this name, or of the current context; without a kubeconfig, that of the pod's service
/// account. `KUBECONFIG` may name several files, which are merged.
pub(crate) fn choose(context: Option<&str>) -> Result<Access, KubernetesError> {
    let listed = std::env::var_os("KUBECONFIG").unwrap_or_default();
    match listed.is_empty() {
        true => usual(std::env::var_os("HOME").map(|home| Path::new(&home).join(".kube/config")), context),
        false => by(&std::env::split_paths(&listed).collect::<Vec<_>>(), context),
    }
}

/// Returns the access by the default file. A pod usually has no such file; but a context is always one of a file.
fn usual(file: Option<PathBuf>, context: Option<&str>) -> Result<Access, KubernetesError> {
    match (file, context) {
        (Some(file), _) if context.is_some() || file.is_file() => by(&[file], context),
        (_, Some(context)) => Err(KubernetesError::NoConfigOf { context: context.to_owned() }),
        _ => in_pod::access().unwrap_or(Err(KubernetesError::NoConfig)),
    }
}

/// Returns the access by these kubeconfigs. If there are several, some may not exist, as in kubectl.
pub(crate) fn by(paths: &[PathBuf], context: Option<&str>) -> Result<Access, KubernetesError> {
    let found: Vec<PathBuf> = paths.iter().filter(|path| path.is_file()).cloned().collect();
    match found.is_empty() {
        true => Err(KubernetesError::NoFile { paths: joined(paths.iter().map(PathBuf::as_path)) }),
        false => Files::read(&found)?.access(context),
    }
}

/// Joins paths as `KUBECONFIG` lists them.
fn joined<'a>(paths: impl Iterator<Item = &'a Path>) -> PathBuf {
    let paths: Vec<String> = paths.map(|path| path.display().to_string()).collect();
    paths.join(":").into()
}

fn parsed<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, KubernetesError> {
    let read =
        yaml::parse(text).and_then(|value| serde_json::from_value(value).map_err(|error| error.to_string()));
    read.map_err(|why| KubernetesError::Config { path: path.to_owned(), why })
}

/// Kubeconfigs, merged as by kubectl: of several entries of one name, the first counts.
struct Files<'a>(Vec<File<'a>>);

impl<'a> Files<'a> {
    fn read(paths: &'a [PathBuf]) -> Result<Self, KubernetesError> {
        let file = |path: &'a PathBuf| {
            let text = read(path)?;
            let config: Option<Kubeconfig> = parsed(path, &String::from_utf8_lossy(&text))?;
            Ok(File { config: config.unwrap_or_default(), path })
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
        let cluster = &cluster.cluster;
        cluster_file.refuse_unread(("cluster", &context.cluster), &cluster.others, &UNREAD_OF_CLUSTERS)?;
        let authority = (&cluster.certificate_authority_data, &cluster.certificate_authority);
        let user = context.user.as_deref().filter(is_set).map(|user| self.user(user)).transpose()?;
        Ok(Access {
            server: cluster.server.trim_end_matches('/').to_owned(),
            authority: cluster_file.content(authority)?,
            is_unverified: cluster.insecure_skip_tls_verify,
            credentials: user.unwrap_or_default(),
            namespace: context.namespace.clone().filter(|name| !name.is_empty()),
        })
    }

    fn user(&self, name: &str) -> Result<Credentials, KubernetesError> {
        let (file, user) = self.find("user", name, |file| &file.users)?;
        file.refuse_unread(("user", name), &user.user.others, &UNREAD_OF_USERS)?;
        file.credentials(&user.user)
    }

    /// Returns the first entry of this name, and its file.
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
            let path = joined(self.0.iter().map(|file| file.path));
            KubernetesError::NotInConfig { path, kind, name: name.to_owned() }
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

/// A kubeconfig and its path: relative paths in it start at its folder.
struct File<'a> {
    config: Kubeconfig,
    path: &'a Path,
}

impl File<'_> {
    /// Fails if an entry has such a field: without it, the entry would mean another cluster or another user.
    fn refuse_unread(
        &self,
        (kind, name): (&'static str, &str),
        fields: &Fields,
        unread: &[&str],
    ) -> Result<(), KubernetesError> {
        match unread.iter().find(|field| fields.get(**field).is_some_and(is_more_than_empty)) {
            Some(field) => Err(KubernetesError::Unread {
                path: self.path.to_owned(),
                kind,
                name: name.to_owned(),
                field: (*field).to_owned(),
            }),
            None => Ok(()),
        }
    }

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

    /// Returns the base64 data in the kubeconfig, decoded, or else the content of the file that it names.
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

fn is_more_than_empty(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    }
}

#[cfg(test)]
mod tests;
