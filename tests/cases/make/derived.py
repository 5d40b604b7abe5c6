"""The other forms of every VOP1, VOP2 and VOPC row: lines that stand for the 32-bit form say what SDWA and DPP do when they
select everything, and what VOP3 does with modifiers when the values are changed to match. Reads the chapters' files.
"""

import os
import re

from case import CASES, Chapter
from floats import F16, F32, F64
import floats as fl
from vector import GFX8, GFX9

FORMATS = {"f16": F16, "f32": F32, "f64": F64}
HEAD = re.compile(r"^(v_\w+?)(_e32|_e64)? (.*?)  (gfx.*)$")
ASSIGN = re.compile(r"(\S+?)=(\S+)")
SELECT = " quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf"


def blocks(name):
    """Heads (mnemonic, suffix, operands, targets) and plain lines of a chapter."""
    heads, lines, result = [], [], []
    with open(os.path.join(CASES, f"{name}.case"), encoding="utf-8") as file:
        for raw in file.read().splitlines() + ["", "v_end  gfx900 00000000"]:
            line = raw.split("#")[0].rstrip()
            if not line:
                continue
            if line.startswith(" "):
                lines.append(line.strip())
                continue
            if lines:
                result.append((heads, lines))
                heads, lines = [], []
            match = HEAD.match(line)
            heads.append(match and (match.group(1), match.group(2) or "", match.group(3), [t for t in match.group(4).split() if t.startswith("gfx")]))
    return result


def types(name):
    """Format of the sources and of the result, None where it is no float."""
    parts = name.split("_")
    source = FORMATS.get(parts[-1])
    if "cmp" in name or "class" in name:
        return source, None
    if parts[1] == "cvt":
        return (source, FORMATS.get(parts[-2])) if parts[2] not in ("pkrtz", "pknorm", "pk", "norm", "pkaccum", "rpi", "flr", "off") else (source if parts[2] != "off" else None, F32 if parts[2] == "off" else None)
    if parts[1:3] == ["frexp", "exp"]:
        return source, None
    return source, source


def plain(line):
    """Inputs and outputs of a line that only says vector registers and masks."""
    if "mode=" in line or "~" in line or "<" in line or "exec=" in line or line.startswith("gfx") or "m0=" in line or "fault" in line or "nan" in line or "[" in re.sub(r"[vs]\[\d+:\d+\]", "", line):
        return None
    before, after = line.split("->")
    inputs, outputs = dict(ASSIGN.findall(before)), dict(ASSIGN.findall(after))
    return (inputs, outputs) if outputs else None


def number(text):
    return int(text, 16)


def show(values):
    return " ".join(f"{place}={value}" for place, value in values.items())


def changed(value, fn):
    return f"{fn(number(value)):0{len(value)}x}"


def modified(line, f, negated, absolute):
    """The line with the sources' signs such that the modifiers give what the line says; None when that cannot be."""
    inputs, outputs = line
    inputs = dict(inputs)
    for place in negated:
        inputs[place] = changed(inputs[place], lambda x: x ^ f.sign)
    for place in absolute:
        if number(inputs[place]) & f.sign:
            return None
        inputs[place] = changed(inputs[place], lambda x: x | f.sign)
    return f"{show(inputs)} -> {show(outputs)}"


def ordinary(f, value):
    value &= (f.sign << 1) - 1
    return f.is_zero(value) or f.exponent(value) not in (0, (1 << f.ebits) - 1)


