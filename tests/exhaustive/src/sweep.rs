//! Sweeps: one form of one instruction under one MODE with all values of its live input bits.

use frontend::desc::InstDesc;
use frontend::state::mode;
use frontend::{Gfx, isa};
use lower::ir::build::Build;
use lower::ir::{Term, text};
use lower::lift::arms::{Lowered, Sites, lower};
use lower::lift::guest::Guest;

mod coding;
mod forms;

use crate::engines::Kind;
use crate::run::{Bench, Error};

pub use coding::Source;
use forms::forms_of;

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

impl Form {
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
