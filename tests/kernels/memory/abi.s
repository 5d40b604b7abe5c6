// What a wave finds in its registers when it starts. Each kernel asks for other registers in its
// descriptor, and dumps what it finds into a record of its own: rows of 64 dwords, as numbered below,
// from `out` on. `slots` counts the records. The host writes both variables after loading.

.set ROW_SCALARS, 0              // s0 to s31, EXEC in lanes 32 and 33, MODE in 34, the record's number in 35
.set ROW_X, 1                    // v0
.set ROW_Y, 2                    // v1
.set ROW_Z, 3                    // v2
.set ROW_PACKET, 4               // behind the dispatch pointer
.set ROW_QUEUE, 5                // behind the queue pointer
.set ROW_KERNARG, 6              // behind the kernarg pointer
.set ROW_SCRATCH, 7              // what was stored through the private segment buffer, loaded again
.set ROW_FLAT_SCRATCH, 8         // the same place through FLAT_SCRATCH
.set ROWS, 9

.include "target.inc"

  .data
  .p2align 4
  .globl out
  .protected out
  .type out,@object
  .size out, 16
out:
  .quad 0                        // address of the records
  .quad 0                        // address of their number

.macro load value, address
.if .amdgcn.gfx_generation_number == 6
  buffer_load_dword \value, \address, s[60:63], 0 addr64
.else
  flat_load_dword \value, \address
.endif
  s_waitcnt vmcnt(0) & lgkmcnt(0)
.endm

// Writes a row of the record; v[12:13] is the lane's place in its first row.
.macro row number, value
  v_mov_b32 v14, \number * 256
  add_carry v14, v12, v14
  v_mov_b32 v15, 0
  addc v15, v15, v13
  store \value, v[14:15], s[60:63]
.endm

// Copies the first dwords behind a pointer in two SGPRs to a row.
.macro behind number, register, dwords
  s_mov_b64 exec, -1
  v_mov_b32 v20, 0
.if \dwords < 64
  s_bfm_b64 exec, \dwords, 0
.endif
  v_mov_b32 v17, s[\register + 1]
  add_carry v16, s[\register], v11
  addc v17, 0, v17
  load v20, v[16:17]
  s_mov_b64 exec, -1
  row \number, v20
.endm

// A kernel: what its descriptor asks for, as 0 or 1 (`items` is the work-item id field, `count` the number
// of user SGPRs).
.macro abi name, buffer=0, dispatch=0, queue=0, kernarg=0, id=0, flat=0, size=0, count, x=0, y=0, z=0, info=0, offset=0, items=0
  // Where they are.
  .set AT, 4 * \buffer
  .set DISPATCH, AT
  .set AT, AT + 2 * \dispatch
  .set QUEUE, AT
  .set AT, AT + 2 * \queue
  .set KERNARG, AT
  .set AT, AT + 2 * \kernarg + 2 * \id
  .set FLAT, AT
  .set WAVE_OFFSET, \count + \x + \y + \z + \info

  code \name
  s_getreg_b32 s50, hwreg(HW_REG_MODE)
  s_mov_b64 s[48:49], exec
  s_mov_b64 exec, -1
  s_getpc_b64 s[40:41]
  s_add_u32 s40, s40, out@rel32@lo+4
  s_addc_u32 s41, s41, out@rel32@hi+12
  s_load_dwordx4 s[40:43], s[40:41], 0x0
  all_memory 60
  s_waitcnt lgkmcnt(0)
  // The number of the record: lane 0 counts.
  v_mov_b32 v10, 1
  v_mov_b32 v12, s42
  v_mov_b32 v13, s43
  s_mov_b64 exec, 1
.if .amdgcn.gfx_generation_number == 6
  buffer_atomic_add v10, v[12:13], s[60:63], 0 addr64 glc
.else
  flat_atomic_add v10, v[12:13], v10 glc
.endif
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  v_readfirstlane_b32 s44, v10
  s_mov_b64 exec, -1
  s_mul_i32 s45, s44, ROWS * 256
  // v11 = 4 * lane; v[12:13] = out + record + 4 * lane
  v_mbcnt_lo_u32_b32 v11, -1, 0
.if .amdgcn.gfx_generation_number >= 8
  v_mbcnt_hi_u32_b32 v11, -1, v11
.else
  v_mbcnt_hi_u32_b32_e64 v11, -1, v11
.endif
  v_lshlrev_b32 v11, 2, v11
  add_carry v12, s45, v11
  v_mov_b32 v13, s41
  add_carry v12, s40, v12
  addc v13, 0, v13
  row ROW_X, v0
  row ROW_Y, v1
  row ROW_Z, v2
  v_mov_b32 v18, 0
.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
  v_writelane_b32 v18, s\n, \n
.endr
  v_writelane_b32 v18, s48, 32
  v_writelane_b32 v18, s49, 33
  v_writelane_b32 v18, s50, 34
  v_writelane_b32 v18, s44, 35
  row ROW_SCALARS, v18
