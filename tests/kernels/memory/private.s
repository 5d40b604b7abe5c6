// What only one wave or one workgroup sees: LDS, scratch, registers. No metadata: the kernarg segment is
//   +0 u64 address, +8 u64 out, +16 u32 lane
// s[0:3] scratch descriptor, s[4:5] kernarg, s[6:7] flat scratch init, s8 workgroup, s9 wave offset.
// A lane has 64 bytes of scratch, a group 256 bytes of LDS.

.include "target.inc"
.if .amdgcn.gfx_generation_number >= 7
  .set FLAT_SCRATCH, 1
.else
  .set FLAT_SCRATCH, 0
.endif

.macro begin name
  code \name
  s_load_dwordx4 s[12:15], s[4:5], 0x0
  s_load_dword s16, s[4:5], 16/SCALE
  s_waitcnt lgkmcnt(0)
  s_mov_b32 m0, -1
  v_lshlrev_b32 v1, 2, v0
.if .amdgcn.gfx_generation_number == 6
  all_memory 20
.elseif .amdgcn.gfx_generation_number == 9
  s_add_u32 flat_scratch_lo, s6, s9
  s_addc_u32 flat_scratch_hi, s7, 0
.else
  s_mov_b32 flat_scratch_lo, s7
  s_add_u32 s6, s6, s9
  s_lshr_b32 flat_scratch_hi, s6, 8
.endif
.endm

.macro end name
  s_endpgm
  code_end \name
  .amdhsa_kernel \name
    .amdhsa_user_sgpr_private_segment_buffer 1
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_user_sgpr_flat_scratch_init FLAT_SCRATCH
    .amdhsa_user_sgpr_count 8
    .amdhsa_system_sgpr_private_segment_wavefront_offset 1
    .amdhsa_kernarg_size 24
    .amdhsa_group_segment_fixed_size 256
    .amdhsa_private_segment_fixed_size 64
    .amdhsa_next_free_vgpr 16
    .amdhsa_next_free_sgpr 32
  .end_amdhsa_kernel
  .text
.endm

// v[12:13]: the work-item's dword of out.
.macro place
  v_mov_b32 v12, s8
  v_lshlrev_b32 v12, 8, v12
  add_carry v12, v12, v1
  v_mov_b32 v13, s15
  add_carry v12, s14, v12
  addc v13, 0, v13
.endm

.macro put value
  store \value, v[12:13], s[20:23]
.endm

// What nobody has written in this wave or group: registers beyond the wave's, scratch, LDS, the
// registers of another number. All of it is 0, and then it is not.
  begin stale
  place
  v_mov_b32 v2, 0
  v_or_b32 v2, v2, v14
  v_or_b32 v2, v2, v40
  v_or_b32 v2, v2, v255
  v_or_b32 v2, s30, v2
  v_or_b32 v2, s101, v2
  buffer_load_dword v3, off, s[0:3], s9 offset:4
  s_waitcnt vmcnt(0)
  v_or_b32 v2, v2, v3
  buffer_load_dword v3, off, s[0:3], s9 offset:60
  s_waitcnt vmcnt(0)
  v_or_b32 v2, v2, v3
  ds_read_b32 v3, v1
  s_waitcnt lgkmcnt(0)
  v_or_b32 v2, v2, v3
  put v2
  v_mov_b32 v14, -1
  v_mov_b32 v40, -1
  v_mov_b32 v255, -1
  s_mov_b32 s30, -1
  s_mov_b32 s101, -1
  ds_write_b32 v1, v14
  buffer_store_dword v14, off, s[0:3], s9 offset:4
  buffer_store_dword v14, off, s[0:3], s9 offset:60
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  end stale

// Everything is written before it is read, LDS by the other wave of the group.
  begin written
  place
  v_xor_b32 v2, 0x40, v0
  v_lshlrev_b32 v2, 1, v2
  ds_write_b16 v2, v0
  s_waitcnt lgkmcnt(0)
  s_barrier
  v_lshlrev_b32 v3, 1, v0
  ds_read_u16 v4, v3
  buffer_store_byte v0, off, s[0:3], s9 offset:8
  buffer_store_byte v0, off, s[0:3], s9 offset:9
  buffer_store_short v0, off, s[0:3], s9 offset:10
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  buffer_load_dword v5, off, s[0:3], s9 offset:8
  s_waitcnt vmcnt(0)
  v_lshrrev_b32 v5, 16, v5
  v_lshlrev_b32 v5, 8, v5
  v_or_b32 v4, v4, v5
  put v4
  end written

// LDS: lanes below 32 have written their dword.
.macro half_written
  s_mov_b64 s[24:25], exec
  s_mov_b32 exec_hi, 0
  ds_write_b32 v1, v0
  s_mov_b64 exec, s[24:25]
  s_waitcnt lgkmcnt(0)
.endm

.macro lds name, inst:vararg
  begin \name
  half_written
  \inst
  s_waitcnt lgkmcnt(0)
  end \name
.endm

  lds lds_read, ds_read_b32 v2, v1
  lds lds_read_byte, ds_read_u8 v2, v1 offset:3
  lds lds_read_wide, ds_read_b64 v[2:3], v1
  lds lds_read2, ds_read2_b32 v[2:3], v1 offset0:0 offset1:20
  lds lds_atomic, ds_add_u32 v1, v0
  lds lds_atomic_return, ds_cmpst_rtn_b32 v2, v1, v0, v0
  lds lds_write_outside, ds_write_b32 v1, v0 offset:4
  lds lds_write2_outside, ds_write2_b32 v1, v0, v0 offset0:0 offset1:33
  lds lds_read_outside, ds_read_b32 v2, v1 offset:256
  lds lds_append, ds_append v2 offset:128
