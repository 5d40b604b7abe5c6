//! Generic pointers: memory that only the address tells, in one wave.

use harness::random::Random;
use wavelift::{Arg, Launch};

use super::{FLAT_TARGETS, THREADS, on_targets};

const N: usize = 128;

/// 64 bytes that a work-item has somewhere.
struct Words([u8; 64]);

impl Words {
    fn get<const B: usize>(&self, at: usize) -> [u8; B] {
        *self.0[at * B..].first_chunk().unwrap()
    }

    fn set<const B: usize>(&mut self, at: usize, bytes: [u8; B]) {
        self.0[at * B..(at + 1) * B].copy_from_slice(&bytes);
    }

    fn word(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.get(at))
    }

    fn set_word(&mut self, at: usize, value: u32) {
        self.set(at, value.to_le_bytes());
    }

    /// All that the kernel does; its sum.
    fn work(&mut self) -> u32 {
        let at = self.word(1) as usize;
        let (k, [byte]) = (at & 63, self.get::<1>(at & 63));
        self.set(k, [byte.wrapping_mul(3).wrapping_add(k as u8)]);

        let k = at >> 6 & 15;
        let short = |words: &Words, k| i16::from_le_bytes(words.get(k));
        let value = short(self, k + 1).wrapping_sub(short(self, k).wrapping_mul(5));
        self.set(k, value.to_le_bytes());

        let k = at >> 11 & 15;
        let value = self.word(k).wrapping_mul(7).wrapping_add(self.word(k ^ 1));
        self.set_word(k, value);

        let k = at >> 15 & 7;
        let value = u64::from_le_bytes(self.get(k ^ 1));
        let value = value.wrapping_mul(9).wrapping_add(k as u64);
        self.set(k, value.to_le_bytes());

        let sums = [0, 1, 2, 3].map(|k| self.word(4 + 3 - k).wrapping_add(self.word(k)));
        sums.into_iter()
            .enumerate()
            .for_each(|(k, sum)| self.set_word(k, sum));

        let k = at >> 18 & 15;
        let mut sum = self.word(k);
        self.set_word(k, at as u32);
        let k = at >> 22 & 15;
        let old = self.word(k);
        self.set_word(k, old.wrapping_add(sum));
        sum = sum.wrapping_mul(31).wrapping_add(old);
        let k = at >> 26 & 7;
        let old = u64::from_le_bytes(self.get(k));
        self.set(k, old.max((at as u64) << 32).to_le_bytes());
        sum = sum.wrapping_mul(31).wrapping_add(old as u32);
        (0..16).fold(sum, |sum, k| {
            sum.wrapping_mul(31).wrapping_add(self.word(k))
        })
    }
}

#[test]
fn one_access_reaches_lds_scratch_and_global_memory() {
    let mut random = Random::new(51);
    let input: Vec<u32> = (0..N * 16).map(|_| random.next() as u32).collect();
    let (mut want, mut table) = (Vec::new(), Vec::new());
    for mine in input.chunks(16) {
        let mut words = Words([0; 64]);
        mine.iter()
            .enumerate()
            .for_each(|(k, &word)| words.set_word(k, word));
        want.push(words.work());
        match mine[0] % 3 {
            0 => table.extend((0..16).map(|k| words.word(k))),
            _ => table.extend(mine),
        }
    }
    on_targets("generic", &FLAT_TARGETS, |rig, module| {
        rig.each(&THREADS, |rig| {
            let out = rig.buffer(&[0u32; N]);
            let (got, input) = (rig.buffer(&[0u32; N * 16]), rig.buffer(&input));
            let args = [&out, &got, &input].map(Arg::from);
            rig.launch(module, "generic_memory", Launch::new(N as u32, 64), &args);
            rig.expect(module, "generic_memory", &out, &want);
            rig.expect(module, "generic_memory, table", &got, &table);
        });
    });
}

#[test]
fn the_address_tells_the_memory() {
    let null = 3;
    let want = (0..N).map(|i| {
        let kind = [1, 2, 4][i % 3];
        let local = if i % 5 < null { 8 } else { 0 };
        let private = if i % 7 < null { 16 } else { 0 };
        kind | local | private | 32
    });
    let want: Vec<u32> = want.collect();
    on_targets("generic", &FLAT_TARGETS, |rig, module| {
        rig.each(&THREADS, |rig| {
            let (out, table) = (rig.buffer(&[0u32; N]), rig.buffer(&[0u32; 4]));
            let args = [
                (&out).into(),
                (&table).into(),
                Arg::Local(256),
                (null as u32).into(),
            ];
            rig.launch(module, "generic_kind", Launch::new(N as u32, 64), &args);
            rig.expect(module, "generic_kind", &out, &want);
        });
    });
}

#[test]
fn atomics_through_generic_pointers() {
    let mut random = Random::new(52);
    const N: usize = 1000;
    const GROUP: usize = 192;
    let input: Vec<u32> = (0..N).map(|_| random.next() as u32).collect();
    let mut cells = [0u32; 4];
    let mut sums = vec![0u32; N.div_ceil(GROUP) * 4];
    for (i, &at) in input.iter().enumerate() {
        let cell = match at & 4 {
            0 => &mut cells[at as usize & 3],
            _ => &mut sums[i / GROUP * 4 + (at as usize & 3)],
        };
        *cell = cell.wrapping_add(at >> 3);
    }
    on_targets("generic", &FLAT_TARGETS, |rig, module| {
        rig.each(&THREADS, |rig| {
            let got_cells = rig.buffer(&[0u32; 4]);
            let got_sums = rig.buffer(&vec![0u32; sums.len()]);
            let input = rig.buffer(&input);
            let args = [&got_cells, &got_sums, &input].map(Arg::from);
            let launch = Launch::new(N as u32, GROUP as u32);
            rig.launch(module, "generic_atomics", launch, &args);
            rig.expect(module, "generic_atomics", &got_cells, &cells);
            rig.expect(module, "generic_atomics, sums", &got_sums, &sums);
        });
    });
}
