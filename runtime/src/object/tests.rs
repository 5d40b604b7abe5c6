//! Tests on the small code objects in `tests/kernels/objects`, whole and damaged.

use super::*;
use frontend::Gfx;

macro_rules! fixture {
    ($name:literal) => {
        include_bytes!(concat!("../../../tests/kernels/objects/", $name)).as_slice()
    };
}

const ARGS: [(&[u8], Gfx, Version, &str); 6] = [
    (
        fixture!("args.v5.gfx600.co"),
        Gfx::Gfx600,
        Version::V5,
        "gfx600",
    ),
    (
        fixture!("args.v5.gfx700.co"),
        Gfx::Gfx700,
        Version::V5,
        "gfx700",
    ),
    (
        fixture!("args.v3.gfx803.co"),
        Gfx::Gfx803,
        Version::V3,
        "gfx803",
    ),
    (
        fixture!("args.v4.gfx900.co"),
        Gfx::Gfx900,
        Version::V4,
        "gfx900",
    ),
    (
        fixture!("args.v5.gfx906.co"),
        Gfx::Gfx906,
        Version::V5,
        "gfx906:sramecc-:xnack-",
    ),
    (
        fixture!("args.v6.gfx900.co"),
        Gfx::Gfx900,
        Version::V6,
        "gfx900",
    ),
];
pub(super) const SMALL: &[u8] = fixture!("args.v4.gfx900.co");
const RELOCS: &[u8] = fixture!("relocs.gfx900.co");
const SYMBOLS: &[u8] = fixture!("symbols.gfx900.co");
const GLOBALS: &[u8] = fixture!("globals.gfx900.co");
pub(super) const BUNDLE: &[u8] = fixture!("empty.hipfb");
pub(super) const HOST: &[u8] = fixture!("host.so");

fn parse(bytes: &[u8]) -> CodeObject {
    CodeObject::parse(bytes).expect("a sound code object")
}

fn load(object: &CodeObject, base: u64) -> Result<Vec<u8>, LoadError> {
    let mut image = vec![0xcc; object.image_size() as usize];
    object.load(base, &mut image).map(|()| image)
}

fn message(bytes: &[u8]) -> String {
    CodeObject::parse(bytes).expect_err("a defect").to_string()
}

/// `bytes` with `patch` written at `at`.
pub(super) fn patched(bytes: &[u8], at: usize, patch: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at..at + patch.len()].copy_from_slice(patch);
    bytes
}

fn word(bytes: &[u8], at: u64) -> u64 {
    u64::from_le_bytes(bytes[at as usize..][..8].try_into().expect("eight bytes"))
}

#[test]
fn objects_of_every_target_and_version_load() {
    for (bytes, gfx, version, id) in ARGS {
        let object = parse(bytes);
        assert_eq!((object.target.gfx, object.version), (gfx, version), "{id}");
        assert_eq!(object.target.to_string(), id);
        let minor = version.number().min(5) - 3;
        assert_eq!(object.metadata_version, Some((1, minor)));
        let names: Vec<&str> = object
            .kernels
            .iter()
            .map(|kernel| kernel.name.as_str())
            .collect();
        assert_eq!(names, ["args", "empty"]);

        let kernel = object.kernel("args").expect("the kernel");
        let metadata = kernel.metadata.as_ref().expect("its metadata");
        assert_eq!(metadata.symbol, "args.kd");
        assert_eq!(metadata.language.as_deref(), Some("OpenCL C"));
        assert_eq!(metadata.language_version, Some((2, 0)));
        assert_eq!(
            (metadata.wavefront_size, metadata.kernarg_segment_align),
            (64, 8)
        );
        assert_eq!(metadata.max_flat_workgroup_size, Some(256));
        assert!(metadata.sgpr_count.is_some() && metadata.vgpr_count.is_some());
        let hidden = if version >= Version::V5 { 256 } else { 56 };
        assert_eq!(metadata.kernarg_segment_size, 56 + hidden);
        assert_eq!(
            kernel.descriptor.kernarg_size,
            metadata.kernarg_segment_size
        );
        assert!(kernel.descriptor.kernarg_segment_ptr() && kernel.descriptor.ieee_mode());
        assert!(kernel.descriptor.vgpr_count(gfx) >= metadata.vgpr_count.unwrap_or(0));
        assert!(kernel.descriptor.sgpr_count(gfx) >= metadata.sgpr_count.unwrap_or(0));
        assert!(kernel.descriptor.user_sgpr_count() >= kernel.descriptor.enabled_user_sgprs());
        // the code lies where the function symbol says
        let function = object.functions.iter().find(|symbol| symbol.name == "args");
        let function = function.expect("a function symbol");
        assert_eq!(kernel.code, function.value..function.value + function.size);
        let empty = object
            .kernel("empty.kd")
            .expect("the kernel by its descriptor's name");
        let code = object
            .file_bytes(empty.code.start, 4)
            .expect("code is in the file");
        assert_eq!(code, 0xbf81_0000_u32.to_le_bytes(), "s_endpgm");
        let metadata = empty.metadata.as_ref().expect("its metadata");
        assert_eq!(metadata.reqd_workgroup_size, Some([64, 1, 1]));
    }
}

