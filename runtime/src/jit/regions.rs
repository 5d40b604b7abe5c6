//! The regions of an engine: looked up by PC and MODE, and by number on re-entry; new ones are
//! taken from the caches or translated.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use frontend::WaveState;
use lower::abi::Site;
use lower::backend::object::Object;
use lower::host::Host;
use lower::jit::{Allocation, Compiled, Jit, LowerError};
use lower::lift::region::{self, Request};
use lower::options::Options;

use super::tiers::{HOT, Job, Tier};
use super::{JitEngine, cache};
use crate::LoadedCode;
use crate::engine::{Emitter, Group, Profiling};
use crate::fault::FaultKind;
use crate::stack;

/// The identity of a region.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// The code object's load.
    pub(super) code: u64,
    /// Guest address.
    pub(super) pc: u64,
    /// [`region::mode_key`].
    pub(super) mode: u32,
    /// Counters are compiled in.
    counting: bool,
    /// Checks of checked mode are compiled in.
    checked: bool,
    /// Accesses are announced to a sanitizer.
    sanitize: bool,
    /// Facts about the registers: `WaveState::START` of a wave that begins here, else 0.
    pub(super) start: u64,
}

impl Key {
    /// The key of the region at the wave's PC; `start` are the facts about its registers.
    pub(super) fn new(wave: &WaveState, group: &Group<'_>, start: u64) -> Key {
        Key {
            code: group.code.id(),
            pc: wave.pc,
            mode: region::mode_key(wave.mode, wave.m0()),
            counting: group.counting,
            checked: group.checked,
            sanitize: group.memory.sanitizer().is_some(),
            start,
        }
    }

    /// May the region be one of this group's?
    pub(super) fn is_of(&self, group: &Group<'_>) -> bool {
        let sanitize = group.memory.sanitizer().is_some();
        let group = (group.code.id(), group.counting, group.checked, sanitize);
        group == (self.code, self.counting, self.checked, self.sanitize)
    }

    /// Is it the first region of waves of its group? `start` are the facts about the registers.
    #[inline]
    pub(super) fn begins(&self, wave: &WaveState, start: u64) -> bool {
        let mode = region::mode_key(wave.mode, wave.m0());
        self.pc == wave.pc && self.start == start && self.mode == mode
    }
}

/// Entries of a thread's memory of regions.
const RECENT: usize = 64;

/// Engine, its generation, key and region of a recent lookup.
type Recent = Option<(u64, u64, Key, Rc<Region>)>;

/// A compiled region and its number, by which waves re-enter it.
pub(super) struct Region {
    pub(super) number: usize,
    pub(super) code: Arc<Compiled>,
    /// It is translated retranslate when it is hot.
    pub(super) retranslate: bool,
    /// Requirements checked at each entry: its frame slots, VGPRs and accumulation registers.
    pub(super) slots: usize,
    pub(super) vgprs: u32,
    pub(super) agprs: u32,
    /// Number after the last vector register that it reads before it writes it; see
    /// [`Compiled::reads`].
    pub(super) reads_end: [u32; 2],
    /// The first vector register that it writes to the wave.
    pub(super) writes_from: u32,
    /// It switches between waves; see [`Compiled::switches_waves`].
    pub(super) switches_waves: bool,
    /// A wave burns no fuel in it; see [`Compiled::straight`].
    pub(super) straight: bool,
}

impl Region {
    fn new(number: usize, code: &Arc<Compiled>, retranslate: bool) -> Region {
        Region {
            number,
            code: Arc::clone(code),
            retranslate,
            slots: code.frame_slots() as usize,
            vgprs: code.vgprs(),
            agprs: code.agprs(),
            writes_from: code.writes_from(),
            switches_waves: code.switches_waves(),
            straight: code.straight(),
            reads_end: [false, true].map(|full| {
                let mut words = code.reads(full).iter().enumerate().rev();
                let last = words.find(|(_, word)| **word != 0);
                last.map_or(0, |(i, word)| 64 * i as u32 + word.ilog2() + 1)
            }),
        }
    }

