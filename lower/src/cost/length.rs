//! Lengths of x86-64 instructions, as far as Cranelift emits them.

/// What follows an opcode.
#[derive(Clone, Copy)]
struct Tail {
    modrm: bool,
    immediate: usize,
}

/// Number of instructions in a piece of code that begins and ends with whole ones; otherwise the bytes at
/// which they cannot be told apart.
pub(super) fn instructions(code: &[u8]) -> Result<u32, Vec<u8>> {
    let (mut rest, mut count) = (code, 0);
    while !rest.is_empty() {
        let length = length(rest).filter(|&n| n <= rest.len());
        let length = length.ok_or_else(|| rest[..rest.len().min(8)].to_vec())?;
        (rest, count) = (&rest[length..], count + 1);
    }
    Ok(count)
}

fn length(code: &[u8]) -> Option<usize> {
    let mut at = 0;
    let mut narrow = false;
    while let prefix @ (0x66 | 0xf0 | 0xf2 | 0xf3) = *code.get(at)? {
        narrow |= prefix == 0x66;
        at += 1;
    }
    let first = *code.get(at)?;
    // VEX and EVEX: the map of opcodes, and the bytes before the opcode.
    let vector = match first {
        0xc5 => Some((1, 2)),
        0xc4 => Some((code.get(at + 1)? & 31, 3)),
        0x62 => Some((code.get(at + 1)? & 7, 4)),
        _ => None,
    };
    let tail = if let Some((map, bytes)) = vector {
        at += bytes;
        vector_tail(map, *code.get(at)?)?
    } else {
        let wide = first & 0xf8 == 0x48;
        at += usize::from(first & 0xf0 == 0x40);
        match (*code.get(at)?, code.get(at + 1).copied()) {
            (0x0f, Some(0x38)) => {
                at += 2;
                vector_tail(2, *code.get(at)?)?
            }
            (0x0f, Some(0x3a)) => {
                at += 2;
                vector_tail(3, *code.get(at)?)?
            }
            (0x0f, second) => {
                at += 1;
                two_bytes(second?)?
            }
            (opcode, modrm) => one_byte(opcode, modrm.unwrap_or(0), wide, narrow)?,
        }
    };
    at += 1;
    if tail.modrm {
        at += operand(code.get(at..)?)?;
    }
    Some(at + tail.immediate)
}

/// Bytes of a ModRM byte and what belongs to it.
fn operand(code: &[u8]) -> Option<usize> {
    let modrm = *code.first()?;
    let (mode, base) = (modrm >> 6, modrm & 7);
    if mode == 3 {
        return Some(1);
    }
    let (bytes, base) = match base {
        4 => (2, *code.get(1)? & 7),
        _ => (1, base),
    };
    Some(
        bytes
            + match (mode, base) {
                (1, _) => 1,
                (2, _) | (0, 5) => 4,
                _ => 0,
            },
    )
}

fn one_byte(opcode: u8, modrm: u8, wide: bool, narrow: bool) -> Option<Tail> {
    let word = if narrow { 2 } else { 4 };
    let tests = modrm >> 3 & 6 == 0;
    let (modrm, immediate) = match opcode {
        0x00..=0x3f => match opcode & 7 {
            0..=3 => (true, 0),
            4 => (false, 1),
            5 => (false, word),
            _ => return None,
        },
        0x50..=0x5f | 0x90..=0x99 | 0xc3 | 0xcc => (false, 0),
        0x69 | 0x81 | 0xc7 => (true, word),
        0x6b | 0x80 | 0x83 | 0xc0 | 0xc1 | 0xc6 => (true, 1),
        0x63 | 0x84..=0x8b | 0x8d | 0x8f | 0xd0..=0xd3 | 0xfe | 0xff => (true, 0),
        0x68 | 0xa9 | 0xe8 | 0xe9 => (false, 4),
        0x6a | 0x70..=0x7f | 0xa8 | 0xb0..=0xb7 | 0xeb => (false, 1),
        0xb8..=0xbf if wide => (false, 8),
        0xb8..=0xbf => (false, word),
        0xf6 => (true, usize::from(tests)),
        0xf7 if tests => (true, word),
        0xf7 => (true, 0),
        _ => return None,
    };
    Some(Tail { modrm, immediate })
}

/// Opcodes behind 0f.
fn two_bytes(opcode: u8) -> Option<Tail> {
    let (modrm, immediate) = match opcode {
        0x05 | 0x0b | 0x31 | 0xa2 | 0xc8..=0xcf => (false, 0),
        0x80..=0x8f => (false, 4),
        0xa4 | 0xac => (true, 1),
        _ => return vector_tail(1, opcode),
    };
    Some(Tail { modrm, immediate })
}

/// Opcodes of the maps 0f, 0f38 and 0f3a, with or without VEX or EVEX.
fn vector_tail(map: u8, opcode: u8) -> Option<Tail> {
    let (modrm, immediate) = match (map, opcode) {
        (1, 0x77) => (false, 0),
        (1, 0x70..=0x73 | 0xba | 0xc2 | 0xc4..=0xc6) | (3, _) => (true, 1),
        (1 | 2, _) => (true, 0),
        _ => return None,
    };
    Some(Tail { modrm, immediate })
}
