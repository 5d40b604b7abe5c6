use super::*;

/// Every operation, with arbitrary sources.
#[test]
fn every_operation_is_read_back() {
    let (mut f, mut ssa) = (Func::new(), Ssa::default());
    let mut b = Builder::new(&mut f, &mut ssa);
    let [entry, skipped, next, last] = [(); 4].map(|()| b.create_block());
    let context = b.append_block_param(entry, I64);
    let param = b.append_block_param(next, I32X8);
    let slots = [64, 48].map(|bytes| b.func.stack_slot(bytes));
    b.switch_to_block(entry);
    let numbers = [0, 1, -1, i64::MIN, i64::MAX].map(|n| b.iconst(I64, n));
    b.iconst(I32, -1);
    b.iconst(I8, 1);
    for x in [0.5, -0.0, f64::NAN, f64::NEG_INFINITY] {
        b.f32const(x as f32);
        b.f64const(x);
    }
    let bytes: Vec<u8> = (0..32).map(|n| 7 * n).collect();
    for bytes in [&bytes[..], &[0xff; 32], &[0, 1, 0, 0].repeat(8)] {
        let constant = b.func.constant(bytes);
        b.vconst(I32X8, constant);
    }
    for symbol in [Symbol::Guest, Symbol::Sites] {
        for distance in [0, 16, -16, i64::MIN] {
            b.symbol_value(symbol, distance);
        }
    }
    for slot in slots {
        b.stack_addr(slot);
    }
    b.set_loc(3);
    let parts = [
        Part::Whole,
        Part::Byte,
        Part::SignedByte,
        Part::Short,
        Part::SignedShort,
    ];
    for memory in [Memory::Guest, Memory::Trusted, Memory::Fixed] {
        for part in parts {
            for offset in [0, 8, i32::MIN] {
                let loaded = b.load_part(part, memory, context, offset);
                b.store_part(part, memory, loaded, context, offset);
            }
        }
    }
    b.call_lanes(context, [context; 3]);
    b.call_effect(context, [context; 4]);
    b.set_loc(u32::MAX);
    for (cond, _) in IntCC::ALL {
        b.icmp(cond, context, numbers[1]);
    }
    for (cond, _) in FloatCC::ALL {
        b.fcmp(cond, context, numbers[1]);
    }
    b.insertlane(param, context, 7);
    b.extractlane(param, 255);
    let pattern = b.func.constant(&bytes[..16]);
    b.shuffle(I32X4, param, param, pattern);
    for (n, &(op, _)) in Op::PLAIN.iter().enumerate() {
        let args = vec![context; n % 5];
        b.op(op, &args, I32X8);
        b.effect(op, &args);
    }
    b.jump(next, &[param]);
    b.switch_to_block(next);
    b.brif(context, next, &[param], last, &[]);
    b.switch_to_block(last);
    b.set_cold_block(last);
    b.return_(context);
    b.finish();
    let read = reparsed(&f);
    let text = print(&read);
    for (_, name) in Op::PLAIN {
        let count = text.lines().filter(|line| {
            let code = line.split(" = ").last().unwrap_or(line).trim_start();
            code.split(' ').next() == Some(name)
        });
        assert_eq!(count.count(), 2, "{name}");
    }
    assert_eq!(read.num_values(), f.num_values());
    assert_eq!(read.num_blocks(), f.num_blocks());
    assert_eq!(read.layout(), f.layout());
    assert_eq!(read.stack_slots(), f.stack_slots());
    assert!(read.insts(skipped).is_empty());
    assert!(read.is_cold(last) && !read.is_cold(next));
    for &block in f.layout() {
        assert_eq!(read.insts(block).len(), f.insts(block).len());
        for (&one, &other) in f.insts(block).iter().zip(read.insts(block)) {
            assert_eq!(f.args(one), read.args(other));
            assert_eq!(f.loc(one), read.loc(other));
            match f.op(one) {
                // Parsing renumbers constants.
                Op::Vconst(constant) | Op::Shuffle(constant) => {
                    let (Op::Vconst(reparsed) | Op::Shuffle(reparsed)) = read.op(other) else {
                        panic!("{:?}", read.op(other));
                    };
                    assert_eq!(f.bytes(constant), read.bytes(reparsed));
                }
                op => assert_eq!(op, read.op(other)),
            }
        }
    }
}

#[test]
fn text_stays_as_it_is() {
    let text = "\
slots 64 48
block3(v10: i64):
    v1: i64 = iconst -5
    v2: i32x8 = vconst splat 0xff
    v3: i64x4 = vconst splat 0xffffffff00000001
    v4: i32x4 = vconst 0x000102030405060708090a0b0c0d0e0f
    v5: f32 = f32const 0x3f800000
    v6: i64 = symbol guest+16 @3
    store.guest.byte v1, v10-8 @4294967295
    v7: i8 = icmp.ult v1, v6
    brif v7, block1(v3, v1), block0
block1(v8: i64x4, v9: i64) cold:
    v12: i64 = stack_addr slot1
    return v12
block0:
    return v1
";
    assert_eq!(print(&read(text)), text);
    let loose = "block0 ( v0 :i64 ) :;one\n;\n\n  v1:i64=iadd v0 ,v0@2\n  return v1 ; the end";
    let tight = "block0(v0: i64):\n    v1: i64 = iadd v0, v0 @2\n    return v1\n";
    assert_eq!(print(&read(loose)), tight);
    assert_eq!(print(&read("")), "");
}

