"""Runs each case on the interpreter over many inputs, and compares with the definitions' values.

A kernel loads v0 to v15 of each lane and some scalar registers of each wave, executes the instruction
under the EXEC of the wave, and stores all that a case may write. Scalar instructions run in workgroups
of one work-item.
"""

import hashlib
import random
import re
import struct
import subprocess
from array import array

import assemble
import forms

BATCH = 1500
# Waves and lanes of a wave: for the plain form of an instruction, and for the others.
VECTOR, VECTOR_MORE = 32, 2
SCALAR, SCALAR_MORE = 1024, 64
# Dwords of a wave's scalar input.
SCALARS = ["S4", "S5", "S6", "S7", "S8", "S9", "S12", "S13", "VCC", None, "S20", "S21", "EXEC", None, "SCC", "S124"]
# Dwords behind v0 to v15 in a lane's output.
OUTPUTS = ["S12", "S13", "S24", "S25", "VCC", None, "EXEC", None, "SCC", "S124", "S4", "S5", "S8", "S9", "S20", "S21"]
CORNERS = [0, 1, 2, 3, 7, 8, 15, 16, 17, 24, 31, 32, 33, 63, 64, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000,
           0x7FFFFF, 0x800000, 0xFFFFFF, 0x1000000, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFF0000, 0xFFFF8000, 0xFFFFFFFE,
           0xFFFFFFFF, 0x7FFF7FFF, 0x80008000, 0x00FF00FF, 0xFF00FF00, 0x55555555, 0xAAAAAAAA, 0x0C0D0809, 0x0A0B0706]


def kind(variant):
    """The kind of a variant, for the table: without numbers of registers, constants and selections."""
    v = re.sub(r"^(e32|e64|sdwa|vop3p|vop3)\b ?", "", variant)
    form = variant[: len(variant) - len(v)].strip()
    for pattern, to in (
        (r"(clamp )?dst_sel.*", r"\1dst_sel"), (r"src\d_sel.*", "src_sel"), (r"src\d scalar", "scalar"),
        (r"(clamp )?op_sel.*", r"\1op_sel"), (r"(clamp )?neg_lo.*", r"\1neg"), (r"destination.*", "overlap"),
        (r"(clamp )?(s\d )?scalar", r"\1scalar"), (r"one (register|source).*", "same"), (r"imm .*", "imm"), (r".*mask.*", "masks"),
        (r"(clamp )?s\d (vcc|exec|m0|scc).*", r"\1special"), (r"(clamp )?s\d -?[\dx.].*", r"\1constant"), (r"registers", ""),
    ):
        new, n = re.subn("^" + pattern + "$", to, v)
        if n:
            v = new
            break
    return f"{form} {v.strip()}".strip().replace(" ", "-") or "plain"


def numbers(seed, count):
    """Words: random ones, corners, few bits, bytes that repeat."""
    r = random.Random(seed)
    out = []
    for _ in range(count):
        k = r.randrange(6)
        if k < 2:
            out.append(r.getrandbits(32))
        elif k < 4:
            out.append(r.choice(CORNERS))
        elif k == 4:
            out.append(r.getrandbits(32) & r.getrandbits(32) & r.getrandbits(32))
        else:
            out.append((r.choice(CORNERS) + r.randrange(-3, 4)) & 0xFFFFFFFF)
    return out


class Inputs:
    """Registers of lanes and waves before the instruction."""

    def __init__(self, waves, lanes):
        self.waves, self.lanes = waves, lanes
        self.vectors = numbers(1, waves * lanes * 16)
        words = numbers(2, waves * 16)
        for w in range(waves):
            words[16 * w + 14] &= 1
            if lanes == 64 and w % 2 == 0:
                words[16 * w + 12 : 16 * w + 14] = [0xFFFFFFFF, 0xFFFFFFFF]
        self.scalars = words
        self.records = []
        for w in range(waves):
            s = words[16 * w : 16 * w + 16]
            scalars = {}
            for i, name in enumerate(SCALARS):
                if name in ("VCC", "EXEC"):
                    scalars[name] = s[i] | s[i + 1] << 32
                elif name:
                    scalars[name] = s[i]
            scalars["S24"], scalars["S25"] = scalars["S6"], scalars["S7"]
            self.records.append(scalars)