/// Tensile's kernels have no size.
#[test]
fn a_kernel_without_a_size_ends_at_the_next_one() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../examples/matmul/matmul.gfx900.co"
    );
    let file = std::fs::read(file).expect("it is committed");
    let mut object = open(&file, None).expect("it loads");
    let sized: Vec<_> = object.kernels.iter().map(|k| k.code.clone()).collect();
    assert!(sized.len() > 1);
    let segment = object.segments.iter().find(|segment| segment.execute);
    let last = segment.map_or(0, |segment| segment.address + segment.size);
    for kernel in &mut object.kernels {
        kernel.code.end = last;
    }
    object.end_unsized_kernels(&HashMap::new());
    for (kernel, sized) in object.kernels.iter().zip(sized) {
        assert_eq!(kernel.code.start, sized.start);
        // Behind the last one is padding.
        assert!(kernel.code.end >= sized.end, "{kernel:x?} {sized:x?}");
        let others = object.kernels.iter().filter(|one| one.name != kernel.name);
        let mut starts = others.map(|one| one.code.start);
        assert!(starts.all(|start| !kernel.code.contains(&start)));
    }
}

#[test]
fn arguments_come_with_all_that_the_metadata_says() {
    let object = parse(SMALL);
    let args = &object.kernels[0].metadata.as_ref().expect("metadata").args;
    let places: Vec<(u32, u32, &str)> = args[..8]
        .iter()
        .map(|arg| (arg.offset, arg.size, arg.kind.name()))
        .collect();
    assert_eq!(
        places,
        [
            (0, 8, "global_buffer"),
            (8, 8, "global_buffer"),
            (16, 8, "global_buffer"),
            (24, 4, "by_value"),
            (28, 1, "by_value"),
            (32, 12, "by_value"),
            (44, 4, "dynamic_shared_pointer"),
            (48, 4, "dynamic_shared_pointer"),
        ]
    );
    assert_eq!(args[0].type_name.as_deref(), Some("float*"));
    assert_eq!(args[0].address_space.as_deref(), Some("global"));
    assert!(args[0].is_restrict && !args[0].is_const && args[1].is_const);
    assert_eq!(
        (args[6].pointee_align, args[7].pointee_align),
        (Some(4), Some(8))
    );
    assert!(args[8..].iter().all(|arg| arg.kind.is_hidden()));
    for (bytes, ..) in ARGS {
        for kernel in parse(bytes).kernels {
            for arg in kernel.metadata.expect("metadata").args {
                assert!(!matches!(arg.kind, ArgKind::Unknown(_)), "{arg:?}");
            }
        }
    }
}

