//! The confined process: runs come to the same results in it, and the system refuses it everything else.

#![expect(unsafe_code, reason = "system calls are tried that no library makes")]

use std::collections::HashMap;
use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Command;
use std::sync::mpsc;

use super::*;

/// The program's own source of its filter.
#[path = "../../../../src/cli/sandbox/filter.rs"]
mod filter;

/// In the environment of the process that [`tries`].
const VARIABLE: &str = "WAVELIFT_TEST_CONFINED";

#[test]
fn examples_come_to_the_same_results() {
    let examples = std::fs::read_dir(root().join("examples")).expect("it is there");
    let mut manifests = Vec::new();
    for entry in examples {
        let name = entry.expect("it can be read").file_name();
        let name = name.to_str().expect("it is text").to_owned();
        for gfx in ["gfx600", "gfx906"] {
            let manifest = format!("examples/{name}/{name}.{gfx}.toml");
            manifests.extend(root().join(&manifest).exists().then_some(manifest));
        }
    }
    assert!(manifests.len() > 20, "{manifests:?}");
    for (number, manifest) in manifests.iter().enumerate() {
        let home = folder("sandbox-examples");
        let mut reports = Vec::new();
        for (name, sandbox) in [("free", &[][..]), ("confined", &["--sandbox"])] {
            let out = home.join(name);
            let out = out.to_str().expect("it is text");
            let engine = ["jit", "jit", "jit", "interp"][number % 4];
            let emitter = ["auto", "cranelift"][number % 2];
            let args = [
                "run",
                manifest,
                "--json",
                "--out",
                out,
                "--engine",
                engine,
                "--emitter",
                emitter,
            ];
            let run = wavelift(&[&args, sandbox].concat());
            assert_eq!(
                (run.status, run.stderr.as_str()),
                (0, ""),
                "{manifest} {name}"
            );
            let report = json(&run);
            assert_eq!(report["ok"], true);
            let kernels = report["dispatches"].as_array().expect("a list").iter();
            let kernels: Vec<_> = kernels
                .map(|d| (d["kernel"].clone(), d["waves"].clone()))
                .collect();
            let mut files = Vec::new();
            for entry in std::fs::read_dir(out).expect("it is made") {
                let path = entry.expect("it can be read").path();
                let name = path.file_name().map(std::ffi::OsStr::to_owned);
                files.push((name, std::fs::read(path).expect("it can be read")));
            }
            files.sort();
            reports.push((kernels, report["expect"].clone(), files));
        }
        assert_eq!(reports[0], reports[1], "{manifest}");
    }
}

#[test]
fn faults_and_failures_have_the_same_status() {
    let place = Place::new("sandbox-status");
    let saxpy = |count: u32, expect: &str, more: &[&str]| {
        let text = format!(
            "[buffers]\nx = {{ type = \"f32\", count = 64, fill = 1.0 }}\n[[dispatch]]\ncode_object = \"saxpy.co\"\n\
             kernel = \"saxpy\"\ngrid = [{count}]\nworkgroup = [64]\nargs = [\"@x\", \"@x\", {{ f32 = 1.0 }}, {{ u32 = {count} }}]\n\
             [outputs]\nx = \"out.npy\"\n[expect]\nx = {{ fill = {expect} }}\n"
        );
        let manifest = file(&place.inside, "m.toml", text);
        let run = wavelift(&[&["run", manifest.as_str()], more].concat());
        (run.status, run.stderr)
    };
    for engine in ["interp", "jit"] {
        let options = ["--sandbox", "--engine", engine];
        assert_eq!(saxpy(64, "2.0", &options), (0, String::new()));
        std::fs::remove_file(place.inside.join("out.npy")).expect("it was written");
        assert_eq!(saxpy(64, "3.0", &options).0, 1);
        std::fs::remove_file(place.inside.join("out.npy")).expect("it was written");
        let (status, stderr) = saxpy(1 << 24, "2.0", &options);
        assert_eq!(status, 3);
        assert!(stderr.starts_with("fault: lane "), "{stderr}");
        assert_eq!(place.litter(), [""; 0], "a fault leaves no file");
    }
    let report = place.home.join("report.json");
    let json_file = format!("--json={}", report.display());
    let junit = place.home.join("report.xml");
    let junit = junit.to_str().expect("it is text");
    assert_eq!(
        saxpy(64, "2.0", &["--sandbox", &json_file, "--junit", junit]).0,
        0
    );
    let text = std::fs::read_to_string(report).expect("it is written");
    assert!(text.contains("\"ok\":true"), "{text}");
    assert!(
        std::fs::read_to_string(junit)
            .expect("it is written")
            .contains("<testcase")
    );
    // Results that cannot be written.
    assert_eq!(saxpy(64, "2.0", &["--sandbox", "--json=/dev/full"]).0, 4);
}

