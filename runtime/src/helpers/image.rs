//! MIMG of the whole wave: loads, stores, atomics and queries through an image descriptor; samples
//! are in a file of their own. The descriptor is decoded once for the wave.

use frontend::inst::{Inst, MemMods};
use frontend::op::{Atomic, ImageOp, Op};
use frontend::{Gfx, LANES};
use lower::abi::ExitCode;
use lower::ir::functions::{image_addresses, image_slopes};

use super::atomic::Rmw;
use super::format::Format;
use super::memory::active;
use super::{Call, Words};
use crate::fault::FaultKind;
use crate::math::Denorm;
use crate::memory::Memory;

mod sample;

/// Number of the operand with EXEC; behind it are the addresses, then the data.
const EXEC: usize = 0;

/// Maximum number of address operands.
const ADDRESSES: usize = 10;

/// A refusal: the unsupported feature.
type Refusal = String;

/// A linear surface of one level, as the T# describes it.
#[derive(Clone, Copy)]
struct Surface {
    /// Address of layer 0.
    base: u64,
    format: Format,
    /// Columns, rows, slices.
    size: [u32; 3],
    /// Coordinates other than the layer: 1 to 3.
    rank: usize,
    /// Number of layers of the view and the first of them, for arrays.
    layers: Option<(u32, u32)>,
    /// Texels between rows.
    pitch: u64,
    /// DST_SEL, one field for each result.
    select: [u32; 4],
    /// Order of the texel's components in the border colour.
    border_order: [u8; 4],
    /// Number of levels before the view, and in it.
    levels: (u32, u32),
}

/// Bits of a word.
fn bits(word: u32, low: u32, count: u32) -> u32 {
    word >> low & ((1 << count) - 1)
}

impl Surface {
    /// From the eight words of the T#.
    fn of(w: [u32; 8], gfx: Gfx) -> Result<Surface, Refusal> {
        let gfx9 = gfx.is_gfx9();
        let kind = bits(w[3], 28, 4);
        let (rank, array) = match kind {
            8 => (1, false),
            9 => (2, false),
            10 => (3, false),
            12 => (1, true),
            13 => (2, true),
            11 => return Err("a cube map".into()),
            14 | 15 => return Err("a multisampled image".into()),
            _ => return Err(format!("an image of type {kind}")),
        };
        let tiling = bits(w[3], 20, 5);
        if tiling != if gfx9 { 0 } else { 8 } {
            return Err(format!("a tiled image (mode {tiling})"));
        }
        let (data, number) = (bits(w[1], 20, 6), bits(w[1], 26, 4));
        let exists = match data {
            // 32 bits are integers or floats, three in a dword floats, 16-bit colours normalised.
            4 | 11 | 13 | 14 => number >= 4,
            6 | 7 => number == 7,
            16..=19 => number == 0,
            _ => true,
        };
        let format = Format::of(data, number).filter(|_| exists);
        let Some(format) = format else {
            return Err(format!(
                "an image of data format {data}, number format {number}"
            ));
        };
        if !matches!(gfx, Gfx::Gfx600 | Gfx::Gfx700) && bits(w[6], 21, 1) == 1 {
            return Err("a compressed image".into());
        }
        let depth = bits(w[4], 0, 13);
        let first_layer = bits(w[5], 0, 13);
        let last_layer = if gfx9 { depth } else { bits(w[5], 13, 13) };
        let rows = if rank == 1 { 1 } else { bits(w[2], 14, 14) + 1 };
        let slices = if rank == 3 { depth + 1 } else { 1 };
        let (base_level, last_level) = (bits(w[3], 12, 4), bits(w[3], 16, 4));
        let order = if gfx9 { bits(w[4], 29, 3) } else { 0 };
        Ok(Surface {
            base: u64::from(w[0]) << 8 | u64::from(w[1] & 0xff) << 40,
            format,
            size: [bits(w[2], 0, 14) + 1, rows, slices],
            rank,
            layers: array.then(|| {
                let count = (last_layer + 1).saturating_sub(first_layer).max(1);
                (count, first_layer)
            }),
            pitch: u64::from(bits(w[4], 13, if gfx9 { 16 } else { 14 })) + 1,
            select: std::array::from_fn(|i| bits(w[3], 3 * i as u32, 3)),
            border_order: match order {
                1 => *b"xwyz",
                2 => *b"wzyx",
                3 => *b"wxyz",
                4 => *b"zyxw",
                5 => *b"yxwz",
                _ => *b"xyzw",
            },
            levels: (base_level, last_level.saturating_sub(base_level) + 1),
        })
    }

