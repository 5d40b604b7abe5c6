//! Decoding of the memory encodings: what the fields become, what is an error, and that no word
//! makes the decoder or the printer panic.

use frontend::isa::{ds, flat, mimg, mtbuf, mubuf, smem};
use frontend::op::{Data, ImageOp};
use frontend::{DecodeError, Effects, Encoding, Gfx, Inst, Op, Operand, decode};

/// A small generator of random words (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }

    /// A word with all, half or a quarter of its bits random, so that flags are often alone.
    fn sparse(&mut self) -> u32 {
        match self.next() % 3 {
            0 => self.next(),
            1 => self.next() & self.next(),
            _ => self.next() & self.next() & self.next(),
        }
    }
}

/// The leading six bits of the memory encodings.
const PREFIXES: [u32; 9] = [
    0b11_0000, 0b11_0001, 0b11_0110, 0b11_0111, 0b11_1000, 0b11_1010, 0b11_1100, 0b11_1110,
    0b11_0000,
];

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn one(gfx: Gfx, words: &[u32]) -> Inst {
    decode(gfx, &bytes(words)).unwrap_or_else(|e| panic!("{words:08x?} on {gfx}: {e}"))
}

fn is_memory(inst: &Inst) -> bool {
    matches!(
        inst.desc.encoding,
        Encoding::Smem
            | Encoding::Ds
            | Encoding::Flat
            | Encoding::Global
            | Encoding::Scratch
            | Encoding::Mubuf
            | Encoding::Mtbuf
            | Encoding::Mimg
            | Encoding::Exp
    )
}

#[test]
fn random_words_never_panic() {
    let mut random = Random(0x77_61_76_65);
    let mut decoded = 0;
    for _ in 0..60_000 {
        for prefix in PREFIXES {
            let first = random.sparse() & 0x03ff_ffff | prefix << 26;
            let code = bytes(&[first, random.sparse()]);
            for gfx in Gfx::ALL {
                match decode(gfx, &code) {
                    Ok(inst) => {
                        assert!(usize::from(inst.len) <= code.len());
                        let text = inst.text(gfx);
                        let name = inst.desc.name_on(gfx);
                        assert!(text.starts_with(name), "{text} is not {name}");
                        decoded += usize::from(is_memory(&inst));
                    }
                    Err(e) => assert!(!e.to_string().is_empty()),
                }
            }
        }
    }
    assert!(decoded > 500_000, "only {decoded} instructions decoded");
}

#[test]
fn truncated_instructions_are_errors() {
    let mut random = Random(0x6c_69_66_74);
    for _ in 0..20_000 {
        for prefix in PREFIXES {
            let first = random.sparse() & 0x03ff_ffff | prefix << 26;
            let code = bytes(&[first, random.sparse()]);
            for gfx in Gfx::ALL {
                let Ok(inst) = decode(gfx, &code) else {
                    continue;
                };
                let len = usize::from(inst.len);
                for have in 0..len {
                    let need = if have < 4 { 4 } else { len };
                    assert_eq!(
                        decode(gfx, &code[..have]),
                        Err(DecodeError::Truncated { have, need }),
                        "{} cut to {have} bytes on {gfx}",
                        inst.text(gfx)
                    );
                }
            }
        }
    }
}

