//! Running a launch while other threads of Python run, and stopping it when a signal arrives.

use std::cell::OnceCell;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use wavelift::{Arg, CancelToken, Error, Event, Kernel, Launch, Stats};

use crate::device::Device;
use crate::error::exception;

/// Time between looks for signals.
pub(crate) const POLL: Duration = Duration::from_millis(50);

/// Signals arrive at the main thread only.
fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    thread_local!(static IS_MAIN: OnceCell<bool> = const { OnceCell::new() });
    if let Some(known) = IS_MAIN.with(|known| known.get().copied()) {
        return Ok(known);
    }
    let threading = py.import("threading")?;
    let current = threading.call_method0("current_thread")?;
    let is_main = current.is(threading.call_method0("main_thread")?);
    Ok(IS_MAIN.with(|known| *known.get_or_init(|| is_main)))
}

/// Runs a launch and waits for its end. An exception of a signal handler, such as
/// `KeyboardInterrupt`, cancels it.
pub(crate) fn launch(
    py: Python<'_>,
    device: &Device,
    kernel: &Kernel,
    launch: &Launch,
    args: &[Arg],
    timeout: Option<Duration>,
) -> PyResult<Stats> {
    let mut settings = device.inner().settings();
    settings.timeout = timeout.or(settings.timeout);
    if !is_main_thread(py)? {
        let result = py.detach(|| device.inner().launch_with(kernel, launch, args, &settings));
        return result.map_err(|error| exception(py, &error));
    }
    let token = CancelToken::new();
    settings.cancel = Some(token.clone());
    let event = py.detach(|| {
        let stream = device.own_stream()?;
        stream.launch_with(kernel, launch, args, &settings)
    });
    let event = event.map_err(|error| exception(py, &error))?;
    let result = wait(py, &event, Some(&token));
    if result.is_err() {
        device.forget_stream();
    }
    result
}

/// Waits for the end of a launch, for signals as well. With a token the launch is cancelled, and its
/// end awaited, when a signal handler raises an exception.
pub(crate) fn wait(py: Python<'_>, event: &Event, token: Option<&CancelToken>) -> PyResult<Stats> {
    loop {
        if let Some(result) = py.detach(|| event.wait_timeout(POLL)) {
            return result.map_err(|error| exception(py, &error));
        }
        if let Err(raised) = py.check_signals() {
            if let Some(token) = token {
                token.cancel();
                // How it ended does not matter any more.
                let _ended = py.detach(|| event.wait());
            }
            return Err(raised);
        }
    }
}

/// Does work that launches kernels, on a thread of its own. An exception of a signal handler cancels
/// the token, which all the launches have.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(CancelToken) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let token = CancelToken::new();
    let result = std::thread::scope(|scope| {
        let (sender, mut receiver) = mpsc::channel();
        let of_work = token.clone();
        scope.spawn(move || sender.send(work(of_work)));
        loop {
            let waiting = &mut receiver;
            match py.detach(move || waiting.recv_timeout(POLL)) {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PyRuntimeError::new_err("bug: a launch has panicked"));
                }
            }
            if let Err(raised) = py.check_signals() {
                token.cancel();
                let waiting = &mut receiver;
                // How it ended does not matter any more.
                let _ended = py.detach(move || waiting.recv());
                return Err(raised);
            }
        }
    })?;
    result.map_err(|error| exception(py, &error))
}
