use std::fs;
use std::time::Duration;

use super::*;
use crate::credentials::Proof;

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

/// A program has so long to end by itself, however slow the machine.
const PATIENCE: Duration = Duration::from_secs(60);

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

fn token(access: &Access) -> Option<String> {
    access.credentials.login.proof().unwrap().token
}

/// A user that logs in by a script of sh.
fn program(script: &str) -> LoginProgram {
    let text = serde_json::json!({
        "apiVersion": "client.authentication.k8s.io/v1", "command": "/bin/sh", "args": ["-c", script],
    });
    serde_json::from_value(text).unwrap()
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
    assert_eq!(access.credentials.login.proof().unwrap(), Proof::default());
}

#[test]
fn files_lie_next_to_the_kubeconfig_and_programs_give_tokens() {
    let access = access_to(Some("other")).unwrap();
    assert_eq!(access.authority.as_deref(), Some(&b"of file 0"[..]));
    assert!(access.is_unverified && access.namespace.is_none());
    assert_eq!(token(&access).as_deref(), Some("from-a-program"));
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
    assert_eq!(token(&access).as_deref(), Some("first"));
    assert_eq!(access.authority.as_deref(), Some(&b"of file 2"[..]), "a path begins at its own file");
    let lost = merged(&[first, CONFIG], Some("none")).unwrap_err().to_string();
    assert!(lost.contains("/0/config:") && lost.contains("/1/config"), "{lost}");
    assert!(merged(&[first, "contexts: 7"], None).is_err(), "a file that is no kubeconfig is named");
}

#[test]
fn a_program_may_give_a_certificate_with_its_key() {
    let status = |fields: &str| program(&format!("printf '%s' '{{\"status\": {{{fields}}}}}'"));
    let both = status(r#""clientCertificateData": "cert", "clientKeyData": "key""#).proof(PATIENCE).unwrap();
    assert_eq!(both, Proof { token: None, certificate: Some((b"cert".to_vec(), b"key".to_vec())) });
    for fields in ["", r#""clientCertificateData": "cert""#, r#""token": "a", "clientKeyData": "key""#] {
        let refused = status(fields).proof(PATIENCE);
        assert!(matches!(refused, Err(KubernetesError::Login { .. })), "{fields}: {refused:?}");
    }
}

#[test]
fn a_program_that_does_not_end_or_fails_is_an_error_of_the_login() {
    for (script, limit) in [("exec sleep 600", Duration::ZERO), ("exit 3", PATIENCE)] {
        let refused = program(script).proof(limit);
        assert!(matches!(refused, Err(KubernetesError::Login { .. })), "{script}: {refused:?}");
    }
}

#[test]
fn a_context_or_a_file_that_is_named_is_never_replaced_by_the_account_of_a_pod() {
    let missing = tempfile::tempdir().unwrap().path().join("config");
    for (which, access) in [
        ("named", by(std::slice::from_ref(&missing), None)),
        ("named, with a context", by(std::slice::from_ref(&missing), Some("lab"))),
        ("usual, with a context", usual(Some(missing.clone()), Some("lab"))),
    ] {
        let error = access.map(drop).unwrap_err();
        assert!(matches!(&error, KubernetesError::NoFile { paths } if *paths == missing), "{which}: {error}");
    }
    assert!(
        matches!(usual(None, Some("lab")), Err(KubernetesError::NoConfigOf { context }) if context == "lab")
    );
}

#[test]
fn empty_parts_of_a_kubeconfig_are_those_of_kubectl() {
    let access = merged(&["contexts: null\nusers: null\n", "", CONFIG], None).unwrap();
    assert_eq!(access.server, "https://192.0.2.1:6443");
    let anonymous = "contexts:\n- {name: bare, context: {cluster: two, namespace: \"\"}}\n\
        - {name: half, context: {user: admin}}\nusers:\n- {name: none, user: null}\n";
    let access = merged(&[anonymous, CONFIG], Some("bare")).unwrap();
    assert_eq!((access.server.as_str(), access.namespace.as_deref()), ("https://two.test", None));
    assert_eq!(access.credentials.login.proof().unwrap(), Proof::default());
}

#[test]
fn what_is_not_supported_of_the_chosen_cluster_and_user_is_named() {
    let config = |cluster: &str, user: &str| {
        format!(
            "current-context: a\n\
             contexts:\n- {{name: a, context: {{cluster: a, user: a}}}}\n- {{name: b, context: {{cluster: b, user: b}}}}\n\
             clusters:\n- {{name: a, cluster: {{server: \"https://a.test\"}}}}\n\
             - {{name: b, cluster: {{server: \"https://b.test\", extensions: [], {cluster}}}}}\n\
             users:\n- {{name: a, user: {{token: one}}}}\n- {{name: b, user: {{token: two, {user}}}}}\n"
        )
    };
    let unread = |cluster: &str, user: &str| match merged(&[&config(cluster, user)], Some("b")) {
        Err(KubernetesError::Unread { field, .. }) => Some(field),
        other => other.map(|_| None).unwrap(),
    };
    assert_eq!(unread("", ""), None);
    assert_eq!(unread("proxy-url: \"\"", "as-groups: []"), None, "what is empty changes nothing");
    assert_eq!(unread("proxy-url: \"http://proxy.test\"", "").as_deref(), Some("proxy-url"));
    assert_eq!(unread("tls-server-name: c.test", "").as_deref(), Some("tls-server-name"));
    assert_eq!(unread("", "as: root").as_deref(), Some("as"));
    assert_eq!(unread("", "auth-provider: {name: oidc}").as_deref(), Some("auth-provider"));
    let other = merged(&[&config("proxy-url: x", "username: x")], None);
    assert_eq!(other.unwrap().server, "https://a.test", "only what is chosen counts");
}
