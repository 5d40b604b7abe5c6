//! Code objects that lie: descriptors with sizes that cannot be, segments that overlap or are huge, data
//! that is called code. The loader or the launch says what is wrong, or what runs is defined; both engines
//! say the same.

use wavelift::{Arg, Error, Gfx, Launch, Module};

use super::{Rig, TARGETS, object_bytes};

/// What buffers hold before.
const BEFORE: u32 = 0x5eed_5eed;

/// What kernels store to `out` in the end.
const MARK: u32 = 9;

/// A program header of a file.
struct Header {
    /// Where it lies in the file.
    at: usize,
    kind: u32,
    address: u64,
}

/// Bytes from the start of a program header to its fields.
const FLAGS: usize = 4;
const OFFSET: usize = 8;
const ADDRESS: usize = 16;
const FILE_SIZE: usize = 32;
const SIZE: usize = 40;

/// `p_type` of what is loaded, and the flag of what is executed.
const LOAD: u32 = 1;
const EXECUTE: u32 = 1;

fn word(file: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(*file[at..].first_chunk().unwrap())
}

fn long(file: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(*file[at..].first_chunk().unwrap())
}

fn put(file: &mut [u8], at: usize, bytes: &[u8]) {
    file[at..at + bytes.len()].copy_from_slice(bytes);
}

/// The loaded segments of a file.
fn loaded(file: &[u8]) -> Vec<Header> {
    let (first, count) = (long(file, 32) as usize, word(file, 56) & 0xffff);
    let headers = (0..count as usize).map(|i| {
        let at = first + 56 * i;
        Header {
            at,
            kind: word(file, at),
            address: long(file, at + ADDRESS),
        }
    });
    headers.filter(|header| header.kind == LOAD).collect()
}

/// What both engines say of a kernel of a file whose arguments are good.
fn says(rig: &Rig, file: &[u8], kernel: &str) -> String {
    let out = rig.buffer(&[BEFORE; 256]);
    let mut segment = vec![0; 8];
    segment.extend(out.address().to_le_bytes());
    segment.extend([64, 0, 0, 0, 0, 0, 0, 0]);
    let mut first: Option<String> = None;
    rig.each(&[1], |rig| {
        out.write(&[BEFORE; 256]).unwrap();
        let said = match load_and_launch(rig, file, kernel, segment.clone()) {
            Ok(()) => {
                let words: Vec<u32> = out.read().unwrap();
                match (words[252], words[0]) {
                    (MARK, MARK) => "marked".to_owned(),
                    (BEFORE, BEFORE) => "silent".to_owned(),
                    other => panic!("{other:x?}"),
                }
            }
            Err(Error::Fault(fault)) => fault.kind.name().to_owned(),
            Err(error) => error.to_string(),
        };
        let first = first.get_or_insert_with(|| said.clone());
        assert_eq!(*first, said, "engines differ");
    });
    first.expect("an engine ran")
}

#[test]
fn segments_that_overlap() {
    for gfx in TARGETS {
        let rig = Rig::new();
        let file = object_bytes("hostile", gfx);
        assert_eq!(says(&rig, &file, "fine"), "marked");
        let segments = loaded(&file);
        assert!(segments.len() >= 4);
        for (i, segment) in segments.iter().enumerate() {
            for other in &segments[..i] {
                // Begins inside an earlier one, or with it; offsets in the file agree modulo the alignment.
                for into in [0, 4] {
                    let mut file = file.clone();
                    let address = other.address + into;
                    put(&mut file, segment.at + ADDRESS, &address.to_le_bytes());
                    put(&mut file, segment.at + 48, &1u64.to_le_bytes());
                    let said = says(&rig, &file, "fine");
                    assert!(
                        said.contains("overlaps the segment at"),
                        "{gfx}, {i} at {address:#x}: {said}"
                    );
                }
                // Reaches over all that follow.
                let mut file = file.clone();
                put(&mut file, other.at + SIZE, &(1u64 << 20).to_le_bytes());
                let said = says(&rig, &file, "fine");
                assert!(said.contains("overlaps the segment at"), "{gfx}: {said}");
            }
        }
        // The bytes of the file may serve twice: memory does not overlap.
        let mut twice = file.clone();
        let (code, data) = (&segments[1], &segments[3]);
        let offset = long(&file, code.at + OFFSET) + (data.address - code.address) % 4096;
        put(&mut twice, data.at + OFFSET, &offset.to_le_bytes());
        assert_eq!(says(&rig, &twice, "fine"), "marked", "{gfx}");
        // Their order in the file means nothing.
        let mut turned = file.clone();
        let (a, b) = (segments[0].at, segments[3].at);
        for k in 0..56 {
            turned.swap(a + k, b + k);
        }
        assert_eq!(says(&rig, &turned, "fine"), "marked", "{gfx}");
    }
}