def sources(target):
    """The lines before and after the instruction: (before, after) for vectors and for scalars."""
    gen = forms.TARGETS[target]
    add, addc = {6: ("v_add_i32", "v_addc_u32"), 7: ("v_add_i32", "v_addc_u32"), 8: ("v_add_u32", "v_addc_u32"),
                 9: ("v_add_co_u32", "v_addc_co_u32")}[gen]

    def advance(pair, text):
        low, high = pair
        return [f"{add} v{low}, vcc, {text}, v{low}", f"{addc} v{high}, vcc, 0, v{high}, vcc"]

    def memory(op, first, pair, offset):
        at, data = f"v[{pair[0]}:{pair[1]}]", f"v[{first}:{first + 3}]"
        if gen == 9:
            order = f"{data}, {at}" if op == "load" else f"{at}, {data}"
            return [f"global_{op}_dwordx4 {order}, off offset:{offset}"]
        if gen < 8:
            return [f"buffer_{op}_dwordx4 {data}, {at}, s[64:67], 0 addr64 offset:{offset}"]
        order = f"{data}, {at}" if op == "load" else f"{at}, {data}"
        return [f"flat_{op}_dwordx4 {order}"] + advance(pair, "16")

    def whole(lanes):
        second = 4 if gen < 8 else 16
        shift = 6 if lanes == 64 else 0
        before = [
            "s_mov_b64 s[60:61], exec",
            "s_load_dwordx4 s[28:31], s[0:1], 0x0",
            f"s_load_dwordx2 s[32:33], s[0:1], {second:#x}",
            "s_mov_b32 s64, 0", "s_mov_b32 s65, 0", "s_mov_b32 s66, -1", "s_mov_b32 s67, 0xf000",
            "v_and_b32 v40, 0x3ff, v0",
            "s_waitcnt lgkmcnt(0)",
            "s_lshl_b32 s3, s2, 6", "s_add_u32 s32, s32, s3", "s_addc_u32 s33, s33, 0",
            "s_load_dwordx16 s[36:51], s[32:33], 0x0",
            f"s_lshl_b32 s3, s2, {shift}", "v_or_b32 v40, s3, v40",
            "v_lshlrev_b32 v45, 6, v40", "v_mov_b32 v42, s28", "v_mov_b32 v43, s29", *advance((42, 43), "v45"),
            "v_lshlrev_b32 v45, 7, v40", "v_mov_b32 v46, s30", "v_mov_b32 v47, s31", *advance((46, 47), "v45"),
        ]
        for i in range(4):
            before += memory("load", 4 * i, (42, 43), 16 * i)
        before += [
            "s_waitcnt vmcnt(0) lgkmcnt(0)",
            "s_mov_b64 s[4:5], s[36:37]", "s_mov_b64 s[6:7], s[38:39]", "s_mov_b64 s[8:9], s[40:41]", "s_mov_b64 s[12:13], s[42:43]",
            "s_mov_b64 vcc, s[44:45]", "s_mov_b64 s[20:21], s[46:47]", "s_mov_b64 s[24:25], s[38:39]", "s_mov_b32 m0, s51",
            "s_cmp_lg_u32 s50, 0", "s_mov_b64 exec, s[48:49]",
        ]
        after = ["s_cselect_b32 s56, 1, 0", "s_mov_b64 s[58:59], exec", "s_mov_b64 exec, s[60:61]", "s_mov_b64 s[62:63], vcc",
                 "s_mov_b32 s57, m0"]
        for i in range(4):
            after += memory("store", 4 * i, (46, 47), 16 * i)
        after += ["s_nop 4"]
        from_registers = ["s12", "s13", "s24", "s25", "s62", "s63", "s58", "s59", "s56", "s57", "s4", "s5", "s8", "s9", "s20", "s21"]
        after += [f"v_mov_b32 v{16 + i}, {s}" for i, s in enumerate(from_registers)]
        for i in range(4):
            after += memory("store", 16 + 4 * i, (46, 47), 64 + 16 * i)
        return before, after

    return whole(64), whole(1)


