//! The system calls of a confined process: memory, threads, time, and reading and writing of open descriptors. All others
//! fail with EPERM: it opens no file, makes no socket, starts no program and no process, and sends no signal to others.
//! No memory can be made writable and executable at once.

use std::io;

use seccompiler::{
    BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch,
};

/// Confines all threads of this process, and those that they start.
pub(crate) fn confine() -> io::Result<()> {
    // Both are made first: the second forbids what making one takes on some systems.
    let filters = [threads().map_err(bad)?, calls().map_err(bad)?];
    for filter in &filters {
        seccompiler::apply_filter_all_threads(filter).map_err(refused)?;
    }
    Ok(())
}

fn bad(error: seccompiler::BackendError) -> io::Error {
    io::Error::other(error.to_string())
}

fn refused(error: Error) -> io::Error {
    match error {
        Error::Prctl(error) | Error::Seccomp(error) => error,
        other => io::Error::other(other.to_string()),
    }
}

#[cfg(target_arch = "x86_64")]
const ARCH: TargetArch = TargetArch::x86_64;
#[cfg(target_arch = "aarch64")]
const ARCH: TargetArch = TargetArch::aarch64;

type Rules = (i64, Vec<SeccompRule>);

/// `clone3` does not exist: its flags are in memory, where no filter sees them. C libraries use `clone` then.
fn threads() -> Result<BpfProgram, seccompiler::BackendError> {
    let rules = [(libc::SYS_clone3, Vec::new())];
    let missing = SeccompAction::Errno(libc::ENOSYS as u32);
    let filter = SeccompFilter::new(rules.into(), SeccompAction::Allow, missing, ARCH)?;
    filter.try_into()
}

/// The list of calls.
fn calls() -> Result<BpfProgram, seccompiler::BackendError> {
    let always = FREE.iter().map(|&call| (call, Vec::new()));
    let rules = always.chain(conditional()?).collect();
    let refuse = SeccompAction::Errno(libc::EPERM as u32);
    SeccompFilter::new(rules, refuse, SeccompAction::Allow, ARCH)?.try_into()
}

/// Calls that are permitted with any arguments. `clone3` does not get here.
const FREE: &[i64] = &[
    // open descriptors
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_lseek,
    libc::SYS_fstat,
    libc::SYS_close,
    // memory
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_brk,
    // threads
    libc::SYS_clone3,
    libc::SYS_futex,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_membarrier,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_gettid,
    libc::SYS_getpid,
    // signals of one's own
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    // time and randomness
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_gettimeofday,
    libc::SYS_getrandom,
    // the end
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// The condition that these bits of an argument have this value.
fn bits(
    argument: u8,
    mask: u64,
    value: u64,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    let equal = SeccompCmpOp::MaskedEq(mask);
    SeccompCondition::new(argument, SeccompCmpArgLen::Qword, equal, value)
}

/// Calls that are permitted with some arguments.
fn conditional() -> Result<Vec<Rules>, seccompiler::BackendError> {
    let rule = SeccompRule::new;
    let (write, execute) = (libc::PROT_WRITE as u64, libc::PROT_EXEC as u64);
    // Writable or executable, not both; the second argument but one of both calls.
    let protections = [0, write, execute];
    let anonymous = libc::MAP_ANONYMOUS as u64;
    let mut map = Vec::new();
    let mut protect = Vec::new();
    for protection in protections {
        let right = || bits(2, write | execute, protection);
        map.push(rule(vec![right()?, bits(3, anonymous, anonymous)?])?);
        protect.push(rule(vec![right()?])?);
    }
    // A thread of this process, in no new namespace.
    let thread = (libc::CLONE_VM | libc::CLONE_THREAD) as u64;
    let spaces = libc::CLONE_NEWNS
        | libc::CLONE_NEWCGROUP
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUSER
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWNET;
    let clone = vec![rule(vec![bits(0, thread | spaces as u64, thread)?])?];
    let low = |argument, value: u64| {
        let equal = SeccompCmpOp::Eq;
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, equal, value)
    };
    let one_of = |argument, values: &[u64]| -> Result<Vec<SeccompRule>, _> {
        let rules = values.iter();
        rules
            .map(|&value| rule(vec![low(argument, value)?]))
            .collect()
    };
    // Aborting is a signal to oneself.
    let this = u64::from(std::process::id());
    // The name of a thread or a mapping.
    let names = [libc::PR_SET_NAME as u64, libc::PR_SET_VMA as u64];
    // Is it a terminal, and how wide?
    let terminal: [u64; 2] = [libc::TCGETS as _, libc::TIOCGWINSZ as _];
    let descriptors = [libc::F_GETFD as u64, libc::F_GETFL as u64];
    Ok(vec![
        (libc::SYS_mmap, map),
        (libc::SYS_mprotect, protect),
        (libc::SYS_clone, clone),
        (libc::SYS_tgkill, one_of(0, &[this])?),
        (libc::SYS_prctl, one_of(0, &names)?),
        (libc::SYS_ioctl, one_of(1, &terminal)?),
        (libc::SYS_fcntl, one_of(1, &descriptors)?),
    ])
}
