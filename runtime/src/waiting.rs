//! Who waits for what, in messages about dispatches that do not end.

use std::fmt;

/// The workgroups of a dispatch that have begun and not ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// The lowest of those that stand still at the moment, [`Waiting::MOST`] at most.
    pub groups: Vec<WaitingGroup>,
    /// Their number.
    pub live: u64,
    /// Workgroups that have not begun.
    pub not_begun: u64,
    /// Workgroups of the dispatch.
    pub total: u64,
    /// Workgroups that may be stopped at the same time.
    pub capacity: u64,
}

/// A workgroup that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingGroup {
    /// The workgroup.
    pub workgroup: [u32; 3],
    /// Its waves that have not ended.
    pub waves: Vec<WaitingWave>,
}

/// A wave that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingWave {
    /// Its number in the workgroup.
    pub wave: u32,
    /// What it waits for.
    pub on: WaitsFor,
    /// Address of the instruction, in the code object's numbering.
    pub pc: u64,
    /// The instruction as LLVM prints it.
    pub instruction: String,
}

/// What a wave waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitsFor {
    /// It polls global memory, for its first active lane at this address, if it is known.
    Memory(Option<u64>),
    /// The other waves of its workgroup, at a barrier.
    Barrier,
    /// Other waves, at this resource of the global wave sync.
    GlobalWaveSync(u8),
    /// Nothing that is known: it may compute.
    Unknown,
}

impl Waiting {
    /// Maximum number of workgroups that are named.
    pub const MOST: usize = 8;
}

impl fmt::Display for WaitsFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WaitsFor::Memory(Some(address)) => write!(f, "polls 0x{address:x}"),
            WaitsFor::Memory(None) => f.write_str("polls memory"),
            WaitsFor::Barrier => f.write_str("is at a barrier"),
            WaitsFor::GlobalWaveSync(resource) => write!(f, "waits for GWS resource {resource}"),
            WaitsFor::Unknown => f.write_str("runs"),
        }
    }
}

impl fmt::Display for WaitingGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.workgroup;
        write!(f, "workgroup ({x},{y},{z}):")?;
        let alike = |a: &WaitingWave, b: &WaitingWave| (a.on, a.pc) == (b.on, b.pc);
        for (number, run) in self.waves.chunk_by(alike).enumerate() {
            let separator = if number == 0 { "" } else { ";" };
            let first = &run[0];
            match run.len() {
                1 => write!(f, "{separator} wave {}", first.wave)?,
                n => write!(f, "{separator} each of {n} waves from {} on", first.wave)?,
            }
            write!(
                f,
                " {} at 0x{:04x} {}",
                first.on, first.pc, first.instruction
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Waiting {
            live,
            not_begun,
            total,
            capacity,
            ..
        } = self;
        f.write_str("who waits:")?;
        for group in &self.groups {
            write!(f, "\n   {group}")?;
        }
        let others = live.saturating_sub(self.groups.len() as u64);
        if others != 0 {
            write!(f, "\n   and {others} more of {live} workgroups")?;
        }
        match not_begun {
            0 => Ok(()),
            _ => write!(
                f,
                "\n   {not_begun} of {total} workgroups have not begun; {capacity} may wait at a time"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waves_that_wait_alike_are_named_together() {
        let wave = |wave, on, pc| WaitingWave {
            wave,
            on,
            pc,
            instruction: "s_barrier".to_owned(),
        };
        let group = WaitingGroup {
            workgroup: [3, 0, 1],
            waves: vec![
                wave(0, WaitsFor::Memory(Some(0x1000)), 0x24),
                wave(1, WaitsFor::Barrier, 0x30),
                wave(2, WaitsFor::Barrier, 0x30),
                wave(3, WaitsFor::GlobalWaveSync(5), 0x40),
            ],
        };
        let waiting = Waiting {
            groups: vec![group],
            live: 4,
            not_begun: 2,
            total: 9,
            capacity: 4,
        };
        assert_eq!(
            waiting.to_string(),
            "who waits:\n   workgroup (3,0,1): wave 0 polls 0x1000 at 0x0024 s_barrier; \
             each of 2 waves from 1 on is at a barrier at 0x0030 s_barrier; \
             wave 3 waits for GWS resource 5 at 0x0040 s_barrier\n   \
             and 3 more of 4 workgroups\n   \
             2 of 9 workgroups have not begun; 4 may wait at a time"
        );
    }
}
