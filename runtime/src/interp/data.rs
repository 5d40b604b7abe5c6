//! Data of memory instructions between bytes and registers.

use frontend::op::Data;

/// The pattern of data without a format.
macro_rules! unformatted {
    () => {
        Data::Dwords(_)
            | Data::U8
            | Data::I8
            | Data::U16
            | Data::I16
            | Data::D16U8
            | Data::D16I8
            | Data::D16
            | Data::D16HiU8
            | Data::D16HiI8
            | Data::D16Hi
            | Data::D16HiB8
    };
}

pub(crate) use unformatted;

/// Bytes in memory of data without a format.
pub(crate) const fn bytes(data: Data) -> usize {
    match data {
        Data::Dwords(n) => 4 * n as usize,
        Data::U8 | Data::I8 => 1,
        Data::D16U8 | Data::D16I8 | Data::D16HiU8 | Data::D16HiI8 | Data::D16HiB8 => 1,
        Data::U16 | Data::I16 | Data::D16 | Data::D16Hi => 2,
        Data::Format(_) | Data::FormatD16(_) | Data::FormatD16Hi => 0,
    }
}

/// Registers that data without a format occupies.
pub(crate) const fn registers(data: Data) -> usize {
    match data {
        Data::Dwords(n) => n as usize,
        Data::U8 | Data::I8 | Data::U16 | Data::I16 => 1,
        Data::D16U8 | Data::D16I8 | Data::D16 => 1,
        Data::D16HiU8 | Data::D16HiI8 | Data::D16Hi | Data::D16HiB8 => 1,
        Data::Format(_) | Data::FormatD16(_) | Data::FormatD16Hi => 1,
    }
}

/// Up to 16 bytes of data.
pub(crate) type Raw = [u8; 16];

/// The dword `i` of raw bytes.
pub(crate) fn dword(raw: &Raw, i: usize) -> u32 {
    u32::from_le_bytes([raw[4 * i], raw[4 * i + 1], raw[4 * i + 2], raw[4 * i + 3]])
}

/// The first register of loaded bytes. `old` is the register before; `keeps` tells whether a load
/// of one half keeps the other one.
pub(crate) fn loaded(data: Data, raw: &Raw, old: u32, keeps: bool) -> u32 {
    let half = u16::from_le_bytes([raw[0], raw[1]]);
    let rest = if keeps { old } else { 0 };
    let low = |v: u16| rest & 0xffff_0000 | u32::from(v);
    let high = |v: u16| u32::from(v) << 16 | rest & 0xffff;
    let byte = raw[0];
    let extended = i16::from(byte as i8) as u16;
    match data {
        Data::U8 => u32::from(byte),
        Data::I8 => i32::from(byte as i8) as u32,
        Data::U16 => u32::from(half),
        Data::I16 => i32::from(half as i16) as u32,
        Data::D16U8 => low(u16::from(byte)),
        Data::D16I8 => low(extended),
        Data::D16 => low(half),
        Data::D16HiU8 => high(u16::from(byte)),
        Data::D16HiI8 => high(extended),
        Data::D16Hi => high(half),
        Data::Dwords(_) | Data::D16HiB8 => dword(raw, 0),
        Data::Format(_) | Data::FormatD16(_) | Data::FormatD16Hi => dword(raw, 0),
    }
}

/// The bytes that a store of registers writes; [`bytes`] of them count.
pub(crate) fn stored(data: Data, words: [u32; 4]) -> Raw {
    let words = match data {
        Data::D16Hi | Data::D16HiB8 | Data::D16HiU8 | Data::D16HiI8 => [words[0] >> 16, 0, 0, 0],
        Data::Dwords(_) | Data::U8 | Data::I8 | Data::U16 | Data::I16 => words,
        Data::D16U8 | Data::D16I8 | Data::D16 => words,
        Data::Format(_) | Data::FormatD16(_) | Data::FormatD16Hi => words,
    };
    let mut raw = [0; 16];
    for (chunk, word) in raw.chunks_exact_mut(4).zip(words) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    raw
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_extend_and_merge() {
        let raw = stored(Data::Dwords(1), [0x8182_8384, 0, 0, 0]);
        let old = 0x1111_2222;
        let cases = [
            (Data::U8, true, 0x84),
            (Data::I8, true, 0xffff_ff84),
            (Data::U16, true, 0x8384),
            (Data::I16, true, 0xffff_8384),
            (Data::D16U8, true, 0x1111_0084),
            (Data::D16I8, true, 0x1111_ff84),
            (Data::D16, true, 0x1111_8384),
            (Data::D16, false, 0x8384),
            (Data::D16HiU8, true, 0x0084_2222),
            (Data::D16HiI8, true, 0xff84_2222),
            (Data::D16Hi, true, 0x8384_2222),
            (Data::D16Hi, false, 0x8384_0000),
            (Data::Dwords(1), true, 0x8182_8384),
        ];
        for (data, keeps, want) in cases {
            assert_eq!(loaded(data, &raw, old, keeps), want, "{data:?} {keeps}");
        }
    }

    #[test]
    fn stores_pick_their_half() {
        let words = [0x8182_8384, 5, 0, 0];
        assert_eq!(stored(Data::D16HiB8, words)[0], 0x82);
        assert_eq!(stored(Data::D16Hi, words)[..2], [0x82, 0x81]);
        assert_eq!(stored(Data::U16, words)[..2], [0x84, 0x83]);
        assert_eq!(dword(&stored(Data::Dwords(2), words), 1), 5);
    }
}