#[test]
fn segments_that_are_huge() {
    for gfx in TARGETS {
        let rig = Rig::new();
        let file = object_bytes("hostile", gfx);
        let last = loaded(&file).pop().unwrap();
        let sized = |bytes: u64, flags: u32| {
            let mut file = file.clone();
            put(&mut file, last.at + SIZE, &bytes.to_le_bytes());
            put(&mut file, last.at + FLAGS, &flags.to_le_bytes());
            file
        };
        for bytes in [1 << 30, 1 << 40, u64::MAX - 0x8000, u64::MAX] {
            let said = says(&rig, &sized(bytes, 6), "fine");
            assert!(said.contains("more than the limit of 1073741824"), "{said}");
        }
        // More than the device has.
        let said = says(&rig, &sized((1 << 30) - (1 << 16), 6), "fine");
        assert!(said.starts_with("the code object does not fit"), "{said}");
        // Memory of the guest that nobody touches is none of the host's, be it called code or data.
        let before = super::dispatch::resident();
        for flags in [6, 7] {
            let module = Module::load(&rig.device, &sized(512 << 20, flags)).unwrap();
            let out = rig.buffer(&[BEFORE; 256]);
            rig.each(&[1], |rig| {
                let mut segment = vec![0; 8];
                segment.extend(out.address().to_le_bytes());
                segment.extend([64, 0, 0, 0, 0, 0, 0, 0]);
                let args = [Arg::Bytes(segment)];
                rig.launch(&module, "fine", Launch::new(64, 64), &args);
                assert_eq!(out.read::<u32>().unwrap()[252], MARK);
            });
            let grown = super::dispatch::resident().saturating_sub(before);
            assert!(grown < 256 << 20, "{gfx}: {grown} bytes");
        }
        // More in the file than in memory, and more than the file has.
        let mut more = file.clone();
        put(&mut more, last.at + FILE_SIZE, &0x200u64.to_le_bytes());
        assert!(says(&rig, &more, "fine").contains("bytes in the file, but only"));
        put(&mut more, last.at + SIZE, &(1u64 << 24).to_le_bytes());
        put(&mut more, last.at + FILE_SIZE, &(1u64 << 24).to_le_bytes());
        let said = says(&rig, &more, "fine");
        assert!(said.contains("needs 16777216 bytes"), "{said}");
    }
}

/// Code is what the loader was told to be code, as it was then.
#[test]
fn data_that_is_executed() {
    for gfx in TARGETS {
        let rig = Rig::new();
        let mut file = object_bytes("hostile", gfx);
        for kernel in ["run_data", "modify_data"] {
            assert_eq!(says(&rig, &file, kernel), "memory", "{gfx}");
        }
        for segment in loaded(&file) {
            let flags = word(&file, segment.at + FLAGS) | EXECUTE;
            put(&mut file, segment.at + FLAGS, &flags.to_le_bytes());
        }
        for kernel in ["fine", "run_data", "modify_data"] {
            assert_eq!(says(&rig, &file, kernel), "marked", "{gfx}");
        }
        // Tables and descriptors as instructions: whatever that does, both engines do it.
        let module = Module::load(&rig.device, &file).unwrap();
        let code = module.code();
        let out = rig.buffer(&[BEFORE; 256]);
        for at in (0..0x1a00).step_by(64) {
            let mut segment = (code.base() + at).to_le_bytes().to_vec();
            segment.extend(out.address().to_le_bytes());
            segment.extend([64, 0, 0, 0, 0, 0, 0, 0]);
            let mut first: Option<String> = None;
            rig.each(&[1], |rig| {
                let args = [Arg::Bytes(segment.clone())];
                let said = match rig.try_launch(&module, "jump", Launch::new(64, 64), &args) {
                    Ok(_) => "it ran".to_owned(),
                    Err(error) => error.to_string(),
                };
                let first = first.get_or_insert_with(|| said.clone());
                assert_eq!(*first, said, "{gfx}, {at:#x}");
            });
        }
    }
}

