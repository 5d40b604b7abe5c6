//! Disassembly against LLVM's: every word of `golden/disasm`, per target.
//!
//! A file holds lines of bytes (in memory order), grade, text and source. The words are those of
//! LLVM's own tests and random ones for every opcode number; the text is llvm-mc 19's. Grades:
//!
//! * `strict`: encoding the text gives the bytes again, and llvm-mc 14 and 22 print the same (gfx6
//!   and gfx7 have no disassembler there; their lines were made from text to bytes; those of gfx942
//!   are of 19 alone, by `golden/disasm/refresh.py`). Every line must
//!   agree, but for the exceptions below.
//! * `loose`: bits that do not show in the text, or versions that differ. 95 of 100 must agree.
//! * `opcode`, `encoding`: LLVM knows no such instruction; decoding must fail.
//! * `operand`, `marker`: the instruction exists, LLVM objects to a field (often one that hardware
//!   ignores). Nothing is asked but that nothing panics.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read as _;

use flate2::read::GzDecoder;
use frontend::{Encoding, Form, Gfx, decode};

/// One line of a golden file.
struct Line {
    bytes: Vec<u8>,
    grade: String,
    text: String,
    source: String,
}

/// What the decoder makes of a line.
enum Got {
    Text(String, usize, Form, Encoding),
    Error(String),
}

/// A rule for lines where this decoder and LLVM differ, and the reason.
struct Exception {
    name: &'static str,
    reason: &'static str,
    applies: fn(Gfx, &Line, &Got) -> bool,
}

const EXCEPTIONS: &[Exception] = &[
    Exception {
        name: "null",
        reason: "code 125 is no register before gfx10; LLVM prints `null` on every target",
        applies: |_, line, got| line.text.contains("null") && matches!(got, Got::Error(_)),
    },
    Exception {
        name: "apertures of gfx8",
        reason: "codes 235 to 239 came with gfx9; LLVM prints them on gfx8 too",
        applies: |gfx, line, got| {
            let named = ["src_shared_", "src_private_", "src_pops_"];
            gfx == Gfx::Gfx803
                && named.iter().any(|name| line.text.contains(name))
                && matches!(got, Got::Error(_))
        },
    },
    Exception {
        name: "special destination",
        reason: "LLVM takes an 8-bit code for a scalar destination of VOP1 and VOP3 and prints \
                 sources such as src_vccz, to which nothing can be written",
        applies: |_, line, got| {
            let first = line.text.split_whitespace().nth(1).unwrap_or_default();
            first.starts_with("src_") && matches!(got, Got::Error(_))
        },
    },
    Exception {
        name: "last TTMPs of gfx8",
        reason: "gfx8 has twelve TTMP registers; a group past the last would be M0 and EXEC",
        applies: |gfx, line, got| {
            gfx == Gfx::Gfx803 && line.text.contains(" ttmp[") && matches!(got, Got::Error(_))
        },
    },
    Exception {
        name: "immediates beyond 16 bits",
        reason: "gfx6 and gfx7 have no disassembler in LLVM; the text is what its assembler was \
                 given, a negative number or one whose upper half is not encoded",
        applies: |gfx, line, got| {
            let Got::Text(text, ..) = got else {
                return false;
            };
            gfx.is_gfx6_7() && same_but_for_number(text, &line.text)
        },
    },
    Exception {
        name: "abs under SDST",
        reason: "VOP3b has SDST where ABS is; LLVM's assembler for gfx6 and gfx7 takes |x| and mixes \
                 the two",
        applies: |gfx, line, got| {
            let Got::Text(text, ..) = got else {
                return false;
            };
            gfx.is_gfx6_7()
                && line.text.starts_with("v_div_scale")
                && line.text.replace('|', "") == *text
        },
    },
    Exception {
        name: "DPP compares",
        reason: "AMD's manuals have DPP for VOPC; LLVM has none before gfx11",
        applies: |_, line, got| {
            line.grade == "opcode" && matches!(got, Got::Text(_, _, Form::Dpp, Encoding::Vopc))
        },
    },
];

