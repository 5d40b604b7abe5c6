//! The values that the lines of a case say, and the places that they go to.

use crate::case::assign::{Bits, Item, LaneList, Lanes, Place, Space, Symbol, Value};

use super::{Addresses, Image, Setting, WINDOW};

impl Addresses {
    /// The low 64 bits of a value in a lane.
    pub fn value(&self, bits: &Bits, lane: usize, pc: u64) -> u64 {
        let dword = |n| u64::from(bits.hex.get(n).copied().unwrap_or(0));
        let number = dword(0) | dword(1) << 32;
        let window = (lane * WINDOW) as u64;
        bits.symbols.iter().fold(number, |sum, symbol| {
            sum.wrapping_add(match symbol {
                Symbol::Mem => self.windows + window,
                Symbol::Mem0 => self.windows,
                Symbol::Window => window,
                Symbol::Buffer => self.buffer,
                Symbol::Code => pc,
                Symbol::Lane => lane as u64,
                Symbol::Mem0Image => self.windows / 256,
                Symbol::BufferImage => self.buffer / 256,
                Symbol::Scratch => self.scratch,
                Symbol::Shared => self.shared,
                Symbol::Private => self.private,
            })
        })
    }

    /// Dword `n` of a value in a lane.
    fn dword(&self, bits: &Bits, n: usize, lane: usize, pc: u64) -> u32 {
        match n {
            0 => self.value(bits, lane, pc) as u32,
            1 => (self.value(bits, lane, pc) >> 32) as u32,
            _ => bits.hex.get(n).copied().unwrap_or(0),
        }
    }
}

impl Setting {
    /// Puts the lane's value into its place; `before` is there for results.
    pub(super) fn put(
        &self,
        image: &mut Image,
        place: Place,
        value: &Value,
        lane: usize,
        pc: u64,
        before: Option<&Image>,
    ) {
        let bits = match value {
            Value::Bits(bits) => bits,
            Value::List(list) => return put_list(image, place, list, lane, before),
            Value::Near(_) | Value::Any | Value::Nan => return,
        };
        let low = self.addresses.dword(bits, 0, lane, pc);
        let wave = &mut image.wave;
        match place {
            Place::Vgpr(_, _, Lanes::One(only)) if usize::from(only) != lane => {}
            Place::Vgpr(first, count, _) => {
                for n in 0..count {
                    let word = self.addresses.dword(bits, n.into(), lane, pc);
                    wave.vector_mut(usize::from(first + n))[lane] = word;
                }
            }
            Place::Sgpr(first, count) => {
                for n in 0..count {
                    wave.sgpr[usize::from(first + n)] = self.addresses.dword(bits, n.into(), 0, pc);
                }
            }
            Place::Mask(first) => {
                let rest = wave.sgpr64(first) & !(1 << lane);
                wave.set_sgpr64(first, rest | u64::from(low & 1) << lane);
            }
            Place::Scc => wave.scc = low,
            Place::Mode => wave.mode = low,
            Place::Trapsts => wave.trapsts = low,
            Place::Hwreg(n) => wave.hwreg[usize::from(n)] = low,
            Place::LdsSize => {}
            Place::Bytes(space, offset) => {
                for n in 0..bits
                    .digits
                    .max(if bits.symbols.is_empty() { 0 } else { 16 })
                    / 2
                {
                    let byte = self.addresses.dword(bits, n / 4, lane, pc) >> (n % 4 * 8);
                    let at = offset as usize + n;
                    let (bytes, at) = match space {
                        Space::Mem => (&mut image.windows, lane * WINDOW + at),
                        Space::Lds => (&mut image.lds, lane * WINDOW + at),
                        Space::Scratch => (&mut image.scratch, at / 4 * 256 + lane * 4 + at % 4),
                        Space::Buffer => (&mut image.buffer, at),
                        Space::Group => (&mut image.lds, at),
                    };
                    // A window that a small LDS does not have.
                    if let Some(to) = bytes.get_mut(at) {
                        *to = byte as u8;
                    }
                }
            }
        }
    }
}

/// Puts a lane's item of a list into a register.
fn put_list(image: &mut Image, place: Place, list: &LaneList, lane: usize, before: Option<&Image>) {
    let exec = image.wave.exec();
    let exec = before.map_or(exec, |before| before.wave.exec());
    let item = |mut item: Item| {
        if item == Item::First {
            item = Item::Number(if exec == 0 { 0 } else { exec.trailing_zeros() });
        }
        let Some(register) = list.register else {
            return match item {
                Item::Number(n) => Some(n),
                _ => None,
            };
        };
        if let (Item::Number(n), Some(instead)) = (item, list.inactive)
            && exec >> n & 1 == 0
        {
            item = instead;
        }
        match item {
            Item::Zero => Some(list.plus),
            Item::Number(n) => {
                let from = before.map_or(&image.wave, |before| &before.wave);
                let word = from.vector(usize::from(register))[n as usize];
                Some(word.wrapping_add(list.plus))
            }
            _ => None,
        }
    };
    let Some(word) = item(list.items[lane]) else {
        return;
    };
    match place {
        Place::Vgpr(first, _, _) => image.wave.vector_mut(usize::from(first))[lane] = word,
        Place::Sgpr(first, _) if lane == 0 => image.wave.sgpr[usize::from(first)] = word,
        _ => {}
    }
}
