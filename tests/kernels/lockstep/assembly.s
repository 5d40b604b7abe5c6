// Kernels whose lanes exchange values in lockstep, instruction by instruction.
// `tests/exec/differential/lockstep/assembly.rs` says what each one leaves in memory.
//
// Most exist in three forms: in LDS, through pointers (GLOBAL, FLAT, or MUBUF with ADDR64, as the target has them) and through
// a buffer's descriptor. Each workgroup has 2048 bytes of `data` and of `out`; a kernel in LDS copies `data` to there and back.
// No metadata: the kernarg segment is +0 u64 data, +8 u64 out, +16 u32 n.

.include "target.inc"

// FORM is the one that a kernel has.
.set LOCAL, 0
.set POINTER, 1
.set BUFFER, 2
.set GENERATION, .amdgcn.gfx_generation_number

// d = a + b.
.macro add d, a, b
.if GENERATION >= 9
  v_add_u32 \d, \a, \b
.else
  add_carry \d, \a, \b
.endif
.endm

.macro wait
  s_waitcnt vmcnt(0) & lgkmcnt(0)
.endm

// The address of data (s[4:5]) or out (s[6:7]) + v[at] + imm in v[60:61], where loads and stores do not add it themselves.
.macro pointer base, at, imm
.if GENERATION < 9
  v_mov_b32 v61, s[\base + 1]
  add_carry v60, s[\base], v[\at]
  addc v61, 0, v61
.if \imm != 0 && GENERATION > 6
  add_carry v60, \imm, v60
  addc v61, 0, v61
.endif
.endif
.endm

.macro pointer_access op, reg, base, at, imm, store
.if GENERATION >= 9
.if \store
  global_\op v[\at], \reg, s[\base:\base + 1] offset:\imm
.else
  global_\op \reg, v[\at], s[\base:\base + 1] offset:\imm
.endif
.else
  pointer \base, \at, \imm
.if GENERATION == 6
  buffer_\op \reg, v[60:61], s[12:15], 0 addr64 offset:\imm
.elseif \store
  flat_\op v[60:61], \reg
.else
  flat_\op \reg, v[60:61]
.endif
.endif
.endm

// A load or store of v[reg:...] by the words that name it in LDS and elsewhere.
.macro access lds, op, reg, at, imm, store, form
.if \form == LOCAL
.if \store
  ds_\lds v[\at], \reg offset:\imm
.else
  ds_\lds \reg, v[\at] offset:\imm
.endif
.elseif \form == POINTER
  pointer_access \op, \reg, 4, \at, \imm, \store
.else
  buffer_\op \reg, v[\at], s[16:19], 0 offen offset:\imm
.endif
  wait
.endm

// Loads `size` bytes to v[d:...] from v[at] + imm, in the kernel's form or another one.
.macro ld size, d, at, imm=0, form=FORM
.if \size == 1
  access read_u8, load_ubyte, v[\d], \at, \imm, 0, \form
.elseif \size == 2
  access read_u16, load_ushort, v[\d], \at, \imm, 0, \form
.elseif \size == 4
  access read_b32, load_dword, v[\d], \at, \imm, 0, \form
.elseif \size == 8
  access read_b64, load_dwordx2, v[\d:\d+1], \at, \imm, 0, \form
.else
  access read_b128, load_dwordx4, v[\d:\d+3], \at, \imm, 0, \form
.endif
.endm

.macro st size, at, s, imm=0, form=FORM
.if \size == 1
  access write_b8, store_byte, v[\s], \at, \imm, 1, \form
.elseif \size == 2
  access write_b16, store_short, v[\s], \at, \imm, 1, \form
.elseif \size == 4
  access write_b32, store_dword, v[\s], \at, \imm, 1, \form
.elseif \size == 8
  access write_b64, store_dwordx2, v[\s:\s+1], \at, \imm, 1, \form
.else
  access write_b128, store_dwordx4, v[\s:\s+3], \at, \imm, 1, \form
.endif
.endm

// Stores a dword to out.
.macro result at, s, imm=0
  pointer_access store_dword, v[\s], 6, \at, \imm, 1
.endm

