//! The instructions of the wide back end.

use super::encode::Map::{M0F, M0F3A, M0F38, One};
use super::encode::Prefix::{None, P66, PF2, PF3};
use super::encode::{Row, row};

macro_rules! rows {
    ($($name:ident = $row:expr;)*) => {
        $(#[allow(missing_docs, reason = "the mnemonic")] pub const $name: Row = $row;)*

        /// All rows with their mnemonics.
        pub const ALL: &[(&str, Row)] = &[$((stringify!($name), $name),)*];
    };
}

/// Vector instructions and the scalar ones with VEX encoding.
pub mod vex {
    use super::*;
    #[rustfmt::skip]
    rows! {
        // ---- integer
        VPADDD = row(P66, M0F, 0xfe);        VPADDQ = row(P66, M0F, 0xd4);
        VPSUBD = row(P66, M0F, 0xfa);        VPSUBQ = row(P66, M0F, 0xfb);
        VPMULLD = row(P66, M0F38, 0x40);     VPMULUDQ = row(P66, M0F, 0xf4);
        VPMULDQ = row(P66, M0F38, 0x28);     VPSADBW = row(P66, M0F, 0xf6);
        VPADDB = row(P66, M0F, 0xfc);        VPSHUFB = row(P66, M0F38, 0x00);
        VPAND = row(P66, M0F, 0xdb);         VPANDN = row(P66, M0F, 0xdf);
        VPOR = row(P66, M0F, 0xeb);          VPXOR = row(P66, M0F, 0xef);
        VPMINUD = row(P66, M0F38, 0x3b);     VPMAXUD = row(P66, M0F38, 0x3f);
        VPMINSD = row(P66, M0F38, 0x39);     VPMAXSD = row(P66, M0F38, 0x3d);
        VPCMPEQD = row(P66, M0F, 0x76);      VPCMPEQQ = row(P66, M0F38, 0x29);
        VPCMPGTD = row(P66, M0F, 0x66);      VPCMPGTQ = row(P66, M0F38, 0x37);
        VPSLLD = row(P66, M0F, 0xf2);        VPSRLD = row(P66, M0F, 0xd2);
        VPSRAD = row(P66, M0F, 0xe2);        VPSLLQ = row(P66, M0F, 0xf3);
        VPSRLQ = row(P66, M0F, 0xd3);        VPACKUSDW = row(P66, M0F38, 0x2b);
        VPSLLVD = row(P66, M0F38, 0x47);     VPSRLVD = row(P66, M0F38, 0x45);
        VPSRAVD = row(P66, M0F38, 0x46);     VPMINUB = row(P66, M0F, 0xda);
        VPSLLVQ = row(P66, M0F38, 0x47).w1(); VPSRLVQ = row(P66, M0F38, 0x45).w1();
        VPADDW = row(P66, M0F, 0xfd);        VPSUBW = row(P66, M0F, 0xf9);
        VPMULLW = row(P66, M0F, 0xd5);
        VPMINUW = row(P66, M0F38, 0x3a);     VPMAXUW = row(P66, M0F38, 0x3e);
        VPMINSW = row(P66, M0F, 0xea);       VPMAXSW = row(P66, M0F, 0xee);
        VPADDUSW = row(P66, M0F, 0xdd);      VPADDSW = row(P66, M0F, 0xed);
        VPSUBUSW = row(P66, M0F, 0xd9);      VPSUBSW = row(P66, M0F, 0xe9);
        // by a constant, with a digit
        VPSHIFTD_I = row(P66, M0F, 0x72);    VPSHIFTQ_I = row(P66, M0F, 0x73);
        VPSHIFTW_I = row(P66, M0F, 0x71);
        // ---- float: scalar rows are those of vectors with another prefix
        VADDPS = row(None, M0F, 0x58);       VMULPS = row(None, M0F, 0x59);
        VSUBPS = row(None, M0F, 0x5c);       VDIVPS = row(None, M0F, 0x5e);
        VMAXPS = row(None, M0F, 0x5f);       VSQRTPS = row(None, M0F, 0x51);
        VMINPS = row(None, M0F, 0x5d);
        VMAXSD = row(PF2, M0F, 0x5f);        VMINSD = row(PF2, M0F, 0x5d);
        VCVTTSD2SI = row(PF2, M0F, 0x2c);
        VADDPD = row(P66, M0F, 0x58);        VMULPD = row(P66, M0F, 0x59);
        VSUBPD = row(P66, M0F, 0x5c);        VDIVPD = row(P66, M0F, 0x5e);
        VSQRTPD = row(P66, M0F, 0x51);
        VADDSS = row(PF3, M0F, 0x58);        VMULSS = row(PF3, M0F, 0x59);
        VSUBSS = row(PF3, M0F, 0x5c);        VDIVSS = row(PF3, M0F, 0x5e);
        VSQRTSS = row(PF3, M0F, 0x51);
        VADDSD = row(PF2, M0F, 0x58);        VMULSD = row(PF2, M0F, 0x59);
        VSUBSD = row(PF2, M0F, 0x5c);        VDIVSD = row(PF2, M0F, 0x5e);
        VSQRTSD = row(PF2, M0F, 0x51);
        VCMPPS = row(None, M0F, 0xc2);       VCMPPD = row(P66, M0F, 0xc2);
        VCMPSS = row(PF3, M0F, 0xc2);        VCMPSD = row(PF2, M0F, 0xc2);
        VFMADD231PS = row(P66, M0F38, 0xb8); VFMADD231PD = row(P66, M0F38, 0xb8).w1();
        VFMADD213PS = row(P66, M0F38, 0xa8); VFMADD213PD = row(P66, M0F38, 0xa8).w1();
        VFMSUB213PS = row(P66, M0F38, 0xaa); VFMSUB213PD = row(P66, M0F38, 0xaa).w1();
        VFMSUB231PS = row(P66, M0F38, 0xba); VFMSUB231PD = row(P66, M0F38, 0xba).w1();
        VFNMADD213PS = row(P66, M0F38, 0xac); VFNMADD213PD = row(P66, M0F38, 0xac).w1();
        VFNMADD231PS = row(P66, M0F38, 0xbc); VFNMADD231PD = row(P66, M0F38, 0xbc).w1();
        VFNMSUB213PS = row(P66, M0F38, 0xae); VFNMSUB213PD = row(P66, M0F38, 0xae).w1();
        VFNMSUB231PS = row(P66, M0F38, 0xbe); VFNMSUB231PD = row(P66, M0F38, 0xbe).w1();
        VFMADD231SS = row(P66, M0F38, 0xb9); VFMADD231SD = row(P66, M0F38, 0xb9).w1();
        VROUNDPS = row(P66, M0F3A, 0x08);    VROUNDPD = row(P66, M0F3A, 0x09);
        VROUNDSS = row(P66, M0F3A, 0x0a);    VROUNDSD = row(P66, M0F3A, 0x0b);
        VCVTDQ2PS = row(None, M0F, 0x5b);    VCVTTPS2DQ = row(PF3, M0F, 0x5b);
        VCVTDQ2PD = row(PF3, M0F, 0xe6);     VCVTPS2PD = row(None, M0F, 0x5a);
        VCVTPD2PS = row(P66, M0F, 0x5a);     VCVTSS2SD = row(PF3, M0F, 0x5a);
        VCVTSD2SS = row(PF2, M0F, 0x5a);
        VCVTPH2PS = row(P66, M0F38, 0x13);   VCVTPS2PH = row(P66, M0F3A, 0x1d);
        VCVTSI2SS = row(PF3, M0F, 0x2a);     VCVTSI2SD = row(PF2, M0F, 0x2a);
        // ---- moves and shuffles
        VMOVUPS_LOAD = row(None, M0F, 0x10); VMOVUPS_STORE = row(None, M0F, 0x11);
        VMOVAPS = row(None, M0F, 0x28);
        VMOVSS_LOAD = row(PF3, M0F, 0x10);   VMOVSD_LOAD = row(PF2, M0F, 0x10);
        VMOVSS_STORE = row(PF3, M0F, 0x11);  VMOVSD_STORE = row(PF2, M0F, 0x11);
        VMOVD_TO = row(P66, M0F, 0x6e);      VMOVD_FROM = row(P66, M0F, 0x7e);
        VMOVMSKPS = row(None, M0F, 0x50);
        VPBROADCASTD = row(P66, M0F38, 0x58); VPBROADCASTQ = row(P66, M0F38, 0x59);
        VPBROADCASTB = row(P66, M0F38, 0x78);
        VPUNPCKLDQ = row(P66, M0F, 0x62);    VPUNPCKHDQ = row(P66, M0F, 0x6a);
        VPUNPCKLQDQ = row(P66, M0F, 0x6c);   VPUNPCKHQDQ = row(P66, M0F, 0x6d);
        VSHUFPS = row(None, M0F, 0xc6);      VPSHUFD = row(P66, M0F, 0x70);
        VPERMQ = row(P66, M0F3A, 0x00).w1(); VPBLENDD = row(P66, M0F3A, 0x02);
        VPBLENDVB = row(P66, M0F3A, 0x4c);
        VPINSRD = row(P66, M0F3A, 0x22);     VPEXTRD = row(P66, M0F3A, 0x16);
        VINSERTI128 = row(P66, M0F3A, 0x38); VEXTRACTI128 = row(P66, M0F3A, 0x39);
        VZEROUPPER = row(None, M0F, 0x77);
        VPERM2I128 = row(P66, M0F3A, 0x46);
        VPMOVSXBD = row(P66, M0F38, 0x21);   VPMOVZXBD = row(P66, M0F38, 0x31);
        VPMOVSXBW = row(P66, M0F38, 0x20);   VPMOVSXWD = row(P66, M0F38, 0x23);
        VPMOVZXBW = row(P66, M0F38, 0x30);   VPMOVZXWD = row(P66, M0F38, 0x33);
        VPGATHERDD = row(P66, M0F38, 0x90);
        // ---- general registers
        ANDN = row(None, M0F38, 0xf2);
        SHLX = row(P66, M0F38, 0xf7);        SHRX = row(PF2, M0F38, 0xf7);
        SARX = row(PF3, M0F38, 0xf7);
    }
}

/// Instructions of mask registers, VEX-encoded: of the low 16 or 8 bits.
pub mod masks {
    use super::*;
    #[rustfmt::skip]
    rows! {
        // 256-bit length in the encoding
        KANDW = row(None, M0F, 0x41);    KANDNW = row(None, M0F, 0x42);
        KORW = row(None, M0F, 0x45);     KXNORW = row(None, M0F, 0x46);
        KXORW = row(None, M0F, 0x47);
        // of 128 bits
        KNOTW = row(None, M0F, 0x44);
        KMOVW = row(None, M0F, 0x90);    KMOVW_STORE = row(None, M0F, 0x91);
        KMOVW_TO = row(None, M0F, 0x92); KMOVW_FROM = row(None, M0F, 0x93);
        KMOVB_FROM = row(P66, M0F, 0x93);
    }
}

/// Instructions of legacy coding.
pub mod legacy {
    use super::*;
    #[rustfmt::skip]
    rows! {
        ADD = row(None, One, 0x03);   SUB = row(None, One, 0x2b);   AND = row(None, One, 0x23);
        OR = row(None, One, 0x0b);    XOR = row(None, One, 0x33);   CMP = row(None, One, 0x3b);
        IMUL = row(None, M0F, 0xaf);
        // with a digit and an 8-bit or 32-bit immediate
        ALU_I8 = row(None, One, 0x83); ALU_I32 = row(None, One, 0x81);
        IMUL_I32 = row(None, One, 0x69);
        SHIFT_I = row(None, One, 0xc1);
        // with a digit
        UNARY = row(None, One, 0xf7);  CALL = row(None, One, 0xff);
        TEST = row(None, One, 0x85);   LEA = row(None, One, 0x8d);
        LOAD = row(None, One, 0x8b);   STORE = row(None, One, 0x89);
        MOVSXD = row(None, One, 0x63); MOVZX_B = row(None, M0F, 0xb6);
        MOVZX_W = row(None, M0F, 0xb7); MOVSX_B = row(None, M0F, 0xbe); MOVSX_W = row(None, M0F, 0xbf);
        STORE_B = row(None, One, 0x88); STORE_W = row(P66, One, 0x89);
        MOV_I32 = row(None, One, 0xc7);
        // with a digit and memory only
        PREFETCH = row(None, M0F, 0x18);
        POPCNT = row(PF3, M0F, 0xb8);  LZCNT = row(PF3, M0F, 0xbd);  TZCNT = row(PF3, M0F, 0xbc);
    }
}
