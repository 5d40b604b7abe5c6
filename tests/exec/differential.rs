//! Random programs from the rows: the interpreter and the translator must agree on every register, on
//! memory and on faults. A failure prints its seed and a shrunk program. In the environment:
//!
//! * `ROUNDS=` programs for each target, `SEED=`, `LENGTH=` instructions of a program and
//!   `LOOPS=` rounds of a loop at most, `STATES=` states that each starts from;
//! * `INSTRUCTIONS=` goes on until each target has executed so many on the interpreter, for long runs;
//! * `BLOCK=` instructions of a block at most; otherwise the engine's own limit, or for some programs a random one;
//! * `ONLY=` the number of one program, as a failure names it;
//! * `LINES=` straight lines for each target, of `LINE=` instructions at most (see `fuzz/src/lines.rs`), `ONLY=` the number of one of
//!   them; a long campaign is `LINES=100000 LINE=5000 SEED=… cargo test --release --test exec -- differential::lines`;
//! * `SHOW_FAULTS=1` prints the programs that end in a fault;
//! * `FAILURES=` after how many to stop, `ALL_SHAPES=1` each program in all shapes of the translator, not
//!   in one that the program's number chooses; `SHAPE=` only shapes with this in their name;
//! * `WITHOUT=` no rows with this in their name;
//! * `WORDS=` words of each row and form under GPR indexing;
//! * `SUMMARY=words` instead of programs single instructions, so many words of every row and form; `ROW=`
//!   only rows with this in their name, `STATES=` from so many states;
//! * `CHECKED=1` runs in checked mode, `READ_ONLY=1` with a buffer that kernels may only read;
//! * `CODE=` instead of programs the instructions of these bytes (as reports show them), from `STATES=`
//!   states with `EXEC=` (hexadecimal), in all shapes.

mod dispatches;
mod indexed;
mod lines;
mod lockstep;
mod read_only;
mod strides;

use frontend::{Gfx, decode};
use fuzz::checker::{How, Mismatch, texts};
use fuzz::program::Item;
use fuzz::shapes::{Jits, Shape};
use fuzz::{Campaign, Checker, Kind, Options, Settings};
use harness::environment::number;
use harness::random::Random;
use harness::snippet::{Bench, set64};
use harness::words::As;
use lower::lift::region::MAX_BLOCK;
use runtime::engine::Exit;

/// Programs for each target when the environment does not say.
const ROUNDS: u64 = 2800;

fn env(name: &str, default: u64) -> u64 {
    number(name).unwrap_or(default)
}

/// Text in the environment.
fn text(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// What the environment says.
fn options() -> Options {
    let default = Options::default();
    Options {
        loops: env("LOOPS", default.loops.into()) as u32,
        max_block: text("BLOCK").and_then(|text| text.parse().ok()),
        all_shapes: env("ALL_SHAPES", 0) != 0,
        shapes: text("SHAPE"),
        without: text("WITHOUT"),
        checked: env("CHECKED", 0) != 0,
        read_only: env("READ_ONLY", 0) != 0,
        on_fault: text("SHOW_FAULTS").map(|_| show as fn(&Exit, &str)),
        ..default
    }
}

fn show(exit: &Exit, text: &str) {
    println!("{exit:?}\n{text}");
}

/// All shapes that the environment selects.
fn shapes() -> Vec<Shape> {
    Shape::all(text("SHAPE").as_deref())
}

/// A checker as the environment says.
fn checker(gfx: Gfx) -> Checker {
    Checker::new(gfx, &options(), None).expect("this host, and good variables")
}

/// A checker on this bench.
fn checker_on(bench: Bench, gfx: Gfx) -> Checker {
    Checker::on(bench, gfx, &options()).expect("this host, and good variables")
}

/// What seeds came to.
#[derive(Default)]
struct Sum {
    seeds: u64,
    items: u64,
    faults: u64,
    instructions: u64,
    /// The differences in words.
    bad: Vec<String>,
}

/// Runs the rounds of a kind until `enough`, each with the seed `SEED * factor + round`.
fn rounds(
    settings: Settings,
    rounds: std::ops::Range<u64>,
    factor: u64,
    enough: impl Fn(&Sum) -> bool,
) -> Sum {
    let seed = env("SEED", 1);
    let (gfx, kind) = (settings.gfx, settings.kind.name());
    let mut campaign = Campaign::new(settings).expect("this host, and good variables");
    let mut sum = Sum::default();
    for round in rounds {
        if enough(&sum) || sum.bad.len() as u64 >= env("FAILURES", 5) {
            break;
        }
        let verdict = campaign.seed(seed.wrapping_mul(factor).wrapping_add(round));
        let verdict = verdict.expect("this host");
        sum.seeds += 1;
        sum.items += verdict.items;
        sum.faults += verdict.faults;
        sum.instructions += verdict.instructions;
        if let Some(failure) = verdict.failure {
            let all = verdict.seed;
            sum.bad.push(format!(
                "{gfx} SEED={seed} ONLY={round} (seed {all} of {kind}) {failure}"
            ));
        }
    }
    sum
}

fn differential(gfx: Gfx) {
    if let Some(words) = std::env::var("SUMMARY").ok().and_then(|t| t.parse().ok()) {
        let only = std::env::var("ROW").unwrap_or_default();
        return summary(&checker(gfx), &only, words, env("STATES", 4));
    }
    if let Ok(code) = std::env::var("CODE") {
        return given(gfx, &code);
    }
    let least = env("INSTRUCTIONS", 0);
    let most = match least {
        0 => env("ROUNDS", ROUNDS),
        _ => env("ROUNDS", u64::MAX),
    };
    let mut settings = Settings::new(gfx, Kind::Programs);
    settings.length = env("LENGTH", settings.length.into()) as u32;
    settings.states = env("STATES", settings.states.into()) as u32;
    settings.options = options();
    let states = settings.states;
    let chosen = match env("ONLY", u64::MAX) {
        u64::MAX => 0..most,
        only => only..only + 1,
    };
    let sum = rounds(settings, chosen, 1_000_003, |sum| {
        least != 0 && sum.instructions >= least
    });
    println!(
        "{gfx}: seed {}, {} programs from {states} states each, {} runs ended in a fault, {} guest instructions executed",
        env("SEED", 1),
        sum.seeds,
        sum.faults,
        sum.instructions
    );
    assert!(
        sum.bad.is_empty(),
        "interpreter / translator differ:\n{}",
        sum.bad.join("\n")
    );
}

/// Runs given instructions from many states in all shapes.
fn given(gfx: Gfx, code: &str) {
    let digits: Vec<char> = code.chars().filter(char::is_ascii_hexdigit).collect();
    let bytes: Vec<u8> = digits
        .chunks(2)
        .filter_map(|pair| u8::from_str_radix(&pair.iter().collect::<String>(), 16).ok())
        .collect();
    let mut items = Vec::new();
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        let len = decode(gfx, rest).map_or(4, |inst| usize::from(inst.len));
        let (inst, behind) = rest.split_at(len.min(rest.len()));
        items.push(Item::Inst(inst.to_vec()));
        rest = behind;
    }
    let exec = std::env::var("EXEC").ok();
    let exec = exec.map(|text| u64::from_str_radix(&text, 16).expect("EXEC is hexadecimal"));
    let checker = checker(gfx);
    let jits = checker.jits();
    let mut r = Random::new(env("SEED", 1));
    for _ in 0..env("STATES", 20) {
        let mut before = checker.state(&mut r);
        if let Some(exec) = exec {
            set64(&mut before.sgpr, 126, exec);
        }
        let max_block = env("BLOCK", MAX_BLOCK as u64) as usize;
        let how = |shape| How { shape, max_block };
        let found = checker.check(&jits, &items, &before, how(None));
        if let Some(Mismatch { shape, .. }) = found.expect("this host") {
            let smallest = checker.shrunk(&jits, items, before, how(Some(shape)));
            panic!("{}", smallest.expect("this host"));
        }
    }
    let states = env("STATES", 20);
    println!(
        "{}equal from {states} states, {} of them with faults",
        texts(gfx, &bytes),
        checker.faults.get()
    );
}