    /// The `resume` of a wave that leaves it and re-enters at `entry`; never 0.
    #[inline]
    pub(super) fn token(&self, entry: u32) -> u64 {
        (self.number as u64 + 1) << ENTRY_BITS | u64::from(entry)
    }

    /// Did a wave with this `resume` leave it?
    #[inline]
    pub(super) fn was_left(&self, token: u64) -> bool {
        self.number as u64 + 1 == token >> ENTRY_BITS
    }
}

/// The entry in a wave's `resume`; 0 for a new wave.
#[inline]
pub(super) fn entry_of(token: u64) -> u32 {
    match token & WaveState::FRESH {
        0 => token as u32 & ((1 << ENTRY_BITS) - 1),
        _ => 0,
    }
}

/// Engine, its generation and region that a wave left lately.
type Left = Option<(u64, u64, Rc<Region>)>;

/// All regions of an engine.
#[derive(Default)]
pub(super) struct Regions {
    by_key: HashMap<Key, usize>,
    by_number: Vec<Entry>,
    improved: usize,
}

/// A region by its number.
struct Entry {
    key: Key,
    code: Arc<Compiled>,
    allocation: Allocation,
    /// Is it translated retranslate when it is hot?
    retranslate: bool,
}

impl Regions {
    /// The region with a key.
    fn get(&self, key: &Key) -> Option<Region> {
        self.numbered(*self.by_key.get(key)?)
    }

    /// The region with a number.
    fn numbered(&self, number: usize) -> Option<Region> {
        let entry = self.by_number.get(number)?;
        Some(Region::new(number, &entry.code, entry.retranslate))
    }

    fn add(
        &mut self,
        key: Key,
        code: Arc<Compiled>,
        allocation: Allocation,
        retranslate: bool,
    ) -> Region {
        let number = self.by_number.len();
        self.by_key.insert(key, number);
        let region = Region::new(number, &code, retranslate);
        self.by_number.push(Entry {
            key,
            code,
            allocation,
            retranslate,
        });
        region
    }

    /// Replaces the first translation by the second.
    pub(super) fn replace(&mut self, number: usize, code: Arc<Compiled>) {
        if let Some(entry) = self.by_number.get_mut(number) {
            entry.code = code;
            entry.allocation = Allocation::Optimizing;
            entry.retranslate = false;
            self.improved += 1;
        }
    }

    /// How many have had their second translation.
    pub(super) fn improved(&self) -> usize {
        self.improved
    }

    /// Number of regions in the baseline tier.
    pub(super) fn baseline(&self) -> usize {
        let baseline = |entry: &&Entry| entry.allocation == Allocation::Baseline;
        self.by_number.iter().filter(baseline).count()
    }

    /// All regions, with their keys.
    pub(super) fn all(&self) -> impl ExactSizeIterator<Item = (&Key, &Arc<Compiled>)> {
        self.by_number.iter().map(|entry| (&entry.key, &entry.code))
    }
}

/// Where entry numbers end and region numbers begin in `WaveState::resume`.
const ENTRY_BITS: u32 = 24;

thread_local! {
    /// Regions that this thread ran lately, by a hash of their address.
    static LOOKUPS: RefCell<[Recent; RECENT]> = const { RefCell::new([const { None }; RECENT]) };
    /// Regions that waves of this thread left and came back to, by their number.
    static LEFT: RefCell<[Left; RECENT]> =
        const { RefCell::new([const { None }; RECENT]) };
}

impl JitEngine {
    /// The region with a key, compiled if need be.
    pub(super) fn region(&self, key: Key, group: &mut Group<'_>) -> Result<Rc<Region>, FaultKind> {
        let place = (key.pc >> 2) as usize % RECENT;
        let now = self.shared.generation();
        LOOKUPS.with_borrow_mut(|recent| {
            if let Some((id, then, known, region)) = &recent[place]
                && (*id, *then, *known) == (self.id, now, key)
            {
                return Ok(Rc::clone(region));
            }
            let region = Rc::new(self.find(key, group)?);
            recent[place] = Some((self.id, now, key, Rc::clone(&region)));
            Ok(region)
        })
    }

