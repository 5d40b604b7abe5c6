//! Why a kernel is not faster: the reasons that the shapes of its code give, ranked by the time of the blocks where they
//! hold.

use std::collections::BTreeMap;

use runtime::jit::profile::{Access, END_OF_BLOCK};
use serde::Serialize;

use super::collect::{Block, Region};

/// Reasons with less of a kernel's time are not told.
const LEAST: f64 = 0.01;

/// Active lanes on average, below which lanes are said to be idle.
const FEW_LANES: f64 = 32.0;

/// A reason.
#[derive(Serialize)]
pub(super) struct Reason {
    /// What it is.
    pub(super) what: String,
    /// Share of the kernel's time that is spent in blocks where it holds. A block may have several reasons.
    pub(super) share: f64,
    /// How many blocks.
    pub(super) blocks: usize,
    /// The block of them with the most time.
    pub(super) place: String,
}

/// The reasons of a kernel, the greatest share first.
pub(super) fn rank(regions: &[Region]) -> Vec<Reason> {
    let mut reasons: BTreeMap<String, (f64, usize, f64, &str)> = BTreeMap::new();
    for (region, block) in regions
        .iter()
        .flat_map(|region| region.blocks.iter().map(move |block| (region, block)))
    {
        let mut here = of(region, block);
        here.sort();
        here.dedup();
        for what in here {
            let entry = reasons.entry(what).or_insert((0.0, 0, -1.0, ""));
            entry.0 += block.share;
            entry.1 += 1;
            if block.share > entry.2 {
                (entry.2, entry.3) = (block.share, &block.place);
            }
        }
    }
    let mut ranked: Vec<Reason> = reasons
        .into_iter()
        .map(|(what, (share, blocks, _, place))| Reason {
            what,
            share,
            blocks,
            place: place.to_owned(),
        })
        .filter(|reason| reason.share >= LEAST)
        .collect();
    ranked.sort_by(|a, b| b.share.total_cmp(&a.share));
    ranked
}

/// The reasons of a block.
fn of(region: &Region, block: &Block) -> Vec<String> {
    let mut reasons = Vec::new();
    if let Some(what) = &region.refused {
        reasons.push(format!(
            "vectors of 128 bits, since the wide back end has no {what}"
        ));
    }
    if !region.fallbacks.is_empty() {
        reasons.push(format!(
            "calls of the interpreter: {}",
            region.fallbacks.join(", ")
        ));
    }
    if block.mean_lanes.is_some_and(|lanes| lanes < FEW_LANES) {
        reasons.push(format!("fewer than {FEW_LANES} active lanes"));
    }
    for access in &block.accesses {
        let name = access.text.split_whitespace().next().unwrap_or_default();
        match access.outside {
            Some(Access::Call) => reasons.push(format!("{name} is a call of the runtime")),
            Some(Access::Runs { each: false }) => reasons.push(format!(
                "{name} is a call of the runtime where lanes are not contiguous"
            )),
            Some(Access::Runs { each: true }) => reasons.push(format!(
                "{name} is one access for each lane where lanes are not contiguous"
            )),
            Some(Access::Each) => reasons.push(format!("{name} is one access for each lane")),
            Some(Access::Affine { .. } | Access::Table | Access::Scratch) | None => {}
        }
    }
    // Inside the lane groups nothing is cut.
    if block.runs_inside() {
        return reasons;
    }
    if let Some(why) = &block.refused {
        reasons.push(format!("its loop is no parallel region: {why}"));
    }
    for segment in &block.segments {
        if segment.ends() != END_OF_BLOCK {
            reasons.push(format!(
                "values go through the wave's registers, cut by: {}",
                segment.ends()
            ));
        }
        if segment.stores() > 0 && segment.ends() == END_OF_BLOCK {
            reasons.push("values go through the wave's registers at the end of a block".to_owned());
        }
    }
    reasons
}
