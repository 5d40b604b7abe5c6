"""The forms of each instruction: assembler text, and what registers hold afterwards.

A case puts the sources in fixed registers (s0: v4 or s4, s1: v8 or s8, s2: v12, destination v0 or s12,
masks: s[20:21] in, s[24:25] out), or in constants, or in one register for all. The symbols of registers
are V0, S4, VCC, EXEC, SCC.
"""

TARGETS = {"gfx600": 6, "gfx700": 7, "gfx803": 8, "gfx900": 9, "gfx906": 9, "gfx908": 9, "gfx90a": 9, "gfx942": 9}

# Names of instructions whose names changed, by generation; None: the name means another instruction.
OLD = {
    "v_add_co_u32": ("v_add_i32", "v_add_u32"),
    "v_sub_co_u32": ("v_sub_i32", "v_sub_u32"),
    "v_subrev_co_u32": ("v_subrev_i32", "v_subrev_u32"),
    "v_addc_co_u32": ("v_addc_u32", "v_addc_u32"),
    "v_subb_co_u32": ("v_subb_u32", "v_subb_u32"),
    "v_subbrev_co_u32": ("v_subbrev_u32", "v_subbrev_u32"),
    "v_add_u32": (None, None),
    "v_sub_u32": (None, None),
    "v_subrev_u32": (None, None),
    "v_add_i32": (None, None),
    "v_sub_i32": (None, None),
}
SUFFIXES = (".scc", ".exec", ".mask", ".clamp", ".s0", ".pre")
# Results of 16 bits that leave the upper half on gfx9.
KEEPS_HIGH = ("v_mad_u16", "v_mad_i16")
INTEGERS = (0, 1, 7, 16, 31, 33, 64, -1, -16)
LITERALS = (0x12345678, 0x80000000, 0x00050003, 0x00200000, 0x00400004, 0x007F001F, 0x00000000FFFF1234)
IMMEDIATES = (0, 1, 0x1234, 0x7FFF, 0x8000, 0xFFFF)
FLOATS = {"1.0": (0x3F800000, 0x3FF0000000000000), "-4.0": (0xC0800000, 0xC010000000000000)}
SELECTIONS = ("BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD")


class Case:
    """One instruction on one target, with what it does."""

    def __init__(self, name, variant, asm, outs, pre=None):
        self.name, self.variant, self.asm = name, variant, asm
        # Symbol of a register to its value; ("mask", symbol) to this lane's bit.
        self.outs = outs
        self.pre = pre


def instructions(library):
    """Names of instructions that have definitions, with the parameters."""
    found = {}
    for name in library.order:
        if name.startswith(("s_", "v_")) and name.partition(".")[0] not in ("v_bfe_shifted",):
            root = name
            for suffix in SUFFIXES:
                root = root.removesuffix(suffix)
            found.setdefault(root, library[name].params)
    return found


def const(value, bits):
    return f"(_ bv{value & (1 << bits) - 1} {bits})"


def words(symbol, count):
    """The value in consecutive registers: S4, 2 is {S5, S4}."""
    kind, first = symbol[0], int(symbol[1:])
    names = [f"{kind}{first + i}" for i in range(count)]
    return names[0] if count == 1 else "(concat " + " ".join(reversed(names)) + ")"


def registers(symbol, count):
    """Assembler text of consecutive registers."""
    kind, first = symbol[0].lower(), int(symbol[1:])
    return f"{kind}{first}" if count == 1 else f"{kind}[{first}:{first + count - 1}]"