    /// Layers of an array, else slices.
    fn depth(&self) -> u32 {
        self.layers.map_or(self.size[2], |(count, _)| count)
    }

    /// Address of the texel at column, row, and slice or layer, if it exists.
    fn place(&self, at: [u32; 3]) -> Option<u64> {
        let [x, y, z] = at;
        if x >= self.size[0] || y >= self.size[1] || z >= self.depth() {
            return None;
        }
        let slice = u64::from(z) + self.layers.map_or(0, |(_, first)| u64::from(first));
        let row = slice * u64::from(self.size[1]) + u64::from(y);
        let texel = row * self.pitch + u64::from(x);
        Some(self.base.wrapping_add(texel * self.format.bytes() as u64))
    }

    /// The selected components of the texel at an address.
    fn read(&self, memory: &Memory, address: u64, format: Format) -> Result<[u32; 4], FaultKind> {
        let components = match format.bytes() {
            1 => format.load(&memory.load::<1>(address)?),
            2 => format.load(&memory.load::<2>(address)?),
            4 => format.load(&memory.load::<4>(address)?),
            8 => format.load(&memory.load::<8>(address)?),
            12 => format.load(&memory.load::<12>(address)?),
            _ => format.load(&memory.load::<16>(address)?),
        };
        Ok(format.select(components, self.select))
    }

    /// Components in memory order from those of a store; components that no result selects are 0.
    fn unselect(&self, given: [u32; 4]) -> [u32; 4] {
        let mut stored = [0; 4];
        // Of two results with the same component the first wins.
        for i in (0..4).rev() {
            if self.select[i] >= 4 {
                stored[self.select[i] as usize - 4] = given[i];
            }
        }
        stored
    }
}

/// State of an image instruction.
struct Image<'a> {
    inst: &'a Inst,
    op: ImageOp,
    gfx: Gfx,
    exec: u64,
    memory: &'a Memory,
    /// `None`: a descriptor of zeros.
    surface: Option<Surface>,
    /// The address operands.
    addresses: [Words<'a>; ADDRESSES],
    /// Address registers that are no operands: the two from this one on.
    slopes: Option<usize>,
    /// Number of the first operand of data.
    data: usize,
}

impl<'a> Image<'a> {
    /// The fault of an unsupported instruction.
    #[cold]
    fn refuse(call: &mut Call<'a>, what: &str) -> ExitCode {
        let gfx = call.host().group.gfx;
        let name = call.site.inst.desc.name_on(gfx);
        let what = format!("{what} in {name} on {gfx}");
        call.fault(FaultKind::Unsupported { what }, None)
    }

    /// From the arguments common to the three functions; `None` if no lane is active.
    fn of(call: &mut Call<'a>) -> Result<Option<Image<'a>>, ExitCode> {
        let inst = &call.site.inst;
        let Op::Image(op) = inst.op() else {
            unreachable!("bug: {} as an image instruction", inst.desc.name)
        };
        let exec = call.wave64(EXEC);
        if exec == 0 {
            return Ok(None);
        }
        let refusal = match op {
            _ if inst.mem.r128 => Some("a 128-bit descriptor, which has no pitch"),
            ImageOp::GetLod => Some("a level of detail, which is of four lanes,"),
            ImageOp::Gather4h(_) => Some("a gather of one row"),
            ImageOp::Sample(mods) | ImageOp::Gather4(mods) if mods.compare => {
                Some("a depth comparison")
            }
            ImageOp::Load { .. } | ImageOp::Store { .. } | ImageOp::GetResinfo => None,
            ImageOp::Atomic(_) | ImageOp::Sample(_) | ImageOp::Gather4(_) => None,
        };
        if let Some(what) = refusal {
            return Err(Image::refuse(call, what));
        }
        let gfx = call.host().group.gfx;
        let words = std::array::from_fn(|i| call.ctx.descriptors[i]);
        let surface = match words {
            [0, 0, 0, 0, 0, 0, 0, 0] => None,
            _ => Some(Surface::of(words, gfx).map_err(|what| Image::refuse(call, &what))?),
        };
        if let Some(surface) = &surface {
            if op != ImageOp::GetResinfo && surface.levels != (0, 1) {
                return Err(Image::refuse(call, "an image of several mip levels"));
            }
            // Loads and stores of AMD's own kernels address a 3D image as layers: the coordinates
            // are the same.
            let copies = matches!(
                op,
                ImageOp::Load { mip: false, .. } | ImageOp::Store { mip: false, .. }
            );
            if surface.rank == 3 && inst.mem.da && !copies {
                return Err(Image::refuse(call, "an array of 3D images"));
            }
        }
        let count = usize::from(image_addresses(op));
        let addresses = std::array::from_fn(|i| match i < count {
            true => call.words(EXEC + 1 + i),
            false => Words::Wave(0),
        });
        Ok(Some(Image {
            inst,
            op,
            gfx,
            exec,
            memory: call.host().group.memory,
            surface,
            addresses,
            slopes: image_slopes(op).map(usize::from),
            data: EXEC + 1 + count,
        }))
    }

    fn mem(&self) -> &'a MemMods {
        &self.inst.mem
    }

