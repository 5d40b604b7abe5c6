//! EVEX encodings of VEX instructions, for registers 16 to 31 and for 512 bits.

use super::encode::Row;
use super::evex::{Evex, Tuple, rows};
use super::rows::vex;

/// The EVEX encoding of a row, if it exists, with the same operands and the same constant.
pub fn twin(row: Row) -> Option<Evex> {
    if let Some(twin) = same(row) {
        return Some(twin);
    }
    // 64 bits are the W bit in both encodings.
    let twin = same(Row { w: false, ..row }).filter(|_| row.w)?.w1();
    let tuple = match twin.tuple {
        Tuple::Full(_) => Tuple::Full(8),
        Tuple::Fixed(4) => Tuple::Fixed(8),
        tuple => tuple,
    };
    Some(Evex { tuple, ..twin })
}

fn same(row: Row) -> Option<Evex> {
    macro_rules! twins {
        ($($vex:ident => $evex:ident,)* = $($same:ident,)*) => {
            match row {
                $(vex::$vex => rows::$evex,)*
                $(vex::$same => rows::$same,)*
                _ => return None,
            }
        };
    }
    Some(twins! {
        VPAND => VPANDD, VPANDN => VPANDND, VPOR => VPORD, VPXOR => VPXORD,
        VROUNDPS => VRNDSCALEPS, VROUNDPD => VRNDSCALEPD,
        VROUNDSS => VRNDSCALESS, VROUNDSD => VRNDSCALESD,
        VINSERTI128 => VINSERTI32X4, VEXTRACTI128 => VEXTRACTI32X4,
        =
        VPADDD, VPADDQ, VPSUBD, VPSUBQ, VPMULLD, VPMULUDQ, VPMULDQ, VPADDB, VPSHUFB, VPSADBW,
        VPADDW, VPSUBW, VPMULLW, VPMINUW, VPMAXUW, VPMINSW, VPMAXSW,
        VPADDUSW, VPADDSW, VPSUBUSW, VPSUBSW,
        VPMINUB, VPMINUD, VPMAXUD, VPMINSD, VPMAXSD,
        VPSLLD, VPSRLD, VPSRAD, VPSLLQ, VPSRLQ, VPSLLVD, VPSRLVD, VPSRAVD,
        VPSLLVQ, VPSRLVQ,
        VPSHIFTD_I, VPSHIFTQ_I, VPSHIFTW_I,
        VADDPS, VMULPS, VSUBPS, VDIVPS, VMAXPS, VMINPS, VSQRTPS, VMAXSD, VMINSD, VCVTTSD2SI,
        VADDPD, VMULPD, VSUBPD, VDIVPD, VSQRTPD,
        VADDSS, VMULSS, VSUBSS, VDIVSS, VSQRTSS, VADDSD, VMULSD, VSUBSD, VDIVSD, VSQRTSD,
        VFMADD213PS, VFMADD213PD,
        VFMSUB213PS, VFMSUB213PD, VFMSUB231PS, VFMSUB231PD,
        VFNMADD213PS, VFNMADD213PD, VFNMADD231PS, VFNMADD231PD,
        VFNMSUB213PS, VFNMSUB213PD, VFNMSUB231PS, VFNMSUB231PD,
        VFMADD231PS, VFMADD231PD, VFMADD231SS, VFMADD231SD,
        VCVTDQ2PS, VCVTTPS2DQ, VCVTDQ2PD, VCVTPS2PD, VCVTPD2PS, VCVTSS2SD, VCVTSD2SS,
        VCVTPH2PS, VCVTPS2PH, VCVTSI2SS, VCVTSI2SD,
        VMOVUPS_LOAD, VMOVUPS_STORE, VMOVAPS, VMOVSS_LOAD, VMOVSD_LOAD, VMOVSS_STORE, VMOVSD_STORE,
        VMOVD_TO, VMOVD_FROM, VPBROADCASTD, VPBROADCASTQ,
        VPUNPCKLDQ, VPUNPCKHDQ, VPUNPCKLQDQ, VPUNPCKHQDQ, VSHUFPS, VPSHUFD, VPERMQ,
        VPINSRD, VPEXTRD,
        VPMOVSXBD, VPMOVZXBD, VPMOVSXBW, VPMOVZXBW, VPMOVSXWD, VPMOVZXWD,
    })
}
