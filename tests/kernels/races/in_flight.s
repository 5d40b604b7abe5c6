// Flags between workgroups, with waits that a compiler would not write. All accesses are MUBUF's.
//
// Workgroup 2n stores two words for each lane and then a flag; workgroup 2n+1 polls the flag and loads the words.
// kernarg: +0 input, +8 output, +16 data, +24 flags.

.macro descriptor first
  s_mov_b32 s[\first + 2], -1
  s_mov_b32 s[\first + 3], 0x00027fac
.endm

.macro store_flag
  buffer_store_dword v7, v4, s[20:23], 0 offen
.endm

.macro load_data
  buffer_load_dword v5, v3, s[16:19], 0 offen
  buffer_load_dword v6, v3, s[16:19], 0 offen offset:4
.endm

// What a kernel does wrong; each is 0 in what is repaired.
// flag_first: the flag is stored in front of the words.
// in_flight: so many stores may be in flight when the flag is stored.
// load_first: the words are loaded in front of the poll.
// early: L1 is invalidated in front of the load of the flag, not behind it.
.macro flag_kernel name, bounded, flag_first=0, in_flight=0, load_first=0, early=0
.text
.globl \name
.p2align 8
.type \name,@function
\name:
  s_load_dwordx8 s[24:31], s[4:5], 0x0
  s_lshr_b32 s7, s6, 1
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  s_mov_b64 s[8:9], s[24:25]
  s_mov_b64 s[12:13], s[26:27]
  s_mov_b64 s[16:17], s[28:29]
  s_mov_b64 s[20:21], s[30:31]
  descriptor 8
  descriptor 12
  descriptor 16
  descriptor 20
  s_lshl_b32 s0, s7, 8
  v_or_b32 v1, s0, v1               // the word of input and output
  v_lshlrev_b32 v3, 1, v1           // the words of data
  s_lshl_b32 s0, s7, 2
  v_mov_b32 v4, s0                  // the flag
  v_mov_b32 v7, 1
  s_bitcmp1_b32 s6, 0
  s_cbranch_scc1 \name\()_consumer

  buffer_load_dword v5, v1, s[8:11], 0 offen
  s_waitcnt vmcnt(0)
  v_xor_b32 v6, 0x55, v5
.if \flag_first
  store_flag
  s_waitcnt vmcnt(0)
.endif
  buffer_store_dword v5, v3, s[16:19], 0 offen
  buffer_store_dword v6, v3, s[16:19], 0 offen offset:4
.if \flag_first == 0
  s_waitcnt vmcnt(\in_flight)
  store_flag
.endif
  s_endpgm

\name\()_consumer:
  s_movk_i32 s1, 1000
.if \load_first
  load_data
.endif
\name\()_poll:
.if \early
  buffer_wbinvl1_vol
.endif
  buffer_load_dword v8, v4, s[20:23], 0 offen glc
  s_waitcnt vmcnt(0)
.if \early == 0
  buffer_wbinvl1_vol
.endif
  v_readfirstlane_b32 s0, v8
.if \bounded
  s_sub_u32 s1, s1, 1
  s_cmp_eq_u32 s1, 0
  s_cbranch_scc1 \name\()_go
.endif
  s_cmp_eq_u32 s0, 0
  s_cbranch_scc1 \name\()_poll
\name\()_go:
.if \load_first == 0
  load_data
.endif
  s_waitcnt vmcnt(0)
  v_lshlrev_b32 v6, 16, v6
  v_or_b32 v5, v6, v5
  buffer_store_dword v5, v1, s[12:15], 0 offen
  s_endpgm
.size \name, .-\name

.rodata
.p2align 6
.amdhsa_kernel \name
  .amdhsa_kernarg_size 32
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_user_sgpr_dispatch_ptr 0
  .amdhsa_user_sgpr_private_segment_buffer 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_next_free_vgpr 9
  .amdhsa_next_free_sgpr 32
.end_amdhsa_kernel
.text
.endm

