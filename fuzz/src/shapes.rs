//! Translation options under test: host instructions, lanes of a group, masked loops only, fused
//! loads and stores or not, contiguous accesses checked at run time or not, loops inside the lane
//! groups or not and with their checks before the iterations or in each, dead registers kept or
//! not, counters compiled in or not, long and short regions, both tiers.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use lower::host::FarMemory;
use lower::jit::{HostLevel, LowerError};
use lower::options::Forms;
use runtime::engine::{Emitter, Engine};
use runtime::jit::{JitEngine, JitOptions, Tier};

/// One set of options.
#[derive(Clone, Copy)]
pub struct Shape {
    /// Options of the engine.
    options: JitOptions,
    /// Instructions are counted.
    pub counting: bool,
}

impl Shape {
    /// All of them, or those with `part` in their name.
    pub fn all(part: Option<&str>) -> Vec<Shape> {
        let base = JitOptions::exact();
        // Masked loops have one width, and make no loads themselves.
        let loops = [
            base,
            base.without(Forms::FUSED_LOADS | Forms::LANE_SERIAL),
            base.without(Forms::FUSED_STORES),
            base.without(Forms::AFFINE_COMPARES),
            base.without(Forms::GATHERS),
            base.without(Forms::OFFSET_TABLES),
            base.without(Forms::SUNK),
            base.without(Forms::DEAD_LANES),
            base.without(Forms::HOISTED),
            base.without(Forms::GROUP_LOOPS),
            base.without(Forms::PARALLEL),
            base.without(Forms::GROUP_LOOPS | Forms::LANE_SERIAL),
            base.in_groups_of(4),
            base.in_groups_of(8),
            base.in_groups_of(16),
            base.without(Forms::UNMASKED),
        ];
        let mut all = Vec::new();
        for max_insts in [base.max_insts, 1, 5] {
            for (observe, counting) in [(false, false), (true, false), (false, true), (true, true)]
            {
                for loops in loops {
                    let hosts = [HostLevel::Native, HostLevel::Avx2, HostLevel::Sse41];
                    let narrow = hosts.iter().flat_map(|&host| {
                        [Tier::Baseline, Tier::Optimizing]
                            .map(|tier| (host, tier, Emitter::Cranelift))
                    });
                    let narrow = narrow.map(|how| (how, false));
                    // On a CPU with AVX-512 the wide back end generates that, with vectors of 512
                    // bits or without, and AVX2 if requested.
                    let hosts = [
                        (HostLevel::Native, false),
                        (HostLevel::Native, true),
                        (HostLevel::Avx2, false),
                    ];
                    let hosts = match lower::host::has_avx512() {
                        true => &hosts[..],
                        false => &hosts[..1],
                    };
                    let wide = hosts.iter().flat_map(|&(host, no_zmm)| {
                        let tiers = [Tier::Baseline, Tier::Optimizing];
                        tiers.map(|tier| ((host, tier, Emitter::Wide), no_zmm))
                    });
                    for ((host, tier, emitter), no_zmm) in narrow.chain(wide) {
                        let mut options = JitOptions {
                            host,
                            tier,
                            emitter,
                            observe,
                            max_insts,
                            ..loops
                        };
                        options.code.host.far_memory = match no_zmm {
                            true => FarMemory::No,
                            false => FarMemory::Yes,
                        };
                        options.code.without.set(Forms::ZMM, no_zmm);
                        all.push(Shape { options, counting });
                    }
                }
            }
        }
        if let Some(part) = part {
            all.retain(|shape| shape.name().contains(part));
        }
        all
    }

    /// In words.
    pub fn name(&self) -> String {
        let options = &self.options;
        let mut name = match options.host {
            HostLevel::Native => "native",
            HostLevel::Avx2 => "avx2",
            HostLevel::Sse41 => "sse4.1",
        }
        .to_owned();
        if options.emitter == Emitter::Wide {
            name += ", wide";
        }
        if let Some(group) = options.code.group {
            name += &format!(", groups of {group}");
        }
        for (form, words) in [
            (Forms::UNMASKED, ", always masked"),
            (Forms::FUSED_LOADS, ", loads apart"),
            (Forms::FUSED_STORES, ", stores apart"),
            (Forms::AFFINE_COMPARES, ", compares by lane"),
            (Forms::GATHERS, ", no runs"),
            (Forms::OFFSET_TABLES, ", no tables"),
            (Forms::SUNK, ", writes in place"),
            (Forms::DEAD_LANES, ", merges everywhere"),
            (Forms::ZMM, ", no zmm"),
            (Forms::HOISTED, ", each turn by itself"),
            (Forms::GROUP_LOOPS, ", loops outside"),
            (Forms::PARALLEL, ", blocks one by one"),
        ] {
            if options.code.without.contains(form) {
                name += words;
            }
        }
        if options.observe {
            name += ", observed";
        }
        if self.counting {
            name += ", counting";
        }
        if options.tier == Tier::Baseline {
            name += ", quickly";
        }
        if options.max_insts < 100 {
            name += &format!(", regions of {}", options.max_insts);
        }
        name
    }
}

/// An engine for each shape and limit of blocks, made on first use. They keep all code that they ever
/// made.
pub struct Jits {
    shapes: Vec<Shape>,
    /// Instead of the translator, an interpreter that computes this instruction wrong.
    wrong: Option<String>,
    engines: RefCell<HashMap<(usize, usize), Rc<dyn Engine>>>,
}

impl Jits {
    /// No engine yet.
    pub fn new(shapes: &[Shape]) -> Jits {
        Jits {
            shapes: shapes.to_vec(),
            wrong: None,
            engines: RefCell::default(),
        }
    }

    /// For tests of the comparison: in place of the translator, an interpreter that computes the
    /// instruction of this name wrong. It does not count instructions.
    pub(crate) fn with_wrong(shapes: &[Shape], name: &str) -> Jits {
        Jits {
            wrong: Some(name.to_owned()),
            ..Jits::new(shapes)
        }
    }

    /// How many shapes there are.
    pub fn len(&self) -> usize {
        self.shapes.len()
    }

    /// Is there no shape?
    pub fn is_empty(&self) -> bool {
        self.shapes.is_empty()
    }

    /// Do the engines count instructions in this shape?
    pub(crate) fn counts(&self, shape: usize) -> bool {
        self.shapes[shape].counting && self.wrong.is_none()
    }

    /// The engine of a shape with a maximum number of instructions in a block.
    ///
    /// # Panics
    /// Without a shape of that number.
    pub fn get(&self, shape: usize, max_block: usize) -> Result<Rc<dyn Engine>, LowerError> {
        if let Some(engine) = self.engines.borrow().get(&(shape, max_block)) {
            return Ok(Rc::clone(engine));
        }
        let options = JitOptions {
            max_block,
            ..self.shapes[shape].options
        };
        let engine: Rc<dyn Engine> = match &self.wrong {
            Some(name) => Rc::from(runtime::lockstep::wrong(name, true) as Box<dyn Engine>),
            None => Rc::new(JitEngine::new(options)?),
        };
        let mut engines = self.engines.borrow_mut();
        engines.insert((shape, max_block), Rc::clone(&engine));
        Ok(engine)
    }
}
