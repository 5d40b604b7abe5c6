// Kernels that write what kernels may only read, and with DATA a kernel that changes the code
// object's variable. For gfx900; make.sh assembles them. Argument 0 is a number of 8 bytes.
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
.endm

.macro end name
	s_endpgm
.L\name\()_end:
	.size \name, .L\name\()_end-\name
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel \name
		.amdhsa_kernarg_size 8
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 16
	.end_amdhsa_kernel
	.text
.endm

// Lane 3 writes the second half of argument 0.
kernel write_arguments
	v_cmp_eq_u32_e32 vcc, 3, v0
	s_and_b64 exec, exec, vcc
	v_mov_b32_e32 v1, s4
	v_mov_b32_e32 v2, s5
	global_store_dword v[1:2], v0, off offset:4
end write_arguments

// Lane 5 adds to the constant behind this code.
kernel write_code
	s_getpc_b64 s[8:9]
	s_add_u32 s8, s8, .Lconstant-write_code-4
	s_addc_u32 s9, s9, 0
	v_cmp_eq_u32_e32 vcc, 5, v0
	s_and_b64 exec, exec, vcc
	v_mov_b32_e32 v1, 0
	global_atomic_add v1, v0, s[8:9]
	s_endpgm
.Lconstant:
	.long 0
end write_code

.ifdef DATA
// Every lane adds 1 to the variable.
kernel count
	s_getpc_b64 s[8:9]
	s_add_u32 s8, s8, counter@rel32@lo+4
	s_addc_u32 s9, s9, counter@rel32@hi+12
	v_mov_b32_e32 v1, 0
	v_mov_b32_e32 v2, 1
	global_atomic_add v1, v2, s[8:9]
end count

	.data
	.globl counter
	.protected counter
	.p2align 2
	.type counter,@object
	.size counter, 4
counter:
	.long 1000
.endif

	.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx900
amdhsa.kernels:
  - .name: write_arguments
    .symbol: write_arguments.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - { .name: number, .offset: 0, .size: 8, .value_kind: by_value }
  - .name: write_code
    .symbol: write_code.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - { .name: number, .offset: 0, .size: 8, .value_kind: by_value }
...
	.end_amdgpu_metadata
