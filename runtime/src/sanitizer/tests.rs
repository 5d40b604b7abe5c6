//! Records, their order and shadows, without waves.

use frontend::LANES;

use super::barriers::{Barriers, Need, Place, Rounds};
use super::findings::{Finding, Findings, Key, Rule, Side};
use super::order::{Clock, Interval, Order};
use super::record::{AccessKind, Accessor, Conflict, Record};
use super::running::Id;
use super::shadow::{How, Met, Shadow};
use crate::mix::mix;

use AccessKind::{Atomic, CoherentRead, Read, Write};

/// Intervals of two waves of workgroup 0 before and behind a barrier, of a wave of workgroup 1, and of one of
/// another dispatch, by name.
struct Waves {
    order: Order,
    first: u64,
}

const A: u64 = 0;
const B: u64 = 1;
const A_BEHIND: u64 = 2;
const B_BEHIND: u64 = 3;
const OTHER: u64 = 4;
const OTHER_DISPATCH: u64 = 5;

impl Waves {
    fn new() -> Waves {
        let mut order = Order::default();
        order.restart(1);
        let first = order.next();
        for (group, barriers, round, wave) in [
            (0, 0, 0, 0),
            (0, 0, 0, 1),
            (0, 1, 2, 0),
            (0, 1, 2, 1),
            (1, 0, 4, 0),
            (2, 0, 5, 0),
        ] {
            order.begin(Interval {
                group,
                barriers,
                round: first + round,
                dispatch: u32::from(group == 2),
                wave,
            });
        }
        Waves { order, first }
    }

    fn by(&self, interval: u64) -> Accessor {
        Accessor {
            interval: self.first + interval,
            site: interval as u16,
            releases: false,
            learns: false,
        }
    }

    /// An access to global memory.
    fn how(&self, interval: u64, kind: AccessKind) -> How<'_> {
        How {
            kind,
            by: self.by(interval),
            first: self.first,
            round: None,
            tells_unwritten: false,
            only_barriers: false,
            others: if interval == OTHER {
                self.first + OTHER
            } else {
                0
            },
            order: &self.order,
        }
    }

    /// What the last of some accesses to a word conflicts with.
    fn last(&self, accesses: &[(u64, AccessKind)]) -> Option<Conflict> {
        let mut record = Record::NONE;
        let mut last = None;
        for &(interval, kind) in accesses {
            (record, last) = record.access(kind, self.by(interval), self.first, &self.order);
        }
        last
    }
}

#[test]
fn barriers_order_the_waves_of_a_workgroup() {
    let waves = Waves::new();
    for (earlier, later) in [(Write, Read), (Read, Write), (Write, Write), (Atomic, Read)] {
        let conflict = waves.last(&[(A, earlier), (B, later)]).expect("no barrier");
        assert_eq!((conflict.site, conflict.kind), (A as u16, earlier));
        assert_eq!(waves.last(&[(A, earlier), (B_BEHIND, later)]), None);
        assert_eq!(
            waves.last(&[(A, earlier), (A, later)]),
            None,
            "a wave's own order"
        );
        let conflict = waves.last(&[(A, earlier), (OTHER, later)]);
        assert!(conflict.is_some(), "barriers are of one workgroup");
    }
}

#[test]
fn reads_and_atomics_do_not_conflict_with_their_like() {
    let waves = Waves::new();
    for kind in [Read, Atomic] {
        let all = [A, B, OTHER, A_BEHIND].map(|interval| (interval, kind));
        assert_eq!(waves.last(&all), None);
    }
    assert_eq!(
        waves.last(&[(A, Write), (OTHER, CoherentRead)]),
        None,
        "a poll"
    );
}

#[test]
fn dispatches_at_the_same_time_do_not_conflict() {
    let waves = Waves::new();
    for (earlier, later) in [(Write, Read), (Read, Write), (Write, Write), (Atomic, Read)] {
        let accesses = [(A, earlier), (OTHER_DISPATCH, later)];
        assert_eq!(waves.last(&accesses), None, "{earlier:?} {later:?}");
        let accesses = [(A, earlier), (B, earlier), (OTHER_DISPATCH, later)];
        assert_eq!(waves.last(&accesses), None, "{earlier:?} {later:?}");
    }
}