/// Registers of every operand lie in their file, so that engines may index without a check. Images
/// are apart: the number of their registers depends on more than the row.
#[test]
fn register_groups_lie_in_their_file() {
    let mut random = Random(0x6c_61_6e_65);
    for _ in 0..30_000 {
        for prefix in PREFIXES {
            let first = random.sparse() & 0x03ff_ffff | prefix << 26;
            let code = bytes(&[first, random.next()]);
            for gfx in Gfx::ALL {
                let Ok(inst) = decode(gfx, &code) else {
                    continue;
                };
                if !is_memory(&inst) || inst.desc.encoding == Encoding::Mimg {
                    continue;
                }
                let tfe = u32::from(inst.mem.tfe);
                let dst = inst.dst.iter().zip(inst.desc.dst).map(|x| (x, tfe));
                let src = inst.src.iter().zip(inst.desc.src).map(|x| (x, 0));
                for ((operand, ty), extra) in dst.chain(src) {
                    // The address of GLOBAL and MUBUF may be narrower than its type.
                    let regs = match operand {
                        Operand::Vgpr(_) if std::ptr::eq(operand, &inst.src[0]) => 1,
                        _ => ty.regs() + extra,
                    };
                    match *operand {
                        Operand::Vgpr(n) | Operand::Agpr(n) => {
                            assert!(u32::from(n) + regs <= 256, "{}", inst.text(gfx));
                        }
                        Operand::Sgpr(n) => {
                            assert!(u32::from(n) + regs <= 128, "{}", inst.text(gfx));
                            if regs > 1 {
                                assert_eq!(n & 1, 0, "{}", inst.text(gfx));
                            }
                        }
                        _ => {}
                    }
                }
            }
        }
    }
}

#[test]
fn scalar_offsets_are_in_bytes() {
    let offset = |gfx, words: &[u32]| {
        let inst = one(gfx, words);
        assert!(inst.mem.has_imm);
        assert_eq!(usize::from(inst.len), 4 * words.len());
        (inst.mem.offset, inst.src[1])
    };
    // SMRD: dwords, with a literal on gfx7 up to 34 bits.
    assert_eq!(offset(Gfx::Gfx600, &[0xc000_01ff]), (0x3fc, Operand::None));
    assert_eq!(
        offset(Gfx::Gfx700, &[0xc000_00ff, 0xffff_ffff]),
        (0x3_ffff_fffc, Operand::None)
    );
    // SMEM: 20 unsigned bits, then 21 signed ones, then both offsets.
    let code = [0xc002_0000, 0x001f_ffff];
    assert_eq!(offset(Gfx::Gfx803, &code), (0xf_ffff, Operand::None));
    assert_eq!(offset(Gfx::Gfx900, &code), (-1, Operand::None));
    let both = [0xc002_4000, 0x1200_0008];
    assert_eq!(offset(Gfx::Gfx900, &both), (8, Operand::Sgpr(9)));
    assert_eq!(offset(Gfx::Gfx803, &both), (8, Operand::None));
    // A register only, in either place.
    for words in [[0xc000_0000, 0x0000_0005], [0xc000_4000, 0x0a00_0000]] {
        let inst = one(Gfx::Gfx900, &words);
        assert!(!inst.mem.has_imm);
        assert_eq!(inst.src[1], Operand::Sgpr(5));
    }
}

#[test]
fn scalar_atomics_return_only_with_glc() {
    let quiet = one(Gfx::Gfx900, &[0xc206_0140, 0]);
    assert_eq!(
        quiet.text(Gfx::Gfx900),
        "s_atomic_cmpswap s[4:5], s[0:1], 0x0"
    );
    assert_eq!(
        (quiet.dst[0], quiet.src[2]),
        (Operand::None, Operand::Sgpr(4))
    );
    let glc = one(Gfx::Gfx900, &[0xc207_0140, 0]);
    assert_eq!(
        (glc.dst[0], glc.src[2]),
        (Operand::Sgpr(4), Operand::Sgpr(4))
    );
}

#[test]
fn scalar_loads_have_no_special_destination() {
    // M0, the unassigned code, EXEC, and eight registers past the last TTMP of gfx8.
    for sdata in [124, 125, 126, 127] {
        let words = [0xc002_0000 | sdata << 6, 0];
        assert!(matches!(
            decode(Gfx::Gfx900, &bytes(&words)),
            Err(DecodeError::ReservedOperand { what: "SDATA", code, .. }) if u32::from(code) == sdata
        ));
    }
    let words = bytes(&[0xc00e_0000 | 120 << 6, 0]);
    assert!(decode(Gfx::Gfx803, &words).is_err());
    assert!(decode(Gfx::Gfx900, &words).is_err());
}

