//! The geometry of a dispatch: how work-items form workgroups and waves. Numbers only.

use frontend::LANES;

use super::LaunchError;

/// Maximum number of work-items in a workgroup, on every target.
pub const MAX_WORK_ITEMS: u32 = 1024;

/// Validated grid and workgroup sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Work-items in each dimension.
    pub grid: [u32; 3],
    /// Work-items of a full workgroup in each dimension.
    pub workgroup: [u32; 3],
    /// Dimensions that the launch has, 1 to 3.
    pub dims: u16,
    /// Workgroups in each dimension, partial ones included.
    counts: [u32; 3],
    /// Workgroups.
    total: u64,
}

impl Shape {
    /// Checks the sizes of a launch.
    pub fn new(grid: [u32; 3], workgroup: [u32; 3], dims: u16) -> Result<Shape, LaunchError> {
        if !(1..=3).contains(&dims) {
            return Err(LaunchError::Dimensions(dims));
        }
        for dim in 0..3 {
            if grid[dim] == 0 {
                return Err(LaunchError::EmptyGrid { dim, grid });
            }
            if workgroup[dim] == 0 {
                return Err(LaunchError::EmptyWorkgroup { dim, workgroup });
            }
            if dim >= usize::from(dims) && (grid[dim] != 1 || workgroup[dim] != 1) {
                return Err(LaunchError::UnusedDimension {
                    dim,
                    dims,
                    grid,
                    workgroup,
                });
            }
        }
        let items = workgroup
            .iter()
            .map(|&n| u64::from(n))
            .try_fold(1u64, u64::checked_mul);
        match items {
            Some(items) if items <= u64::from(MAX_WORK_ITEMS) => {}
            _ => {
                return Err(LaunchError::WorkgroupTooLarge {
                    workgroup,
                    limit: MAX_WORK_ITEMS,
                });
            }
        }
        let counts = std::array::from_fn(|dim| grid[dim].div_ceil(workgroup[dim]));
        let total = counts
            .iter()
            .map(|&n| u64::from(n))
            .try_fold(1u64, u64::checked_mul);
        Ok(Shape {
            grid,
            workgroup,
            dims,
            counts,
            total: total.ok_or(LaunchError::TooManyWorkgroups { grid, workgroup })?,
        })
    }

    /// Workgroups in each dimension, partial ones included.
    pub fn counts(&self) -> [u32; 3] {
        self.counts
    }

    /// Number of workgroups.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Work-items of a full workgroup.
    pub fn work_items(&self) -> u32 {
        self.workgroup.iter().product()
    }

    /// Waves of a full workgroup.
    pub fn waves(&self) -> u32 {
        self.work_items().div_ceil(LANES as u32)
    }

    /// Workgroup number `index` in the order of dispatch, x fastest.
    pub fn group(&self, index: u64) -> GroupShape {
        let [x, y, _] = self.counts.map(u64::from);
        let id = [index % x, index / x % y, index / x / y].map(|n| n as u32);
        self.at(id)
    }

    /// The workgroup after `group`, as by [`Shape::group`], without its divisions.
    pub(super) fn after(&self, group: &GroupShape) -> GroupShape {
        let mut id = group.id;
        for (id, &count) in id.iter_mut().zip(&self.counts) {
            *id += 1;
            if *id < count {
                break;
            }
            *id = 0;
        }
        self.at(id)
    }

    /// Full workgroups that directly follow a full one in x.
    pub(super) fn following(&self, id: [u32; 3]) -> u32 {
        let full = self.grid[0] / self.workgroup[0];
        full.saturating_sub(id[0].saturating_add(1))
    }

    /// The workgroup with these numbers, which must be less than the counts.
    pub fn at(&self, id: [u32; 3]) -> GroupShape {
        let size = std::array::from_fn(|dim| self.size(dim, id[dim]));
        GroupShape { id, size }
    }

    /// Work-items in one dimension of a workgroup with this number there.
    fn size(&self, dim: usize, id: u32) -> u32 {
        self.workgroup[dim].min(self.grid[dim] - id * self.workgroup[dim])
    }

    /// Is the workgroup with these numbers full?
    pub(super) fn is_full(&self, id: [u32; 3]) -> bool {
        (0..3).all(|dim| self.size(dim, id[dim]) == self.workgroup[dim])
    }
}

/// One workgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupShape {
    /// Its number in each dimension.
    pub id: [u32; 3],
    /// Its work-items in each dimension; less than the full size at the far edges of the grid.
    pub size: [u32; 3],
}

impl GroupShape {
    /// Work-items.
    pub fn work_items(&self) -> u32 {
        self.size.iter().product()
    }

    /// Waves.
    pub fn waves(&self) -> u32 {
        self.work_items().div_ceil(LANES as u32)
    }
}

/// EXEC of wave `wave` of a workgroup of this number of work-items.
pub(super) fn exec(items: u32, wave: u32) -> u64 {
    match items.saturating_sub(wave * LANES as u32) {
        0 => 0,
        items @ 1..=63 => (1 << items) - 1,
        _ => u64::MAX,
    }
}

/// The work-item ids of every wave of a workgroup size: a table that full workgroups share.
#[derive(Clone, Debug, Default)]
pub(super) struct WorkItems {
    size: [u32; 3],
    /// By wave: x, y and z of each lane.
    waves: Vec<[[u32; LANES]; 3]>,
}