// s[4:5] data, s[6:7] out, s8 n, s[12:15] all memory, s[16:19] data as a buffer; v0 lane, v1 its first dword, v2 the last lane's.
.macro begin name, lds=2048
  code \name
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dword s8, s[0:1], 16/SCALE
  s_lshl_b32 s9, s2, 11
  s_mov_b32 m0, -1
  s_waitcnt lgkmcnt(0)
  s_add_u32 s4, s4, s9
  s_addc_u32 s5, s5, 0
  s_add_u32 s6, s6, s9
  s_addc_u32 s7, s7, 0
  all_memory 12
  s_mov_b32 s16, s4
  s_mov_b32 s17, s5
  s_movk_i32 s18, 2048
  s_mov_b32 s19, 0x27000
  v_lshlrev_b32 v1, 2, v0
  v_sub_i32_any v2, 252, v1
.endm

.macro v_sub_i32_any d, a, b
.if GENERATION >= 9
  v_sub_u32 \d, \a, \b
.elseif GENERATION == 8
  v_sub_u32 \d, vcc, \a, \b
.else
  v_sub_i32 \d, vcc, \a, \b
.endif
.endm

.macro end name
  s_endpgm
  code_end \name
  .amdhsa_kernel \name
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_user_sgpr_count 2
    .amdhsa_kernarg_size 24
    .amdhsa_group_segment_fixed_size 2048
    .amdhsa_next_free_vgpr 64
    .amdhsa_next_free_sgpr 48
  .end_amdhsa_kernel
  .text
.endm

// Data to LDS and back.
.macro fill
  .irp block, 0, 256, 512, 768, 1024, 1280, 1536, 1792
  ld 4, 62, 1, \block, BUFFER
  st 4, 1, 62, \block, LOCAL
  .endr
.endm

.macro drain
  .irp block, 0, 256, 512, 768, 1024, 1280, 1536, 1792
  ld 4, 62, 1, \block, LOCAL
  st 4, 1, 62, \block, BUFFER
  .endr
.endm

.macro in_form name, body, form
  .set FORM, \form
  begin \name
.if FORM == LOCAL
  fill
.endif
  \body
.if FORM == LOCAL
  drain
.endif
  end \name
.endm

.macro in_all_forms name
  in_form \name\()_local, \name, LOCAL
  in_form \name\()_pointer, \name, POINTER
  in_form \name\()_buffer, \name, BUFFER
.endm

// s10 counts to n; the body is done at least once.
.macro turns
  s_mov_b32 s10, 0
1:
.endm

.macro next limit=s8
  s_add_u32 s10, s10, 1
  s_cmp_lt_u32 s10, \limit
  s_cbranch_scc1 1b
.endm

// A line of exchanges without a loop.
.macro reverse
  ld 4, 10, 1
  v_mul_u32_u24 v11, 3, v10
  st 4, 2, 11
  ld 4, 12, 1
  v_xor_b32 v12, v10, v12
  st 4, 2, 12
  ld 4, 13, 2, 4
  add v13, v13, v11
  st 4, 1, 13, 4
  ld 4, 14, 1, 8
  add v14, v14, v12
  st 4, 2, 14, 0
.endm
  in_all_forms reverse

// Each lane's place is where another one, so many bytes away, reads next.
.macro shifts
  .irp away, 4, 60, 64, 68, 124, 128, 132, 252, 256, 260
  ld 4, 10, 1
  add v10, 7, v10
  st 4, 1, 10, \away
  ld 4, 11, 1, \away
  v_xor_b32 v11, v10, v11
  ld 4, 12, 1
  add v11, v11, v12
  st 4, 1, 11
  .endr
.endm
  in_all_forms shifts

// Several loads, then several stores that meet them in other lanes, in each turn.
.macro smooth
  turns
  ld 4, 10, 1
  ld 4, 11, 1, 4
  ld 4, 12, 1, 8
  v_lshlrev_b32 v11, 1, v11
  add v10, v10, v11
  v_mul_u32_u24 v12, 3, v12
  add v10, v10, v12
  st 4, 1, 10, 4
  next
.endm
  in_all_forms smooth

// From one place to another that is so far behind it as a scalar says: lanes meet, or do not.
.macro distance
  s_movk_i32 s11, 0
  turns
  v_mov_b32 v3, s11
  add v3, v1, v3
  ld 4, 10, 1
  v_mul_u32_u24 v10, 5, v10
  add v10, s10, v10
  st 4, 3, 10
  ld 4, 11, 1
  v_xor_b32 v11, v11, v10
  st 4, 3, 11, 256
  s_add_u32 s11, s11, 20
  next
.endm
  in_all_forms distance