#[test]
fn other_names_are_not_written() {
    let f = build(|b, context| {
        let var = b.declare_var(I64);
        let next = b.create_block();
        b.def_var(var, context);
        b.jump(next, &[]);
        b.switch_to_block(next);
        let v = b.use_var(var);
        let sum = b.iadd(v, v);
        b.return_(sum);
    });
    assert_eq!(
        print(&f),
        "block0(v0: i64):\n    jump block1\nblock1:\n    v2: i64 = iadd v0, v0\n    return v2\n"
    );
}

#[test]
fn errors_name_the_line() {
    let errors = [
        (
            "return v0",
            "line 1: a block such as block0(v0: i64): is expected, not \"return v0\"",
        ),
        ("slots 1\nslots 2", "line 2: a block such as"),
        ("slots x", "line 1: a slot's size is expected, not \"x\""),
        (
            "block0:\nblock0:",
            "line 2: a block that was not there before is expected",
        ),
        ("block0(v0: i64", "line 1: ) is expected, not \"\""),
        (
            "block0(v0: i65):",
            "line 1: a type such as i32x8 is expected, not \"i65):\"",
        ),
        ("block0(v0: i8x2147483648):", "line 1: a type such as"),
        ("block0(v0: i32x1):", "line 1: a type such as"),
        ("block0(v0: i32x+4):", "line 1: a type such as"),
        (
            "block0(v0: i8, v0: i8):",
            "line 1: a value that nothing else defines",
        ),
        (
            "block0(v4000000000: i8):",
            "line 1: a value such as v0 is expected",
        ),
        (
            "block0(i8):",
            "line 1: a value such as v0 is expected, not \"i8):\"",
        ),
        ("block0", "line 1: : is expected"),
        (
            "block0:\n return v7",
            "line 2: a value that is defined somewhere is expected, not \"v7\"",
        ),
        (
            "block0:\n v1: i64 iconst 1",
            "line 2: = is expected, not \"iconst 1\"",
        ),
        (
            "block0:\n v1: i64 = iconst",
            "line 2: an integer that fits is expected, not \"\"",
        ),
        (
            "block0:\n v1: i64 = iconst 9223372036854775808",
            "line 2: an integer that fits",
        ),
        (
            "block0:\n v1: i64 = iconst 1 2",
            "line 2: the end of the line is expected, not \"2\"",
        ),
        (
            "block0:\n v1: i64 = icons 1",
            "line 2: an operation is expected, not \"icons 1\"",
        ),
        (
            "block0:\n v1: i64 = iadd v1, ",
            "line 2: a value such as v0 is expected",
        ),
        (
            "block0:\n v1: i32x4 = extractlane v1 3",
            "line 2: , is expected, not \"3\"",
        ),
        (
            "block0:\n v1: i32x4 = vconst 0x123",
            "line 2: bytes such as 0x0c0d",
        ),
        (
            "block0:\n v1: i32x4 = vconst splat 0x100000000",
            "line 2: a lane of i32x4",
        ),
        (
            "block0:\n vconst splat 0x1",
            "line 2: bytes, as there is no type",
        ),
        (
            "block0:\n v1: i8 = icmp.lt v1, v1",
            "line 2: a comparison of integers",
        ),
        ("block0:\n v1: i8 = fcmp v1, v1", "line 2: . is expected"),
        ("block0:\n v1: i8 = load.any v1", "line 2: a kind of memory"),
        (
            "block0:\n v1: i8 = load.guest.half v1",
            "line 2: a part is expected",
        ),
        (
            "block0:\n v1: i8 = load.guest v1+2147483648",
            "line 2: an offset",
        ),
        ("block0:\n v1: i64 = symbol here", "line 2: a symbol"),
        (
            "block0:\n v1: i64 = stack_addr 0",
            "line 2: a slot such as slot0",
        ),
        ("block0:\n call.some v1", "line 2: a signature"),
        ("block0:\n jump v1", "line 2: , is expected"),
        (
            "block0:\n jump 1",
            "line 2: a block such as block0 is expected, not \"1\"",
        ),
        (
            "block0:\n jump block0 @x",
            "line 2: a number is expected, not \"x\"",
        ),
    ];
    for (text, wanted) in errors {
        let error = parse(text).map(|f| print(&f)).expect_err(text);
        assert!(error.to_string().starts_with(wanted), "{text}\n{error}");
    }
}
