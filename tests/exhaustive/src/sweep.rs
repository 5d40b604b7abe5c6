//! Sweeps: one form of one instruction under one MODE with all values of its live input bits.

use frontend::desc::{Effects, Encoding, Forms, InstDesc, Scc};
use frontend::state::mode;
use frontend::{Gfx, Inst, Op, Ty, decode, isa};
use lower::ir::build::Build;
use lower::ir::{Term, text};
use lower::lift::arms::{Lowered, Sites, lower};
use lower::lift::guest::Guest;

use crate::engines::Kind;
use crate::run::{Bench, Error};

/// MODE of kernels by default: nearest even, denormals kept, DX10_CLAMP, IEEE.
pub const DEFAULT_MODE: u32 = 0x3f0;

/// MODEs of forms with modifiers: output modifiers act without IEEE and denormals.
const SOME: [u32; 5] = [DEFAULT_MODE, 0x005, 0x100, 0x2f0, 0x03a];

/// Which target stands for those with the same translation: the first of these that is one of them.
const REPRESENTATIVES: [Gfx; Gfx::COUNT] = [
    Gfx::Gfx906,
    Gfx::Gfx900,
    Gfx::Gfx90a,
    Gfx::Gfx942,
    Gfx::Gfx803,
    Gfx::Gfx700,
    Gfx::Gfx600,
    Gfx::Gfx908,
];

/// Live bits of a source: bits `from` up of the input's number, at bit `at` of the register. The register's other bits
/// are noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Number of bits.
    pub width: u32,
    /// Where they are in the register.
    pub at: u32,
    /// Where they are in the input's number.
    pub from: u32,
}

impl Field {
    const fn all() -> Field {
        Field {
            width: 32,
            at: 0,
            from: 0,
        }
    }

    /// The register's value for an input.
    #[inline(always)]
    pub fn value(self, input: u32, salt: u32) -> u32 {
        if self.width == 32 {
            return input;
        }
        let mask = ((1u32 << self.width) - 1) << self.at;
        let noise = (input ^ salt).wrapping_mul(0x9e37_79b1);
        (noise ^ noise >> 15) & !mask | (input >> self.from) << self.at & mask
    }
}

/// What a slot of the code does with its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A vector instruction with so many result registers.
    Lanes(u32),
    /// A comparison, VOP3, into a scalar pair.
    Compare,
    /// A comparison that also writes EXEC.
    CompareExec,
    /// A scalar instruction with so many result registers, and SCC if it writes that.
    Scalar(u32, bool),
}

/// How the instruction is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    E32,
    Vop3 {
        abs: u32,
        neg: u32,
        clamp: bool,
        omod: u32,
        op_sel: u32,
    },
    /// Packed with one register as both sources: the low result is of its low and high half, the high result of its
    /// high and low half.
    Halves {
        clamp: bool,
    },
    /// The word behind an SDWA instruction but for the first source's register.
    Sdwa(u32),
    /// The first source is an inline constant of this code.
    Constant(u32),
    Scalar,
}

const PLAIN3: Coding = Coding::Vop3 {
    abs: 0,
    neg: 0,
    clamp: false,
    omod: 0,
    op_sel: 0,
};

/// A form of an instruction on one target.
#[derive(Clone, Debug)]
pub struct Form {
    /// The row.
    pub desc: &'static InstDesc,
    /// The target.
    pub gfx: Gfx,
    /// The form in words.
    pub name: String,
    coding: Coding,
    /// What it does with registers.
    pub shape: Shape,
    /// Live bits of the sources in registers.
    pub fields: Vec<Field>,
    /// Number of live bits.
    pub bits: u32,
}

/// A form under a MODE, for the targets whose translation is the same.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The form on the target that stands for the others.
    pub form: Form,
    /// MODE: the first of those with the same translation.
    pub mode: u32,
    /// Number of MODEs that the form is swept under.
    pub modes: usize,
    /// The target that runs, then the others.
    pub targets: Vec<Gfx>,
}