#[test]
fn data_share_fields() {
    let two = one(Gfx::Gfx900, &[0xd86e_0201, 0x0400_0001]);
    assert_eq!(
        two.text(Gfx::Gfx900),
        "ds_read2_b32 v[4:5], v1 offset0:1 offset1:2"
    );
    assert_eq!((two.mem.offset, two.mem.offset1), (1, 2));
    let wide = one(Gfx::Gfx900, &[0xd86c_0201, 0x0400_0001]);
    assert_eq!(wide.mem.offset, 0x201);
    // GDS is bit 17 on gfx6/7, bit 16 from gfx8 on, and gone on gfx90a.
    assert!(one(Gfx::Gfx700, &[0xd8da_0000, 0]).mem.gds);
    assert!(one(Gfx::Gfx900, &[0xd86d_0000, 0]).mem.gds);
    assert!(!one(Gfx::Gfx90a, &[0xd86d_0000, 0]).mem.gds);
    // gfx90a's bit 25 moves data, never the address, to accumulation registers.
    let acc = one(Gfx::Gfx90a, &[0xda40_0000, 0x0403_0201]);
    assert_eq!(acc.text(Gfx::Gfx90a), "ds_add_rtn_u32 a4, v1, a2");
}

#[test]
fn flat_offsets_by_target_and_segment() {
    let offset = |gfx, words: [u32; 2]| {
        let inst = one(gfx, &words);
        (inst.mem.offset, inst.mem.flat_offset_field)
    };
    // FLAT: none on gfx8, 12 bits on gfx9; the text has the field.
    assert_eq!(offset(Gfx::Gfx803, [0xdc50_1005, 1]), (0, 0x1005));
    assert_eq!(offset(Gfx::Gfx900, [0xdc50_1005, 1]), (5, 0x1005));
    // GLOBAL and SCRATCH: 13 bits, signed.
    assert_eq!(offset(Gfx::Gfx900, [0xdc50_9fff, 0x007f_0001]).0, -1);
    assert_eq!(offset(Gfx::Gfx900, [0xdc50_5000, 0x007f_0001]).0, -4096);
}

#[test]
fn flat_addresses() {
    let gfx = Gfx::Gfx900;
    let pair = one(gfx, &[0xdc50_8000, 0x047f_0002]);
    assert_eq!(pair.text(gfx), "global_load_dword v4, v[2:3], off");
    assert_eq!(
        (pair.src[0], pair.src[2]),
        (Operand::Vgpr(2), Operand::None)
    );
    let saddr = one(gfx, &[0xdc50_8000, 0x0404_0002]);
    assert_eq!(saddr.text(gfx), "global_load_dword v4, v2, s[4:5]");
    assert_eq!(
        (saddr.src[0], saddr.src[2]),
        (Operand::Vgpr(2), Operand::Sgpr(4))
    );
    let scratch = one(gfx, &[0xdc50_4000, 0x0404_0002]);
    assert_eq!(scratch.text(gfx), "scratch_load_dword v4, off, s4");
    assert_eq!(
        (scratch.src[0], scratch.src[2]),
        (Operand::None, Operand::Sgpr(4))
    );
    // Returning is GLC; loads to LDS have no destination.
    let atomic = [0xdd08_8000, 0x047f_0502];
    assert_eq!(one(gfx, &atomic).dst[0], Operand::None);
    assert_eq!(
        one(gfx, &[atomic[0] | 1 << 16, atomic[1]]).dst[0],
        Operand::Vgpr(4)
    );
    let lds = one(gfx, &[0xdc50_a000, 0x047f_0002]);
    assert!(lds.mem.lds);
    assert_eq!(lds.dst[0], Operand::None);
    // LDS where no such instruction exists.
    for word in [0xdc54_a000, 0xdc70_a000, 0xdc50_2000] {
        assert!(matches!(
            decode(gfx, &bytes(&[word, 0x0400_0002])),
            Err(DecodeError::ReservedField { field: "lds", .. })
        ));
    }
}

