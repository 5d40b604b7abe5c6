//! Processors by the number in `e_flags`, and target ids such as `gfx906:sramecc-:xnack+`.

use std::fmt;
use std::str::FromStr;

use frontend::Gfx;

use super::error::LoadError;

/// A processor in LLVM's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Processor {
    /// The machine number, `e_flags & 0xff`.
    pub machine: u8,
    /// LLVM's name.
    pub name: &'static str,
    /// The target that runs its code; `None` if unsupported.
    pub gfx: Option<Gfx>,
    /// Whether the processor can replay page faults.
    pub xnack: bool,
    /// Whether the processor has memories with error correction that change how code must be compiled.
    pub sramecc: bool,
    /// The processors that run code for a generic one; empty for any other. (LLVM's "Generic
    /// Processors")
    pub members: &'static [&'static str],
}

const fn sibling(machine: u8, name: &'static str, gfx: Gfx) -> Processor {
    Processor {
        machine,
        name,
        gfx: Some(gfx),
        xnack: false,
        sramecc: false,
        members: &[],
    }
}

const fn foreign(machine: u8, name: &'static str) -> Processor {
    Processor {
        machine,
        name,
        gfx: None,
        xnack: false,
        sramecc: false,
        members: &[],
    }
}

/// A generic processor, with the guest that has what all members have in common.
const fn generic(
    machine: u8,
    name: &'static str,
    gfx: Gfx,
    members: &'static [&'static str],
) -> Processor {
    Processor {
        members,
        ..sibling(machine, name, gfx)
    }
}

impl Processor {
    const fn xnack(self) -> Processor {
        Processor {
            xnack: true,
            ..self
        }
    }

    const fn sramecc(self) -> Processor {
        Processor {
            sramecc: true,
            ..self
        }
    }

    /// Whether it stands for several processors.
    pub const fn is_generic(&self) -> bool {
        !self.members.is_empty()
    }

    /// Whether the processor of this name runs its code: it is the same, or belongs to a generic one.
    pub fn runs_on(&self, name: &str) -> bool {
        self.name == name || self.members.contains(&name)
    }

    /// The processor with this machine number.
    pub fn by_machine(machine: u8) -> Option<&'static Processor> {
        PROCESSORS
            .iter()
            .find(|processor| processor.machine == machine)
    }

    /// The processor of this name.
    pub fn by_name(name: &str) -> Option<&'static Processor> {
        PROCESSORS.iter().find(|processor| processor.name == name)
    }
}

