//! `wavelift debug --dap`: the debugger for editors, by the Debug Adapter Protocol
//! (<https://microsoft.github.io/debug-adapter-protocol/specification>). A session is one connection: standard input and
//! output, or the first client of a port of this machine.
//!
//! A thread reads requests, so that `pause` reaches a program that runs; all else is done in order. The threads of the
//! protocol are the waves of the workgroup that is stopped.

use std::fmt;
use std::io::{self, Read, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::str::FromStr;
use std::sync::mpsc::{self, Receiver};

use anyhow::Context as _;
use serde_json::Value;

use super::super::Status;
use super::super::output::{Output, complain};

mod arguments;
mod code;
mod launch;
mod pause;
mod points;
mod session;
mod variables;
mod wire;

pub(super) use launch::load;

use pause::Pause;
use session::Adapter;

/// Where the client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Standard input and output.
    Standard,
    /// This port of 127.0.0.1; 0 is one that is free.
    Port(u16),
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Place, String> {
        match text {
            "stdio" => Ok(Place::Standard),
            text => text
                .parse()
                .map(Place::Port)
                .map_err(|_| format!("`{text}` is no port; write --dap, or --dap=PORT")),
        }
    }
}

/// Why a request was not done, for the user.
#[derive(Debug)]
pub(super) struct Refused(String);

impl<E: fmt::Display> From<E> for Refused {
    fn from(error: E) -> Refused {
        // Causes, too.
        Refused(format!("{error:#}"))
    }
}

/// Serves one client.
pub(super) fn serve(place: Place, out: &mut Output) -> anyhow::Result<Status> {
    match place {
        Place::Standard => {
            let requests = Requests::of(io::stdin());
            run(requests, &mut |message| {
                write!(out, "{message}")?;
                out.flush()?;
                Ok(!out.closed())
            })
        }
        Place::Port(port) => {
            let mut stream = accept(port)?;
            let input = stream.try_clone().context("cannot use the connection")?;
            let requests = Requests::of(input);
            // A client that is gone is the end of the session, which the reader sees as well.
            run(requests, &mut |message| {
                Ok(stream.write_all(message.as_bytes()).is_ok() && stream.flush().is_ok())
            })
        }
    }
}

/// Waits for a client.
fn accept(port: u16) -> anyhow::Result<TcpStream> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
        .with_context(|| format!("cannot listen on port {port} of 127.0.0.1; try --dap=0"))?;
    let at = listener.local_addr().context("cannot listen")?;
    complain(format_args!(
        "waiting for a client of the Debug Adapter Protocol at {at}"
    ));
    let (stream, _) = listener.accept().context("no client")?;
    // Otherwise each message waits for the one before to be acknowledged. That it fails does no harm.
    let _ = stream.set_nodelay(true);
    Ok(stream)
}

/// Requests of a client as they come.
struct Requests {
    receiver: Receiver<Result<Value, wire::Damaged>>,
    pause: Pause,
}

impl Requests {
    /// Reads them in a thread.
    fn of(input: impl Read + Send + 'static) -> Requests {
        let pause = Pause::default();
        let (sender, receiver) = mpsc::channel();
        let asked = pause.clone();
        std::thread::spawn(move || {
            let mut reader = wire::Reader::new(input);
            loop {
                let message = match reader.next() {
                    Ok(Some(message)) => Ok(message),
                    Ok(None) => break,
                    Err(damaged) => Err(damaged),
                };
                let command = message.as_ref().ok().and_then(|it| it["command"].as_str());
                if matches!(command, Some("pause" | "terminate" | "disconnect")) {
                    asked.ask();
                }
                let last = message.is_err();
                if sender.send(message).is_err() || last {
                    break;
                }
            }
            // A program that runs for nobody is stopped.
            asked.ask();
        });
        Requests { receiver, pause }
    }
}

/// Serves requests until the client disconnects.
fn run(requests: Requests, send: &mut wire::Send<'_>) -> anyhow::Result<Status> {
    let mut adapter = Adapter::new(requests.pause, send);
    for message in requests.receiver {
        match message {
            Ok(message) => {
                if !adapter.receive(&message)? {
                    break;
                }
            }
            Err(damaged) => anyhow::bail!("the client's messages are damaged: {damaged}"),
        }
    }
    Ok(Status::Success)
}
