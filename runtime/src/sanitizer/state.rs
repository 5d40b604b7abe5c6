//! What the sanitizer knows of the dispatches that run.

use frontend::LANES;
use rustc_hash::FxHashMap;

use super::addresses::Addresses;
use super::barriers::{Barriers, Rounds};
use super::findings::{Finding, Findings, Key, Rule, Side};
use super::order::{Order, join};
use super::record::{AccessKind, Accessor, Conflict};
use super::running::{Dispatch, Id, Phase, Running};
use super::runs::{Run, WaveAccess};
use super::settled::Settled;
use super::shadow::{How, Met, Shadow};
use super::sites::{Place, Sites};
use crate::engine::Group;
use crate::fault::Nearest;
use crate::lds::LDS_MAX;
use crate::memory::Memory;

mod barriers;
mod gws;
mod lds;

use gws::Syncs;

pub(super) struct State {
    /// Begin and end of the memory that kernels access most.
    arena: (u64, u64),
    shadow: Shadow,
    order: Order,
    findings: Findings,
    sites: Sites,
    dispatches: u64,
    /// The dispatches that run, by number.
    live: FxHashMap<u64, Dispatch>,
    /// By number of the workgroup.
    groups: Vec<Id>,
    running: FxHashMap<Id, Running>,
    /// The workgroup of the last access is not in `running`.
    current: Option<(Id, Running)>,
    /// By address, conflicts of atomics with stores that may be those of flags: none if the word is polled later.
    undecided: FxHashMap<u64, (Key, Finding)>,
    /// Allocations of recent accesses, by the instruction's number: of loads, of others.
    allocations: [[(u64, u64); RECENT]; 2],
    settled: Settled,
    /// For reuse.
    lds: Vec<(Shadow, [Phase; 2])>,
    syncs: Syncs,
    /// Of dispatches that run, by number.
    barriers: FxHashMap<u64, Barriers>,
    /// For reuse.
    rounds: Vec<Rounds>,
    /// Barriers on which nothing depends are looked for.
    examines_barriers: bool,
    /// Of dispatches that have ended: see [`Sanitizer::take_suspects`](super::Sanitizer::take_suspects).
    suspects: Vec<Finding>,
    /// A barrier that makes no order.
    disregarded: Option<Place>,
}

/// Allocations that are remembered.
const RECENT: usize = 64;

/// An access with its accessor.
pub(super) type By<'a> = (WaveAccess<'a>, Accessor);

/// Makes the ordinary accesses that need nothing else. What is left are those of the other lanes.
fn follow<'a>(
    shadow: &mut Shadow,
    access: &WaveAccess<'a>,
    how: &How<'_>,
    inside: (u64, u64),
) -> WaveAccess<'a> {
    let (bytes, exec) = (access.bytes, access.exec.unwrap_or(1));
    let left = match access.addresses {
        Addresses::Same(address) => match shadow.follow((address, bytes), how, inside) {
            true => 0,
            false => exec,
        },
        Addresses::Adjacent(first) => {
            let (mut lanes, mut left) = (exec, 0);
            while lanes != 0 {
                let lane = lanes.trailing_zeros();
                let run = u64::from((lanes >> lane).trailing_ones());
                let mask = u64::MAX >> (LANES as u64 - run) << lane;
                lanes ^= mask;
                let address = first.wrapping_add(u64::from(lane) * bytes);
                if !shadow.follow((address, run * bytes), how, inside) {
                    left |= mask;
                }
            }
            left
        }
        Addresses::Lanes(all) => {
            shadow.follow_lanes(|lane| all[lane % LANES], (bytes, exec), how, inside)
        }
        Addresses::Offsets(all) => {
            shadow.follow_lanes(|lane| all[lane % LANES].into(), (bytes, exec), how, inside)
        }
    };
    let exec = access.exec.map_or((left == 0).then_some(0), |_| Some(left));
    WaveAccess { exec, ..*access }
}

impl State {
    pub(super) fn new(base: u64, len: u64) -> State {
        let mut order = Order::default();
        // Records have the interval 0 in the beginning.
        order.restart(1);
        State {
            arena: (base, base + len),
            shadow: Shadow::new(base, len),
            order,
            findings: Findings::default(),
            sites: Sites::default(),
            dispatches: 0,
            live: FxHashMap::default(),
            groups: Vec::new(),
            running: FxHashMap::default(),
            current: None,
            undecided: FxHashMap::default(),
            allocations: [[(0, 0); RECENT]; 2],
            settled: Settled::default(),
            lds: Vec::new(),
            syncs: Syncs::default(),
            barriers: FxHashMap::default(),
            rounds: Vec::new(),
            examines_barriers: false,
            suspects: Vec::new(),
            disregarded: None,
        }
    }

