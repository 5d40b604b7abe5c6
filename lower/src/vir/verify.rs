//! Verifies a function, in nearly linear time: its structure, that definitions dominate uses, and
//! the types of each operation. For host vector operations only the sizes of lanes and vectors
//! count: `i32x8` may stand for `f32x8`.

use super::func::{Block, Def, Edge, Func, Inst, Value};
use super::op::{Callee, Constant, Memory, Op, Part};
use super::text;
use super::types::{self, Type};

/// The first broken rule, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct Broken {
    /// The block, and the text of the offending instruction, if any.
    pub place: String,
    /// The error.
    pub what: String,
}

/// Result of a check.
type Checked = Result<(), String>;

/// Checks one rule.
fn rule(holds: bool, what: &str) -> Checked {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

/// The first broken rule of a function.
pub fn verify(f: &Func) -> Result<(), Broken> {
    let entry = f.entry().ok_or_else(|| Broken {
        place: "the function".to_owned(),
        what: "there is no block".to_owned(),
    })?;
    let mut v = Verifier {
        f,
        places: vec![NOWHERE; f.num_values()],
        laid: vec![false; f.num_blocks()],
    };
    for &block in f.layout() {
        v.block(block).map_err(|what| broken(block, what))?;
    }
    each_inst(f, |block, n, inst| v.define(block, n, inst))?;
    each_inst(f, |_, _, inst| v.inst(inst))?;
    v.entry(entry).map_err(|what| broken(entry, what))?;
    let dominators = Dominators::new(f);
    each_inst(f, |block, n, inst| v.uses((block, n), inst, &dominators))
}

fn broken(block: Block, what: String) -> Broken {
    let place = format!("block{}", block.index());
    Broken { place, what }
}

/// Checks all instructions; `check` gets their blocks and positions.
fn each_inst(f: &Func, mut check: impl FnMut(Block, usize, Inst) -> Checked) -> Result<(), Broken> {
    for &block in f.layout() {
        for (n, &inst) in f.insts(block).iter().enumerate() {
            check(block, n, inst).map_err(|what| Broken {
                place: format!("block{}, {}", block.index(), text::instruction(f, inst)),
                what,
            })?;
        }
    }
    Ok(())
}

/// Where a value is defined: the block, and the position of the next instruction; 0 for a
/// parameter.
type Place = (Block, usize);

const NOWHERE: Place = (Block::NONE, 0);

struct Verifier<'f> {
    f: &'f Func,
    /// By the number of a value.
    places: Vec<Place>,
    /// By block number: is it in the layout?
    laid: Vec<bool>,
}