#[test]
fn images_hold_segments_zeros_and_nothing_else() {
    let object = parse(GLOBALS);
    let base = 0x7f00_0000_0000;
    let image = load(&object, base).expect("the image");
    let counter = object.global("counter").expect("a variable");
    let zeroed = object.global("zeroed").expect("a variable");
    assert_eq!((counter.size, zeroed.size), (4, 20));
    let at = |address: u64, size: u64| {
        let start = (object.address_in(base, address) - base) as usize;
        &image[start..start + size as usize]
    };
    assert_eq!(at(counter.value, 4), 41_u32.to_le_bytes());
    assert_eq!(at(zeroed.value, 20), [0; 20]);
    let code = &object.kernels[0].code;
    let size = code.end - code.start;
    assert_eq!(
        Some(at(code.start, size)),
        object.file_bytes(code.start, size)
    );
    let executable: Vec<bool> = object
        .segments
        .iter()
        .map(|segment| segment.execute)
        .collect();
    assert_eq!(executable.iter().filter(|&&execute| execute).count(), 1);
    assert!(
        object
            .segments
            .iter()
            .any(|segment| segment.size > segment.data.len() as u64),
        ".bss"
    );
    // too small, and not aligned
    let mut short = vec![0; image.len() - 1];
    assert!(matches!(
        object.load(base, &mut short),
        Err(LoadError::Placement { .. })
    ));
    let mut right = vec![0; image.len()];
    assert!(matches!(
        object.load(base + 8, &mut right),
        Err(LoadError::Placement { .. })
    ));
}

#[test]
fn relative_relocations_move_pointers() {
    let object = parse(RELOCS);
    assert_eq!(object.relocations().len(), 2);
    let base = 0x10_0000_0000;
    let image = load(&object, base).expect("the image");
    let values: Vec<Vec<u8>> = object
        .relocations()
        .iter()
        .map(|relocation| {
            assert_eq!(relocation.kind, RelocKind::Relative64);
            let place = relocation.offset - object.image_start();
            let pointer = word(&image, place);
            image[(pointer - base) as usize..][..8].to_vec()
        })
        .collect();
    let pair = |a: i32, b: i32| [a.to_le_bytes(), b.to_le_bytes()].concat();
    assert_eq!(values, [pair(1, 3), pair(4, 6)]);
}

/// Where the first relocation of the symbols object lies.
fn first_relocation() -> usize {
    let first = parse(SYMBOLS).relocations()[0];
    let entry = [
        first.offset.to_le_bytes(),
        (u64::from(first.symbol) << 32 | 3).to_le_bytes(),
        4_i64.to_le_bytes(),
    ]
    .concat();
    SYMBOLS
        .windows(24)
        .position(|window| window == entry)
        .expect("the entry")
}

#[test]
fn relocations_outside_of_the_segments_are_refused() {
    let object = parse(SYMBOLS);
    let at = first_relocation();
    let start = object.image_start();
    let end = start + object.image_size();
    let far = [
        1 << 40,
        1 << 63,
        u64::MAX - 8,
        u64::MAX - 7,
        u64::MAX - 3,
        u64::MAX,
    ];
    let near = [
        start.wrapping_sub(1),
        start.wrapping_sub(8),
        end - 7,
        end - 1,
        end,
        end + 1,
    ];
    for offset in far.into_iter().chain(near) {
        let file = patched(SYMBOLS, at, &offset.to_le_bytes());
        assert!(CodeObject::parse(&file).is_err(), "at {offset:#x}");
    }
    for symbol in [1 << 16, u32::MAX] {
        let info = u64::from(symbol) << 32 | 3;
        let file = patched(SYMBOLS, at + 8, &info.to_le_bytes());
        assert!(CodeObject::parse(&file).is_err(), "symbol {symbol}");
    }
    // A value is only data of the guest, wherever it points.
    for addend in [i64::MIN, i64::MAX, -1] {
        let file = patched(SYMBOLS, at + 16, &addend.to_le_bytes());
        assert!(load(&parse(&file), 0x10_0000).is_ok());
    }
}

