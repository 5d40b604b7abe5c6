//! Begin and end, agents, names, extensions.

use std::ffi::{CStr, c_void};
use std::ptr::null_mut;

use hsa_runtime64::api::*;

use crate::faults::{child, is_child};
use crate::support::{agents, begin};

fn info<T: Default>(agent: u64, attribute: u32) -> Result<T, u32> {
    let mut value = T::default();
    // SAFETY: the tests name the type that the attribute has.
    let status = unsafe { hsa_agent_get_info(agent, attribute, (&raw mut value).cast()) };
    if status == 0 { Ok(value) } else { Err(status) }
}

#[test]
fn the_users_are_counted() {
    begin();
    assert_eq!(hsa_init(), 0);
    assert_eq!(hsa_shut_down(), 0);
    let mut ticks = [0u64; 2];
    for tick in &mut ticks {
        // SAFETY: attribute 2 is a number of 64 bits.
        let status = unsafe { hsa_system_get_info(2, (&raw mut *tick).cast()) };
        assert_eq!(status, 0);
    }
    assert!(ticks[0] > 0 && ticks[1] >= ticks[0]);
}

unsafe extern "C" fn ignore(_: u64, _: *mut c_void) -> u32 {
    0
}

#[test]
fn nothing_works_before_the_beginning_and_after_the_end() {
    if !is_child() {
        let (signal, text) = child("system::nothing_works_before_the_beginning_and_after_the_end");
        assert_eq!(signal, None, "{text}");
        assert!(!text.contains("panicked"), "{text}");
        return;
    }
    // SAFETY: the callback takes no data.
    let agents = || unsafe { hsa_iterate_agents(Some(ignore), null_mut()) };
    assert_eq!((agents(), hsa_shut_down()), (0x100b, 0x100b));
    assert_eq!(hsa_signal_destroy(64), 0x100b);
    assert_eq!((hsa_init(), hsa_init(), agents()), (0, 0, 0));
    assert_eq!((hsa_shut_down(), agents()), (0, 0));
    assert_eq!((hsa_shut_down(), agents()), (0, 0x100b));
    assert_eq!((hsa_init(), agents()), (0, 0));
}

#[test]
fn there_are_a_cpu_and_a_gpu() {
    let [cpu, gpu] = agents();
    assert_eq!(info::<u32>(gpu, 2), Ok(1), "it takes kernels");
    assert_eq!(info::<u32>(gpu, 6), Ok(64));
    assert_eq!(info::<u32>(gpu, 8), Ok(1024));
    assert_eq!(info::<u32>(cpu, 2), Ok(2));
    assert_eq!(info::<u64>(gpu, 0xeeee), Err(0x1001));
    assert_eq!(info::<u64>(12345, 6), Err(0x1004));
    let mut name = [0u8; 64];
    // SAFETY: a name has 64 bytes.
    unsafe { hsa_agent_get_info(gpu, 0, name.as_mut_ptr().cast()) };
    let name = CStr::from_bytes_until_nul(&name).unwrap();
    assert_eq!(name, c"gfx906");
    // SAFETY: nothing is written to null.
    assert_eq!(unsafe { hsa_agent_get_info(gpu, 0, null_mut()) }, 0x1001);
    // SAFETY: no callback is called.
    assert_eq!(unsafe { hsa_iterate_agents(None, null_mut()) }, 0x1001);
}

#[test]
fn attributes_of_newer_versions_have_values() {
    let [cpu, gpu] = agents();
    assert_eq!(
        (info::<u32>(gpu, 0xa10a), info::<u32>(cpu, 0xa10a)),
        (Ok(2), Ok(0)),
        "copy engines"
    );
    let mut free = 0;
    // SAFETY: the result goes to our variable.
    let status = unsafe { hsa_amd_memory_copy_engine_status(gpu, cpu, &mut free) };
    assert_eq!((status, free), (0, 0b11));
    for agent in [cpu, gpu] {
        assert_eq!(
            info::<[u8; 8]>(agent, 0xa114),
            Ok([0; 8]),
            "properties of memory"
        );
    }
    for attribute in [0x201, 0x202, 0x203, 0x204, 0x206] {
        let mut there = true;
        // SAFETY: these attributes are booleans.
        let status = unsafe { hsa_system_get_info(attribute, (&raw mut there).cast()) };
        assert_eq!((status, there), (0, false), "{attribute:#x}");
    }
    for (attribute, value) in [(0x207, 1), (0x208, 7)] {
        let mut version = 0u16;
        // SAFETY: these attributes are numbers of 16 bits.
        let status = unsafe { hsa_system_get_info(attribute, (&raw mut version).cast()) };
        assert_eq!((status, version), (0, value));
    }
    let number = |attribute| info::<u32>(gpu, attribute);
    assert_eq!(number(0xa107), Ok(141), "the family of gfx9");
    assert!(number(0xa108).is_ok_and(|version| version > 0));
    assert_eq!(number(0xa108), number(0xa109));
    assert_eq!((number(0xa10b), number(0xa110)), (Ok(0), Ok(0)));
    assert_eq!((number(0xa111), number(0xa112)), (Ok(1), Ok(1)));
    assert_eq!(info::<u64>(gpu, 0xa113), Ok(cpu), "the nearest CPU");
    for agent in [cpu, gpu] {
        assert_eq!(info::<[u8; 8]>(agent, 0xa115), Ok([0; 8]));
        assert_eq!(info::<u64>(agent, 0xa116), Ok(0));
        assert_eq!(info::<u64>(agent, 0xa117), Ok(0));
        let clocks = info::<[u64; 4]>(agent, 0xa118).unwrap();
        assert!(clocks[0] > 0 && clocks[..3] == [clocks[0]; 3]);
        assert_eq!(
            info::<u64>(agent, 0xa016),
            Ok(clocks[3]),
            "ticks in a second"
        );
        assert!(info::<u64>(agent, 0xa015).is_ok_and(|free| free > 1 << 20));
    }
    assert_eq!(hsa_amd_agent_set_async_scratch_limit(gpu, 1), 0x1001);
    assert_eq!(hsa_amd_agent_set_async_scratch_limit(cpu, 1), 0x1004);
    assert_eq!(hsa_amd_enable_logging([1; 8].as_mut_ptr(), null_mut()), 0);
}

