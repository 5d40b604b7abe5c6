//! The lane IR as text, and what passes make of it: `tests/passes/*.ir` have a region, and behind a line of dashes what the pass that
//! they name makes of it. `BLESS=1` writes the latter anew.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use frontend::Gfx;
use lower::ir::text;
use lower::lift::region::Fetch;
use lower::passes;
use lower::vir;
use runtime::jit::{Isa, print_ir, print_vector_ir};
use runtime::object;

use crate::cost::hot_loops::kernels;

/// What stands between a region and the one that it becomes.
const AFTER: &str = "----\n";

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/passes");
    let files = std::fs::read_dir(&folder).expect("the folder is there");
    let files = files.map(|file| file.expect("it can be listed").path());
    let mut files: Vec<PathBuf> = files
        .filter(|f| f.extension() == Some("ir".as_ref()))
        .collect();
    files.sort();
    files
}

/// The code of the instructions that a region refers to, by address.
fn sites(region: &str) -> HashMap<u64, Vec<u8>> {
    let hexadecimal = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
    let sites = region.lines().filter_map(|line| line.strip_prefix("site "));
    let site = |line: &str| {
        let code = line.split(';').next()?;
        let mut words = code.split_whitespace().skip(1);
        let address = hexadecimal(words.next()?)?;
        let words = words.filter_map(hexadecimal);
        Some((
            address,
            words.flat_map(|word| (word as u32).to_le_bytes()).collect(),
        ))
    };
    sites.filter_map(site).collect()
}

#[test]
fn passes_make_of_regions_what_their_texts_say() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut differ = String::new();
    let mut tested = Vec::new();
    for path in files() {
        let name = path.file_name().expect("it is a file").display();
        let all = std::fs::read_to_string(&path).expect("it can be read");
        let (before, after) = all.split_once(AFTER).unwrap_or((&all, ""));
        let pass = before
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("; pass: "));
        let pass = pass.unwrap_or_else(|| panic!("{name} begins with no pass"));
        let (f, gfx) = text::read(before).unwrap_or_else(|e| panic!("{name}: {e}"));
        let made = passes::alone(&f, pass).unwrap_or_else(|| panic!("{name}: no pass {pass}"));
        let words = sites(before);
        let fetch = |address: u64| words.get(&address).map(Vec::as_slice);
        let made = text::func(&made, gfx, &fetch);
        // What a pass makes is lane IR, too.
        let read = text::read(&made).unwrap_or_else(|e| panic!("{name}: {e}\n{made}"));
        assert_eq!(text::func(&read.0, gfx, &fetch), made);
        if made != after {
            match bless {
                true => {
                    std::fs::write(&path, format!("{before}{AFTER}{made}"))
                        .expect("it can be written");
                }
                false => {
                    let _ = writeln!(differ, "{name}: the pass makes\n{made}");
                }
            }
        }
        tested.push(pass.to_owned());
    }
    assert!(
        differ.is_empty(),
        "{differ}\nrun with BLESS=1 and review the difference"
    );
    for pass in passes::PASSES {
        assert!(tested.iter().any(|name| name == pass.name), "{}", pass.name);
    }
}