/// Do the texts differ in a last number that has the same low 16 bits?
fn same_but_for_number(a: &str, b: &str) -> bool {
    let number = |text: &str| -> Option<u16> {
        match (text.strip_prefix("0x"), text.strip_prefix('-')) {
            (Some(hex), _) => u32::from_str_radix(hex, 16).ok().map(|n| n as u16),
            (_, Some(digits)) => digits.parse::<u16>().ok().map(u16::wrapping_neg),
            _ => text.parse::<u32>().ok().map(|n| n as u16),
        }
    };
    match (a.rsplit_once(' '), b.rsplit_once(' ')) {
        (Some((start, m)), Some((other, n))) => {
            start == other && number(m).is_some() && number(m) == number(n)
        }
        _ => false,
    }
}

fn lines(gfx: Gfx) -> Vec<Line> {
    let path = format!(
        "{}/tests/golden/disasm/{gfx}.tsv.gz",
        env!("CARGO_MANIFEST_DIR")
    );
    let file = std::fs::File::open(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let mut text = String::new();
    GzDecoder::new(file)
        .read_to_string(&mut text)
        .unwrap_or_else(|e| panic!("{path}: {e}"));
    let mut lines = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [bytes, grade, text, source] = columns[..] else {
            panic!("{path}: not four columns: {line}");
        };
        let byte = |i| u8::from_str_radix(&bytes[i..i + 2], 16).expect("hexadecimal bytes");
        lines.push(Line {
            bytes: (0..bytes.len()).step_by(2).map(byte).collect(),
            grade: grade.to_owned(),
            text: text.to_owned(),
            source: source.to_owned(),
        });
    }
    lines
}

fn check(gfx: Gfx) {
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut excused = vec![0; EXCEPTIONS.len()];
    let mut wrong = Vec::new();
    let mut total = 0;
    for line in lines(gfx) {
        total += 1;
        let got = match decode(gfx, &line.bytes) {
            Ok(inst) => Got::Text(
                inst.text(gfx),
                usize::from(inst.len),
                inst.form,
                inst.desc.encoding,
            ),
            Err(e) => Got::Error(e.to_string()),
        };
        let demanded = match line.grade.as_str() {
            "strict" | "loose" => {
                matches!(&got, Got::Text(text, len, ..) if *text == line.text && *len == line.bytes.len())
            }
            "opcode" | "encoding" => matches!(got, Got::Error(_)),
            _ => true,
        };
        let count = counts.entry(line.grade.clone()).or_default();
        count.1 += 1;
        if demanded {
            count.0 += 1;
            continue;
        }
        if let Some(i) = EXCEPTIONS
            .iter()
            .position(|e| (e.applies)(gfx, &line, &got))
        {
            excused[i] += 1;
            count.0 += usize::from(line.grade != "loose");
        } else if line.grade != "loose" {
            wrong.push((line, got));
        }
    }

    let mut report = format!("{gfx}: {total} words\n");
    for (grade, (right, all)) in &counts {
        let _ = writeln!(report, "  {grade:9} {right} of {all}");
    }
    for (exception, n) in EXCEPTIONS.iter().zip(&excused) {
        if *n > 0 {
            let _ = writeln!(
                report,
                "  {n} excused: {} ({})",
                exception.name, exception.reason
            );
        }
    }
    println!("{report}");
    for (line, got) in wrong.iter().take(30) {
        let got = match got {
            Got::Text(text, len, ..) => format!("{text} ({len} bytes)"),
            Got::Error(e) => format!("error: {e}"),
        };
        let bytes: String = line.bytes.iter().map(|b| format!("{b:02x}")).collect();
        println!(
            "{bytes} {} {}\n  expected {}\n  got      {got}",
            line.grade, line.source, line.text
        );
    }
    assert!(
        wrong.is_empty(),
        "{} words of {gfx} are decoded wrongly, see above",
        wrong.len()
    );
    let (right, all) = counts.get("loose").copied().unwrap_or_default();
    assert!(
        right * 100 >= all * 95,
        "only {right} of {all} loose words of {gfx} agree"
    );
    assert!(counts["strict"].1 > 30_000, "a golden file lacks words");
}

#[test]
fn gfx600() {
    check(Gfx::Gfx600);
}

#[test]
fn gfx700() {
    check(Gfx::Gfx700);
}

#[test]
fn gfx803() {
    check(Gfx::Gfx803);
}

#[test]
fn gfx900() {
    check(Gfx::Gfx900);
}

#[test]
fn gfx906() {
    check(Gfx::Gfx906);
}

#[test]
fn gfx908() {
    check(Gfx::Gfx908);
}

#[test]
fn gfx90a() {
    check(Gfx::Gfx90a);
}

#[test]
fn gfx942() {
    check(Gfx::Gfx942);
}