impl Sweep {
    /// What identifies it: the instruction, its form, MODE and the target that runs.
    pub fn key(&self) -> (String, String, u32, Gfx) {
        let form = &self.form;
        (form.instruction(), form.name.clone(), self.mode, form.gfx)
    }

    /// Is it of the plain form under the default MODE, or the MODE with the same translation?
    pub fn is_default(&self) -> bool {
        self.mode == DEFAULT_MODE
    }
}

/// Is the row plain enough: are results functions of the explicit sources and MODE?
fn is_pure(desc: &InstDesc) -> bool {
    let others = [
        Effects::READS_SCC,
        Effects::READS_VCC,
        Effects::READS_M0,
        Effects::WRITES_M0,
        Effects::CROSS_LANE,
        Effects::READS_D,
        Effects::IGNORES_EXEC,
    ];
    let moves = matches!(
        desc.op,
        Op::Nop | Op::Swap | Op::ClrExcp | Op::AccVgprMov | Op::ReadFirstLane
    );
    !moves && !others.iter().any(|&effect| desc.effects.has(effect))
}

fn field(width: u32, at: u32, from: u32) -> Field {
    Field { width, at, from }
}

/// Live bits of the plain form's sources, if there are at most 32.
fn plain_fields(desc: &InstDesc) -> Option<Vec<Field>> {
    match *desc.src {
        [ty] if ty.bits() == 32 => Some(vec![Field::all()]),
        [ty] if ty.bits() == 16 => Some(vec![field(16, 0, 0)]),
        [a, b] if a.bits() == 16 && b.bits() == 16 => Some(vec![field(16, 0, 0), field(16, 0, 16)]),
        _ => None,
    }
}

fn is_packed(ty: Ty) -> bool {
    matches!(ty, Ty::PkF16 | Ty::PkI16 | Ty::PkU16)
}

/// All forms of a row on a target.
fn forms_of(desc: &'static InstDesc, gfx: Gfx, out: &mut Vec<Form>) {
    if desc.opcodes.get(gfx).is_none() || !is_pure(desc) {
        return;
    }
    let mut add = |name: String, coding, shape, fields: Vec<Field>, bits| {
        let form = Form {
            desc,
            gfx,
            name,
            coding,
            shape,
            fields,
            bits,
        };
        // What does not decode to the row is no form of it on this target.
        if form.inst().is_some() {
            out.push(form);
        }
    };
    let registers: u32 = desc.dst.iter().map(|ty| ty.regs()).sum();
    let wide = desc.dst.iter().any(|ty| ty.bits() > 64);
    match desc.encoding {
        Encoding::Sop1 => {
            let writes_exec = desc.effects.has(Effects::WRITES_EXEC);
            let (&[d], &[s]) = (desc.dst, desc.src) else {
                return;
            };
            if s.bits() == 32 && !writes_exec {
                let scc = desc.scc != Scc::Keep;
                let shape = Shape::Scalar(d.regs(), scc);
                add(
                    "plain".into(),
                    Coding::Scalar,
                    shape,
                    vec![Field::all()],
                    32,
                );
            }
        }
        Encoding::Vopc => {
            let Some(fields) = plain_fields(desc) else {
                return;
            };
            let shape = match desc.effects.has(Effects::WRITES_EXEC) {
                false => Shape::Compare,
                true => Shape::CompareExec,
            };
            add("plain".into(), PLAIN3, shape, fields, 32);
        }
        Encoding::Vop3p => {
            let packed = matches!(*desc.src, [a, b] if is_packed(a) && is_packed(b));
            if packed && matches!(*desc.dst, [d] if is_packed(d)) {
                let clamps = desc.dst[0] == Ty::PkF16 || desc.forms.has(Forms::INT_CLAMP);
                for clamp in [false, true] {
                    if clamp && !clamps {
                        continue;
                    }
                    let name = if clamp { "halves clamp" } else { "halves" };
                    let coding = Coding::Halves { clamp };
                    add(name.into(), coding, Shape::Lanes(1), vec![Field::all()], 32);
                }
            }
        }
        Encoding::Vop1 | Encoding::Vop2 | Encoding::Vop3 => {
            if desc.dst.is_empty() || wide || desc.dst.contains(&Ty::Mask) {
                return;
            }
            let shape = Shape::Lanes(registers);
            if let Some(fields) = plain_fields(desc) {
                let bits = fields.iter().map(|f| f.width).sum();
                let native = match desc.encoding {
                    Encoding::Vop3 => PLAIN3,
                    _ => Coding::E32,
                };
                add("plain".into(), native, shape, fields.clone(), bits);
                modified(desc, bits, shape, &fields, &mut add);
            }
            selected(desc, gfx, shape, &mut add);
        }
        Encoding::Sop2
        | Encoding::Sopk
        | Encoding::Sopc
        | Encoding::Sopp
        | Encoding::Smem
        | Encoding::Vintrp
        | Encoding::Ds
        | Encoding::Flat
        | Encoding::Global
        | Encoding::Scratch
        | Encoding::Mubuf
        | Encoding::Mtbuf
        | Encoding::Mimg
        | Encoding::Exp => {}
    }
}

