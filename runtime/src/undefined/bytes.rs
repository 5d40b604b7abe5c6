//! Which bits of memory are undefined.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::findings::Tag;

const PAGE: u64 = 256;

/// Undefined bits of some bytes, and a tag for each aligned dword.
#[derive(Clone)]
struct Page {
    bits: [u8; PAGE as usize],
    tags: [Tag; PAGE as usize / 4],
}

const DEFINED: Page = Page {
    bits: [0; PAGE as usize],
    tags: [Tag::NONE; PAGE as usize / 4],
};

impl Tag {
    const NONE: Tag = Tag(0);
}

/// Undefined bits of an address space; those of pages that are not there are defined.
#[derive(Default)]
pub(super) struct Bytes(FxHashMap<u64, Box<Page>>);

impl Bytes {
    /// Is everything defined?
    pub(super) fn is_defined(&self) -> bool {
        self.0.is_empty()
    }

    /// Nobody has written these bytes.
    pub(super) fn forget(&mut self, range: Range<u64>) {
        self.fill(range, u8::MAX);
    }

    /// These bytes are defined.
    pub(super) fn define(&mut self, range: Range<u64>) {
        if !self.is_defined() {
            self.fill(range, 0);
        }
    }

    fn fill(&mut self, range: Range<u64>, bits: u8) {
        let mut at = range.start;
        while at < range.end {
            let page = at / PAGE;
            let start = at % PAGE;
            let end = (range.end - page * PAGE).min(PAGE);
            at = page.saturating_add(1).saturating_mul(PAGE);
            if bits == 0 && start == 0 && end == PAGE {
                self.0.remove(&page);
                continue;
            }
            if bits == 0 && !self.0.contains_key(&page) {
                continue;
            }
            let page = self.0.entry(page).or_insert_with(|| Box::new(DEFINED));
            page.bits[start as usize..end as usize].fill(bits);
            if bits != 0 {
                page.tags[start as usize / 4..(end as usize).div_ceil(4)].fill(Tag::NONE);
            }
        }
    }

    /// Undefined bits of a byte.
    pub(super) fn get(&self, address: u64) -> (u8, Tag) {
        let at = (address % PAGE) as usize;
        let page = self.0.get(&(address / PAGE));
        page.map_or((0, Tag::NONE), |page| (page.bits[at], page.tags[at / 4]))
    }

    /// Sets the undefined bits of a byte.
    pub(super) fn set(&mut self, address: u64, bits: u8, tag: Tag) {
        let number = address / PAGE;
        if bits == 0 && !self.0.contains_key(&number) {
            return;
        }
        let at = (address % PAGE) as usize;
        let page = self.0.entry(number).or_insert_with(|| Box::new(DEFINED));
        page.bits[at] = bits;
        if bits != 0 {
            page.tags[at / 4] = tag;
        } else if page.bits.iter().all(|&bits| bits == 0) {
            self.0.remove(&number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_defined_one_by_one() {
        let mut bytes = Bytes::default();
        bytes.forget(250..600);
        let undefined = |bytes: &Bytes| (0..1000).filter(|&at| bytes.get(at).0 != 0).count();
        assert_eq!(undefined(&bytes), 350);
        bytes.set(250, 0, Tag::NONE);
        bytes.set(251, 0x80, Tag::NONE);
        assert_eq!(bytes.get(251).0, 0x80);
        assert_eq!(undefined(&bytes), 349);
        bytes.define(0..512);
        assert_eq!(undefined(&bytes), 88);
        bytes.define(512..600);
        bytes.set(700, 1, Tag::NONE);
        bytes.set(700, 0, Tag::NONE);
        assert_eq!(undefined(&bytes), 0);
    }
}
