//! Which slip is on, and which places are reached.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

static ON: AtomicU32 = AtomicU32::new(0);
static REACHED: [AtomicU8; PLACES_HERE] = [const { AtomicU8::new(0) }; PLACES_HERE];

/// The number of the slip that is on, at this place.
#[inline(always)]
pub fn at(place: usize) -> u32 {
    REACHED[place].store(1, Ordering::Relaxed);
    ON.load(Ordering::Relaxed)
}

// SAFETY: this is its declaration in C.
unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> i32;
}

extern "C" fn first() {
    if let Ok(number) = std::env::var("SLIP_ON") {
        ON.store(number.parse().unwrap_or(0), Ordering::Relaxed);
    }
    if std::env::var_os("SLIPS_REACHED").is_some() {
        // SAFETY: the function is in the program itself, which stays loaded.
        unsafe { atexit(last) };
    }
}

extern "C" fn last() {
    let reached: Vec<u8> = REACHED.iter().map(|r| r.load(Ordering::Relaxed)).collect();
    if let Some(path) = std::env::var_os("SLIPS_REACHED") {
        let _ = std::fs::write(path, reached);
    }
}

#[used]
#[unsafe(link_section = ".init_array")]
static FIRST: extern "C" fn() = first;
