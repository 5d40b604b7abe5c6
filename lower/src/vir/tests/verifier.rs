use super::*;

/// Every operation with valid sources.
const ALL: &str = "\
slots 8
block0(v0: i64):
    v1: i8 = iconst 1
    v2: i32 = iconst 4294967295
    v3: i64 = iconst -1
    v4: f32 = f32const 0x3f800000
    v5: f64 = f64const 0x3ff0000000000000
    v6: i32x4 = vconst splat 0x1
    v7: i32x8 = vconst splat 0x1
    v8: i32x16 = vconst splat 0x1
    v9: i64x2 = vconst splat 0x1
    v10: i64x4 = vconst splat 0x1
    v11: f32x4 = vconst splat 0x1
    v12: f32x8 = vconst splat 0x1
    v13: f32x16 = vconst splat 0x1
    v14: f64x2 = vconst splat 0x1
    v15: f64x4 = vconst splat 0x1
    v16: i16x16 = vconst splat 0x1
    v17: i8x16 = vconst splat 0x1
    v18: i8x32 = vconst splat 0x1
    v19: i16x8 = vconst splat 0x1
    v20: i64x8 = vconst splat 0x1
    v500: i8x64 = bitcast v8
    v501: i8 = ireduce v3
    v21: i64 = symbol guest+16
    v22: i64 = stack_addr slot0
    v23: i8 = load.trusted v0+1
    v24: i32x16 = load.guest v0
    v25: i32 = load.fixed v0+8
    v26: i32 = load.guest.byte v0
    v27: i32 = load.guest.signed_byte v0
    v28: i32 = load.guest.short v0
    v29: i32 = load.guest.signed_short v0
    store.guest v8, v0
    store.trusted v2, v0+4
    store.guest.byte v2, v0
    store.guest.short v2, v0
    call.lanes v0, v0, v0, v2
    v30: i64 = call.effect v0, v0, v0, v0, v0
    v31: i8 = icmp.ult v1, v1
    v32: i8 = icmp.eq v3, v3
    v33: m32x8 = icmp.sle v7, v7
    v34: m64x4 = icmp.ne v10, v10
    v502: i32x8 = mask_to_vector v33
    v503: m64x4 = vector_to_mask v10
    v504: m32x8 = band v33, v33
    v505: m32x8 = vconst splat 0xffffffff
    v506: m32x8 = blendv v33, v505, v504
    v35: i8 = fcmp.uno v4, v4
    v36: m32x8 = fcmp.lt v12, v12
    v37: m64x4 = fcmp.lt v15, v15
    v38: i32x8 = insertlane v7, v2, 7
    v39: i64 = extractlane v9, 1
    v40: i32x4 = shuffle v14, v17, 0x00010203808182830405060708090a0b
    v41: i64 = iadd v3, v3
    v42: i16x16 = isub v16, v16
    v43: i32 = ineg v2
    v44: i64x4 = imul v10, v10
    v45: i64 = umulhi v3, v3
    v46: i32 = smulhi v2, v2
    v47: i8 = band v1, v1
    v48: f32x8 = bor v12, v12
    v49: i32x4 = bxor v6, v6
    v50: i32x16 = bnot v8
    v51: i32x8 = ishl v7, v2
    v52: i64 = ushr v3, v2
    v53: i16x8 = sshr v19, v3
    v54: i8x16 = umin v17, v17
    v55: i32 = umax v2, v2
    v56: i32x8 = smin v7, v7
    v57: i16x16 = smax v16, v16
    v58: i16x16 = uadd_sat v16, v16
    v59: i16x16 = sadd_sat v16, v16
    v60: i16x16 = usub_sat v16, v16
    v61: i16x16 = ssub_sat v16, v16
    v62: i8x32 = popcnt v18
    v63: i64 = clz v3
    v64: i32 = ctz v2
    v65: i64 = bitrev v3
    v66: i8 = ireduce v3
    v67: i64 = uextend v1
    v68: i64 = sextend v2
    v69: i64 = select v2, v3, v0
    v70: f32x8 = bitselect v7, v12, v12
    v71: i64x4 = blendv v34, v10, v10
    v72: i32 = vhigh_bits v33
    v73: f32x8 = splat v4
    v74: i64x2 = scalar_to_vector v3
    v75: i16x8 = swiden_low v17
    v76: i32x4 = swiden_high v19
    v77: i64x2 = uwiden_low v6
    v78: i64x2 = uwiden_high v6
    v79: i32 = bitcast v4
    v80: f64x4 = bitcast v7
    v81: f32 = fadd v4, v4
    v82: f64 = fsub v5, v5
    v83: f32x16 = fmul v13, v13
    v84: f64x4 = fdiv v15, v15
    v85: f32x8 = fma v12, v12, v12
    v86: f64 = sqrt v5
    v87: f32x8 = fabs v12
    v88: f32 = ceil v4
    v89: f32 = floor v4
    v90: f32 = trunc v4
    v91: f64x2 = nearest v14
    v92: f64 = fpromote v4
    v93: f32 = fdemote v5
    v94: f64x2 = fvpromote_low v11
    v95: f32x4 = fvdemote v14
    v96: f64 = fcvt_from_sint v2
    v97: f64x2 = fcvt_from_uint v9
    v98: i32x8 = fcvt_to_sint_sat v12
    v99: i32 = fcvt_to_uint_sat v5
    v100: i64x4 = mul_wide_u v10, v10
    v101: i64x4 = mul_wide_s v10, v10
    v102: i32x8 = odd_dwords v10, v10
    v103: f64x4 = promote_low v12
    v104: f64x4 = promote_high v12
    v105: f64x4 = from_int_low v7
    v106: f64x4 = from_int_high v7
    v107: f32x8 = demote v15, v15
    v108: f64x4 = promote_low_half v12
    v109: f64x4 = promote_high_half v12
    v110: f32x8 = demote_halves v15, v15
    v111: i32x8 = join v6, v6
    v112: i32x4 = low_half v7
    v113: i32x8 = high_half v8
    v114: i32x8 = low_halves v7, v7
    v115: i32x16 = high_halves v8, v8
    v116: i32x16 = even_parts v8, v8
    v117: i32x16 = odd_parts v8, v8
    v118: i32x16 = mix_parts v8
    v119: i32x4 = narrow_bytes v8
    v120: i32x8 = narrow_shorts v8
    v121: i32x8 = widen_bytes_u v9
    v122: i32x16 = widen_bytes_s v6
    v123: i32x8 = widen_shorts_u v6
    v124: i32x16 = widen_shorts_s v7
    v125: i32x8 = shift_left v7, v7
    v126: i32x8 = shift_right v7, v7
    v127: i32x8 = shift_arithmetic v7, v7
    v128: i64x4 = shift_left_quads v10, v10
    v129: i64x4 = shift_right_quads v10, v10
    v130: i64x8 = shift_arithmetic_quads v20, v20
    v131: i32x8 = pick_bytes v7, v7
    v132: i32x16 = pick_dwords v8, v8, v8
    v133: i32x8 = short_signs v7
    v134: f32x8 = widen_low v7
    v135: f32x8 = widen_high v7
    v136: i32x8 = narrow v12, v12
    v137: f32x8 = from_half v7
    v138: i32x8 = to_half v12
    v139: i32x8 = to_half_truncating v7
    v140: m32x16 = mask_of_bits v3
    v141: i32x8 = rotate v7, v2
    v142: f32x16 = sum_down v13, v13
    v143: f32x16 = sum_up v13, v13
    v144: f32x16 = fused_up v13, v13, v13
    v145: f32x16 = to_odd v13, v13
    v146: f32x8 = least v12, v12
    v147: f64x4 = scale v15, v15
    v148: f32x8 = rest v12
    v149: f32x8 = mantissa v12
    v150: i32x8 = exponent v12
    v151: f32x8 = plain_mantissa v12
    v152: f32x8 = plain_exponent v12
    v153: f64x4 = root_estimate v15
    v154: f32x8 = fix v12, v12, v7
    v155: m32x8 = zero_or_infinite v12
    v156: i32x8 = flush v7
    v157: i32x16 = gather v8, v140, v0, v8
    scatter v8, v140, v0, v8
    v158: i64x8 = load_some v20, v20, v0
    store_some v8, v140, v0
    prefetch v0
    prefetch_second v0
    brif v31, block1(v0, v12), block2