#[test]
fn buffer_addresses_and_data() {
    let gfx = Gfx::Gfx700;
    let addr64 = one(gfx, &[0xe030_8004, 0x8082_0302]);
    assert_eq!(
        addr64.text(gfx),
        "buffer_load_dword v[3:4], v[2:3], s[8:11], 0 addr64 offset:4 tfe"
    );
    assert!(addr64.mem.tfe && addr64.mem.addr64);
    assert!(decode(gfx, &bytes(&[0xe030_9004, 0x8002_0302])).is_err());
    // A returning atomic has its data as source and destination.
    let atomic = one(Gfx::Gfx900, &[0xe104_4000, 0x8002_0302]);
    assert_eq!(
        atomic.text(Gfx::Gfx900),
        "buffer_atomic_cmpswap v[3:4], off, s[8:11], 0 glc"
    );
    assert_eq!(
        (atomic.dst[0], atomic.src[3]),
        (Operand::Vgpr(3), Operand::Vgpr(3))
    );
    // Halves are packed from gfx9 on: the row's type says how many registers there are.
    for (gfx, text) in [
        (
            Gfx::Gfx803,
            "buffer_load_format_d16_xyzw v[3:6], off, s[8:11], 0",
        ),
        (
            Gfx::Gfx900,
            "buffer_load_format_d16_xyzw v[3:4], off, s[8:11], 0",
        ),
    ] {
        let inst = one(gfx, &[0xe02c_0000, 0x8002_0302]);
        assert_eq!(inst.text(gfx), text);
        assert_eq!(
            inst.op(),
            Op::Load(frontend::op::Space::Buffer, Data::FormatD16(4))
        );
    }
    // The offset may be a constant, not a literal.
    let words = bytes(&[0xe050_0000, 0xff02_0302]);
    assert!(matches!(
        decode(Gfx::Gfx900, &words),
        Err(DecodeError::LiteralNotAllowed { .. })
    ));
    // A group of registers that does not end at v255.
    let words = bytes(&[0xe05c_0000, 0x8002_fd02]);
    assert!(matches!(
        decode(Gfx::Gfx900, &words),
        Err(DecodeError::ReservedOperand {
            code: 253,
            what: "VDATA",
            ..
        })
    ));
}

#[test]
fn typed_buffer_formats() {
    for (gfx, word, text) in [
        (
            Gfx::Gfx900,
            0xe808_0000,
            "tbuffer_load_format_x v3, off, s[8:11], 0",
        ),
        (
            Gfx::Gfx900,
            0xeb20_0000,
            "tbuffer_load_format_x v3, off, s[8:11], 0 format:[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_RESERVED_6]",
        ),
        (
            Gfx::Gfx600,
            0xeb20_0000,
            "tbuffer_load_format_x v3, off, s[8:11], 0 format:[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_SNORM_OGL]",
        ),
        (
            Gfx::Gfx900,
            0xe800_0000,
            "tbuffer_load_format_x v3, off, s[8:11], 0 format:[BUF_DATA_FORMAT_INVALID]",
        ),
    ] {
        assert_eq!(one(gfx, &[word, 0x8002_0302]).text(gfx), text);
    }
}

#[test]
fn image_fields() {
    let gfx = Gfx::Gfx900;
    let load = one(gfx, &[0xf001_0700, 0x8001_0201]);
    assert_eq!(
        load.text(gfx),
        "image_load v[2:4], v1, s[4:11] dmask:0x7 tfe d16"
    );
    assert_eq!(
        (load.mem.dmask, load.mem.d16, load.mem.tfe),
        (7, true, true)
    );
    let sample = one(gfx, &[0xf0bc_0f00, 0x0041_0201]);
    assert_eq!(
        sample.text(gfx),
        "image_sample_c_lz v[2:5], v[1:2], s[4:11], s[8:11] dmask:0xf"
    );
    assert!(matches!(sample.op(), Op::Image(ImageOp::Sample(m)) if m.compare && m.lz));
    // A group past v255 keeps its first register only in the text.
    let last = one(gfx, &[0xf000_0f00, 0x0001_fd01]);
    assert_eq!(last.text(gfx), "image_load v253, v1, s[4:11] dmask:0xf");
    // Bit 15 is R128 before gfx9 and A16 there.
    assert!(one(Gfx::Gfx803, &[0xf000_8f00, 0x0001_0201]).mem.r128);
    assert!(one(gfx, &[0xf000_8f00, 0x0001_0201]).mem.a16);
}