// The same, before it.
.macro distance_down
  s_movk_i32 s11, 0
  turns
  v_mov_b32 v3, s11
  add v3, v1, v3
  ld 4, 10, 3
  v_mul_u32_u24 v10, 5, v10
  add v10, s10, v10
  st 4, 1, 10
  ld 4, 11, 3
  v_xor_b32 v11, v11, v10
  st 4, 1, 11, 512
  s_add_u32 s11, s11, 20
  next
.endm
  in_all_forms distance_down

// Stores of elements at any stride: of what meets, the highest lane's stays. Then others read it.
.macro strided size, stride
  v_mul_u32_u24 v3, \stride, v0
  ld 4, 10, 1, 1280
  add v10, v10, v0
  v_xor_b32 v11, 21, v10
  add v12, v10, v11
  v_xor_b32 v13, v0, v12
  st \size, 3, 10
  ld 4, 14, 2
  st 4, 1, 14, 1280
.endm

.macro strides size
  .irp stride, 4, 8, 12, 16, 20
  strided \size, \stride
  .endr
.if \size < 4
  strided \size, 2
.endif
.if \size == 1 || GENERATION >= 9
  .irp stride, 1, 3, 6
  strided \size, \stride
  .endr
.endif
.endm

.macro strides_1
  strides 1
.endm
.macro strides_2
  strides 2
.endm
.macro strides_4
  strides 4
.endm
.macro strides_8
  strides 8
.endm
.macro strides_16
  strides 16
.endm
  in_all_forms strides_1
  in_all_forms strides_2
  in_all_forms strides_4
  // LDS aligns these before gfx9.
  .irp form, 0, 1, 2
.if \form != LOCAL || GENERATION >= 9
.if \form == LOCAL
  in_form strides_8_local, strides_8, LOCAL
  in_form strides_16_local, strides_16, LOCAL
.elseif \form == POINTER
  in_form strides_8_pointer, strides_8, POINTER
  in_form strides_16_pointer, strides_16, POINTER
.else
  in_form strides_8_buffer, strides_8, BUFFER
  in_form strides_16_buffer, strides_16, BUFFER
.endif
.endif
  .endr

// The highest lane has the lowest address.
.macro down
  .irp stride, 4, 8, 12
  v_mul_u32_u24 v3, \stride, v0
  v_sub_i32_any v3, 1020, v3
  ld 4, 10, 1, 1280
  v_xor_b32 v11, 21, v10
.if FORM == LOCAL
  st 4, 3, 10
  st 4, 3, 11, 4
.else
  st 8, 3, 10
.endif
  ld 4, 14, 1, 768
  ld 4, 15, 2, 512
  add v14, v14, v15
  st 4, 1, 14, 1280
  .endr
.endm
  in_all_forms down

// All lanes store at one place, then load from there; the place moves.
.macro one_place
  turns
  s_lshl_b32 s11, s10, 2
  s_and_b32 s11, s11, 60
  v_mov_b32 v3, s11
  ld 4, 10, 1
  st 4, 3, 10, 512
  ld 4, 11, 3, 512
  v_mul_u32_u24 v10, 3, v10
  add v10, v10, v11
  st 4, 1, 10
  next
.endm
  in_all_forms one_place

// Sixteen lanes at each of four places, and whole groups of lanes in one.
.macro few_places
  turns
  v_lshrrev_b32 v3, 4, v0
  v_lshlrev_b32 v3, 2, v3
  v_and_b32 v4, 12, v1
  ld 4, 10, 1
  st 4, 3, 10, 512
  ld 4, 11, 4, 512
  v_xor_b32 v10, v10, v11
  add v10, s10, v10
  st 4, 4, 10, 528
  ld 4, 12, 3, 528
  add v10, v10, v12
  st 4, 1, 10
  next
.endm
  in_all_forms few_places

// Some lanes write, the others read, then the other way round.
.macro masks
  s_mov_b64 s[20:21], exec
  s_mov_b32 s22, 0x00ff00ff
  s_mov_b32 s23, 0x5555ffff
  turns
  s_mov_b64 exec, s[22:23]
  ld 4, 10, 1
  v_mul_u32_u24 v10, 5, v10
  st 4, 2, 10
  s_not_b64 exec, exec
  ld 4, 11, 2, 4
  ld 4, 12, 1
  v_xor_b32 v11, v11, v12
  st 4, 1, 11, 4
  s_not_b64 exec, exec
  ld 4, 13, 1, 4
  st 4, 1, 13
  s_mov_b64 exec, s[20:21]
  s_not_b64 s[22:23], s[22:23]
  s_lshr_b64 s[22:23], s[22:23], 3
  next
.endm
  in_all_forms masks