impl Verifier<'_> {
    // ---- structure

    fn block(&mut self, block: Block) -> Checked {
        let laid = self.laid.get_mut(block.index());
        let laid = laid.ok_or("there is no such block")?;
        let before = std::mem::replace(laid, true);
        rule(!before, "it is in the layout twice")?;
        for &param in self.f.params(block) {
            self.new_value(param, (block, 0), Def::Param(block))?;
        }
        let last = self.f.last(block).map(|last| self.f.op(last));
        let ends = last.is_some_and(Op::is_terminator);
        rule(ends, "it does not end with a terminator")
    }

    /// Records the definition of a value.
    fn new_value(&mut self, v: Value, place: Place, def: Def) -> Checked {
        let (f, n) = (self.f, v.index());
        let Some(here) = self.places.get_mut(n) else {
            return Err(format!("v{n} has no type"));
        };
        if std::mem::replace(here, place) != NOWHERE {
            return Err(format!("v{n} is defined twice"));
        }
        if f.values[n].def != def {
            return Err(format!("v{n} knows another definition"));
        }
        let ty = f.ty(v);
        let exists = match ty.is_vector() {
            true => matches!(ty.bits(), 128 | 256 | 512),
            false => ty.bits() != 16,
        };
        rule(exists, "it has a value of a type that no host has")
    }

    fn define(&mut self, block: Block, n: usize, inst: Inst) -> Checked {
        let f = self.f;
        rule(f.inst_block(inst) == block, "it knows another block")?;
        let last = n + 1 == f.insts(block).len();
        let ends = f.op(inst).is_terminator();
        rule(last || !ends, "it is a terminator before the block's end")?;
        match f.result(inst) {
            Some(v) => self.new_value(v, (block, n + 1), Def::Inst(inst)),
            None => Ok(()),
        }
    }

    fn entry(&self, entry: Block) -> Checked {
        let f = self.f;
        let params = f.params(entry).iter().map(|&v| f.ty(v));
        rule(
            params.eq([types::I64]),
            "the entry has other parameters than an i64",
        )?;
        let mut blocks = f.layout().iter();
        let again = blocks.any(|&from| f.successors(from).iter().any(|edge| edge.block == entry));
        rule(!again, "a jump leads to the entry")
    }

    // ---- instructions

    fn inst(&self, inst: Inst) -> Checked {
        let (f, op) = (self.f, self.f.op(inst));
        let mut used = f.args(inst).iter();
        used.try_for_each(|&v| self.is_defined(v))?;
        let sources = f.args(inst).iter().map(|&v| f.ty(f.resolve(v)));
        let sources: Vec<Type> = sources.collect();
        let types = Types {
            f,
            inst,
            sources: &sources,
            result: f.result(inst).map(|v| f.ty(v)),
        };
        types.check(op).map_err(|what| {
            let sources: Vec<String> = sources.iter().map(Type::to_string).collect();
            match sources.is_empty() {
                true => what,
                false => format!("{what} (sources: {})", sources.join(", ")),
            }
        })?;
        let mut edges = f.edges(inst).iter();
        edges.try_for_each(|&edge| self.edge(edge))
    }

    fn is_defined(&self, v: Value) -> Checked {
        let place = self.places.get(v.index());
        let place = place.map(|_| self.places[self.f.resolve(v).index()]);
        match place {
            Some(place) if place != NOWHERE => Ok(()),
            _ => Err(format!("v{} is defined nowhere", v.index())),
        }
    }

    fn edge(&self, edge: Edge) -> Checked {
        let (f, to) = (self.f, edge.block.index());
        if self.laid.get(to) != Some(&true) {
            return Err(format!("block{to} is not in the layout"));
        }
        let (args, params) = (f.edge_args(edge), f.params(edge.block));
        if args.len() != params.len() {
            return Err(format!("block{to} has another number of parameters"));
        }
        for (&arg, &param) in args.iter().zip(params) {
            self.is_defined(arg)?;
            if f.ty(f.resolve(arg)) != f.ty(param) {
                let [arg, param] = [arg, param].map(Value::index);
                return Err(format!(
                    "v{arg} has another type than v{param} of block{to}"
                ));
            }
        }
        Ok(())
    }

    /// Does the definition of each used value dominate the instruction?
    fn uses(&self, (block, n): Place, inst: Inst, dominators: &Dominators) -> Checked {
        if !dominators.reach(block) {
            return Ok(());
        }
        let f = self.f;
        let edges = f.edges(inst).iter();
        let given = edges.flat_map(|&edge| f.edge_args(edge));
        for &v in f.args(inst).iter().chain(given) {
            let (from, behind) = self.places[f.resolve(v).index()];
            let defined = match from == block {
                true => behind <= n,
                false => dominators.dominates(from, block),
            };
            if !defined {
                return Err(format!("v{} is not defined before", v.index()));
            }
        }
        Ok(())
    }
}

// ---- types of operations

/// An instruction's types.
struct Types<'a> {
    f: &'a Func,
    inst: Inst,
    sources: &'a [Type],
    result: Option<Type>,
}

/// An integer scalar other than a truth value.
fn is_word(ty: Type) -> bool {
    matches!(ty, types::I32 | types::I64)
}

/// An integer scalar, or a vector of integers with lanes of one of these sizes.
fn is_integer(ty: Type, lanes: &[u32]) -> bool {
    match ty.is_vector() {
        true => !ty.has_float_lanes() && lanes.contains(&ty.lane_bits()),
        false => is_word(ty),
    }
}

