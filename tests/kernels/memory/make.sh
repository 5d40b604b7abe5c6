#!/bin/sh
# Remakes the code objects of this folder. Debian packages: clang-19 lld-19 llvm-19 rocm-device-libs
set -e
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The libraries of gfx942 are those of gfx940; Debian's packages have them under that name only.
libs=$work/libs
mkdir "$libs"
ln -s /usr/lib/x86_64-linux-gnu/amdgcn/bitcode/* "$libs"
[ -e "$libs/oclc_isa_version_942.bc" ] || ln -s oclc_isa_version_940.bc "$libs/oclc_isa_version_942.bc"

# Registers that a function saves are decided with its callees in view (inter-procedural allocation),
# which clang 19 gets wrong for functions that call each other.
cl() { # source, target, version, output, more options
    source=$1 target=$2 version=$3 output=$4
    shift 4
    clang-19 -x cl -cl-std=CL2.0 -O2 -Wall --target=amdgcn-amd-amdhsa -mcpu="$target" -mcode-object-version="$version" \
        -ffp-contract=off -mllvm -enable-ipra=0 -Xclang -cl-ext=+__cl_clang_function_pointers --rocm-device-lib-path="$libs" \
        "$@" "$source.cl" -o "$output"
}
arrays="-Xclang -target-feature -Xclang -promote-alloca"

for target in gfx600 gfx700 gfx803 gfx900 gfx906; do
    for name in atomics access below calls exchange granules order ids recursion; do
        cl $name $target 5 $name.$target.co
    done
    cl ids $target 4 ids.v4.$target.co
    cl scratch $target 5 scratch.$target.co $arrays
    case $target in
    gfx9*) cl scratch $target 5 scratch.flat.$target.co $arrays -Xclang -target-feature -Xclang +enable-flat-scratch ;;
    esac
    for name in hostile private restart abi; do
        llvm-mc-19 -triple=amdgcn-amd-amdhsa -mcpu=$target -filetype=obj $name.s -o "$work/$name.o"
        ld.lld-19 -shared "$work/$name.o" -o $name.$target.co
    done
    [ $target = gfx600 ] || cl generic $target 5 generic.$target.co
done
for target in gfx600 gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a gfx942; do
    cl shapes $target 5 shapes.$target.co
    cl shapes $target 4 shapes.v4.$target.co
done
for target in gfx600 gfx700 gfx900; do
    cl pieces $target 5 pieces.$target.co
done
cl shapes gfx90a 5 shapes.preload.gfx90a.co -mllvm -amdgpu-kernarg-preload-count=8
llvm-mc-19 -triple=amdgcn-amd-amdhsa -mcpu=gfx90a -filetype=obj preload.s -o "$work/preload.o"
ld.lld-19 -shared "$work/preload.o" -o preload.gfx90a.co
for name in atomics access calls exchange generic granules ids recursion scratch; do
    cl $name gfx942 5 $name.gfx942.co
done
for target in gfx908 gfx90a gfx942; do
    cl below $target 5 below.$target.co
done
chmod 644 ./*.co
ls -l ./*.co
