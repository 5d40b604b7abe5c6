//! Decoding is total: any byte string gives an instruction that lies within it, or an error; and
//! what an instruction names exists.

use frontend::desc::Encoding;
use frontend::{DecodeError, Gfx, Inst, Operand, decode};

/// A small generator of random words (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) as u32
    }
}

/// Leading bits of every format: value and number of bits.
const FORMATS: [(u32, u32); 16] = [
    (0b0, 1),
    (0b011_1110, 7),
    (0b011_1111, 7),
    (0b10, 2),
    (0b1011, 4),
    (0b1_0111_1101, 9),
    (0b1_0111_1110, 9),
    (0b1_0111_1111, 9),
    (0b11_0010, 6),
    (0b11_0100, 6),
    (0b1_1010_0111, 9),
    (0b11_0101, 6),
    (0b110, 3),
    (0b111, 3),
    (0b11_0000, 6),
    (0b11_0111, 6),
];

/// A random instruction of a format, with the source codes that mean a second dword often.
fn words(random: &mut Random, (value, bits): (u32, u32)) -> [u32; 3] {
    let mut first = random.next() >> bits | value << (32 - bits);
    match random.next() % 8 {
        0 => first = first & !0x1ff | 249,
        1 => first = first & !0x1ff | 250,
        2 => first |= 0xff,
        _ => {}
    }
    // The leading bits again, where the source code ran into them.
    let first = first & (u32::MAX >> bits) | value << (32 - bits);
    [first, random.next() & random.next(), random.next()]
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn random_words_never_panic() {
    let mut random = Random(1);
    let mut decoded = 0;
    for _ in 0..40_000 {
        for format in FORMATS {
            let code = bytes(&words(&mut random, format));
            for gfx in Gfx::ALL {
                match decode(gfx, &code) {
                    Ok(inst) => {
                        decoded += 1;
                        assert!(matches!(inst.len, 4 | 8 | 12), "{inst:?}");
                        let text = inst.text(gfx);
                        assert!(text.starts_with(inst.desc.name_on(gfx)), "{text}");
                    }
                    Err(DecodeError::Truncated { .. }) => panic!("{code:02x?} is long enough"),
                    Err(e) => assert!(!e.to_string().is_empty()),
                }
            }
        }
    }
    assert!(decoded > 1_000_000, "only {decoded} words decoded");
}

#[test]
fn cut_instructions_say_what_they_need() {
    let mut random = Random(2);
    for _ in 0..4_000 {
        for format in FORMATS {
            let code = bytes(&words(&mut random, format));
            for gfx in Gfx::ALL {
                let Ok(whole) = decode(gfx, &code) else {
                    for have in 0..code.len() {
                        assert!(decode(gfx, &code[..have]).is_err());
                    }
                    continue;
                };
                for have in 0..code.len() {
                    match decode(gfx, &code[..have]) {
                        Ok(inst) => assert_eq!(inst, whole),
                        Err(DecodeError::Truncated { have: h, need }) => {
                            assert_eq!(h, have);
                            assert!(need > have && need <= usize::from(whole.len));
                        }
                        Err(e) => panic!("{} cut to {have} bytes: {e}", whole.text(gfx)),
                    }
                }
            }
        }
    }
}

/// Does every register of `operand` exist?
fn exists(operand: Operand, regs: u32) -> bool {
    let regs = regs.max(1);
    match operand {
        Operand::Vgpr(first) | Operand::Agpr(first) => u32::from(first) + regs <= 256,
        Operand::Sgpr(first) => u32::from(first) + regs <= 128 && (regs < 2 || first % 2 == 0),
        _ => true,
    }
}

#[test]
fn registers_exist() {
    let alu = |inst: &Inst| {
        matches!(
            inst.desc.encoding,
            Encoding::Sop1
                | Encoding::Sop2
                | Encoding::Sopk
                | Encoding::Sopc
                | Encoding::Vop1
                | Encoding::Vop2
                | Encoding::Vopc
                | Encoding::Vop3
                | Encoding::Vop3p
                | Encoding::Vintrp
        )
    };
    let mut random = Random(3);
    for _ in 0..20_000 {
        for format in FORMATS {
            let code = bytes(&words(&mut random, format));
            for gfx in Gfx::ALL {
                let Ok(inst) = decode(gfx, &code) else {
                    continue;
                };
                if !alu(&inst) {
                    continue;
                }
                let text = inst.text(gfx);
                for (i, ty) in inst.desc.dst.iter().enumerate() {
                    assert!(exists(inst.dst[i], ty.regs()), "{text}");
                    assert!(
                        matches!(
                            inst.dst[i],
                            Operand::Sgpr(_) | Operand::Vgpr(_) | Operand::Agpr(_)
                        ),
                        "{text}: destination {i} is {:?}",
                        inst.dst[i]
                    );
                }
                for (i, ty) in inst.desc.src.iter().enumerate() {
                    assert!(exists(inst.src[i], ty.regs()), "{text}");
                    assert_ne!(inst.src[i], Operand::None, "{text}: source {i}");
                }
                for rest in &inst.src[inst.desc.src.len()..] {
                    assert_eq!(*rest, Operand::None, "{text}");
                }
            }
        }
    }
}
