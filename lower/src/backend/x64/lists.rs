//! Many short lists in one allocation.

const NONE: u32 = u32::MAX;

/// A list of values for each key.
pub(in crate::backend::x64) struct Lists<T> {
    /// First and last cell of each.
    ends: Vec<(u32, u32)>,
    /// Values, each with the index of the next cell.
    cells: Vec<(T, u32)>,
}

impl<T> Default for Lists<T> {
    fn default() -> Lists<T> {
        Lists {
            ends: Vec::new(),
            cells: Vec::new(),
        }
    }
}

impl<T: Copy> Lists<T> {
    /// Empty lists.
    pub(in crate::backend::x64) fn new(count: usize) -> Lists<T> {
        Lists {
            ends: vec![(NONE, NONE); count],
            cells: Vec::with_capacity(count),
        }
    }

    /// Appends a value.
    #[inline]
    pub(in crate::backend::x64) fn push(&mut self, list: usize, value: T) {
        let cell = self.cells.len() as u32;
        let (first, last) = &mut self.ends[list];
        match *last {
            NONE => *first = cell,
            last => self.cells[last as usize].1 = cell,
        }
        *last = cell;
        self.cells.push((value, NONE));
    }

    /// The last value.
    #[inline]
    pub(in crate::backend::x64) fn last_mut(&mut self, list: usize) -> Option<&mut T> {
        let (_, last) = self.ends[list];
        self.cells.get_mut(last as usize).map(|cell| &mut cell.0)
    }

    /// The values in order; none for a key without a list.
    #[inline]
    pub(in crate::backend::x64) fn iter(&self, list: usize) -> impl Iterator<Item = T> + '_ {
        let mut at = self.ends.get(list).map_or(NONE, |ends| ends.0);
        std::iter::from_fn(move || {
            let &(value, next) = self.cells.get(at as usize)?;
            at = next;
            Some(value)
        })
    }
}
