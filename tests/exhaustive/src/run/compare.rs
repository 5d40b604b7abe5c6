//! Compares a batch with the reference, and describes differences.

use frontend::state::LANES;

use super::Difference;
use super::layout::Layout;
use crate::engines::Kind;
use crate::reference::Reference;
use crate::sweep::Form;

/// Noise of the sources differs.
pub(super) const SALT: [u32; 2] = [0x1357_9bdf, 0x0246_8ace];

fn sources(form: &Form, input: u32) -> Vec<u32> {
    let fields = form.fields.iter().zip(SALT);
    fields
        .map(|(field, salt)| field.value(input, salt))
        .collect()
}

/// The words of an input in a batch's results, each with the bits of it that are the input's.
fn places(layout: &Layout, n: usize) -> Vec<(usize, u32, u32)> {
    let (slot, lane) = (n / layout.lanes, n % layout.lanes);
    let first = slot * layout.results;
    (0..layout.results)
        .filter_map(|r| match (layout.vector, layout.lanes) {
            (true, _) => Some(((first + r) * LANES + lane, 0, u32::MAX)),
            (false, 1) => Some((first + r, 0, u32::MAX)),
            // Pairs of masks.
            (false, _) => (r % 2 == lane / 32).then_some((first + r, lane as u32 % 32, 1)),
        })
        .collect()
}

/// The results of the reference for a batch.
pub(super) fn expected(
    reference: &Reference,
    form: &Form,
    layout: &Layout,
    base: u32,
    like: &[u32],
) -> Vec<u32> {
    let mut all = like.to_vec();
    for n in 0..layout.inputs() {
        let s = sources(form, base.wrapping_add(n as u32));
        let right = reference.results(s[0], s.get(1).copied().unwrap_or_default());
        for (r, (word, shift, mask)) in places(layout, n).into_iter().enumerate() {
            // Both masks of a comparison that writes EXEC are the same.
            let value = match layout.vector || layout.lanes == 1 {
                true => right[r],
                false => right[0],
            };
            all[word] = all[word] & !(mask << shift) | (value & mask) << shift;
        }
    }
    all
}

/// The first word of a batch that is not as the reference has it.
pub(super) fn disagrees(
    reference: &Reference,
    form: &Form,
    layout: &Layout,
    base: u32,
    got: &[u32],
) -> Option<usize> {
    let first = form.fields[0];
    let second = form.fields.get(1).copied();
    for slot in 0..layout.slots {
        let mut masks = [0u32; 2];
        for lane in 0..layout.lanes {
            let input = base.wrapping_add((slot * layout.lanes + lane) as u32);
            let s0 = first.value(input, SALT[0]);
            let s1 = second.map_or(0, |field| field.value(input, SALT[1]));
            let right = reference.results(s0, s1);
            if layout.vector {
                for (r, &right) in right.iter().enumerate().take(layout.results) {
                    let place = (slot * layout.results + r) * LANES + lane;
                    if got[place] != right {
                        return Some(place);
                    }
                }
            } else if layout.lanes == 1 {
                let place = slot * layout.results;
                let got = &got[place..place + layout.results];
                if let Some(r) = got.iter().zip(right).position(|(&got, right)| got != right) {
                    return Some(place + r);
                }
            } else {
                masks[lane / 32] |= (right[0] & 1) << (lane % 32);
            }
        }
        if !layout.vector && layout.lanes > 1 {
            for r in 0..layout.results {
                let place = slot * layout.results + r;
                if got[place] != masks[r % 2] {
                    return Some(place);
                }
            }
        }
    }
    None
}

/// Describes the difference at a word.
pub(super) fn difference(
    form: &Form,
    layout: &Layout,
    base: u32,
    place: usize,
    (first, a): (Kind, &[u32]),
    (second, b): (Kind, &[u32]),
) -> Difference {
    let differs = |n: &usize| {
        let places = places(layout, *n);
        let part = |of: &[u32], (word, shift, mask): (usize, u32, u32)| of[word] >> shift & mask;
        places.iter().any(|p| p.0 == place) && places.iter().any(|&p| part(a, p) != part(b, p))
    };
    let n = (0..layout.inputs()).find(differs).unwrap_or_default();
    let of = |words: &[u32]| {
        let part = |(word, shift, mask): (usize, u32, u32)| words[word] >> shift & mask;
        places(layout, n).into_iter().map(part).collect()
    };
    let input = base.wrapping_add(n as u32);
    Difference {
        input,
        sources: sources(form, input),
        first: (first, of(a)),
        second: (second, of(b)),
    }
}