// Halves of the wave, in a line.
.macro halves
  s_mov_b64 s[20:21], exec
  .rept 3
  s_mov_b32 exec_lo, -1
  s_mov_b32 exec_hi, 0
  ld 4, 10, 1
  add v10, 1, v10
  st 4, 1, 10, 128
  s_not_b64 exec, exec
  ld 4, 10, 1
  v_mul_u32_u24 v10, 3, v10
  st 4, 2, 10
  s_mov_b64 exec, s[20:21]
  ld 4, 11, 2
  st 4, 1, 11
  .endr
.endm
  in_all_forms halves

// The counter is a vector register, the same in all lanes.
.macro vector_counter
  v_mov_b32 v20, 0
1:
  v_lshlrev_b32 v3, 2, v20
  add v3, v1, v3
  v_and_b32 v3, 0xff, v3
  ld 4, 10, 3
  add v10, v10, v20
  st 4, 1, 10
  add v20, 1, v20
  v_cmp_gt_u32 vcc, s8, v20
  s_cbranch_vccnz 1b
.endm
  in_all_forms vector_counter

// Lanes leave the loop at different times; those that left read no more, and nobody else writes what they wrote.
.macro leave
  s_mov_b64 s[20:21], exec
  v_and_b32 v21, 7, v0
  add v21, s8, v21
  v_mov_b32 v20, 0
  v_mov_b32 v10, v0
1:
  v_mul_u32_u24 v10, 5, v10
  add v10, v10, v20
  st 4, 1, 10
  v_mul_u32_u24 v3, 7, v0
  add v3, v3, v20
  v_and_b32 v3, 63, v3
  v_lshlrev_b32 v3, 2, v3
  ld 4, 10, 3
  add v20, 1, v20
  v_cmp_lt_u32 vcc, v20, v21
  s_and_b64 exec, exec, vcc
  s_cbranch_execnz 1b
  s_mov_b64 exec, s[20:21]
  result 1, 10
.endm
  in_all_forms leave

// A sort by odd and even neighbours; pairs that are in order are left alone.
.macro sort
  s_mov_b64 s[20:21], exec
  s_movk_i32 s11, 64
  turns
  s_and_b32 s25, s10, 1
  s_lshl_b32 s25, s25, 2
  v_mov_b32 v3, s25
  v_lshlrev_b32 v4, 3, v0
  add v3, v3, v4
  v_cmp_gt_u32 vcc, 249, v3
  s_and_b64 exec, exec, vcc
  ld 4, 10, 3
  ld 4, 11, 3, 4
  v_cmp_gt_u32 vcc, v10, v11
  s_and_b64 exec, exec, vcc
  s_cbranch_execz 2f
  st 4, 3, 11
  st 4, 3, 10, 4
2:
  s_mov_b64 exec, s[20:21]
  next s11
.endm
  in_all_forms sort

// Two and four dwords at a time, from the next lane's and the one before.
.macro wide
  v_lshlrev_b32 v3, 4, v0
  turns
.if FORM != LOCAL || GENERATION > 6
  ld 16, 10, 3, 16
.else
  ld 8, 10, 3, 16
  ld 8, 12, 3, 24
.endif
  add v11, v11, v12
  v_xor_b32 v12, s10, v13
.if FORM != LOCAL || GENERATION > 6
  st 16, 3, 10
.else
  st 8, 3, 10
  st 8, 3, 12, 8
.endif
  ld 8, 14, 3, 24
  st 8, 3, 14, 32
  ld 8, 14, 3, 0
  st 8, 3, 14, 40
  next
.endm
  in_all_forms wide

// Loads from data, stores to out: nobody meets anybody, but for the lanes that read again.
.macro apart
  turns
  ld 4, 10, 1
  ld 4, 11, 2, 256
  add v10, v10, v11
  result 1, 10
  result 2, 11, 256
  v_mul_u32_u24 v10, 3, v10
  st 4, 1, 10, 512
  ld 4, 12, 1, 512
  st 4, 1, 12, 0
  next
.endm
  in_all_forms apart

// Halves of a dword and single bytes of it by different lanes.
.macro parts
  turns
  v_lshlrev_b32 v3, 1, v0
  ld 2, 10, 3
  ld 1, 11, 0, 64
  add v10, v10, v11
  st 1, 0, 10
  st 2, 3, 10, 64
  ld 4, 12, 1
  add v12, s10, v12
  st 4, 2, 12
  next
.endm
  in_all_forms parts

