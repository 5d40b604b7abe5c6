//! Handles that are null, stale, invented or of another type, for each function, and from several
//! threads.

use std::ffi::c_char;
use std::ptr::{null, null_mut};

use wavelift_c::wavelift_status::*;
use wavelift_c::*;

use crate::support::*;

/// A function of a handle with this number; the other arguments are good.
type Call = (&'static str, Box<dyn Fn(u64) -> wavelift_status>);

/// Functions of one type of handle.
struct Kind {
    what: &'static str,
    /// A living handle.
    living: u64,
    /// A handle that was destroyed.
    stale: u64,
    calls: Vec<Call>,
    destroy: fn(u64) -> wavelift_status,
}

/// Boxed calls by name; the closures may make unsafe calls.
macro_rules! calls {
    ($(|$handle:ident| $function:ident($($arg:expr),*);)*) => {
        vec![$((
            stringify!($function),
            Box::new(move |$handle: u64| {
                #[allow(unused_unsafe, reason = "not all functions are unsafe")]
                // SAFETY: all addresses are null or valid.
                unsafe { $function($($arg),*) }
            }) as Box<dyn Fn(u64) -> wavelift_status>,
        )),*]
    };
}

/// Memory for results, for ever.
fn place<T: Default>() -> *mut T {
    Box::leak(Box::default())
}

fn leak<T>(value: T) -> *mut T {
    Box::leak(Box::new(value))
}

fn kinds() -> Vec<Kind> {
    let device = device();
    let module = module(device, "examples/saxpy/saxpy.gfx900.co");
    let kernel = kernel_of(module, c"saxpy");
    let buffer = buffer(device, &[1.0; 64]);
    let stream = stream(device);
    let args = leak(saxpy_args(buffer, buffer, 64)).cast::<wavelift_arg>();
    let options = leak(small());
    // SAFETY: the arguments are a leaked array.
    let event = queue(stream, kernel, &small(), unsafe {
        std::slice::from_raw_parts(args, 4)
    });
    let token = token();
    let source = Box::leak(Box::new(path("examples/saxpy/saxpy.gfx900.co"))).as_ptr();
    let name = c"saxpy".as_ptr();
    let (any, size) = (leak(null::<c_char>()), place::<usize>());
    let data = leak([0u8; 16]).cast();

    let stale_device = crate::support::device();
    let stale_module = crate::support::module(device, "examples/saxpy/saxpy.gfx900.co");
    let stale_kernel = kernel_of(module, c"saxpy");
    let stale_buffer = crate::support::buffer(device, &[1.0; 64]);
    let stale_stream = crate::support::stream(device);
    // SAFETY: the result is valid.
    let stale_event: wavelift_event = made(|out| unsafe { wavelift_stream_record(stream, out) });
    let stale_token = crate::support::token();
    ok(wavelift_device_destroy(stale_device));
    ok(wavelift_module_destroy(stale_module));
    ok(wavelift_kernel_destroy(stale_kernel));
    ok(wavelift_buffer_destroy(stale_buffer));
    ok(wavelift_stream_destroy(stale_stream));
    ok(wavelift_event_destroy(stale_event));
    ok(wavelift_cancel_token_destroy(stale_token));

    vec![
        Kind {
            what: "a device",
            living: device.handle,
            stale: stale_device.handle,
            destroy: |handle| wavelift_device_destroy(wavelift_device { handle }),
            calls: calls! {
                |handle| wavelift_device_read(wavelift_device { handle }, 0, data, 4);
                |handle| wavelift_device_write(wavelift_device { handle }, 0, data, 4);
                |handle| wavelift_buffer_create(wavelift_device { handle }, null(), 4, place());
                |handle| wavelift_buffer_register(wavelift_device { handle }, data, 4, place());
                |handle| wavelift_module_load(wavelift_device { handle }, data, 4, null(), place());
                |handle| wavelift_module_load_file(wavelift_device { handle }, source, null(), place());
                |handle| wavelift_module_compile(wavelift_device { handle }, source, null(), place());
                |handle| wavelift_stream_create(wavelift_device { handle }, place());
            },
        },
        Kind {
            what: "a module",
            living: module.handle,
            stale: stale_module.handle,
            destroy: |handle| wavelift_module_destroy(wavelift_module { handle }),
            calls: calls! {
                |handle| wavelift_module_target(wavelift_module { handle }, any);
                |handle| wavelift_module_messages(wavelift_module { handle }, any);
                |handle| wavelift_module_kernel_count(wavelift_module { handle }, size);
                |handle| wavelift_module_kernel_name(wavelift_module { handle }, 0, any);
                |handle| wavelift_module_kernel(wavelift_module { handle }, name, place());
                |handle| wavelift_module_variable(wavelift_module { handle }, name, null_mut(), null_mut());
                |handle| wavelift_module_disassemble(wavelift_module { handle }, 0, null_mut(), 0, size);
            },
        },
        Kind {
            what: "a kernel",
            living: kernel.handle,
            stale: stale_kernel.handle,
            destroy: |handle| wavelift_kernel_destroy(wavelift_kernel { handle }),
            calls: calls! {
                |handle| wavelift_kernel_disassemble(wavelift_kernel { handle }, 0, null_mut(), 0, size);
                |handle| wavelift_kernel_get_info(wavelift_kernel { handle }, leak(kernel_info()));
                |handle| wavelift_kernel_get_parameter(wavelift_kernel { handle }, 0, leak(parameter()));
                |handle| wavelift_launch(wavelift_kernel { handle }, options, args, 4, null_mut());
                |handle| wavelift_stream_launch(stream, wavelift_kernel { handle }, options, args, 4, place());
            },
        },
        Kind {
            what: "a buffer",
            living: buffer.handle,
            stale: stale_buffer.handle,
            destroy: |handle| wavelift_buffer_destroy(wavelift_buffer { handle }),
            calls: calls! {
                |handle| wavelift_buffer_info(wavelift_buffer { handle }, place(), place());
                |handle| wavelift_buffer_read(wavelift_buffer { handle }, 0, data, 4);
                |handle| wavelift_buffer_write(wavelift_buffer { handle }, 0, data, 4);
                |handle| wavelift_launch(
                    kernel, options, saxpy_args(buffer, wavelift_buffer { handle }, 64).as_ptr(), 4, null_mut()
                );
            },
        },
        Kind {
            what: "a stream",
            living: stream.handle,
            stale: stale_stream.handle,
            destroy: |handle| wavelift_stream_destroy(wavelift_stream { handle }),
            calls: calls! {
                |handle| wavelift_stream_launch(wavelift_stream { handle }, kernel, options, args, 4, place());
                |handle| wavelift_stream_wait_for(wavelift_stream { handle }, event);
                |handle| wavelift_stream_record(wavelift_stream { handle }, place());
                |handle| wavelift_stream_synchronize(wavelift_stream { handle });
            },
        },
        Kind {
            what: "an event",
            living: event.handle,
            stale: stale_event.handle,
            destroy: |handle| wavelift_event_destroy(wavelift_event { handle }),
            calls: calls! {
                |handle| wavelift_event_wait(wavelift_event { handle }, 0, null_mut());
                |handle| wavelift_event_query(wavelift_event { handle }, place());
                |handle| wavelift_stream_wait_for(stream, wavelift_event { handle });
            },
        },
        Kind {
            what: "a cancel token",
            living: token.handle,
            stale: stale_token.handle,
            destroy: |handle| wavelift_cancel_token_destroy(wavelift_cancel_token { handle }),
            calls: calls! {
                |handle| wavelift_cancel(wavelift_cancel_token { handle });
                |handle| wavelift_launch(
                    kernel,
                    // The null token is none.
                    &wavelift_launch_options {
                        cancel: wavelift_cancel_token { handle: if handle == 0 { 1 } else { handle } },
                        ..small()
                    },
                    args,
                    4,
                    null_mut()
                );
            },
        },
    ]
}

#[test]
fn wrong_handles_are_errors() {
    let kinds = kinds();
    for (index, kind) in kinds.iter().enumerate() {
        let wrong = |handle: u64, part: &str| {
            for (name, call) in &kind.calls {
                assert_eq!(
                    call(handle),
                    WAVELIFT_INVALID_HANDLE,
                    "{name} of {handle:#x}"
                );
                assert!(message().contains(kind.what), "{name}: {}", message());
                let token = kind.what == "a cancel token" && handle == 0;
                assert!(token || message().contains(part), "{name}: {}", message());
            }
        };
        wrong(0, "is null");
        for invented in [1, 2, 0x1000, kind.living ^ 1 << 47, u64::MAX] {
            wrong(invented, "was never given");
            assert_eq!((kind.destroy)(invented), WAVELIFT_INVALID_HANDLE);
        }
        wrong(kind.stale, "or it was destroyed");
        fails(
            (kind.destroy)(kind.stale),
            WAVELIFT_INVALID_HANDLE,
            kind.what,
        );
        for (_, other) in kinds
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != index)
        {
            wrong(other.living, &format!("is that of {}", other.what));
            fails(
                (kind.destroy)(other.living),
                WAVELIFT_INVALID_HANDLE,
                other.what,
            );
        }
        // As `free(NULL)`; the message stays.
        let before = message();
        ok((kind.destroy)(0));
        assert_eq!(message(), before);
    }
    for kind in &kinds {
        ok((kind.destroy)(kind.living));
        fails(
            (kind.destroy)(kind.living),
            WAVELIFT_INVALID_HANDLE,
            kind.what,
        );
    }
}