block1(v159: i64, v160: f32x8):
    jump block2
block2:
    return v0
";

fn check(text: &str) -> Result<(), String> {
    verify(&read(text)).map_err(|broken| broken.to_string())
}

#[test]
fn every_operation_may_be_used() {
    assert_eq!(check(ALL), Ok(()));
    reparsed(&read(ALL));
    for (_, name) in Op::PLAIN {
        let codes = ALL
            .lines()
            .map(|line| line.split(" = ").last().unwrap_or(line));
        let mut codes = codes.filter(|code| code.trim_start().split(' ').next() == Some(name));
        assert!(codes.next().is_some(), "{name}");
    }
}

/// Operations in [`ALL`] whose first source may have another type.
const LOOSE: [&str; 12] = [
    "store.guest",
    "store.trusted",
    "icmp.ult",
    "band",
    "uextend",
    "select",
    "high_half",
    "high_halves",
    "even_parts",
    "odd_parts",
    "mix_parts",
    "brif",
];

/// Makes an instruction invalid: another number of sources, a missing or extra result, or a first
/// source of an unsuitable type.
fn wrong(code: &str) -> Vec<String> {
    let (result, code) = match code.split_once(" = ") {
        Some((result, code)) => (format!("{result} = "), code),
        None => (String::new(), code),
    };
    let (name, operands) = code.split_once(' ').expect("there are operands");
    let mut wrong = vec![format!("{result}{name} v0, {operands}")];
    if operands.starts_with('v') {
        let behind = operands.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
        let rest = behind.strip_prefix(", ").unwrap_or(behind);
        wrong.push(format!("{result}{name} {rest}"));
        if !LOOSE.contains(&name) {
            wrong.extend(["v500", "v501"].map(|v| format!("{result}{name} {v}{behind}")));
        }
    }
    match result.is_empty() {
        true => wrong.push(format!("v700: i64 = {code}")),
        false => wrong.push(code.to_owned()),
    }
    wrong
}