.if .amdgcn.gfx_generation_number >= 7
  lds lds_read_quad, ds_read_b128 v[4:7], v1
.endif

// LDS through its aperture, at `address` + 4 * lane.
.macro flat_lds name, inst:vararg
.if .amdgcn.gfx_generation_number >= 7
  begin \name
  half_written
  v_mov_b32 v3, s13
  add_carry v2, s12, v1
  addc v3, 0, v3
  \inst
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  end \name
.endif
.endm

  flat_lds flat_read, flat_load_dword v4, v[2:3]
  flat_lds flat_write, flat_store_dword v[2:3], v0
  flat_lds flat_atomic, flat_atomic_add v4, v[2:3], v0 glc

// Scratch: lanes below 32 have written dword 2.
.macro scratch_begin name
  begin \name
  s_mov_b64 s[24:25], exec
  s_mov_b32 exec_hi, 0
  buffer_store_dword v0, off, s[0:3], s9 offset:8
  s_mov_b64 exec, s[24:25]
  s_waitcnt vmcnt(0)
  v_mov_b32 v2, 8
.endm

.macro scratch name, inst:vararg
  scratch_begin \name
  \inst
  s_waitcnt vmcnt(0)
  end \name
.endm

  scratch scratch_load, buffer_load_dword v4, off, s[0:3], s9 offset:8
  scratch scratch_offen, buffer_load_dword v4, v2, s[0:3], s9 offen
  scratch scratch_byte, buffer_load_ubyte v4, off, s[0:3], s9 offset:11
  scratch scratch_wide, buffer_load_dwordx2 v[4:5], off, s[0:3], s9 offset:4
  scratch scratch_atomic, buffer_atomic_add v4, off, s[0:3], s9 offset:8
.if .amdgcn.gfx_generation_number >= 9
  scratch scratch_inst, scratch_load_dword v4, v2, off
  scratch scratch_inst_outside, scratch_store_dword v2, v4, off offset:64
  // Lanes from some on: their offset grows by 4 a lane.
  scratch scratch_inst_outside_lane, scratch_store_dwordx4 v1, v[4:7], off
  scratch scratch_inst_read_outside, scratch_load_ushort v4, v1, off offset:32
.endif

// Scratch through its aperture, at `address`.
.macro flat_scratch name, inst:vararg
.if .amdgcn.gfx_generation_number >= 7
  scratch_begin \name
  v_mov_b32 v2, s12
  v_mov_b32 v3, s13
  \inst
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  end \name
.endif
.endm

  flat_scratch flat_scratch_read, flat_load_dword v4, v[2:3]
  flat_scratch flat_scratch_write, flat_store_dword v[2:3], v4
  flat_scratch flat_scratch_atomic, flat_atomic_swap v4, v[2:3], v0 glc

// Global memory at `address` + 16 * lane, where `lane` lanes act.
.macro global name, flat, buffer
  begin \name
  s_bfm_b64 exec, s16, 0
  v_lshlrev_b32 v2, 4, v0
  v_mov_b32 v3, s13
  add_carry v2, s12, v2
  addc v3, 0, v3
.if .amdgcn.gfx_generation_number == 6
  \buffer
.else
  \flat
.endif
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  end \name
.endm

  global global_load, "flat_load_dword v4, v[2:3]", "buffer_load_dword v4, v[2:3], s[20:23], 0 addr64"
  global global_load_byte, "flat_load_ubyte v4, v[2:3]", "buffer_load_ubyte v4, v[2:3], s[20:23], 0 addr64"
  global global_load_quad, "flat_load_dwordx4 v[4:7], v[2:3]", "buffer_load_dwordx4 v[4:7], v[2:3], s[20:23], 0 addr64"
  global global_store_pair, "flat_store_dwordx2 v[2:3], v[4:5]", "buffer_store_dwordx2 v[4:5], v[2:3], s[20:23], 0 addr64"
  global global_atomic, "flat_atomic_add v[2:3], v4", "buffer_atomic_add v4, v[2:3], s[20:23], 0 addr64"

  begin scalar_load
  s_load_dwordx4 s[24:27], s[12:13], 0x0
  s_waitcnt lgkmcnt(0)
  end scalar_load

// A descriptor of 2^32 - 1 bytes at `address`; four bytes at 4 * lane.
.macro descriptor name, inst:vararg
  begin \name
  s_mov_b32 s24, s12
  s_and_b32 s25, s13, 0xffff
  s_mov_b32 s26, -1
  s_mov_b32 s27, 0x27fac
  \inst
  s_waitcnt vmcnt(0)
  end \name
.endm

  descriptor huge_load, buffer_load_dword v4, v1, s[24:27], 0 offen
  descriptor huge_store, buffer_store_dword v4, v1, s[24:27], 0 offen
  descriptor huge_format, buffer_load_format_x v4, v1, s[24:27], 0 offen
  descriptor huge_atomic, buffer_atomic_add v4, v1, s[24:27], 0 offen
  descriptor huge_scalar, s_buffer_load_dwordx2 s[28:29], s[24:27], 0x0

// EXEC at a fault is that of the instruction.
  begin exec_of_scalar
  v_cmp_gt_u32 vcc, 5, v0
  s_and_b64 exec, exec, vcc
  s_load_dword s24, s[12:13], 0x0
  s_mov_b64 exec, -1
  s_waitcnt lgkmcnt(0)
  end exec_of_scalar

  begin exec_of_vector
  v_mov_b32 v2, s12
  v_mov_b32 v3, s13
  s_mov_b32 exec_hi, 0
.if .amdgcn.gfx_generation_number == 6
  buffer_load_dword v4, v[2:3], s[20:23], 0 addr64
.else
  flat_load_dword v4, v[2:3]
.endif
  s_mov_b64 exec, -1
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  end exec_of_vector
