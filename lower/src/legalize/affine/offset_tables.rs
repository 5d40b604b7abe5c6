//! Accesses at addresses that are not affine, but constant offsets from one base: one scalar address, one range check,
//! then vectors at offsets in the code.
//!
//! In LDS lanes may be inactive. Loading their elements has no effect, and no other wave accesses the workgroup's LDS
//! while its wave executes, so the elements of inactive lanes are stored back unchanged. In other memory all lanes must
//! be active.

use frontend::op::{Data, Space};
use frontend::state::LANES;

use super::super::access::{On, Window};
use super::super::lanes::dwords_type;
use super::super::{Code, Emitter, access};
use super::{Ends, Lane};
use crate::analysis::schedule::Schedule;
use crate::analysis::uniformity::Table;
use crate::host;
use crate::ir::{Block, Val, Width};
use crate::vir::{Block as HostBlock, IntCC, Value, types};

/// Lanes of an AVX-512 vector.
const SIXTEEN: usize = 2 * host::LANES;

/// A checked access.
pub(super) struct Spread<'a> {
    /// Address of the lane with the lowest offset.
    start: Value,
    table: &'a Table,
    data: Data,
    /// It is in LDS.
    lds: bool,
    /// Mask of the active lanes, if not all lanes need be active.
    exec: Option<Value>,
}

/// Lanes that are moved at once.
enum Piece {
    /// This number of lanes with this stride.
    Line(usize, i64),
    /// 16 lanes with elements in one window.
    Window(Window),
    /// This number of lanes at arbitrary offsets.
    Anywhere(usize),
}

impl Piece {
    fn lanes(&self) -> usize {
        match *self {
            Piece::Line(lanes, _) | Piece::Anywhere(lanes) => lanes,
            Piece::Window(_) => SIXTEEN,
        }
    }
}

impl Spread<'_> {
    /// The offset of a lane's element from the lowest one.
    fn away(&self, lane: usize) -> i64 {
        self.table.away(lane)
    }

    /// Do `lanes` lanes from `first` on have the same elements as those from `before` on?
    fn are_same(&self, before: usize, first: usize, lanes: usize) -> bool {
        (0..lanes).all(|n| self.away(before + n) == self.away(first + n))
    }

    /// The stride of `lanes` lanes from `first` on, if they have one.
    fn stride(&self, first: usize, lanes: usize) -> Option<i64> {
        let step = |lane: usize| self.away(lane + 1) - self.away(lane);
        let stride = step(first);
        (first..first + lanes - 1)
            .all(|lane| step(lane) == stride)
            .then_some(stride)
    }
}

/// What each bit of a lane's number adds to its address, if the access is possible with inactive lanes.
pub(super) fn bits_in_part(
    table: &Table,
    (load, space, data): (bool, Space, Data),
) -> Option<[i64; 6]> {
    let apart = i64::from(access::bytes(data));
    let possible = space == Space::Lds && (load || table.least_distance() >= apart);
    table.bits().filter(|_| possible)
}

