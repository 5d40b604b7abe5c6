//! ROCm's tools: `rocminfo` and `rocm_agent_enumerator` of Debian's package rocminfo, and a program
//! that makes the same queries to the kernel driver.

use std::path::Path;
use std::process::Command;

use super::super::{folder, installed};
use super::{exec, exec_in};

#[test]
fn rocminfo_lists_the_gpu() {
    if !installed("rocminfo", "rocminfo") {
        return;
    }
    for gpu in [
        "gfx700", "gfx803", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx942",
    ] {
        let Some(out) = exec(&["--gpu", gpu, "rocminfo"]) else {
            return;
        };
        assert_eq!(out.status, 0, "{gpu}: {}{}", out.stdout, out.stderr);
        let has = |part: &str| out.stdout.contains(part);
        assert!(has("ROCk module is loaded"), "{}", out.stdout);
        assert!(
            has(&format!("  Name:                    {gpu}")),
            "{}",
            out.stdout
        );
        assert!(has(&format!("amdgcn-amd-amdhsa--{gpu}")), "{}", out.stdout);
        assert!(out.stdout.contains("*** Done ***"), "{}", out.stdout);
    }
}

#[test]
fn rocm_agent_enumerator_lists_the_gpu() {
    if !installed("rocm_agent_enumerator", "rocminfo") || !installed("python3", "python3") {
        return;
    }
    let Some(out) = exec(&["--gpu", "gfx900", "rocm_agent_enumerator"]) else {
        return;
    };
    assert_eq!((out.status, out.stderr.as_str()), (0, ""));
    assert_eq!(out.stdout, "gfx000\ngfx900\n");
    let variables = [("WAVELIFT_GPU", "gfx90a")];
    let out = exec_in(&["--stats", "rocm_agent_enumerator"], &variables).expect("as before");
    assert_eq!(out.stdout, "gfx000\ngfx90a\n", "{}", out.stderr);
    // From the output of rocminfo.
    let out = exec(&["rocm_agent_enumerator", "-name"]).expect("as before");
    assert_eq!(out.status, 0, "{}", out.stderr);
    assert!(out.stdout.starts_with("gfx906:"), "{}", out.stdout);
}

/// Queries as rocminfo up to 5.2 and from 5.6 on does, and for files that are nobody's business.
const QUESTIONS: &str = r#"
typedef struct file FILE;
int printf(const char *, ...);
FILE *popen(const char *, const char *);
int pclose(FILE *);
FILE *fopen(const char *, const char *);
FILE *fopen64(const char *, const char *);
int fclose(FILE *);
char *fgets(char *, int, FILE *);
int open(const char *, int, ...);
int open64(const char *, int, ...);
int close(int);

static void line(const char *what, FILE *stream) {
  char text[64] = "nothing\n";
  if (stream)
    fgets(text, sizeof text, stream);
  printf("%s: %s", what, text);
}

int main(int argc, char **argv) {
  FILE *modules = popen("lsmod | grep amdgpu", "r");
  line("modules", modules);
  printf("closed: %d\n", pclose(modules));
  line("state", fopen("/sys/module/amdgpu/initstate", "r"));
  line("state", fopen64("/sys/module/amdgpu/initstate", "r"));
  printf("device: %d %d\n", open("/dev/kfd", 2) >= 0, open64("/dev/kfd", 2) >= 0);
  line("other", popen("echo other", "r"));
  line("missing", fopen("/nowhere/file", "r"));
  printf("missing: %d\n", open("/nowhere/file", 0));
  FILE *own = fopen(argv[0], "r");
  printf("own: %d\n", own != 0 && fclose(own) == 0);
  int made = open(argv[1], 0102, 0640);
  printf("made: %d\n", made >= 0 && close(made) == 0);
  return 0;
}
"#;

#[test]
fn only_the_tools_questions_are_answered() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder("exec-tools");
    let path = |name: &str| {
        folder
            .join(name)
            .to_str()
            .expect("the path is text")
            .to_owned()
    };
    std::fs::write(path("questions.c"), QUESTIONS).expect("it can be written");
    let compiler = Command::new("cc")
        .args([
            &path("questions.c"),
            "-fno-builtin",
            "-o",
            &path("rocminfo"),
        ])
        .output();
    let Ok(made) = compiler else {
        eprintln!("SKIPPED, since there is no C compiler");
        return;
    };
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    let Some(out) = exec(&[&path("rocminfo"), &path("made")]) else {
        return;
    };
    assert_eq!((out.status, out.stderr.as_str()), (0, ""));
    assert_eq!(
        out.stdout,
        "modules: amdgpu\nclosed: 0\nstate: live\nstate: live\ndevice: 1 1\nother: other\n\
         missing: nothing\nmissing: -1\nown: 1\nmade: 1\n"
    );
    let mode = std::fs::metadata(path("made"))
        .expect("it was made")
        .permissions();
    assert_eq!(mode.mode() & 0o700, 0o600);
    // Under another name it is a program like any other.
    std::fs::rename(path("rocminfo"), path("other")).expect("it is there");
    let out = exec(&["env"]).expect("as before");
    assert!(!out.stdout.contains("LD_PRELOAD="), "{}", out.stdout);
    if !Path::new("/dev/kfd").exists() {
        let out = exec(&[&path("other"), &path("made")]).expect("as before");
        assert!(out.stdout.contains("device: 0 0\n"), "{}", out.stdout);
    }
}