#[test]
fn each_operation_is_checked() {
    let mut checked = 0;
    for (n, line) in ALL.lines().enumerate() {
        let Some(code) = line.strip_prefix("    ") else {
            continue;
        };
        for wrong in wrong(code) {
            let mut lines: Vec<&str> = ALL.lines().collect();
            lines[n] = &wrong;
            // An instruction without its result must not leave uses of it.
            if let Ok(f) = parse(&lines.join("\n")) {
                assert!(verify(&f).is_err(), "{wrong}");
                checked += 1;
            }
        }
    }
    assert!(checked > 700, "{checked}");
}

/// Invalid functions and their errors.
#[test]
fn rules() {
    let broken = [
        ("", "the function: there is no block"),
        ("slots 8", "the function: there is no block"),
        (
            "block0(v0: i64):",
            "block0: it does not end with a terminator",
        ),
        (
            "block0(v0: i64):\n v1: i64 = iadd v0, v0",
            "block0: it does not end with a terminator",
        ),
        (
            "block0(v0: i64):\n return v0\n return v0",
            "block0, return v0: it is a terminator before the block's end",
        ),
        (
            "block0:\n v1: i64 = iconst 1\n return v1",
            "block0: the entry has other parameters",
        ),
        (
            "block0(v0: i32):\n jump block1\nblock1:\n jump block1",
            "block0: the entry has",
        ),
        (
            "block0(v0: i64, v1: i64):\n return v0",
            "block0: the entry has other parameters than an i64",
        ),
        (
            "block0(v0: i64):\n jump block0(v0)",
            "block0: a jump leads to the entry",
        ),
        (
            "block0(v0: i64):\n jump block1",
            "block0, jump block1: block1 is not in the layout",
        ),
        (
            "block0(v0: i64):\n jump block1\nblock1(v1: i64):\n return v1",
            "block0, jump block1: block1 has another number of parameters",
        ),
        (
            "block0(v0: i64):\n brif v0, block1, block1(v0)\nblock1:\n return v0",
            "block0, brif v0, block1, block1(v0): block1 has another number of parameters",
        ),
        (
            "block0(v0: i64):\n jump block1(v0)\nblock1(v1: i32):\n return v0",
            "block0, jump block1(v0): v0 has another type than v1 of block1",
        ),
        (
            "block0(v0: i64):\n v1: i64 = iadd v2, v0\n v2: i64 = iadd v0, v0\n return v1",
            "block0, v1: i64 = iadd v2, v0: v2 is not defined before",
        ),
        (
            "block0(v0: i64):\n v1: i64 = iadd v1, v0\n return v1",
            "block0, v1: i64 = iadd v1, v0: v1 is not defined before",
        ),
        (
            "block0(v0: i64):\n brif v0, block1, block2\nblock1:\n v1: i64 = iconst 1\n jump block2\n\
             block2:\n return v1",
            "block2, return v1: v1 is not defined before",
        ),
        (
            "block0(v0: i64):\n brif v0, block1(v0), block2\nblock1(v1: i64):\n jump block2\n\
             block2:\n jump block3(v1)\nblock3(v2: i64):\n return v2",
            "block2, jump block3(v1): v1 is not defined before",
        ),
        (
            "block0(v0: i64):\n return v1\nblock1(v1: i64):\n return v0",
            "block0, return v1: v1 is not defined before",
        ),
        (
            "block0(v0: i64):\n v1: i32x2 = vconst splat 0x1\n return v0",
            "block0, v1: i32x2 = vconst splat 0x1: it has a value of a type that no host has",
        ),
        (
            "block0(v0: i64):\n jump block1\nblock1:\n return v0\nblock2(v1: i16):\n jump block1",
            "block2: it has a value of a type that no host has",
        ),
    ];
    for (text, wanted) in broken {
        let error = check(text).expect_err(text);
        assert!(error.starts_with(wanted), "{text}\n{error}");
    }
}