#[test]
fn a_kernel_without_a_manifest_is_confined_too() {
    let args = [
        "run",
        "examples/saxpy/saxpy.gfx900.co",
        "--grid",
        "64",
        "--sandbox",
    ];
    let given = [
        "--arg",
        "y=fill:f32:64:1",
        "--arg",
        "fill:f32:64:2",
        "--arg",
        "2.5",
        "--arg",
        "64",
    ];
    let run = wavelift(&[&args[..], &given, &["--print", "y:0:2"]].concat());
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    assert!(run.stdout.contains('6'), "{}", run.stdout);
}

#[test]
fn options_that_open_files_later_are_refused() {
    let manifest = "examples/saxpy/saxpy.gfx900.toml";
    let cases: [&[&str]; 4] = [
        &["--cache", "/tmp/cache"],
        &["--trace=saxpy:0:0"],
        &["--break", "saxpy"],
        &["--coverage", "/tmp/coverage"],
    ];
    for options in cases {
        let run = wavelift(&[&["run", manifest, "--sandbox"], options].concat());
        let option = options[0].split('=').next().expect("it has a name");
        let wanted = format!("error: {option} opens files while the kernels run");
        assert_eq!(run.status, 2);
        assert!(run.stderr.starts_with(&wanted), "{}", run.stderr);
    }
    let run = wavelift(&["run", manifest, manifest, "--sandbox"]);
    assert_eq!(run.status, 2);
    assert!(
        run.stderr.contains("for one run, but 2 files are given"),
        "{}",
        run.stderr
    );
}