def metadata(target, names):
    lines = ["\t.amdgpu_metadata", "---", "amdhsa.version: [1, 2]", "amdhsa.kernels:"]
    for name in names:
        lines += [f"  - .name: {name}", f"    .symbol: {name}.kd", "    .kernarg_segment_size: 24", "    .group_segment_fixed_size: 0",
                  "    .private_segment_fixed_size: 0", "    .kernarg_segment_align: 8", "    .wavefront_size: 64", "    .sgpr_count: 80",
                  "    .vgpr_count: 64", "    .max_flat_workgroup_size: 64", "    .args:"]
        for i in range(3):
            lines += [f"      - {{.size: 8, .offset: {8 * i}, .value_kind: global_buffer, .address_space: global, .name: a{i}}}"]
    return "\n".join(lines + ["...", "\t.end_amdgpu_metadata", ""])


class Expected:
    """What the definitions say, as bytes; kept by digest, as targets mostly agree."""

    def __init__(self, library):
        self.library = library
        self.inputs = {}
        self.digests = {}
        self.functions = {}

    def input(self, waves, lanes):
        if (waves, lanes) not in self.inputs:
            self.inputs[waves, lanes] = Inputs(waves, lanes)
        return self.inputs[waves, lanes]

    def function(self, term):
        """(function, symbols) of a term."""
        if term not in self.functions:
            used = [s for s in dict.fromkeys(re.findall(r"\b(?:[VS]\d+|VCC|EXEC|SCC|LANE)\b", term))]
            bits = {s: 64 if s in ("VCC", "EXEC") else 1 if s == "SCC" else 32 for s in used}
            self.functions[term] = (self.library.compile(term, bits), used)
        return self.functions[term]

    def digest(self, case, waves, lanes):
        key = (tuple(case.outs.items()), waves, lanes)
        if key not in self.digests:
            self.digests[key] = hashlib.sha1(self.bytes(case, waves, lanes)).digest()
        return self.digests[key]

    def value(self, term, env):
        f, used = self.function(term)
        return f(*[env[s] for s in used])

    def bytes(self, case, waves, lanes):
        inputs = self.input(waves, lanes)
        out = array("I")
        evaluators = [(to, *self.function(term)) for to, term in case.outs.items()]
        for w in range(waves):
            scalars = dict(inputs.records[w])
            env = dict(inputs.records[w])
            masks = {to[1]: 0 for to in case.outs if isinstance(to, tuple)}
            vectors = []
            for lane in range(lanes):
                at = 16 * (w * lanes + lane)
                v = inputs.vectors[at : at + 16]
                for i in range(16):
                    env[f"V{i}"] = v[i]
                env["LANE"] = lane
                for to, f, used in evaluators:
                    value = f(*[env[s] for s in used])
                    if isinstance(to, tuple):
                        masks[to[1]] |= value << lane
                    elif to[0] == "V" and to != "VCC":
                        v[int(to[1:])] = value
                    else:
                        scalars[to] = value
                vectors.append(v)
            for to, mask in masks.items():
                if to.startswith("S"):
                    scalars[to], scalars[f"S{int(to[1:]) + 1}"] = mask & 0xFFFFFFFF, mask >> 32
                else:
                    scalars[to] = mask
            tail = []
            for name in OUTPUTS:
                if name in ("VCC", "EXEC"):
                    tail += [scalars[name] & 0xFFFFFFFF, scalars[name] >> 32]
                elif name:
                    tail.append(scalars[name])
            for v in vectors:
                out.extend(v + tail)
        return out.tobytes()


def is_plain(case):
    """Is it one of the forms that are tried on most inputs?"""
    return kind(case.variant) in ("plain", "e32", "e64", "vop3", "vop3p", "e64-clamp", "vop3-clamp", "vop3p-clamp", "imm")


def is_compared(case):
    """Operands other than vector registers are the same for all instructions: only the proofs try them."""
    return not re.search("constant|special|overlap|same|scalar|masks", kind(case.variant))


def size_of(case):
    plain = is_plain(case)
    if case.name.startswith("s_"):
        return (SCALAR if plain else SCALAR_MORE), 1
    return (VECTOR if plain else VECTOR_MORE), 64


