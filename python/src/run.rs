//! Running a launch while other threads of Python run, and stopping it when a signal arrives.

use std::cell::OnceCell;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use wavelift::{Arg, CancelToken, Error, Event, Kernel, Launch, Settings, Stats};

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
    mut settings: Settings<'static>,
) -> PyResult<Stats> {
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
    let result = poll(py, token, || event.wait_timeout(POLL))?;
    result.map_err(|error| exception(py, &error))
}

/// Waits until a launch has ended or failed, for signals as well.
pub(crate) fn wait_for_end(py: Python<'_>, event: &Event) -> PyResult<()> {
    poll(py, None, || event.wait_timeout(POLL)).map(drop)
}

/// Does work that launches kernels with the settings of a device, on a thread of its own. An exception
/// of a signal handler cancels the launches.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    device: &wavelift::Device,
    timeout: Option<Duration>,
    work: impl FnOnce(&Settings<'_>) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let token = CancelToken::new();
    let mut settings = device.settings();
    settings.timeout = timeout.or(settings.timeout);
    settings.cancel = Some(token.clone());
    let result = std::thread::scope(|scope| {
        let (sender, mut receiver) = mpsc::channel();
        scope.spawn(move || sender.send(work(&settings)));
        let waiting = &mut receiver;
        poll(py, Some(&token), move || match waiting.recv_timeout(POLL) {
            Ok(result) => Some(Some(result)),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(None),
        })
    });
    let result = result?.ok_or_else(|| PyRuntimeError::new_err("bug: a launch has panicked"))?;
    result.map_err(|error| exception(py, &error))
}

/// Calls `look`, which waits for [`POLL`], until it has something. When a signal handler raises an
/// exception, cancels the token, if there is one, and waits all the same before it returns.
fn poll<T: Send>(
    py: Python<'_>,
    token: Option<&CancelToken>,
    mut look: impl FnMut() -> Option<T> + Send,
) -> PyResult<T> {
    loop {
        if let Some(found) = py.detach(&mut look) {
            return Ok(found);
        }
        if let Err(raised) = py.check_signals() {
            if let Some(token) = token {
                token.cancel();
                // How it ended does not matter any more.
                while py.detach(&mut look).is_none() {}
            }
            return Err(raised);
        }
    }
}
