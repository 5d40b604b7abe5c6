//! `s_cbranch_g_fork`, `s_cbranch_i_fork` and `s_cbranch_join`: a stack of pending paths in the
//! first scalar registers. Entry n is s[4n..4n+3], EXEC below the address; MODE's bits 31:29 count
//! the entries.

use frontend::inst::Operand;
use frontend::state::mode;

use crate::ir::functions::EffectFn;
use crate::ir::{SiteId, Val};
use crate::lift::arms::memory::effect;
use crate::lift::guest::Guest;
use crate::lift::value::{Q, U};

/// Maximum of the entry count.
const ENTRIES: u8 = 8;

/// The stack's count.
fn count<'b>(g: &mut Guest<'b>) -> U<'b> {
    U::new(g.b, g.mode_reg()).lshr_k(mode::CSP.trailing_zeros())
}

fn set_count<'b>(g: &mut Guest<'b>, n: U<'b>) {
    let old = U::new(g.b, g.mode_reg());
    let new = (old & old.k(u64::from(!mode::CSP))) | n.shl_k(mode::CSP.trailing_zeros());
    g.set_mode_reg(new.v, g.mode);
}

/// Faults on stack overflow or underflow; `wrong` is the operand of [`EffectFn::ForkStack`].
fn check(g: &mut Guest<'_>, site: SiteId, wrong: U<'_>) {
    effect(g, EffectFn::ForkStack, site, &[wrong.v], 0, 0);
}

/// Forks on the lanes of the pair in `mask`; gives the address that runs first.
pub(crate) fn fork(
    g: &mut Guest<'_>,
    mask: Operand,
    to: Val,
    next: u64,
    site: SiteId,
) -> Option<Val> {
    let b = g.b;
    let Operand::Sgpr(s) = mask else { return None };
    let mask = Q::new(b, g.read_s64(s));
    let exec = Q::new(b, g.exec());
    let (pass, fail) = (mask & exec, exec & !mask);
    let (to, next) = (Q::new(b, to), Q::new(b, b.code_address(next)));
    let together = pass.eq(exec) | fail.eq(exec);
    // The smaller side runs first.
    let fail_first = fail.popcnt().lt_u(pass.popcnt());
    let (first, later) = (fail_first.pick(fail, pass), fail_first.pick(pass, fail));
    let later_at = fail_first.pick(to, next);
    let n = count(g);
    // Six levels suffice, since the larger side is deferred.
    let full = n.k(6).lt_u(n) & !together;
    check(g, site, full.pick(n.k(2), n.k(0)));
    for entry in 0..ENTRIES {
        let here = n.eq(n.k(u64::from(entry))) & !together;
        for (i, value) in [(0, later), (2, later_at)] {
            let register = 4 * entry + i;
            let old = Q::new(b, g.read_s64(register));
            g.write_s64(register, here.pick(value, old).v);
        }
    }
    set_count(g, together.pick(n, n + n.k(1)));
    g.set_exec(together.pick(exec, first).v);
    let apart = fail_first.pick(next, to);
    Some(together.pick(pass.eq(exec).pick(to, next), apart).v)
}

/// Joins: continues with the pending path, unless the stack depth equals the register.
pub(crate) fn join(g: &mut Guest<'_>, depth: Operand, next: u64, site: SiteId) -> Option<Val> {
    let b = g.b;
    let Operand::Sgpr(s) = depth else { return None };
    let depth = U::new(b, g.read_s32(s));
    let n = count(g);
    let done = n.eq(depth);
    let empty = n.eq(n.k(0)) & !done;
    check(g, site, empty.pick(n.k(1), n.k(0)));
    let below = (n - n.k(1)) & n.k(u64::from(ENTRIES - 1));
    let exec = Q::new(b, g.exec());
    let (mut lanes, mut to) = (exec, exec);
    for entry in 0..ENTRIES {
        let here = below.eq(n.k(u64::from(entry)));
        lanes = here.pick(Q::new(b, g.read_s64(4 * entry)), lanes);
        to = here.pick(Q::new(b, g.read_s64(4 * entry + 2)), to);
    }
    set_count(g, done.pick(n, below));
    g.set_exec(done.pick(exec, lanes).v);
    Some(done.pick(Q::new(b, b.code_address(next)), to & to.k(!3)).v)
}