    /// See [`Sanitizer::assume`](super::Sanitizer::assume).
    pub(super) fn settled(&mut self) -> &mut Settled {
        &mut self.settled
    }

    pub(super) fn take(&mut self, launch: Option<u64>) -> Vec<Finding> {
        self.findings.take(launch)
    }

    // ---- dispatches and workgroups

    pub(super) fn begin_dispatch(&mut self, launch: u64) -> u64 {
        let first = self.order.next();
        if self.live.is_empty() {
            self.order.restart(first);
            self.settled.begin_dispatch();
            self.suspects.clear();
            self.syncs.restart();
            self.groups.clear();
            self.running.clear();
            self.current = None;
            if self.sites.are_many() {
                self.sites = Sites::default();
                self.findings.forget_sites();
            }
        }
        // Allocations may have changed.
        self.allocations = [[(0, 0); RECENT]; 2];
        self.dispatches += 1;
        self.order.begin_dispatch();
        let dispatch = Dispatch {
            number: self.dispatches,
            launch,
            first,
        };
        self.live.insert(dispatch.number, dispatch);
        self.dispatches
    }

    /// `is_complete`: all workgroups have ended.
    pub(super) fn end_dispatch(&mut self, number: u64, memory: &Memory, is_complete: bool) {
        self.leave();
        let ended = self.live.remove(&number);
        let barriers = self.barriers.remove(&number);
        if let (Some(ended), Some(barriers), true) = (ended, barriers, is_complete) {
            self.find_redundant(ended, &barriers);
        }
        if !is_complete {
            self.settled.end_incomplete();
        }
        let is_of = |key: &Key| ended.is_some_and(|ended| ended.launch == key.launch);
        let decided = self.undecided.extract_if(|_, (key, _)| is_of(key));
        for (_, (key, finding)) in decided {
            self.findings.add(key, finding);
        }
        self.findings.place(memory);
        self.running.retain(|id, _| id.dispatch != number);
    }

    /// The workgroup of `current` is no longer the one that runs.
    fn leave(&mut self) {
        if let Some((id, running)) = self.current.take() {
            self.running.insert(id, running);
        }
    }

    /// The running workgroup.
    fn enter(&mut self, group: &Group<'_>) -> &mut Running {
        let id = Id {
            dispatch: group.dispatch,
            workgroup: group.workgroup,
        };
        if self.current.as_ref().is_none_or(|(known, _)| *known != id) {
            self.leave();
            let running = self
                .running
                .remove(&id)
                .unwrap_or_else(|| self.begin(group, id));
            self.current = Some((id, running));
        }
        self.running()
    }

    fn running(&mut self) -> &mut Running {
        let current = self.current.as_mut();
        &mut current.expect("a workgroup was entered").1
    }

    fn begin(&mut self, group: &Group<'_>, id: Id) -> Running {
        let number = self.groups.len() as u32;
        self.groups.push(id);
        let first = self.order.next();
        let dispatch = self.live.get(&id.dispatch).copied();
        let dispatch = dispatch.unwrap_or(Dispatch {
            number: id.dispatch,
            launch: 0,
            first,
        });
        let lds = self.lds.pop();
        let lds = lds.unwrap_or_else(|| (Shadow::new(0, LDS_MAX as u64), Default::default()));
        let assumed = self.settled.assumes_of_lds(None);
        Running {
            examined: self.rounds(group),
            ..Running::new(number, dispatch, first, lds, assumed)
        }
    }

    /// See [`Sanitizer::known`](super::Sanitizer::known).
    #[cfg(feature = "jit")]
    pub(super) fn known(&mut self, group: &Group<'_>) -> [super::Known; super::MAX_WAVES] {
        let has_barriers = self.sites.uses(group.code).barriers;
        self.enter(group);
        std::array::from_fn(|wave| super::Known {
            // Only barriers compare which lanes were active.
            lanes: match has_barriers {
                true => self.running().waves[wave].lanes,
                false => u64::MAX,
            },
            lds: self.lds_settled(group, wave as u8),
        })
    }