type Add<'a> = dyn FnMut(String, Coding, Shape, Vec<Field>, u32) + 'a;

/// Modifiers of VOP3, where inputs are few; OP_SEL; inline constants.
fn modified(desc: &InstDesc, bits: u32, shape: Shape, fields: &[Field], add: &mut Add<'_>) {
    let float_in = desc.src[0].is_float();
    let float_out = desc.dst[0].is_float();
    let clamps = float_out || desc.forms.has(Forms::INT_CLAMP);
    if bits == 16 {
        for n in 1..32u32 {
            let (abs, neg, clamp, omod) = (n & 1, n >> 1 & 1, n >> 2 & 1 != 0, n >> 3);
            if (abs | neg) != 0 && !float_in || clamp && !clamps || omod != 0 && !float_out {
                continue;
            }
            let mut name = String::from("e64");
            for (on, word) in [(abs != 0, " abs"), (neg != 0, " neg"), (clamp, " clamp")] {
                name += if on { word } else { "" };
            }
            name += ["", " mul:2", " mul:4", " div:2"][omod as usize];
            let coding = Coding::Vop3 {
                abs,
                neg,
                clamp,
                omod,
                op_sel: 0,
            };
            add(name, coding, shape, fields.to_vec(), bits);
        }
        return;
    }
    if fields.len() != 2 {
        return;
    }
    if clamps {
        let coding = Coding::Vop3 {
            abs: 0,
            neg: 0,
            clamp: true,
            omod: 0,
            op_sel: 0,
        };
        add("e64 clamp".into(), coding, shape, fields.to_vec(), bits);
    }
    if desc.forms.has(Forms::OP_SEL) {
        for op_sel in 1..16u32 {
            if op_sel & 4 != 0 {
                continue;
            }
            let at = |n: u32| field(16, 16 * (op_sel >> n & 1), 16 * n);
            let coding = Coding::Vop3 {
                abs: 0,
                neg: 0,
                clamp: false,
                omod: 0,
                op_sel,
            };
            let name = format!("op_sel:{op_sel:#x}");
            add(name, coding, shape, vec![at(0), at(1)], bits);
        }
    }
    if desc.encoding == Encoding::Vop2 {
        for code in (128..=208).chain(240..=248) {
            let name = format!("constant {code}");
            let only = vec![field(16, 0, 0)];
            add(name, Coding::Constant(code), shape, only, 16);
        }
    }
}