#[test]
fn objects_keep_what_they_depend_on() {
    let device = device();
    let module = module(device, "examples/saxpy/saxpy.gfx900.co");
    let kernel = kernel_of(module, c"saxpy");
    let (x, y) = (buffer(device, &[1.0; 64]), buffer(device, &[0.5; 64]));
    ok(wavelift_device_destroy(device));
    ok(wavelift_module_destroy(module));
    ok(launch(kernel, &small(), &saxpy_args(y, x, 64)));
    assert_eq!(read(y, 64), [2.5; 64]);
    for buffer in [x, y] {
        ok(wavelift_buffer_destroy(buffer));
    }
    ok(wavelift_kernel_destroy(kernel));
}

#[test]
fn threads_share_handles_and_destroy_them() {
    let device = device();
    let kernel = saxpy(device);
    std::thread::scope(|scope| {
        // Of many threads that destroy a handle, one does.
        let shared = buffer(device, &[0.0; 64]);
        let destroyed: Vec<_> = (0..4)
            .map(|_| scope.spawn(move || wavelift_buffer_destroy(shared) == WAVELIFT_OK))
            .collect();
        for thread in 0..4 {
            scope.spawn(move || {
                for n in 0..25 {
                    let (x, y) = (buffer(device, &[n as f32; 64]), buffer(device, &[1.0; 64]));
                    ok(launch(kernel, &small(), &saxpy_args(y, x, 64)));
                    assert_eq!(read(y, 64), [2.0 * n as f32 + 1.0; 64]);
                    ok(wavelift_buffer_destroy(x));
                    // The message is this thread's, whatever fails elsewhere meanwhile.
                    let wrong = wavelift_buffer {
                        handle: 100 * thread + n,
                    };
                    fails(
                        launch(kernel, &small(), &saxpy_args(y, wrong, 64)),
                        WAVELIFT_INVALID_HANDLE,
                        &match wrong.handle {
                            0 => "argument 1: the handle of a buffer is null".to_owned(),
                            n => format!("argument 1: the handle {n:#x} of a buffer"),
                        },
                    );
                    ok(wavelift_buffer_destroy(y));
                }
            });
        }
        // Reads race with the end of the handle: they succeed or find it out.
        let racing = buffer(device, &[3.0; 64]);
        for _ in 0..2 {
            scope.spawn(move || {
                let mut data = [0f32; 64];
                for _ in 0..200 {
                    // SAFETY: the data are valid.
                    match unsafe { wavelift_buffer_read(racing, 0, data.as_mut_ptr().cast(), 256) }
                    {
                        WAVELIFT_OK => assert_eq!(data, [3.0; 64]),
                        other => assert_eq!(other, WAVELIFT_INVALID_HANDLE),
                    }
                }
            });
        }
        scope.spawn(move || ok(wavelift_buffer_destroy(racing)));
        let count = destroyed
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .filter(|&done| done)
            .count();
        assert_eq!(count, 1);
    });
    ok(wavelift_kernel_destroy(kernel));
    ok(wavelift_device_destroy(device));
}
