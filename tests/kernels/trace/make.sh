#!/bin/sh
# Compiles the kernel whose trace is tests/golden/trace.txt. Needs clang-19, lld-19 and rocm-device-libs.
set -e
cd "$(dirname "$0")"
clang-19 -x cl -cl-std=CL2.0 --target=amdgcn-amd-amdhsa -mcpu=gfx900 -mcode-object-version=5 -O2 \
    --rocm-device-lib-path=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode trace.cl -o trace.gfx900.co
