//! What stands in place of special floats.

/// What stands in place of f32 of special kinds.
#[derive(Clone, Copy, Debug)]
pub struct Fixes(u32);

/// What [`Fixes`] are made of, with the numbers that `vfixupimmps` knows them by.
#[allow(missing_docs, reason = "the names say it")]
pub mod fix {
    /// Kinds of f32; denormal ones are values. (One has a kind of its own.)
    #[derive(Clone, Copy)]
    pub enum Of {
        QuietNan = 0,
        SignallingNan = 1,
        Zero = 2,
        NegativeInfinity = 4,
        Infinity = 5,
        NegativeValue = 6,
        PositiveValue = 7,
    }

    /// What stands for them.
    #[derive(Clone, Copy)]
    pub enum By {
        Itself = 1,
        Quieted = 2,
        /// With its sign set.
        DefaultNan = 3,
        NegativeInfinity = 4,
        Infinity = 5,
        /// Infinity with the sign of what it stands for.
        SignedInfinity = 6,
        Zero = 8,
        MinusOne = 9,
        Greatest = 14,
        Least = 15,
    }
}

impl Fixes {
    /// No others.
    pub const NONE: Fixes = Fixes(0);

    /// These, and of one kind another number.
    pub const fn with(self, of: fix::Of, by: fix::By) -> Fixes {
        Fixes(self.0 | (by as u32) << (4 * of as u32))
    }

    /// In place of NaNs of both kinds.
    pub const fn with_nans(self, by: fix::By) -> Fixes {
        self.with(fix::Of::QuietNan, by)
            .with(fix::Of::SignallingNan, by)
    }

    /// As a dword.
    pub const fn bits(self) -> u32 {
        self.0
    }
}
