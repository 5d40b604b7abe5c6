//! From seeds to verdicts.

use std::any::Any;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use frontend::Gfx;
use harness::random::Random;
use harness::snippet::{Bench, FIXED, Setup, State};
use sha2::{Digest as _, Sha256};

use crate::checker::{Checker, Failure, How, Mismatch};
use crate::digest::Digest;
use crate::lines::without_faults;
use crate::program::Item;
use crate::shapes::Jits;
use crate::{Error, Options, at_least};

/// Programs after which engines are replaced, since they keep all code that they ever made.
const RENEWAL: u32 = 1000;

/// The greatest length of a program or a line, in instructions.
pub const MOST: u32 = 1 << 16;

/// Instructions of a line that is repeated, at most.
pub const MOST_REPEATED: usize = 1024;

/// What is made of a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A program with blocks under masks, loops and barriers.
    Programs,
    /// A long straight line, every fourth in checked mode.
    Lines,
}

impl Kind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Programs => "programs",
            Kind::Lines => "lines",
        }
    }

    /// The length when nothing else is requested, in instructions at most.
    pub fn length(self) -> u32 {
        match self {
            Kind::Programs => 16,
            Kind::Lines => 700,
        }
    }

    /// The least length.
    fn least(self) -> u32 {
        match self {
            Kind::Programs => 1,
            Kind::Lines => 32,
        }
    }
}

/// What a campaign does.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The target.
    pub gfx: Gfx,
    /// What is made of a seed.
    pub kind: Kind,
    /// Instructions of a program at most: 1 to [`MOST`], for lines from 32 on.
    pub length: u32,
    /// States that each program starts from; at least 1. A line starts from one.
    pub states: u32,
    /// Where guest memory begins, a multiple of 64 KiB with 8 GiB of free address space behind it.
    /// Without it addresses, and with them verdicts, differ between processes.
    pub address: Option<u64>,
    /// How programs are made and translated.
    pub options: Options,
}

impl Settings {
    /// The defaults of a kind.
    pub fn new(gfx: Gfx, kind: Kind) -> Settings {
        Settings {
            gfx,
            kind,
            length: kind.length(),
            states: 2,
            address: None,
            options: Options::default(),
        }
    }

    fn check(&self) -> Result<(), Error> {
        let least = self.kind.least();
        at_least("length", u64::from(self.length), u64::from(least))?;
        at_least("states", u64::from(self.states), 1)?;
        if self.length > MOST {
            return Err(Error::TooLong {
                length: self.length,
                most: MOST,
            });
        }
        let refused = [
            ("checked", self.options.checked),
            ("read_only", self.options.read_only),
        ];
        match refused.into_iter().find(|&(_, set)| set) {
            Some((name, _)) if self.kind == Kind::Lines => Err(Error::NotForLines(name)),
            _ => Ok(()),
        }
    }
}

/// The result of a seed.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The seed.
    pub seed: u64,
    /// Instructions of a line; parts of a program.
    pub items: u64,
    /// States that the program was run from: until one showed a difference.
    pub runs: u64,
    /// Runs that ended in a fault, on both engines alike.
    pub faults: u64,
    /// Instructions that the interpreter executed, and that were compared.
    pub instructions: u64,
    /// Of kind, target, seed, program, the interpreter's results, and whether the engines agree. Not
    /// of shapes, so that hosts with different instruction sets can be compared.
    pub digest: Digest,
    /// The difference.
    pub failure: Option<Box<Failure>>,
}

/// Runs seeds one after the other, on one thread.
pub struct Campaign {
    settings: Settings,
    /// One, or for lines one without and one with checked mode.
    checkers: Vec<Checker>,
    jits: Option<Jits>,
    /// Programs that the engines have run.
    age: u32,
}

impl Campaign {
    /// Reserves guest memory.
    pub fn new(settings: Settings) -> Result<Campaign, Error> {
        settings.check()?;
        let checkers = checkers(&settings)?;
        Ok(Campaign {
            settings,
            checkers,
            jits: None,
            age: 0,
        })
    }

    /// Runs a seed. A panic of the translator is a difference as well, whose program is not made
    /// smaller.
    pub fn seed(&mut self, seed: u64) -> Result<Verdict, Error> {
        let attempt = catch_unwind(AssertUnwindSafe(|| self.attempt(seed)));
        attempt.unwrap_or_else(|payload| self.panicked(seed, payload))
    }

    /// As [`Campaign::seed`], with the decisions of an input in place of those of a seed: the states begin from a number
    /// in it, and the program ends where it does. A line may be repeated, up to [`MOST_REPEATED`] instructions.
    pub fn input(&mut self, bytes: &[u8]) -> Result<Verdict, Error> {
        let attempt = catch_unwind(AssertUnwindSafe(|| self.attempt_input(bytes)));
        attempt.unwrap_or_else(|payload| self.panicked(0, payload))
    }

    fn attempt_input(&mut self, bytes: &[u8]) -> Result<Verdict, Error> {
        let settings = &self.settings;
        let mut r = Random::from_bytes(bytes);
        let lines = settings.kind == Kind::Lines;
        let checker = chosen(&self.checkers, &mut r);
        if self.age >= RENEWAL {
            self.jits = None;
            self.age = 0;
        }
        let jits = self.jits.get_or_insert_with(|| checker.jits());
        let mut states = Random::new(u64::from(r.below(1 << 16)));
        let mut before = vec![checker.state(&mut states)];
        for _ in 1..settings.states {
            before.push(checker.state_like(&mut states, &before[0]));
        }
        let how = How::random(&mut r, jits, &settings.options, lines);
        let items = match settings.kind {
            Kind::Programs => checker.rows.program(&mut r, settings.length),
            Kind::Lines => {
                let repeat = 1 << r.below(8);
                let items = checker.rows.line(&mut r, settings.length);
                before.truncate(1);
                let items = without_faults(checker, items, &before[0]);
                let most = (items.len() * repeat).min(MOST_REPEATED.max(items.len()));
                items.iter().cycle().take(most).cloned().collect()
            }
        };
        self.age += 1 + items.len() as u32 / 8;
        Campaign::judge(settings, (checker, jits), 0, items, before, how)
    }