unsafe extern "C" fn gather(handle: u64, data: *mut c_void) -> u32 {
    // SAFETY: the test passes a vector.
    unsafe { &mut *data.cast::<Vec<u64>>() }.push(handle);
    0
}

#[test]
fn the_gpu_has_caches() {
    let caches = |agent| {
        let mut caches: Vec<u64> = Vec::new();
        let data = (&raw mut caches).cast();
        // SAFETY: the callback takes a vector.
        assert_eq!(
            // SAFETY: the callback takes a vector.
            unsafe { hsa_agent_iterate_caches(agent, Some(gather), data) },
            0
        );
        caches
    };
    let [cpu, gpu] = agents();
    assert!(caches(cpu).is_empty());
    let sizes = info::<[u32; 4]>(gpu, 18).unwrap();
    let caches = caches(gpu);
    assert_eq!(caches.len(), 2);
    for (at, &cache) in caches.iter().enumerate() {
        let (mut len, mut level, mut size) = (0u32, 0u8, 0u32);
        // SAFETY: these are the types of the attributes.
        unsafe {
            assert_eq!(hsa_cache_get_info(cache, 0, (&raw mut len).cast()), 0);
            assert_eq!(hsa_cache_get_info(cache, 2, (&raw mut level).cast()), 0);
            assert_eq!(hsa_cache_get_info(cache, 3, (&raw mut size).cast()), 0);
        }
        assert_eq!((usize::from(level), size), (at + 1, sizes[at]));
        let mut name = vec![1u8; len as usize];
        // SAFETY: as long as it said.
        let status = unsafe { hsa_cache_get_info(cache, 1, name.as_mut_ptr().cast()) };
        assert_eq!(status, 0);
        assert_eq!(name, format!("GPU L{level}\0").into_bytes());
    }
    // SAFETY: nothing is written.
    assert_eq!(unsafe { hsa_cache_get_info(4711, 3, null_mut()) }, 0x1022);
}

#[test]
fn the_generic_instruction_set_has_a_name() {
    begin();
    let isa = |name: &CStr| {
        let mut isa = 0;
        // SAFETY: the name ends in a zero; the result goes to our variable.
        match unsafe { hsa_isa_from_name(name.as_ptr(), &mut isa) } {
            0 => Ok(isa),
            status => Err(status),
        }
    };
    let own = isa(c"amdgcn-amd-amdhsa--gfx906").unwrap();
    let generic = isa(c"amdgcn-amd-amdhsa--gfx9-generic").unwrap();
    assert_ne!(own, generic);
    assert_eq!(isa(c"amdgcn-amd-amdhsa--gfx9-generic:xnack-"), Ok(generic));
    assert_eq!(isa(c"amdgcn-amd-amdhsa--gfx9-generic:xnack+"), Err(0x1017));
    assert_eq!(isa(c"amdgcn-amd-amdhsa--gfx9-4-generic"), Err(0x1017));
    let (mut policies, mut method) = (9u16, 9u32);
    // SAFETY: the results go to our variables.
    unsafe {
        assert_eq!(hsa_isa_get_exception_policies(own, 0, &mut policies), 0);
        assert_eq!(hsa_isa_get_round_method(own, 2, 1, &mut method), 0);
        assert_eq!((policies, method), (0, 0));
        assert_eq!(hsa_isa_get_round_method(own, 3, 1, &mut method), 0x1001);
        assert_eq!(
            hsa_isa_get_exception_policies(4711, 0, &mut policies),
            0x100f
        );
        let [_, gpu] = agents();
        assert_eq!(hsa_agent_get_exception_policies(gpu, 1, &mut policies), 0);
        assert_eq!(
            hsa_agent_get_exception_policies(gpu, 2, &mut policies),
            0x1001
        );
    }
    let runs = |code, on| {
        let mut runs = false;
        // SAFETY: the result goes to our variable.
        assert_eq!(unsafe { hsa_isa_compatible(code, on, &mut runs) }, 0);
        runs
    };
    assert!(runs(own, own) && runs(generic, own) && !runs(own, generic));
    let mut name = [0u8; 39];
    // SAFETY: as long as the name with its zero.
    let status = unsafe { hsa_isa_get_info_alt(generic, 1, name.as_mut_ptr().cast()) };
    assert_eq!(status, 0);
    assert_eq!(&name, b"amdgcn-amd-amdhsa--gfx9-generic:xnack-\0");
}

