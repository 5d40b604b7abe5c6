//! Long straight lines on both engines.

use super::*;

/// Lines for each target when the environment does not say.
const LINES: u64 = 24;

fn lines(gfx: Gfx) {
    let mut settings = Settings::new(gfx, Kind::Lines);
    settings.length = env("LINE", settings.length.into()).max(32) as u32;
    settings.options = Options {
        checked: false,
        read_only: false,
        ..options()
    };
    let chosen = match env("ONLY", u64::MAX) {
        u64::MAX => 0..env("LINES", LINES),
        only => only..only + 1,
    };
    let sum = rounds(settings, chosen, 1_000_033, |_| false);
    let (seed, items, faults) = (env("SEED", 1), sum.items, sum.faults);
    println!(
        "{gfx}: SEED={seed}, {items} instructions in lines, of which {faults} ended in a fault"
    );
    assert!(
        sum.bad.is_empty(),
        "interpreter / translator differ:\n{}",
        sum.bad.join("\n")
    );
}

#[test]
fn lines_of_gfx600() {
    lines(Gfx::Gfx600);
}

#[test]
fn lines_of_gfx700() {
    lines(Gfx::Gfx700);
}

#[test]
fn lines_of_gfx803() {
    lines(Gfx::Gfx803);
}

#[test]
fn lines_of_gfx900() {
    lines(Gfx::Gfx900);
}

#[test]
fn lines_of_gfx906() {
    lines(Gfx::Gfx906);
}

#[test]
fn lines_of_gfx908() {
    lines(Gfx::Gfx908);
}

#[test]
fn lines_of_gfx90a() {
    lines(Gfx::Gfx90a);
}

#[test]
fn lines_of_gfx942() {
    lines(Gfx::Gfx942);
}
