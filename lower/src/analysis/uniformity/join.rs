//! Control-flow joins: the facts that hold on all incoming edges.

use super::offset_tables::TableFact;
use super::{Analysis, Fact, Registers, Set};

impl Analysis<'_> {
    /// The registers at the start of a block, from its reached predecessors.
    pub(super) fn entry(
        &mut self,
        b: usize,
        start: &Registers,
        exits: &[Option<Registers>],
    ) -> Registers {
        let from: Vec<&Registers> = self.preds[b]
            .iter()
            .filter_map(|&p| exits[p].as_ref())
            .collect();
        if b != 0 {
            // EXEC on entry lies within a common superset of the predecessors' EXEC.
            let mut parent: Option<Set> = None;
            for r in &from {
                let up = self.surviving_parent(r.exec, b);
                parent = Some(match parent {
                    None => up,
                    Some(old) if self.within(up, old) => old,
                    Some(old) if self.within(old, up) => up,
                    Some(_) => Set::All,
                });
            }
            self.put(Set::Entry(b), parent.unwrap_or(Set::All));
        } else if !from.is_empty() {
            // A region whose entry is a loop header: start facts hold on the first entry only.
            let mut r = start.clone();
            r.vgpr.fill(None);
            return r;
        } else {
            return start.clone();
        }
        let mut result: Option<Registers> = None;
        for r in from {
            let renamed = self.renamed(r, b);
            result = Some(match result {
                None => renamed,
                Some(old) => self.join(&old, &renamed),
            });
        }
        result.unwrap_or_else(|| start.clone())
    }

    pub(super) fn renamed(&self, r: &Registers, b: usize) -> Registers {
        let fact = |f: Fact| self.rename(f.set, r.exec, b).map(|set| Fact { set, ..f });
        let saved = |&set: &Set| {
            if self.survives(set, b) {
                Some(set)
            } else {
                (set == r.exec).then_some(Set::Entry(b))
            }
        };
        Registers {
            vgpr: r.vgpr.iter().map(|f| f.and_then(fact)).collect(),
            pair: r
                .pair
                .iter()
                .filter_map(|(&n, &f)| Some((n, fact(f)?)))
                .collect(),
            tables: r
                .tables
                .iter()
                .filter_map(|(&n, &t)| {
                    let set = self.rename(t.set, r.exec, b)?;
                    Some((n, TableFact { set, ..t }))
                })
                .collect(),
            saved: r
                .saved
                .iter()
                .filter_map(|(&n, s)| Some((n, saved(s)?)))
                .collect(),
            vcc: r.vcc.as_ref().and_then(saved),
            exec: Set::Entry(b),
            constants: r.constants.clone(),
        }
    }

    pub(super) fn join_facts(&self, a: Fact, b: Fact) -> Option<Fact> {
        if a.stride != b.stride {
            return None;
        }
        let set = self.meet_sets(a.set, b.set)?;
        Some(Fact {
            stride: a.stride,
            guarded: a.guarded || b.guarded,
            whole: a.whole && b.whole,
            alike: a.alike.min(b.alike),
            stepped: false,
            masked: false,
            aligned: a.aligned.min(b.aligned),
            set,
        })
    }

    pub(super) fn join(&self, a: &Registers, b: &Registers) -> Registers {
        let both = |x: Option<Fact>, y: Option<Fact>| self.join_facts(x?, y?);
        Registers {
            vgpr: a
                .vgpr
                .iter()
                .zip(&b.vgpr)
                .map(|(&x, &y)| both(x, y))
                .collect(),
            pair: a
                .pair
                .iter()
                .filter_map(|(n, &x)| Some((*n, both(Some(x), b.pair.get(n).copied())?)))
                .collect(),
            tables: a
                .tables
                .iter()
                .filter_map(|(n, &x)| Some((*n, self.join_tables(x, b.tables.get(n).copied()?)?)))
                .collect(),
            saved: a
                .saved
                .iter()
                .filter(|(n, s)| b.saved.get(n) == Some(s))
                .map(|(&n, &s)| (n, s))
                .collect(),
            vcc: if a.vcc == b.vcc { a.vcc } else { None },
            exec: a.exec,
            constants: a
                .constants
                .iter()
                .filter(|(slot, c)| b.constants.get(slot) == Some(c))
                .map(|(&slot, &c)| (slot, c))
                .collect(),
        }
    }
}
