#!/bin/sh
# Remakes the code objects of this folder: DWARF 5, DWARF 5 with the source text, and compressed DWARF 4; for coverage DWARF 5.
# Debian packages: clang-19 lld-19
set -e
cd "$(dirname "$0")"
options="-x hip --cuda-device-only -nogpuinc -nogpulib -O1 -g -mcode-object-version=5 --no-gpu-bundle-output"
options="$options -fdebug-compilation-dir=."
clang-19 $options --offload-arch=gfx906 -gdwarf-5 lines.hip -o lines.gfx906.co
clang-19 $options --offload-arch=gfx803 -gdwarf-4 -gz lines.hip -o lines.gfx803.co
clang-19 $options --offload-arch=gfx900 -gdwarf-5 -gembed-source lines.hip -o lines.gfx900.co
clang-19 $options --offload-arch=gfx906 -gdwarf-5 branches.hip -o branches.gfx906.co
chmod 644 ./*.co