def parts(symbol, bits, value):
    """Registers that a value is written to."""
    kind, first = symbol[0], int(symbol[1:])
    if bits <= 32:
        return {symbol: value}
    return {f"{kind}{first + i}": f"((_ extract {32 * i + 31} {32 * i}) {value})" for i in range(bits // 32)}


def call(name, params, bound):
    args = [bound[p] for p, _ in params]
    return f"({name} {' '.join(args)})" if args else name


def cases(library, name, target):
    """All cases of an instruction on a target. The assembler decides which of them the target has."""
    gen = TARGETS[target]
    if name.startswith("s_"):
        return list(scalar(library, name))
    if name.startswith("v_pk_") or name.startswith("v_dot") and "c_" not in name:
        return list(packed(library, name))
    return list(vector(library, name, gen))


# ---- scalar


def scalar(library, name):
    params = instructions(library)[name]
    widths = dict(params)
    plain = name in library
    dst_bits = library[name].bits if plain else 0

    def case(variant, text, terms, dst="S12", imm=None):
        d_bits = widths.get("d", 32)
        if dst.startswith("S"):
            d = words(dst, d_bits // 32)
            dst_text = registers(dst, dst_bits // 32)
        else:
            d, dst_text = dst, dst.lower()
        bound = {"scc": "SCC", "exec": "EXEC", "d": d, **terms}
        if imm is not None:
            bound["imm"] = const(imm, 16)
        operands = ([dst_text] if plain else []) + text
        if imm is not None:
            operands.append(f"{imm:#x}")
        outs = {}
        if plain:
            value = call(name, params, bound)
            outs.update(parts(dst, dst_bits, value) if dst.startswith("S") else {dst: value})
        if name + ".scc" in library:
            outs["SCC"] = call(name + ".scc", params, bound)
        if name + ".exec" in library:
            outs["EXEC"] = call(name + ".exec", params, bound)
        return Case(name, variant, f"{name} {', '.join(operands)}", outs)

    sources = [p for p in ("s0", "s1") if p in widths]
    home = {"s0": "S4", "s1": "S8"}
    text = {p: registers(home[p], widths[p] // 32) for p in sources}
    term = {p: words(home[p], widths[p] // 32) for p in sources}

    def listed(t):
        return [t[p] for p in sources]

    if "imm" in widths:
        for imm in IMMEDIATES:
            yield case(f"imm {imm:#x}", listed(text), term, imm=imm)
        return
    yield case("registers", listed(text), term)
    if plain and dst_bits == 64 and "exec" not in widths:
        yield case("destination vcc", listed(text), term, dst="VCC")
        if "d" not in widths:
            yield case("destination exec", listed(text), term, dst="EXEC")
    if plain and sources:
        yield case("destination in a source", listed(text), term, dst="S4")
        yield case("destination in the last source", listed(text), term, dst=home[sources[-1]])
    for p in sources:
        bits = widths[p]
        options = [(f"{p} {v}", str(v), const(v, bits)) for v in INTEGERS]
        options += [(f"{p} {t}", t, const(f[bits == 64], bits)) for t, f in FLOATS.items()]
        if bits == 32:
            options += [(f"{p} {v:#x}", f"{v:#x}", const(v, bits)) for v in LITERALS]
            options += [(f"{p} vcc_lo", "vcc_lo", "(low VCC)"), (f"{p} exec_hi", "exec_hi", "(high EXEC)"),
                        (f"{p} m0", "m0", "S124"), (f"{p} scc", "src_scc", "((_ zero_extend 31) SCC)")]
        else:
            signed = name.endswith("i64")
            extend = lambda v: v | 0xFFFFFFFF00000000 if signed and v >> 31 else v
            options += [(f"{p} {v:#x}", f"{v:#x}", const(extend(v), bits)) for v in LITERALS]
            options += [(f"{p} vcc", "vcc", "VCC"), (f"{p} exec", "exec", "EXEC")]
        for variant, t, value in options:
            yield case(variant, listed({**text, p: t}), {**term, p: value})
    if len(sources) == 2 and widths["s0"] == widths["s1"]:
        yield case("one source twice", [text["s0"]] * 2, {**term, "s1": term["s0"]})


# ---- vector


def old_name(name, gen):
    if name in OLD and gen < 9:
        return OLD[name][gen == 8]
    return name


def vector(library, name, gen):
    shown = old_name(name, gen)
    if shown is None:
        return
    compare = name.startswith("v_cmp_")
    names = [(name, shown)] + ([(name.replace("v_cmp_", "v_cmpx_"), shown.replace("v_cmp_", "v_cmpx_"))] if compare else [])
    for listed, shown in names:
        yield from one_vector(library, name, listed, shown, gen)


def one_vector(library, name, listed, shown, gen):
    params = instructions(library)[name]
    widths = dict(params)
    plain = name in library
    mask = name + ".mask" in library
    dst_bits = library[name].bits if plain else 0
    dst_words = max(1, dst_bits // 32)
    sources = [p for p in ("s0", "s1", "s2") if p in widths]
    home = {"s0": "V4", "s1": "V8", "s2": "V12"}
    count = {p: max(1, widths[p] // 32) for p in sources}

    def narrow(p, term):
        return f"(lo16 {term})" if widths[p] == 16 else term

    def case(variant, form, text, terms, dst="V0", clamp=False, tail="", place=None, sdst=None, vcc=None):
        """terms: what the definition's sources are; place: turns (result, old) into the register's value."""
        e64 = form in ("_e64", "")
        vcc_in = vcc or ("S20" if e64 else "VCC")
        mask_out = sdst or ("S24" if e64 and mask else "VCC")
        vcc_term = words(vcc_in, 2) if vcc_in != "VCC" else "VCC"
        mask_text = registers(mask_out, 2) if mask_out != "VCC" else "vcc"
        vcc_text = registers(vcc_in, 2) if vcc_in != "VCC" else "vcc"
        old = words(dst, dst_words)
        bound = {"vcc": f"(bit_of {vcc_term} LANE)", "lane": "LANE", "d": old, **terms}
        operands = ([registers(dst, dst_words)] if plain else []) + ([mask_text] if mask else [])
        operands += text + ([vcc_text] if "vcc" in widths else [])
        active = "(bit_of EXEC LANE)"
        outs = {}
        if plain:
            value = call(name + (".clamp" if clamp else ""), params, bound)
            if dst_bits == 16:
                keep = gen == 9 and name in KEEPS_HIGH
                place16 = place or (lambda r, d: f"({'to_low_keep' if keep else 'to_low_zero'} {r} {d})")
                value = place16(value, old)
            elif place:
                value = place(value, old)
            for symbol, part in parts(dst, max(32, dst_bits), value).items():
                outs[symbol] = f"(under1 {active} {part} {symbol})"
        if name + ".s0" in library:
            outs[home["s0"]] = f"(under1 {active} {call(name + '.s0', params, bound)} {home['s0']})"
        if mask:
            value = f"(bvand {active} {call(name + '.mask', params, bound)})"
            outs[("mask", mask_out)] = value
            if listed.startswith("v_cmpx"):
                outs[("mask", "EXEC")] = value
        pre = call(name + ".pre", params, bound) if name + ".pre" in library else None
        asm = f"{shown}{form} {', '.join(operands)}{' clamp' if clamp else ''}{tail}"
        return Case(listed, f"{form.strip('_') or 'vop3'} {variant}".strip(), asm, outs, pre)

    text = {p: registers(home[p], count[p]) for p in sources}
    raw = {p: words(home[p], count[p]) for p in sources}
    term = {p: narrow(p, raw[p]) for p in sources}

    def items(t):
        return [t[p] for p in sources]

    for form in ("_e32", "_e64", ""):
        yield case("", form, items(text), term)
        if plain and not name.startswith(("v_qsad", "v_mqsad", "v_swap")):
            for p in sources:
                if dst_words <= count[p] or dst_words == 1:
                    yield case(f"destination is {p}", form, items(text), term, dst=home[p])
        if len(sources) > 1 and name != "v_swap_b32":
            same = [p for p in sources if count[p] == count["s0"]]
            if len(same) == len(sources):
                yield case("one register", form, [text["s0"]] * len(sources), {p: narrow(p, raw["s0"]) for p in sources})
        # Scalar registers: one, and the same for all sources.
        scalar_text = {p: registers("S6", count[p]) for p in sources}
        scalar_term = {p: narrow(p, words("S6", count[p])) for p in sources}
        if name != "v_swap_b32":
            for p in sources:
                if count[p] < 4:
                    yield case(f"{p} scalar", form, items({**text, p: scalar_text[p]}), {**term, p: scalar_term[p]})
            if len(sources) > 1 and max(count.values()) < 4 and "vcc" not in widths:
                yield case("scalar", form, items(scalar_text), scalar_term)
            for p in sources:
                bits = widths[p]
                if bits == 128:
                    continue
                for v in INTEGERS:
                    yield case(f"{p} {v}", form, items({**text, p: str(v)}), {**term, p: const(v, bits)})
                if bits > 16:
                    for t, f in FLOATS.items():
                        yield case(f"{p} {t}", form, items({**text, p: t}), {**term, p: const(f[bits == 64], bits)})
                if form == "_e32" and bits <= 32 and p == "s0":
                    for v in LITERALS:
                        yield case(f"{p} {v:#x}", form, items({**text, p: f"{v:#x}"}), {**term, p: const(v, bits)})
            if len(sources) == 3:
                for v, u in ((5, 7), (31, 31), (0, 32), (16, 16), (8, 24), (0, 0)):
                    if widths["s1"] == 32 and widths["s2"] == 32:
                        yield case(f"s1 {v} s2 {u}", form, [text["s0"], str(v), str(u)], {**term, "s1": const(v, 32), "s2": const(u, 32)})
        if form != "_e32":
            if name + ".clamp" in library:
                yield case("clamp", form, items(text), term, clamp=True)
                if len(sources) > 1 and max(count.values()) < 4 and "vcc" not in widths:
                    yield case("clamp scalar", form, items(scalar_text), scalar_term, clamp=True)
                for p in sources:
                    if widths[p] <= 32:
                        yield case(f"clamp {p} -16", form, items({**text, p: "-16"}), {**term, p: const(-16, widths[p])}, clamp=True)
            if mask and plain or "vcc" in widths:
                yield case("masks in vcc", form, items(text), term, sdst="VCC" if mask else None, vcc="VCC")
            if mask and "vcc" in widths:
                yield case("mask in is mask out", form, items(text), term, sdst="S20")
            halves = [p for p in sources if widths[p] == 16]
            if gen == 9 and halves and form == "_e64":
                yield from selected(case, name, sources, widths, text, raw, dst_bits, library)
    if gen >= 8 and max(count.values()) == 1 and dst_words == 1 and len(sources) <= 2:
        yield from sdwa(case, name, sources, widths, text, raw, plain, mask, library, gen)


def selected(case, name, sources, widths, text, raw, dst_bits, library):
    """OP_SEL of operations on 16 bits."""
    n = len(sources)
    for bits in range(1, 1 << n + (dst_bits == 16)):
        sel = [bits >> i & 1 for i in range(n + 1)]
        terms = {}
        for p, b in zip(sources, sel):
            terms[p] = f"(half_{b} {raw[p]})" if widths[p] == 16 else raw[p]
            if widths[p] == 32 and b:
                break
        else:
            place = (lambda r, d: f"(to_high_keep {r} {d})") if sel[n] else None
            tail = " op_sel:[" + ",".join(str(b) for b in sel) + "]"
            t = [text[p] for p in sources]
            yield case(f"op_sel {''.join(map(str, sel))}", "_e64", t, terms, tail=tail, place=place)
            if name + ".clamp" in library:
                yield case(f"clamp op_sel {''.join(map(str, sel))}", "_e64", t, terms, tail=tail, place=place, clamp=True)


def sdwa(case, name, sources, widths, text, raw, plain, mask, library, gen):
    """Each selection of each source without and with SEXT, each placement, and scalar sources on gfx9."""

    def one(variant, sels, dst="DWORD", unused="UNUSED_PAD", clamp=False, sext=(False, False), texts=None, raws=None):
        tail, terms, shown = "", {}, []
        texts, raws = texts or text, raws or raw
        if plain:
            tail += f" dst_sel:{dst} dst_unused:{unused}"
        for i, p in enumerate(sources):
            tail += f" src{i}_sel:{sels[i]}"
            value = f"(sdwa_{sels[i].lower()}{'_sext' if sext[i] else ''} {raws[p]})"
            terms[p] = f"(lo16 {value})" if widths[p] == 16 else value
            shown.append(f"sext({texts[p]})" if sext[i] else texts[p])
        wide = (lambda r: f"(zx32 {r})") if plain and library[name].bits == 16 else (lambda r: r)
        to = f"sdwa_to_{dst.lower()}_{unused.removeprefix('UNUSED_').lower()}"
        return case(variant, "_sdwa", shown, terms, clamp=clamp, tail=tail, place=lambda r, d: f"({to} {wide(r)} {d})",
                    **({"sdst": "S24"} if mask and not plain and gen == 9 and variant.startswith("sdst") else {}))

    n = len(sources)
    other = ["WORD_1", "BYTE_2"][:n]
    for i in range(n):
        for sel in SELECTIONS:
            sels = other[:]
            sels[i] = sel
            for sext in (False, True):
                flags = [False, False]
                flags[i] = sext
                yield one(f"src{i}_sel {sel}{' sext' if sext else ''}", sels, sext=flags)
    if plain:
        for j, dst in enumerate(SELECTIONS):
            for unused in ("UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"):
                sels = [SELECTIONS[(j + k) % 7] for k in range(n)]
                yield one(f"dst_sel {dst} {unused}", sels, dst, unused)
                if name + ".clamp" in library:
                    yield one(f"clamp dst_sel {dst} {unused}", ["DWORD"] * n, dst, unused, clamp=True)
    elif gen == 9:
        yield one("sdst", other)
    if gen == 9:
        for i, p in enumerate(sources):
            yield one(f"src{i} scalar", other, texts={**text, p: "s6"}, raws={**raw, p: "S6"})


# ---- packed


def packed(library, name):
    params = instructions(library)[name]
    sources = [p for p, _ in params]
    n = len(sources)
    home = {"s0": "V4", "s1": "V8", "s2": "V12"}
    dot = name.startswith("v_dot")

    def case(variant, text, raws, lo=None, hi=None, clamp=False, tail="", dst="V0"):
        terms = {}
        for i, p in enumerate(sources):
            terms[p] = raws[p] if dot else f"(halves_{lo[i] if lo else 0}{hi[i] if hi else 1} {raws[p]})"
        if lo and any(lo):
            tail += " op_sel:[" + ",".join(map(str, lo)) + "]"
        if hi and not all(hi):
            tail += " op_sel_hi:[" + ",".join(map(str, hi)) + "]"
        value = call(name + (".clamp" if clamp else ""), params, terms)
        outs = {dst: f"(under1 (bit_of EXEC LANE) {value} {dst})"}
        asm = f"{name} {dst.lower()}, {', '.join(text)}{tail}{' clamp' if clamp else ''}"
        return Case(name, f"vop3p {variant}".strip(), asm, outs)

    text = {p: home[p].lower() for p in sources}
    items = lambda t: [t[p] for p in sources]
    clamps = (False, True) if name + ".clamp" in library else (False,)
    for clamp in clamps:
        c = "clamp" if clamp else ""
        yield case(c, items(text), home, clamp=clamp)
        yield case(f"{c} scalar".strip(), ["s6"] * n, {p: "S6" for p in sources}, clamp=clamp)
        for p in sources:
            yield case(f"{c} {p} scalar".strip(), items({**text, p: "s6"}), {**home, p: "S6"}, clamp=clamp)
            yield case(f"{c} destination is {p}".strip(), items(text), home, clamp=clamp, dst=home[p])
            for v in INTEGERS:
                t, r = items({**text, p: str(v)}), {**home, p: const(v, 32)}
                yield case(f"{c} {p} {v}".strip(), t, r, clamp=clamp)
                if not dot:
                    hi = [int(q != p) for q in sources]
                    yield case(f"{c} {p} {v} for both".strip(), t, r, clamp=clamp, lo=[0] * n, hi=hi)
        if dot:
            continue
        for bits in range(1 << 2 * n):
            lo, hi = [bits >> i & 1 for i in range(n)], [bits >> n + i & 1 for i in range(n)]
            if n == 3 and bits % 5 not in (0, 3):
                continue
            digits = "".join(map(str, lo)), "".join(map(str, hi))
            yield case(f"{c} op_sel {digits[0]} op_sel_hi {digits[1]}".strip(), items(text), home, lo, hi, clamp)
        ones = "[" + ",".join("1" * n) + "]"
        yield case(f"{c} neg_lo neg_hi".strip(), items(text), home, clamp=clamp, tail=f" neg_lo:{ones} neg_hi:{ones}")