    pub(super) fn end_group(&mut self, group: &Group<'_>) {
        let running = self.enter(group);
        let waves = running.waves.iter().take(group.waves as usize);
        let (mut most, mut least) = (0, u32::MAX);
        for wave in waves {
            (most, least) = (most.max(wave.barriers), least.min(wave.barriers));
        }
        let late = running.phases[1].begin.filter(|_| most != least);
        if let Some((site, wave)) = late {
            let at = self.side(site, wave, None, None);
            self.found(Rule::BarrierDivergence, (site, None), at, None);
        }
        if let Some((_, mut running)) = self.current.take() {
            for phase in &mut running.phases {
                self.settled.check_hulls(phase);
            }
            self.lds.push((running.lds, running.phases));
            self.end_rounds(group.dispatch, running.examined);
        }
        // Loads show which barriers are needed.
        let ready = self.order.began_alone() && !self.examines(group);
        self.settled.end_group(ready);
    }

    // ---- findings

    /// The launch of the running workgroup.
    fn launch(&self) -> u64 {
        let current = self.current.as_ref();
        current.expect("a workgroup was entered").1.dispatch.launch
    }

    /// An instruction of the running workgroup.
    fn side(&self, site: u16, wave: u8, kind: Option<AccessKind>, lane: Option<u32>) -> Side {
        let current = self.current.as_ref();
        let (id, _) = current.expect("a workgroup was entered");
        self.side_of(*id, site, wave, kind, lane)
    }

    fn side_of(
        &self,
        id: Id,
        site: u16,
        wave: u8,
        kind: Option<AccessKind>,
        lane: Option<u32>,
    ) -> Side {
        let place = self.sites.get(site).place;
        Side {
            code: place.code,
            pc: place.pc,
            kind,
            workgroup: id.workgroup,
            wave: wave.into(),
            lane,
        }
    }

    /// The earlier side of a conflict.
    fn earlier(&self, conflict: Conflict) -> Option<Side> {
        let interval = self.order.interval(conflict.interval)?;
        let id = *self.groups.get(interval.group as usize)?;
        Some(self.side_of(id, conflict.site, interval.wave, Some(conflict.kind), None))
    }

    /// Adds a finding that is not about an address.
    fn found(
        &mut self,
        rule: Rule,
        (site, second): (u16, Option<u16>),
        at: Side,
        other: Option<Side>,
    ) {
        let key = Key {
            launch: self.launch(),
            rule,
            site,
            other: second,
        };
        self.findings.add(key, Finding::new(rule, at, other));
    }

    #[cold]
    fn race(
        &mut self,
        rule: Rule,
        (access, by): &By<'_>,
        (address, lane, conflict): (u64, Option<u32>, Conflict),
    ) {
        let writes = access.kind == AccessKind::Write && conflict.kind == AccessKind::Write;
        let stored = access.stored.filter(|_| writes).zip(lane);
        let same_value = stored.is_some_and(|(stored, lane)| stored.is_there(lane as usize));
        let key = Key {
            launch: self.launch(),
            rule,
            site: by.site,
            other: Some(conflict.site),
        };
        let at = self.side(by.site, access.wave as u8, Some(access.kind), lane);
        let finding = Finding {
            same_value,
            address,
            lds: rule == Rule::RaceLds,
            bytes: access.bytes as u32,
            ..Finding::new(rule, at, self.earlier(conflict))
        };
        if conflict.releases && access.kind == AccessKind::Atomic {
            self.undecided.entry(address).or_insert((key, finding));
        } else {
            self.findings.add(key, finding);
        }
    }

    /// Adds a finding about an address.
    #[cold]
    fn at_address(
        &mut self,
        rule: Rule,
        (access, by): &By<'_>,
        lds: bool,
        (address, lane): (u64, Option<u32>),
        nearest: Option<Nearest>,
    ) {
        let key = Key {
            launch: self.launch(),
            rule,
            site: by.site,
            other: None,
        };
        let at = self.side(by.site, access.wave as u8, Some(access.kind), lane);
        let finding = Finding {
            address,
            lds,
            bytes: access.bytes as u32,
            nearest,
            ..Finding::new(rule, at, None)
        };
        self.findings.add(key, finding);
    }

    // ---- accesses

