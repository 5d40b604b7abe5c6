#!/bin/sh
# Remakes the code objects of this folder. Debian packages: clang-19 lld-19 llvm-19 rocm-device-libs
set -e
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The kernels are to have the atomics that are written there, one for each lane.
for target in gfx600 gfx803 gfx900 gfx906; do
    clang-19 -x cl -cl-std=CL2.0 -O2 -Wall --target=amdgcn-amd-amdhsa -mcpu=$target -mcode-object-version=5 \
        -mllvm -amdgpu-atomic-optimizer-strategy=None -Xclang -target-feature -Xclang -promote-alloca \
        --rocm-device-lib-path=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode compiled.cl -o compiled.$target.co
    llvm-mc-19 -triple=amdgcn-amd-amdhsa -mcpu=$target -filetype=obj -I ../memory assembly.s -o "$work/assembly.o"
    ld.lld-19 -shared "$work/assembly.o" -o assembly.$target.co
    llvm-strip-19 compiled.$target.co assembly.$target.co
done
chmod 644 ./*.co
ls -l ./*.co
