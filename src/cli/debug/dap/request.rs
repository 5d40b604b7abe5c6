//! Requests, and the arguments of those that several files need.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A request.
pub(super) struct Request {
    pub(super) seq: u64,
    pub(super) command: String,
    arguments: Value,
}

impl Request {
    /// A message as a request; `None` if it is a response, of which none is awaited.
    pub(super) fn of(message: Value) -> Result<Option<Request>, String> {
        #[derive(Deserialize)]
        struct Raw {
            seq: u64,
            r#type: String,
            command: Option<String>,
            #[serde(default)]
            arguments: Value,
        }
        let raw: Raw = serde_json::from_value(message)
            .map_err(|error| format!("a message that is no request: {error}"))?;
        match (&*raw.r#type, raw.command) {
            ("request", Some(command)) => Ok(Some(Request {
                seq: raw.seq,
                command,
                arguments: raw.arguments,
            })),
            ("response", _) => Ok(None),
            ("request", None) => Err("a request without a command".to_owned()),
            (other, _) => Err(format!(
                "a message of type `{}`; requests were expected",
                other.chars().take(80).collect::<String>()
            )),
        }
    }

    /// Its arguments.
    pub(super) fn arguments<T: DeserializeOwned>(&self) -> Result<T, String> {
        let arguments = match &self.arguments {
            Value::Null => json!({}),
            other => other.clone(),
        };
        serde_json::from_value(arguments)
            .map_err(|error| format!("arguments of {}: {error}", self.command))
    }
}

/// A file, or a listing of the server.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Source {
    pub(super) path: Option<String>,
    pub(super) source_reference: Option<u64>,
}

/// How values are printed.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Format {
    pub(super) hex: bool,
}