    /// DMASK, where 0 is the first component.
    fn mask(&self) -> u8 {
        match self.mem().dmask & 15 {
            0 => 1,
            mask => mask,
        }
    }

    /// Do registers hold two halves?
    fn halves(&self) -> bool {
        self.mem().d16 && self.gfx.packs_d16()
    }

    /// The registers of a lane's results.
    fn registers(&self, components: &[u32], format: Option<Format>) -> [u32; 4] {
        let mut out = [0; 4];
        let narrow = |component| match format {
            Some(format) if self.mem().d16 => format.narrow(component),
            _ => component,
        };
        for (i, &component) in components.iter().enumerate() {
            match self.halves() {
                true => out[i / 2] |= narrow(component) << (16 * (i % 2)),
                false => out[i] = narrow(component),
            }
        }
        out
    }

    /// The registers of the components that DMASK names.
    fn masked(&self, components: [u32; 4], format: Option<Format>) -> [u32; 4] {
        let mask = self.mask();
        let mut chosen = [0; 4];
        let mut count = 0;
        for i in (0..4).filter(|i| mask >> i & 1 == 1) {
            chosen[count] = components[i];
            count += 1;
        }
        self.registers(&chosen[..count], format)
    }

    /// Number of result registers of a load.
    fn results(&self) -> usize {
        let components = if let ImageOp::Gather4(_) = self.op {
            4
        } else {
            self.mask().count_ones() as usize
        };
        if self.halves() {
            components.div_ceil(2)
        } else {
            components
        }
    }

    /// Address register `n` of a lane.
    fn address(&self, n: usize, lane: usize) -> u32 {
        let left_out = match self.slopes {
            Some(first) if n >= first => 2,
            _ => 0,
        };
        self.addresses[n - left_out].get(lane)
    }

    /// Address value `n` of a lane.
    fn value(&self, n: usize, lane: usize) -> u32 {
        if self.mem().a16 {
            let pair = self.address(n / 2, lane);
            return pair >> (16 * (n % 2)) & 0xffff;
        }
        self.address(n, lane)
    }

    /// The texel that a lane of a load, a store or an atomic accesses.
    fn target(&self, surface: &Surface, lane: usize) -> Option<u64> {
        let mut at = [0; 3];
        for (n, coordinate) in at.iter_mut().enumerate().take(surface.rank) {
            *coordinate = self.value(n, lane);
        }
        let mut next = surface.rank;
        if self.mem().da {
            if surface.layers.is_some() {
                at[2] = self.value(next, lane);
            }
            next += 1;
        }
        let has_level = matches!(
            self.op,
            ImageOp::Load { mip: true, .. } | ImageOp::Store { mip: true, .. }
        );
        // There is one level.
        if has_level && self.value(next, lane) > 0 {
            return None;
        }
        surface.place(at)
    }

    /// The result of a query of a level: width, height, depth, number of levels.
    fn query(&self, surface: &Surface, level: u32) -> [u32; 4] {
        let (first, count) = surface.levels;
        if level >= count {
            return [0, 0, 0, count];
        }
        let shrunk = surface
            .size
            .map(|size| (size >> (first + level).min(31)).max(1));
        let [width, height, depth] = shrunk;
        match (surface.rank, surface.layers) {
            (1, Some((layers, _))) => [width, layers, 1, count],
            (_, Some((layers, _))) => [width, height, layers, count],
            (1, None) => [width, 1, 1, count],
            _ => [width, height, depth, count],
        }
    }
}

/// `EffectFn::ImageDescriptors`.
pub(super) fn descriptors(call: &mut Call<'_>) -> Result<(), ExitCode> {
    call.ctx.descriptors = std::array::from_fn(|i| (call.wave64(i / 2) >> (32 * (i % 2))) as u32);
    Ok(())
}

