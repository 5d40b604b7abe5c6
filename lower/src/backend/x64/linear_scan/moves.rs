//! Sequentializes parallel moves.

use regalloc2::Allocation;

/// Orders moves that all read before any of them writes. `spare` is a location that breaks a cycle.
pub(super) fn in_order(
    mut moves: Vec<(Allocation, Allocation)>,
    mut spare: impl FnMut(Allocation) -> Allocation,
) -> Vec<(Allocation, Allocation)> {
    moves.retain(|(from, to)| from != to);
    let mut ordered = Vec::with_capacity(moves.len());
    while !moves.is_empty() {
        let free = |&(_, to): &(Allocation, Allocation)| moves.iter().all(|&(from, _)| from != to);
        match moves.iter().position(free) {
            Some(at) => ordered.push(moves.swap_remove(at)),
            None => {
                // Only cycles are left: one value goes through the spare location.
                let (from, _) = moves[0];
                let aside = spare(from);
                ordered.push((from, aside));
                for each in moves.iter_mut().filter(|each| each.0 == from) {
                    each.0 = aside;
                }
            }
        }
    }
    ordered
}

#[cfg(test)]
mod tests {
    use regalloc2::{PReg, RegClass, SpillSlot};

    use super::*;

    fn place(n: usize) -> Allocation {
        Allocation::reg(PReg::new(n, RegClass::Int))
    }

    fn run(moves: &[(usize, usize)]) -> Vec<usize> {
        let given = moves.iter().map(|&(a, b)| (place(a), place(b))).collect();
        let slot = Allocation::stack(SpillSlot::new(0));
        let mut aside = usize::MAX;
        let mut values: Vec<usize> = (0..8).collect();
        for (from, to) in in_order(given, |_| slot) {
            let index = |a: Allocation| a.as_reg().map(|r| r.hw_enc());
            let value = index(from).map_or(aside, |n| values[n]);
            match index(to) {
                Some(n) => values[n] = value,
                None => aside = value,
            }
        }
        values
    }

    #[test]
    fn chains_circles_and_copies() {
        assert_eq!(run(&[(0, 1), (1, 2), (2, 3)]), [0, 0, 1, 2, 4, 5, 6, 7]);
        assert_eq!(run(&[(0, 1), (1, 0)]), [1, 0, 2, 3, 4, 5, 6, 7]);
        assert_eq!(
            run(&[(0, 1), (1, 2), (2, 0), (3, 4), (4, 3), (0, 5)]),
            [2, 0, 1, 4, 3, 0, 6, 7]
        );
        assert_eq!(run(&[(6, 6)]), [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}
