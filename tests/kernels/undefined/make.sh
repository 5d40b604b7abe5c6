#!/bin/sh
# Remakes the code objects of this folder. Debian packages: lld-19 llvm-19
set -e
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

{
    cat pairs.s
    printf '.amdgpu_metadata\n---\namdhsa.version: [1, 1]\namdhsa.kernels:\n'
    for pair in $(sed -n 's/^pair \([a-z]\)/\1/p' pairs.s | tr -d ' '); do
        case $pair in
        *,*) scratch=${pair#*,} ;;
        *) scratch=0 ;;
        esac
        pair=${pair%,*}
        for kernel in "${pair}_defective" "${pair}_repaired"; do
            cat <<END
  - .name: $kernel
    .symbol: $kernel.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 1024
    .private_segment_fixed_size: $scratch
    .wavefront_size: 64
    .sgpr_count: 60
    .vgpr_count: 16
    .max_flat_workgroup_size: 64
    .args:
      - { .name: input, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global }
      - { .name: output, .size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: undefined, .size: 8, .offset: 16, .value_kind: global_buffer, .address_space: global }
END
        done
    done
    printf '.end_amdgpu_metadata\n'
} > "$work/pairs.s"

for target in gfx803 gfx906; do
    llvm-mc-19 -triple=amdgcn-amd-amdhsa -mcpu=$target -filetype=obj "$work/pairs.s" -o "$work/pairs.o"
    ld.lld-19 -shared "$work/pairs.o" -o pairs.$target.co
    llvm-strip-19 pairs.$target.co
done
chmod 644 ./*.co
ls -l ./*.co
