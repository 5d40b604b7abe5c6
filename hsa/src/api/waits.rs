//! Waits for several signals.

use crate::abi::{Handle, Outcome, Status};
use crate::guard::{list, put, value};
use crate::signal::Condition;
use crate::state;

/// Signals with a condition each.
struct Waits<'a> {
    signals: &'a [Handle],
    conditions: Vec<Condition>,
    values: &'a [i64],
}

impl Waits<'_> {
    /// # Safety
    /// As for [`list`].
    unsafe fn new<'a>(
        count: u32,
        signals: *const Handle,
        conditions: *const u32,
        values: *const i64,
    ) -> Outcome<Waits<'a>> {
        let count = count as usize;
        // SAFETY: the caller answers for it.
        let (signals, conditions, values) = unsafe {
            (
                list(signals, count)?,
                list(conditions, count)?,
                list(values, count)?,
            )
        };
        let conditions = conditions.iter().map(|&number| Condition::new(number));
        Ok(Waits {
            signals,
            conditions: conditions.collect::<Outcome<_>>()?,
            values,
        })
    }

    /// The value of a signal that meets its condition.
    fn met(&self, rt: &state::Runtime, at: usize) -> Option<i64> {
        let value = rt.signals.load(self.signals[at]).ok()?;
        self.conditions[at]
            .holds(value, self.values[at])
            .then_some(value)
    }
}

/// Waits for one of several signals; its number, or `u32::MAX`.
pub unsafe extern "C" fn hsa_amd_signal_wait_any(
    count: u32,
    signals: *const Handle,
    conditions: *const u32,
    values: *const i64,
    timeout: u64,
    _hint: u32,
    satisfying: *mut i64,
) -> u32 {
    value(u32::MAX, || {
        let rt = state::existing()?;
        // SAFETY: head of the module `api`.
        let waits = unsafe { Waits::new(count, signals, conditions, values) }?;
        let look = || (0..waits.signals.len()).find_map(|at| Some((at as u32, waits.met(rt, at)?)));
        let found = rt.signals.wait_until(waits.signals, timeout, look);
        let (at, value) = found.ok_or(Status::ERROR)?;
        if !satisfying.is_null() {
            // SAFETY: head of the module `api`.
            unsafe { put(satisfying, value) }?;
        }
        Ok(at)
    })
}

/// Waits for all of several signals at once; 0, or `u32::MAX` after the time. `satisfying` takes their values.
pub unsafe extern "C" fn hsa_amd_signal_wait_all(
    count: u32,
    signals: *const Handle,
    conditions: *const u32,
    values: *const i64,
    timeout: u64,
    _hint: u32,
    satisfying: *mut i64,
) -> u32 {
    value(u32::MAX, || {
        let rt = state::existing()?;
        // SAFETY: head of the module `api`.
        let waits = unsafe { Waits::new(count, signals, conditions, values) }?;
        let look = || {
            let values = (0..waits.signals.len()).map(|at| waits.met(rt, at));
            values.collect::<Option<Vec<_>>>()
        };
        let found = rt.signals.wait_until(waits.signals, timeout, look);
        for (at, value) in found.ok_or(Status::ERROR)?.into_iter().enumerate() {
            if !satisfying.is_null() {
                // SAFETY: head of the module `api`: as many as there are signals.
                unsafe { put(satisfying.wrapping_add(at), value) }?;
            }
        }
        Ok(0)
    })
}