unsafe extern "C" fn first(isa: u64, data: *mut c_void) -> u32 {
    // SAFETY: the test passes a number.
    unsafe { data.cast::<u64>().write(isa) };
    1
}

#[test]
fn the_instruction_set_has_a_name() {
    let [_, gpu] = agents();
    let mut isa = 0u64;
    // SAFETY: the callback takes a number.
    let status = unsafe { hsa_agent_iterate_isas(gpu, Some(first), (&raw mut isa).cast()) };
    assert_eq!(status, 1, "what the callback gave");
    let mut len = 0u32;
    assert_eq!(
        // SAFETY: attribute 0 is a dword.
        unsafe { hsa_isa_get_info_alt(isa, 0, (&raw mut len).cast()) },
        0
    );
    let mut name = vec![0u8; len as usize];
    assert_eq!(
        // SAFETY: as long as it said.
        unsafe { hsa_isa_get_info_alt(isa, 1, name.as_mut_ptr().cast()) },
        0
    );
    assert_eq!(name, b"amdgcn-amd-amdhsa--gfx906:sramecc-:xnack-\0");
    let mut same = 0;
    assert_eq!(
        // SAFETY: the name ends in a zero; the result goes to our variable.
        unsafe { hsa_isa_from_name(name.as_ptr().cast(), &mut same) },
        0
    );
    assert_eq!(same, isa);
    // SAFETY: as above.
    let status = unsafe { hsa_isa_from_name(c"amdgcn-amd-amdhsa--gfx1030".as_ptr(), &mut same) };
    assert_eq!(status, 0x1017);
}

#[test]
fn every_status_has_a_text() {
    for (status, text) in [
        (0, "HSA_STATUS_SUCCESS"),
        (0x1008, "HSA_STATUS_ERROR_OUT_OF_RESOURCES"),
        (43, "HSA_STATUS_ERROR_MEMORY_FAULT"),
    ] {
        let mut at = std::ptr::null();
        // SAFETY: the result goes to our variable.
        assert_eq!(unsafe { hsa_status_string(status, &mut at) }, 0);
        // SAFETY: the library's text.
        let found = unsafe { CStr::from_ptr(at) };
        assert!(found.to_str().unwrap().starts_with(text));
    }
    let mut at = std::ptr::null();
    // SAFETY: the result goes to our variable.
    assert_eq!(unsafe { hsa_status_string(77, &mut at) }, 0x1001);
}

#[test]
fn the_loader_extension_has_its_functions() {
    begin();
    let mut table = [0usize; 3];
    // SAFETY: as many bytes as the table has.
    let status =
        unsafe { hsa_system_get_major_extension_table(0x201, 1, 24, table.as_mut_ptr().cast()) };
    assert_eq!(status, 0);
    assert!(!table.contains(&0));
    // SAFETY: nothing is written: there is no finalizer.
    let status =
        unsafe { hsa_system_get_major_extension_table(0, 1, 24, table.as_mut_ptr().cast()) };
    assert_eq!(status, 0x1001);
    let mut images = [0usize; 14];
    // SAFETY: 14 slots are there, 13 functions are written.
    let status =
        unsafe { hsa_system_get_major_extension_table(1, 1, 112, images.as_mut_ptr().cast()) };
    assert_eq!(status, 0);
    assert!(!images[..13].contains(&0) && images[13] == 0);
    let mut there = true;
    assert_eq!(
        // SAFETY: the result goes to our variable.
        unsafe { hsa_system_extension_supported(1, 1, 0, &mut there) },
        0
    );
    assert!(there, "images");
}

#[test]
fn what_is_not_supported_gives_an_error() {
    begin();
    assert_eq!(hsa_amd_ipc_signal_create(), 0x1000);
    assert_eq!(hsa_amd_memory_migrate(), 0x1000);
    assert_eq!(hsa_ven_amd_pcs_create(), 0x1000);
}