/// `EffectFn::ImageLoad`.
pub(super) fn load(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let Some(image) = Image::of(call)? else {
        return Ok(());
    };
    let mut results = [[0; LANES]; 4];
    if let ImageOp::Sample(mods) | ImageOp::Gather4(mods) = image.op {
        sample::run(call, &image, mods, &mut results)?;
    } else if let Some(surface) = &image.surface {
        let format = if let ImageOp::Load { pck: true, sgn, .. } = image.op {
            surface.format.as_integers(sgn)
        } else {
            surface.format
        };
        for lane in active(image.exec) {
            let words = if image.op == ImageOp::GetResinfo {
                let level = image.value(0, lane);
                image.masked(image.query(surface, level), None)
            } else {
                let components = match image.target(surface, lane) {
                    Some(address) => surface
                        .read(image.memory, address, format)
                        .map_err(|kind| call.fault(kind, Some(lane)))?,
                    None => [0; 4],
                };
                image.masked(components, Some(format))
            };
            for (result, word) in results.iter_mut().zip(words) {
                result[lane] = word;
            }
        }
    }
    for (i, result) in results.iter().enumerate().take(image.results()) {
        call.result(i, image.exec, result);
    }
    Ok(())
}

/// `EffectFn::ImageStore`.
pub(super) fn store(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let Some(image) = Image::of(call)? else {
        return Ok(());
    };
    let Some(surface) = &image.surface else {
        return Ok(());
    };
    let format = surface.format;
    let mask = image.mask();
    let count = mask.count_ones() as usize;
    let raw = matches!(image.op, ImageOp::Store { pck: true, .. });
    for lane in active(image.exec) {
        let Some(address) = image.target(surface, lane) else {
            continue;
        };
        let word = |i: usize| call.words(image.data + i).get(lane);
        let mut components = [0; 4];
        if image.mem().d16 {
            // The mask is a count, whatever its bits are.
            for (i, component) in components.iter_mut().enumerate().take(count) {
                *component = format.widen(match image.halves() {
                    true => word(i / 2) >> (16 * (i % 2)) & 0xffff,
                    false => word(i) & 0xffff,
                });
            }
        } else {
            for (n, i) in (0..4).filter(|i| mask >> i & 1 == 1).enumerate() {
                components[i] = word(n);
            }
        }
        let stored = surface.unselect(components);
        let bytes = match raw {
            true => format.store_bits(stored),
            false => format.store(stored),
        };
        image
            .memory
            .store_bytes(address, &bytes[..format.bytes()])
            .map_err(|kind| call.fault(kind.into(), Some(lane)))?;
    }
    Ok(())
}

/// `EffectFn::ImageAtomic`.
pub(super) fn atomic(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let Some(image) = Image::of(call)? else {
        return Ok(());
    };
    let ImageOp::Atomic(op) = image.op else {
        unreachable!("bug: {} as an image atomic", image.inst.desc.name)
    };
    let compares = matches!(op, Atomic::CmpSwap | Atomic::FCmpSwap);
    // One bit of the mask for each dword that is sent.
    let mask = image.mem().dmask & 15;
    let sent = match (mask, compares) {
        (1, false) | (3, _) | (15, true) => mask.count_ones() as usize,
        _ => return Err(Image::refuse(call, &format!("DMASK {mask:#x}"))),
    };
    let dwords = if compares { sent / 2 } else { sent };
    let mut old = [[0; LANES]; 2];
    if let Some(surface) = &image.surface {
        let texel = surface.format.bytes();
        if texel != 4 * dwords {
            let what = format!("an atomic of {} bytes on texels of {texel}", 4 * dwords);
            return Err(Image::refuse(call, &what));
        }
        let rmw = Rmw::new(op, dwords == 2, Denorm::KEEP);
        for lane in active(image.exec) {
            let Some(address) = image.target(surface, lane) else {
                continue;
            };
            let word = |i: usize| match call.words(image.data + i) {
                Words::Wave(word) => u64::from(word),
                Words::Lanes(lanes) => u64::from(lanes[lane]),
            };
            let value = |i: usize| match dwords {
                2 => word(2 * i) | word(2 * i + 1) << 32,
                _ => word(i),
            };
            let second = if compares { value(1) } else { 0 };
            let before = rmw
                .on_memory(image.memory, address, value(0), second)
                .map_err(|kind| call.fault(kind, Some(lane)))?;
            old[0][lane] = before as u32;
            old[1][lane] = (before >> 32) as u32;
        }
    }
    if image.inst.dst[0] != frontend::Operand::None {
        for (i, old) in old.iter().enumerate().take(dwords) {
            call.result(i, image.exec, old);
        }
    }
    Ok(())
}
