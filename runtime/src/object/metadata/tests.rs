//! Tests on documents made here, sound and damaged.

use super::*;

/// A small writer of MessagePack, enough to make documents with defects.
fn text(s: &str) -> Vec<u8> {
    [&[0xd9, s.len() as u8][..], s.as_bytes()].concat()
}
fn map(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut out = vec![0xde, 0, entries.len() as u8];
    for (key, value) in entries {
        out.extend(text(key));
        out.extend(value);
    }
    out
}
fn list(items: &[Vec<u8>]) -> Vec<u8> {
    let mut out = vec![0xdc, 0, items.len() as u8];
    items.iter().for_each(|item| out.extend(item));
    out
}
fn version(major: u8) -> Vec<u8> {
    list(&[vec![major], vec![2]])
}
fn kernel(extra: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut entries = vec![
        (".name", text("k")),
        (".symbol", text("k.kd")),
        (".kernarg_segment_size", vec![16]),
        (".group_segment_fixed_size", vec![0]),
        (".private_segment_fixed_size", vec![0]),
    ];
    for (key, value) in extra {
        entries.retain(|(name, _)| name != key);
        entries.push((key, value.clone()));
    }
    map(&entries)
}
fn document(kernels: &[Vec<u8>]) -> Vec<u8> {
    map(&[
        ("amdhsa.version", version(1)),
        ("amdhsa.kernels", list(kernels)),
    ])
}
fn message(bytes: &[u8]) -> String {
    Metadata::parse(bytes).unwrap_err().to_string()
}

#[test]
fn a_sparse_kernel_gets_the_documented_defaults() {
    let parsed = Metadata::parse(&document(&[kernel(&[
        (".uses_dynamic_stack", vec![0xc3]),
        (".uniform_work_group_size", vec![1]),
        (".reqd_workgroup_size", list(&[vec![8], vec![4], vec![2]])),
        ("custom.config", map(&[])),
    ])]))
    .expect("a sound document");
    assert_eq!(parsed.version, (1, 2));
    let kernel = &parsed.kernels[0];
    assert_eq!(
        (kernel.kernarg_segment_align, kernel.wavefront_size),
        (8, 64)
    );
    assert_eq!((kernel.sgpr_count, kernel.language.as_ref()), (None, None));
    assert_eq!(
        (kernel.uses_dynamic_stack, kernel.uniform_work_group_size),
        (true, Some(true))
    );
    assert_eq!(kernel.reqd_workgroup_size, Some([8, 4, 2]));
}

#[test]
fn every_kind_has_its_name() {
    for name in [
        "by_value",
        "dynamic_shared_pointer",
        "hidden_heap_v1",
        "hidden_remainder_z",
    ] {
        let kind = ArgKind::from_name(name);
        assert_eq!(kind.name(), name);
        assert!(!matches!(kind, ArgKind::Unknown(_)));
    }
    let unknown = ArgKind::from_name("hidden_new_thing");
    assert_eq!(unknown, ArgKind::Unknown("hidden_new_thing".to_owned()));
    assert!(unknown.is_hidden() && !ArgKind::Pipe.is_hidden());
}

#[test]
fn defects_name_the_key() {
    let arg =
        |entries: &[(&str, Vec<u8>)]| document(&[kernel(&[(".args", list(&[map(entries)]))])]);
    assert_eq!(
        message(&[0x01]),
        "kernel metadata: the document: expected a map"
    );
    assert_eq!(
        message(&map(&[])),
        "kernel metadata: amdhsa.version: missing"
    );
    assert_eq!(
        message(&map(&[("amdhsa.version", version(2))])),
        "kernel metadata: amdhsa.version: 2.2 is not supported, only 1.x"
    );
    assert_eq!(
        message(&document(&[map(&[])])),
        "kernel metadata: amdhsa.kernels[0].name: missing"
    );
    assert_eq!(
        message(&arg(&[(".offset", vec![0]), (".size", text("8"))])),
        "kernel metadata: amdhsa.kernels[0].args[0].size: expected a number of 32 bits"
    );
    assert_eq!(
        message(&arg(&[
            (".offset", vec![12]),
            (".size", vec![8]),
            (".value_kind", text("by_value"))
        ])),
        "kernel metadata: amdhsa.kernels[0].args[0].offset: 8 bytes at 12 are outside the 16 bytes of arguments"
    );
    assert!(
        message(&document(&[kernel(&[(".kernarg_segment_align", vec![3])])]))
            .contains("power of two")
    );
    assert!(
        message(&document(&[kernel(&[(
            ".kernarg_segment_size",
            vec![0xce, 0x7f, 0, 0, 0]
        )])]))
        .contains("more than the limit")
    );
    assert!(
        message(&document(&[kernel(&[(
            ".reqd_workgroup_size",
            list(&[vec![1]])
        )])]))
        .ends_with("expected a list of 3 numbers")
    );
}

#[test]
fn hostile_documents_neither_overflow_the_stack_nor_the_memory() {
    // a million nested lists; lists, maps and strings that claim four billion elements
    assert!(message(&vec![0x91; 1_000_000]).contains("not MessagePack"));
    for head in [0xdd, 0xdf, 0xdb, 0xc6] {
        assert!(message(&[head, 0xff, 0xff, 0xff, 0xff, 0]).contains("not MessagePack"));
    }
    assert!(message(&vec![0xc0; MAX_BYTES + 1]).contains("more than the limit"));
}