/// The symbols object with the type of its first relocation and the addend replaced.
fn with_relocation(kind: u32, addend: i64) -> Vec<u8> {
    let first = parse(SYMBOLS).relocations()[0];
    let at = first_relocation();
    let info = (u64::from(first.symbol) << 32 | u64::from(kind)).to_le_bytes();
    patched(
        &patched(SYMBOLS, at + 8, &info),
        at + 16,
        &addend.to_le_bytes(),
    )
}

#[test]
fn relocations_with_symbols_follow_the_abi() {
    let object = parse(SYMBOLS);
    let base: u64 = 0x5_0000_0000;
    let value = object.global("value").expect("a variable").value;
    let pointers = object.global("pointers").expect("a variable").value;
    let (s, p) = (
        object.address_in(base, value),
        object.address_in(base, pointers),
    );
    let image = load(&object, base).expect("the image");
    let at = |image: &[u8], address: u64| word(image, address - base);
    assert_eq!((at(&image, p), at(&image, p + 8)), (s + 4, p));

    let apply = |kind, addend, base| load(&parse(&with_relocation(kind, addend)), base);
    let low = |image: &[u8]| at(image, p) & 0xffff_ffff;
    let result = |kind| apply(kind, 4, base).expect("a value that fits");
    assert_eq!(low(&result(1)), (s + 4) & 0xffff_ffff);
    assert_eq!(low(&result(2)), (s + 4) >> 32);
    assert_eq!(at(&result(3), p), s + 4);
    assert_eq!(low(&result(4)), u64::from((s + 4).wrapping_sub(p) as u32));
    assert_eq!(at(&result(5), p), (s + 4).wrapping_sub(p));
    assert_eq!(low(&result(10)), (s + 4).wrapping_sub(p) & 0xffff_ffff);
    assert_eq!(low(&result(11)), (s + 4).wrapping_sub(p) >> 32);
    assert_eq!(
        at(&result(13), p),
        base.wrapping_sub(object.image_start()) + 4
    );
    assert_eq!(at(&result(0), p), 0, "R_AMDGPU_NONE");
    // the offset table follows the segments; its slot holds the symbol's address
    for kind in [7, 8] {
        let image = result(kind);
        let slot = p.wrapping_add_signed(i64::from(low(&image) as u32 as i32)) - 4;
        assert_eq!(at(&image, slot), s, "kind {kind}");
    }
    assert_eq!(low(&result(9)), 0);

    let name = |kind| CodeObject::parse(&with_relocation(kind, 0)).expect_err("no such type");
    assert!(
        name(14)
            .to_string()
            .starts_with("unsupported relocation R_AMDGPU_REL16 at address")
    );
    assert!(
        name(99)
            .to_string()
            .starts_with("unsupported relocation of type 99 at address")
    );
    assert!(name(14).is_unsupported());
    let error = apply(6, 4, base).expect_err("it does not fit");
    assert!(
        error
            .to_string()
            .ends_with("value 0x5000034ac does not fit into 32 bits"),
        "{error}"
    );
    assert!(apply(6, 4, 0x10000).is_ok());
    let error = apply(4, 1 << 40, base).expect_err("it does not fit");
    assert!(matches!(
        error,
        LoadError::RelocationOverflow {
            name: "R_AMDGPU_REL32",
            ..
        }
    ));
}

#[test]
fn symbols_of_others_are_asked_for_by_name() {
    let mut object = parse(SYMBOLS);
    let number = object.relocations()[0].symbol as usize;
    object.symbols[number].place = Place::Undefined;
    assert_eq!(
        object.undefined_symbols().into_iter().collect::<Vec<_>>(),
        ["value"]
    );
    let error = load(&object, 0x10000).expect_err("undefined").to_string();
    assert!(error.starts_with("undefined symbol `value`, needed by relocation R_AMDGPU_ABS64 at"));
    let mut image = vec![0; object.image_size() as usize];
    let resolve = |name: &str| (name == "value").then_some(0x1234_0000);
    object
        .load_with(0x10000, &mut image, &resolve)
        .expect("it is defined now");
    let place = object.relocations()[0].offset - object.image_start();
    assert_eq!(word(&image, place), 0x1234_0004);
    object.symbols[number].weak = true;
    assert_eq!(
        word(&load(&object, 0x10000).expect("weak is zero"), place),
        4
    );
}