// Each lane's number in an order, then a store at that number: tickets from four counters.
.macro tickets
  turns
  v_and_b32 v3, 12, v1
  v_mov_b32 v10, 5
  s_mov_b64 s[20:21], exec
  ld 4, 11, 1
  v_and_b32 v12, 3, v11
  v_cmp_ne_u32 vcc, 0, v12
  s_and_b64 exec, exec, vcc
.if FORM == LOCAL
  ds_add_rtn_u32 v10, v3, v10 offset:512
.elseif FORM == BUFFER || GENERATION == 6
  buffer_atomic_add v10, v3, s[16:19], 0 offen offset:512 glc
.elseif GENERATION >= 9
  v_mov_b32 v4, v3
  global_atomic_add v10, v4, v10, s[4:5] offset:512 glc
.else
  pointer 4, 3, 512
  flat_atomic_add v10, v[60:61], v10 glc
.endif
  wait
  v_and_b32 v10, 63, v10
  v_lshlrev_b32 v10, 2, v10
  st 4, 10, 11, 768
  s_mov_b64 exec, s[20:21]
  ld 4, 12, 2, 768
  v_lshrrev_b32 v11, 1, v11
  add v11, v11, v12
  st 4, 1, 11
  next
.endm
  in_all_forms tickets

// Exchanges with what the lane before left, at places of which some are the same.
.macro swaps
  turns
  add v3, v1, s10
  v_and_b32 v3, 0x7c, v3
  ld 4, 10, 1, 256
  add v10, s10, v10
.if FORM == LOCAL
  ds_wrxchg_rtn_b32 v10, v3, v10
.elseif FORM == BUFFER || GENERATION == 6
  buffer_atomic_swap v10, v3, s[16:19], 0 offen glc
.elseif GENERATION >= 9
  global_atomic_swap v10, v3, v10, s[4:5] glc
.else
  pointer 4, 3, 0
  flat_atomic_swap v10, v[60:61], v10 glc
.endif
  wait
  st 4, 2, 10, 256
  ld 4, 11, 1
  v_xor_b32 v11, v11, v10
  st 4, 1, 11, 256
  next
.endm
  in_all_forms swaps

// What was stored one way is loaded another way, as it is in LDS, through pointers and buffers.
  begin two_ways
  turns
  ld 4, 10, 1, 0, POINTER
  add v10, s10, v10
  st 4, 2, 10, 0, BUFFER
  ld 4, 11, 1, 0, POINTER
  v_xor_b32 v11, v10, v11
  st 4, 1, 11, 4, POINTER
  ld 4, 12, 1, 0, BUFFER
  st 4, 1, 12, 0, LOCAL
  ld 4, 13, 2, 0, LOCAL
  st 4, 1, 13, 256, BUFFER
  ld 4, 14, 2, 256, POINTER
  add v14, v14, v12
  st 4, 1, 14, 0, POINTER
  next
  end two_ways

// Two elements at once, which overlap those of other lanes.
  .set FORM, LOCAL
  begin pairs
  fill
  v_lshlrev_b32 v3, 3, v0
  turns
  ds_read2_b32 v[10:11], v1 offset0:1 offset1:2
  wait
  add v11, v10, v11
  ds_write2_b32 v3, v11, v10 offset0:0 offset1:1
  wait
  ds_read2st64_b32 v[12:13], v1 offset0:1 offset1:0
  wait
  add v12, s10, v12
  v_xor_b32 v13, v12, v13
  ds_write2st64_b32 v2, v13, v12 offset0:0 offset1:3
  wait
  ds_read2_b64 v[14:17], v3 offset0:1 offset1:5
  wait
  add v14, v14, v16
  add v15, v15, v17
  ds_write_b64 v3, v[14:15] offset:16
  wait
  next
  drain
  end pairs

// Registers of other lanes and memory in turn.
  begin registers
  fill
  turns
  s_and_b32 s11, s10, 63
  ld 4, 10, 1
  v_readlane_b32 s26, v10, s11
  v_readlane_b32 s27, v10, 63
  ds_swizzle_b32 v11, v10 offset:0x401f
  wait
  add v11, s26, v11
  st 4, 2, 11
  ld 4, 12, 1, 4
  v_writelane_b32 v12, s27, 17
  v_readfirstlane_b32 s27, v12
