//! The ledger `docs/evidence.tsv`: the strongest evidence for each row on each target, from what tests and campaigns have
//! left behind, never by hand. `BLESS=1` writes it, and the totals in `docs/evidence.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use exhaustive::{Kind, digests};
use frontend::{Encoding, Gfx, InstDesc, decode, isa};
use fuzz::Options;
use fuzz::program::Rows;
use harness::random::Random;
use harness::words::As;
use wavelift::listing::{Item, Listing};

use super::conformance::{for_each_head, targets};

/// Letters and names, the strongest first. `src/cli/evidence.rs` reads them.
const LEVELS: [(char, &str); 6] = [
    ('X', "exhaustive"),
    ('P', "proved"),
    ('O', "third oracle"),
    ('E', "two engines"),
    ('C', "cases only"),
    ('-', "none"),
];

/// The letter of a target that lacks the row.
const ABSENT: char = '.';

const HEAD: &str = "\
# The strongest evidence for each instruction, made by tests/exec/evidence.rs (BLESS=1). Columns, separated by tabs:
# encoding; name; a letter for each of gfx600, gfx700, gfx803, gfx900, gfx906, gfx908, gfx90a, gfx942. X exhaustive,
# P proved, O third oracle, E two engines, C cases only, - none, . not on this target. docs/evidence.md explains them.
";

/// Tells rows apart.
type Key = (&'static str, Encoding, [u16; Gfx::COUNT]);

fn key(row: &InstDesc) -> Key {
    (row.name, row.encoding, row.opcodes.0)
}

/// Rows, by target.
type Found = BTreeSet<(Gfx, Key)>;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Rows whose plain form, or each half of whose packed result, was run over all inputs under each MODE, and agreed on
/// two of interpreter, translator and reference. And rows that agree with the reference under the default MODE.
fn swept() -> (Found, Found) {
    let text = std::fs::read_to_string(path(digests::FILE)).expect("it is there");
    let lines = digests::read(&text).expect("the digests are intact");
    // Whole sweeps by instruction, target and form, with the number that there are to be.
    let mut whole: BTreeMap<(String, Gfx), (usize, usize)> = BTreeMap::new();
    let mut referenced: BTreeSet<(String, Gfx)> = BTreeSet::new();
    for ((instruction, form, mode, _), line) in &lines {
        let of = |kinds: &[Kind]| kinds.iter().any(|kind| line.engines.contains(kind));
        let translated = of(&[Kind::Cranelift, Kind::Avx2, Kind::Avx512]);
        let independent = [of(&[Kind::Interpreter]), translated, of(&[Kind::Reference])];
        let agreed = independent.iter().filter(|there| **there).count() >= 2;
        if !agreed || !line.is_whole() || form != "plain" && form != "halves" {
            continue;
        }
        for &gfx in &line.targets {
            let key = (instruction.clone(), gfx);
            if translated && of(&[Kind::Reference]) && *mode == exhaustive::sweep::DEFAULT_MODE {
                referenced.insert(key.clone());
            }
            let (have, _) = *whole.entry(key.clone()).or_default();
            whole.insert(key, (have + 1, line.modes));
        }
    }
    let complete = whole.into_iter().filter(|(_, (have, modes))| have == modes);
    let complete = complete.map(|(key, _)| key).collect();
    (rows_named(&complete), rows_named(&referenced))
}

/// The rows of these names that may be swept: of encodings that sweeps know.
fn rows_named(names: &BTreeSet<(String, Gfx)>) -> Found {
    let mut found = Found::new();
    for (name, gfx) in names {
        let rows = isa::all().filter(|row| row.opcodes.get(*gfx).is_some());
        for row in rows.filter(|row| row.name_on(*gfx) == name) {
            let sweep = exhaustive::Sweep::find(name, "plain", 0, *gfx)
                .or_else(|| exhaustive::Sweep::find(name, "halves", 0, *gfx));
            if sweep.is_some_and(|sweep| sweep.form.desc == row) {
                found.insert((*gfx, key(row)));
            }
        }
    }
    found
}

/// Rows that `tests/proofs` has proved, by what was proved of them.
fn proved() -> BTreeMap<String, Found> {
    let text = std::fs::read_to_string(path("tests/proofs/proved.txt")).expect("it is there");
    let mut found: BTreeMap<String, Found> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [name, what, outcome, targets, ..] = columns[..] else {
            panic!("proved.txt has a line without four columns: {line}");
        };
        if !outcome.starts_with("proved") {
            continue;
        }
        let found = found.entry(what.to_owned()).or_default();
        for target in targets.split(',') {
            let name_of_target = target.split(':').next().unwrap_or_default();
            let gfx: Gfx = name_of_target.parse().expect("it names targets");
            for row in isa::all().filter(|row| row.opcodes.get(gfx).is_some()) {
                if row.name_on(gfx) == name {
                    found.insert((gfx, key(row)));
                }
            }
        }
    }
    found
}

/// Folders of compiled kernels whose results are compared with plain Rust and with NumPy (`matrix`, on the targets that
/// have matrix instructions).
const ORACLES: [&str; 2] = ["tests/kernels/oracles", "tests/kernels/matrix"];

/// Rows in the kernels of [`ORACLES`].
fn in_oracles() -> Found {
    let mut found = Found::new();
    let folders = ORACLES.map(|name| std::fs::read_dir(path(name)).expect("it is there"));
    for entry in folders.into_iter().flatten() {
        let file = entry.expect("readable").path();
        if file.extension().is_none_or(|end| end != "co") {
            continue;
        }
        let bytes = std::fs::read(&file).expect("readable");
        let object = runtime::object::open(&bytes, None).expect("it is a code object");
        let listing = Listing::new(&object, None).expect("it can be listed");
        let gfx = listing.gfx;
        for part in &listing.parts {
            for line in &part.lines {
                if let Item::Inst(inst) = &line.item {
                    found.insert((gfx, key(inst.desc)));
                }
            }
        }
    }
    assert!(!found.is_empty());
    found
}

