use std::fs;

use super::*;

const CONFIG: &str = r#"
apiVersion: v1
kind: Config
current-context: lab
contexts:
- {name: lab, context: {cluster: one, user: admin, namespace: load}}
- name: other
  context: {cluster: two, user: reader}
- {name: lost, context: {cluster: three, user: admin}}
clusters:
- {name: one, cluster: {server: "https://192.0.2.1:6443/", certificate-authority-data: YXV0aG9yaXR5}}
- {name: two, cluster: {server: https://two.test, certificate-authority: ca.pem, insecure-skip-tls-verify: true}}
users:
- {name: admin, user: {client-certificate-data: Y2VydA==, client-key-data: a2V5}}
- name: reader
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: /bin/sh
      args: ["-c", "echo \"{\\\"status\\\": {\\\"token\\\": \\\"$WORD\\\"}}\""]
      env: [{name: WORD, value: from-a-program}]
"#;

fn access_to(context: Option<&str>) -> Result<Access, KubernetesError> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ca.pem"), "of a file").unwrap();
    let path = folder.path().join("config");
    File { config: parsed(&path, CONFIG)?, path: &path }.access(context)
}

#[test]
fn the_current_context_is_used_unless_another_is_named() {
    let access = access_to(None).unwrap();
    assert_eq!(
        (access.server.as_str(), access.namespace.as_deref()),
        ("https://192.0.2.1:6443", Some("load"))
    );
    assert_eq!(access.authority.as_deref(), Some(&b"authority"[..]));
    assert_eq!(access.credentials.certificate, Some((b"cert".to_vec(), b"key".to_vec())));
    assert_eq!(access.credentials.login.token().unwrap(), None);
}

#[test]
fn files_lie_next_to_the_kubeconfig_and_programs_give_tokens() {
    let access = access_to(Some("other")).unwrap();
    assert_eq!(access.authority.as_deref(), Some(&b"of a file"[..]));
    assert!(access.is_unverified && access.namespace.is_none());
    assert_eq!(access.credentials.login.token().unwrap().as_deref(), Some("from-a-program"));
}

#[test]
fn what_a_kubeconfig_lacks_is_named() {
    let missing = |context| match access_to(Some(context)).unwrap_err() {
        KubernetesError::NotInConfig { kind, name, .. } => (kind, name),
        other => panic!("{other}"),
    };
    assert_eq!(missing("none"), ("context", "none".to_owned()));
    assert_eq!(missing("lost"), ("cluster", "three".to_owned()));
}
