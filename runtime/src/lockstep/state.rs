//! Differences between two waves' registers.

use std::fmt;

use frontend::{Gfx, LANES, WaveState};

/// A register that two waves do not agree about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterDifference {
    /// Name, such as `s7`, `vcc_lo`, `v3` or `a3`.
    pub register: String,
    /// Lane of a vector register.
    pub lane: Option<u32>,
    /// The first wave's value.
    pub reference: u64,
    /// The second wave's value.
    pub other: u64,
}

impl RegisterDifference {
    /// The register with the lane of a vector register, such as `v3[17]`.
    pub fn name(&self) -> String {
        match self.lane {
            Some(lane) => format!("{}[{lane}]", self.register),
            None => self.register.clone(),
        }
    }
}

impl fmt::Display for RegisterDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name();
        write!(f, "{name} 0x{:08x} 0x{:08x}", self.reference, self.other)
    }
}

/// Name of a register of the scalar file by its code.
pub fn sgpr_name(code: usize, gfx: Gfx) -> String {
    let pair = |name: &str| format!("{name}_{}", ["lo", "hi"][code % 2]);
    match code {
        102..=103 if gfx.is_gfx8_up() => pair("flat_scratch"),
        104..=105 if gfx == Gfx::Gfx700 => pair("flat_scratch"),
        104..=105 if gfx.is_gfx8_up() => pair("xnack_mask"),
        106..=107 => pair("vcc"),
        108..=123 if gfx.is_gfx9() => format!("ttmp{}", code - 108),
        108..=109 => pair("tba"),
        110..=111 => pair("tma"),
        112..=123 => format!("ttmp{}", code - 112),
        124 => "m0".to_owned(),
        126..=127 => pair("exec"),
        _ => format!("s{code}"),
    }
}

/// All registers that differ, in the order PC, scalar, status, vector.
pub fn differences(a: &WaveState, b: &WaveState, gfx: Gfx) -> Vec<RegisterDifference> {
    let mut out = Vec::new();
    let mut compare = |name: &dyn Fn() -> String, lane, a: u64, b: u64| {
        if a != b {
            out.push(RegisterDifference {
                register: name(),
                lane,
                reference: a,
                other: b,
            });
        }
    };
    compare(&|| "pc".to_owned(), None, a.pc, b.pc);
    for (code, (&a, &b)) in a.sgpr.iter().zip(&b.sgpr).enumerate() {
        compare(&|| sgpr_name(code, gfx), None, a.into(), b.into());
    }
    compare(&|| "scc".to_owned(), None, a.scc.into(), b.scc.into());
    compare(&|| "mode".to_owned(), None, a.mode.into(), b.mode.into());
    compare(
        &|| "trapsts".to_owned(),
        None,
        a.trapsts.into(),
        b.trapsts.into(),
    );
    for (n, (&a, &b)) in a.hwreg.iter().zip(&b.hwreg).enumerate() {
        compare(&|| format!("hwreg({n})"), None, a.into(), b.into());
    }
    for (file, a, b) in [("v", &a.vgpr, &b.vgpr), ("a", &a.agpr, &b.agpr)] {
        for (n, (a, b)) in a.iter().zip(b).enumerate() {
            if a == b {
                continue;
            }
            for lane in 0..LANES {
                let name = || format!("{file}{n}");
                compare(&name, Some(lane as u32), a[lane].into(), b[lane].into());
            }
        }
    }
    out
}
