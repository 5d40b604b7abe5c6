// Kernels that do wrong, or nearly so. No metadata: the kernarg segment is
//   +0 u64 address, +8 u64 out, +16 u32 lane, +20 u32 value
// Lane `lane` accesses `address`; every other lane its own 16 bytes of `out`.

.include "target.inc"

.macro end name, lds=0, scratch=0
  code_end \name
  .amdhsa_kernel \name
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_user_sgpr_count 2
    .amdhsa_kernarg_size 24
    .amdhsa_group_segment_fixed_size \lds
    .amdhsa_private_segment_fixed_size \scratch
    .amdhsa_next_free_vgpr 16
    .amdhsa_next_free_sgpr 32
  .end_amdhsa_kernel
  .text
.endm

// s[4:5] address, s[6:7] out, s8 lane, s9 value; v[2:3] the lane's address, v[4:7] the value,
// v[12:13] the lane's place in out.
.macro setup
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dwordx2 s[8:9], s[0:1], 16/SCALE
  s_waitcnt lgkmcnt(0)
  v_lshlrev_b32 v1, 4, v0
  v_mov_b32 v3, s7
  add_carry v12, s6, v1
  addc v13, 0, v3
  v_mov_b32 v2, s4
  v_mov_b32 v3, s5
  v_cmp_eq_u32 vcc, s8, v0
  v_cndmask_b32 v2, v12, v2, vcc
  v_cndmask_b32 v3, v13, v3, vcc
  v_mov_b32 v4, s9
  v_mov_b32 v5, s9
  v_mov_b32 v6, s9
  v_mov_b32 v7, s9
.if .amdgcn.gfx_generation_number == 6
  all_memory 12
.endif
.endm

// An access at v[2:3] by whatever instruction the target has.
.macro access name, flat, buffer
  code \name
  setup
.if .amdgcn.gfx_generation_number == 6
  \buffer
.else
  \flat
.endif
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  s_endpgm
  end \name
.endm

access load1, "flat_load_ubyte v8, v[2:3]", "buffer_load_ubyte v8, v[2:3], s[12:15], 0 addr64"
access load4, "flat_load_dword v8, v[2:3]", "buffer_load_dword v8, v[2:3], s[12:15], 0 addr64"
access load16, "flat_load_dwordx4 v[8:11], v[2:3]", "buffer_load_dwordx4 v[8:11], v[2:3], s[12:15], 0 addr64"
access store2, "flat_store_short v[2:3], v4", "buffer_store_short v4, v[2:3], s[12:15], 0 addr64"
access store4, "flat_store_dword v[2:3], v4", "buffer_store_dword v4, v[2:3], s[12:15], 0 addr64"
access store16, "flat_store_dwordx4 v[2:3], v[4:7]", "buffer_store_dwordx4 v[4:7], v[2:3], s[12:15], 0 addr64"
access atomic4, "flat_atomic_add v[2:3], v4", "buffer_atomic_add v4, v[2:3], s[12:15], 0 addr64"
access atomic8, "flat_atomic_smax_x2 v[8:9], v[2:3], v[4:5] glc", "buffer_atomic_smax_x2 v[4:5], v[2:3], s[12:15], 0 addr64 glc"
access atomic_cas, "flat_atomic_cmpswap v8, v[2:3], v[4:5] glc", "buffer_atomic_cmpswap v[4:5], v[2:3], s[12:15], 0 addr64 glc"

.if .amdgcn.gfx_generation_number >= 9
access global4, "global_load_dword v8, v[2:3], off", ""
access global_store8, "global_store_dwordx2 v[2:3], v[4:5], off", ""
  code global_base
  setup
  v_mov_b32 v2, s8
  global_load_dword v8, v2, s[4:5] offset:-16
  s_waitcnt vmcnt(0)
  s_endpgm
  end global_base
.endif

// A load that no lane does.
  code masked
  setup
  s_mov_b64 exec, 0
.if .amdgcn.gfx_generation_number == 6
  buffer_load_dword v8, v[2:3], s[12:15], 0 addr64
  buffer_atomic_add v4, v[2:3], s[12:15], 0 addr64
.else
  flat_load_dword v8, v[2:3]
  flat_atomic_add v[2:3], v4
.endif
  s_waitcnt vmcnt(0)
  s_endpgm
  end masked

// Stores 9 to out and ends.
.macro mark
  v_mov_b32 v4, 9
  store v4, v[12:13], s[12:15]
  s_endpgm
.endm

  code scalar4
  setup
  s_load_dword s10, s[4:5], 0x0
  s_waitcnt lgkmcnt(0)
  mark
  end scalar4

  code scalar64
  setup
  s_load_dwordx16 s[16:31], s[4:5], 0x0
  s_waitcnt lgkmcnt(0)
  mark
  end scalar64

  code jump
  setup
  s_setpc_b64 s[4:5]
  mark
  end jump

  code call
  setup
  s_swappc_b64 s[30:31], s[4:5]
  mark
  end call