impl Types<'_> {
    fn check(&self, op: Op) -> Checked {
        use Op::*;
        let mut sources = self.sources.iter().enumerate();
        let masks = sources.all(|(n, ty)| !ty.is_mask() || op.takes_mask(n));
        rule(masks, "it takes no mask")?;
        match op {
            Iconst(n) => {
                let ty = self.leaf()?;
                rule(ty.is_int(), "its result is no integer")?;
                let fits = ty.bits() == 64 || n >> ty.bits() == 0;
                rule(fits, "there are bits beyond its width")
            }
            F32const(_) => self.leaf_of(types::F32),
            F64const(_) => self.leaf_of(types::F64),
            Vconst(constant) => {
                let ty = self.leaf()?;
                rule(ty.is_vector(), "its result is no vector")?;
                self.bytes(constant, ty.bytes())
            }
            SymbolValue(..) => self.leaf_of(types::I64),
            StackAddr(slot) => {
                let slots = self.f.stack_slots().len();
                rule((slot.0 as usize) < slots, "there is no such slot")?;
                self.leaf_of(types::I64)
            }
            Load(_, part, _) => {
                self.takes(&[types::I64])?;
                let ty = self.gives()?;
                let whole = part == Part::Whole || ty == types::I32;
                rule(whole, "a part is loaded as an i32")
            }
            Store(memory, part, _) => {
                rule(memory != Memory::Fixed, "it stores to what stays the same")?;
                let signed = matches!(part, Part::SignedByte | Part::SignedShort);
                rule(!signed, "what is stored of a part has no sign")?;
                self.gives_nothing()?;
                let &[ty, address] = self.sources else {
                    return Err("it takes a value and an address".to_owned());
                };
                rule(address == types::I64, "the address is no i64")?;
                let whole = part == Part::Whole || ty == types::I32;
                rule(whole, "a part is stored of an i32")
            }
            Call(Callee::Lanes) => {
                self.takes(&[types::I64, types::I64, types::I64, types::I32])?;
                self.gives_nothing()
            }
            Call(Callee::Effect) => {
                self.takes(&[types::I64; 5])?;
                self.gives_what(types::I64)
            }
            Icmp(_) => self.compares(|ty| match ty.is_vector() {
                true => is_integer(ty, &[32, 64]),
                false => ty.is_int(),
            }),
            Fcmp(_) => self.compares(Type::has_float_lanes),
            Insertlane(lane) => {
                let ty = self.lane_of(lane, self.result)?;
                self.takes(&[ty, ty.lane_type()])
            }
            Extractlane(lane) => {
                let ty = self.lane_of(lane, self.sources.first().copied())?;
                self.takes(&[ty])?;
                self.gives_what(ty.lane_type())
            }
            Shuffle(pattern) => {
                self.bytes(pattern, 16)?;
                self.lanes(&[ANY; 2], ANY)
            }
            Jump(_) => {
                self.takes(&[])?;
                self.gives_nothing()
            }
            Brif(_) => {
                self.counts(1)?;
                rule(self.sources[0].is_int(), "its condition is no integer")?;
                self.gives_nothing()
            }
            Return => {
                self.takes(&[types::I64])?;
                self.gives_nothing()
            }
            Iadd | Isub | Imul => self.same(2, |ty| is_integer(ty, &[16, 32, 64])),
            Ineg => self.same(1, is_word),
            Umulhi | Smulhi => self.same(2, is_word),
            Band | Bor | Bxor => self.same(2, |ty| ty.is_vector() || ty.is_int()),
            MaskToVector => {
                self.counts(1)?;
                rule(self.sources[0].is_mask(), "its source is no mask")?;
                self.gives_what(self.sources[0].unmasked())
            }
            VectorToMask => {
                let ty = self.gives()?;
                rule(ty.is_mask(), "its result is no mask")?;
                self.takes(&[ty.unmasked()])
            }
            Bnot => self.same(1, |ty| ty.is_vector() || is_word(ty)),
            Ishl | Ushr | Sshr => {
                self.counts(2)?;
                let (ty, by) = (self.gives()?, self.sources[1]);
                let shifts = self.sources[0] == ty && is_integer(ty, &[16, 32, 64]);
                rule(shifts, "no such value is shifted")?;
                rule(by.is_int(), "it is shifted by no integer")
            }
            Umin => self.same(2, |ty| is_integer(ty, &[8, 16, 32])),
            Umax | Smin | Smax => self.same(2, |ty| is_integer(ty, &[16, 32])),
            UaddSat | SaddSat | UsubSat | SsubSat => {
                self.same(2, |ty| ty.is_vector() && is_integer(ty, &[16]))
            }
            Popcnt => self.same(1, |ty| is_integer(ty, &[8])),
            Clz | Ctz | Bitrev => self.same(1, is_word),
            Ireduce => self.extends(|from, to| from.bits() > to.bits()),
            Uextend => self.extends(|from, to| from.bits() < to.bits()),
            Sextend => self.extends(|from, to| (from, to) == (types::I32, types::I64)),
            Select => {
                self.counts(3)?;
                let ty = self.gives()?;
                rule(self.sources[0].is_int(), "its condition is no integer")?;
                rule(
                    self.sources[1..] == [ty; 2],
                    "it selects what has another type",
                )
            }
            Bitselect | Blendv => {
                self.counts(3)?;
                let (ty, mask) = (self.gives()?, self.sources[0]);
                rule(
                    self.sources[1..] == [ty; 2],
                    "it selects what has another type",
                )?;
                let alike = mask.is_vector() && mask.lane_bits() == ty.lane_bits();
                rule(
                    alike && mask.bits() == ty.bits(),
                    "its condition is of other lanes",
                )
            }
            VhighBits => {
                self.counts(1)?;
                let ty = self.sources[0];
                let dwords = ty.is_vector() && ty.lane_bits() == 32;
                rule(dwords, "its source is no vector of dwords")?;
                self.gives_what(types::I32)
            }
            Splat => {
                let ty = self.gives()?;
                let known = ty.is_vector() && ty.lane_bits() >= 32;
                rule(known, "its result has no lanes of 32 or 64 bits")?;
                self.takes(&[ty.lane_type()])
            }
            ScalarToVector => {
                let ty = self.gives()?;
                let words = ty.is_vector() && is_integer(ty, &[32, 64]);
                rule(words, "its result has no integers of 32 or 64 bits")?;
                self.takes(&[ty.lane_type()])
            }
            SwidenLow | SwidenHigh | UwidenLow | UwidenHigh => {
                self.counts(1)?;
                let ty = self.sources[0];
                let wide = ty.is_vector().then(|| ty.widened()).flatten();
                let wide = wide.ok_or("its source has no lanes that can be widened")?;
                self.gives_what(wide)
            }
            Bitcast => {
                self.counts(1)?;
                let same = self.sources[0].bits() == self.gives()?.bits();
                rule(same, "its result has another size")
            }
            Fadd | Fsub | Fmul | Fdiv => self.same(2, Type::has_float_lanes),
            Fma => self.same(3, Type::has_float_lanes),
            Sqrt | Fabs | Ceil | Floor | Trunc | Nearest => self.same(1, Type::has_float_lanes),
            Fpromote => self.converts(types::F32, types::F64),
            Fdemote => self.converts(types::F64, types::F32),
            FvpromoteLow => self.converts(types::F32X4, types::F64X2),
            Fvdemote => self.converts(types::F64X2, types::F32X4),
            FcvtFromSint | FcvtFromUint => self.rounds(|int, float| (int, float)),
            FcvtToSintSat | FcvtToUintSat => self.rounds(|float, int| (int, float)),
            MulWideU | MulWideS => self.lanes(&[64; 2], 64),
            OddDwords => self.lanes(&[ANY; 2], 32),
            PromoteLow | PromoteHigh | FromIntLow | FromIntHigh => self.lanes(&[32], 64),
            PromoteLowHalf | PromoteHighHalf => self.lanes(&[32], 64),
            Demote | DemoteHalves => self.lanes(&[64; 2], 32),
            Join => self.halves(2, |source, result| 2 * source == result),
            LowHalf | HighHalf => self.halves(1, |source, result| source == 2 * result),
            LowHalves | HighHalves => {
                self.lanes(&[ANY; 2], ANY)?;
                rule(self.gives()?.bits() > 128, "its vectors have no halves")
            }
            EvenParts | OddParts => self.longest(&[ANY; 2], ANY),
            MixParts => self.longest(&[ANY], ANY),
            NarrowBytes => self.narrows(4),
            NarrowShorts => self.narrows(2),
            WidenBytesU | WidenBytesS => self.widens(8),
            WidenShortsU | WidenShortsS => self.widens(16),
            ShiftLeft | ShiftRight | ShiftArithmetic => self.lanes(&[32; 2], 32),
            ShiftLeftQuads | ShiftRightQuads | ShiftArithmeticQuads => self.lanes(&[64; 2], 64),
            PickBytes => self.lanes(&[ANY; 2], ANY),
            PickDwords => self.longest(&[32; 3], 32),
            ShortSigns => self.lanes(&[ANY], ANY),
            WidenLow | WidenHigh | FromHalf | ToHalf | ToHalfTruncating => self.lanes(&[32], 32),
            Narrow => self.lanes(&[32; 2], 32),
            MaskOfBits => {
                self.counts(1)?;
                rule(is_word(self.sources[0]), "its bits are no integer")?;
                rule(self.gives()?.is_mask(), "its result is no mask")
            }
            Rotate => {
                self.counts(2)?;
                let by = self.f.iconst(self.f.args(self.inst)[1]);
                rule(by.is_some(), "it is rotated by no constant")?;
                self.lanes_of(&self.sources[..1], &[32], 32)
            }
            SumDown | SumUp => self.longest(&[32; 2], 32),
            FusedUp => self.longest(&[32; 3], 32),
            ToOdd | Least => self.lanes(&[32; 2], 32),
            Scale => {
                let bits = self.of_words()?;
                self.lanes(&[bits; 2], bits)
            }
            RootEstimate => {
                let bits = self.of_words()?;
                self.lanes(&[bits], bits)
            }
            Rest | Mantissa | Exponent | PlainMantissa | PlainExponent => self.lanes(&[32], 32),
            ZeroOrInfinite | Flush => self.lanes(&[32], 32),
            Fix => self.lanes(&[32; 3], 32),
            Gather => {
                self.counts(4)?;
                self.scattered(self.gives()?)
            }
            Scatter => {
                self.gives_nothing()?;
                self.counts(4)?;
                self.scattered(self.sources[0])
            }
            LoadSome => {
                self.counts(3)?;
                self.in_order(self.gives()?)
            }
            StoreSome => {
                self.gives_nothing()?;
                self.counts(3)?;
                self.in_order(self.sources[0])
            }
            Prefetch | PrefetchSecond => {
                self.takes(&[types::I64])?;
                self.gives_nothing()
            }
        }
    }

    // ---- counts and single types

    fn counts(&self, sources: usize) -> Checked {
        rule(
            self.sources.len() == sources,
            "it has another number of sources",
        )
    }

    fn gives(&self) -> Result<Type, String> {
        self.result.ok_or_else(|| "it has no result".to_owned())
    }

    fn gives_nothing(&self) -> Checked {
        rule(self.result.is_none(), "it has a result")
    }

    fn gives_what(&self, ty: Type) -> Checked {
        match self.gives()? == ty {
            true => Ok(()),
            false => Err(format!("its result is {ty}")),
        }
    }

    fn takes(&self, sources: &[Type]) -> Checked {
        self.counts(sources.len())?;
        rule(self.sources == sources, "its sources have other types")
    }

    /// Without sources.
    fn leaf(&self) -> Result<Type, String> {
        self.counts(0)?;
        self.gives()
    }

    fn leaf_of(&self, ty: Type) -> Checked {
        self.counts(0)?;
        self.gives_what(ty)
    }

    fn bytes(&self, constant: Constant, count: u32) -> Checked {
        let bytes = self.f.bytes(constant).len();
        rule(bytes == count as usize, "its constant has another size")
    }

    /// All sources and the result have one type, an allowed one.
    fn same(&self, sources: usize, allowed: impl Fn(Type) -> bool) -> Checked {
        self.counts(sources)?;
        let ty = self.gives()?;
        let mut others = self.sources.iter();
        rule(others.all(|&other| other == ty), "types differ")?;
        rule(allowed(ty), "there is no such operation of this type")
    }

    fn compares(&self, allowed: impl Fn(Type) -> bool) -> Checked {
        self.counts(2)?;
        let ty = self.sources[0];
        rule(self.sources[1] == ty, "types differ")?;
        rule(allowed(ty), "there is no such comparison of this type")?;
        self.gives_what(ty.truth())
    }

    fn converts(&self, from: Type, to: Type) -> Checked {
        self.takes(&[from])?;
        self.gives_what(to)
    }

    /// Conversion between integer types.
    fn extends(&self, allowed: impl Fn(Type, Type) -> bool) -> Checked {
        self.counts(1)?;
        let (from, to) = (self.sources[0], self.gives()?);
        let both = from.is_int() && to.is_int();
        rule(
            both && allowed(from, to),
            "there is no such change of width",
        )
    }

    /// Conversion between integers and floats; `which` checks the types of source and result.
    fn rounds(&self, which: impl Fn(Type, Type) -> (Type, Type)) -> Checked {
        self.counts(1)?;
        let (int, float) = which(self.sources[0], self.gives()?);
        let kinds = is_integer(int, &[32, 64]) && float.has_float_lanes();
        let lanes = match int.is_vector() {
            true => float.lane_bits() == int.lane_bits() && float.bits() == int.bits(),
            false => !float.is_vector(),
        };
        rule(kinds && lanes, "there is no such conversion")
    }

    // ---- vectors

    /// The type of a vector that has a lane of this number, as a scalar.
    fn lane_of(&self, lane: u8, ty: Option<Type>) -> Result<Type, String> {
        let ty = ty.ok_or("it has no vector")?;
        let words = ty.is_vector() && is_integer(ty, &[32, 64]);
        rule(words, "it has no integers of 32 or 64 bits")?;
        let there = u32::from(lane) < ty.lane_count();
        rule(there, "there is no such lane")?;
        Ok(ty)
    }

    /// Vectors of one size, of lanes of these sizes.
    fn lanes(&self, sources: &[u32], result: u32) -> Checked {
        self.counts(sources.len())?;
        self.lanes_of(self.sources, sources, result)
    }

    fn lanes_of(&self, given: &[Type], sources: &[u32], result: u32) -> Checked {
        let ty = self.gives()?;
        let fits = |other: Type, lane: u32| {
            let lane = lane == ANY || other.lane_bits() == lane;
            lane && other.is_vector() && other.bits() == ty.bits()
        };
        let mut pairs = given.iter().zip(sources);
        rule(fits(ty, result), "its result has other lanes")?;
        rule(
            pairs.all(|(&other, &lane)| fits(other, lane)),
            "its sources have other lanes",
        )
    }

    /// The same of 512 bits.
    fn longest(&self, sources: &[u32], result: u32) -> Checked {
        self.lanes(sources, result)?;
        rule(self.gives()?.bits() == 512, "its vectors have no 512 bits")
    }

    /// Bits of the result's lanes, 32 or 64.
    fn of_words(&self) -> Result<u32, String> {
        let bits = self.gives()?.lane_bits();
        rule(bits >= 32, "its result has no lanes of 32 or 64 bits")?;
        Ok(bits)
    }

    /// Vectors with these sizes in bits, of each source and the result.
    fn halves(&self, sources: usize, sizes: impl Fn(u32, u32) -> bool) -> Checked {
        self.counts(sources)?;
        let ty = self.gives()?;
        let mut others = self.sources.iter();
        let fits = |&other: &Type| other.is_vector() && sizes(other.bits(), ty.bits());
        rule(
            ty.is_vector() && others.all(fits),
            "a vector is not half of the other",
        )
    }

    /// 16 dwords truncated to a part of their bits.
    fn narrows(&self, by: u32) -> Checked {
        self.counts(1)?;
        let (from, to) = (self.sources[0], self.gives()?);
        let dwords = from.lane_bits() == 32 && from.bits() == 512;
        rule(dwords, "its source has other lanes than 16 dwords")?;
        let fits = to.is_vector() && to.bits() == 512 / by;
        rule(fits, "its result has another size")
    }

    /// The low lanes of this number of bits, in the shortest possible vector, to dwords.
    fn widens(&self, bits: u32) -> Checked {
        self.counts(1)?;
        let (from, to) = (self.sources[0], self.gives()?);
        let dwords = to.is_vector() && to.lane_bits() == 32;
        rule(dwords, "its result is no vector of dwords")?;
        let wanted = (to.lane_count() * bits).max(128);
        let fits = from.is_vector() && from.bits() == wanted;
        rule(fits, "its source has another size")
    }

    /// Masked dwords of this type at an address and offsets.
    fn scattered(&self, ty: Type) -> Checked {
        rule(ty.lane_bits() == 32, "no dwords are moved")?;
        self.some_of(ty)?;
        let (address, index) = (self.sources[2], self.sources[3]);
        rule(address == types::I64, "the address is no i64")?;
        let alike = index.lane_bits() == 32 && index.bits() == ty.bits();
        rule(alike, "its distances have other lanes")
    }

    /// Masked contiguous words of this type at an address.
    fn in_order(&self, ty: Type) -> Checked {
        rule(ty.lane_bits() >= 32, "neither dwords nor quads are moved")?;
        self.some_of(ty)?;
        rule(self.sources[2] == types::I64, "the address is no i64")
    }

    /// The first two sources are a vector of this type and its mask.
    fn some_of(&self, ty: Type) -> Checked {
        let alike = |other: &Type| {
            let lanes = other.is_vector() && other.lane_bits() == ty.lane_bits();
            lanes && other.bits() == ty.bits()
        };
        let both = self.sources[..2].iter().all(alike);
        rule(both, "its vectors have other lanes")
    }
}