/// Forms that a row is tried in.
const FORMS: [As; 4] = [As::Native, As::Vop3, As::Sdwa, As::Dpp];

/// Lists every row and form whose single instructions differ, with an example each.
fn summary(checker: &Checker, only: &str, words: u64, states: u64) {
    let gfx = checker.gfx;
    let mut jits = checker.jits();
    let (mut bad, mut run, mut turn) = (Vec::new(), 0u64, 0);
    for desc in checker.rows.all() {
        if !desc.name_on(gfx).contains(only) {
            continue;
        }
        for form in FORMS {
            let mut r = Random::new(env("SEED", 1));
            let (mut failed, mut tried, mut example) = (0, 0, String::new());
            for _ in 0..words {
                let Some(bytes) = checker.rows.encode(&mut r, desc, form) else {
                    continue;
                };
                tried += 1;
                run += 1;
                if run % 2000 == 0 {
                    jits = checker.jits();
                }
                let items = [Item::Inst(bytes)];
                let mut wrong = false;
                for _ in 0..states {
                    let before = checker.state(&mut r);
                    turn = (turn + 1) % jits.len();
                    let how = How::shaped(Some(turn));
                    let found = checker.check(&jits, &items, &before, how);
                    if let Some(mismatch) = found.expect("this host") {
                        wrong = true;
                        if example.is_empty() {
                            let failure = checker.failure(&items, &before, mismatch, how.max_block);
                            example = failure.show(3);
                        }
                    }
                }
                failed += u64::from(wrong);
            }
            if failed != 0 {
                bad.push(format!(
                    "{} {form:?}: {failed} of {tried} words\n{example}",
                    desc.name_on(gfx)
                ));
            }
        }
    }
    let count = bad.len();
    assert!(
        bad.is_empty(),
        "{gfx}: {count} rows and forms differ:\n{}",
        bad.join("\n")
    );
}

#[test]
fn gfx600() {
    differential(Gfx::Gfx600);
}

#[test]
fn gfx700() {
    differential(Gfx::Gfx700);
}

#[test]
fn gfx803() {
    differential(Gfx::Gfx803);
}

#[test]
fn gfx900() {
    differential(Gfx::Gfx900);
}

#[test]
fn gfx906() {
    differential(Gfx::Gfx906);
}

#[test]
fn gfx908() {
    differential(Gfx::Gfx908);
}

#[test]
fn gfx90a() {
    differential(Gfx::Gfx90a);
}

#[test]
fn gfx942() {
    differential(Gfx::Gfx942);
}

#[test]
fn lds_in_checked_mode() {
    for gfx in [
        Gfx::Gfx600,
        Gfx::Gfx700,
        Gfx::Gfx803,
        Gfx::Gfx900,
        Gfx::Gfx90a,
        Gfx::Gfx942,
    ] {
        summary(&checker_on(Bench::checked(), gfx), "ds_", 3, 3);
    }
}
