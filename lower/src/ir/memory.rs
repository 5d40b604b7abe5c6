//! The arguments and results of memory nodes.

use frontend::op::{Data, Space};

use super::{Node, Op, SiteId, Val};

/// Index of the first argument after the data words of a memory node.
fn bounds_at(node: &Node) -> usize {
    let (Op::Load(space, ..) | Op::Store(space, ..) | Op::Atomic(space, ..)) = node.op else {
        return node.args.len();
    };
    let count = match space {
        Space::Flat => 2,
        Space::Scratch => 1,
        Space::Buffer => 4,
        Space::Scalar | Space::ScalarBuffer | Space::ScalarScratch => 0,
        Space::Lds | Space::Global | Space::Image => 0,
    };
    node.args.len() - count
}

/// The trailing arguments of a memory node: for FLAT the bounds of the apertures, FLAT_SCRATCH and
/// the LDS limit; for scratch its address.
pub(crate) fn bounds(node: &Node) -> &[Val] {
    &node.args[bounds_at(node)..]
}

/// For a load or store: whether it is a load, its space, data and site.
pub(crate) fn load_or_store(op: Op) -> Option<(bool, Space, Data, SiteId)> {
    match op {
        Op::Load(space, data, site) => Some((true, space, data, site)),
        Op::Store(space, data, site) => Some((false, space, data, site)),
        _ => None,
    }
}

/// The data words of a memory node.
pub(crate) fn data_words(node: &Node) -> &[Val] {
    &node.args[2..bounds_at(node)]
}

/// Bytes of an element that has no format.
pub(crate) fn bytes(data: Data) -> u32 {
    match data {
        Data::Dwords(n) => 4 * u32::from(n),
        Data::U8 | Data::I8 | Data::D16U8 | Data::D16I8 => 1,
        Data::D16HiU8 | Data::D16HiI8 | Data::D16HiB8 => 1,
        Data::U16 | Data::I16 | Data::D16 | Data::D16Hi => 2,
        Data::Format(_) | Data::FormatD16(_) | Data::FormatD16Hi => 4,
    }
}

/// Lane results of a load.
pub(crate) fn load_results(data: Data) -> usize {
    match data {
        Data::Dwords(n) | Data::Format(n) => usize::from(n),
        Data::FormatD16(n) => usize::from(n).div_ceil(2),
        _ => 1,
    }
}
