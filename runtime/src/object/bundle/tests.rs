//! Tests on the bundle and the host program in `tests/kernels/objects`.

use super::*;
use crate::object;
use crate::object::tests::{BUNDLE, HOST, SMALL, patched};
use frontend::Gfx;

#[test]
fn bundles_list_and_choose() {
    let entries = entries(BUNDLE).expect("a bundle");
    let ids: Vec<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "host-x86_64-unknown-linux--",
            "hipv4-amdgcn-amd-amdhsa--gfx803",
            "hipv4-amdgcn-amd-amdhsa--gfx900:xnack-"
        ]
    );
    assert_eq!(
        (entries[1].kind.as_str(), entries[1].triple.as_str()),
        ("hipv4", "amdgcn-amd-amdhsa")
    );
    let open = |bytes: &[u8], target: &str| {
        object::open(bytes, Some(&target.parse().expect("a target id")))
            .map(|object| object.target.gfx)
    };
    assert_eq!(open(BUNDLE, "gfx803"), Ok(Gfx::Gfx803));
    assert_eq!(open(BUNDLE, "gfx900"), Ok(Gfx::Gfx900));
    assert_eq!(open(BUNDLE, "gfx902"), Ok(Gfx::Gfx900));
    let error = open(BUNDLE, "gfx900:xnack+")
        .expect_err("it is compiled without xnack")
        .to_string();
    assert!(
        error.starts_with("no code object for gfx900:xnack+; the file has host-x86_64"),
        "{error}"
    );
    let error = object::open(BUNDLE, None)
        .expect_err("there are two")
        .to_string();
    assert!(
        error.starts_with("several code objects for amdgcn: hipv4-amdgcn-amd-amdhsa--gfx803, ")
    );
    // a bare object has one entry
    assert_eq!(open(SMALL, "gfx900"), Ok(Gfx::Gfx900));
    assert_eq!(
        object::open(SMALL, None).map(|object| object.kernels.len()),
        Ok(2)
    );
    assert!(matches!(
        open(SMALL, "gfx803"),
        Err(LoadError::NoMatch { .. })
    ));
    // ids of older compilers and of OpenMP
    let old = bundle_with(b"hip-amdgcn-amd-amdhsa-gfx900");
    assert_eq!(open(&old, "gfx900"), Ok(Gfx::Gfx900));
    let openmp = bundle_with(b"openmp-amdgcn-amd-amdhsa--gfx906:sramecc-:xnack-");
    assert!(matches!(
        open(&openmp, "gfx900"),
        Err(LoadError::NoMatch { .. })
    ));
}

/// A bundle with the small object under one id.
fn bundle_with(id: &[u8]) -> Vec<u8> {
    let mut bundle = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    for number in [1, 24 + 8 + 24 + id.len(), SMALL.len(), id.len()] {
        bundle.extend((number as u64).to_le_bytes());
    }
    bundle.extend(id);
    bundle.extend(SMALL);
    bundle
}

#[test]
fn host_programs_and_wrappers_are_opened() {
    let list = entries(HOST).expect("a host program");
    assert_eq!((list.len(), list[5].bundle), (6, 1), "two bundles of three");
    let gfx803: TargetId = Gfx::Gfx803.into();
    let error = object::open(HOST, Some(&gfx803))
        .expect_err("one in each bundle")
        .to_string();
    assert!(
        error.contains("one in each of 2 bundles; name the kernel"),
        "{error}"
    );
    let object = object::open_kernel(HOST, Some(&gfx803), "empty").expect("the first that has it");
    assert_eq!(object.target.gfx, Gfx::Gfx803);
    let error = object::open_kernel(HOST, Some(&gfx803), "full")
        .expect_err("no such kernel")
        .to_string();
    assert_eq!(error, "no kernel `full`; the code object has empty");
    // a wrapper with its fat binary behind it, and one without
    let wrapper = [&0x4849_5046_u32.to_le_bytes()[..], &[1, 0, 0, 0], &[0; 16]].concat();
    assert_eq!(&wrapper[..4], b"FPIH");
    let whole = [&wrapper[..], BUNDLE].concat();
    assert_eq!(
        object::open(&whole, Some(&gfx803)).map(|object| object.target.gfx),
        Ok(Gfx::Gfx803)
    );
    assert!(matches!(
        entries(&wrapper),
        Err(LoadError::Bundle { offset: 0, .. })
    ));
}

#[test]
fn what_is_no_code_object_is_named() {
    let error = |bytes: &[u8]| entries(bytes).expect_err("no code object");
    assert!(
        error(b"")
            .to_string()
            .starts_with("the file begins with nothing, which is no code object")
    );
    assert!(
        error(b"\x89PNG\r\n\x1a\n..")
            .to_string()
            .contains("89 50 4e 47 0d 0a 1a 0a")
    );
    assert!(matches!(
        error(b"\x10\xff\x10\xad\0\0\0\0"),
        LoadError::OffloadBinary { offset: 0 }
    ));
    // the section's name is gone
    let name = HOST
        .windows(11)
        .rposition(|window| window == b".hip_fatbin")
        .expect("its name");
    let nameless = patched(HOST, name, b".not_fatbin");
    assert_eq!(error(&nameless), LoadError::NoDeviceCode { machine: 62 });
    let trailing = [BUNDLE, &[0; 64], b"junk"].concat();
    assert!(
        error(&trailing)
            .to_string()
            .contains("followed by 6a 75 6e 6b, which is no bundle")
    );
    let after = [BUNDLE, &[0; 64], b"CCOB\x03\0"].concat();
    assert!(matches!(error(&after), LoadError::Truncated { .. }));
}
