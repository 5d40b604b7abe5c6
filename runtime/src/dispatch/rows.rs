//! Corrects prefetches at the ends of short rows of workgroups. Compiled code predicts the next
//! workgroup's accesses at the distance of this one's from the previous ([`WaveState::last`]). From
//! the end of a row to the beginning of the next the distance differs, so two predictions are
//! wrong: at the end of a row, and after the beginning of the next. Both are corrected here. This
//! affects performance only.

use frontend::WaveState;
use frontend::state::LAST;

use super::shape::Shape;

/// Maximum number of workgroups in a short row. In longer ones the ends do not matter.
const MOST: u32 = 16;

/// Addresses of a wave's accesses.
type Places = [u64; LAST];

/// History of consecutive rows.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// The most recent row seen at its beginning or end (`true`).
    last: Option<(u64, bool)>,
    /// Number of consecutive ends and beginnings seen, starting with an end.
    known: u32,
    /// For each wave of a workgroup.
    ends: Vec<End>,
}

/// Addresses of a wave's accesses at the end of a row.
#[derive(Debug, Default)]
struct End {
    /// Those of the second to last workgroup.
    place: Places,
    /// Distance of the last workgroup's from there.
    step: Places,
    /// Distance of the same workgroup's in the next row.
    row: Places,
}

impl Rows {
    /// Earlier rows do not predict the following ones.
    pub(super) fn forget(&mut self) {
        self.last = None;
    }

    /// Number of workgroups after one that may run without the dispatcher, which corrects the
    /// predictions at the end of a short row.
    pub(super) fn following(shape: &Shape, id: [u32; 3]) -> u32 {
        let following = shape.following(id);
        following.saturating_sub(u32::from(is_short(shape)))
    }

    /// A full workgroup with these waves is about to run.
    pub(super) fn begin(&mut self, shape: &Shape, id: [u32; 3], waves: &mut [Box<WaveState>]) {
        let [width, height, _] = shape.counts();
        let is_end = id[0] == width - 1;
        if !is_short(shape) || !is_end && id[0] != 0 {
            return;
        }
        let row = u64::from(id[2]) * u64::from(height) + u64::from(id[1]);
        let before = if is_end {
            Some(row)
        } else {
            row.checked_sub(1)
        };
        if self.last.replace((row, is_end)) != before.map(|row| (row, !is_end)) {
            self.known = 0;
        }
        self.ends.resize_with(waves.len(), End::default);
        for (wave, end) in waves.iter_mut().zip(&mut self.ends) {
            let width = u64::from(width);
            match is_end {
                true => end.predict_first(&mut wave.last, self.known, width),
                false => end.predict_second(&mut wave.last, self.known, width),
            }
        }
        if is_end || self.known != 0 {
            self.known = self.known.saturating_add(1);
        }
    }
}

impl End {
    /// The last workgroup of a row is about to run; sets its prediction to the first of the next
    /// row.
    fn predict_first(&mut self, last: &mut Places, known: u32, width: u64) {
        for (n, last) in last.iter_mut().enumerate() {
            let place = *last;
            if known >= 2 {
                self.row[n] = place.wrapping_sub(self.place[n]);
                let whole = self.step[n].wrapping_mul(width);
                *last = place.wrapping_add(whole).wrapping_sub(self.row[n]);
            }
            self.place[n] = place;
        }
    }

    /// The first workgroup of the next row is about to run; sets its prediction to the second.
    fn predict_second(&mut self, last: &mut Places, known: u32, width: u64) {
        for (n, last) in last.iter_mut().enumerate() {
            if known >= 1 {
                self.step[n] = last.wrapping_sub(self.place[n]);
            }
            if known >= 3 {
                let back = self.step[n].wrapping_mul(width - 1);
                let next = self.place[n].wrapping_add(self.row[n]);
                *last = next.wrapping_sub(back);
            }
        }
    }
}

/// Do rows of full workgroups end soon, with others following?
fn is_short(shape: &Shape) -> bool {
    let [x, y, z] = shape.counts();
    let whole = shape.grid[0].is_multiple_of(shape.workgroup[0]);
    whole && (2..=MOST).contains(&x) && (y > 1 || z > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Accesses of a workgroup: some in its row, one constant.
    fn places(x: u32, y: u32, z: u32) -> [u64; 3] {
        let row = u64::from(z) * 100_000 + u64::from(y) * 3000;
        [
            0x1000 + row + u64::from(x) * 64,
            0x9000_0000 - row - u64::from(x) * 512,
            0x7000,
        ]
    }

    /// Runs all workgroups of a grid, `batch` at a time; returns the numbers of those whose
    /// addresses were mispredicted.
    fn wrong(shape: &Shape, batch: u64) -> Vec<u64> {
        let mut rows = Rows::default();
        let mut waves = vec![WaveState::new_boxed()];
        let mut expected = [0; 3];
        let mut wrong = Vec::new();
        for index in 0..shape.total() {
            if index % batch == 0 {
                // An unrelated dispatch ran between.
                rows.forget();
                waves[0].last = [0xdead; LAST];
                expected = [0; 3];
            }
            let id = shape.group(index).id;
            let [x, y, z] = id;
            let places = places(x, y, z);
            if places != expected {
                wrong.push(index);
            }
            rows.begin(shape, id, &mut waves);
            for (n, place) in places.into_iter().enumerate() {
                expected[n] = place.wrapping_mul(2).wrapping_sub(waves[0].last[n]);
                waves[0].last[n] = place;
            }
        }
        wrong
    }

    #[test]
    fn ends_of_short_rows_are_predicted() {
        // Rows of four: the first two are training. At the end of a plane the next row is at
        // another distance, and so is the one after the first row of the next plane.
        let shape = Shape::new([256, 48, 2], [64, 4, 1], 3).expect("it is valid");
        assert_eq!(wrong(&shape, u64::MAX), [0, 1, 4, 5, 48, 49, 52, 53]);
        // Two workgroups in a row.
        let shape = Shape::new([128, 8, 1], [64, 1, 1], 2).expect("it is valid");
        assert_eq!(wrong(&shape, u64::MAX), [0, 1, 2, 3]);
    }

    #[test]
    fn each_batch_learns_anew() {
        let shape = Shape::new([256, 64, 1], [64, 4, 1], 2).expect("it is valid");
        assert_eq!(wrong(&shape, 32), [0, 1, 4, 5, 32, 33, 36, 37]);
    }

    #[test]
    fn long_rows_and_partial_workgroups_are_left_alone() {
        for grid in [[64 * 17, 4, 1], [200, 4, 1], [1 << 20, 1, 1]] {
            let shape = Shape::new(grid, [64, 1, 1], 3).expect("it is valid");
            let mut rows = Rows::default();
            let mut waves = vec![WaveState::new_boxed()];
            for index in 0..shape.total().min(64) {
                rows.begin(&shape, shape.group(index).id, &mut waves);
            }
            assert_eq!(waves[0].last, [0; LAST]);
            let id = shape.group(0).id;
            assert_eq!(Rows::following(&shape, id), shape.following(id));
        }
        let shape = Shape::new([256, 4, 1], [64, 1, 1], 2).expect("it is valid");
        let following = |x| Rows::following(&shape, [x, 1, 0]);
        assert_eq!([0, 1, 2, 3].map(following), [2, 1, 0, 0]);
    }
}
