//! Control flow graph of a region: reverse postorder, postdominators.

use crate::ir::Func;

/// The edges between a region's blocks, and what is derived from them.
pub(super) struct Graph {
    succs: Vec<Vec<usize>>,
    preds: Vec<Vec<usize>>,
    /// Reachable blocks in reverse postorder.
    pub(super) order: Vec<usize>,
    /// By block: its index in that order; of unreachable blocks 0.
    position: Vec<usize>,
    /// By block: its immediate postdominator; `None` if there is none in the region.
    postdominator: Vec<Option<usize>>,
}

impl Graph {
    pub(super) fn new(f: &Func) -> Graph {
        let count = f.blocks.len();
        let mut succs = vec![Vec::new(); count];
        let mut preds = vec![Vec::new(); count];
        let mut leaves = vec![false; count];
        for (b, block) in f.blocks.iter().enumerate() {
            for target in block.term.targets() {
                match target.block() {
                    Some(to) => {
                        succs[b].push(to);
                        preds[to].push(b);
                    }
                    None => leaves[b] = true,
                }
            }
            leaves[b] |= block.term.targets().next().is_none();
        }
        let order = reverse_postorder(&succs);
        let mut position = vec![0; count];
        for (n, &b) in order.iter().enumerate() {
            position[b] = n;
        }
        let postdominator = postdominators(&succs, &preds, &leaves);
        Graph {
            succs,
            preds,
            order,
            position,
            postdominator,
        }
    }

    /// The strict postdominators of a block, nearest first.
    pub(super) fn postdominators(&self, block: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.postdominator[block], |&b| self.postdominator[b])
    }

    /// Is a block the header of a loop, the target of a back edge?
    pub(super) fn is_header(&self, block: usize) -> bool {
        let mut preds = self.preds[block].iter();
        preds.any(|&p| self.position[p] >= self.position[block])
    }

    /// Does an edge lead from one of these blocks back to `head`?
    pub(super) fn is_loop(&self, head: usize, blocks: &[usize]) -> bool {
        self.preds[head].iter().any(|p| blocks.contains(p))
    }

    /// The blocks on paths from `head` to `exit`, without `exit`, in reverse postorder. `None` if there are more than
    /// `most`, or if one other than `head` has an entry from outside.
    pub(super) fn between(&self, head: usize, exit: usize, most: usize) -> Option<Vec<usize>> {
        let mut inside = vec![false; self.succs.len()];
        inside[head] = true;
        let mut work = vec![head];
        let mut count = 1;
        while let Some(b) = work.pop() {
            for &to in &self.succs[b] {
                if to != exit && !std::mem::replace(&mut inside[to], true) {
                    count += 1;
                    work.push(to);
                }
            }
            if count > most {
                return None;
            }
        }
        let own = |&b: &usize| inside[b];
        let blocks: Vec<usize> = self.order.iter().copied().filter(own).collect();
        let entered = |&b: &usize| b == head || self.preds[b].iter().all(|&p| inside[p]);
        blocks.iter().all(entered).then_some(blocks)
    }
}

/// The blocks that can be reached from block 0 in reverse postorder.
fn reverse_postorder(succs: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; succs.len()];
    let mut order = Vec::new();
    let mut path = vec![(0, 0)];
    seen[0] = true;
    while let Some((b, next)) = path.last_mut() {
        match succs[*b].get(*next) {
            Some(&to) => {
                *next += 1;
                if !std::mem::replace(&mut seen[to], true) {
                    path.push((to, 0));
                }
            }
            None => {
                order.push(*b);
                path.pop();
            }
        }
    }
    order.reverse();
    order
}

/// The immediate postdominator of each block, by iteration (Cooper, Harvey and Kennedy) over the reverse graph, whose
/// root stands for all exits.
fn postdominators(
    succs: &[Vec<usize>],
    preds: &[Vec<usize>],
    leaves: &[bool],
) -> Vec<Option<usize>> {
    let (count, root) = (succs.len(), succs.len());
    // Postorder of the reverse graph, from the blocks that leave the region.
    let mut seen = vec![false; count];
    let mut order = Vec::new();
    for start in (0..count).filter(|&b| leaves[b]) {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        let mut path = vec![(start, 0)];
        while let Some((b, next)) = path.last_mut() {
            match preds[*b].get(*next) {
                Some(&to) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[to], true) {
                        path.push((to, 0));
                    }
                }
                None => {
                    order.push(*b);
                    path.pop();
                }
            }
        }
    }
    let mut number = vec![usize::MAX; count + 1];
    for (n, &b) in order.iter().enumerate() {
        number[b] = n;
    }
    number[root] = order.len();
    let mut above: Vec<Option<usize>> = vec![None; count + 1];
    above[root] = Some(root);
    let mut changed = true;
    while changed {
        changed = false;
        for &b in order.iter().rev() {
            let mut new = leaves[b].then_some(root);
            for &to in &succs[b] {
                if above[to].is_none() {
                    continue;
                }
                new = Some(match new {
                    None => to,
                    Some(other) => common(&above, &number, other, to),
                });
            }
            if new.is_some() && above[b] != new {
                above[b] = new;
                changed = true;
            }
        }
    }
    (0..count)
        .map(|b| above[b].filter(|&p| p != root))
        .collect()
}

/// The nearest common ancestor in the tree of postdominators.
fn common(above: &[Option<usize>], number: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        let lower = if number[a] < number[b] {
            &mut a
        } else {
            &mut b
        };
        *lower = above[*lower].expect("bug: a block outside of the tree");
    }
    a
}
