#!/bin/sh
# Assembles the kernels that do wrong. Needs clang-19 and lld-19.
set -e
cd "$(dirname "$0")"
options="--target=amdgcn-amd-amdhsa -mcpu=gfx900 -mcode-object-version=5"
clang-19 $options faults.s -o faults.gfx900.co
clang-19 $options read_only.s -o read_only.gfx900.co
clang-19 $options -Wa,-defsym,DATA=1 read_only.s -o read_write.gfx900.co