.if GENERATION >= 8
  v_mov_b32_dpp v13, v12 quad_perm:[1,2,3,0] row_mask:0xf bank_mask:0xf
  s_nop 1
  v_mov_b32_dpp v14, v13 row_shr:3 row_mask:0xf bank_mask:0xf bound_ctrl:0
  s_nop 1
  v_mov_b32_dpp v15, v14 row_mirror row_mask:0xf bank_mask:0xf
  ds_bpermute_b32 v16, v2, v15 offset:20
  wait
.else
  ds_swizzle_b32 v16, v12 offset:0x8039
  wait
.endif
  v_xor_b32 v16, s27, v16
  st 4, 1, 16
  next
  drain
  end registers

// Scalar loads of what lanes stored.
  .set FORM, POINTER
  begin scalar_loads
  turns
  ld 4, 10, 1
  add v10, s10, v10
  st 4, 2, 10
  s_dcache_inv
  s_load_dwordx4 s[20:23], s[4:5], 0x0
  s_load_dword s24, s[4:5], 252/SCALE
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v11, s20
  v_xor_b32 v11, s23, v11
  add v11, s24, v11
  ld 4, 12, 1
  add v11, v11, v12
  st 4, 1, 11
  s_dcache_inv
  s_load_dwordx2 s[20:21], s[4:5], 128/SCALE
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v11, s21
  add v11, s20, v11
  st 4, 1, 11, 256
  next
  end scalar_loads

.if GENERATION >= 8
// Scalar stores between what lanes load and store.
  begin scalar_stores
  turns
  ld 4, 10, 1
  add v10, s10, v10
  st 4, 1, 10
  s_lshl_b32 s20, s10, 3
  s_and_b32 s20, s20, 0xfc
  s_store_dword s10, s[4:5], 20
  s_mov_b32 s21, 0x1234567
  s_mov_b32 m0, s20
  s_store_dword s21, s[4:5], m0
  s_dcache_wb
  s_waitcnt lgkmcnt(0)
  s_mov_b32 m0, -1
  ld 4, 11, 2
  v_xor_b32 v11, v11, v10
  st 4, 1, 11
  next
  end scalar_stores
.endif

// Loads that go to LDS, past the registers.
  begin to_lds
  turns
  s_movk_i32 m0, 256
  buffer_load_dword v1, s[16:19], 0 offen lds
  wait
  s_movk_i32 m0, 384
  buffer_load_dword v2, s[16:19], 0 offen offset:4 lds
  wait
  s_mov_b32 m0, -1
  ld 4, 10, 2, 260, LOCAL
  add v10, s10, v10
  st 4, 1, 10
  ld 4, 11, 1, 0
  st 4, 1, 11, 256, LOCAL
  ld 4, 12, 1, 384, LOCAL
  st 4, 2, 12, 256
  next
  end to_lds

// Barriers between exchanges, one wave.
  .set FORM, LOCAL
  begin barriers
  fill
  turns
  ld 4, 10, 1, 4
  s_barrier
  add v10, s10, v10
  st 4, 2, 10
  ld 4, 11, 1
  s_barrier
  v_xor_b32 v11, v10, v11
  st 4, 1, 11, 8
  next
  drain
  end barriers

.if GENERATION >= 9
// LDS as flat addresses reach it.
  begin aperture
  fill
  s_mov_b64 s[20:21], src_shared_base
  v_mov_b32 v31, s21
  v_mov_b32 v30, v2
  v_mov_b32 v33, s21
  v_mov_b32 v32, v1
  turns
  ld 4, 10, 1
  add v10, s10, v10
  flat_store_dword v[30:31], v10
  wait
  ld 4, 11, 1, 4
  flat_load_dword v12, v[30:31] offset:8
  wait
  v_xor_b32 v12, v11, v12
  st 4, 1, 12
  flat_load_dword v13, v[30:31]
  wait
  add v13, v13, v12
  flat_store_dword v[32:33], v13 offset:4
  wait
  next
  drain
  end aperture

// Three dwords and pieces of registers.
  .set FORM, POINTER
  begin triples
  v_lshlrev_b32 v3, 3, v0
  turns
  global_load_dwordx3 v[10:12], v3, s[4:5] offset:8
  wait
  add v10, s10, v10
  global_store_dwordx3 v3, v[10:12], s[4:5]
  wait
  global_load_dwordx3 v[10:12], v3, s[4:5]
  wait
  v_xor_b32 v11, v10, v12
  global_store_short_d16_hi v3, v11, s[4:5] offset:4
  wait
  global_load_short_d16 v12, v1, s[4:5] offset:4
  wait
  global_store_dword v2, v12, s[4:5] offset:4
  wait
  next
  end triples
.endif
