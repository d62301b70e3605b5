//! The compose file of a fleet.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::broker::{Broker, Certificates};
use crate::error::FleetError;
use crate::placement::{agent_args, calibrate_args};

/// The service of the broker, and its host name for agents.
const BROKER: &str = "broker";
/// The port of the broker in its container.
const PORT: u16 = 4222;
/// Where Compose mounts secrets.
const SECRETS: &str = "/run/secrets";
/// Where the broker keeps its streams.
const STORE: &str = "/data";

/// The agents of a fleet of containers.
#[derive(Debug, Clone)]
pub struct ComposeAgents {
    pub count: usize,
    /// The image of this tool.
    pub image: String,
    /// The image of nats-server.
    pub broker_image: String,
    /// What agents may load, as `plimsoll agent --allow` takes it.
    pub allow: Vec<String>,
    pub fleet: String,
    /// About how long agents calibrate before they join; they do not if `None`.
    pub calibrate: Option<Duration>,
}

impl ComposeAgents {
    /// The names of the agents, which are those of their services.
    pub(super) fn names(&self) -> Vec<String> {
        (1..=self.count).map(|number| format!("agent-{number}")).collect()
    }

    /// Builds the whole file. The broker is published at this port of 127.0.0.1, and agents obey this key.
    pub(super) fn compose_file(&self, port: u16, trusted: &str) -> Result<Value, FleetError> {
        let mut services = Map::new();
        let mut secrets = Map::new();
        services.insert(BROKER.to_owned(), self.broker(port));
        secrets.insert("broker-conf".to_owned(), json!({ "file": "./broker.conf" }));
        for name in self.names() {
            services.insert(name.clone(), self.agent(&name, trusted)?);
            secrets.insert(secret(&name), json!({ "file": format!("./{name}.creds") }));
        }
        Ok(json!({ "services": services, "secrets": secrets, "volumes": { "store": {} } }))
    }

    fn broker(&self, port: u16) -> Value {
        json!({
            "image": self.broker_image,
            "command": ["--config", format!("{SECRETS}/broker.conf")],
            "ports": [format!("127.0.0.1:{port}:{PORT}")],
            "secrets": [{ "source": "broker-conf", "target": "broker.conf" }],
            "volumes": [format!("store:{STORE}")],
        })
    }

    fn agent(&self, name: &str, trusted: &str) -> Result<Value, FleetError> {
        let broker = Broker {
            address: format!("nats://{BROKER}:{PORT}").parse()?,
            credentials: Some(format!("{SECRETS}/agent.creds").into()),
            certificates: Certificates::default(),
            fleet: self.fleet.clone(),
        };
        let args = agent_args(name, &broker, &self.allow, Some(trusted)).into_iter();
        Ok(json!({
            "image": self.image,
            "command": args.chain(calibrate_args(self.calibrate)).collect::<Vec<_>>(),
            "secrets": [{ "source": secret(name), "target": "agent.creds" }],
            "depends_on": [BROKER],
            // The broker may not listen yet.
            "restart": "on-failure",
            "read_only": true,
            "cap_drop": ["ALL"],
            "security_opt": ["no-new-privileges:true"],
        }))
    }
}

fn secret(agent: &str) -> String {
    format!("{agent}-creds")
}

/// The settings of the broker, without its keys.
pub(super) fn broker_settings() -> String {
    format!("server_name: {BROKER}\nlisten: \"0.0.0.0:{PORT}\"\njetstream {{\n  store_dir: \"{STORE}\"\n}}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> Value {
        let agents = ComposeAgents {
            count: 2,
            image: "plimsoll.test/plimsoll:1".to_owned(),
            broker_image: "nats:2".to_owned(),
            allow: vec!["api:80".to_owned()],
            fleet: "default".to_owned(),
            calibrate: Some(Duration::from_secs(5)),
        };
        agents.compose_file(4333, "UKEY").unwrap()
    }

    #[test]
    fn the_broker_listens_for_this_machine_alone() {
        assert_eq!(file()["services"]["broker"]["ports"], json!(["127.0.0.1:4333:4222"]));
    }

    #[test]
    fn each_agent_has_its_own_credentials_and_obeys_one_key() {
        let file = file();
        for name in ["agent-1", "agent-2"] {
            let agent = &file["services"][name];
            assert_eq!(
                agent["secrets"],
                json!([{ "source": format!("{name}-creds"), "target": "agent.creds" }])
            );
            assert_eq!(file["secrets"][format!("{name}-creds")]["file"], format!("./{name}.creds"));
            let command = agent["command"].to_string();
            let name = format!(r#""--name","{name}""#);
            for part in [
                name.as_str(),
                r#""--trust","UKEY""#,
                r#""--credentials","/run/secrets/agent.creds""#,
                r#""--calibrate","5s""#,
            ] {
                assert!(command.contains(part), "{part}: {command}");
            }
        }
        assert_eq!(file["services"].as_object().unwrap().len(), 3);
    }
}