    /// A wave of the running workgroup runs, perhaps as the first one behind a barrier.
    #[inline]
    fn learn(&mut self, index: u8) {
        let (_, running) = self.current.as_mut().expect("a workgroup was entered");
        if let Some(learned) = running.learns(index) {
            self.order.acquire(running.number, &learned);
        }
    }

    /// The interval of a wave of the running workgroup.
    fn interval(&mut self, index: u8) -> u64 {
        let next = self.order.next();
        self.learn(index);
        let running = self.running();
        let wave = running.wave(index);
        match wave.interval {
            Some(interval) => interval,
            None => {
                wave.interval = Some(next);
                let begins = running.begins(index, next);
                self.order.begin(begins)
            }
        }
    }

    /// The access as it is meant, and who makes it.
    fn announced<'a>(&mut self, group: &Group<'_>, access: &WaveAccess<'a>) -> By<'a> {
        let site = self.sites.number(group.code, access.pc);
        let kind = match access.kind {
            AccessKind::Read if self.sites.get(site).polls => AccessKind::CoherentRead,
            kind => kind,
        };
        let index = access.wave as u8;
        let wave = self.enter(group).wave(index);
        wave.lanes |= access.exec.unwrap_or(0);
        let releases = !wave.storing;
        let interval = self.interval(index);
        let by = Accessor {
            interval,
            site,
            releases,
            learns: access.returns,
        };
        (WaveAccess { kind, ..*access }, by)
    }

    /// A wave is about to access global memory. Of a load: begin and end of the memory from which it need not be announced.
    pub(super) fn global(
        &mut self,
        group: &Group<'_>,
        access: &WaveAccess<'_>,
    ) -> Option<(u64, u64)> {
        if self.settled.is_void() {
            return Some((0, u64::MAX));
        }
        let (access, by) = self.announced(group, access);
        let made = (access, by);
        let inside = *self.allocation(&made);
        let uses = self.sites.uses(group.code);
        let acquires = uses.acquires;
        self.depends_in_global(&made, uses);
        let (_, running) = self.current.as_ref().expect("a workgroup was entered");
        let how = How::global(&made, running, &self.order);
        let flags = acquires && access.kind.is_of_flags();
        let left = match flags {
            true => access,
            false => follow(&mut self.shadow, &access, &how, inside),
        };
        let mut met = Vec::new();
        for run in left.runs() {
            self.bounds(group.memory, &made, &run);
            if flags {
                self.observe_flags(&made, &run);
            }
            let (_, running) = self.current.as_ref().expect("a workgroup was entered");
            let how = How::global(&made, running, &self.order);
            let found = &mut |at, what| {
                if let Met::Conflict(conflict) = what {
                    met.push((at, run.lane(at, &access), conflict));
                }
            };
            self.shadow.access(run.address, run.bytes, &how, found);
        }
        for conflict in met {
            self.race(Rule::RaceGlobal, &made, conflict);
        }
        self.examine_lanes(&made, false);
        if access.kind.changes() && access.exec.is_some() {
            let wave = self.running().wave(access.wave as u8);
            wave.storing = true;
            // What follows is not told by a flag that this was.
            if acquires && by.releases {
                wave.interval = None;
                self.order.tell(by.interval);
            }
        }
        let inside = *self.allocation(&made);
        let settles =
            access.kind == AccessKind::Read && inside.1 != 0 && self.settled.assumes(inside.0);
        settles.then_some(inside)
    }

    /// Lanes of a store must not store different values to one byte.
    fn examine_lanes(&mut self, made: &By<'_>, lds: bool) {
        let (access, by) = made;
        if access.stored.is_some()
            && self.sites.examines(by.site)
            && let Some((address, lane)) = access.collision()
        {
            self.at_address(Rule::LanesCollide, made, lds, (address, Some(lane)), None);
        }
    }

    /// The allocation of the last access of an instruction, which is remembered: begin and end.
    fn allocation(&mut self, (access, by): &By<'_>) -> &mut (u64, u64) {
        &mut self.allocations[usize::from(access.kind.changes())][usize::from(by.site) % RECENT]
    }