.if \dispatch
  behind ROW_PACKET, DISPATCH, 16
.endif
.if \queue
  behind ROW_QUEUE, QUEUE, 64
.endif
.if \kernarg
  behind ROW_KERNARG, KERNARG, 6
.endif
.if \buffer && \offset
  // Dword 3 of the lane's scratch; the lanes' values tell the wave.
  own_value v19
  s_mov_b64 exec, s[48:49]
  buffer_store_dword v19, off, s[0:3], s[WAVE_OFFSET] offset:12
  s_waitcnt vmcnt(0)
  s_mov_b64 exec, -1
  v_mov_b32 v19, 0
  s_mov_b64 exec, s[48:49]
  buffer_load_dword v19, off, s[0:3], s[WAVE_OFFSET] offset:12
  s_waitcnt vmcnt(0)
  s_mov_b64 exec, -1
  row ROW_SCRATCH, v19
.endif
.if \flat && \offset && .amdgcn.gfx_generation_number >= 7
.if .amdgcn.gfx_generation_number == 9
  s_add_u32 flat_scratch_lo, s[FLAT], s[WAVE_OFFSET]
  s_addc_u32 flat_scratch_hi, s[FLAT + 1], 0
.else
  s_mov_b32 flat_scratch_lo, s[FLAT + 1]
  s_add_u32 s46, s[FLAT], s[WAVE_OFFSET]
  s_lshr_b32 flat_scratch_hi, s46, 8
.endif
.if \queue
  // Through the aperture that the queue tells.
  s_load_dword s47, s[QUEUE:QUEUE + 1], 0x44/SCALE
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v16, 12
  v_mov_b32 v17, s47
.if \buffer == 0
  own_value v19
  s_mov_b64 exec, s[48:49]
  flat_store_dword v[16:17], v19
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  s_mov_b64 exec, -1
.endif
  v_mov_b32 v19, 0
  s_mov_b64 exec, s[48:49]
  flat_load_dword v19, v[16:17]
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  s_mov_b64 exec, -1
  row ROW_FLAT_SCRATCH, v19
.endif
.endif
  s_endpgm
  code_end \name
  .amdhsa_kernel \name
    .amdhsa_user_sgpr_private_segment_buffer \buffer
    .amdhsa_user_sgpr_dispatch_ptr \dispatch
    .amdhsa_user_sgpr_queue_ptr \queue
    .amdhsa_user_sgpr_kernarg_segment_ptr \kernarg
    .amdhsa_user_sgpr_dispatch_id \id
    .amdhsa_user_sgpr_flat_scratch_init \flat
    .amdhsa_user_sgpr_private_segment_size \size
    .amdhsa_user_sgpr_count \count
    .amdhsa_system_sgpr_workgroup_id_x \x
    .amdhsa_system_sgpr_workgroup_id_y \y
    .amdhsa_system_sgpr_workgroup_id_z \z
    .amdhsa_system_sgpr_workgroup_info \info
    .amdhsa_system_sgpr_private_segment_wavefront_offset \offset
    .amdhsa_system_vgpr_workitem_id \items
    .amdhsa_kernarg_size 24
    .amdhsa_private_segment_fixed_size 48 * \offset
    .amdhsa_next_free_vgpr 24
    .amdhsa_next_free_sgpr 96
    .amdhsa_ieee_mode 1
    .amdhsa_dx10_clamp 0
    .amdhsa_float_round_mode_32 1
    .amdhsa_float_round_mode_16_64 2
    .amdhsa_float_denorm_mode_32 1
    .amdhsa_float_denorm_mode_16_64 3
  .end_amdhsa_kernel
  .text
.endm

// 1000 * record + 4 * lane
.macro own_value d
  s_mul_i32 s46, s44, 1000
  add_carry \d, s46, v11
.endm

.if .amdgcn.gfx_generation_number >= 7
  .set FLAT_INIT, 1
.else
  .set FLAT_INIT, 0
.endif

  abi everything, buffer=1, dispatch=1, queue=1, kernarg=1, id=1, flat=FLAT_INIT, size=1, count=13+2*FLAT_INIT, x=1, y=1, z=1, info=1, offset=1, items=2
  abi nothing, count=0
  abi ids_only, count=0, x=1, y=1, z=1, items=2
  abi packet_and_id, dispatch=1, id=1, count=4, y=1, items=1
  abi sparse_count, queue=1, kernarg=1, count=9, z=1, info=1
  abi full_count, kernarg=1, count=16, x=1, z=1, items=1
  abi buffer_and_size, buffer=1, size=1, count=5, offset=1
  abi buffer_last, buffer=1, kernarg=1, count=6, x=1, y=1, offset=1, items=2
.if FLAT_INIT
  abi flat_without_buffer, queue=1, flat=1, count=4, info=1, offset=1, items=1
  abi flat_and_size, buffer=1, queue=1, flat=1, size=1, count=12, y=1, z=1, offset=1
.endif