flag_kernel flag_first_racy, bounded=1, flag_first=1
flag_kernel flag_first_repaired, bounded=0
flag_kernel in_flight_racy, bounded=1, in_flight=1
flag_kernel in_flight_repaired, bounded=0
flag_kernel load_first_racy, bounded=1, load_first=1
flag_kernel load_first_repaired, bounded=0
flag_kernel early_invalidate_racy, bounded=1, early=1
flag_kernel early_invalidate_repaired, bounded=0

.amdgpu_metadata
---
amdhsa.version: [1, 1]
amdhsa.kernels:
  - .name: flag_first_racy
    .symbol: flag_first_racy.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 32
    .vgpr_count: 9
    .max_flat_workgroup_size: 64
    .args:
      - { .name: input, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global }
      - { .name: output, .size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: data, .size: 8, .offset: 16, .value_kind: global_buffer, .address_space: global }
      - { .name: flags, .size: 8, .offset: 24, .value_kind: global_buffer, .address_space: global }
  - .name: flag_first_repaired
    .symbol: flag_first_repaired.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 32
    .vgpr_count: 9
    .max_flat_workgroup_size: 64
    .args:
      - { .name: input, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global }
      - { .name: output, .size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: data, .size: 8, .offset: 16, .value_kind: global_buffer, .address_space: global }
      - { .name: flags, .size: 8, .offset: 24, .value_kind: global_buffer, .address_space: global }
  - .name: in_flight_racy
    .symbol: in_flight_racy.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 32
    .vgpr_count: 9
    .max_flat_workgroup_size: 64
    .args:
      - { .name: input, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global }
      - { .name: output, .size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: data, .size: 8, .offset: 16, .value_kind: global_buffer, .address_space: global }
      - { .name: flags, .size: 8, .offset: 24, .value_kind: global_buffer, .address_space: global }
  - .name: in_flight_repaired
    .symbol: in_flight_repaired.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 32
    .vgpr_count: 9
    .max_flat_workgroup_size: 64
    .args:
      - { .name: input, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global }
      - { .name: output, .size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: data, .size: 8, .offset: 16, .value_kind: global_buffer, .address_space: global }
      - { .name: flags, .size: 8, .offset: 24, .value_kind: global_buffer, .address_space: global }
  - .name: load_first_racy
    .symbol: load_first_racy.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 32
    .vgpr_count: 9
    .max_flat_workgroup_size: 64
    .args:
      - { .name: input, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global }
      - { .name: output, .size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: data, .size: 8, .offset: 16, .value_kind: global_buffer, .address_space: global }
      - { .name: flags, .size: 8, .offset: 24, .value_kind: global_buffer, .address_space: global }
  - .name: load_first_repaired
    .symbol: load_first_repaired.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 32
    .vgpr_count: 9
    .max_flat_workgroup_size: 64
    .args:
      - { .name: input, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global }
      - { .name: output, .size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: data, .size: 8, .offset: 16, .value_kind: global_buffer, .address_space: global }
      - { .name: flags, .size: 8, .offset: 24, .value_kind: global_buffer, .address_space: global }
  - .name: early_invalidate_racy
    .symbol: early_invalidate_racy.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 32
    .vgpr_count: 9
    .max_flat_workgroup_size: 64
    .args:
      - { .name: input, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global }
      - { .name: output, .size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: data, .size: 8, .offset: 16, .value_kind: global_buffer, .address_space: global }
      - { .name: flags, .size: 8, .offset: 24, .value_kind: global_buffer, .address_space: global }
  - .name: early_invalidate_repaired
    .symbol: early_invalidate_repaired.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 32
    .vgpr_count: 9
    .max_flat_workgroup_size: 64
    .args:
      - { .name: input, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global }
      - { .name: output, .size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: data, .size: 8, .offset: 16, .value_kind: global_buffer, .address_space: global }
      - { .name: flags, .size: 8, .offset: 24, .value_kind: global_buffer, .address_space: global }
.end_amdgpu_metadata