/// Selections of bytes and words by SDWA: each byte of one source, or each pair of bytes of two. The rest takes turns.
fn selected(desc: &InstDesc, gfx: Gfx, shape: Shape, add: &mut Add<'_>) {
    let narrow = |ty: &Ty| ty.bits() <= 32;
    if !gfx.is_gfx8_up() || desc.encoding == Encoding::Vop3 || !desc.src.iter().all(narrow) {
        return;
    }
    let two = desc.src.len() == 2;
    if desc.src.is_empty() || desc.src.len() > 2 {
        return;
    }
    let float = desc.src[0].is_float();
    let mut turn = 0u32;
    for sel0 in 0..6u32 {
        for sel1 in if two { 0..4 } else { 0..1 } {
            if two && sel0 > 3 {
                continue;
            }
            turn += 1;
            let place = |sel: u32, from| match sel {
                0..4 => field(8, 8 * sel, from),
                _ => field(16, 16 * (sel - 4), from),
            };
            let mut fields = vec![place(sel0, 0)];
            if two {
                fields.push(place(sel1, 8));
            }
            let (dst_sel, unused) = match turn % 3 {
                0 => (6, 0),
                1 => (turn / 3 % 6, 0),
                _ => (turn / 3 % 6, 1),
            };
            let sext = match float || desc.forms.has(Forms::SDWA_SOURCE) {
                true => 0,
                false => turn & 3,
            };
            let (dst_sel, unused) =
                match desc.forms.has(Forms::SDWA_SOURCE) || shape != Shape::Lanes(1) {
                    true => (6, 0),
                    false => (dst_sel, unused),
                };
            let word = dst_sel << 8
                | unused << 11
                | sel0 << 16
                | (sext & 1) << 19
                | if two {
                    sel1 << 24 | (sext >> 1) << 27
                } else {
                    6 << 24
                };
            let name = format!("sdwa {word:08x}");
            let bits = fields.iter().map(|f| f.width).sum();
            add(name, Coding::Sdwa(word), shape, fields, bits);
        }
    }
}

impl Form {
    /// The instruction's name on the target.
    pub fn instruction(&self) -> String {
        self.desc.name_on(self.gfx).to_owned()
    }

    /// The words of the instruction with these registers: result (a scalar pair of comparisons), sources.
    pub fn words(&self, d: u32, s: [u32; 2]) -> Vec<u32> {
        let desc = self.desc;
        let opcode = u32::from(desc.opcodes.get(self.gfx).unwrap_or_default());
        let old = self.gfx.is_gfx6_7();
        let first = |src0: u32| match desc.encoding {
            Encoding::Vop1 => 0x3f << 25 | d << 17 | opcode << 9 | src0,
            _ => opcode << 25 | d << 17 | s[1] << 9 | src0,
        };
        match self.coding {
            Coding::E32 => vec![first(256 + s[0])],
            // Of a single register, which is the second source.
            Coding::Constant(code) => vec![opcode << 25 | d << 17 | s[0] << 9 | code],
            Coding::Sdwa(word) => vec![first(0xf9), word | s[0]],
            Coding::Scalar => vec![0x17d << 23 | d << 16 | opcode << 8 | s[0]],
            Coding::Halves { clamp } => {
                // op_sel [0, 1], op_sel_hi [1, 0]; that of the absent third source is 1.
                let low = 2 << 11 | 1 << 14 | u32::from(clamp) << 15;
                let source = 256 + s[0];
                vec![
                    0x1a7 << 23 | opcode << 16 | low | d,
                    source | source << 9 | 1 << 27,
                ]
            }
            Coding::Vop3 {
                abs,
                neg,
                clamp,
                omod,
                op_sel,
            } => {
                let number = match desc.encoding {
                    Encoding::Vop1 if old => opcode + 0x180,
                    Encoding::Vop1 => opcode + 0x140,
                    Encoding::Vop2 => opcode + 0x100,
                    _ => opcode,
                };
                let low = d | abs << 8 | op_sel << 11;
                let low = low | u32::from(clamp) << if old { 11 } else { 15 };
                let second = match self.fields.len() {
                    1 => 0,
                    _ => 256 + s[1],
                };
                vec![
                    0x34 << 26 | number << if old { 17 } else { 16 } | low,
                    (256 + s[0]) | second << 9 | omod << 27 | neg << 29,
                ]
            }
        }
    }