#[test]
fn all_readers_count() {
    let waves = Waves::new();
    let conflict = waves.last(&[(A, Read), (B, Read), (B, Write)]);
    assert_eq!(
        conflict.map(|c| c.kind),
        Some(Read),
        "the first reader is another wave"
    );
    assert_eq!(waves.last(&[(A, Read), (B, Read), (B_BEHIND, Write)]), None);
    let conflict = waves.last(&[(A, Read), (OTHER, Read), (A_BEHIND, Write)]);
    assert!(conflict.is_some(), "the reader of another workgroup");
}

#[test]
fn stores_are_remembered_behind_loads_and_atomics() {
    let waves = Waves::new();
    for kind in [Read, Atomic] {
        let conflict = waves.last(&[(A, Write), (A, kind), (B, kind)]);
        assert_eq!(
            conflict.map(|c| c.kind),
            Some(Write),
            "{kind:?} in the same interval"
        );
        let conflict = waves.last(&[(A, Write), (B_BEHIND, kind), (OTHER, kind)]);
        assert_eq!(
            conflict.map(|c| c.kind),
            Some(Write),
            "{kind:?} behind a barrier"
        );
    }
}

#[test]
fn flags_order_workgroups() {
    let mut waves = Waves::new();
    let access = [(A, Write), (OTHER, Read)];
    assert!(waves.last(&access).is_some());
    let known = waves.order.knowledge(waves.first + A_BEHIND);
    waves.order.acquire(1, &known);
    assert_eq!(waves.last(&access), None);
    assert_eq!(
        waves.last(&[(B, Write), (OTHER, Read)]),
        None,
        "before the barrier"
    );
    let conflict = waves.last(&[(B_BEHIND, Write), (OTHER, Read)]);
    assert!(conflict.is_some(), "another wave, behind the barrier");
    assert_eq!(
        known.len(),
        Clock::from_iter([((0, 0), 0), ((0, u8::MAX), 0)]).len()
    );
}

#[test]
fn an_earlier_dispatch_does_not_count() {
    let waves = Waves::new();
    let (record, _) = Record::NONE.access(Write, waves.by(A), waves.first, &waves.order);
    let later = waves.first + OTHER;
    let (_, conflict) = record.access(Write, waves.by(OTHER), later, &waves.order);
    assert_eq!(conflict, None);
}

/// Accesses bytes of a shadow: what they meet, by address.
fn access(
    shadow: &mut Shadow,
    waves: &Waves,
    (interval, kind): (u64, AccessKind),
    address: u64,
    bytes: u64,
) -> Vec<u64> {
    let how = waves.how(interval, kind);
    let mut met = Vec::new();
    shadow.access(address, bytes, &how, &mut |at, what| {
        if let Met::Conflict(_) = what {
            met.push(at);
        }
    });
    met
}

#[test]
fn bytes_and_words_are_told_apart() {
    let waves = Waves::new();
    let mut shadow = Shadow::new(0x1000, 0x4000);
    // A wave stores to all granules of two pages, another one to a byte between.
    assert_eq!(access(&mut shadow, &waves, (A, Write), 0x1fc0, 0x80), []);
    assert_eq!(access(&mut shadow, &waves, (B, Write), 0x2005, 1), [0x2005]);
    assert_eq!(access(&mut shadow, &waves, (B, Read), 0x2006, 1), [0x2006]);
    // Different bytes of a word do not conflict, nor do different words of a granule.
    assert_eq!(access(&mut shadow, &waves, (A, Write), 0x3000, 1), []);
    assert_eq!(access(&mut shadow, &waves, (B, Write), 0x3001, 1), []);
    assert_eq!(access(&mut shadow, &waves, (B, Write), 0x3004, 4), []);
    assert_eq!(access(&mut shadow, &waves, (OTHER, Read), 0x3002, 2), []);
    assert_eq!(
        access(&mut shadow, &waves, (OTHER, Read), 0x3000, 4),
        [0x3000, 0x3001]
    );
    // So it is outside of the memory that has a table.
    assert_eq!(access(&mut shadow, &waves, (A, Write), 1 << 50, 8), []);
    assert_eq!(
        access(&mut shadow, &waves, (OTHER, Write), (1 << 50) + 7, 1),
        [(1 << 50) + 7]
    );
}

