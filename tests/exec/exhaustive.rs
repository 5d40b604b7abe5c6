//! Parts of the exhaustive campaign (`tests/exhaustive`), drawn anew each day: their digests are the committed ones, and all
//! engines agree. `SEED=` draws others, which a failure names; `SWEEPS=` draws more.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use exhaustive::digests::{self, short};
use exhaustive::{Bench, Kind, Sweep};
use frontend::Gfx;
use harness::environment::number;
use harness::random::Random;

/// Sweeps of a run.
const SWEEPS: u64 = 24;

/// Inputs that all engines run of a sweep.
const COMPARED: u64 = 1 << 16;

/// Inputs that one engine runs, at most, for the digest of a part.
const DIGESTED: u32 = 1 << 26;

/// The day, so that runs of the same day draw the same.
fn today() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |time| time.as_secs() / 86_400)
}

fn committed() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(digests::FILE);
    std::fs::read_to_string(path).expect("the digests are there")
}

#[test]
fn sweeps_agree_with_the_committed_digests() {
    let seed = number("SEED").unwrap_or_else(today);
    println!("SEED={seed}");
    let lines = digests::read(&committed()).expect("the digests are intact");
    let whole: Vec<_> = lines.iter().filter(|(_, line)| line.is_whole()).collect();
    assert!(!whole.is_empty());
    let mut r = Random::new(seed);
    let mut bench = Bench::new(&Kind::ALL).expect("the translator runs on this host");
    let fast = [Kind::Avx512, Kind::Avx2, Kind::Cranelift];
    let fast = fast.into_iter().find(|kind| kind.is_here());
    let fast = [fast.expect("Cranelift is everywhere")];
    let mut digested = 0;
    for _ in 0..number("SWEEPS").unwrap_or(SWEEPS) {
        let ((instruction, form, mode, gfx), line) = *r.pick(&whole);
        let name = format!("SEED={seed}: {instruction} {form} mode {mode:x} {gfx}");
        let sweep = Sweep::find(instruction, form, *mode, *gfx);
        let sweep = sweep.unwrap_or_else(|| panic!("{name}: there is no such form"));
        // All engines on a few inputs, on any target with that translation.
        let target: Gfx = *r.pick(&line.targets);
        assert!(
            sweep.is_same_on(target),
            "{name}: {target} has another translation"
        );
        let there = Sweep::find(instruction, form, *mode, target);
        let there = there.unwrap_or_else(|| panic!("{name}: {target} lacks the form"));
        let inputs = 1u64 << line.bits;
        let count = inputs.min(COMPARED);
        let first = u64::from(r.below((inputs / count) as u32)) * count;
        let run = bench.run(&there, first, count, &Kind::ALL);
        let run = run.unwrap_or_else(|error| panic!("{name}: {error}"));
        if let Some(difference) = run.difference {
            panic!("{name} on {target}: {difference}");
        }
        // One engine on a part.
        let part = r.below(line.parts.len() as u32) as usize;
        let want = line.parts[part].expect("it is whole");
        if line.part() > u64::from(DIGESTED) || digested > 1 << 27 {
            continue;
        }
        digested += line.part();
        let run = bench.run(&sweep, part as u64 * line.part(), line.part(), &fast);
        let run = run.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(short(run.digest), want, "{name}: part {part}");
    }
}

#[test]
fn digests_are_read_and_written() {
    let lines = digests::read(&committed()).expect("the digests are intact");
    assert_eq!(digests::write(&lines), committed());
    for bad in [
        "a\tplain\t3f0",
        "a\tplain\t3f0\t1\tgfx901\t16\ti\t00000000",
        "a\tplain\t3f0\t1\tgfx900\t16\ti\t0",
    ] {
        digests::read(bad).expect_err(bad);
    }
}
