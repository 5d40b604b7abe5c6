//! Source lines and names, on the code objects of `tests/kernels/source`.

use std::path::PathBuf;

use harness::random::Random;
use wavelift::object::{self, CodeObject};
use wavelift::source::{Location, SourceError, SourceMap, SourceText, demangle};

fn bytes(target: &str) -> Vec<u8> {
    std::fs::read(folder().join(format!("lines.{target}.co"))).expect("it is there")
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/kernels/source")
}

fn open(target: &str) -> CodeObject {
    object::open(&bytes(target), None).expect("it is a code object")
}

fn map(target: &str) -> SourceMap {
    SourceMap::read(&open(target)).expect("compilers write sound information")
}

/// Beginning of the first line of the file with this text.
fn line_of(text: &str) -> u32 {
    let source = std::fs::read_to_string(folder().join("lines.hip")).expect("it is there");
    let line = source.lines().position(|line| line.contains(text));
    line.expect("a line has it") as u32 + 1
}

const NORMS: &str = "void norms<float>(float*, float const*, int)";
const NORM: &str = "float norm<float>(float, float)";

#[test]
fn every_instruction_has_the_line_of_its_text() {
    for target in ["gfx803", "gfx900", "gfx906"] {
        let (object, map) = (open(target), map(target));
        assert!(map.has_lines(), "{target}");
        assert_eq!(map.files().collect::<Vec<_>>(), ["lines.hip"], "{target}");
        let mut text = SourceText::new(&map, [folder()]);
        let code = &object.kernels[0].code;
        let lines: Vec<_> = map
            .lines()
            .filter(|l| code.contains(&l.addresses.start))
            .collect();
        assert_eq!(lines[0].addresses.start, code.start, "{target}");
        assert_eq!(
            lines.last().map(|l| l.addresses.end),
            Some(code.end),
            "{target}"
        );
        for line in &lines {
            assert_eq!(map.lines_at(line.addresses.start).as_ref(), Some(line));
            let Some(Location { file, line, .. }) = line.location else {
                continue;
            };
            let text = text.line(file, line).expect("the file has the line");
            assert!(!text.trim().is_empty(), "{target}: {line}");
        }
        let last = map.location(code.end - 4).expect("it has a line");
        assert_eq!(last.line, line_of("out[at] = sum") + 1, "{target}: the end");
        assert_eq!(map.location(code.end), None, "{target}");
    }
}

#[test]
fn inlined_functions_are_frames() {
    for target in ["gfx803", "gfx900", "gfx906"] {
        let map = map(target);
        let inner = line_of("sum += square(y)");
        let place = map.places("lines.hip", inner)[0];
        assert_eq!(place.location.line, inner, "{target}");
        let frames = map.frames(place.address);
        let shown = frames.iter().map(|frame| {
            let line = frame.location.map(|location| location.line);
            (frame.name().into_owned(), frame.inlined, line)
        });
        let expected = [
            (NORM.to_owned(), true, Some(inner)),
            (NORMS.to_owned(), false, Some(line_of("sum += norm("))),
        ];
        assert_eq!(shown.collect::<Vec<_>>(), expected, "{target}");
        assert_eq!(frames[1].function, "_Z5normsIfEvPT_PKS0_i", "{target}");
        let clamp = map.places("source/./lines.hip", line_of("if (x < range.low)"));
        assert!(clamp.is_empty(), "{target}: the path has no such folder");
        let clamp = map.places("./lines.hip", line_of("if (x < range.low)"));
        let frames = map.frames(clamp[0].address);
        assert_eq!(frames.len(), 1, "{target}");
        assert_eq!(
            frames[0].name(),
            "filter::clamp(int, filter::Range)",
            "{target}"
        );
    }
}

#[test]
fn a_line_is_where_its_statements_begin() {
    let map = map("gfx906");
    let head = line_of("for (int k = 0");
    let places = map.places("lines.hip", head);
    assert!(places.len() > 1, "the condition is evaluated at both ends");
    assert!(places.iter().all(|place| place.location.line == head));
    // A declaration without code stands for the loop after it.
    assert_eq!(map.places("lines.hip", head - 1), places);
    assert!(map.places("lines.hip", 10_000).is_empty());
    assert!(map.places("other.hip", 1).is_empty());
}

#[test]
fn functions_without_debugging_information_are_symbols() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/examples/saxpy/saxpy.gfx900.co"
    );
    let bytes = std::fs::read(path).expect("it is there");
    let object = object::open(&bytes, None).expect("it is a code object");
    let map = SourceMap::read(&object).expect("there is nothing to read");
    assert!(!map.has_lines());
    let inside = object.kernels[0].code.start + 8;
    assert_eq!(map.symbol(inside), Some(("saxpy", 8)));
    let frames = map.frames(inside);
    assert_eq!((frames.len(), frames[0].function), (1, "saxpy"));
    assert_eq!(frames[0].location, None);
    assert!(map.frames(0).is_empty());
}