#[test]
fn granules_become_whole_again() {
    let waves = Waves::new();
    let mut shadow = Shadow::new(0, 0x1000);
    for at in 0..64 {
        assert_eq!(access(&mut shadow, &waves, (A, Write), at, 1), []);
    }
    assert_eq!(access(&mut shadow, &waves, (A, Write), 0, 64), []);
    assert_eq!(
        access(&mut shadow, &waves, (B, Read), 0, 64),
        [0],
        "one record, one conflict"
    );
}

#[test]
fn others_may_read_what_they_were_told_of() {
    let mut waves = Waves::new();
    let accesses = [(A, Write), (A_BEHIND, Read), (OTHER, Read)];
    assert!(waves.last(&accesses).is_some(), "nobody was told");
    waves.order.tell(waves.first + A_BEHIND);
    assert_eq!(waves.last(&accesses), None);
    let accesses = [(A, Write), (A_BEHIND, Atomic), (OTHER, Atomic)];
    assert_eq!(waves.last(&accesses), None);
    // What was stored since is not told.
    let accesses = [(A_BEHIND, Write), (B_BEHIND, Read), (OTHER, Read)];
    assert!(waves.last(&accesses).is_some());
}

#[test]
fn findings_of_other_numbers_of_instructions_are_others() {
    let side = Side {
        code: 1,
        pc: 0x100,
        kind: None,
        workgroup: [0; 3],
        wave: 0,
        lane: None,
    };
    let key = Key {
        launch: 1,
        rule: Rule::BarrierLanes,
        site: 3,
        other: None,
    };
    let other = Side { pc: 0x200, ..side };
    let mut findings = Findings::default();
    findings.add(key, Finding::new(key.rule, side, None));
    findings.forget_sites();
    assert_eq!(findings.take(Some(2)), []);
    findings.add(key, Finding::new(key.rule, other, None));
    let found = findings.take(Some(1));
    let found: Vec<_> = found.iter().map(|one| (one.at.pc, one.count)).collect();
    assert_eq!(found, [(0x100, 1), (0x200, 1)]);
}

#[test]
fn ordinary_accesses_are_those_of_the_general_path() {
    let waves = Waves::new();
    for lds in [false, true] {
        let mut shadows = [(); 2].map(|()| Shadow::new(0, 0x1000));
        let mut ordinary = 0;
        for step in 0..4000 {
            let random = |n: u64| mix(step << 8 | n);
            let interval = [A, B, A_BEHIND, OTHER][random(200) as usize % if lds { 3 } else { 4 }];
            let kind = [Read, Read, Read, Write, Atomic, CoherentRead][random(201) as usize % 6];
            let bytes = [1, 4, 8][random(202) as usize % 3];
            // Runs with repetitions, in some granules.
            let first = random(203) % 0x400 / bytes * bytes;
            let repeated = random(204) as usize % 4 + 1;
            let lanes: [u64; LANES] =
                std::array::from_fn(|lane| first + (lane / repeated) as u64 * bytes);
            let mut how = waves.how(interval, kind);
            if lds {
                how.round = Some(waves.first + interval / 2 * 2);
                how.tells_unwritten = true;
            }
            let exec = random(205) | random(206);
            let [general, quick] = &mut shadows;
            let mut met = [Vec::new(), Vec::new()];
            let left = quick.follow_lanes(|lane| lanes[lane], (bytes, exec), &how, (0, 0x480));
            for lane in (0..LANES).filter(|lane| exec >> lane & 1 != 0) {
                let at = lanes[lane];
                general.access(at, bytes, &how, &mut |at, what| met[0].push((at, what)));
                if left >> lane & 1 != 0 {
                    quick.access(at, bytes, &how, &mut |at, what| met[1].push((at, what)));
                } else {
                    ordinary += 1;
                    assert!(at + bytes <= 0x480, "{at:x?}");
                }
            }
            let met = met.map(|met| {
                let addresses = met.into_iter().map(|(at, _)| at / 64);
                let mut addresses: Vec<u64> = addresses.collect();
                addresses.dedup();
                addresses
            });
            assert_eq!(met[0], met[1], "step {step}");
            for at in 0..0x500 {
                assert_eq!(general.get(at), quick.get(at), "step {step}, {at:#x}");
            }
        }
        assert!(ordinary > 40_000, "{ordinary}");
    }
}

