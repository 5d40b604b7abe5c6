// Kernels that use what nobody wrote, and the same kernels repaired.
//
// kernarg: +0 x, 64 words; +8 y, 256 words; +16 u, 256 words that nobody has written.
// A body finds descriptors of them in s[16:19], s[20:23] and s[24:27], its work-item's byte offset in v1, its scratch behind
// s[0:3] and s7, and \fix: 1 if it is repaired. `finish` stores v2 to y.

.macro descriptor to, from
  s_mov_b64 s[\to : \to + 1], s[\from : \from + 1]
  s_mov_b32 s[\to + 2], -1
  s_mov_b32 s[\to + 3], 0x00027fac
.endm

.macro finish
  buffer_store_dword v2, v1, s[20:23], 0 offen
  s_endpgm
.endm

.macro kernel body, suffix, fix, scratch
.text
.globl \body\()_\suffix
.p2align 8
.type \body\()_\suffix,@function
\body\()_\suffix:
  s_load_dwordx4 s[8:11], s[4:5], 0x0
  s_load_dwordx2 s[12:13], s[4:5], 0x10
  s_mov_b32 m0, -1
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  descriptor 16, 8
  descriptor 20, 10
  descriptor 24, 12
  \body \fix
.size \body\()_\suffix, .-\body\()_\suffix
.rodata
.p2align 6
.amdhsa_kernel \body\()_\suffix
  .amdhsa_kernarg_size 24
  .amdhsa_group_segment_fixed_size 1024
  .amdhsa_private_segment_fixed_size \scratch
  .amdhsa_user_sgpr_private_segment_buffer 1
  .amdhsa_user_sgpr_dispatch_ptr 0
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_system_sgpr_private_segment_wavefront_offset 1
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr 60
.end_amdhsa_kernel
.endm

.macro pair body, scratch=0
  kernel \body, defective, 0, \scratch
  kernel \body, repaired, 1, \scratch
.endm

// ---- registers

.macro register_output fix
.if \fix
  v_mov_b32 v3, 1.0
.endif
  v_add_f32 v2, 1.0, v3
  finish
.endm

.macro register_address fix
.if \fix
  v_mov_b32 v3, v1
.endif
  buffer_load_dword v2, v3, s[16:19], 0 offen
  s_waitcnt vmcnt(0)
  finish
.endm

.macro register_branch fix
.if \fix
  s_mov_b32 s40, 1
.endif
  v_mov_b32 v2, 1
  s_cmp_eq_u32 s40, 0
  s_cbranch_scc1 1f
  v_mov_b32 v2, 2
1:
  finish
.endm

.macro register_offset fix
.if \fix
  s_mov_b32 s40, 4
.endif
  s_buffer_load_dword s41, s[16:19], s40
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v2, s41
  finish
.endm

.macro register_descriptor fix
  s_mov_b64 s[28:29], s[16:17]
.if \fix
  s_mov_b32 s30, s18
.endif
  s_mov_b32 s31, s19
  buffer_load_dword v2, v1, s[28:31], 0 offen
  s_waitcnt vmcnt(0)
  finish
.endm

.macro register_loop fix
.if \fix
  v_mov_b32 v2, 0
.endif
  s_mov_b32 s40, 4
1:
  v_add_f32 v2, 1.0, v2
  s_sub_u32 s40, s40, 1
  s_cmp_lg_u32 s40, 0
  s_cbranch_scc1 1b
  finish
.endm

.macro register_condition fix
.if \fix
  v_cmp_ne_u32 vcc, 0, v0
.endif
  v_cndmask_b32 v2, 0, v1, vcc
  finish
.endm

.macro register_atomic fix
.if \fix
  v_mov_b32 v3, 1
.endif
  buffer_atomic_add v3, v1, s[20:23], 0 offen
  s_endpgm
.endm

// Of lanes that were inactive nobody has written v3.
.macro inactive_lanes fix
  s_mov_b64 exec, 1
  v_mov_b32 v3, 7
.if \fix == 0
  s_mov_b64 exec, -1
.endif
  v_max_u32 v2, 1, v3
  finish
.endm

// The value is in lane 0, the other one is that of a lane that nobody has written.
.macro spilled_lane fix
  v_writelane_b32 v4, s6, 0
.if \fix
  v_readlane_b32 s40, v4, 0
.else
  v_readlane_b32 s40, v4, 1
.endif
  v_mov_b32 v2, 1
  s_cmp_eq_u32 s40, 0
  s_cbranch_scc1 1f
  v_mov_b32 v2, 2
1:
  finish
.endm

.macro half_register fix
  v_mov_b32_sdwa v3, v0 dst_sel:WORD_0 dst_unused:UNUSED_PRESERVE src0_sel:DWORD
.if \fix
  v_mov_b32_sdwa v3, v0 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD
.endif
  v_max_u32 v2, 1, v3
  finish
.endm

// The low half only was written, and only it is used.
.macro bpermute fix
  s_mov_b32 exec_hi, 0
  v_mov_b32 v3, v0
  s_mov_b32 exec_hi, -1
  v_mov_b32 v4, v1
.if \fix
  v_and_b32 v4, 0x7c, v1
.endif
  ds_bpermute_b32 v2, v4, v3
  s_waitcnt lgkmcnt(0)
  v_max_u32 v2, 1, v2
  finish
.endm

// Compilers leave bits of masks undefined that no active lane has.
.macro mask fix
.if \fix
  s_andn2_b64 s[28:29], s[28:29], exec
  v_cmp_ne_u32 vcc, 0, v0
  s_and_b64 vcc, vcc, exec
  s_or_b64 s[28:29], s[28:29], vcc
