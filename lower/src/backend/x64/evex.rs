//! EVEX encoding for AVX-512: vectors of up to 512 bits, 32 vector registers, masks in k registers,
//! broadcasts from memory, and embedded rounding.

use super::encode::{Code, Len, Map, Prefix, Rm, Row};

/// The size of a memory operand, which is the unit of short displacements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tuple {
    /// The whole vector, or a broadcast lane of this number of bytes.
    Full(u8),
    /// Half of the vector, or a broadcast lane of this number of bytes.
    Half(u8),
    /// The whole vector.
    FullMem,
    /// Half of it.
    HalfMem,
    /// A quarter of it.
    QuarterMem,
    /// This number of bytes at any length.
    Fixed(u8),
}

/// An EVEX instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evex {
    /// Prefix, map, W and opcode.
    pub row: Row,
    /// Its operand in memory.
    pub tuple: Tuple,
}

/// A row, its W bit 0.
pub const fn evex(prefix: Prefix, map: Map, opcode: u8, tuple: Tuple) -> Evex {
    let row = super::encode::row(prefix, map, opcode);
    Evex { row, tuple }
}

impl Evex {
    /// The row with W set.
    pub const fn w1(self) -> Evex {
        Evex {
            row: self.row.w1(),
            ..self
        }
    }

    /// The unit of short displacements in bytes.
    fn unit(self, len: Len, broadcast: bool) -> i32 {
        let whole = 16 << len as i32;
        match self.tuple {
            Tuple::Full(lane) | Tuple::Half(lane) if broadcast => lane.into(),
            Tuple::Full(_) | Tuple::FullMem => whole,
            Tuple::Half(_) | Tuple::HalfMem => whole / 2,
            Tuple::QuarterMem => whole / 4,
            Tuple::Fixed(bytes) => bytes.into(),
        }
    }
}

/// Embedded rounding; exceptions are suppressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the directions")]
pub enum Rounding {
    Nearest = 0,
    Down = 1,
    Up = 2,
    Zero = 3,
}

/// Modifiers of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct With {
    /// The k register of the write mask; 0: no mask.
    pub mask: u8,
    /// Other lanes are zeroed, otherwise kept.
    pub zero: bool,
    /// The memory operand is one lane, broadcast.
    pub broadcast: bool,
    /// With registers only; 512 bits or scalar floats.
    pub rounding: Option<Rounding>,
}

impl Code {
    /// An instruction in EVEX encoding: `reg` and `rm` as in the row, `vvvv` the further source (or
    /// 0).
    #[allow(clippy::too_many_arguments, reason = "what an instruction has")]
    pub fn evex(
        &mut self,
        evex: Evex,
        len: Len,
        with: With,
        reg: u8,
        vvvv: u8,
        rm: Rm,
        imm: &[u8],
    ) {
        let (x, b) = match rm {
            // The fifth bit of a register is encoded as that of an index.
            Rm::Reg(r) => (r >> 4 & 1, r >> 3 & 1),
            Rm::Mem(_) | Rm::Lanes(_) => super::encode::extensions(rm),
        };
        // The fifth bit of a vector index is encoded as that of a further source.
        let fifth = match rm {
            Rm::Lanes(mem) => mem.index.map_or(0, |(index, _)| index),
            _ => vvvv,
        };
        let row = evex.row;
        let not = |bit: u8, at: u32| (!bit & 1) << at;
        let first = not(reg >> 3, 7) | not(x, 6) | not(b, 5) | not(reg >> 4, 4) | row.map as u8;
        let second = u8::from(row.w) << 7 | (!vvvv & 15) << 3 | 4 | row.prefix as u8;
        let (short, set) = match with.rounding {
            Some(rounding) => (rounding as u8, true),
            None => (len as u8, with.broadcast),
        };
        let third = u8::from(with.zero) << 7
            | short << 5
            | u8::from(set) << 4
            | not(fifth >> 4, 3)
            | with.mask & 7;
        self.bytes.extend([0x62, first, second, third, row.opcode]);
        self.operands(reg, rm, evex.unit(len, with.broadcast), imm);
    }
}