    /// The instruction with some registers.
    pub fn inst(&self) -> Option<Inst> {
        let words = self.words(10, [20, 22]);
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let inst = decode(self.gfx, &bytes).ok()?;
        let whole = usize::from(inst.len) == bytes.len();
        (whole && inst.desc == self.desc).then_some(inst)
    }

    /// The lane IR of the instruction under a MODE; none where it has no translation.
    fn translation(&self, mode: u32) -> Option<String> {
        let inst = self.inst()?;
        let b = Build::new();
        let mut guest = Guest::new(&b, self.gfx, mode);
        let lowered = lower(&mut guest, &inst, 0, &mut Sites::default());
        let done = lowered == Lowered::Done;
        done.then(|| text::block(&guest.block(0, 1, Term::End)))
    }

    /// The MODEs that the form is swept under, the default one first. A plain form has one for each behaviour of the
    /// interpreter in a sample of inputs; one with a modifier, a selection or a constant has some.
    fn modes(&self, bench: &mut Bench) -> Result<Vec<u32>, Error> {
        match self.coding {
            Coding::Sdwa(_) | Coding::Constant(_) => return Ok(vec![DEFAULT_MODE]),
            Coding::Vop3 { .. } if self.name != "plain" => return Ok(SOME.to_vec()),
            Coding::E32 | Coding::Vop3 { .. } | Coding::Halves { .. } | Coding::Scalar => {}
        }
        let parts: [&[u32]; 7] = [
            &[0, 1, 2, 3],
            &[0, 1 << 2, 2 << 2, 3 << 2],
            &[0, 1 << 4, 2 << 4, 3 << 4],
            &[0, 1 << 6, 2 << 6, 3 << 6],
            &[0, mode::DX10_CLAMP],
            &[0, mode::IEEE],
            if self.gfx.is_gfx9() {
                &[0, mode::FP16_OVFL]
            } else {
                &[0]
            },
        ];
        let mask = |part: &[u32]| part.iter().fold(0, |all, bits| all | bits);
        let mut modes = vec![DEFAULT_MODE];
        for part in parts {
            let mut matters = false;
            for base in [DEFAULT_MODE, 0, 0x2f5] {
                let first = bench.probe(self, base & !mask(part))?;
                for bits in &part[1..] {
                    matters |= bench.probe(self, base & !mask(part) | bits)? != first;
                }
            }
            if matters {
                let with = |&mode: &u32| part.iter().map(move |bits| mode & !mask(part) | bits);
                modes = modes.iter().flat_map(with).collect();
            }
        }
        modes.sort_unstable_by_key(|&mode| (mode != DEFAULT_MODE, mode));
        let (mut found, mut seen) = (Vec::new(), Vec::new());
        for mode in modes {
            let behaviour = bench.probe(self, mode)?;
            if !seen.contains(&behaviour) {
                seen.push(behaviour);
                found.push(mode);
            }
        }
        Ok(found)
    }

    /// The lane IR under MODEs of all kinds.
    fn translations(&self) -> Vec<Option<String>> {
        let modes = SOME.iter().chain(&[0, 0x80_03f0]);
        modes.map(|&mode| self.translation(mode)).collect()
    }
}

impl Sweep {
    /// The sweep of this instruction, form, MODE and target, as [`Sweep::key`] gives them.
    pub fn find(instruction: &str, form: &str, mode: u32, gfx: Gfx) -> Option<Sweep> {
        let mut forms = Vec::new();
        for desc in isa::all().filter(|desc| desc.name_on(gfx) == instruction) {
            forms_of(desc, gfx, &mut forms);
        }
        let form = forms.into_iter().find(|found| found.name == form)?;
        Some(Sweep {
            modes: 0,
            form,
            mode,
            targets: vec![gfx],
        })
    }

    /// Has the form the same translation on another target?
    pub fn is_same_on(&self, gfx: Gfx) -> bool {
        let form = &self.form;
        let other = Sweep::find(&form.instruction(), &form.name, self.mode, gfx);
        other.is_some_and(|other| other.form.translation(self.mode) == form.translation(self.mode))
    }
}