#[test]
fn wrong_headers_are_named() {
    assert!(message(b"\x7fELF").starts_with("the ELF header at offset 0x0 needs 64 bytes"));
    let at = |at, byte: u8| message(&patched(SMALL, at, &[byte]));
    assert_eq!(at(4, 1), "ELF header: EI_CLASS is 0x1, expected 2 (64-bit)");
    assert_eq!(
        at(5, 2),
        "ELF header: EI_DATA is 0x2, expected 1 (little endian)"
    );
    assert!(at(7, 0).starts_with("ELF header: EI_OSABI is 0x0, expected 0x40"));
    assert!(at(8, 5).starts_with("unsupported code object version unknown (ELF ABI version 5)"));
    assert!(at(8, 0).starts_with("unsupported code object version 2 (ELF ABI version 0)"));
    assert!(at(16, 1).starts_with("this is a relocatable object"));
    assert!(at(16, 2).starts_with("ELF header: e_type is 0x2, expected 3"));
    assert!(at(18, 62).starts_with("ELF header: e_machine is 0x3e, expected 0xe0"));
    assert!(at(48, 0x36).starts_with("unsupported target gfx1030"));
    assert!(at(56, 0).starts_with("the code object has no loadable segment"));
    // Version 6 of a generic target, whose own version is in the highest byte.
    let generic = |machine| patched(&patched(SMALL, 8, &[4]), 48, &[machine, 1, 0, 1]);
    let object = parse(&generic(0x51));
    assert_eq!(
        (object.target.gfx, object.target.generic_version),
        (Gfx::Gfx900, 1)
    );
    let generic = generic(0x54);
    assert!(
        message(&generic).starts_with("unsupported target gfx11-generic; supported are gfx600")
    );
    for object in [patched(SMALL, 48, &[0x36]), generic] {
        let error = CodeObject::parse(&object).expect_err("a foreign target");
        assert!(error.is_unsupported());
    }
    assert_eq!(
        parse(&patched(SMALL, 48, &[0x2d])).target.gfx,
        Gfx::Gfx900,
        "gfx902"
    );
}

#[test]
fn wrong_segments_are_named() {
    // the first PT_LOAD is the second program header
    let field = |offset: usize, value: u64| {
        message(&patched(SMALL, 64 + 56 + offset, &value.to_le_bytes()))
    };
    let file_size = word(SMALL, 64 + 56 + 32);
    assert!(field(8, 0x8000_0000).starts_with("segment 1 at offset 0x80000000 needs"));
    assert!(field(8, 1).contains("differs from the address modulo the alignment 0x1000"));
    assert!(field(16, u64::MAX << 12).contains("very end of the address space"));
    assert!(field(32, file_size + 1).contains("bytes in the file, but only"));
    assert!(field(40, 1 << 40).contains("more than the limit of 1073741824"));
    assert!(field(40, 0x2000).contains("it overlaps the segment at 0x0"));
    assert!(field(48, 3).contains("alignment 0x3 is no power of two"));
}