/// Errors of single instructions with the right numbers of sources.
#[test]
fn types() {
    let broken = [
        ("v200: i32 = iconst -1", "there are bits beyond its width"),
        ("v200: i8 = iconst 256", "there are bits beyond its width"),
        ("v200: f32 = iconst 1", "its result is no integer"),
        ("v200: f64 = f32const 0x0", "its result is f32"),
        ("v200: i64 = f64const 0x0", "its result is f64"),
        (
            "v200: i64 = vconst 0x0001020304050607",
            "its result is no vector",
        ),
        (
            "v200: i32x4 = vconst 0x00010203",
            "its constant has another size",
        ),
        ("v200: i32 = symbol guest", "its result is i64"),
        ("v200: i64 = stack_addr slot1", "there is no such slot"),
        (
            "v200: i64 = load.guest.byte v0",
            "a part is loaded as an i32",
        ),
        ("v200: i64 = load.guest v2", "its sources have other types"),
        ("store.fixed v0, v0", "it stores to what stays the same"),
        (
            "store.guest.signed_short v2, v0",
            "what is stored of a part has no sign",
        ),
        ("store.guest.byte v0, v0", "a part is stored of an i32"),
        ("store.guest v0, v2", "the address is no i64"),
        ("call.lanes v0, v0, v0, v0", "its sources have other types"),
        (
            "v200: i32 = call.effect v0, v0, v0, v0, v0",
            "its result is i64",
        ),
        (
            "v200: i32x8 = icmp.eq v12, v12",
            "there is no such comparison of this type",
        ),
        (
            "v200: i16x16 = icmp.eq v16, v16",
            "there is no such comparison of this type",
        ),
        ("v200: i8 = icmp.eq v2, v3", "types differ"),
        ("v200: i8 = icmp.eq v7, v7", "its result is m32x8"),
        (
            "v200: i8 = fcmp.eq v2, v2",
            "there is no such comparison of this type",
        ),
        ("v200: f32x8 = fcmp.eq v12, v12", "its result is m32x8"),
        (
            "v200: i32x8 = insertlane v7, v2, 8",
            "there is no such lane",
        ),
        (
            "v200: i32x8 = insertlane v7, v3, 1",
            "its sources have other types",
        ),
        (
            "v200: f32x8 = insertlane v12, v4, 1",
            "it has no integers of 32 or 64 bits",
        ),
        ("v200: i64 = extractlane v9, 2", "there is no such lane"),
        ("v200: i32 = extractlane v9, 1", "its result is i64"),
        (
            "v200: i32x8 = shuffle v7, v7, 0x00",
            "its constant has another size",
        ),
        (
            "v200: i32x4 = shuffle v6, v7, 0x00010203808182830405060708090a0b",
            "its sources have other lanes",
        ),
        (
            "v200: i8 = iadd v1, v1",
            "there is no such operation of this type",
        ),
        (
            "v200: i8x16 = iadd v17, v17",
            "there is no such operation of this type",
        ),
        (
            "v200: f32 = iadd v4, v4",
            "there is no such operation of this type",
        ),
        ("v200: i64 = iadd v3, v2", "types differ"),
        ("v200: i32 = iadd v3, v3", "types differ"),
        (
            "v200: i32x4 = ineg v6",
            "there is no such operation of this type",
        ),
        (
            "v200: i32x4 = umulhi v6, v6",
            "there is no such operation of this type",
        ),
        (
            "v200: f32 = band v4, v4",
            "there is no such operation of this type",
        ),
        (
            "v200: i8 = bnot v1",
            "there is no such operation of this type",
        ),
        ("v200: i32 = ishl v3, v3", "no such value is shifted"),
        ("v200: i32x8 = ishl v7, v7", "it is shifted by no integer"),
        (
            "v200: i64x2 = umin v9, v9",
            "there is no such operation of this type",
        ),
        (
            "v200: i8x16 = smax v17, v17",
            "there is no such operation of this type",
        ),
        (
            "v200: i32x4 = uadd_sat v6, v6",
            "there is no such operation of this type",
        ),
        (
            "v200: i32x4 = popcnt v6",
            "there is no such operation of this type",
        ),
        (
            "v200: i32x4 = clz v6",
            "there is no such operation of this type",
        ),
        ("v200: i64 = ireduce v2", "there is no such change of width"),
        ("v200: i32 = uextend v2", "there is no such change of width"),
        ("v200: i64 = sextend v1", "there is no such change of width"),
        (
            "v200: i64 = select v7, v3, v3",
            "its condition is no integer",
        ),
        (
            "v200: i64 = select v1, v3, v2",
            "it selects what has another type",
        ),
        (
            "v200: i32x8 = bitselect v10, v7, v7",
            "its condition is of other lanes",
        ),
        (
            "v200: i32x8 = blendv v6, v7, v7",
            "its condition is of other lanes",
        ),
        (
            "v200: i32x8 = blendv v7, v12, v7",
            "it selects what has another type",
        ),
        (
            "v200: i32 = vhigh_bits v10",
            "its source is no vector of dwords",
        ),
        ("v200: i64 = vhigh_bits v7", "its result is i32"),
        (
            "v200: i16x8 = splat v2",
            "its result has no lanes of 32 or 64 bits",
        ),
        ("v200: i32x8 = splat v3", "its sources have other types"),
        (
            "v200: f32x4 = scalar_to_vector v4",
            "its result has no integers of 32 or 64 bits",
        ),
        (
            "v200: i64x4 = uwiden_low v10",
            "its source has no lanes that can be widened",
        ),
        (
            "v200: i64 = swiden_low v2",
            "its source has no lanes that can be widened",
        ),
        ("v200: i32x4 = swiden_low v17", "its result is i16x8"),
        ("v200: i32 = bitcast v5", "its result has another size"),
        (
            "v200: i32 = fadd v2, v2",
            "there is no such operation of this type",
        ),
        (
            "v200: i32x8 = fma v7, v7, v7",
            "there is no such operation of this type",
        ),
        (
            "v200: i32x8 = sqrt v7",
            "there is no such operation of this type",
        ),
        ("v200: f32 = fpromote v4", "its result is f64"),
        (
            "v200: f64x4 = fcvt_from_sint v7",
            "there is no such conversion",
        ),
        (
            "v200: f32x8 = fcvt_from_sint v2",
            "there is no such conversion",
        ),
        (
            "v200: i32 = fcvt_to_sint_sat v2",
            "there is no such conversion",
        ),
        (
            "v200: i64x4 = mul_wide_u v7, v10",
            "its sources have other lanes",
        ),
        (
            "v200: i64x4 = odd_dwords v10, v10",
            "its result has other lanes",
        ),
        (
            "v200: f64x2 = promote_low v12",
            "its sources have other lanes",
        ),
        (
            "v200: i32x8 = join v6, v7",
            "a vector is not half of the other",
        ),
        (
            "v200: i32x4 = low_half v8",
            "a vector is not half of the other",
        ),
        (
            "v200: i32x4 = low_halves v6, v6",
            "its vectors have no halves",
        ),
        (
            "v200: i32x8 = even_parts v7, v7",
            "its vectors have no 512 bits",
        ),
        (
            "v200: i32x4 = narrow_bytes v7",
            "its source has other lanes than 16 dwords",
        ),
        (
            "v200: i32x8 = narrow_bytes v8",
            "its result has another size",
        ),
        (
            "v200: i64x4 = widen_bytes_u v9",
            "its result is no vector of dwords",
        ),
        (
            "v200: i32x16 = widen_shorts_u v6",
            "its source has another size",
        ),
        (
            "v200: i32x8 = shift_left_quads v7, v7",
            "its result has other lanes",
        ),
        (
            "v200: i32x8 = pick_bytes v7, v6",
            "its sources have other lanes",
        ),
        (
            "v200: i32x8 = pick_dwords v7, v7, v7",
            "its vectors have no 512 bits",
        ),
        ("v200: i32x8 = mask_of_bits v1", "its bits are no integer"),
        ("v200: i32x8 = mask_of_bits v2", "its result is no mask"),
        ("v200: m32x8 = iadd v33, v33", "it takes no mask"),
        ("v200: i64x4 = mask_to_vector v33", "its result is i32x8"),
        ("v200: i32x8 = mask_to_vector v7", "its source is no mask"),
        (
            "v200: m32x8 = vector_to_mask v10",
            "its sources have other types",
        ),
        ("v200: i32x8 = icmp.eq v7, v7", "its result is m32x8"),
        (
            "v200: i32x8 = rotate v7, v25",
            "it is rotated by no constant",
        ),
        ("v200: i64x4 = rotate v10, v2", "its result has other lanes"),
        (
            "v200: f32x8 = sum_up v12, v12",
            "its vectors have no 512 bits",
        ),
        (
            "v200: i16x8 = scale v19, v19",
            "its result has no lanes of 32 or 64 bits",
        ),
        (
            "v200: i64x8 = gather v20, v20, v0, v20",
            "no dwords are moved",
        ),
        (
            "v200: i32x16 = gather v8, v8, v2, v8",
            "the address is no i64",
        ),
        (
            "v200: i32x16 = gather v8, v8, v0, v7",
            "its distances have other lanes",
        ),
        ("scatter v8, v20, v0, v8", "its vectors have other lanes"),
        (
            "v200: i16x8 = load_some v19, v19, v0",
            "neither dwords nor quads are moved",
        ),
        ("store_some v8, v7, v0", "its vectors have other lanes"),
        ("store_some v8, v8, v8", "the address is no i64"),
        ("prefetch v2", "its sources have other types"),
    ];
    for (line, wanted) in broken {
        let text = ALL.replace("    brif v31,", &format!("    {line}\n    brif v31,"));
        let error = check(&text).expect_err(line);
        assert!(error.contains(&format!(": {wanted}")), "{line}\n{error}");
        assert!(error.starts_with(&format!("block0, {line}")), "{error}");
    }
    for (old, new, wanted) in [
        ("return v0", "return v2", "its sources have other types"),
        ("brif v31", "brif v4", "its condition is no integer"),
    ] {
        let error = check(&ALL.replace(old, new)).expect_err(new);
        assert!(error.contains(wanted), "{new}\n{error}");
    }
}

