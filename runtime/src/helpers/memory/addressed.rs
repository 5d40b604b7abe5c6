//! Loads and stores of the whole wave at an address for each lane.

use super::items::{Byte, Item, Short};
use super::words::{arena, load_words, store_words};
use super::*;

/// Addresses of a wave's elements.
pub(in crate::helpers) struct Addressed {
    /// The address of each lane.
    pub(in crate::helpers) at: [u64; 64],
    /// All ones for lanes that access memory, else 0.
    pub(in crate::helpers) on: [u64; 64],
}

impl Addressed {
    /// Are all elements in the arena, aligned to their size or to a dword?
    #[inline(always)]
    fn is_whole(&self, memory: &Memory, bytes: u64) -> bool {
        let (mut least, mut most, mut bits) = (u64::MAX, 0, 0);
        for (&at, &on) in self.at.iter().zip(&self.on) {
            least = least.min(at | !on);
            most = most.max(at & on);
            bits |= at & on;
        }
        let aligned = bits & (bytes.min(4) - 1) == 0;
        // Without lanes `least` is more than `most`.
        aligned && (least > most || arena(memory, least, most - least + bytes).is_some())
    }

    /// The lanes that access memory, ascending, with the places of their elements.
    #[inline(always)]
    fn each(&self, mut act: impl FnMut(usize, *mut u8)) {
        for (lane, (&at, &on)) in self.at.iter().zip(&self.on).enumerate() {
            if on != 0 {
                act(lane, std::ptr::with_exposed_provenance_mut(at as usize));
            }
        }
    }

    #[inline(always)]
    fn load_dwords<const N: usize>(&self, results: &mut [Lanes; 4]) {
        self.each(|lane, from| {
            // SAFETY: the element is aligned to a dword and in the arena.
            let words = unsafe { load_words(from, N) };
            for i in 0..N {
                results[i][lane] = words[i];
            }
        });
    }

    #[inline(always)]
    fn load_small<T: Item>(&self, results: &mut [Lanes; 4]) {
        self.each(|lane, from| {
            // SAFETY: the element is aligned and in the arena.
            results[0][lane] = unsafe { T::load::<false>(from) }[0];
        });
    }

    /// Loads the elements into `results`, whose other lanes stay as they are; true if it is done, which
    /// requires that all elements are in the arena and aligned to their size or to a dword.
    pub(in crate::helpers) fn load(
        &self,
        memory: &Memory,
        element: Element,
        results: &mut [Lanes; 4],
    ) -> bool {
        if !self.is_whole(memory, element.bytes() as u64) {
            return false;
        }
        match element {
            Element::Dwords(1) => self.load_dwords::<1>(results),
            Element::Dwords(2) => self.load_dwords::<2>(results),
            Element::Dwords(3) => self.load_dwords::<3>(results),
            Element::Dwords(_) => self.load_dwords::<4>(results),
            Element::Byte(false) => self.load_small::<Byte<false>>(results),
            Element::Byte(true) => self.load_small::<Byte<true>>(results),
            Element::Short(false) => self.load_small::<Short<false>>(results),
            Element::Short(true) => self.load_small::<Short<true>>(results),
        }
        true
    }

    #[inline(always)]
    fn store_dwords<const N: usize>(&self, word: impl Fn(usize, usize) -> u32) {
        self.each(|lane, to| {
            let words = std::array::from_fn(|i| if i < N { word(i, lane) } else { 0 });
            // SAFETY: the element is aligned to a dword and in the arena.
            unsafe { store_words(to, N, words) };
        });
    }

    #[inline(always)]
    fn store_small<T: Item>(&self, word: impl Fn(usize, usize) -> u32) {
        self.each(|lane, to| {
            // SAFETY: the element is aligned and in the arena.
            unsafe { T::store::<false>(to, [word(0, lane), 0, 0, 0]) };
        });
    }

    /// Stores the elements, `word(i, lane)` being word `i` of a lane's; true if it is done, as for
    /// [`Addressed::load`].
    pub(in crate::helpers) fn store(
        &self,
        memory: &Memory,
        element: Element,
        word: impl Fn(usize, usize) -> u32,
    ) -> bool {
        if !self.is_whole(memory, element.bytes() as u64) {
            return false;
        }
        match element {
            Element::Dwords(1) => self.store_dwords::<1>(word),
            Element::Dwords(2) => self.store_dwords::<2>(word),
            Element::Dwords(3) => self.store_dwords::<3>(word),
            Element::Dwords(_) => self.store_dwords::<4>(word),
            Element::Byte(_) => self.store_small::<Byte<false>>(word),
            Element::Short(_) => self.store_small::<Short<false>>(word),
        }
        true
    }
}
