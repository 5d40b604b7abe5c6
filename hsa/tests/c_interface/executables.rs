//! Readers, executables and symbols.

use std::ffi::c_void;
use std::io::Write as _;
use std::ptr::{null, null_mut};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use hsa_runtime64::api::*;

use crate::support::{Program, Queue, SAXPY_LEN, Saxpy, Signal, agents, read};

fn number(symbol: u64, attribute: u32) -> Result<u32, u32> {
    let mut value = 0u32;
    // SAFETY: the tests name attributes that are dwords.
    let status =
        unsafe { hsa_executable_symbol_get_info(symbol, attribute, (&raw mut value).cast()) };
    if status == 0 { Ok(value) } else { Err(status) }
}

#[test]
fn a_kernel_tells_what_it_needs() {
    let program = Program::load("examples/saxpy/saxpy.gfx906.co");
    let symbol = program.symbol("saxpy.kd").unwrap();
    assert_eq!(number(symbol, 0), Ok(1), "a kernel");
    assert_eq!(number(symbol, 1), Ok(8));
    let mut name = [0u8; 8];
    // SAFETY: as long as it said.
    unsafe { hsa_executable_symbol_get_info(symbol, 2, name.as_mut_ptr().cast()) };
    assert_eq!(&name, b"saxpy.kd");
    assert!(number(symbol, 11).unwrap() >= 24);
    assert_eq!(number(symbol, 13), Ok(0), "no LDS");
    assert_eq!(number(symbol, 21), Err(0x1001), "no variable");
    assert_eq!(program.symbol("saxpi.kd"), Err(0x1013));
    drop(program);
    assert_eq!(
        number(symbol, 0),
        Err(0x1019),
        "destroyed with its executable"
    );
}

unsafe extern "C" fn count(_: u64, _: u64, data: *mut c_void) -> u32 {
    // SAFETY: the test passes a counter.
    unsafe { *data.cast::<u32>() += 1 };
    0
}

#[test]
fn symbols_can_be_listed() {
    let program = Program::load("examples/saxpy/saxpy.gfx906.co");
    let mut found = 0u32;
    // SAFETY: the callback takes a counter.
    let status = unsafe {
        hsa_executable_iterate_symbols(program.executable, Some(count), (&raw mut found).cast())
    };
    assert_eq!(status, 0);
    assert!(found >= 1);
}

#[test]
fn a_frozen_executable_takes_nothing_more() {
    let program = Program::load("examples/saxpy/saxpy.gfx906.co");
    let [_, gpu] = agents();
    // SAFETY: names end in zeros.
    unsafe {
        assert_eq!(hsa_executable_freeze(program.executable, null()), 0x1012);
        let name = c"variable".as_ptr();
        let status =
            hsa_executable_agent_global_variable_define(program.executable, gpu, name, null_mut());
        assert_eq!(status, 0x1012);
    }
}

fn load(bytes: &[u8]) -> u32 {
    let [_, gpu] = agents();
    let (mut executable, mut reader) = (0, 0);
    // SAFETY: the results go to our variables; the bytes live.
    let status = unsafe {
        assert_eq!(hsa_executable_create_alt(0, 0, null(), &mut executable), 0);
        let at = bytes.as_ptr().cast();
        assert_eq!(
            hsa_code_object_reader_create_from_memory(at, bytes.len(), &mut reader),
            0
        );
        hsa_executable_load_agent_code_object(executable, gpu, reader, null(), null_mut())
    };
    assert_eq!(hsa_code_object_reader_destroy(reader), 0);
    assert_eq!(hsa_code_object_reader_destroy(reader), 0x1021);
    assert_eq!(hsa_executable_destroy(executable), 0);
    assert_eq!(hsa_executable_destroy(executable), 0x1011);
    status
}

#[test]
fn bad_code_objects_are_refused() {
    let path = |name: &str| format!("{}/../examples/saxpy/{name}", env!("CARGO_MANIFEST_DIR"));
    let good = std::fs::read(path("saxpy.gfx906.co")).unwrap();
    assert_eq!(load(&good), 0);
    assert_eq!(load(&good[..100]), 0x1010);
    assert_eq!(load(b"no code object at all"), 0x1010);
    let other = std::fs::read(path("saxpy.gfx803.co")).unwrap();
    assert_eq!(load(&other), 0x100d, "for another GPU");
    let mut reader = 0;
    // SAFETY: the result goes to our variable.
    unsafe {
        let create = hsa_code_object_reader_create_from_memory;
        assert_eq!(create(null(), 10, &mut reader), 0x1001);
        assert_eq!(
            hsa_code_object_reader_create_from_file(-1, &mut reader),
            0x1020
        );
        assert_eq!(hsa_executable_create_alt(7, 0, null(), &mut reader), 0x1001);
    }
}

/// Runs the kernel of a file.
fn runs(bytes: Vec<u8>) {
    let saxpy = Saxpy::of(Program::of_bytes(bytes));
    let (queue, done) = (Queue::new(64), Signal::new(1));
    queue.put(saxpy.packet(done.0));
    done.wait();
    for at in 0..SAXPY_LEN as usize {
        assert_eq!(saxpy.y.read::<f32>(4 * at), 2.0 * at as f32 + 1.0);
    }
}

#[test]
fn code_for_the_generic_processor_runs() {
    let mut bytes = read("examples/saxpy/saxpy.gfx906.co");
    // ABI version 4, gfx9-generic in version 1 with any XNACK setting.
    bytes[8] = 4;
    bytes[48..52].copy_from_slice(&0x0100_0151u32.to_le_bytes());
    runs(bytes);
}

#[test]
fn the_code_object_of_a_bundle_is_found() {
    let bundle = read("examples/saxpy/saxpy.bundle.hipfb");
    let mut packed = b"CCOB\x02\0\0\0".to_vec();
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&bundle).unwrap();
    let data = encoder.finish().unwrap();
    for number in [24 + data.len() as u32, bundle.len() as u32, 0, 0] {
        packed.extend(number.to_le_bytes());
    }
    packed.extend(data);
    runs(bundle);
    runs(packed);
}
