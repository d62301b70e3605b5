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
    merged(&[CONFIG], context)
}

/// The access by several files, each in a folder of its own.
fn merged(texts: &[&str], context: Option<&str>) -> Result<Access, KubernetesError> {
    let folder = tempfile::tempdir().unwrap();
    let write = |(number, text): (usize, &&str)| {
        let folder = folder.path().join(number.to_string());
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("ca.pem"), format!("of file {number}")).unwrap();
        fs::write(folder.join("config"), text).unwrap();
        folder.join("config")
    };
    let paths: Vec<PathBuf> = texts.iter().enumerate().map(write).collect();
    Files::read(&paths)?.access(context)
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
    assert_eq!(access.authority.as_deref(), Some(&b"of file 0"[..]));
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

#[test]
fn several_kubeconfigs_count_as_one_and_the_first_that_has_a_name_gives_it() {
    let first = "current-context: mine\n\
        contexts:\n- {name: mine, context: {cluster: two, user: admin, namespace: own}}\n\
        users:\n- {name: admin, user: {token: first}}\n";
    let access = merged(&["current-context: \"\"\n", first, CONFIG], None).unwrap();
    assert_eq!((access.server.as_str(), access.namespace.as_deref()), ("https://two.test", Some("own")));
    assert_eq!(access.credentials.login.token().unwrap().as_deref(), Some("first"));
    assert_eq!(access.authority.as_deref(), Some(&b"of file 2"[..]), "a path begins at its own file");
    let lost = merged(&[first, CONFIG], Some("none")).unwrap_err().to_string();
    assert!(lost.contains("/0/config:") && lost.contains("/1/config"), "{lost}");
    assert!(merged(&[first, "contexts: 7"], None).is_err(), "a file that is no kubeconfig is named");
}
