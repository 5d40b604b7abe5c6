//! What to run: the arguments of `launch` as the options of `wavelift debug`, read by the same parser.

use std::path::PathBuf;

use clap::Parser as _;
use serde::Deserialize;
use wavelift::debug::Debugger;

use super::request::Request;
use crate::cli::debug::{Args, load};
use crate::cli::session::Session;

/// One or more; numbers, or text as on the command line.
#[derive(Deserialize)]
#[serde(untagged)]
enum List {
    One(Word),
    Many(Vec<Word>),
}

impl Default for List {
    fn default() -> List {
        List::Many(Vec::new())
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Word {
    Number(serde_json::Number),
    Text(String),
}

impl List {
    fn words(&self) -> Vec<String> {
        let all = match self {
            List::One(word) => std::slice::from_ref(word),
            List::Many(words) => words,
        };
        let text = |word: &Word| match word {
            Word::Number(number) => number.to_string(),
            Word::Text(text) => text.clone(),
        };
        all.iter().map(text).collect()
    }
}

/// The arguments. Clients add some of their own.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    program: String,
    cwd: Option<PathBuf>,
    #[serde(default)]
    stop_on_entry: bool,
    #[serde(default)]
    no_debug: bool,
    kernel: Option<String>,
    #[serde(default)]
    grid: List,
    #[serde(default, alias = "workgroup")]
    block: List,
    #[serde(default)]
    args: List,
    #[serde(default)]
    expect: List,
    lds: Option<Word>,
    repeat: Option<Word>,
    stack: Option<Word>,
    timeout: Option<Word>,
    target: Option<String>,
    #[serde(default)]
    memcheck: bool,
}

/// A program that can be debugged.
pub(super) struct Launched {
    pub(super) debugger: Debugger,
    pub(super) session: Session,
    pub(super) stop_on_entry: bool,
    /// It runs without stops.
    pub(super) no_debug: bool,
    /// The time that it may run from one stop to the next.
    pub(super) limit: Option<std::time::Duration>,
}

/// The options of the command line.
#[derive(clap::Parser)]
#[command(name = "launch", no_binary_name = true, disable_help_flag = true)]
struct Line {
    #[command(flatten)]
    args: Args,
}

impl Arguments {
    fn line(&self) -> Vec<String> {
        let mut line = Vec::new();
        let mut option = |name: &str, value: String| line.push(format!("--{name}={value}"));
        for (name, list) in [("grid", &self.grid), ("block", &self.block)] {
            let words = list.words();
            if !words.is_empty() {
                option(name, words.join(","));
            }
        }
        for (name, list) in [("arg", &self.args), ("expect", &self.expect)] {
            list.words().into_iter().for_each(|word| option(name, word));
        }
        for (name, text) in [("kernel", &self.kernel), ("target", &self.target)] {
            text.iter().for_each(|text| option(name, text.clone()));
        }
        for (name, word) in [
            ("lds", &self.lds),
            ("repeat", &self.repeat),
            ("stack", &self.stack),
            ("timeout", &self.timeout),
        ] {
            match word {
                Some(Word::Number(number)) => option(name, number.to_string()),
                Some(Word::Text(text)) => option(name, text.clone()),
                None => {}
            }
        }
        if self.memcheck {
            line.push("--memcheck".to_owned());
        }
        line.extend(["--".to_owned(), self.program.clone()]);
        line
    }
}

/// Loads what a request names.
pub(super) fn launch(request: &Request) -> Result<Launched, String> {
    let arguments: Arguments = request.arguments()?;
    if let Some(folder) = &arguments.cwd {
        std::env::set_current_dir(folder)
            .map_err(|error| format!("cwd: cannot change to {}: {error}", folder.display()))?;
    }
    let Line { args } = Line::try_parse_from(arguments.line()).map_err(|error| {
        let text = error.render().to_string();
        let first = text.split("\n\n").next().unwrap_or_default();
        first.trim_start_matches("error: ").trim().to_owned()
    })?;
    let file = args.file.as_deref().ok_or("launch needs a program")?;
    let (debugger, session) = load(file, &args).map_err(|error| format!("{error:#}"))?;
    Ok(Launched {
        debugger,
        session,
        stop_on_entry: arguments.stop_on_entry && !arguments.no_debug,
        no_debug: arguments.no_debug,
        limit: args.options.timeout,
    })
}