    fn attempt(&mut self, seed: u64) -> Result<Verdict, Error> {
        let settings = &self.settings;
        let mut r = Random::new(seed);
        let lines = settings.kind == Kind::Lines;
        let checker = chosen(&self.checkers, &mut r);
        // A line is as much code as a hundred programs.
        if lines || self.age >= RENEWAL {
            self.jits = None;
            self.age = 0;
        }
        self.age += 1;
        let jits = self.jits.get_or_insert_with(|| checker.jits());
        let mut before = vec![checker.state(&mut r)];
        let (items, how) = match settings.kind {
            Kind::Programs => {
                let items = checker.rows.program(&mut r, settings.length);
                let how = How::random(&mut r, jits, &settings.options, false);
                for _ in 1..settings.states {
                    before.push(checker.state_like(&mut r, &before[0]));
                }
                (items, how)
            }
            Kind::Lines => {
                // As many short ones as long ones; those show all that cuts can show where blocks are short.
                let most = settings.length;
                let length = (most >> r.below(most.ilog2() - 3)) - r.below(8);
                let items = checker.rows.line(&mut r, length);
                let items = without_faults(checker, items, &before[0]);
                let how = How::random(&mut r, jits, &settings.options, true);
                (items, how)
            }
        };
        Campaign::judge(settings, (checker, jits), seed, items, before, how)
    }

    /// Runs a program from its states.
    fn judge(
        settings: &Settings,
        (checker, jits): (&Checker, &Jits),
        seed: u64,
        items: Vec<Item>,
        mut before: Vec<State>,
        how: How,
    ) -> Result<Verdict, Error> {
        let counters = || {
            let (runs, faults) = (checker.runs.get(), checker.faults.get());
            (runs, faults, checker.executed.get())
        };
        let start = counters();
        let mut hash = Sha256::new();
        hash.update("wavelift fuzz 1\0");
        hash.update(settings.kind.name());
        hash.update(settings.gfx.name());
        hash.update(seed.to_le_bytes());
        let bytes = checker.rows.bytes(&items);
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(&bytes);
        checker.record.replace(Some(hash));
        let found = checker.check_from(jits, &items, &before, how);
        let hash = checker.record.take();
        let end = counters();
        let found = found?;
        let mut hash = hash.expect("nothing else takes it");
        hash.update([u8::from(found.is_some())]);
        let mut verdict = Verdict {
            seed,
            items: items.len() as u64,
            runs: end.0 - start.0,
            faults: end.1 - start.1,
            instructions: end.2 - start.2,
            digest: Digest::of(hash),
            failure: None,
        };
        if let Some((number, Mismatch { shape, .. })) = found {
            let before = before.swap_remove(number);
            let how = How {
                shape: Some(shape),
                ..how
            };
            let failure = checker.shrunk(jits, items, before, how)?;
            verdict.failure = Some(Box::new(failure));
        }
        Ok(verdict)
    }

    /// The verdict of a seed whose program made the translator panic. Other panics continue.
    fn panicked(&mut self, seed: u64, payload: Box<dyn Any + Send>) -> Result<Verdict, Error> {
        let found = self.checkers.iter();
        let found = found.filter_map(|checker| checker.panicked.take()).next();
        let Some(mut failure) = found else {
            resume_unwind(payload);
        };
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let message = format!("the translator panicked: {}", text.unwrap_or("no message"));
        failure.differences = vec![message];
        let mut hash = Sha256::new();
        hash.update("wavelift fuzz 1, panic\0");
        hash.update(self.settings.kind.name());
        hash.update(self.settings.gfx.name());
        hash.update(seed.to_le_bytes());
        // The locks of these engines may be poisoned, so they cannot be dropped. Guest memory can, and must be, since
        // its address is used again.
        mem::forget(self.jits.take());
        self.checkers.clear();
        self.checkers = checkers(&self.settings)?;
        Ok(Verdict {
            seed,
            items: 0,
            runs: 0,
            faults: 0,
            instructions: 0,
            digest: Digest::of(hash),
            failure: Some(Box::new(failure)),
        })
    }
}

/// The checker of the next program: for lines, every fourth time that with checked mode.
fn chosen<'a>(checkers: &'a [Checker], r: &mut Random) -> &'a Checker {
    match checkers {
        [unchecked, checked] => match r.once_in(4) {
            true => checked,
            false => unchecked,
        },
        _ => &checkers[0],
    }
}

fn checkers(settings: &Settings) -> Result<Vec<Checker>, Error> {
    let (gfx, options) = (settings.gfx, &settings.options);
    match settings.kind {
        Kind::Programs => Ok(vec![Checker::new(gfx, options, settings.address)?]),
        Kind::Lines => [false, true]
            .into_iter()
            .map(|checked| {
                let bench = Bench::create(Setup {
                    checked,
                    read_only: false,
                    address: settings.address.map(|at| at + u64::from(checked) * FIXED),
                    ..Setup::default()
                })?;
                Checker::on(bench, gfx, options)
            })
            .collect(),
    }
}
