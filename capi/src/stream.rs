//! Launches that do not wait: streams, events and cancellation.

use std::time::Duration;

use wavelift::CancelToken;

use crate::foreign::{self, GrowingOut};
use crate::handles::{
    self, wavelift_cancel_token, wavelift_device, wavelift_event, wavelift_kernel, wavelift_stream,
};
use crate::launch::{arguments, resolve, wavelift_arg, wavelift_launch_options, wavelift_stats};
use crate::result::{guard, guard_status, wavelift_status};

/// A time that does not end, for `wavelift_event_wait`.
pub const WAVELIFT_FOREVER: u64 = u64::MAX;

/// Makes a stream: a queue of launches that run in order, on a thread of its own. Launches of
/// different streams run at the same time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavelift_stream_create(
    device: wavelift_device,
    stream: *mut wavelift_stream,
) -> wavelift_status {
    // SAFETY: head of the header.
    unsafe {
        foreign::give("stream", stream, || {
            Ok(handles::add(handles::get(device)?.device.stream()?))
        })
    }
}

/// Ends the handle of a stream. Does not wait: its launches run to their end.
#[unsafe(no_mangle)]
pub extern "C" fn wavelift_stream_destroy(stream: wavelift_stream) -> wavelift_status {
    guard(|| handles::remove(stream).map(drop))
}

/// Queues a launch. What it uses (kernel, buffers, arguments) may be destroyed before it ends. `event`
/// gets its end, and may be NULL.
///
/// A launch that does not suit its kernel is refused at once. When a launch fails, its event has the
/// error, and the stream has failed for good: later launches are not run (`WAVELIFT_NOT_RUN`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavelift_stream_launch(
    stream: wavelift_stream,
    kernel: wavelift_kernel,
    options: *const wavelift_launch_options,
    args: *const wavelift_arg,
    count: usize,
    event: *mut wavelift_event,
) -> wavelift_status {
    guard(|| {
        let (stream, object) = (handles::get(stream)?, handles::get(kernel)?);
        // SAFETY: head of the header.
        let (launch, settings) = unsafe { resolve(&object, options) }?;
        // SAFETY: head of the header.
        let args = unsafe { arguments(args, count) }?;
        let ended = stream.launch_with(&object.kernel, &launch, &args, &settings)?;
        // SAFETY: head of the header.
        unsafe { foreign::give_optional(event, || handles::add(ended)) };
        Ok(())
    })
}

/// Lets later launches of a stream begin after the launch of `event`, which may be of another stream
/// and of another device. If that launch fails, this stream has failed, too.
#[unsafe(no_mangle)]
pub extern "C" fn wavelift_stream_wait_for(
    stream: wavelift_stream,
    event: wavelift_event,
) -> wavelift_status {
    guard(|| {
        let (stream, event) = (handles::get(stream)?, handles::get(event)?);
        Ok(stream.wait_for(&event)?)
    })
}

/// An event that is done when all launches so far have ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavelift_stream_record(
    stream: wavelift_stream,
    event: *mut wavelift_event,
) -> wavelift_status {
    // SAFETY: head of the header.
    unsafe {
        foreign::give("event", event, || {
            Ok(handles::add(handles::get(stream)?.record()?))
        })
    }
}

/// Waits until all launches so far have ended. The result is that of the first one that failed.
#[unsafe(no_mangle)]
pub extern "C" fn wavelift_stream_synchronize(stream: wavelift_stream) -> wavelift_status {
    guard(|| Ok(handles::get(stream)?.synchronize()?))
}

/// Waits for the end of a launch, for at most `timeout_ns` nanoseconds, or `WAVELIFT_FOREVER`. The
/// result is that of the launch, or `WAVELIFT_NOT_DONE` if it has not ended by then. `stats` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavelift_event_wait(
    event: wavelift_event,
    timeout_ns: u64,
    stats: *mut wavelift_stats,
) -> wavelift_status {
    guard_status(|| {
        // SAFETY: head of the header.
        let out = unsafe { GrowingOut::optional(stats) }?;
        let event = handles::get(event)?;
        let result = match timeout_ns {
            WAVELIFT_FOREVER => event.wait(),
            _ => match event.wait_timeout(Duration::from_nanos(timeout_ns)) {
                Some(result) => result,
                None => return Ok(wavelift_status::WAVELIFT_NOT_DONE),
            },
        };
        let stats = result?;
        if let Some(out) = out {
            out.put((&stats).into());
        }
        Ok(wavelift_status::WAVELIFT_OK)
    })
}

/// Has a launch ended? `done` becomes 1 if it has, also if it failed or was not run, otherwise 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavelift_event_query(
    event: wavelift_event,
    done: *mut u32,
) -> wavelift_status {
    // SAFETY: head of the header.
    unsafe { foreign::give("done", done, || Ok(handles::get(event)?.is_done().into())) }
}

/// Ends the handle of an event. The launch goes on.
#[unsafe(no_mangle)]
pub extern "C" fn wavelift_event_destroy(event: wavelift_event) -> wavelift_status {
    guard(|| handles::remove(event).map(drop))
}

/// Makes a cancel token, for any number of launches.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavelift_cancel_token_create(
    token: *mut wavelift_cancel_token,
) -> wavelift_status {
    // SAFETY: head of the header.
    unsafe { foreign::give("token", token, || Ok(handles::add(CancelToken::new()))) }
}

/// Cancels all launches that have the token, from any thread. Returns at once; they end soon afterwards
/// with `WAVELIFT_CANCELLED`, and what their workgroups have written stays.
#[unsafe(no_mangle)]
pub extern "C" fn wavelift_cancel(token: wavelift_cancel_token) -> wavelift_status {
    guard(|| {
        handles::get(token)?.cancel();
        Ok(())
    })
}

/// Ends the handle of a cancel token. Launches that have it go on.
#[unsafe(no_mangle)]
pub extern "C" fn wavelift_cancel_token_destroy(token: wavelift_cancel_token) -> wavelift_status {
    guard(|| handles::remove(token).map(drop))
}
