"""Code objects with a kernel for each case, by clang; and which cases a target has, by llvm-mc."""

import re
import subprocess

HEAD = "\t.amdgcn_target \"amdgcn-amd-amdhsa--{target}\"\n\t.text\n"
DESCRIPTOR = """	.rodata
	.p2align 6
	.amdhsa_kernel {name}
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 24
		.amdhsa_next_free_vgpr 64
		.amdhsa_next_free_sgpr 80
{more}	.end_amdhsa_kernel
	.text
"""


def tool(name):
    """A tool of LLVM 19, or one without a version in its name."""
    import shutil

    return shutil.which(f"{name}-19") or shutil.which(name) or f"{name}-19"


def accepted(target, lines):
    """The encoding of each line that the assembler has for a target, else None."""
    text = "\n".join(lines) + "\n"
    command = [tool("llvm-mc"), "--triple=amdgcn-amd-amdhsa", f"--mcpu={target}", "--show-encoding"]
    bad = set()
    run = subprocess.run(command, input=text, capture_output=True, text=True)
    for m in re.finditer(r"^<stdin>:(\d+):\d+: error", run.stderr, re.M):
        bad.add(int(m.group(1)) - 1)
    if bad:
        good = "\n".join("" if i in bad else line for i, line in enumerate(lines)) + "\n"
        run = subprocess.run(command, input=good, capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(run.stderr[:2000])
    codes = iter(re.findall(r"encoding: \[([^\]]*)\]", run.stdout))
    return [None if i in bad else next(codes) for i in range(len(lines))]


def kernel(name, body, target):
    """A kernel of these lines."""
    more = "\t\t.amdhsa_accum_offset 64\n" if target in ("gfx90a", "gfx942") else ""
    lines = "".join(f"\t{line}\n" for line in body)
    head = f"\t.globl {name}\n\t.p2align 8\n\t.type {name},@function\n{name}:\n"
    return f"{head}{lines}\ts_endpgm\n.L{name}:\n\t.size {name}, .L{name}-{name}\n" + DESCRIPTOR.format(name=name, more=more)


def code_object(path, target, kernels, metadata=""):
    """Assembles and links (name, lines) to a file."""
    source = path.with_suffix(".s")
    text = HEAD.format(target=target) + "".join(kernel(name, body, target) for name, body in kernels)
    source.write_text(text + metadata)
    command = [tool("clang"), "--target=amdgcn-amd-amdhsa", f"-mcpu={target}", "-nostdlib", str(source), "-o", str(path)]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(run.stderr[:2000])