#[test]
fn exports() {
    let gfx = Gfx::Gfx900;
    let compressed = one(gfx, &[0xc400_1c0f, 0x0000_0402]);
    assert_eq!(
        compressed.text(gfx),
        "exp mrt0 v2, v2, v4, v4 done compr vm"
    );
    let partial = one(gfx, &[0xc400_0205, 0x0403_0201]);
    assert_eq!(partial.text(gfx), "exp param0 v1, off, v3, off");
    let words = bytes(&[0xc400_00af, 0]);
    assert!(matches!(
        decode(gfx, &words),
        Err(DecodeError::ReservedField {
            field: "tgt",
            value: 10,
            ..
        })
    ));
    assert!(matches!(
        decode(Gfx::Gfx90a, &bytes(&[0xc400_000f, 0])),
        Err(DecodeError::UnknownOpcode { .. })
    ));
}

/// Words that LLVM's disassembler prints and this decoder refuses, with the reason. (What a word
/// with bits in unused fields prints is the other way round: LLVM refuses many, hardware does not
/// look at them.)
const REFUSED: [(Gfx, [u32; 2], &str, &str); 5] = [
    (
        Gfx::Gfx803,
        [0xc00e_1e02, 0x8458_ae58],
        "s_load_dwordx8 ttmp[8:15], s[4:5], 0x8ae58",
        "gfx8 has twelve TTMP registers; the group would overwrite M0 and EXEC",
    ),
    (
        Gfx::Gfx803,
        [0xc032_bc13, 0x2101_2800],
        "s_buffer_load_dwordx16 ttmp[0:15], s[36:39], 0x12800",
        "gfx8 has twelve TTMP registers",
    ),
    (
        Gfx::Gfx900,
        [0xc002_1f40, 0x0000_0005],
        "s_load_dword null, s[0:1], 0x5",
        "code 125 is no register before gfx10: data would be lost",
    ),
    (
        Gfx::Gfx90a,
        [0xc197_7f72, 0x2000_0001],
        "s_buffer_atomic_umin_x2 null, s[100:103], s16 offset:0x1 glc",
        "code 125 is no register before gfx10, and no pair",
    ),
    (
        Gfx::Gfx803,
        [0xe068_42a4, 0xee0e_28c4],
        "buffer_store_short v40, off, s[56:59], src_private_limit offset:676 glc",
        "the aperture registers came with gfx9",
    ),
];

#[test]
fn refused_although_llvm_prints_them() {
    for (gfx, words, text, reason) in REFUSED {
        assert!(decode(gfx, &bytes(&words)).is_err(), "{text}: {reason}");
    }
}

/// Partial writes of a register read it; what asks other lanes says so.
#[test]
fn effects_of_the_rows() {
    let rows = [
        ds::ROWS,
        flat::ROWS,
        flat::GLOBAL,
        flat::SCRATCH,
        mubuf::ROWS,
        mtbuf::ROWS,
    ];
    for row in rows.into_iter().flatten() {
        let partial = matches!(
            row.op,
            Op::Load(
                _,
                Data::D16
                    | Data::D16Hi
                    | Data::D16U8
                    | Data::D16I8
                    | Data::D16HiU8
                    | Data::D16HiI8
                    | Data::FormatD16Hi
            )
        );
        assert_eq!(row.effects.has(Effects::READS_D), partial, "{}", row.name);
        let lanes = ["ds_swizzle_b32", "ds_permute_b32", "ds_bpermute_b32"].contains(&row.name);
        assert_eq!(row.effects.has(Effects::CROSS_LANE), lanes, "{}", row.name);
    }
    for row in smem::ROWS.iter().chain(mimg::ROWS) {
        assert_eq!(row.effects, Effects::NONE, "{}", row.name);
    }
}