/// Runs [`tries`] in a process of its own.
#[test]
fn a_confined_process_is_refused_everything_else() {
    let this = std::env::current_exe().expect("a test is a program");
    let home = folder("sandbox-refused");
    let run = Command::new(this)
        .args([
            "--exact",
            "cli::sandbox::confined::tries",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(VARIABLE, &home)
        .output()
        .expect("it starts");
    let text = String::from_utf8_lossy(&run.stdout);
    let errors = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{text}{errors}");
    assert!(text.contains("confined, and refused all"), "{text}{errors}");
    let files: Vec<_> = std::fs::read_dir(&home).expect("it is there").collect();
    assert_eq!(files.len(), 1, "{files:?}");
}

/// In the process of the test above: confines it, and tries what it may not do, in a thread that was there before and in
/// one that was not.
#[test]
fn tries() {
    let Some(home) = std::env::var_os(VARIABLE) else {
        return;
    };
    let home = PathBuf::from(home);
    let mut open = File::create(home.join("open")).expect("it is not confined yet");
    let listener = TcpListener::bind("127.0.0.1:0").expect("it is not confined yet");
    let address = listener.local_addr().expect("it has one");
    let (go, wait) = mpsc::channel::<()>();
    let (before, after) = (home.clone(), home.clone());
    let before = std::thread::spawn(move || {
        wait.recv().expect("it is sent");
        everything(&before, address);
    });
    filter::confine().expect("this system has seccomp");
    go.send(()).expect("it waits");
    before.join().expect("all is refused");
    let after = std::thread::spawn(move || everything(&after, address));
    after.join().expect("all is refused");
    everything(&home, address);
    // What running needs.
    open.write_all(b"written").expect("it was open");
    let mut map = HashMap::new();
    map.insert(1, vec![7u8; 64 << 20]);
    assert_eq!(map[&1][5], 7);
    std::thread::sleep(Duration::from_millis(1));
    let memory = memory(libc::PROT_READ | libc::PROT_WRITE);
    assert_ne!(memory, libc::MAP_FAILED);
    // SAFETY: the page is ours and holds no code that is called.
    unsafe {
        assert_eq!(
            libc::mprotect(memory, 4096, libc::PROT_READ | libc::PROT_EXEC),
            0
        );
        let both = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        assert_eq!(libc::mprotect(memory, 4096, both), -1);
        assert_eq!(libc::munmap(memory, 4096), 0);
    }
    let both = libc::PROT_WRITE | libc::PROT_EXEC;
    for protection in [both, both | libc::PROT_READ] {
        assert_eq!(self::memory(protection), libc::MAP_FAILED);
    }
    println!("confined, and refused all");
}

/// A page of this protection.
fn memory(protection: libc::c_int) -> *mut libc::c_void {
    let how = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new mapping changes no other.
    unsafe { libc::mmap(std::ptr::null_mut(), 4096, protection, how, -1, 0) }
}

/// Tries everything that is refused.
fn everything(home: &Path, address: std::net::SocketAddr) {
    fn refused<T>(what: &str, result: std::io::Result<T>) {
        match result {
            Ok(_) => panic!("{what} is permitted"),
            Err(error) => assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{what}: {error}"),
        }
    }
    refused("open", File::open("/dev/null"));
    refused("open", File::open(home.join("open")));
    refused("create", File::create(home.join("new")));
    refused(
        "rename",
        std::fs::rename(home.join("open"), home.join("new")),
    );
    refused(
        "link",
        std::fs::hard_link(home.join("open"), home.join("new")),
    );
    refused("symlink", symlink("open", home.join("new")));
    refused("remove", std::fs::remove_file(home.join("open")));
    refused("mkdir", std::fs::create_dir(home.join("new")));
    refused("chdir", std::env::set_current_dir("/"));
    refused("list", std::fs::read_dir("/"));
    refused("bind", TcpListener::bind("127.0.0.1:0"));
    refused("connect", TcpStream::connect(address));
    refused("udp", UdpSocket::bind("127.0.0.1:0"));
    refused("unix socket", UnixStream::pair());
    refused("unix socket", UnixListener::bind(home.join("new")));
    refused("program", Command::new("/bin/true").spawn());
    refused("pipe", std::io::pipe());
    let call = |name: &str, number: libc::c_long, arguments: [libc::c_long; 4]| {
        let [a, b, c, d] = arguments;
        // SAFETY: if one of them were permitted, it would change nothing that this test still uses: their arguments name
        // nothing, or this process.
        let result = unsafe { libc::syscall(number, a, b, c, d, 0, 0) };
        let error = std::io::Error::last_os_error();
        assert_eq!(result, -1, "{name} is permitted");
        assert_eq!(error.raw_os_error(), Some(libc::EPERM), "{name}: {error}");
    };
    let path = c"/bin/true".as_ptr() as libc::c_long;
    let this = libc::c_long::from(std::process::id());
    call("execve", libc::SYS_execve, [path, 0, 0, 0]);
    call("execveat", libc::SYS_execveat, [-100, path, 0, 0]);
    call("openat", libc::SYS_openat, [-100, path, 0, 0]);
    call("openat2", libc::SYS_openat2, [-100, path, 0, 0]);
    call("memfd_create", libc::SYS_memfd_create, [path, 0, 0, 0]);
    call("socket", libc::SYS_socket, [2, 1, 0, 0]);
    call("kill", libc::SYS_kill, [this, 0, 0, 0]);
    call("tgkill of another", libc::SYS_tgkill, [1, 1, 0, 0]);
    call("ptrace", libc::SYS_ptrace, [0, 0, 0, 0]);
    call(
        "process_vm_writev",
        libc::SYS_process_vm_writev,
        [this, 0, 0, 0],
    );
    call("pidfd_open", libc::SYS_pidfd_open, [this, 0, 0, 0]);
    call("io_uring_setup", libc::SYS_io_uring_setup, [1, 0, 0, 0]);
    call("bpf", libc::SYS_bpf, [0, 0, 0, 0]);
    call("unshare", libc::SYS_unshare, [0x1000_0000, 0, 0, 0]);
    call("mount", libc::SYS_mount, [0, 0, 0, 0]);
    call("setuid", libc::SYS_setuid, [0, 0, 0, 0]);
    call("dup", libc::SYS_dup, [1, 0, 0, 0]);
    // A process, not a thread.
    call("clone", libc::SYS_clone, [libc::SIGCHLD.into(), 0, 0, 0]);
    // Typing into the terminal.
    call(
        "ioctl",
        libc::SYS_ioctl,
        [0, libc::TIOCSTI as libc::c_long, path, 0],
    );
    // A file as memory.
    call("mmap", libc::SYS_mmap, [0, 4096, 1, 2]);
}
