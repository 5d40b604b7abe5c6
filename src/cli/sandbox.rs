//! `run --sandbox`: the run is in a process of its own, which confines itself before the guest's first instruction. It reads
//! and opens everything before. From then on it has memory, threads, and the descriptors of its outputs
//! ([`filter`]); the first process, which is not confined, waits for it and does what is left: it puts complete outputs in
//! their places, from a list that is closed when the other is confined ([`keeper`]).

use std::path::Path;

use super::Status;
use super::output::Output;

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod filter;
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod keeper;

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub(super) use keeper::Handed;

/// Does `work` in a process that may call [`confine`]; its status.
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub(super) fn run(
    out: &mut Output,
    work: impl FnOnce(&mut Output) -> anyhow::Result<Status>,
) -> anyhow::Result<Status> {
    keeper::run(out, work)
}

/// Confines the process of [`run`], with all of its threads. An error where the system cannot do that.
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub(super) fn confine() -> anyhow::Result<()> {
    keeper::close_list()?;
    filter::confine().map_err(|error| {
        anyhow::anyhow!(
            "cannot confine the run: this system refuses seccomp filters ({error}); without --sandbox it runs unconfined"
        )
    })
}

/// In the process of [`run`], the file that is to replace `to` is handed over to the first process; otherwise `None`.
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub(super) fn hand_over(from: &Path, to: &Path) -> std::io::Result<Option<Handed>> {
    keeper::hand_over(from, to)
}

/// Is this the process of [`run`]?
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub(super) fn is_on() -> bool {
    keeper::is_on()
}

#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
mod nowhere {
    use super::*;

    /// Nothing is handed over.
    pub(in crate::cli) enum Handed {}

    impl Handed {
        pub(in crate::cli) fn put_in_place(self) -> std::io::Result<()> {
            match self {}
        }
    }

    pub(in crate::cli) fn run(
        _: &mut Output,
        _: impl FnOnce(&mut Output) -> anyhow::Result<Status>,
    ) -> anyhow::Result<Status> {
        confine().map(|()| Status::Success)
    }

    pub(in crate::cli) fn confine() -> anyhow::Result<()> {
        anyhow::bail!("--sandbox needs Linux on x86-64 or AArch64, whose kernel confines the run")
    }

    pub(in crate::cli) fn hand_over(_: &Path, _: &Path) -> std::io::Result<Option<Handed>> {
        Ok(None)
    }

    pub(in crate::cli) fn is_on() -> bool {
        false
    }
}
#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
pub(super) use nowhere::{Handed, confine, hand_over, is_on, run};