/// Every kernel of the examples and benchmarks: its name, target, address, MODE and code.
fn each_kernel(mut check: impl FnMut(&str, Gfx, u64, u32, &Fetch<'_>)) {
    for (path, name) in kernels().into_keys() {
        let bytes = std::fs::read(&path).expect("it can be read");
        let object = object::open_kernel(&bytes, None, &name).expect("the code object is good");
        let kernel = object.kernel(&name).expect("the kernel is there");
        let fetch = |address: u64| {
            let code = |segment: &&object::Segment| segment.execute && segment.contains(address, 4);
            let segment = object.segments.iter().find(code)?;
            segment.data.get((address - segment.address) as usize..)
        };
        let gfx = object.target.gfx;
        let mode = kernel.descriptor.mode(gfx);
        check(&name, gfx, kernel.code.start, mode, &fetch);
    }
}

/// Every region, before the passes and after each.
#[test]
fn regions_are_read_back_from_their_texts() {
    let mut regions = 0;
    each_kernel(|name, gfx, start, mode, fetch| {
        let names = passes::PASSES.iter().map(|pass| Some(pass.name));
        for after in std::iter::once(None).chain(names) {
            for (entry, written) in print_ir(gfx, start, mode, fetch, after) {
                let (f, target) = text::read(&written).unwrap_or_else(|e| {
                    panic!("{name} {entry:#x} after {after:?}: {e}\n{written}")
                });
                assert_eq!(target, gfx);
                assert_eq!(text::func(&f, gfx, fetch), written);
                regions += 1;
            }
        }
    });
    assert!(regions > 40, "{regions}");
}

/// The vector IR of every region, for each kind of host: it keeps the rules and is read back as it was.
#[test]
fn vector_ir_is_read_back_from_its_text() {
    let mut regions = 0;
    each_kernel(|name, gfx, start, mode, fetch| {
        for host in [None, Some(Isa::Avx2), Some(Isa::Avx512)] {
            for (entry, written) in print_vector_ir(gfx, start, mode, fetch, host) {
                let f = vir::text::parse(&written)
                    .unwrap_or_else(|e| panic!("{name} {entry:#x} for {host:?}: {e}\n{written}"));
                assert_eq!(vir::verify::verify(&f), Ok(()), "{name} {entry:#x}");
                assert_eq!(vir::text::print(&f), written);
                regions += 1;
            }
        }
    });
    assert!(regions > 60, "{regions}");
}

#[test]
fn bad_texts_are_refused_with_their_line() {
    let head = "region 0x1000 mode 0xf0 on gfx900\n";
    let block = format!("{head}block 0 at 0x1000 of 1 instructions:\n");
    let cases = [
        (String::new(), "line 0: there is no region"),
        ("block 0".to_owned(), "line 1: a text begins with region"),
        (
            "region 0x1000 mode 0xf0 on gfx1".to_owned(),
            "line 1: gfx1 is no target",
        ),
        (
            "region 5x mode 0 on gfx900".to_owned(),
            "line 1: 5x is no number that fits here",
        ),
        (
            format!("{head}end"),
            "line 2: end is not expected before the first block",
        ),
        (
            format!("{head}site 0 0x1000 xyz"),
            "line 2: xyz is no instruction word",
        ),
        (
            format!("{head}site 1 0x1000 bf800000"),
            "line 2: sites are numbered in their order",
        ),
        (format!("{head}fallback v_foo"), "line 2: no site has v_foo"),
        (
            format!("{head}block 1 at 0 of 0 instructions:"),
            "line 2: blocks are numbered in their order",
        ),
        (
            format!("{block}    %1: v32 = ReadV(0)"),
            "line 3: values are numbered in their order",
        ),
        (
            format!("{block}    %0: v31 = ReadV(0)"),
            "line 3: v31 is no type such as v32",
        ),
        (
            format!("{block}    %0: v32 = ReadW(0)"),
            "line 3: ReadW(0) is no operation",
        ),
        (
            format!("{block}    %0: v32 = ReadV(0) 0"),
            "line 3: 0 is no value such as %0",
        ),
        (format!("{block}    q4 <- %0"), "line 3: q4 is no register"),
        (
            format!("{block}    jump block 1"),
            "line 3: the line ends too soon",
        ),
        (
            format!("{block}    jump nowhere at 0"),
            "line 3: nowhere is no target: block or exit",
        ),
        (format!("{block}    end %0"), "line 3: %0 is too much"),
        (
            format!("{block}    v4294967296 <- %0"),
            "line 3: v4294967296 is no register",
        ),
        // What can be read may still break a rule of the lane IR.
        (
            format!("{block}    v1 <- %0\n    end"),
            "line 4: block 0: %0 of 0 nodes",
        ),
        (
            format!("{block}    jump block 7 at 0x2000"),
            "line 3: block 0:",
        ),
        (
            format!("{block}    %0: v32 = Add %0 %0\n    end"),
            "line 4: block 0: %0 uses %0 before it is defined",
        ),
    ];
    for (text, expected) in cases {
        let said = match text::read(&text) {
            Ok(_) => "nothing".to_owned(),
            Err(error) => error.to_string(),
        };
        assert!(said.starts_with(expected), "{text}\n{said}\n{expected}");
    }
}