#[test]
fn rounds_of_lds_find_what_records_find() {
    let waves = Waves::new();
    for seed in 0..500 {
        let mut shadows = [(); 2].map(|()| Shadow::new(0, 0x1000));
        for step in 0..60 {
            let random = |n: u64| mix(seed << 16 | step << 8 | n);
            // The waves of a workgroup, first before a barrier and then behind it.
            let behind = step >= 30;
            let interval =
                [[A, B], [A_BEHIND, B_BEHIND]][usize::from(behind)][random(0) as usize % 2];
            let kind = [Read, Read, Write, Atomic, CoherentRead][random(1) as usize % 5];
            let bytes = [4, 4, 64][random(2) as usize % 3];
            let address = random(3) % 128 / bytes * bytes;
            let round = waves.first + if behind { A_BEHIND } else { A };
            let found = [None, Some(round)].map(|round| How {
                round,
                tells_unwritten: true,
                only_barriers: round.is_some(),
                ..waves.how(interval, kind)
            });
            let mut found = found.iter().zip(&mut shadows).map(|(how, shadow)| {
                let mut met = Vec::new();
                shadow.access(address, bytes, how, &mut |at, what| {
                    // A granule with one record is one conflict.
                    met.push((at / 64, matches!(what, Met::Unwritten)));
                });
                met.sort_unstable();
                met.dedup();
                met
            });
            assert_eq!(found.next(), found.next(), "seed {seed}, step {step}");
        }
    }
}

/// An access to a word in a round: wave, word, and whether it writes.
type InRound = (u8, u64, bool);

/// The barriers on which nothing depends, of one workgroup: the accesses before each barrier and those behind the last one. The
/// wave that arrives first has made its accesses before, and others make theirs afterwards.
fn redundant(rounds: &[(Vec<InRound>, u16)], behind: &[InRound]) -> Vec<u16> {
    let id = Id {
        dispatch: 1,
        workgroup: [0; 3],
    };
    let (mut examined, mut barriers) = (Rounds::default(), Barriers::default());
    let access = |examined: &mut Rounds, barriers: &mut Barriers, is_behind, one: &InRound| {
        let &(wave, word, writes) = one;
        let place = Place::Lds {
            address: 4 * word,
            bytes: 4,
        };
        if let Some(site) = examined.access((wave, is_behind), place, writes) {
            barriers.needs(site, Need::Words);
        }
    };
    for (accesses, site) in rounds {
        let (early, late): (Vec<_>, Vec<_>) = accesses.iter().partition(|(wave, ..)| *wave == 0);
        for one in early {
            access(&mut examined, &mut barriers, 1, one);
        }
        examined.next(*site);
        barriers.arrives(*site, (id, 0));
        for one in late {
            access(&mut examined, &mut barriers, 0, one);
        }
    }
    for one in behind {
        access(&mut examined, &mut barriers, 1, one);
    }
    let redundant = barriers.not_needed().into_iter();
    redundant.map(|(site, _)| site).collect()
}

