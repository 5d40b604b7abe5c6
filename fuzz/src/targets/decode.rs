//! Arbitrary words on every target: decoding, printing, and translation without execution.

use frontend::registers::Uses;
use frontend::{Gfx, decode as decode_one};
use runtime::jit::{self, Isa};

/// Guest address of the words.
const BASE: u64 = 0x1_0000;

/// Bytes that are translated at most.
const TRANSLATED: usize = 1024;

/// The first byte is the target, the second the host whose vectors regions are translated to and MODE; the rest are
/// words.
pub fn decode(data: &[u8]) {
    let Some((&[target, how], words)) = data.split_first_chunk() else {
        return;
    };
    let gfx = Gfx::ALL[usize::from(target) % Gfx::COUNT];
    let mut at = 0;
    while let Some(rest) = words.get(at..).filter(|rest| !rest.is_empty()) {
        at += one(gfx, rest);
    }
    let words = &words[..words.len().min(TRANSLATED) & !3];
    let fetch = |pc: u64| {
        let at = usize::try_from(pc.checked_sub(BASE)?).ok()?;
        words.get(at..).filter(|rest| !rest.is_empty())
    };
    if fetch(BASE).is_none() {
        return;
    }
    let isa = [None, Some(Isa::Avx2), Some(Isa::Avx512)][usize::from(how) % 3];
    let mode = u32::from(how / 3) << 2 & 0xff;
    for (pc, text) in jit::print_vector_ir(gfx, BASE, mode, &fetch, isa) {
        assert!(!text.starts_with("; bug"), "the region at {pc:#x}: {text}");
    }
}

/// Decodes one instruction; gives the bytes to the next.
fn one(gfx: Gfx, rest: &[u8]) -> usize {
    let inst = match decode_one(gfx, rest) {
        Ok(inst) => inst,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return 4;
        }
    };
    let len = usize::from(inst.len);
    assert!(len >= 4 && len.is_multiple_of(4), "{len} bytes");
    let own = rest
        .get(..len)
        .expect("no instruction is longer than the code");
    let text = inst.text(gfx);
    assert!(
        text.bytes().all(|byte| (b' '..0x7f).contains(&byte)) && !text.is_empty(),
        "{text:?}"
    );
    // An instruction depends on its own bytes alone, and on all of them.
    let again = decode_one(gfx, own).expect("it was decoded before");
    assert_eq!(again.text(gfx), text, "depends on what is behind it");
    let cut = decode_one(gfx, &own[..len - 4]);
    assert!(cut.is_err(), "{text} without its last dword is {cut:?}");
    assert_eq!(Uses::of(&inst, gfx), Uses::of(&again, gfx));
    len
}
