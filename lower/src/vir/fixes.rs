//! Replacement of special floats.

/// Replacement of f32 by class.
#[derive(Clone, Copy, Debug)]
pub struct Fixes(u32);

/// Classes and replacements of [`Fixes`], with the numbers of `vfixupimmps`.
#[allow(missing_docs, reason = "the names say it")]
pub mod fix {
    /// Classes of f32; denormals are ordinary values. (1.0 has a class of its own.)
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

    /// Replacements.
    #[derive(Clone, Copy)]
    pub enum By {
        Itself = 1,
        Quieted = 2,
        /// With its sign set.
        DefaultNan = 3,
        NegativeInfinity = 4,
        Infinity = 5,
        /// Infinity with the source's sign.
        SignedInfinity = 6,
        Zero = 8,
        MinusOne = 9,
        Greatest = 14,
        Least = 15,
    }
}

impl Fixes {
    /// No replacement.
    pub const NONE: Fixes = Fixes(0);

    /// Adds the replacement of a class.
    pub const fn with(self, of: fix::Of, by: fix::By) -> Fixes {
        Fixes(self.0 | (by as u32) << (4 * of as u32))
    }

    /// Adds the replacement of NaNs of both kinds.
    pub const fn with_nans(self, by: fix::By) -> Fixes {
        self.with(fix::Of::QuietNan, by)
            .with(fix::Of::SignallingNan, by)
    }

    /// As a dword.
    pub const fn bits(self) -> u32 {
        self.0
    }
}