/// All sweeps of instructions with `filter` in their name: the default MODE first, few inputs first.
pub fn sweeps(filter: &str, form: &str, target: Option<Gfx>) -> Result<Vec<Sweep>, Error> {
    let mut bench = Bench::new(&[Kind::Interpreter])?;
    let mut all = Vec::new();
    for desc in isa::all() {
        let named = Gfx::ALL
            .iter()
            .any(|&gfx| desc.name_on(gfx).contains(filter));
        if !named {
            continue;
        }
        // Forms by name, on all targets.
        let mut forms = Vec::new();
        for gfx in REPRESENTATIVES {
            forms_of(desc, gfx, &mut forms);
        }
        let mut names: Vec<&str> = Vec::new();
        for found in &forms {
            if found.name.starts_with(form) && !names.contains(&found.name.as_str()) {
                names.push(&found.name);
            }
        }
        for name in names {
            // For each set of translations the targets that have it.
            let mut classes: Vec<(Vec<Option<String>>, Form, Vec<Gfx>)> = Vec::new();
            for form in forms.iter().filter(|form| form.name == name) {
                let texts = form.translations();
                let same = classes.iter_mut().find(|(of, first, _)| {
                    *of == texts
                        && first.fields == form.fields
                        && first.instruction() == form.instruction()
                });
                match same {
                    Some((_, _, targets)) => targets.push(form.gfx),
                    None => classes.push((texts, form.clone(), vec![form.gfx])),
                }
            }
            let mut classes: Vec<_> = classes
                .into_iter()
                .map(|(_, form, of)| (form, of))
                .collect();
            while let Some((form, targets)) = classes.pop() {
                if target.is_some_and(|gfx| !targets.contains(&gfx)) {
                    continue;
                }
                let modes = form.modes(&mut bench)?;
                // Targets without FP16_OVFL are apart where that bit matters.
                let overflows = modes.iter().any(|bits| bits & mode::FP16_OVFL != 0);
                let (old, targets): (Vec<Gfx>, Vec<Gfx>) = targets
                    .into_iter()
                    .partition(|gfx| overflows && !gfx.is_gfx9());
                let first = forms
                    .iter()
                    .find(|f| f.name == name && Some(&f.gfx) == old.first());
                classes.extend(first.map(|first| (first.clone(), old)));
                let number = modes.len();
                all.extend(modes.into_iter().map(|mode| Sweep {
                    form: form.clone(),
                    mode,
                    modes: number,
                    targets: targets.clone(),
                }));
            }
        }
    }
    all.sort_by_key(|sweep| (sweep.form.bits == 32, !sweep.is_default()));
    Ok(all)
}

/// Where the sources of a form are, for the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// In the low bits of the registers.
    Registers,
    /// Both halves of one register are the sources, in both orders.
    Halves,
    /// At these bits of the registers.
    Selected([u32; 2]),
    /// The first is a constant.
    Constant(u32),
}

impl Form {
    /// Where the sources are; none where modifiers change them or the result.
    pub(crate) fn sources(&self) -> Option<Source> {
        match self.coding {
            Coding::E32 | Coding::Scalar => Some(Source::Registers),
            Coding::Halves { .. } => Some(Source::Halves),
            Coding::Constant(code) => Some(Source::Constant(code)),
            Coding::Vop3 {
                abs: 0,
                neg: 0,
                omod: 0,
                op_sel,
                ..
            } if op_sel & 8 == 0 => Some(Source::Selected(
                [op_sel & 1, op_sel >> 1 & 1].map(|n| 16 * n),
            )),
            Coding::Vop3 { .. } | Coding::Sdwa(_) => None,
        }
    }

    /// Has it CLAMP?
    pub(crate) fn clamps(&self) -> bool {
        matches!(
            self.coding,
            Coding::Vop3 { clamp: true, .. } | Coding::Halves { clamp: true }
        )
    }
}