def main():
    sdwa = Chapter("sdwa_rows", "Every row that has an SDWA form, selecting whole registers.")
    dpp = Chapter("dpp_rows", "Every row that has a DPP form, with the lanes left in place.")
    vop3 = Chapter("vop3_rows", "Source and result modifiers on every float row that takes them.")
    seen = set()
    for chapter in ("vop1", "vop2", "vop3", "vopc", "vop3p"):
        for heads, lines in blocks(chapter):
            good = [(line, parsed) for line in lines if (parsed := plain(line))]
            if not good:
                continue
            for head in heads:
                if not head or " ; " in head[2]:
                    continue
                name, suffix, operands, targets = head
                if chapter == "vop3p" and name not in ("v_fmac_f64", "v_mul_legacy_f32"):
                    continue
                if not re.fullmatch(r"[vs\[\]\d:, c]+", operands) or (name, tuple(targets)) in seen or suffix == "_e64":
                    continue
                seen.add((name, tuple(targets)))
                few = [line for line, _ in good[:3] + good[-2:]]
                sources = re.findall(r"\bv(?:\d+|\[\d+:\d+\])", operands)
                is_compare = chapter == "vopc"
                sources = sources if is_compare else sources[1:]
                if suffix == "_e32":
                    gfx8 = [t for t in targets if t in GFX8]
                    selects = "".join(f" src{i}_sel:DWORD" for i in range(len(sources)))
                    placed = "" if is_compare else " dst_sel:DWORD dst_unused:UNUSED_PAD"
                    # On gfx9 a 16-bit result that keeps the upper half has no SDWA form.
                    if gfx8 and sources:
                        sdwa.block(f"{name}_sdwa {operands}{placed}{selects}", few, gfx8, optional=True)
                        if not is_compare:
                            dpp.block(f"{name}_dpp {operands}{SELECT}", few, gfx8, optional=True)
                source, result = types(name)
                if source is None and result is None:
                    continue
                form = "_e64" if suffix == "_e32" else ""
                changed_operands = operands
                if is_compare:
                    changed_operands = operands.replace("vcc", "s[2:3]", 1)
                rename = (lambda text: text.replace("vcc.lane", "s[2:3].lane")) if is_compare else lambda text: text
                floats = [] if source is None else sources[:1] if "class" in name or "ldexp" in name or "trig_preop" in name else sources
                floats = floats[:0] if "div_scale" in name else floats[:1] if "cvt_pk_u8" in name or "cvt_pkaccum" in name else floats
                for negated, absolute in ((floats[:1], []), ([], floats[:1]), (floats[1:2], floats[:1]), (floats[2:], floats[1:2])):
                    if not negated and not absolute:
                        continue
                    text = changed_operands
                    for place in negated:
                        text = re.sub(rf"(?<![\w|-]){re.escape(place)}(?!\w)(?!.*{re.escape(place)})", f"-{place}", text)
                    for place in absolute:
                        text = re.sub(rf"(?<![\w|-]){re.escape(place)}(?!\w)(?!.*{re.escape(place)})", f"|{place}|", text)
                    some = [m for _, parsed in good if all(p in parsed[0] for p in negated + absolute) and (m := modified(parsed, source, negated, absolute))]
                    if some:
                        vop3.block(f"{name}{form} {text}", [rename(m) for m in some[:3] + some[-3:]], targets, optional=True)
                out = re.match(r"v(?:\d+|\[\d+:\d+\])", operands)
                if result is None or not out or "div_" in name or "trig" in name or "pack" in name:
                    continue
                out = out.group(0)
                # Bits above a 16-bit result stay as they are.
                above = lambda r: r & ~((result.sign << 1) - 1)
                clamped = [f"{show(p[0])} -> {out}={fl.clamp(result, number(p[1][out]) & ((result.sign << 1) - 1)) | above(number(p[1][out])):0{len(p[1][out])}x}" for _, p in good if out in p[1]]
                if clamped:
                    vop3.block(f"{name}{form} {operands} clamp", clamped[:5] + clamped[-3:], targets, optional=True)
                for text, step in ((" mul:2", 1), (" mul:4", 2), (" div:2", -1)):
                    scaled = []
                    for _, (inputs, outputs) in good:
                        if out not in outputs:
                            continue
                        r = number(outputs[out])
                        exponent = result.exponent(r) + step
                        simple = all(ordinary(source or F32, number(v)) for v in inputs.values()) if source else True
                        if simple and ordinary(result, r) and not result.is_zero(r & ((result.sign << 1) - 1)) and 0 < exponent < (1 << result.ebits) - 1:
                            scaled.append(f"mode=00000100 {show(inputs)} -> {out}={r + (step << result.mbits):0{len(outputs[out])}x}")
                    if scaled:
                        vop3.block(f"{name}{form} {operands}{text}", scaled[:2] + scaled[-1:], targets, optional=True)
    for chapter in (sdwa, dpp, vop3):
        chapter.write()


if __name__ == "__main__":
    main()