#[test]
fn wrong_descriptors_and_symbols_are_named() {
    let kernel = &parse(SMALL).kernels[0];
    let at = kernel.descriptor_address as usize; // the first segment is loaded as it lies in the file
    let offset = |value: i64| message(&patched(SMALL, at + 16, &value.to_le_bytes()));
    assert!(offset(i64::MIN).ends_with("the entry point is outside the address space"));
    assert!(offset(0).contains("is in no segment with code"));
    let entry = kernel.descriptor.entry_byte_offset;
    assert!(offset(entry + 4).contains("is not aligned to 256 bytes"));
    assert!(
        message(&patched(SMALL, at + 60, &[1])).contains("reserved bytes 60 to 63 are not zero")
    );
    let wave32 = message(&patched(SMALL, at + 57, &[4]));
    assert_eq!(
        wave32,
        "kernel `args`: a wave of other than 64 lanes is not supported"
    );

    // another name in the metadata
    let name = SMALL
        .windows(7)
        .position(|window| window == b"args.kd")
        .expect("the symbol's name");
    let error = message(&patched(SMALL, name, b"argz.kd"));
    assert!(
        error.contains("the symbol tables have no 64-byte object `argz.kd`"),
        "{error}"
    );
    let error = parse(SMALL)
        .kernel("nothing")
        .expect_err("no such kernel")
        .to_string();
    assert_eq!(
        error,
        "no kernel `nothing`; the code object has args, empty"
    );
}

#[test]
fn objects_without_metadata_or_section_headers_load() {
    // the note becomes another vendor's
    let note = SMALL
        .windows(7)
        .position(|window| window == b"AMDGPU\0")
        .expect("the note");
    let object = parse(&patched(SMALL, note, b"OTHERS\0"));
    assert_eq!(object.metadata_version, None);
    assert_eq!(object.kernels.len(), 2);
    assert!(
        object
            .kernels
            .iter()
            .all(|kernel| kernel.metadata.is_none())
    );
    // no section headers: e_shoff, e_shnum and e_shstrndx are zero
    let bare = patched(&patched(SMALL, 40, &[0; 8]), 60, &[0; 4]);
    let (bare, whole) = (parse(&bare), parse(SMALL));
    assert_eq!(bare.kernels, whole.kernels);
    let image = |object| load(object, 0x10000).expect("the image").split_off(64);
    assert!(
        image(&bare) == image(&whole),
        "the images differ after the ELF header"
    );
}

/// All operations of a runner on a file; the test is that none panics.
fn exercise(bytes: &[u8]) -> Option<Vec<u8>> {
    let Ok(entries) = entries(bytes) else {
        return None;
    };
    let mut all = Vec::new();
    for entry in entries {
        let Ok(object) = CodeObject::parse(entry.code()) else {
            return None;
        };
        if object.image_size() <= 1 << 20 {
            all.extend(load(&object, 0x40_0000_0000).ok()?);
        }
    }
    Some(all)
}

#[test]
fn truncation_anywhere_is_an_error_or_harmless() {
    for bytes in [SMALL, RELOCS, SYMBOLS, BUNDLE] {
        let whole = exercise(bytes);
        for length in 0..bytes.len() {
            let cut = exercise(&bytes[..length]);
            assert!(
                cut.is_none() || cut == whole,
                "{length} of {} bytes",
                bytes.len()
            );
        }
    }
    for length in (0..HOST.len()).step_by(7) {
        assert!(exercise(&HOST[..length]).is_none(), "{length} bytes");
    }
}

#[test]
fn random_damage_never_panics() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % below
    };
    let mut survived = 0;
    for round in 0..6000 {
        let source = [SMALL, RELOCS, SYMBOLS, GLOBALS, BUNDLE][round % 5];
        let mut bytes = source.to_vec();
        // half of the time in the headers, where it matters most
        let within = if round % 2 == 0 {
            bytes.len().min(0x700)
        } else {
            bytes.len()
        };
        for _ in 0..1 + random(4) {
            let at = random(within);
            bytes[at] = match random(3) {
                0 => [0, 1, 0x7f, 0x80, 0xfe, 0xff][random(6)],
                1 => bytes[at] ^ 1 << random(8),
                _ => random(256) as u8,
            };
        }
        survived += usize::from(exercise(&bytes).is_some());
    }
    assert!(
        survived > 100,
        "the damage is too heavy to reach anything: {survived}"
    );
}