/// Every processor with a machine number. gfx904 counts as gfx906 because its mixed-precision
/// instructions are fused, as there; gfx902, gfx909 and gfx90c have the unfused ones of gfx900. Code
/// for gfx9-generic has neither.
#[rustfmt::skip]
pub static PROCESSORS: &[Processor] = &[
    sibling(0x20, "gfx600", Gfx::Gfx600),
    sibling(0x21, "gfx601", Gfx::Gfx600),
    sibling(0x3a, "gfx602", Gfx::Gfx600),
    sibling(0x22, "gfx700", Gfx::Gfx700),
    sibling(0x23, "gfx701", Gfx::Gfx700),
    sibling(0x24, "gfx702", Gfx::Gfx700),
    sibling(0x25, "gfx703", Gfx::Gfx700),
    sibling(0x26, "gfx704", Gfx::Gfx700),
    sibling(0x3b, "gfx705", Gfx::Gfx700),
    sibling(0x28, "gfx801", Gfx::Gfx803).xnack(),
    sibling(0x29, "gfx802", Gfx::Gfx803),
    sibling(0x2a, "gfx803", Gfx::Gfx803),
    sibling(0x3c, "gfx805", Gfx::Gfx803),
    sibling(0x2b, "gfx810", Gfx::Gfx803).xnack(),
    sibling(0x2c, "gfx900", Gfx::Gfx900).xnack(),
    sibling(0x2d, "gfx902", Gfx::Gfx900).xnack(),
    sibling(0x2e, "gfx904", Gfx::Gfx906).xnack(),
    sibling(0x2f, "gfx906", Gfx::Gfx906).xnack().sramecc(),
    sibling(0x30, "gfx908", Gfx::Gfx908).xnack().sramecc(),
    sibling(0x31, "gfx909", Gfx::Gfx900).xnack(),
    sibling(0x3f, "gfx90a", Gfx::Gfx90a).xnack().sramecc(),
    sibling(0x32, "gfx90c", Gfx::Gfx900).xnack(),
    foreign(0x40, "gfx940"),
    foreign(0x4b, "gfx941"),
    sibling(0x4c, "gfx942", Gfx::Gfx942).xnack().sramecc(),
    foreign(0x4f, "gfx950"),
    foreign(0x33, "gfx1010"),
    foreign(0x34, "gfx1011"),
    foreign(0x35, "gfx1012"),
    foreign(0x42, "gfx1013"),
    foreign(0x36, "gfx1030"),
    foreign(0x37, "gfx1031"),
    foreign(0x38, "gfx1032"),
    foreign(0x39, "gfx1033"),
    foreign(0x3e, "gfx1034"),
    foreign(0x3d, "gfx1035"),
    foreign(0x45, "gfx1036"),
    foreign(0x41, "gfx1100"),
    foreign(0x46, "gfx1101"),
    foreign(0x47, "gfx1102"),
    foreign(0x44, "gfx1103"),
    foreign(0x43, "gfx1150"),
    foreign(0x4a, "gfx1151"),
    foreign(0x55, "gfx1152"),
    foreign(0x58, "gfx1153"),
    foreign(0x48, "gfx1200"),
    foreign(0x4e, "gfx1201"),
    foreign(0x49, "gfx1250"),
    foreign(0x5a, "gfx1251"),
    generic(0x51, "gfx9-generic", Gfx::Gfx900, &["gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"]).xnack(),
    foreign(0x5f, "gfx9-4-generic"),
    foreign(0x52, "gfx10-1-generic"),
    foreign(0x53, "gfx10-3-generic"),
    foreign(0x54, "gfx11-generic"),
    foreign(0x59, "gfx12-generic"),
    foreign(0x5b, "gfx12-5-generic"),
    foreign(0x01, "r600"),
    foreign(0x02, "r630"),
    foreign(0x03, "rs880"),
    foreign(0x04, "rv670"),
    foreign(0x05, "rv710"),
    foreign(0x06, "rv730"),
    foreign(0x07, "rv770"),
    foreign(0x08, "cedar"),
    foreign(0x09, "cypress"),
    foreign(0x0a, "juniper"),
    foreign(0x0b, "redwood"),
    foreign(0x0c, "sumo"),
    foreign(0x0d, "barts"),
    foreign(0x0e, "caicos"),
    foreign(0x0f, "cayman"),
    foreign(0x10, "turks"),
];

/// How code was compiled with respect to a feature that can be switched when the machine starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Setting {
    /// The processor does not have the feature.
    Unsupported,
    /// The code runs with the feature on or off.
    Any,
    /// The code needs the feature off.
    Off,
    /// The code needs the feature on.
    On,
}

impl Setting {
    /// From the two bits that code object versions 4 and later have in `e_flags`.
    fn from_bits(bits: u32) -> Setting {
        match bits & 3 {
            0 => Setting::Unsupported,
            1 => Setting::Any,
            2 => Setting::Off,
            _ => Setting::On,
        }
    }

    /// From the single bit of version 3.
    fn from_bit(supported: bool, on: bool) -> Setting {
        match (supported, on) {
            (_, true) => Setting::On,
            (true, false) => Setting::Off,
            (false, false) => Setting::Unsupported,
        }
    }

    /// The setting in a target id: absent, off or on.
    pub fn wanted(self) -> Option<bool> {
        match self {
            Setting::Unsupported | Setting::Any => None,
            Setting::Off => Some(false),
            Setting::On => Some(true),
        }
    }
}

/// Target of a code object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The guest that runs it.
    pub gfx: Gfx,
    /// The processor named in `e_flags`; its name may differ from that of `gfx`.
    pub processor: &'static Processor,
    /// Replay of page faults.
    pub xnack: Setting,
    /// Error correction.
    pub sramecc: Setting,
    /// The version of a generic target, from 1 on; 0 for a plain one. A later version runs on what an
    /// earlier one runs on.
    pub generic_version: u8,
}

/// The ABI version of code object version 6, the first with generic targets.
const ABI_V6: u8 = 4;

impl Target {
    /// From `e_flags`; `abi` is the ABI version of the ELF header.
    pub(crate) fn from_flags(flags: u32, abi: u8) -> Result<Target, LoadError> {
        let processor = Processor::by_machine((flags & 0xff) as u8)
            .ok_or(LoadError::UnknownMachine { flags })?;
        let gfx = processor.gfx.ok_or_else(|| LoadError::UnsupportedTarget {
            name: processor.name.to_owned(),
        })?;
        let (xnack, sramecc) = if abi <= 1 {
            (
                Setting::from_bit(processor.xnack, flags & 0x100 != 0),
                Setting::from_bit(processor.sramecc, flags & 0x200 != 0),
            )
        } else {
            (
                Setting::from_bits(flags >> 8),
                Setting::from_bits(flags >> 10),
            )
        };
        let generic_version = match abi {
            ABI_V6.. => (flags >> 24) as u8,
            _ => 0,
        };
        if processor.is_generic() != (generic_version != 0) {
            return Err(LoadError::GenericVersion {
                name: processor.name,
                version: generic_version,
            });
        }
        Ok(Target {
            gfx,
            processor,
            xnack,
            sramecc,
            generic_version,
        })
    }

