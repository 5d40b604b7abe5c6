//! `evaluate`: expressions; in the console also the commands of the debugger.

use serde::Deserialize;
use serde_json::{Value, json};
use wavelift::debug::Radix;

use super::request::{Format, Request};
use super::server::{Answer, Server};
use crate::cli::debug::act::Failure;
use crate::cli::debug::command::Command;
use crate::cli::debug::help;
use crate::cli::output::Output;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    expression: String,
    frame_id: Option<u64>,
    context: Option<String>,
    format: Option<Format>,
}

impl Server<'_, '_> {
    pub(super) fn evaluate(&mut self, request: &Request) -> Answer {
        let arguments: Arguments = request.arguments()?;
        self.select_frame(arguments.frame_id)?;
        let text = arguments.expression.trim();
        let hex = arguments.format.is_some_and(|format| format.hex);
        let value = self.value(text, hex.then_some(Radix::Hex));
        match value {
            Err(Failure::Command(error)) if arguments.context.as_deref() == Some("repl") => {
                self.command(text, error)
            }
            other => other,
        }
    }

    /// The value of an expression, with a format behind it if you like.
    fn value(&mut self, text: &str, radix: Option<Radix>) -> Answer {
        let (text, behind) = Radix::split(text);
        let value = self.shell.debugger.evaluate(text)?;
        let mut shown = self.shown(text, &value, behind.or(radix))?;
        shown["result"] = shown["value"].take();
        if let Some(fields) = shown.as_object_mut() {
            fields.remove("value");
        }
        Ok(shown)
    }

    /// Executes a command of the debugger. `error` is returned if the text is no command either.
    fn command(&mut self, text: &str, error: String) -> Answer {
        let name = text.split([' ', '/']).next().unwrap_or_default();
        if help::find(name).is_err() {
            return Err(error.into());
        }
        let command = Command::parse(text, &|workgroup| self.shell.workgroup(workgroup))?;
        let mut out = Output::in_memory();
        match command {
            Command::Resume(how) => self.go(how)?,
            Command::Next(1) => self.go(wavelift::debug::Resume::Next)?,
            Command::Next(_) => {
                return Err(
                    "one step at a time in an editor; `step N` and `until` go farther"
                        .to_owned()
                        .into(),
                );
            }
            Command::Until(location) => {
                let places = self.shell.debugger.locate(&location)?;
                self.go(wavelift::debug::Resume::Until { places })?
            }
            Command::Rerun => self.again()?,
            Command::Quit => self.terminate()?,
            Command::Set(place, value) => {
                self.shell.debugger.assign(&place, &value)?;
                Value::Null
            }
            other => {
                self.shell.act(other, &mut out)?;
                Value::Null
            }
        };
        let text = out.kept();
        Ok(json!({ "result": text.trim_end(), "variablesReference": 0 }))
    }
}