/// Instances of a row's forms that are tried.
const INSTANCES: usize = 40;

/// Random programs, and as many whole kernels, whose rows are taken.
const PROGRAMS: u64 = 100;

/// Rows that random programs have: those that instructions are drawn from, and those that blocks, loops, dispatches and
/// writes of MODE are made of.
fn generated() -> Found {
    let mut found = Found::new();
    for gfx in Gfx::ALL {
        let rows = Rows::new(gfx, &Options::default()).expect("nothing is left out");
        let mut r = Random::new(1);
        for row in rows.all() {
            let forms = [As::Native, As::Vop3, As::Sdwa, As::Dpp].repeat(INSTANCES);
            let made = forms.into_iter().any(|form| {
                let bytes = rows.encode(&mut r, row, form);
                let inst = bytes.and_then(|bytes| decode(gfx, &bytes).ok());
                inst.is_some_and(|inst| inst.desc == row)
            });
            if made {
                found.insert((gfx, key(row)));
            }
        }
        for seed in 0..PROGRAMS {
            let mut r = Random::new(seed);
            let items = rows.program(&mut r, fuzz::Kind::Programs.length());
            add_all(gfx, &rows.bytes(&items), &mut found);
            add_all(gfx, &fuzz::targets::kernel_code(gfx, &mut r), &mut found);
        }
    }
    found
}

/// Adds the rows of code up to its end: programs end in a word that is no instruction.
fn add_all(gfx: Gfx, code: &[u8], found: &mut Found) {
    let mut rest = code;
    while let Ok(inst) = decode(gfx, rest) {
        found.insert((gfx, key(inst.desc)));
        rest = &rest[usize::from(inst.len)..];
    }
}

/// Rows with conformance cases.
fn with_cases() -> Found {
    let mut found = Found::new();
    for_each_head(targets, |on, block, insts| {
        if block.lines.iter().any(|line| on.holds(line)) {
            found.extend(insts.iter().map(|inst| (on.gfx, key(inst.desc))));
        }
    });
    found
}

/// Numbers of rows by target.
type Counts = [usize; Gfx::COUNT];

/// The table, rows by level, and rows whose host code is proved for AVX2 and AVX-512.
fn ledger() -> (String, [Counts; LEVELS.len()], Counts) {
    let (exhaustive, referenced) = swept();
    let mut oracle = in_oracles();
    oracle.extend(referenced);
    let mut proved = proved();
    let mut take = |what| proved.remove(what).expect("some were proved");
    let [lane_ir, avx2, avx512] = ["lane IR", "host code avx2", "host code avx512"].map(&mut take);
    let mut host = [0; Gfx::COUNT];
    for (gfx, _) in avx2.intersection(&avx512) {
        host[gfx.index()] += 1;
    }
    let levels = [exhaustive, lane_ir, oracle, generated(), with_cases()];
    let mut counts = [[0; Gfx::COUNT]; LEVELS.len()];
    let mut out = HEAD.to_owned();
    for row in isa::all() {
        let letters = Gfx::ALL.map(|gfx| {
            if row.opcodes.get(gfx).is_none() {
                return ABSENT;
            }
            let row = (gfx, key(row));
            let level = levels.iter().position(|found| found.contains(&row));
            let level = level.unwrap_or(levels.len());
            counts[level][gfx.index()] += 1;
            LEVELS[level].0
        });
        let letters: String = letters.into_iter().collect();
        let _ = writeln!(out, "{:?}\t{}\t{letters}", row.encoding, row.name);
    }
    (out, counts, host)
}

/// The totals as a table of the page.
fn totals(counts: [Counts; LEVELS.len()], host: Counts) -> String {
    let mut out = String::from("| evidence |");
    for gfx in Gfx::ALL {
        let _ = write!(out, " {gfx} |");
    }
    out.push_str("\n|---|");
    out.push_str(&"--:|".repeat(Gfx::COUNT));
    out.push('\n');
    let levels = LEVELS.map(|(_, name)| name).into_iter().zip(counts);
    for (name, counts) in levels.chain([("host code proved", host)]) {
        let _ = write!(out, "| {name} |");
        for count in counts {
            let _ = write!(out, " {count} |");
        }
        out.push('\n');
    }
    out
}

const BEGIN: &str = "<!-- totals: written by tests/exec/evidence.rs, BLESS=1 -->\n";
const END: &str = "<!-- end of totals -->\n";

#[test]
fn the_ledger_is_what_tests_say() {
    let (table, counts, host) = ledger();
    let tsv = path("docs/evidence.tsv");
    let page = path("docs/evidence.md");
    let text = std::fs::read_to_string(&page).expect("the page is there");
    let begin = text.find(BEGIN).expect("the page has the marker") + BEGIN.len();
    let end = text.find(END).expect("the page has the closing marker");
    let want = format!("\n{}\n", totals(counts, host));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&tsv, &table).expect("the table can be written");
        let new = format!("{}{want}{}", &text[..begin], &text[end..]);
        std::fs::write(&page, new).expect("the page can be written");
        return;
    }
    let have = std::fs::read_to_string(&tsv).expect("the table is there");
    let differs = have.lines().zip(table.lines()).find(|(a, b)| a != b);
    assert!(
        have == table,
        "docs/evidence.tsv is stale ({differs:?}); run with BLESS=1 and review the difference"
    );
    assert!(
        text[begin..end] == want,
        "the totals of docs/evidence.md are stale; run with BLESS=1"
    );
}
