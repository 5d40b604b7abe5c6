//! `wavelift debug --dap`: the debugger as a server of the Debug Adapter Protocol, for editors.
//!
//! A thread reads requests, so that a pause takes effect while the program runs; requests are handled by the
//! thread that has the debugger ([`server`]). The crates with the protocol's types read messages without a
//! limit of their size, or take a request of a wrong type for a damaged message, so the few types that are
//! needed are here.

use std::io::{self, BufReader, Read};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::mpsc::{self, Receiver};

use anyhow::Context as _;

use super::Status;
use crate::cli::output::Output;

mod evaluate;
mod launch;
mod memory;
mod places;
mod points;
mod request;
mod run;
mod server;
mod stack;
mod variables;
mod wire;

use server::Begin;
use wire::{FrameError, Wire};

/// Messages that wait to be handled. More are left to the client's side of the pipe.
const WAITING: usize = 64;

/// Serves one session, on a port if there is one.
pub(super) fn execute(port: Option<u16>, out: &mut Output) -> anyhow::Result<Status> {
    let Some(port) = port else {
        let messages = reader(io::stdin())?;
        return Begin::new(Wire::standard(out), messages).serve();
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
        .with_context(|| format!("cannot listen on port {port} of 127.0.0.1"))?;
    let port = listener.local_addr()?.port();
    writeln!(out, "listening on 127.0.0.1:{port}")?;
    out.flush()?;
    let (socket, _) = listener.accept().context("cannot accept a connection")?;
    drop(listener);
    let other = socket
        .set_nodelay(true)
        .and_then(|()| socket.try_clone())
        .context("cannot use the connection")?;
    let messages = reader(other)?;
    Begin::new(Wire::socket(socket), messages).serve()
}

/// What the reader has received; the end of the input is the end of the channel.
type Received = Result<serde_json::Value, FrameError>;

/// Starts the thread that reads messages. It ends with the input, or with this process.
fn reader(input: impl Read + Send + 'static) -> anyhow::Result<Receiver<Received>> {
    let (sender, receiver) = mpsc::sync_channel(WAITING);
    let body = move || {
        let mut input = BufReader::new(input);
        loop {
            let received = match wire::read(&mut input) {
                Ok(Some(message)) => Ok(message),
                Ok(None) => return,
                Err(error) => Err(error),
            };
            let last = received.is_err();
            if sender.send(received).is_err() || last {
                return;
            }
        }
    };
    runtime::stack::spawn("requests", body).context("cannot start a thread")?;
    Ok(receiver)
}
