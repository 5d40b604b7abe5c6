//! Loops in random programs that go inside the lane groups: plain arithmetic, blocks under masks, loads at addresses
//! that count by lane, ended by a counter or by EXEC.

use super::*;

impl Rows {
    /// A loop as it goes inside the lane groups: plain arithmetic, blocks under masks, loads that count by lane.
    pub(super) fn lane_loop(&self, r: &mut Random, items: &mut Vec<Item>) {
        let (low, high) = (prepared::ADDRESS_V, prepared::ADDRESS_V + 1);
        let base = prepared::GLOBAL_S;
        let mut push = |bytes: Vec<u8>| items.push(Item::Inst(bytes));
        push(self.vop2("v_lshlrev_b32", low, ZERO + 2 + r.below(3), 0));
        let pair = self.gfx != Gfx::Gfx600 && r.once_in(2);
        if pair {
            push(self.vop1("v_mov_b32", high, base + 1));
            push(self.vop2(self.add_co(), low, base, low));
            push(self.vop2(self.add_carry(), high, ZERO, high));
        }
        let mut body = Vec::new();
        for _ in 0..1 + r.below(4) {
            match r.below(5) {
                0 | 1 => body.extend(self.lane_load(r, pair).map(Item::Inst)),
                2 => body.push(Item::If {
                    compare: self.compare(r),
                    skip: !r.once_in(3),
                    then: self.plain(r),
                    other: if r.once_in(3) {
                        self.plain(r)
                    } else {
                        Vec::new()
                    },
                }),
                _ => body.extend(self.plain(r)),
            }
        }
        if r.once_in(2) {
            let step = ZERO + 4 * r.below(9);
            body.push(Item::Inst(self.vop2(self.add_co(), low, step, low)));
            if pair {
                let carry = self.vop2(self.add_carry(), high, ZERO, high);
                body.push(Item::Inst(carry));
            }
        }
        items.push(Item::Loop {
            count: 1 + r.below(3 * self.loops),
            leave: r.once_in(4).then(|| self.compare(r)),
            by_exec: r.once_in(2),
            body,
        });
    }

    /// Some arithmetic that every emitter has.
    fn plain(&self, r: &mut Random) -> Vec<Item> {
        const NAMES: [&str; 12] = [
            "v_add_f32",
            "v_sub_f32",
            "v_mul_f32",
            "v_and_b32",
            "v_or_b32",
            "v_xor_b32",
            "v_max_u32",
            "v_min_i32",
            "v_mov_b32",
            "v_cndmask_b32",
            "v_cvt_f32_u32",
            "v_lshlrev_b32",
        ];
        let rows = self.alu.iter().copied();
        let rows = rows.filter(|desc| NAMES.contains(&desc.name_on(self.gfx)));
        let rows: Vec<&InstDesc> = rows.collect();
        let mut items = Vec::new();
        for _ in 0..1 + r.below(3) {
            let desc = *r.pick(&rows);
            items.extend(self.encode(r, desc, As::Native).map(Item::Inst));
        }
        items
    }

    /// A load from the addresses that count by lane: of memory, or of LDS.
    fn lane_load(&self, r: &mut Random, pair: bool) -> Option<Vec<u8>> {
        let wanted = match (pair, self.gfx.is_gfx9()) {
            (true, true) => Encoding::Global,
            (true, false) => Encoding::Flat,
            (false, _) => Encoding::Ds,
        };
        let rows = self.memory.iter().flatten().copied();
        let rows = rows.filter(|desc| {
            desc.encoding == wanted && matches!(desc.op, Op::Load(_, Data::Dwords(_)))
        });
        let rows: Vec<&InstDesc> = rows.collect();
        if rows.is_empty() {
            return None;
        }
        let desc = *r.pick(&rows);
        let mut bytes = self.encode(r, desc, As::Native)?;
        bytes[4] = prepared::ADDRESS_V as u8;
        match wanted {
            // Without an SGPR as base.
            Encoding::Global => bytes[6] = bytes[6] & 0x80 | 127,
            // Near.
            Encoding::Ds => bytes[1] = 0,
            _ => {}
        }
        let inst = decode(self.gfx, &bytes);
        inst.is_ok_and(|inst| fits(&inst)).then_some(bytes)
    }

    /// A loop that EXEC ends.
    pub(super) fn loop_by_exec(
        &self,
        (count, leave, body): (u32, &Option<Vec<u8>>, &[Item]),
        depth: u32,
    ) -> Vec<u8> {
        let mask = prepared::CONTROL_S + 4 * depth;
        let counter = words::VGPRS + depth;
        let mut out = self.sop1("s_mov_b64", mask, EXEC);
        out.extend(self.vop2("v_and_b32", counter, ZERO + 3, 0));
        let mut round = self.block(body, depth + 1);
        let leave = leave.as_deref().unwrap_or(&[]);
        if !leave.is_empty() {
            round.extend(leave);
            round.extend(self.sop2("s_and_b64", EXEC, EXEC, VCC));
        }
        round.extend(self.vop2(self.add_co(), counter, ZERO + 1, counter));
        let bound = ZERO + count.min(60) + 3;
        round.extend(self.vopc("v_cmp_gt_u32", bound, counter));
        round.extend(self.sop2("s_and_b64", EXEC, EXEC, VCC));
        let back = -(round.len() as i32) - 4;
        round.extend(self.branch("s_cbranch_execnz", back));
        out.extend(round);
        out.extend(self.sop1("s_mov_b64", EXEC, mask));
        out
    }
}