/// Errors that text cannot express.
#[test]
fn broken_lists() {
    let text = "block0(v0: i64):\n    v1: i64 = iadd v0, v0\n    return v1\n";
    type Change = fn(&mut Func);
    let broken: [(Change, &str); 7] = [
        (
            |f| f.layout.push(Block::new(0)),
            "block0: it is in the layout twice",
        ),
        (
            |f| f.layout.push(Block::new(1)),
            "block1: there is no such block",
        ),
        (
            |f| {
                let sum = f.blocks[0].insts[0];
                f.blocks[0].insts.insert(0, sum);
            },
            "block0, v1: i64 = iadd v0, v0: v1 is defined twice",
        ),
        (
            |f| f.insts[0].block = Block::new(1),
            "block0, v1: i64 = iadd v0, v0: it knows another block",
        ),
        (
            |f| f.values[1].def = Def::Param(Block::new(0)),
            "block0, v1: i64 = iadd v0, v0: v1 knows another definition",
        ),
        (
            |f| f.values[0].def = Def::Inst(Inst::new(0)),
            "block0: v0 knows another definition",
        ),
        (
            |f| f.pool[0] = Value::new(7),
            "block0, v1: i64 = iadd v7, v0: v7 is defined nowhere",
        ),
    ];
    for (change, wanted) in broken {
        let mut f = read(text);
        assert_eq!(verify(&f), Ok(()));
        change(&mut f);
        let error = verify(&f).expect_err(wanted).to_string();
        assert_eq!(error, wanted);
    }
}

/// Values whose definitions dominate their uses but follow them in the text.
#[test]
fn dominance_is_by_edges_not_by_layout() {
    let text = "\
block0(v0: i64):
    jump block4
block1:
    v2: i64 = iadd v1, v0
    brif v2, block2, block3
block2:
    jump block1
block3:
    return v2
block4:
    v1: i64 = iadd v0, v0
    brif v0, block1, block5
block5:
    v3: i64 = iadd v1, v1
    jump block1
block6:
    v4: i64 = iadd v2, v3
    return v5
block7:
    v5: i64 = iadd v5, v5
    jump block3
";
    // The last two are unreachable.
    assert_eq!(check(text), Ok(()));
    reparsed(&read(text));
    let text = text.replace("brif v2, block2, block3", "brif v2, block2, block7");
    let error = check(&text).expect_err("v5 takes itself");
    assert!(error.ends_with("v5 is not defined before"), "{error}");
}
