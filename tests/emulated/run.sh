#!/bin/bash
# Runs tests of the `exec` suite on an emulated CPU with AVX-512; see README.md.
#
#   tests/emulated/run.sh [FILTER ...]        what to run; without it the differential tests and those of operations
#
# The tests' own variables (ROUNDS, SEED, ...) are handed on; MODEL is the emulated CPU, SECONDS_AT_MOST the patience.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$PWD/target/emulated
root=$work/root
model=${MODEL:-corei7_skylake_x}
filter=${*:-differential:: lanes_equal_waves_with_avx512}
mkdir -p "$work"

command -v bochs >/dev/null || { echo "wants bochs (Debian: bochs, bochsbios, vgabios)" >&2; exit 1; }
if ! compgen -G "$root/boot/vmlinuz-*" >/dev/null; then
    kernel=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/ *Depends: \(linux-image.*\)/\1/p' | head -1)
    mkdir -p "$work/packages" "$root"
    (cd "$work/packages" && apt-get download "$kernel" isolinux syslinux-common busybox-static \
        xorriso libisoburn1 libburn4 libisofs6 libjte2)
    for package in "$work"/packages/*.deb; do dpkg-deb -x "$package" "$root"; done
fi

echo "building the tests"
test=$(cargo test --test exec --no-run --message-format=json 2>"$work/build.log" |
    sed -n 's/.*"name":"exec".*"executable":"\([^"]*\)".*/\1/p' | tail -1)
[ -n "$test" ] || { cat "$work/build.log" >&2; exit 1; }

# The first file system: the tests with their libraries, a shell, and what it starts with.
files=$work/files
rm -rf "$files" && mkdir -p "$files"/{bin,dev,proc,tmp,lib64}
cp "$root/bin/busybox" "$files/bin/busybox"
# What tests read, where they look for it.
mkdir -p "$files$PWD" && cp -r tests examples "$files$PWD/"
strip -g -o "$files/test" "$test"
ldd "$test" | grep -o '/[^ ]*' | while read -r library; do
    mkdir -p "$files$(dirname "$library")" && cp -L "$library" "$files$library"
done
{
    echo '#!/bin/busybox sh'
    echo 'b=/bin/busybox; $b mount -t proc proc /proc; $b mount -t devtmpfs dev /dev; $b mount -t tmpfs tmp /tmp'
    echo 'echo 1 > /proc/sys/vm/overcommit_memory'
    for name in ROUNDS SEED LENGTH LOOPS STATES INSTRUCTIONS ALL_SHAPES FAILURES WITHOUT SUMMARY ROW OPERATION WORDS CODE EXEC SHAPE; do
        [ -z "${!name:-}" ] || echo "export $name=${!name@Q}"
    done
    echo 'export TMPDIR=/tmp RUST_BACKTRACE=0'
    echo "\$b grep -m1 -o 'avx512[a-z]* ' /proc/cpuinfo"
    echo "/test --test-threads=1 --nocapture $filter && echo EMULATED PASSED || echo EMULATED FAILED"
    echo '$b sleep 10000'
} >"$files/init"
chmod +x "$files/init"

disc=$work/disc
rm -rf "$disc" && mkdir -p "$disc/isolinux"
(cd "$files" && find . | "$root/bin/busybox" cpio -o -H newc 2>/dev/null | gzip -1) >"$disc/initrd.gz"
cp "$root"/boot/vmlinuz-* "$disc/vmlinuz"
cp "$root/usr/lib/ISOLINUX/isolinux.bin" "$root/usr/lib/syslinux/modules/bios/ldlinux.c32" "$disc/isolinux/"
# The emulator's list of what XSAVE saves is not in order: without these features what is left is.
cat >"$disc/isolinux/isolinux.cfg" <<'END'
default l
prompt 0
label l
 kernel /vmlinuz
 append initrd=/initrd.gz console=ttyS0 mitigations=off noxsaves clearcpuid=pku,xsavec,xsaves,mpx acpi=off nosmp quiet
END
LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu "$root/usr/bin/xorrisofs" -quiet -o "$work/disc.iso" \
    -b isolinux/isolinux.bin -c isolinux/boot.cat -no-emul-boot -boot-load-size 4 -boot-info-table "$disc"

cat >"$work/bochsrc" <<END
config_interface: textconfig
display_library: rfb, options="timeout=0"
cpu: model=$model, count=1, ips=50000000, reset_on_triple_fault=0
memory: guest=2048, host=2048
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
ata0-master: type=cdrom, path=$work/disc.iso, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev=$work/serial.txt
log: $work/bochs.log
panic: action=fatal
error: action=ignore
info: action=ignore
clock: sync=none
sound: waveoutdrv=dummy, waveindrv=dummy, midioutdrv=dummy
plugin_ctrl: speaker=0, gameport=0, parallel=0, iodebug=0
END
echo c >"$work/debugger"
: >"$work/serial.txt"
echo "emulating $model; its console is $work/serial.txt"
# It does not end by itself: what the tests say in the end does that, or patience.
bochs -q -f "$work/bochsrc" -rc "$work/debugger" </dev/null >"$work/bochs.out" 2>&1 &
emulator=$!
trap 'kill "$emulator" 2>/dev/null || true' EXIT
last=$((SECONDS + ${SECONDS_AT_MOST:-3600}))
while [ "$SECONDS" -lt "$last" ] && kill -0 "$emulator" 2>/dev/null; do
    ! grep -q 'EMULATED [PF]\|Kernel panic' "$work/serial.txt" || break
    sleep 2
done
sed -n '/avx512/,$p' "$work/serial.txt" | tr -d '\r'
grep -q 'EMULATED PASSED' "$work/serial.txt"