    /// The region that a wave left at a barrier or a yield, with the number of its entry.
    pub(super) fn left(&self, token: u64) -> Option<(Rc<Region>, u32)> {
        let number = usize::try_from(token >> ENTRY_BITS).ok()?.checked_sub(1)?;
        let entry = entry_of(token);
        let place = number % RECENT;
        let now = self.shared.generation();
        LEFT.with_borrow_mut(|recent| {
            if let Some((id, then, region)) = &recent[place]
                && (*id, *then, region.number) == (self.id, now, number)
            {
                return Some((Rc::clone(region), entry));
            }
            let regions = self.shared.regions.read();
            let regions = regions.expect("no holder of the lock panics");
            let region = Rc::new(regions.numbered(number)?);
            recent[place] = Some((self.id, now, Rc::clone(&region)));
            Some((region, entry))
        })
    }

    /// The region in the engine's memory, or a new one.
    fn find(&self, key: Key, group: &mut Group<'_>) -> Result<Region, FaultKind> {
        let known = || {
            let regions = self.shared.regions.read();
            regions.expect("no holder of the lock panics").get(&key)
        };
        self.shared.report_to(group.stats);
        if let Some(region) = known() {
            return Ok(region);
        }
        let start = Instant::now();
        let mut compiler = self.compiler.lock().expect("no holder of the lock panics");
        // Another worker may have compiled it meanwhile.
        if let Some(region) = known() {
            return Ok(region);
        }
        let (object, allocation) = self.object(&mut compiler, &key, group)?;
        if let Some(what) = &object.refused {
            *group.stats.refusals.entry(what.clone()).or_default() += 1;
        }
        let code = Arc::new(self.place(object, group)?);
        let mut regions = self.shared.regions.write();
        let regions = regions.as_mut().expect("no holder of the lock panics");
        let retranslate = self.options.tier == Tier::Auto && allocation == Allocation::Baseline;
        let region = regions.add(key, code, allocation, retranslate);
        group.stats.translate_seconds += start.elapsed().as_secs_f64();
        Ok(region)
    }

    /// The translation request for a key.
    fn request(&self, key: &Key, group: &Group<'_>) -> (Request, Options) {
        let request = Request {
            gfx: group.gfx,
            entry: key.pc,
            mode: key.mode,
            max_insts: self.options.max_insts,
            max_block: self.options.max_block,
            exact_nan: self.options.code.exact_nan,
            observe: self.options.observe,
            checked: key.checked,
            sanitize: key.sanitize,
            outcomes: self.options.profile == Some(Profiling::Coverage),
        };
        let options = Options {
            count: key.counting,
            profile: matches!(
                self.options.profile,
                Some(Profiling::Counts | Profiling::Coverage)
            ),
            shapes: self.options.profile.is_some(),
            sanitize: key.sanitize,
            start: key.start,
            host: Host {
                isa: (self.options.emitter == Emitter::Wide).then_some(self.isa),
                ..self.options.code.host
            },
            ..self.options.code
        };
        (request, options)
    }

    /// An object for a region: from memory or disk, or translated now; and its tier.
    fn object(
        &self,
        compiler: &mut Jit,
        key: &Key,
        group: &mut Group<'_>,
    ) -> Result<(Arc<Object>, Allocation), FaultKind> {
        let code = group.code;
        let (request, options) = self.request(key, group);
        let acceptable = self.options.tier.acceptable();
        // Profiles need shapes, which are not cached.
        let keep = self.options.profile.is_none();
        let folder = self.folder.as_ref().filter(|_| keep);
        for &allocation in acceptable.iter().filter(|_| keep) {
            let cache_key = self.cache_key(&request, &options, allocation, code);
            let object = cache::recall(&cache_key).or_else(|| {
                let object = folder.and_then(|folder| folder.read(&cache_key));
                let object = object.filter(|object| sites(object, code).is_some());
                let object = Arc::new(object?);
                cache::remember(cache_key, &object);
                Some(object)
            });
            if let Some(object) = object {
                group.stats.regions_cached += 1;
                return Ok((object, allocation));
            }
        }
        let allocation = *acceptable.last().expect("a tier accepts a translation");
        let object = stack::for_translation(|| {
            let func = region::build(&request, &|pc| self.fetch(code, pc));
            compiler.object(&func, &options, code.base(), allocation)
        });
        let object = Arc::new(object.map_err(|e| FaultKind::Unsupported {
            what: e.to_string(),
        })?);
        group.stats.regions_translated += 1;
        group.stats.instructions_translated += u64::from(object.guest_insts);
        let cache_key = self.cache_key(&request, &options, allocation, code);
        if keep {
            cache::remember(cache_key, &object);
        }
        if let Some(folder) = folder
            && folder.write(&cache_key, &object).is_err()
        {
            group.stats.cache_failures += 1;
        }
        Ok((object, allocation))
    }

