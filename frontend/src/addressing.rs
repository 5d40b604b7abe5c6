//! How memory instructions form addresses: what is added, at which width a sum wraps, and which sum a range check sees.
//! This module holds no code; the interpreter and the translator implement the table independently of one another.
//!
//! `v` is a 32-bit VGPR, `V` a pair of them, `s` and `S` the same of SGPRs, `imm` the instruction's offset.
//!
//! | family | sum | wraps at | checked |
//! |---|---|---|---|
//! | MUBUF, MTBUF: offset | `v + imm` (`v` with OFFEN), both unsigned | the address takes the low 32 bits | the check sees the carry: a sum of 2^32 or more is out of range wherever the offset is checked (source 1, 2) |
//! | MUBUF, MTBUF: index | `v` (IDXEN) `+ lane` (ADD_TID) | never: what passes the check has 32 bits | `index >= num_records` where records count |
//! | MUBUF, MTBUF: linear address | `base + s + index * stride + offset` | 48 bits, the descriptor's (source 3) | before the sum, see below |
//! | MUBUF, MTBUF: swizzled address | `base + s + swizzle(index, offset)` | 48 bits; `s` lies outside of the swizzle and is never negative (source 1, 4) | before the swizzle |
//! | MUBUF ADDR64 (gfx6, gfx7) | `base + V + s + imm` | 48 bits (source 3) | nothing |
//! | MUBUF with LDS | LDS: `M0[15:0] + imm (gfx9) + 4 * lane` | never: the sum has at most 17 bits | lanes outside of the LDS do not act |
//! | SMEM (SMRD), plain | `S + s + imm`; `imm` is signed on gfx9, else `s` and `imm` are unsigned | 64 bits (source 5) | nothing; on gfx9 a negative `s + imm` is undefined and is added like any other |
//! | SMEM, buffer | `s + imm`, both unsigned | never | each dword: `s + imm + 4 * i >= size`, with the carry (source 6) |
//! | SMEM, scratch (gfx9) | `S + 64 * s + imm` | 64 bits | nothing |
//! | DS | `v + imm`, of two-address forms `v + imm * size` | 32 bits from gfx7 on; gfx6 takes a `v` with bit 31 as out of range, whatever the sum (source 7) | the sum and the last byte against LDS (gfx6 to gfx8: also against M0), each half of a two-address form by itself |
//! | DS, two operands in LDS | `v + 4 * sext15(imm)` or `v[16:0] + 4 * sext15(v[31:17])` | 32 bits | each operand by itself |
//! | DS permutes | `v + imm` | 32 bits, of which bits 7:2 name a lane | nothing |
//! | DS append, consume, ADDTID | `M0[15:0] + imm`, ADDTID `+ 4 * lane` | never: the sum has at most 18 bits | the sum against LDS |
//! | FLAT | `V` (gfx7, gfx8), `V + imm` (gfx9, 12 bits unsigned) | 64 bits | the aperture is that of the sum (source 8); in an aperture, its low 32 bits against LDS (and M0 before gfx9) or the lane's scratch |
//! | GLOBAL (gfx9) | `V + imm` or `S + zext(v) + imm`, 13 bits signed | 64 bits | nothing |
//! | SCRATCH (gfx9) | `v + imm` or `s + imm`, 13 bits signed, then the swizzle, then `+ FLAT_SCRATCH` | 32 bits before the swizzle (open: source 9), 64 bits behind | nothing; checked mode: the lane's scratch |
//! | MIMG | no byte offsets; coordinates are compared as unsigned numbers | | a coordinate outside of the image reads the border (0), stores nothing |
//!
//! What MUBUF and MTBUF check, by the units of NUM_RECORDS:
//!
//! | | gfx6, gfx7 | gfx8 | gfx9 |
//! |---|---|---|---|
//! | bytes | stride 0 | stride 0, or not swizzled | stride 0, or no IDXEN |
//! | then | `index * stride + offset + s < num_records` (swizzled: `offset + s`) | the same | the same without `s` |
//! | records | `index < num_records`; swizzled: also `offset < stride` | the same | `index < num_records` |
//! | ADD_TID without IDXEN (scratch) | as any other | as any other | nothing |
//!
//! Compilers know these rules: clang folds `a[17 - p]` of a private array into `v = -size * p` and `imm = 17 * size` for
//! gfx9, where scratch is not checked, and adds both in a register for gfx6 to gfx8, where the check would refuse a negative `v`.
//!
//! Sources:
//!
//! 1. LLVM, `AMDGPUISelDAGToDAG.cpp`, `SelectMUBUFScratchOffen`: before gfx9 "if a negative vaddr base index was used, this would
//!    fail the range check. The overall address computation would compute a valid address"; on gfx9 any VGPR offset may be folded;
//!    the sum with `soffset` must not overflow. Piglit's test "MUBUF negative buffer offsets" checks this on hardware.
//! 2. LLVM, `splitBufferOffsets`, of range-checked buffers on any target: "it appears to be illegal to have a negative offset in the
//!    vgpr, even if adding the immediate offset makes it positive". Mesa's ACO folds such sums into unswizzled
//!    accesses on every target all the same, which would need a check behind the wrap; LLVM's word decides here.
//! 3. AMD "Vega" ISA, 8.1.5 and 8.1.8: the base has 48 bits. LLVM folds negative constants into the base.
//! 4. AMD "Vega" ISA, 8.1.5: "the sgpr_offset is not a part of the offset term". The CDNA 1 and 2 manuals agree in all of this.
//! 5. AMD "Vega" ISA, 7.2.1. LLVM, `SelectSMRD`: "s_load instructions perform the addition in 64 bits".
//! 6. No manual says what a carry does; beyond the buffer is what compilers expect.
//! 7. LLVM, `hasUsableDSOffset` and `isDSOffsetLegal`: "on SI, the offset uses a 16-bit adder and does not always wrap properly".
//! 8. LLVM works around an aperture check without the offset on gfx10 only (`FeatureFlatSegmentOffsetBug`).
//! 9. The "Vega" ISA, 9.5, calls the offset "a 32-bit unsigned byte" and swizzles the sum. LLVM (`isFlatScratchBaseLegal`) and ACO do
//!    not rely on a wrap, as they take the register for unsigned and the sum for 64 bits wide; what they make is the same either way.
//!    LLVM also avoids negative `imm` with an SGPR on gfx9 (`FeatureNegativeScratchOffsetBug`), which is added like any other here.