/// Lanes of any size.
const ANY: u32 = 0;

// ---- dominators

/// The dominator tree (Cooper, Harvey and Kennedy, A Simple, Fast Dominance Algorithm), numbered so
/// that each subtree is an interval.
struct Dominators {
    /// By block number: its number in the tree, if it is reachable.
    numbers: Vec<Option<u32>>,
    /// By block number: the size of its subtree.
    sizes: Vec<u32>,
}

impl Dominators {
    fn new(f: &Func) -> Dominators {
        let order = f.reverse_postorder();
        let mut places = vec![None; f.num_blocks()];
        for (n, block) in order.iter().enumerate() {
            places[block.index()] = Some(n);
        }
        let above = above(f, &order, &places);
        let mut sizes = vec![1; order.len()];
        for n in (1..order.len()).rev() {
            sizes[above[n]] += sizes[n];
        }
        let mut dominators = Dominators {
            numbers: vec![None; f.num_blocks()],
            sizes: vec![0; f.num_blocks()],
        };
        // The next number below each block.
        let mut next = vec![1; order.len()];
        for (n, block) in order.iter().enumerate() {
            let number = match n {
                0 => 0,
                n => next[above[n]],
            };
            next[above[n]] += sizes[n];
            next[n] = number + 1;
            dominators.numbers[block.index()] = Some(number);
            dominators.sizes[block.index()] = sizes[n];
        }
        dominators
    }

