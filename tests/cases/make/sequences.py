"""Operands that overlap, and instructions that act on one another: masks, EXEC, VCC halves, lanes, MODE in between."""

from case import Chapter, mask
from vector import GFX8, GFX9

M64 = mask(64)


def main():
    c = Chapter("sequences", __doc__)
    # Destinations over sources.
    c.block("v_add_f64 v[4:5], v[4:5], v[4:5]", ["v[4:5]=3ff0000000000000 -> v[4:5]=4000000000000000", "v[4:5]=bff8000000000000 -> v[4:5]=c008000000000000"])
    c.block("v_lshlrev_b64 v[4:5], v4, v[4:5]", [f"v[4:5]={v:016x} -> v[4:5]={v << (v & 63) & M64:016x}" for v in (0x1234567800000004, 0x8000000100000001, 0x0fedcba9abcdef20)], GFX8, "the amount is overwritten")
    c.block("v_lshlrev_b64 v[4:5], v5, v[4:5]", [f"v[4:5]={v:016x} -> v[4:5]={v << (v >> 32 & 63) & M64:016x}" for v in (0x0000000487654321, 0x80000001ffffffff)], GFX8)
    c.block("v_lshlrev_b64 v[5:6], v4, v[4:5]", [f"v[4:5]={v:016x} -> v[5:6]={v << (v & 63) & M64:016x}" for v in (0x1234567800000004, 0x8000000100000021)], GFX8, "one register of two")
    c.block("v_mad_u64_u32 v[4:5], vcc, v4, v5, v[4:5]", [f"v[4:5]={v:016x} -> v[4:5]={(v & mask(32)) * (v >> 32) + v & M64:016x} vcc.lane={(v & mask(32)) * (v >> 32) + v >> 64}" for v in (0x0000000300000005, 0xffffffffffffffff)], ["gfx700"] + GFX8)
    c.block("v_cvt_f64_f32_e32 v[4:5], v5", ["v5=3f800000 -> v[4:5]=3ff0000000000000", "v5=c0000000 -> v[4:5]=c000000000000000"])
    c.block("v_cvt_f64_f32_e32 v[4:5], v4", ["v4=3f800000 -> v[4:5]=3ff0000000000000"])
    c.block("v_cvt_f32_f64_e32 v4, v[4:5]", ["v[4:5]=3ff0000000000000 -> v4=3f800000", "v[4:5]=c000000000000000 -> v4=c0000000"])
    c.block("v_cmp_lt_u64_e32 vcc, v[4:5], v[5:6]", ["v[4:5]=0000000100000000 v6=00000000 -> vcc.lane=0", "v[4:5]=0000000100000000 v6=00000001 -> vcc.lane=1"])
    c.block("v_mqsad_u32_u8 v[0:3], v[4:5], v8, v[12:15]", ["v[4:5]=0000000000000000 v8=01010101 v[12:15]=00000004000000030000000200000001 -> v[0:3]=00000008000000070000000600000005"], ["gfx700"] + GFX8)
    c.block("v_swap_b32 v4, v8 ; v_swap_b32 v4, v8", ["v4=1 v8=2 -> v4=00000001 v8=00000002", "v4=5 v8=6 -> v4=00000005 v8=00000006"], GFX9)
    # A mask read by the scalar unit and by lanes: inactive lanes gave 0.
    c.block("v_cmp_lt_u32_e64 s[2:3], v4, v8 ; s_not_b64 s[4:5], s[2:3]",
            ["exec=f v4=1 v8=2 -> s[2:3]=f s[4:5]=fffffffffffffff0 scc=1", "exec=ffff0000ffff0000 v4=2 v8=1 -> s[2:3]=0 s[4:5]=ffffffffffffffff scc=1", "exec=ffffffffffffffff v4=1 v8=2 -> s[2:3]=ffffffffffffffff s[4:5]=0 scc=0"])
    c.block("v_cmp_eq_u32_e32 vcc, v4, v8 ; v_cndmask_b32_e32 v0, v12, v13, vcc", ["v4=1 v8=1 v12=5 v13=6 -> v0=00000006 vcc.lane=1", "v4=1 v8=2 v12=5 v13=6 -> v0=00000005 vcc.lane=0"])
    c.block("v_cmp_eq_u32_e32 vcc, v4, v8 ; s_and_saveexec_b64 s[2:3], vcc ; v_mov_b32_e32 v0, v12 ; s_mov_b64 exec, s[2:3] ; v_mov_b32_e32 v1, v13",
            ["exec=f v4[0]=1 v4[1]=2 v4[2]=1 v4[3]=2 v8=1 v12=5 v13=6 -> vcc=5 s[2:3]=f scc=1 v0[0]=5 v0[2]=5 v1[0]=6 v1[1]=6 v1[2]=6 v1[3]=6",
             "exec=c v4=3 v8=1 v12=5 v13=6 -> vcc=0 s[2:3]=c scc=0 v1[2]=6 v1[3]=6"], note="divergence by hand: only the lanes of the condition write")
    c.block("s_mov_b32 vcc_lo, 0 ; v_cndmask_b32_e32 v0, v12, v13, vcc", ["exec=ffffffffffffffff vcc=ffffffffffffffff v12=5 v13=6 -> vcc=ffffffff00000000 v0[0]=5 v0[31]=5 v0[32]=6 v0[63]=6"], note="half of VCC by the scalar unit")
    c.block("s_mov_b32 exec_hi, 0 ; v_mov_b32_e32 v0, 5 ; s_mov_b32 exec_hi, -1 ; v_mov_b32_e32 v1, 6", ["exec=ffffffffffffffff v0=7 v1=8 -> v0[0]=5 v0[31]=5 v0[32]=7 v0[63]=7 v1[0]=6 v1[63]=6"], note="half of EXEC")
    c.block("s_mov_b64 exec, 0 ; v_mov_b32_e32 v0, 5 ; s_mov_b64 exec, -1", ["exec=ffffffffffffffff v0=7 ->"])
    c.block("v_cmp_ne_u32_e32 vcc, 0, v4 ; s_cbranch_vccz 2 ; s_mov_b32 s0, 1", ["exec=ff v4=0 -> vcc=0 pc=16", "exec=ff v4=0 v4[3]=1 s0=9 -> vcc=8 s0=1", "exec=f0 v4=0 v4[3]=1 -> vcc=0 pc=16"], note="a branch on a mask")
    c.block("v_add_co_u32_e32 v0, vcc, v4, v8 ; v_addc_co_u32_e32 v1, vcc, v5, v9, vcc",
            [f"v[4:5]={a:016x} v[8:9]={b:016x} -> v[0:1]={a + b & M64:016x} vcc.lane={a + b >> 64}" for a, b in ((1, M64), (0xffffffff, 1), (0x123456789abcdef0, 0xfedcba9876543210), (1 << 63, 1 << 63), (0, 0))], GFX9, "a 64-bit addition")
    c.block("v_sub_co_u32_e32 v0, vcc, v4, v8 ; v_subb_co_u32_e32 v1, vcc, v5, v9, vcc",
            [f"v[4:5]={a:016x} v[8:9]={b:016x} -> v[0:1]={a - b & M64:016x} vcc.lane={int(b > a)}" for a, b in ((1, M64), (1 << 32, 1), (0xfedcba9876543210, 0x123456789abcdef0), (0, 0), (5, 5))], GFX9)
    # Lanes.
    c.block("v_mov_b32_e32 v4, s2 ; v_readlane_b32 s0, v4, 5 ; s_add_u32 s1, s0, s0", ["exec=ffffffffffffffff s2=11 -> v4=00000011 s0=11 s1=22 scc=0", "exec=20 s2=80000001 -> v4[5]=80000001 s0=80000001 s1=2 scc=1"])
    c.block("v_writelane_b32 v4, s2, 3 ; v_add_u32_e32 v0, 1, v4", ["exec=f s2=7 v4=1 -> v4[3]=7 v0[0]=2 v0[1]=2 v0[2]=2 v0[3]=8"], GFX9)
    c.block("v_mov_b32_dpp v4, v4 row_shl:1 row_mask:0xf bank_mask:0xf ; v_mov_b32_dpp v4, v4 row_shr:1 row_mask:0xf bank_mask:0xf",
            ["exec=ffff v4=<0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0*48> -> v4=<1 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0*48>"], GFX8, "one after the other")
    # MODE in between.
    c.block("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0 ; v_mul_f32_e32 v0, v4, v8 ; s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3 ; v_mul_f32_e32 v1, v4, v8",
            ["mode=000003f0 v4=00800000 v8=3f000000 -> v0=00000000 v1=00400000", "mode=000003c0 v4=00000001 v8=3f800000 -> mode=000003f0 v0=00000000 v1=00000001"], note="denormals off and on again")
    # Memory and lanes in order.
    c.block("ds_write_b32 v4, v8 ; ds_read_b32 v0, v5", ["v4=win+10 v5=win+10 v8=12345678 -> lds[10]=12345678 v0=12345678", "v4=win+20 v5=win+20 v8=0 -> lds[20]=00000000 v0=00000000"])
    c.block("ds_write_b32 v4, v8 ; ds_read_b32 v0, v5", ["exec=ff v4=<0 4 8 12 16 20 24 28 0*56> v5=<28 24 20 16 12 8 4 0 0*56> v8=<1 2 3 4 5 6 7 8 0*56> -> group[0]=0000000800000007000000060000000500000004000000030000000200000001 v0[0]=8 v0[1]=7 v0[2]=6 v0[7]=1"],
            note="all lanes write before any lane reads")
    c.block("global_store_dword v[4:5], v8, off ; global_load_dword v0, v[6:7], off", ["v[4:5]=mem+10 v[6:7]=mem+10 v8=12345678 -> mem[10]=12345678 v0=12345678"], GFX9)
    c.block("global_load_dword v0, v[4:5], off ; v_add_u32_e32 v0, 1, v0 ; global_store_dword v[4:5], v0, off ; global_load_dword v1, v[4:5], off", ["v[4:5]=mem+10 mem[10]=000000ff -> v0=00000100 v1=00000100 mem[10]=00000100"], GFX9)
    c.block("s_store_dword s0, s[2:3], 0x0 ; s_load_dword s1, s[2:3], 0x0", ["s[2:3]=buf s0=12345678 -> buf[0]=12345678 s1=12345678"], GFX8)
    # Branches and loops.
    c.block("s_cmp_lg_u32 s0, 0 ; s_cbranch_scc1 1 ; v_mov_b32_e32 v0, 5 ; v_mov_b32_e32 v1, 6", ["s0=0 -> scc=0 v0=00000005 v1=00000006", "s0=1 -> scc=1 v1=00000006"], note="over an instruction")
    c.block("s_mov_b32 s1, 3 ; v_add_u32_e32 v0, s1, v0 ; s_sub_u32 s1, s1, 1 ; s_cmp_lg_u32 s1, 0 ; s_cbranch_scc1 65532", ["v0=0 -> s1=0 scc=0 v0=00000006", "exec=ffffffffffffffff v0=10 -> s1=0 scc=0 v0=00000016"], GFX9, "three times round")
    counts = " ".join(str(n % 7 + 1) for n in range(64))
    for first in ("", "s_nop 0 ; "):
        c.block(f"{first}v_add_u32_e32 v0, 1, v0 ; v_cmp_lt_u32_e32 vcc, v0, v4 ; s_and_b64 exec, exec, vcc ; s_cbranch_execnz 65532",
                [f"exec=ffffffffffffffff v0=0 v4=<{counts}> -> exec=0 vcc=0 scc=0 v0=<{counts}>", "exec=ff v0=0 v4=3 -> exec=0 vcc=0 scc=0 v0[0]=3 v0[7]=3"], GFX9, "lanes leave the loop one by one")
        c.block(f"{first}v_add_u32_e32 v0, 1, v0 ; v_cmp_ne_u32_e32 vcc, v0, v4 ; s_cbranch_vccnz 65533 ; v_mov_b32_e32 v1, v0", ["exec=ffffffffffffffff v0=0 v4=5 -> vcc=0 v0=00000005 v1=00000005", "exec=f0 v0=0 v4=1 -> vcc=0 v0[4]=1 v1[4]=1 v0[7]=1 v1[7]=1"], GFX9, "all lanes go round together")
    # A loop: the sum of 1 to n in lanes, by a scalar counter.
    c.block("v_add_u32_e32 v0, s0, v0 ; s_sub_u32 s0, s0, 1 ; s_cmp_lg_u32 s0, 0 ; s_cbranch_scc1 65532", ["exec=ffffffffffffffff s0=a v0=0 -> s0=0 scc=0 v0=00000037", "exec=1 s0=3 v0=0 -> s0=0 scc=0 v0[0]=6"], GFX9, "a loop")
    c.write()


if __name__ == "__main__":
    main()
