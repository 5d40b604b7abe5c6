//! Exports of kernels. A compute kernel has no pipeline that consumes the values of `exp`, so a
//! dispatch counts them by target and keeps the first.

use std::collections::BTreeMap;

use frontend::LANES;
use frontend::inst::export_target_name;

/// Maximum number of exports of a dispatch that are kept completely.
pub const KEPT: usize = 16;

/// One `exp` of a wave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// Workgroup.
    pub workgroup: [u32; 3],
    /// Number of the wave in its workgroup.
    pub wave: u32,
    /// Address of the instruction.
    pub pc: u64,
    /// EXEC: the lanes that export.
    pub exec: u64,
    /// Number of the target as encoded.
    pub target: u8,
    /// Bit i: component i is exported.
    pub enabled: u8,
    /// The components are halves: 0 and 1 of the first register, 2 and 3 of the second.
    pub compressed: bool,
    /// The last export of its kind.
    pub done: bool,
    /// EXEC is the mask of valid pixels.
    pub valid_mask: bool,
    /// A word for each component and lane (its low half if compressed); 0 for components that are
    /// not exported and inactive lanes.
    pub components: Box<[[u32; LANES]; 4]>,
}

impl Export {
    /// The target as the assembler writes it: `mrt0`, `pos1`, `null`.
    pub fn target_name(&self) -> String {
        export_target_name(self.target)
    }
}

/// The exports of a dispatch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exports {
    /// Instructions executed by waves, by number of the target.
    pub counts: BTreeMap<u8, u64>,
    /// The first [`KEPT`]: workgroups in ascending order, the exports of a workgroup as they come.
    pub first: Vec<Export>,
}

impl Exports {
    /// Exports in all.
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Counts an export, and keeps it while there is room. A worker runs its workgroups in
    /// ascending order, so that the first ones are kept.
    pub fn record(&mut self, target: u8, export: impl FnOnce() -> Export) {
        *self.counts.entry(target).or_default() += 1;
        if self.first.len() < KEPT {
            self.first.push(export());
        }
    }

    /// Adds those of another worker, which ran other workgroups.
    pub fn merge(&mut self, other: &Exports) {
        for (&target, &count) in &other.counts {
            *self.counts.entry(target).or_default() += count;
        }
        self.first.extend_from_slice(&other.first);
        self.first.sort_by_key(|export| {
            let [x, y, z] = export.workgroup;
            [z, y, x]
        });
        self.first.truncate(KEPT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn export(x: u32, pc: u64) -> Export {
        Export {
            workgroup: [x, 0, 0],
            wave: 0,
            pc,
            exec: !0,
            target: 9,
            enabled: 0,
            compressed: false,
            done: true,
            valid_mask: false,
            components: Box::new([[0; LANES]; 4]),
        }
    }

    #[test]
    fn what_is_kept_does_not_depend_on_the_workers() {
        let of = |groups: &mut dyn Iterator<Item = u32>| {
            let mut exports = Exports::default();
            for x in groups {
                for pc in 0..3 {
                    exports.record(9, || export(x, pc));
                }
            }
            exports
        };
        let one = of(&mut (0..20));
        let mut two = of(&mut (0..20).filter(|x| x % 3 == 1));
        two.merge(&of(&mut (0..20).filter(|x| x % 3 != 1)));
        assert_eq!(one.total(), 60);
        assert_eq!(one.first.len(), KEPT);
        assert_eq!(one, two);
    }
}