    /// Is a block reachable?
    fn reach(&self, block: Block) -> bool {
        self.numbers[block.index()].is_some()
    }

    /// Does the first block dominate the second?
    fn dominates(&self, a: Block, b: Block) -> bool {
        match [a, b].map(|block| self.numbers[block.index()]) {
            [Some(a_number), Some(b)] => (a_number..a_number + self.sizes[a.index()]).contains(&b),
            _ => false,
        }
    }
}

/// By position in the order: the position of the immediate dominator. `places` is the order by
/// block number.
fn above(f: &Func, order: &[Block], places: &[Option<usize>]) -> Vec<usize> {
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); order.len()];
    for (n, &block) in order.iter().enumerate() {
        for edge in f.successors(block) {
            before[places[edge.block.index()].expect("it is reached")].push(n);
        }
    }
    let mut above = vec![usize::MAX; order.len()];
    above[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for n in 1..order.len() {
            // The last predecessors first: they are mostly deeper, and few steps lead up to those.
            let known = before[n].iter().rev();
            let known = known.filter(|&&from| above[from] != usize::MAX);
            let common = known.copied().reduce(|a, b| meet(&above, a, b));
            let common = common.expect("one that leads to it is before it in the order");
            changed |= above[n] != common;
            above[n] = common;
        }
    }
    above
}

/// The nearest common ancestor of two blocks in the tree.
fn meet(above: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        if a > b {
            a = above[a];
        } else {
            b = above[b];
        }
    }
    a
}