macro_rules! rows {
    ($($name:ident = $row:expr;)*) => {
        $(#[allow(missing_docs, reason = "the mnemonic")] pub const $name: Evex = $row;)*

        /// All rows with their mnemonics.
        pub const ALL: &[(&str, Evex)] = &[$((stringify!($name), $name),)*];
    };
}

/// The instructions that are used.
pub mod rows {
    use super::super::encode::Map::{M0F, M0F3A, M0F38};
    use super::super::encode::Prefix::{None, P66, PF2, PF3};
    use super::Tuple::{Fixed, Full, FullMem, Half, HalfMem, QuarterMem};
    use super::{Evex, evex};

    const D: super::Tuple = Full(4);
    const Q: super::Tuple = Full(8);

    #[rustfmt::skip]
    rows! {
        // ---- integer
        VPADDD = evex(P66, M0F, 0xfe, D);        VPADDQ = evex(P66, M0F, 0xd4, Q).w1();
        VPSUBD = evex(P66, M0F, 0xfa, D);        VPSUBQ = evex(P66, M0F, 0xfb, Q).w1();
        VPMULLD = evex(P66, M0F38, 0x40, D);     VPMULLQ = evex(P66, M0F38, 0x40, Q).w1();
        VPMULUDQ = evex(P66, M0F, 0xf4, Q).w1(); VPMULDQ = evex(P66, M0F38, 0x28, Q).w1();
        VPADDB = evex(P66, M0F, 0xfc, FullMem);  VPSHUFB = evex(P66, M0F38, 0x00, FullMem);
        VPSADBW = evex(P66, M0F, 0xf6, FullMem);
        VPADDW = evex(P66, M0F, 0xfd, FullMem);  VPSUBW = evex(P66, M0F, 0xf9, FullMem);
        VPMULLW = evex(P66, M0F, 0xd5, FullMem);
        VPMINUW = evex(P66, M0F38, 0x3a, FullMem); VPMAXUW = evex(P66, M0F38, 0x3e, FullMem);
        VPMINSW = evex(P66, M0F, 0xea, FullMem); VPMAXSW = evex(P66, M0F, 0xee, FullMem);
        VPADDUSW = evex(P66, M0F, 0xdd, FullMem); VPADDSW = evex(P66, M0F, 0xed, FullMem);
        VPSUBUSW = evex(P66, M0F, 0xd9, FullMem); VPSUBSW = evex(P66, M0F, 0xe9, FullMem);
        VPANDD = evex(P66, M0F, 0xdb, D);        VPANDND = evex(P66, M0F, 0xdf, D);
        VPORD = evex(P66, M0F, 0xeb, D);         VPXORD = evex(P66, M0F, 0xef, D);
        VPTERNLOGD = evex(P66, M0F3A, 0x25, D);  VPTERNLOGQ = evex(P66, M0F3A, 0x25, Q).w1();
        VPMINUD = evex(P66, M0F38, 0x3b, D);     VPMAXUD = evex(P66, M0F38, 0x3f, D);
        VPMINUB = evex(P66, M0F, 0xda, FullMem);
        VPMINSD = evex(P66, M0F38, 0x39, D);     VPMAXSD = evex(P66, M0F38, 0x3d, D);
        VPSLLD = evex(P66, M0F, 0xf2, Fixed(16)); VPSRLD = evex(P66, M0F, 0xd2, Fixed(16));
        VPSRAD = evex(P66, M0F, 0xe2, Fixed(16)); VPSLLQ = evex(P66, M0F, 0xf3, Fixed(16)).w1();
        VPSRLQ = evex(P66, M0F, 0xd3, Fixed(16)).w1(); VPSRAQ = evex(P66, M0F, 0xe2, Fixed(16)).w1();
        VPSLLVD = evex(P66, M0F38, 0x47, D);     VPSRLVD = evex(P66, M0F38, 0x45, D);
        VPSRAVD = evex(P66, M0F38, 0x46, D);     VPSLLVQ = evex(P66, M0F38, 0x47, Q).w1();
        VPSRLVQ = evex(P66, M0F38, 0x45, Q).w1(); VPSRAVQ = evex(P66, M0F38, 0x46, Q).w1();
        VPROLVD = evex(P66, M0F38, 0x15, D);     VPRORVD = evex(P66, M0F38, 0x14, D);
        // by a constant, with a digit
        VPSHIFTD_I = evex(P66, M0F, 0x72, D);    VPSHIFTQ_I = evex(P66, M0F, 0x73, Q).w1();
        VPSRAQ_I = evex(P66, M0F, 0x72, Q).w1(); VPSHIFTW_I = evex(P66, M0F, 0x71, FullMem);
        // ---- comparisons, into a k register
        VPCMPD = evex(P66, M0F3A, 0x1f, D);      VPCMPUD = evex(P66, M0F3A, 0x1e, D);
        VPCMPQ = evex(P66, M0F3A, 0x1f, Q).w1(); VPCMPUQ = evex(P66, M0F3A, 0x1e, Q).w1();
        VPTESTMD = evex(P66, M0F38, 0x27, D);    VPTESTNMD = evex(PF3, M0F38, 0x27, D);
        VCMPPS = evex(None, M0F, 0xc2, D);       VCMPPD = evex(P66, M0F, 0xc2, Q).w1();
        VCMPSS = evex(PF3, M0F, 0xc2, Fixed(4)); VCMPSD = evex(PF2, M0F, 0xc2, Fixed(8)).w1();
        VPMOVD2M = evex(PF3, M0F38, 0x39, FullMem); VPMOVQ2M = evex(PF3, M0F38, 0x39, FullMem).w1();
        VPMOVM2D = evex(PF3, M0F38, 0x38, FullMem); VPMOVM2Q = evex(PF3, M0F38, 0x38, FullMem).w1();
        // ---- float: scalar rows are those of vectors with another prefix
        VADDPS = evex(None, M0F, 0x58, D);       VMULPS = evex(None, M0F, 0x59, D);
        VSUBPS = evex(None, M0F, 0x5c, D);       VDIVPS = evex(None, M0F, 0x5e, D);
        VMAXPS = evex(None, M0F, 0x5f, D);       VSQRTPS = evex(None, M0F, 0x51, D);
        VMINPS = evex(None, M0F, 0x5d, D);       VSCALEFPS = evex(P66, M0F38, 0x2c, D);
        VSCALEFPD = evex(P66, M0F38, 0x2c, Q).w1();
        VMAXSD = evex(PF2, M0F, 0x5f, Fixed(8)).w1(); VMINSD = evex(PF2, M0F, 0x5d, Fixed(8)).w1();
        VGETMANTPS = evex(P66, M0F3A, 0x26, D);  VGETEXPPS = evex(P66, M0F38, 0x42, D);
        VRSQRT14PD = evex(P66, M0F38, 0x4e, Q).w1();
        VRSQRT14PS = evex(P66, M0F38, 0x4e, D);  VREDUCEPS = evex(P66, M0F3A, 0x56, D);
        VFIXUPIMMPS = evex(P66, M0F3A, 0x54, D); VFPCLASSPS = evex(P66, M0F3A, 0x66, D);
        VADDPD = evex(P66, M0F, 0x58, Q).w1();   VMULPD = evex(P66, M0F, 0x59, Q).w1();
        VSUBPD = evex(P66, M0F, 0x5c, Q).w1();   VDIVPD = evex(P66, M0F, 0x5e, Q).w1();
        VSQRTPD = evex(P66, M0F, 0x51, Q).w1();
        VADDSS = evex(PF3, M0F, 0x58, Fixed(4)); VMULSS = evex(PF3, M0F, 0x59, Fixed(4));
        VSUBSS = evex(PF3, M0F, 0x5c, Fixed(4)); VDIVSS = evex(PF3, M0F, 0x5e, Fixed(4));
        VSQRTSS = evex(PF3, M0F, 0x51, Fixed(4));
        VADDSD = evex(PF2, M0F, 0x58, Fixed(8)).w1(); VMULSD = evex(PF2, M0F, 0x59, Fixed(8)).w1();
        VSUBSD = evex(PF2, M0F, 0x5c, Fixed(8)).w1(); VDIVSD = evex(PF2, M0F, 0x5e, Fixed(8)).w1();
        VSQRTSD = evex(PF2, M0F, 0x51, Fixed(8)).w1();
        VFMADD231PS = evex(P66, M0F38, 0xb8, D); VFMADD231PD = evex(P66, M0F38, 0xb8, Q).w1();
        VFMADD213PS = evex(P66, M0F38, 0xa8, D); VFMADD213PD = evex(P66, M0F38, 0xa8, Q).w1();
        VFMSUB213PS = evex(P66, M0F38, 0xaa, D); VFMSUB213PD = evex(P66, M0F38, 0xaa, Q).w1();
        VFMSUB231PS = evex(P66, M0F38, 0xba, D); VFMSUB231PD = evex(P66, M0F38, 0xba, Q).w1();
        VFNMADD213PS = evex(P66, M0F38, 0xac, D); VFNMADD213PD = evex(P66, M0F38, 0xac, Q).w1();
        VFNMADD231PS = evex(P66, M0F38, 0xbc, D); VFNMADD231PD = evex(P66, M0F38, 0xbc, Q).w1();
        VFNMSUB213PS = evex(P66, M0F38, 0xae, D); VFNMSUB213PD = evex(P66, M0F38, 0xae, Q).w1();
        VFNMSUB231PS = evex(P66, M0F38, 0xbe, D); VFNMSUB231PD = evex(P66, M0F38, 0xbe, Q).w1();
        VFMADD231SS = evex(P66, M0F38, 0xb9, Fixed(4));
        VFMADD231SD = evex(P66, M0F38, 0xb9, Fixed(8)).w1();
        VRNDSCALEPS = evex(P66, M0F3A, 0x08, D); VRNDSCALEPD = evex(P66, M0F3A, 0x09, Q).w1();
        VRNDSCALESS = evex(P66, M0F3A, 0x0a, Fixed(4));
        VRNDSCALESD = evex(P66, M0F3A, 0x0b, Fixed(8)).w1();
        VCVTDQ2PS = evex(None, M0F, 0x5b, D);    VCVTTPS2DQ = evex(PF3, M0F, 0x5b, D);
        VCVTUDQ2PS = evex(PF2, M0F, 0x7a, D);    VCVTTPS2UDQ = evex(None, M0F, 0x78, D);
        VCVTDQ2PD = evex(PF3, M0F, 0xe6, Half(4)); VCVTPS2PD = evex(None, M0F, 0x5a, Half(4));
        VCVTUDQ2PD = evex(PF3, M0F, 0x7a, Half(4));
        VCVTPD2PS = evex(P66, M0F, 0x5a, Q).w1(); VCVTSS2SD = evex(PF3, M0F, 0x5a, Fixed(4));
        VCVTSD2SS = evex(PF2, M0F, 0x5a, Fixed(8)).w1();
        VCVTTSD2SI = evex(PF2, M0F, 0x2c, Fixed(8));
        VCVTSI2SS = evex(PF3, M0F, 0x2a, Fixed(4)); VCVTSI2SD = evex(PF2, M0F, 0x2a, Fixed(4));
        VCVTPH2PS = evex(P66, M0F38, 0x13, HalfMem); VCVTPS2PH = evex(P66, M0F3A, 0x1d, HalfMem);
        // ---- moves and shuffles
        VMOVUPS_LOAD = evex(None, M0F, 0x10, FullMem); VMOVUPS_STORE = evex(None, M0F, 0x11, FullMem);
        VMOVAPS = evex(None, M0F, 0x28, FullMem); VMOVDQA32 = evex(P66, M0F, 0x6f, FullMem);
        VMOVDQU32_STORE = evex(PF3, M0F, 0x7f, FullMem); VMOVDQU32_LOAD = evex(PF3, M0F, 0x6f, FullMem);
        VMOVSS_LOAD = evex(PF3, M0F, 0x10, Fixed(4)); VMOVSD_LOAD = evex(PF2, M0F, 0x10, Fixed(8)).w1();
        VMOVSS_STORE = evex(PF3, M0F, 0x11, Fixed(4));
        VMOVSD_STORE = evex(PF2, M0F, 0x11, Fixed(8)).w1();
        VMOVD_TO = evex(P66, M0F, 0x6e, Fixed(4)); VMOVD_FROM = evex(P66, M0F, 0x7e, Fixed(4));
        VMOVQ_TO = evex(P66, M0F, 0x6e, Fixed(8)).w1(); VMOVQ_FROM = evex(P66, M0F, 0x7e, Fixed(8)).w1();
        VPBROADCASTD = evex(P66, M0F38, 0x58, Fixed(4)); VPBROADCASTQ = evex(P66, M0F38, 0x59, Fixed(8)).w1();
        // from a general register: one instruction, its W bit the width
        VPBROADCASTD_R = evex(P66, M0F38, 0x7c, FullMem); VPBROADCASTQ_R = evex(P66, M0F38, 0x7c, FullMem).w1();
        VPUNPCKLDQ = evex(P66, M0F, 0x62, D);    VPUNPCKHDQ = evex(P66, M0F, 0x6a, D);
        VPUNPCKLQDQ = evex(P66, M0F, 0x6c, Q).w1(); VPUNPCKHQDQ = evex(P66, M0F, 0x6d, Q).w1();
        VSHUFPS = evex(None, M0F, 0xc6, D);      VPSHUFD = evex(P66, M0F, 0x70, D);
        VPERMQ = evex(P66, M0F3A, 0x00, Q).w1(); VPERMQ_V = evex(P66, M0F38, 0x36, Q).w1();
        VPERMD = evex(P66, M0F38, 0x36, D);      VPERMT2D = evex(P66, M0F38, 0x7e, D);
        VSHUFI64X2 = evex(P66, M0F3A, 0x43, Q).w1();
        VPBLENDMD = evex(P66, M0F38, 0x64, D);   VPBLENDMQ = evex(P66, M0F38, 0x64, Q).w1();
        VPINSRD = evex(P66, M0F3A, 0x22, Fixed(4)); VPEXTRD = evex(P66, M0F3A, 0x16, Fixed(4));
        VPINSRQ = evex(P66, M0F3A, 0x22, Fixed(8)).w1(); VPEXTRQ = evex(P66, M0F3A, 0x16, Fixed(8)).w1();
        VINSERTI32X4 = evex(P66, M0F3A, 0x38, Fixed(16)); VEXTRACTI32X4 = evex(P66, M0F3A, 0x39, Fixed(16));
        VINSERTI64X4 = evex(P66, M0F3A, 0x3a, Fixed(32)).w1();
        VEXTRACTI64X4 = evex(P66, M0F3A, 0x3b, Fixed(32)).w1();
        VPMOVSXBD = evex(P66, M0F38, 0x21, QuarterMem); VPMOVZXBD = evex(P66, M0F38, 0x31, QuarterMem);
        VPMOVSXBW = evex(P66, M0F38, 0x20, HalfMem); VPMOVZXBW = evex(P66, M0F38, 0x30, HalfMem);
        VPMOVSXWD = evex(P66, M0F38, 0x23, HalfMem); VPMOVZXWD = evex(P66, M0F38, 0x33, HalfMem);
        // gather and scatter; they clear their mask
        VPGATHERDD = evex(P66, M0F38, 0x90, Fixed(4)); VPSCATTERDD = evex(P66, M0F38, 0xa0, Fixed(4));
        VPMOVDW = evex(PF3, M0F38, 0x33, HalfMem); VPMOVDB = evex(PF3, M0F38, 0x31, QuarterMem);
    }
}