impl WorkItems {
    /// The ids in a workgroup of `size` work-items; lanes without a work-item get 0.
    pub(super) fn of(&mut self, size: [u32; 3]) -> &[[[u32; LANES]; 3]] {
        if self.size != size {
            let items: u32 = size.iter().product();
            self.size = size;
            self.waves.clear();
            self.waves
                .resize(items.div_ceil(LANES as u32) as usize, [[0; LANES]; 3]);
            let mut id = [0; 3];
            for item in 0..items as usize {
                let wave = &mut self.waves[item / LANES];
                for (ids, id) in wave.iter_mut().zip(id) {
                    ids[item % LANES] = id;
                }
                for (id, size) in id.iter_mut().zip(size) {
                    *id += 1;
                    if *id < size {
                        break;
                    }
                    *id = 0;
                }
            }
        }
        &self.waves
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(grid: [u32; 3], workgroup: [u32; 3]) -> Shape {
        Shape::new(grid, workgroup, 3).unwrap()
    }

    #[test]
    fn workgroups_count_x_first_and_end_partially() {
        let shape = shape([100, 5, 3], [64, 2, 1]);
        assert_eq!(shape.total(), 2 * 3 * 3);
        assert_eq!(shape.waves(), 2);
        let group = |index| {
            let group = shape.group(index);
            (group.id, group.size)
        };
        assert_eq!(group(0), ([0, 0, 0], [64, 2, 1]));
        assert_eq!(group(1), ([1, 0, 0], [36, 2, 1]));
        assert_eq!(group(2), ([0, 1, 0], [64, 2, 1]));
        assert_eq!(group(5), ([1, 2, 0], [36, 1, 1]));
        assert_eq!(group(6), ([0, 0, 1], [64, 2, 1]));
        assert_eq!(group(17), ([1, 2, 2], [36, 1, 1]));
        for index in 0..17 {
            let group = shape.group(index);
            assert_eq!(shape.after(&group), shape.group(index + 1));
            assert_eq!(shape.is_full(group.id), group.size == [64, 2, 1]);
        }
    }

    #[test]
    fn full_workgroups_follow_up_to_the_end_of_their_row() {
        let partial = shape([1000, 2, 1], [64, 1, 1]);
        assert_eq!(
            [0, 13, 14, 15].map(|x| partial.following([x, 1, 0])),
            [14, 1, 0, 0]
        );
        let full = shape([1024, 2, 1], [64, 1, 1]);
        assert_eq!([0, 14, 15].map(|x| full.following([x, 0, 0])), [15, 1, 0]);
    }

    #[test]
    fn exec_has_a_bit_for_each_work_item() {
        let group = |size| GroupShape { id: [0; 3], size };
        let exec = |size, wave| exec(group(size).work_items(), wave);
        assert_eq!(exec([64, 1, 1], 0), u64::MAX);
        assert_eq!(group([36, 2, 1]).waves(), 2);
        assert_eq!(exec([36, 2, 1], 0), u64::MAX);
        assert_eq!(exec([36, 2, 1], 1), 0xff);
        assert_eq!(exec([1, 1, 1], 0), 1);
        assert_eq!(exec([63, 1, 1], 0), u64::MAX >> 1);
    }

    #[test]
    fn work_items_run_x_fastest_through_the_waves() {
        let mut items = WorkItems::default();
        let waves = items.of([5, 7, 3]);
        assert_eq!(waves.len(), 2);
        for item in 0..105 {
            let lane = item as usize % LANES;
            let [x, y, z] = waves[item as usize / LANES].map(|ids| ids[lane]);
            assert_eq!((z * 7 + y) * 5 + x, item);
            assert!(x < 5 && y < 7 && z < 3);
        }
        assert_eq!(waves[1][0][63], 0);
        assert_eq!(
            items.of([64, 1, 1])[0][0][63],
            63,
            "another size, another table"
        );
    }

    #[test]
    fn extreme_sizes_do_not_wrap() {
        let all = u32::MAX;
        let huge = Shape::new([all, all, 1], [1, 1, 1], 2).unwrap();
        assert_eq!(huge.total(), u64::from(all) * u64::from(all));
        let last = huge.group(huge.total() - 1);
        assert_eq!(last.id, [all - 1, all - 1, 0]);
        let wide = Shape::new([all, 1, 1], [1024, 1, 1], 1).unwrap();
        assert_eq!(wide.group(wide.total() - 1).size, [1023, 1, 1]);
        assert!(matches!(
            Shape::new([all; 3], [1; 3], 3),
            Err(LaunchError::TooManyWorkgroups { .. })
        ));
    }

    #[test]
    fn bad_sizes_are_named() {
        let error =
            |grid, workgroup, dims| Shape::new(grid, workgroup, dims).unwrap_err().to_string();
        assert_eq!(
            error([64, 0, 1], [64, 1, 1], 3),
            "the grid has no work-items in dimension y: (64, 0, 1)"
        );
        assert_eq!(
            error([64, 1, 1], [0, 1, 1], 1),
            "the workgroup has no work-items in dimension x: (0, 1, 1)"
        );
        assert_eq!(
            error([2048, 1, 1], [2048, 1, 1], 1),
            "a workgroup of (2048, 1, 1) has more than 1024 work-items"
        );
        assert!(error([1; 3], [u32::MAX; 3], 3).contains("more than 1024"));
        assert_eq!(
            error([1; 3], [1; 3], 4),
            "a launch has 1 to 3 dimensions, not 4"
        );
        assert_eq!(
            error([64, 2, 1], [64, 1, 1], 1),
            "a launch of 1 dimension has grid (64, 2, 1) and workgroup (64, 1, 1): dimension y must be 1"
        );
    }
}
