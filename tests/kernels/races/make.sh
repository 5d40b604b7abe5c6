#!/bin/sh
# Remakes the code objects of this folder. Debian packages: clang-19 lld-19 llvm-19 rocm-device-libs
set -e
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The kernels are to have the atomics that are written there, one for each lane.
cl() { # source, name, target
    clang-19 -x cl -cl-std=CL2.0 -O2 -Wall -Wno-sometimes-uninitialized --target=amdgcn-amd-amdhsa -mcpu="$3" -mcode-object-version=5 \
        -mllvm -amdgpu-atomic-optimizer-strategy=None -I . \
        --rocm-device-lib-path=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode "$1" -o "$2.$3.co"
}

for target in gfx803 gfx906; do
    for name in bytes counters flags graph grid late reduce sort tile waves; do
        printf '#define RACY\n#include "%s.cl"\n#undef RACY\n#include "%s.cl"\n' $name $name > "$work/pairs.cl"
        cl "$work/pairs.cl" $name $target
    done
    for name in barriers defects intended synchronised; do
        cl $name.cl $name $target
    done
    llvm-mc-19 -triple=amdgcn-amd-amdhsa -mcpu=$target -filetype=obj in_flight.s -o "$work/in_flight.o"
    ld.lld-19 -shared "$work/in_flight.o" -o in_flight.$target.co
    llvm-strip-19 ./*.$target.co
done
chmod 644 ./*.co
ls -l ./*.co