#[test]
fn a_barrier_is_needed_between_accesses_of_two_waves() {
    const STORE: InRound = (0, 0, true);
    const LOAD: InRound = (1, 0, false);
    assert_eq!(redundant(&[(vec![STORE], 1)], &[LOAD]), []);
    assert_eq!(redundant(&[(vec![LOAD], 1)], &[STORE]), []);
    // Loads, another word, and one wave.
    assert_eq!(redundant(&[(vec![(0, 0, false)], 1)], &[LOAD]), [1]);
    assert_eq!(redundant(&[(vec![STORE], 1)], &[(1, 1, false)]), [1]);
    assert_eq!(redundant(&[(vec![STORE], 1)], &[(0, 0, false)]), [1]);
    // Either of two is enough, but not without the other one.
    assert_eq!(redundant(&[(vec![STORE], 1), (vec![], 2)], &[LOAD]), [1, 2]);
    // Two executions of one instruction go together.
    assert_eq!(redundant(&[(vec![STORE], 1), (vec![], 1)], &[LOAD]), []);
    // A second store by the reader does not hide the first one.
    let hidden = [
        (vec![STORE], 1),
        (vec![(1, 0, true)], 2),
        (vec![(1, 0, true)], 2),
    ];
    assert_eq!(redundant(&hidden, &[(1, 0, false)]), [2]);
    let several = [(vec![STORE, LOAD], 1), (vec![(0, 0, false)], 1)];
    assert_eq!(redundant(&several, &[STORE]), []);
}

#[test]
fn needed_barriers_are_those_of_the_definition() {
    let mut named = [0; 2];
    for seed in 0..3000 {
        let random = |n: u64| mix(seed << 16 | n);
        let count = 1 + random(0) % 8;
        let rounds = (0..=count).map(|round| {
            let accesses = (0..random(round << 8 | 1) % 4).map(|n| {
                let of = |what: u64| random(round << 8 | n << 4 | what);
                ((of(2) % 3) as u8, of(3) % 4, of(4) % 3 == 0)
            });
            (
                accesses.collect::<Vec<_>>(),
                random(round << 8 | 5) as u16 % 3,
            )
        });
        let mut rounds: Vec<_> = rounds.collect();
        let (behind, _) = rounds.pop().expect("there is a round");
        let depends = |earlier: &InRound, later: &InRound| {
            earlier.0 != later.0 && earlier.1 == later.1 && (earlier.2 || later.2)
        };
        let all: Vec<_> = rounds.iter().map(|(all, _)| all).chain([&behind]).collect();
        let is_needed = |site: u16| {
            (0..rounds.len()).any(|first| {
                let same = rounds[first..].iter().take_while(|(_, at)| *at == site);
                (first + 1..=first + same.count()).any(|later| {
                    let pairs = all[first]
                        .iter()
                        .flat_map(|a| all[later].iter().map(move |b| (a, b)));
                    pairs.into_iter().any(|(a, b)| depends(a, b))
                })
            })
        };
        let sites = 0..3;
        let executed = |site: &u16| rounds.iter().any(|(_, at)| at == site);
        let expected: Vec<_> = sites
            .filter(executed)
            .filter(|&site| !is_needed(site))
            .collect();
        let all = [0, 1, 2].iter().filter(|site| executed(site)).count();
        named[0] += expected.len();
        named[1] += all - expected.len();
        assert_eq!(
            redundant(&rounds, &behind),
            expected,
            "seed {seed}: {rounds:?} {behind:?}"
        );
    }
    assert!(named.iter().all(|&count| count > 1000), "{named:?}");
}

#[test]
fn barriers_that_nobody_examined_are_not_named() {
    let id = Id {
        dispatch: 1,
        workgroup: [0; 3],
    };
    let mut barriers = Barriers::default();
    barriers.arrives(1, (id, 0));
    barriers.end_group();
    assert!(barriers.are_open(), "one may yet be needed");
    barriers.needs(1, Need::Flags);
    barriers.end_group();
    assert!(barriers.are_open(), "nobody learns by flags");
    let suspects = |barriers: &Barriers| {
        let all = barriers.not_needed().into_iter();
        let all: Vec<_> = all
            .map(|(site, one)| (site, barriers.is_suspect(&one)))
            .collect();
        all
    };
    assert_eq!(suspects(&barriers), [(1, false)]);
    barriers.acquires();
    assert_eq!(suspects(&barriers), [(1, true)]);
    barriers.end_group();
    assert!(!barriers.are_open());
    barriers.arrives(2, (id, 0));
    assert_eq!(suspects(&barriers), [(1, true)]);
    barriers.needs(1, Need::Words);
    assert_eq!(suspects(&barriers), []);
}