// Jumps into the literal of an instruction: there stands s_endpgm.
  code middle
  setup
  s_branch 1
  s_mov_b32 s10, 0xbf810000
  mark
  end middle

// The same, and there stands nothing that is an instruction.
  code middle_illegal
  setup
  s_branch 1
  s_mov_b32 s10, 0xbfff1234
  mark
  end middle_illegal

// Through an address in a register.
  code middle_jump
  setup
  s_getpc_b64 s[10:11]
  s_add_u32 s10, s10, 20
  s_addc_u32 s11, s11, 0
  s_setpc_b64 s[10:11]
  s_nop 0
  s_mov_b32 s10, 0xbf810000
  mark
  end middle_jump

// Far outside the code, and back before its beginning.
  code branch_out
  setup
  s_branch 0x7fff
  end branch_out

  code branch_back
  setup
  s_branch 0x8000
  end branch_back

  code illegal
  setup
  .long 0xbfff1234
  mark
  end illegal

// An instruction that is none but never reached.
  code illegal_skipped
  setup
  s_branch skip
  .long 0xbfff1234
skip:
  mark
  end illegal_skipped

  code illegal_skipped_by_exec
  setup
  s_cbranch_execnz skip2
  .long 0xbfff1234
skip2:
  mark
  end illegal_skipped_by_exec

// Writes s_endpgm over the code that follows, which goes on as it was.
  code self_modify
  setup
  s_getpc_b64 s[10:11]
  s_mov_b32 s16, 0xbf810000
  v_mov_b32 v8, s16
  v_mov_b32 v9, s16
  v_mov_b32 v2, s10
  v_mov_b32 v3, s11
  v_mov_b32 v14, 64
  v_mov_b32 v15, 0
  s_mov_b64 exec, 1
.if .amdgcn.gfx_generation_number == 6
  add_carry v2, v2, v14
  addc v3, v15, v3
  buffer_store_dwordx2 v[8:9], v[2:3], s[12:15], 0 addr64
.else
  add_carry v2, v2, v14
  addc v3, v15, v3
  flat_store_dwordx2 v[2:3], v[8:9]
.endif
  s_waitcnt vmcnt(0)
  s_icache_inv
  s_mov_b64 exec, -1
  s_nop 0
  s_nop 0
  s_nop 0
  s_nop 0
  s_nop 0
  s_nop 0
  s_nop 0
  s_nop 0
  mark
  end self_modify

// Jumps to data. They are the same instructions as elsewhere, but only what the loader was told to be
// code can be run.
.macro to_data
  s_getpc_b64 s[10:11]
  s_add_u32 s10, s10, data_code@rel32@lo+4
  s_addc_u32 s11, s11, data_code@rel32@hi+12
.endm

  code run_data
  setup
  to_data
  s_setpc_b64 s[10:11]
  end run_data

// Writes s_endpgm over them before.
  code modify_data
  setup
  to_data
  s_mov_b32 s16, 0xbf810000
  v_mov_b32 v8, s16
  v_mov_b32 v2, s10
  v_mov_b32 v3, s11
  s_mov_b64 exec, 1
  store v8, v[2:3], s[12:15]
  s_icache_inv
  s_mov_b64 exec, -1
  s_setpc_b64 s[10:11]
  end modify_data

  .data
  .p2align 8
data_code:
  mark
  .text

  code endless
  setup
again:
  s_branch again
  end endless

  code endless_jump
  setup
  s_getpc_b64 s[10:11]
  s_nop 0
  s_setpc_b64 s[10:11]
  end endless_jump

// Every wave comes to the barrier again and again.
  code endless_barrier
  setup
more:
  s_barrier
  s_branch more
  end endless_barrier

// Wave 0 never comes to the barrier where the others wait.
  code hung_barrier
  setup
  v_readfirstlane_b32 s10, v0
  s_cmp_eq_u32 s10, 0
  s_cbranch_scc1 spin
  s_barrier
  s_endpgm
spin:
  s_nop 0
  s_branch spin
  end hung_barrier

  code trap2
  setup
  s_trap 2
  mark
  end trap2

  code trap3
  setup
  s_trap 3
  mark
  end trap3

  code trap9
  setup
  s_trap 9
  mark
  end trap9

// Writes lane numbers + 100 to LDS at value + 4 * lane, reads them back.
  code lds
  setup
  s_mov_b32 m0, -1
  v_mov_b32 v8, 0x64
  v_lshlrev_b32 v1, 2, v0
  add_carry v8, v8, v0
  add_carry v9, s9, v1
  ds_write_b32 v9, v8
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v4, v9
  s_waitcnt lgkmcnt(0)
  store v4, v[12:13], s[12:15]
  s_endpgm
  end lds, 64

  code fine
  setup
  mark
  end fine

// The last instruction of the code: nothing ends the wave.
  code past_end
  setup
  s_nop 0
  end past_end