    /// The target id, such as `gfx906:sramecc-:xnack-`.
    pub fn id(&self) -> TargetId {
        TargetId {
            processor: self.processor.name.to_owned(),
            sramecc: self.sramecc.wanted(),
            xnack: self.xnack.wanted(),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id().fmt(f)
    }
}

/// A processor with feature settings, as in offload bundles and command lines.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TargetId {
    /// The processor's name.
    pub processor: String,
    /// `sramecc+` or `sramecc-`, when said.
    pub sramecc: Option<bool>,
    /// `xnack+` or `xnack-`, when said.
    pub xnack: Option<bool>,
}

impl TargetId {
    /// The guest that runs code for this target.
    pub fn gfx(&self) -> Option<Gfx> {
        Processor::by_name(&self.processor).and_then(|processor| processor.gfx)
    }

    /// Whether it names several processors.
    pub fn is_generic(&self) -> bool {
        Processor::by_name(&self.processor).is_some_and(Processor::is_generic)
    }

    /// Whether the processor of this name runs the code, apart from the settings.
    pub fn runs_on(&self, name: &str) -> bool {
        match Processor::by_name(&self.processor) {
            Some(processor) => processor.runs_on(name),
            None => self.processor == name,
        }
    }

    /// How well code for `self` matches a request for `wanted`: 0 not at all, then the same guest,
    /// a generic processor that `wanted` belongs to, the same processor, the identical id.
    pub(crate) fn suits(&self, wanted: &TargetId) -> u32 {
        let agree = |have: Option<bool>, want: Option<bool>| {
            have.is_none() || want.is_none() || have == want
        };
        if !agree(self.sramecc, wanted.sramecc) || !agree(self.xnack, wanted.xnack) {
            0
        } else if self == wanted {
            4
        } else if self.processor == wanted.processor {
            3
        } else if self.runs_on(&wanted.processor) {
            2
        } else if self.gfx().is_some()
            && self.gfx() == wanted.gfx()
            && !self.is_generic()
            && !wanted.is_generic()
        {
            1
        } else {
            0
        }
    }
}

impl From<Gfx> for TargetId {
    fn from(gfx: Gfx) -> TargetId {
        TargetId {
            processor: gfx.name().to_owned(),
            sramecc: None,
            xnack: None,
        }
    }
}

impl FromStr for TargetId {
    type Err = LoadError;

    fn from_str(text: &str) -> Result<TargetId, LoadError> {
        let wrong = |defect| LoadError::TargetId {
            text: text.to_owned(),
            defect,
        };
        let mut parts = text.split(':');
        let processor = parts.next().unwrap_or_default();
        if processor.is_empty() {
            return Err(wrong("it names no processor"));
        }
        let mut id = TargetId {
            processor: processor.to_owned(),
            sramecc: None,
            xnack: None,
        };
        for part in parts {
            let (name, on) = match (part.strip_suffix('+'), part.strip_suffix('-')) {
                (Some(name), _) => (name, true),
                (_, Some(name)) => (name, false),
                _ => return Err(wrong("a feature ends in + or -")),
            };
            let slot = match name {
                "sramecc" => &mut id.sramecc,
                "xnack" => &mut id.xnack,
                _ => return Err(wrong("the features are sramecc and xnack")),
            };
            if slot.replace(on).is_some() {
                return Err(wrong("a feature stands there twice"));
            }
        }
        Ok(id)
    }
}