def run_batch(target, cases, args, folder):
    """The output of each case."""
    (vector, scalar) = sources(target)
    expected = run_batch.expected
    path = folder / f"interp.{target}.co"
    kernels = []
    for i, case in enumerate(cases):
        before, after = scalar if case.name.startswith("s_") else vector
        kernels.append((f"k{i}", [*before, case.asm, *after]))
    assemble.code_object(path, target, kernels, metadata(target, [name for name, _ in kernels]))
    most = expected.input(VECTOR, 64), expected.input(SCALAR, 1), expected.input(VECTOR_MORE, 64), expected.input(SCALAR_MORE, 1)
    lines = ["[buffers]"]
    for i, inputs in enumerate(most):
        for what, words in (("v", inputs.vectors), ("s", inputs.scalars)):
            (folder / f"{what}{i}.bin").write_bytes(array("I", words).tobytes())
            lines.append(f'{what}{i} = {{ file = "{what}{i}.bin" }}')
    at, places = 0, []
    dispatches = []
    for i, case in enumerate(cases):
        waves, lanes = size_of(case)
        which = [(VECTOR, 64), (SCALAR, 1), (VECTOR_MORE, 64), (SCALAR_MORE, 1)].index((waves, lanes))
        dispatches += ["[[dispatch]]", f'code_object = "{path.name}"', f'kernel = "k{i}"', f"grid = [{waves * lanes}]", f"workgroup = [{lanes}]",
                       f'args = ["@v{which}", "@out+{at}", "@s{which}"]']
        places.append((at, waves * lanes * 128))
        at += waves * lanes * 128
    lines.append(f"out = {{ bytes = {at} }}")
    lines += dispatches + ["[outputs]", 'out = "out.bin"']
    manifest = folder / "interp.toml"
    manifest.write_text("\n".join(lines) + "\n")
    run = subprocess.run([args.wavelift, "run", "--engine", "interp", str(manifest)], capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(f"{target}: {run.stderr[-2000:]}")
    data = (folder / "out.bin").read_bytes()
    return [data[a : a + n] for a, n in places]


def difference(expected, case, got, waves, lanes):
    """The first difference, as text, or None."""
    want = expected.bytes(case, waves, lanes)
    inputs = expected.input(waves, lanes)
    names = [f"V{i}" for i in range(16)] + ["S12", "S13", "S24", "S25", "VCC_LO", "VCC_HI", "EXEC_LO", "EXEC_HI", "SCC", "M0",
                                            "S4", "S5", "S8", "S9", "S20", "S21"]
    for lane in range(waves * lanes):
        a = struct.unpack_from("<32I", want, 128 * lane)
        b = struct.unpack_from("<32I", got, 128 * lane)
        if a == b:
            continue
        wave = lane // lanes
        env = {**inputs.records[wave], **{f"V{i}": inputs.vectors[16 * lane + i] for i in range(16)}, "LANE": lane % lanes}
        if case.pre and not expected.value(case.pre, env):
            continue
        wrong = [f"{n} is {y:#x}, not {x:#x}" for n, x, y in zip(names, a, b) if x != y]
        state = " ".join(f"{n}={v:#x}" for n, v in env.items())
        return f"{'; '.join(wrong)} with {state}"
    return None


def compare_all(library, by_target, args, folder, results):
    """Compares all cases; results as in `prove`."""
    expected = run_batch.expected = Expected(library)
    inputs = 0
    for target, cases in by_target.items():
        cases = [c for c in cases if is_compared(c)]
        for start in range(0, len(cases), BATCH):
            some = cases[start : start + BATCH]
            for case, got in zip(some, run_batch(target, some, args, folder)):
                waves, lanes = size_of(case)
                inputs += waves * lanes
                detail = None
                if hashlib.sha1(got).digest() != expected.digest(case, waves, lanes):
                    detail = difference(expected, case, got, waves, lanes)
                if detail:
                    print(f"interpreter: {case.asm} ({case.variant}) on {target}: {detail}", flush=True)
                results["interpreter", case.name, case.variant][target] = ("WRONG", detail) if detail else ("compared", "")
        print(f"interpreter: {target}: {len(cases)} cases", flush=True)
    print(f"interpreter: {inputs} inputs", flush=True)