#[test]
fn source_text_is_found() {
    // It is in the code object itself.
    let map = map("gfx900");
    let mut text = SourceText::new(&map, []);
    let line = line_of("sum += square(y)");
    assert_eq!(text.line("lines.hip", line), Some("    sum += square(y);"));
    assert_eq!(text.line("lines.hip", 0), None);
    assert_eq!(text.line("lines.hip", 10_000), None);
    // Folders serve the ends of a path; what is no regular file is not read.
    let none = SourceMap::default();
    let mut text = SourceText::new(&none, [folder().join("none"), folder()]);
    assert!(text.has("/gone/lib/../source/lines.hip"));
    assert!(!text.has("/gone/other.hip"));
    assert!(!text.has("/dev/zero"));
}

#[test]
fn names_are_demangled() {
    assert_eq!(demangle("_Z5normsIfEvPT_PKS0_i"), NORMS);
    for name in [
        "saxpy",
        "_Z",
        "_Zfoo",
        "_Z99999999999x",
        "__omp_offloading_1",
    ] {
        assert_eq!(demangle(name), name);
    }
    // Each level doubles the text.
    let mut twice = "i".to_owned();
    for _ in 0..60 {
        twice = format!("St4pairI{twice}S_E");
    }
    let hostile = format!("_Z1f{twice}");
    assert!(demangle(&hostile).len() < 1 << 17);
}

/// Offset and size of a section's header field of an ELF file, and of its contents.
fn section(bytes: &[u8], wanted: &str) -> (usize, std::ops::Range<usize>) {
    let number = |at: usize, size: usize| {
        let digits = bytes[at..at + size].iter().rev();
        digits.fold(0usize, |number, &byte| number << 8 | usize::from(byte))
    };
    let (table, count, names) = (number(0x28, 8), number(0x3c, 2), number(0x3e, 2));
    let header = |i: usize| table + 64 * i;
    let names = number(header(names) + 0x18, 8);
    let found = (0..count).map(header).find(|&header| {
        let name = &bytes[names + number(header, 4)..];
        name.starts_with(wanted.as_bytes()) && name[wanted.len()] == 0
    });
    let header = found.expect("the file has the section");
    let start = number(header + 0x18, 8);
    (header, start..start + number(header + 0x20, 8))
}

/// The file with other contents of a section.
fn replace(bytes: &mut Vec<u8>, name: &str, contents: &[u8]) {
    let (header, _) = section(bytes, name);
    let start = bytes.len() as u64;
    bytes[header + 0x18..header + 0x20].copy_from_slice(&start.to_le_bytes());
    bytes[header + 0x20..header + 0x28].copy_from_slice(&(contents.len() as u64).to_le_bytes());
    bytes.extend_from_slice(contents);
}

#[test]
fn damaged_information_is_an_error_or_less() {
    let sound = bytes("gfx906");
    let names = ["abbrev", "info", "line", "rnglists", "addr", "str_offsets"];
    let sections = names.map(|name| section(&sound, &format!(".debug_{name}")).1);
    let mut random = Random::new(7);
    let mut errors = 0;
    for round in 0..4000 {
        let mut bytes = sound.clone();
        for _ in 0..1 + round % 3 {
            let range = &sections[random.below(sections.len() as u32) as usize];
            let at = range.start + random.below(range.len() as u32) as usize;
            bytes[at] = random.below(256) as u8;
        }
        let object = object::open(&bytes, None).expect("its code is sound");
        match SourceMap::read(&object) {
            Err(error) => {
                errors += 1;
                assert!(error.to_string().contains("damaged"), "{error}");
            }
            Ok(map) => {
                let code = &object.kernels[0].code;
                for address in code.clone().step_by(4) {
                    map.frames(address);
                }
                for line in 1..50 {
                    map.places("lines.hip", line);
                }
            }
        }
    }
    assert!((400..3600).contains(&errors), "{errors}");
}

#[test]
fn compressed_sections_state_their_size() {
    let mut bytes = bytes("gfx803");
    let (_, contents) = section(&bytes, ".debug_info");
    bytes[contents.start + 8] ^= 1;
    let object = object::open(&bytes, None).expect("its code is sound");
    let error = SourceMap::read(&object).expect_err("the size is wrong");
    let shown = error.to_string();
    assert!(
        shown.starts_with("section .debug_info is damaged: ") && shown.contains(" are stated"),
        "{shown}"
    );
}

#[test]
fn information_that_repeats_itself_is_an_error() {
    const MANY: usize = 50_000;
    // Entries of one byte with many attributes of none.
    let mut abbreviations = vec![1, 0x11, 1, 0, 0, 2, 0x0b, 0];
    for _ in 0..MANY {
        abbreviations.extend([0x3f, 0x19]);
    }
    abbreviations.extend([0, 0, 0]);
    let mut unit = vec![4, 0, 0, 0, 0, 0, 8, 1];
    unit.extend([2; MANY]);
    unit.push(0);
    let mut info = (unit.len() as u32).to_le_bytes().to_vec();
    info.extend(unit);
    let mut bytes = bytes("gfx906");
    replace(&mut bytes, ".debug_abbrev", &abbreviations);
    replace(&mut bytes, ".debug_info", &info);
    let object = object::open(&bytes, None).expect("its code is sound");
    assert_eq!(SourceMap::read(&object).err(), Some(SourceError::Repeats));
}