impl Code<'_> {
    /// Checks the access; leaves for `slow` if a check fails.
    pub(super) fn checked_table<'t>(
        &mut self,
        ends: &Ends,
        (table, bits): (&'t Table, Option<&[i64; 6]>),
        (load, space, data): (bool, Space, Data),
        exec: Value,
        slow: HostBlock,
    ) -> Spread<'t> {
        if bits.is_none() {
            let full = self.b.icmp_imm(IntCC::Equal, exec, -1);
            self.require(slow, full);
        }
        let bounds = self.bounds_of(space, load);
        let [_, highest] = table.ends();
        let span = table.away(highest);
        let (start, first) = if space == Space::Lds {
            let mut start = ends.addresses[0];
            if let Some(bits) = bits {
                let lane = self.number(ends.lanes[0]);
                let lane = self.b.ireduce(types::I32, lane);
                let away = self.away_of(lane, bits, table.away(0));
                start = self.b.isub(start, away);
            }
            // If 32 bits wrap between the lanes, the last byte is out of bounds.
            let start = self.b.uextend(types::I64, start);
            (start, start)
        } else {
            let [start, end] = ends.addresses;
            let length = self.b.isub(end, start);
            let known = self.b.icmp_imm(IntCC::Equal, length, span);
            self.require(slow, known);
            (start, self.b.isub(start, bounds.base))
        };
        let last = self.plus(first, span + i64::from(access::bytes(data)));
        for inside in bounds.within(&mut self.b, first, last) {
            self.require(slow, inside);
        }
        let start = match space {
            Space::Lds => {
                let lds = self.lds_start();
                self.b.iadd(lds, start)
            }
            _ => start,
        };
        Spread {
            start,
            table,
            data,
            lds: space == Space::Lds,
            exec: bits.map(|_| exec),
        }
    }

    /// The offset of a lane (I32) from the lowest one: `zero` for lane 0, plus `bits[n]` for each set bit n of the
    /// lane's number. Consecutive bits whose values double are computed together.
    fn away_of(&mut self, lane: Value, bits: &[i64; 6], zero: i64) -> Value {
        let mut parts = Vec::new();
        let mut first = 0;
        while first < bits.len() {
            let mut end = first + 1;
            while end < bits.len() && bits[end] == 2 * bits[end - 1] {
                end += 1;
            }
            if bits[first] != 0 {
                let mut part = lane;
                if first > 0 {
                    part = self.b.ushr_imm(part, first as i64);
                }
                if end < bits.len() {
                    part = self.b.band_imm(part, (1 << (end - first)) - 1);
                }
                parts.push(match u64::try_from(bits[first]) {
                    Ok(bit) if bit.is_power_of_two() => {
                        self.b.ishl_imm(part, i64::from(bit.ilog2()))
                    }
                    _ => self.b.imul_imm(part, bits[first]),
                });
            }
            first = end;
        }
        let sum = parts.into_iter().reduce(|a, b| self.b.iadd(a, b));
        match sum {
            Some(sum) if zero == 0 => sum,
            Some(sum) => self.b.iadd_imm(sum, zero),
            None => self.b.iconst(types::I32, zero),
        }
    }

    /// Moves the elements between memory and slots, lowest lane first.
    pub(super) fn spread_access(
        &mut self,
        load: bool,
        a: &Spread<'_>,
        storage: &[Value],
        done: HostBlock,
    ) {
        match a.exec {
            None => self.pieces(load, a, storage, None),
            Some(exec) => {
                self.if_full(exec, |e| {
                    e.pieces(load, a, storage, None);
                    e.b.jump(done, &[]);
                });
                self.pieces(load, a, storage, Some(exec));
            }
        }
        self.b.jump(done, &[]);
    }

    /// Moves all pieces; only the lanes in `exec`, if that is given.
    fn pieces(&mut self, load: bool, a: &Spread<'_>, storage: &[Value], exec: Option<Value>) {
        let mut first = 0;
        // For windows: the active lanes of the lower and of the higher 32.
        let mut halves = [None; 2];
        // Lanes may load the same elements as lanes before them, for example in each period of a remainder.
        let mut loaded: Vec<(usize, usize, Vec<Value>)> = Vec::new();
        while first < LANES {
            let piece = &self.piece_at(load, a, first);
            let lanes = piece.lanes();
            let ty = dwords_type(lanes);
            let bytes = self.b.iconst(types::I64, 4 * first as i64);
            let slots = self.storage_at(storage, bytes);
            let same = loaded
                .iter()
                .find(|&&(before, count, _)| count == lanes && a.are_same(before, first, lanes));
            let mut new = match (load, same) {
                (true, Some((_, _, words))) => words.clone(),
                (true, None) => self.load_piece(a, first, piece),
                (false, _) => self.load_storage(ty, &slots),
            };
            if load {
                loaded.push((first, lanes, new.clone()));
            }
            let mut on = None;
            match (exec, piece) {
                (Some(exec), Piece::Window(_)) if !load => {
                    let half = first / 32;
                    let word = *halves[half].get_or_insert_with(|| self.word_of(exec, half));
                    on = Some(On {
                        word,
                        first: first as u32 % 32,
                    });
                }
                (Some(exec), _) => {
                    let old = match load {
                        true => self.load_storage(ty, &slots),
                        false => self.load_piece(a, first, piece),
                    };
                    new = self.where_on(exec, first, lanes, (&new, &old));
                }
                _ => {}
            }
            match load {
                true => self.store_storage(&slots, &new),
                false => self.store_piece(a, (first, on), piece, &new),
            }
            first += lanes;
        }
    }

    /// The active lanes of the lower or the higher 32, as a word in all lanes of a vector.
    pub(super) fn word_of(&mut self, exec: Value, half: usize) -> Value {
        let bits = self.b.ushr_imm(exec, 32 * half as i64);
        let word = self.b.ireduce(types::I32, bits);
        self.b.splat(types::I32X16, word)
    }

    /// For `lanes` lanes from `first` on: the new words of active lanes and the old words of the others.
    fn where_on(
        &mut self,
        exec: Value,
        first: usize,
        lanes: usize,
        (new, old): (&[Value], &[Value]),
    ) -> Vec<Value> {
        let on = [self.on_from(exec, first, lanes)];
        let mut group = self.of_lanes(1, lanes);
        let both = new.iter().zip(old);
        both.map(|(&new, &old)| group.select(Width::W32, &on, &[new], &[old])[0])
            .collect()
    }

    /// Chooses how the lanes from `first` on are moved: as many as have one stride and move at once, otherwise a host
    /// vector of them. An element stored in halves is not loaded whole for some time (no store forwarding).
    fn piece_at(&self, load: bool, a: &Spread<'_>, first: usize) -> Piece {
        let between = load || a.lds;
        let group = self.per().min(host::LANES);
        let stride = a.stride(first, group).filter(|&stride| stride != 0);
        if let Some(stride) = stride {
            let lanes = self.lanes_at_once(load, a.data, stride, between);
            let on_line = first.is_multiple_of(lanes) && a.stride(first, lanes) == Some(stride);
            if lanes >= group && on_line && (lanes > 4 || access::is_contiguous(a.data, stride)) {
                return Piece::Line(lanes, stride);
            }
        }
        if between
            && a.data == Data::Dwords(1)
            && self.per() > host::LANES
            && first.is_multiple_of(self.per())
        {
            let [_, highest] = a.table.ends();
            let lanes = std::array::from_fn(|lane| a.away(first + lane));
            if let Some(window) = Window::of(lanes, (0, a.away(highest))) {
                return Piece::Window(window);
            }
        }
        if a.data == Data::Dwords(2) && self.per() > host::LANES && first.is_multiple_of(self.per())
        {
            return Piece::Anywhere(self.per());
        }
        Piece::Anywhere(group)
    }

    fn load_piece(&mut self, a: &Spread<'_>, first: usize, piece: &Piece) -> Vec<Value> {
        match (piece, a.data) {
            (Piece::Window(window), _) => vec![self.load_window(a.start, window)],
            (&Piece::Line(lanes, stride), _) => {
                self.load_lanes(lanes, (a.start, a.away(first)), stride, a.data)
            }
            (Piece::Anywhere(SIXTEEN), _) => self.load_sixteen_of(a, first),
            (Piece::Anywhere(host::LANES), Data::Dwords(2 | 4)) => {
                let each = self.each_address(a, first);
                self.load_each_of_eight(each, a.data)
            }
            (&Piece::Anywhere(lanes), _) => {
                let fours = (first..first + lanes).step_by(4);
                let fours: Vec<Vec<Value>> =
                    fours.map(|first| self.load_four_of(a, first)).collect();
                match &fours[..] {
                    [low, high] => low
                        .iter()
                        .zip(high)
                        .map(|(&low, &high)| self.join_halves(low, high))
                        .collect(),
                    _ => fours.concat(),
                }
            }
        }
    }

    /// Loads pairs of dwords of 16 lanes. Elements that lanes share with earlier lanes are loaded once.
    fn load_sixteen_of(&mut self, a: &Spread<'_>, first: usize) -> Vec<Value> {
        let same = |lanes: usize| {
            let mut others = (first..first + SIXTEEN).step_by(lanes);
            others.all(|other| a.are_same(first, other, lanes))
        };
        let (lanes, parts) = if same(4) {
            (4, vec![self.load_four_of(a, first); 4])
        } else if same(host::LANES) {
            let each = self.each_address(a, first);
            let part = self.load_each_of_eight(each, a.data);
            (host::LANES, vec![part; 2])
        } else {
            let parts = [first, first + host::LANES].map(|first| {
                let each = self.each_address(a, first);
                self.load_each_of_eight(each, a.data)
            });
            (host::LANES, parts.to_vec())
        };
        let mut all = Vec::new();
        for word in 0..access::words(a.data) {
            let parts = parts.iter().map(|part| part[word]).collect();
            all.extend(self.of_lanes(1, SIXTEEN).join_parts(lanes, parts));
        }
        all
    }

    /// Stores pairs of dwords of 16 lanes, contiguous lanes in one piece.
    fn store_sixteen_of(&mut self, a: &Spread<'_>, first: usize, words: &[Value]) {
        let runs = |lanes: usize| {
            let mut firsts = (first..first + SIXTEEN).step_by(lanes);
            let apart = Some(i64::from(access::bytes(a.data)));
            firsts.all(|first| a.stride(first, lanes) == apart)
        };
        let run = [host::LANES, 4, 2].into_iter().find(|&lanes| runs(lanes));
        let lanes = run.unwrap_or(2);
        let mut parts = self.interleaved(words);
        let mut dwords = SIXTEEN;
        while dwords > 2 * lanes {
            dwords /= 2;
            let halves = parts.iter().map(|&part| self.halves(dwords, part));
            parts = halves.flatten().collect();
        }
        for (part, first) in parts.into_iter().zip((first..).step_by(lanes)) {
            let to = self.each_address(a, first);
            match run {
                Some(_) => self.store_vector(part, to[0], 0),
                None => self.store_two(to, part),
            }
        }
    }

    fn load_four_of(&mut self, a: &Spread<'_>, first: usize) -> Vec<Value> {
        let each = self.each_address(a, first);
        if a.stride(first, 4) != Some(0) {
            return self.load_four(each, a.data);
        }
        let one = self.load_one(each[0], a.data);
        one.into_iter()
            .map(|word| self.b.splat(types::I32X4, word))
            .collect()
    }

    /// Stores a piece whose first lane is `first`; of a window only the lanes that are `on`, if that is given.
    fn store_piece(
        &mut self,
        a: &Spread<'_>,
        (first, on): (usize, Option<On>),
        piece: &Piece,
        words: &[Value],
    ) {
        match (piece, a.data) {
            (Piece::Window(window), _) => self.store_window(a.start, window, words[0], on),
            (&Piece::Line(lanes, stride), _) => {
                self.store_lanes(lanes, (a.start, a.away(first)), stride, a.data, words);
            }
            (Piece::Anywhere(SIXTEEN), _) => self.store_sixteen_of(a, first, words),
            (Piece::Anywhere(host::LANES), Data::Dwords(2 | 4)) => {
                let each = self.each_address(a, first);
                self.store_each_of_eight(each, a.data, words);
            }
            (Piece::Anywhere(host::LANES), _) => {
                let halves: Vec<[Value; 2]> = words.iter().map(|&v| self.halves(4, v)).collect();
                for (n, first) in [first, first + 4].into_iter().enumerate() {
                    let words: Vec<Value> = halves.iter().map(|half| half[n]).collect();
                    let each = self.each_address(a, first);
                    self.store_four(each, a.data, &words);
                }
            }
            (Piece::Anywhere(_), _) => {
                let each = self.each_address(a, first);
                self.store_four(each, a.data, words);
            }
        }
    }

    /// The addresses of lanes from `first` on.
    fn each_address<const N: usize>(&mut self, a: &Spread<'_>, first: usize) -> [Value; N] {
        std::array::from_fn(|k| self.plus(a.start, a.away(first + k)))
    }
}

impl Emitter<'_> {
    /// The addresses from which the others are derived; `bits` are those of [`bits_in_part`]. LDS requires only one.
    pub(super) fn table_ends(
        &mut self,
        block: &Block,
        plan: &Schedule,
        address: Val,
        (table, bits): (&Table, Option<&[i64; 6]>),
        (space, exec): (Space, Value),
    ) -> Ends {
        let [lowest, highest] = table.ends().map(|lane| Lane::Number(lane as u8));
        let run = match (space, bits) {
            (Space::Lds, Some(_)) => [Lane::First(exec); 2],
            (Space::Lds, None) => [lowest; 2],
            _ => [lowest, highest],
        };
        self.both_ends(block, plan, address, run)
    }
}