/// The file with other bytes at an offset of a kernel's descriptor.
fn with_descriptor(gfx: Gfx, kernel: &str, patch: &[(usize, &[u8])]) -> Vec<u8> {
    let mut file = object_bytes("hostile", gfx);
    let object = runtime::object::CodeObject::parse(&file).unwrap();
    let address = object.kernel(kernel).unwrap().descriptor_address;
    let bytes = object.file_bytes(address, 64).unwrap().to_vec();
    let mut places = file
        .windows(64)
        .enumerate()
        .filter(|(_, window)| *window == bytes);
    let (start, _) = places.next().unwrap();
    assert!(
        places.next().is_none(),
        "descriptors differ in their entries"
    );
    for (offset, bytes) in patch {
        file[start + offset..start + offset + bytes.len()].copy_from_slice(bytes);
    }
    file
}

/// What loading and launching such a file says.
fn load_and_launch(rig: &Rig, file: &[u8], kernel: &str, segment: Vec<u8>) -> Result<(), Error> {
    let module = Module::load(&rig.device, file)?;
    let args = [Arg::Bytes(segment)];
    rig.try_launch(&module, kernel, Launch::new(64, 64), &args)?;
    Ok(())
}

#[test]
fn descriptors_that_lie() {
    let huge = u32::MAX.to_le_bytes();
    for gfx in TARGETS {
        let rig = Rig::new();
        let out = rig.buffer(&[BEFORE; 256]);
        let mut segment = vec![0; 8];
        segment.extend(out.address().to_le_bytes());
        segment.extend([64, 0, 0, 0, 0, 0, 0, 0]);
        let says = |patch: &[(usize, &[u8])], segment: &[u8]| {
            let file = with_descriptor(gfx, "fine", patch);
            let mut said = Vec::new();
            rig.each(&[1], |rig| {
                said.push(
                    match load_and_launch(rig, &file, "fine", segment.to_vec()) {
                        Ok(()) => "it ran".to_owned(),
                        Err(error) => error.to_string(),
                    },
                );
            });
            said.dedup();
            assert_eq!(said.len(), 1, "engines differ: {said:?}");
            said.swap_remove(0)
        };
        assert_eq!(says(&[], &segment), "it ran");
        assert_eq!(out.read::<u32>().unwrap()[252], MARK);
        let limit = if gfx == Gfx::Gfx600 { 32768 } else { 65536 };
        for bytes in [u32::MAX, 65537, limit + 1] {
            assert_eq!(
                says(&[(0, &bytes.to_le_bytes())], &segment),
                format!(
                    "kernel fine needs {bytes} bytes of LDS and the launch adds 0; \
                     a workgroup of {gfx} has at most {limit}"
                )
            );
        }
        assert_eq!(says(&[(0, &limit.to_le_bytes())], &segment), "it ran");
        let said = says(&[(4, &huge)], &segment);
        assert!(
            said.contains("bytes of scratch for each work-item"),
            "{said}"
        );
        let said = says(&[(8, &huge)], &segment);
        assert_eq!(
            said,
            "kernel fine has 4294967295 bytes of arguments, but only 24 were given"
        );
        // A size that is too small: what is there is more, and that is all that counts.
        assert_eq!(says(&[(8, &0u32.to_le_bytes())], &segment), "it ran");
        // The kernel reads behind the arguments that it has: what lies there, but no harm.
        let said = says(&[(8, &0u32.to_le_bytes())], &segment[..4]);
        assert!(
            said == "it ran" || said.contains("null pointer") || said.contains("bytes at"),
            "{said}"
        );
        for entry in [i64::MIN, i64::MAX, 0, 1 << 40, -1 << 30, 2] {
            let said = says(&[(16, &entry.to_le_bytes())], &segment);
            assert_ne!(said, "it ran", "entry {entry:#x}");
        }
        // More user registers than there are, and all ABI switches at once.
        for patch in [
            [(52, &[0xff; 4][..]), (56, &[0xff; 2])],
            [(48, &[0xff; 4]), (56, &[0x7f, 0])],
            [(44, &[0xff; 4]), (58, &[0xff; 2])],
        ] {
            let said = says(&patch, &segment);
            assert!(!said.contains("bug"), "{said}");
        }
    }
}
