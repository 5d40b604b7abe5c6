//! The host's floating-point environment while guest code runs.
//!
//! Translated code, the interpreter and [`crate::math`] need the default environment: round to
//! nearest, no flushing of denormals, no exception trapped. A thread inherits the environment of its
//! creator, and programs change theirs: `-ffast-math` at link time flushes denormals, `fesetenv` may
//! trap exceptions.

#![cfg_attr(
    not(miri),
    expect(
        unsafe_code,
        reason = "the registers are read and written by instructions"
    )
)]

use std::marker::PhantomData;

/// The default environment in this thread for as long as this lives; then the previous one returns.
pub(crate) struct DefaultEnvironment {
    before: Control,
    /// It belongs to one thread.
    thread: PhantomData<*const ()>,
}

impl DefaultEnvironment {
    /// Sets the default environment.
    pub(crate) fn new() -> DefaultEnvironment {
        let before = control();
        if before != DEFAULT {
            set_control(DEFAULT);
        }
        DefaultEnvironment {
            before,
            thread: PhantomData,
        }
    }
}

impl Drop for DefaultEnvironment {
    fn drop(&mut self) {
        if self.before != DEFAULT {
            set_control(self.before);
        }
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod host {
    use std::arch::asm;

    /// MXCSR.
    pub(super) type Control = u32;

    /// All exceptions masked (bits 7 to 12), nearest, nothing flushed.
    pub(super) const DEFAULT: Control = 0x1f80;

    /// Status bits, which accumulate.
    const FLAGS: Control = 0x3f;

    /// MXCSR without its status bits.
    pub(super) fn control() -> Control {
        let mut value: Control = 0;
        // SAFETY: the instruction stores 4 bytes at the address of `value` and changes nothing else.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut value, options(nostack, preserves_flags)) };
        value & !FLAGS
    }

    pub(super) fn set_control(value: Control) {
        // SAFETY: the instruction loads 4 bytes at the address of `value`. All set bits are defined:
        // it is the default or what the CPU had. Rust code runs in the default environment only; the
        // other one is that in which the caller entered this crate.
        unsafe {
            asm!("ldmxcsr [{}]", in(reg) &raw const value, options(nostack, preserves_flags))
        };
    }
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
mod host {
    use std::arch::asm;

    /// FPCR.
    pub(super) type Control = u64;

    /// Nearest, nothing flushed, nothing trapped.
    pub(super) const DEFAULT: Control = 0;

    pub(super) fn control() -> Control {
        let value: Control;
        // SAFETY: the instruction reads a register.
        unsafe { asm!("mrs {}, fpcr", out(reg) value, options(nomem, nostack, preserves_flags)) };
        value
    }

    pub(super) fn set_control(value: Control) {
        // SAFETY: the value is the default or what the CPU had; see the other host's.
        unsafe { asm!("msr fpcr, {}", in(reg) value, options(nomem, nostack, preserves_flags)) };
    }
}

#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod host {
    /// The environment of other hosts, and that of Miri, is left as it is.
    pub(super) type Control = u32;
    pub(super) const DEFAULT: Control = 0;

    pub(super) fn control() -> Control {
        DEFAULT
    }

    pub(super) fn set_control(_: Control) {}
}

use host::{Control, DEFAULT, control, set_control};

#[cfg(test)]
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod tests {
    use super::*;

    /// Flushed denormals, rounding up, a trapped division by zero.
    const OTHERS: [Control; 3] = [0x9fc0, 0x5f80, 0x1d80];

    #[test]
    fn the_previous_environment_returns() {
        for other in OTHERS {
            set_control(other);
            let during = {
                let _default = DefaultEnvironment::new();
                control()
            };
            let after = control();
            set_control(DEFAULT);
            assert_eq!((during, after), (DEFAULT, other));
        }
    }
}