.endif
  v_mov_b32 v2, 1
  s_and_b64 vcc, exec, s[28:29]
  s_cbranch_vccnz 1f
  v_mov_b32 v2, 2
1:
  finish
.endm

// ---- LDS

.macro lds_output fix
.if \fix
  ds_write_b32 v1, v0
.endif
  ds_read_b32 v2, v1
  s_waitcnt lgkmcnt(0)
  finish
.endm

.macro lds_address fix
.if \fix
  ds_write_b32 v1, v0
.endif
  ds_read_b32 v3, v1
  s_waitcnt lgkmcnt(0)
  v_and_b32 v3, 0xfc, v3
  buffer_load_dword v2, v3, s[16:19], 0 offen
  s_waitcnt vmcnt(0)
  finish
.endm

.macro lds_branch fix
.if \fix
  ds_write_b32 v1, v0
.endif
  ds_read_b32 v3, v1
  v_mov_b32 v2, 1
  s_waitcnt lgkmcnt(0)
  v_cmp_eq_u32 vcc, 0, v3
  s_and_saveexec_b64 s[28:29], vcc
  v_mov_b32 v2, 2
  s_mov_b64 exec, s[28:29]
  finish
.endm

.macro lds_bytes fix
.if \fix
  ds_write_b32 v1, v0
.else
  ds_write_b16 v1, v0
.endif
  ds_read_b32 v3, v1
  s_waitcnt lgkmcnt(0)
  v_max_u32 v2, 1, v3
  finish
.endm

.macro lds_atomic fix
  v_mov_b32 v3, 1
.if \fix
  ds_write_b32 v1, v3
.endif
  ds_add_u32 v1, v3
  ds_read_b32 v2, v1
  s_waitcnt lgkmcnt(0)
  finish
.endm

// ---- scratch

.macro scratch_output fix
.if \fix
  buffer_store_dword v0, off, s[0:3], s7 offset:4
.endif
  buffer_load_dword v2, off, s[0:3], s7 offset:4
  s_waitcnt vmcnt(0)
  finish
.endm

.macro scratch_address fix
.if \fix
  buffer_store_dword v0, off, s[0:3], s7 offset:4
.endif
  buffer_load_dword v3, off, s[0:3], s7 offset:4
  s_waitcnt vmcnt(0)
  v_and_b32 v3, 0xfc, v3
  ds_bpermute_b32 v4, v1, v3
  s_waitcnt lgkmcnt(0)
  buffer_load_dword v2, v4, s[16:19], 0 offen
  s_waitcnt vmcnt(0)
  finish
.endm

.macro scratch_branch fix
.if \fix
  buffer_store_dword v0, off, s[0:3], s7 offset:4
.endif
  buffer_load_dword v3, off, s[0:3], s7 offset:4
  v_mov_b32 v2, 1
  s_waitcnt vmcnt(0)
  v_cmp_ne_u32 vcc, 0, v3
  s_cbranch_vccnz 1f
  v_mov_b32 v2, 2
1:
  finish
.endm

.macro scratch_bytes fix
.if \fix
  buffer_store_dword v0, off, s[0:3], s7 offset:4
.else
  buffer_store_byte v0, off, s[0:3], s7 offset:4
.endif
  buffer_load_dword v3, off, s[0:3], s7 offset:4
  s_waitcnt vmcnt(0)
  v_max_u32 v2, 1, v3
  finish
.endm

.macro scratch_spill fix
.if \fix
  v_mov_b32 v3, 1.0
.endif
  buffer_store_dword v3, off, s[0:3], s7 offset:8
  buffer_load_dword v4, off, s[0:3], s7 offset:8
  s_waitcnt vmcnt(0)
  v_add_f32 v2, 1.0, v4
  finish
.endm

// ---- global memory

.macro write_u fix
.if \fix
  buffer_store_dword v0, v1, s[24:27], 0 offen
.endif
.endm

.macro global_output fix
  write_u \fix
  buffer_load_dword v3, v1, s[24:27], 0 offen
  s_waitcnt vmcnt(0)
  v_max_u32 v2, 1, v3
  finish
.endm

.macro global_copy fix
  write_u \fix
  buffer_load_dword v2, v1, s[24:27], 0 offen
  s_waitcnt vmcnt(0)
  finish
.endm

.macro global_address fix
  write_u \fix
  buffer_load_dword v3, v1, s[24:27], 0 offen
  s_waitcnt vmcnt(0)
  v_and_b32 v3, 0xfc, v3
  buffer_load_dword v2, v3, s[16:19], 0 offen
  s_waitcnt vmcnt(0)
  finish
.endm

.macro global_branch fix
  write_u \fix
  buffer_load_dword v3, v1, s[24:27], 0 offen
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s40, v3
  v_mov_b32 v2, 1
  s_cmp_lt_u32 s40, 5
  s_cbranch_scc1 1f
  v_mov_b32 v2, 2
1:
  finish
.endm

pair register_output
pair register_address
pair register_branch
pair register_offset
pair register_descriptor
pair register_loop
pair register_condition
pair register_atomic
pair inactive_lanes
pair spilled_lane
pair half_register
pair bpermute
pair mask
pair lds_output
pair lds_address
pair lds_branch
pair lds_bytes
pair lds_atomic
pair scratch_output, 16
pair scratch_address, 16
pair scratch_branch, 16
pair scratch_bytes, 16
pair scratch_spill, 16
pair global_output
pair global_copy
pair global_address
pair global_branch
