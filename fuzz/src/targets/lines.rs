//! Straight lines and programs of one wave, on the interpreter and on the translator in one of its shapes.

use std::cell::RefCell;
use std::collections::HashMap;

use frontend::Gfx;
use harness::snippet::FIXED;

use crate::campaign::{Campaign, Kind, Settings};

/// Where the guest memory of the first target is; addresses are the same in every process, since what programs compute
/// depends on them.
const MEMORY: u64 = 0x1000_0000_0000;

/// Instructions that an input's program has at most.
const LENGTH: u32 = 512;

thread_local! {
    static CAMPAIGNS: RefCell<HashMap<(usize, bool), Campaign>> = RefCell::default();
}

/// The first byte is the target, the second whether the rest is a line or a program; see [`Campaign::input`].
pub fn lines(data: &[u8]) {
    let Some((&[target, kind], rest)) = data.split_first_chunk() else {
        return;
    };
    let number = usize::from(target) % Gfx::COUNT;
    let programs = kind.is_multiple_of(2);
    CAMPAIGNS.with_borrow_mut(|campaigns| {
        let campaign = campaigns.entry((number, programs)).or_insert_with(|| {
            let kind = if programs {
                Kind::Programs
            } else {
                Kind::Lines
            };
            // A line has two memories.
            let place = 3 * number as u64 + 2 * u64::from(programs);
            let settings = Settings {
                length: LENGTH,
                address: Some(MEMORY + place * FIXED),
                ..Settings::new(Gfx::ALL[number], kind)
            };
            Campaign::new(settings).expect("the addresses are free and the settings valid")
        });
        let verdict = campaign
            .input(rest)
            .expect("the translator runs on this host");
        if let Some(failure) = verdict.failure {
            panic!("{}: {failure}", Gfx::ALL[number]);
        }
    });
}
