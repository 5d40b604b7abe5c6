#!/bin/sh
# Assembles the kernels that do wrong. Needs clang-19 and lld-19.
set -e
cd "$(dirname "$0")"
clang-19 --target=amdgcn-amd-amdhsa -mcpu=gfx900 -mcode-object-version=5 faults.s -o faults.gfx900.co