impl fmt::Display for TargetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = |on| if on { '+' } else { '-' };
        f.write_str(&self.processor)?;
        if let Some(on) = self.sramecc {
            write!(f, ":sramecc{}", sign(on))?;
        }
        if let Some(on) = self.xnack {
            write!(f, ":xnack{}", sign(on))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_numbers_and_names_are_unique() {
        for (i, a) in PROCESSORS.iter().enumerate() {
            for b in &PROCESSORS[i + 1..] {
                assert_ne!(a.machine, b.machine, "{} and {}", a.name, b.name);
                assert_ne!(a.name, b.name);
            }
        }
        for gfx in Gfx::ALL {
            assert_eq!(
                Processor::by_name(gfx.name()).and_then(|p| p.gfx),
                Some(gfx)
            );
        }
    }

    #[test]
    fn flags_give_processor_and_settings() {
        let target = |flags, abi| Target::from_flags(flags, abi).map(|t| (t.gfx, t.to_string()));
        let ok = |gfx, id: &str| Ok((gfx, id.to_owned()));
        assert_eq!(target(0x20, 3), ok(Gfx::Gfx600, "gfx600"));
        assert_eq!(target(0x12c, 2), ok(Gfx::Gfx900, "gfx900"));
        assert_eq!(target(0x22c, 2), ok(Gfx::Gfx900, "gfx900:xnack-"));
        assert_eq!(target(0xa2f, 2), ok(Gfx::Gfx906, "gfx906:sramecc-:xnack-"));
        assert_eq!(target(0x73f, 3), ok(Gfx::Gfx90a, "gfx90a:xnack+"));
        assert_eq!(target(0x12e, 3), ok(Gfx::Gfx906, "gfx904"));
        assert_eq!(target(0x132, 3), ok(Gfx::Gfx900, "gfx90c"));
        assert_eq!(target(0x128, 3), ok(Gfx::Gfx803, "gfx801"));
        // generic targets have a version, plain ones have none
        assert_eq!(target(0x0100_0151, 4), ok(Gfx::Gfx900, "gfx9-generic"));
        assert_eq!(
            target(0x0200_0251, 4),
            ok(Gfx::Gfx900, "gfx9-generic:xnack-")
        );
        assert_eq!(target(0x12c, 4), ok(Gfx::Gfx900, "gfx900"));
        for (flags, abi) in [(0x151, 4), (0x0100_0151, 3), (0x0100_012c, 4)] {
            assert!(
                matches!(target(flags, abi), Err(LoadError::GenericVersion { .. })),
                "{flags:#x}"
            );
        }
        // version 3 has one bit each: clear means off where the processor has the feature
        assert_eq!(target(0x2a, 1), ok(Gfx::Gfx803, "gfx803"));
        assert_eq!(target(0x2c, 1), ok(Gfx::Gfx900, "gfx900:xnack-"));
        assert_eq!(target(0x32f, 1), ok(Gfx::Gfx906, "gfx906:sramecc+:xnack+"));
        let name = |flags| {
            Target::from_flags(flags, 3)
                .map(|_| ())
                .unwrap_err()
                .to_string()
        };
        assert!(name(0x36).starts_with("unsupported target gfx1030; supported are gfx600"));
        assert_eq!(
            name(0x127),
            "unsupported target: e_flags 0x127 name no known processor"
        );
    }

    #[test]
    fn target_ids_parse_print_and_match() {
        let id = |text: &str| text.parse::<TargetId>().expect("a target id");
        for text in [
            "gfx803",
            "gfx906:sramecc-:xnack+",
            "gfx900:xnack-",
            "gfx9-4-generic",
        ] {
            assert_eq!(id(text).to_string(), text);
        }
        for text in [
            "",
            "gfx900:",
            "gfx900:xnack",
            "gfx900:tgsplit+",
            "gfx900:xnack+:xnack-",
        ] {
            assert!(
                matches!(text.parse::<TargetId>(), Err(LoadError::TargetId { .. })),
                "{text}"
            );
        }
        assert_eq!(id("gfx900").suits(&id("gfx900")), 4);
        assert_eq!(id("gfx900").suits(&id("gfx900:xnack+")), 3);
        assert_eq!(id("gfx900:xnack-").suits(&id("gfx900")), 3);
        assert_eq!(id("gfx9-generic").suits(&id("gfx900")), 2);
        assert_eq!(id("gfx9-generic:xnack-").suits(&id("gfx906")), 2);
        assert_eq!(id("gfx9-generic:xnack+").suits(&id("gfx906:xnack-")), 0);
        assert_eq!(id("gfx9-generic").suits(&id("gfx90a")), 0);
        assert_eq!(id("gfx9-generic").suits(&id("gfx9-generic")), 4);
        assert_eq!(id("gfx900").suits(&id("gfx9-generic")), 0);
        assert_eq!(id("gfx900:xnack-").suits(&id("gfx900:xnack+")), 0);
        assert_eq!(id("gfx902").suits(&id("gfx900")), 1);
        assert_eq!(id("gfx906").suits(&id("gfx900")), 0);
        assert_eq!(id("gfx1030").suits(&id("gfx1031")), 0);
    }
}