    /// Records runs of a region in the baseline tier: its entry, and this number of back edges. If
    /// that makes it hot, it is translated retranslate.
    pub(super) fn warm(&self, region: &Region, jumps: u64, group: &mut Group<'_>) {
        let more = 1 + jumps.min(u64::from(HOT)) as u32;
        let before = region.code.heat.fetch_add(more, Relaxed);
        if before >= HOT || before + more < HOT {
            return;
        }
        let key = {
            let regions = self.shared.regions.read();
            regions.expect("no holder of the lock panics").by_number[region.number].key
        };
        let code = group.code;
        let (request, options) = self.request(&key, group);
        let Some((sites, fallbacks)) = sites(region.code.object(), code) else {
            return;
        };
        let job = Job {
            number: region.number,
            func: stack::for_translation(|| region::build(&request, &|pc| self.fetch(code, pc))),
            cache_key: self.cache_key(&request, &options, Allocation::Optimizing, code),
            options,
            base: code.base(),
            sites,
            fallbacks,
            folder: self.folder.clone(),
        };
        self.improver.improve(self.options.host, &self.shared, job);
    }

    /// The key under which a region's code is cached. It contains distances within the load only.
    fn cache_key(
        &self,
        request: &Request,
        options: &Options,
        allocation: Allocation,
        code: &LoadedCode,
    ) -> cache::Key {
        let content = {
            let mut contents = self.contents.lock().expect("no holder of the lock panics");
            *contents
                .entry(code.id())
                .or_insert_with(|| cache::content(code))
        };
        let request = Request {
            entry: request.entry.wrapping_sub(code.base()),
            ..*request
        };
        // Code with breakpoints is the engine's own.
        let breaks = self.breaks.as_ref().map(|_| self.id);
        let rest = format!(
            "{request:?} {options:?} {allocation:?} {} {breaks:?}",
            self.host
        );
        cache::key(&content, &rest)
    }

    /// Places a region for a load.
    fn place(&self, object: Arc<Object>, group: &Group<'_>) -> Result<Compiled, FaultKind> {
        let code = group.code;
        let (sites, fallbacks) = sites(&object, code).ok_or_else(|| FaultKind::Unsupported {
            what: "bug: translated code refers to other instructions than there are".to_owned(),
        })?;
        if self.options.no_fallback
            && let Some(name) = fallbacks.first()
        {
            let what = format!("{name} is not translated, and falling back was ruled out");
            return Err(FaultKind::Unsupported { what });
        }
        Compiled::new(object, code.base(), sites, fallbacks).map_err(|e| FaultKind::Unsupported {
            what: LowerError::Memory(e).to_string(),
        })
    }
}

/// The instructions that an object refers to, and the names of those that fall back, in a load;
/// `None` if the object does not fit.
fn sites(object: &Object, code: &LoadedCode) -> Option<(Vec<Site>, Vec<&'static str>)> {
    let sites = object.sites.iter().map(|&offset| {
        let pc = code.base().wrapping_add(offset);
        let inst = *code.inst_at(pc).ok()?;
        Some(Site { pc, inst })
    });
    let sites: Vec<Site> = sites.collect::<Option<_>>()?;
    let fallbacks = object.fallbacks.iter().map(|name| {
        let names = sites.iter().map(|site| site.inst.desc.name_on(code.gfx()));
        names.into_iter().find(|known| known == name)
    });
    let fallbacks = fallbacks.collect::<Option<_>>()?;
    Some((sites, fallbacks))
}