    /// Accesses must be inside of allocations.
    fn bounds(&mut self, memory: &Memory, made: &By<'_>, run: &Run) {
        let (start, end) = *self.allocation(made);
        let last = run.address.wrapping_add(run.bytes);
        if run.address >= start && last <= end {
            return;
        }
        match memory.allocation_of(run.address) {
            Some(found) if last <= found.start + found.len => {
                *self.allocation(made) = (found.start, found.start + found.len);
                if made.0.kind.changes() {
                    self.settled.store(found.start);
                }
            }
            // Registered memory of the program.
            None if !(self.arena.0..self.arena.1).contains(&run.address) => {}
            found => {
                if made.0.kind.changes() {
                    // It may reach into another allocation.
                    self.settled.store_anywhere();
                }
                let at = found.map_or(run.address, |found| found.start + found.len);
                let lane = run.lane(at, &made.0);
                let nearest = memory.nearest(at);
                let rule = match nearest {
                    Some(near) if near.freed && near.has(at) => Rule::UseAfterFree,
                    _ => Rule::OutOfBounds,
                };
                self.at_address(rule, made, false, (at, lane), nearest);
            }
        }
    }

    pub(super) fn mixed_atomic(&mut self, group: &Group<'_>, wave: u8, pc: u64) {
        let site = self.sites.number(group.code, pc);
        self.enter(group);
        let at = self.side(site, wave, Some(AccessKind::Atomic), None);
        self.found(Rule::MixedAtomic, (site, None), at, None);
    }

    // ---- order

    /// The wave reads or changes flags in global memory: it may know what the writers knew.
    fn observe_flags(&mut self, (access, by): &By<'_>, run: &Run) {
        let wave = access.wave as u8;
        let polls = access.kind == AccessKind::CoherentRead;
        for address in run.elements(access) {
            let mut known = self.order.flag(address).cloned().unwrap_or_default();
            let record = self.shadow.get(address);
            if polls {
                self.undecided.remove(&address);
            }
            let current = record.is_since(self.running().dispatch.first);
            if current && record.is_store() && record.releases() {
                join(&mut known, &self.order.knowledge(record.interval()));
            }
            if !polls {
                // A release sequence: it also releases what others have released.
                let mut told = known.clone();
                if by.releases {
                    join(&mut told, &self.order.knowledge(by.interval));
                }
                self.order.release(address, &told);
            }
            if !known.is_empty() && (polls || access.returns) {
                join(&mut self.running().wave(wave).observed, &known);
            }
        }
    }

    pub(super) fn waited(&mut self, group: &Group<'_>, wave: u8) {
        let acquires = self.sites.uses(group.code).acquires;
        let wave = self.enter(group).wave(wave);
        // A flag that follows tells others of the stores.
        if acquires && wave.storing {
            wave.interval = None;
        }
        wave.storing = false;
    }

    pub(super) fn acquire(&mut self, group: &Group<'_>, index: u8) {
        self.enter(group);
        self.learn(index);
        let running = self.running();
        let known = std::mem::take(&mut running.wave(index).observed);
        let number = running.number;
        if !known.is_empty() {
            self.order.acquire_wave(number, index, &known);
        }
        self.examine_acquire(group.dispatch);
    }

    /// A wave arrives at a barrier with these lanes active.
    pub(super) fn barrier(&mut self, group: &Group<'_>, index: u8, pc: u64, exec: u64) {
        let site = self.sites.number(group.code, pc);
        if self.disregarded == Some(self.sites.get(site).place) {
            return;
        }
        self.enter(group);
        self.learn(index);
        let (_, running) = self.current.as_mut().expect("a workgroup was entered");
        running.tells(index, self.order.learned(running.number, index));
        let wave = running.wave(index);
        let missing = wave.lanes & !exec;
        wave.barriers += 1;
        wave.interval = None;
        let barriers = wave.barriers;
        let mut other = None;
        let is_first = barriers > running.barriers;
        if is_first {
            running.barriers = barriers;
            // All waves have left the phase before.
            self.settled.check_hulls(&mut running.phases[0]);
            let assumed = self.settled.assumes_of_lds(Some(site));
            running.next_phase(site, index, assumed);
            running.flags.clear();
        } else {
            other = running.phases[1].begin.filter(|&(first, _)| first != site);
        }
        self.examine_barrier(site, index, is_first);
        let at = self.side(site, index, None, None);
        if let Some((first, by)) = other {
            let earlier = Some(self.side(first, by, None, None));
            self.found(Rule::BarrierDivergence, (site, Some(first)), at, earlier);
        }
        if missing != 0 {
            let lane = Some(missing.trailing_zeros());
            self.found(Rule::BarrierLanes, (site, None), Side { lane, ..at }, None);
        }
    }
}
