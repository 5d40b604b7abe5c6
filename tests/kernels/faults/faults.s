// Kernels that do wrong, each in one way, and some that only look wrong. For gfx900; make.sh
// assembles them. Argument 0 is a buffer, argument 1 a number of 8 bytes.
//
// At the start: s[4:5] address of the arguments, s6 workgroup, v0 work-item.

	.amdgcn_target "amdgcn-amd-amdhsa--gfx900"
	.amdhsa_code_object_version 5

.macro kernel name
	.text
	.globl \name
	.p2align 8
	.type \name,@function
\name:
	s_load_dwordx4 s[0:3], s[4:5], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	s_waitcnt lgkmcnt(0)
.endm

.macro end name
.L\name\()_end:
	.size \name, .L\name\()_end-\name
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel \name
		.amdhsa_kernarg_size 16
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 16
	.end_amdhsa_kernel
	.text
.endm

// v[2:3] = the number in lane 17, the work-item's place in the buffer in other lanes.
.macro wild
	v_mov_b32_e32 v3, s1
	v_add_co_u32_e32 v2, vcc, s0, v1
	v_addc_co_u32_e32 v3, vcc, 0, v3, vcc
	v_cmp_eq_u32_e32 vcc, 17, v0
	v_mov_b32_e32 v4, s2
	v_mov_b32_e32 v5, s3
	v_cndmask_b32_e32 v2, v2, v4, vcc
	v_cndmask_b32_e32 v3, v3, v5, vcc
.endm

// Stores the work-item's number: the kernel that is right.
kernel fine
	global_store_dword v1, v0, s[0:1]
	s_endpgm
end fine

// Reaches a word that is no instruction.
kernel unknown_reached
	global_store_dword v1, v0, s[0:1]
	.long 0xbfff0000
	s_endpgm
end unknown_reached

// Has a word that is no instruction, and jumps over it.
kernel unknown_skipped
	s_branch 1
	.long 0xbfff0000
	global_store_dword v1, v0, s[0:1]
	s_endpgm
end unknown_skipped

// Lane 17 loads from the number.
kernel wild_load
	wild
	global_load_dword v6, v[2:3], off
	s_waitcnt vmcnt(0)
	global_store_dword v1, v6, s[0:1]
	s_endpgm
end wild_load

// Lane 17 stores to the number.
kernel wild_store
	wild
	global_store_dwordx2 v[2:3], v[0:1], off
	s_endpgm
end wild_store

// Every lane loads from 8 bytes behind address 0.
kernel null_load
	v_mov_b32_e32 v2, 0
	v_mov_b32_e32 v3, 0
	global_load_dwordx2 v[2:3], v[2:3], off offset:8
	s_endpgm
end null_load

// The scalar unit loads from address 0.
kernel null_scalar
	s_mov_b64 s[8:9], 0
	s_load_dword s8, s[8:9], 0x0
	s_endpgm
end null_scalar

// An atomic two bytes into the buffer.
kernel misaligned
	v_mov_b32_e32 v2, 2
	v_mov_b32_e32 v3, 1
	global_atomic_add v2, v3, s[0:1]
	s_endpgm
end misaligned

// Never ends.
kernel endless
.Lendless_loop:
	s_add_u32 s8, s8, 1
	s_branch .Lendless_loop
end endless

// Stops itself in the second workgroup.
kernel trap
	s_cmp_eq_u32 s6, 1
	s_cbranch_scc0 .Ltrap_out
	s_trap 2
.Ltrap_out:
	s_endpgm
end trap

// Jumps to address 0.
kernel wild_jump
	s_mov_b64 s[8:9], 0
	s_setpc_b64 s[8:9]
end wild_jump

// Runs past the end of the code. The last kernel.
kernel runs_off
	s_nop 0
end runs_off

	.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx900
amdhsa.kernels:
  - .name: fine
    .symbol: fine.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - { .name: buffer, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: number, .offset: 8, .size: 8, .value_kind: by_value }
  - .name: unknown_reached
    .symbol: unknown_reached.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - { .name: buffer, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: number, .offset: 8, .size: 8, .value_kind: by_value }
  - .name: unknown_skipped
    .symbol: unknown_skipped.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - { .name: buffer, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: number, .offset: 8, .size: 8, .value_kind: by_value }
  - .name: wild_load
    .symbol: wild_load.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - { .name: buffer, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: number, .offset: 8, .size: 8, .value_kind: by_value }
  - .name: wild_store
    .symbol: wild_store.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - { .name: buffer, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: number, .offset: 8, .size: 8, .value_kind: by_value }
  - .name: null_load
    .symbol: null_load.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - { .name: buffer, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: number, .offset: 8, .size: 8, .value_kind: by_value }
  - .name: null_scalar
    .symbol: null_scalar.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - { .name: buffer, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: number, .offset: 8, .size: 8, .value_kind: by_value }
  - .name: misaligned
    .symbol: misaligned.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - { .name: buffer, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: number, .offset: 8, .size: 8, .value_kind: by_value }
  - .name: endless
    .symbol: endless.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - { .name: buffer, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: number, .offset: 8, .size: 8, .value_kind: by_value }
  - .name: trap
    .symbol: trap.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - { .name: buffer, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: number, .offset: 8, .size: 8, .value_kind: by_value }
  - .name: wild_jump
    .symbol: wild_jump.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - { .name: buffer, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: number, .offset: 8, .size: 8, .value_kind: by_value }
  - .name: runs_off
    .symbol: runs_off.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - { .name: buffer, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: number, .offset: 8, .size: 8, .value_kind: by_value }
...
	.end_amdgpu_metadata
