//! The page of a profile in a browser: at the width of a telephone and of a desktop, light and dark.

use std::path::Path;
use std::process::Command;

use fuzz::code_object::Kernel;
use runtime::object::{KernelDescriptor, Processor};
use serde_json::Value;

use super::{file, folder, required, wavelift};

/// What is measured in the page, as a function of its window. Colours are those of the computed style; the
/// background is that of the nearest element that has one.
const MEASURE: &str = include_str!("browser/measure.js");

const BROWSER: &str = "chromium";

/// Is there a browser? Where WAVELIFT_BROWSER is `required` there must be.
fn browser() -> bool {
    required(BROWSER, "chromium", "WAVELIFT_BROWSER")
}

/// Runs the browser on a file, dark or light.
fn run(home: &Path, dark: bool, options: &[&str], page: &str) -> (String, String) {
    let profile = home.join("browser");
    if profile.exists() {
        std::fs::remove_dir_all(&profile).expect("the folder is ours");
    }
    let scheme = if dark { 0 } else { 1 };
    let output = Command::new(BROWSER)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
            "--enable-logging=stderr",
        ])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
        .args(options)
        .arg(format!("file://{page}"))
        .output()
        .expect("the browser starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}", text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

/// A page around the page, as wide as wanted: windows of a browser are at least 500 pixels wide.
fn frame(page: &str, width: u32) -> String {
    let source = page.replace('&', "&amp;").replace('"', "&quot;");
    format!(
        "<!DOCTYPE html><html><head><meta charset=\"utf-8\"><meta name=\"color-scheme\" content=\"light dark\">\
         <style>body{{margin:0}}iframe{{border:0;width:{width}px;height:900px}}</style></head><body>\
         <script>const start = performance.now()</script><iframe srcdoc=\"{source}\"></iframe><pre id=\"result\"></pre>\
         <script>{MEASURE}\naddEventListener('load', () => {{\
         const frame = document.querySelector('iframe'), opened = performance.now() - start;\
         let result;\
         try {{ result = measure(frame.contentWindow) }} catch (error) {{ result = {{error: String(error)}} }}\
         result.opened = opened;\
         frame.remove();\
         document.getElementById('result').textContent = JSON.stringify(result).replaceAll('<', '(')\
         }})</script></body></html>"
    )
}

/// Measures a page. Nothing may be written to the browser's console.
fn measure(home: &Path, page: &str, width: u32, dark: bool) -> Value {
    let framed = file(home, "frame.html", frame(page, width));
    let options = ["--dump-dom", "--window-size=1400,1000"];
    let (document, messages) = run(home, dark, &options, &framed);
    let console: Vec<&str> = messages
        .lines()
        .filter(|line| line.contains("CONSOLE"))
        .collect();
    assert!(console.is_empty(), "{console:?}");
    let result = document.split("<pre id=\"result\">").nth(1);
    let result = result.and_then(|rest| rest.split("</pre>").next());
    let result = result.expect("the page was measured");
    let value: Value = serde_json::from_str(&result.replace("&amp;", "&").replace("&gt;", ">"))
        .unwrap_or_else(|error| panic!("{error}: {result}"));
    assert_eq!(value["error"], Value::Null, "{value}");
    value
}

/// Checks what holds for each page.
fn check(home: &Path, page: &str) {
    for (width, dark) in [(375, false), (375, true), (1280, false), (1280, true)] {
        let value = measure(home, page, width, dark);
        let number = |key: &str| {
            value[key]
                .as_f64()
                .unwrap_or_else(|| panic!("{key}: {value}"))
        };
        let at = format!("{width} pixels, dark: {dark}");
        assert_eq!(number("width"), f64::from(width), "{at}");
        assert_eq!(value["dark"], dark, "{at}");
        assert!(number("closedWidth") <= f64::from(width), "{at}: {value}");
        assert!(number("openWidth") <= f64::from(width), "{at}: {value}");
        assert!(number("contrast") >= 4.5, "{at}: {value}");
        assert!(number("texts") > 20.0, "{at}: {value}");
        assert_eq!(value["wider"], Value::Array(Vec::new()), "{at}");
        assert!(number("cells") > 2.0, "{at}: {value}");
        assert_eq!(value["openAtFirst"], 0, "{at}");
        assert_eq!(value["overlaps"], Value::Array(Vec::new()), "{at}");
        assert!(number("boxes") > 4.0, "{at}: {value}");
        assert!(number("hottestBar") > 40.0, "{at}: {value}");
        assert!(number("heat") > 8.0, "{at}: {value}");
        assert_eq!(value["brokenLinks"], Value::Array(Vec::new()), "{at}");
        assert!(
            number("revealed") > 0.0,
            "{at}: a link opens what it leads to"
        );
    }
}

/// The page of a profile, written and read.
fn page(home: &Path, manifest: &str) -> String {
    let path = home.join("page.html");
    let shown = path.to_str().expect("the path is text");
    let profile = wavelift(&["profile", manifest, "--html", shown]);
    assert_eq!(profile.status, 0, "{}", profile.stderr);
    std::fs::read_to_string(&path).expect("it was written")
}

#[test]
fn a_page_is_readable_at_all_widths_in_both_schemes() {
    if !browser() {
        return;
    }
    let home = folder("browser");
    let manifest = super::profile::norms(&home);
    check(&home, &page(&home, &manifest));
    check(
        &home,
        &page(&home, "benches/open/small/bytecode.gfx906.toml"),
    );
}

/// A kernel with 40,000 instructions in blocks of a hundred.
fn large() -> Vec<u8> {
    const ADD: u32 = 0x0202_0202;
    const BRANCH: u32 = 0xbf84_0000;
    const END: u32 = 0xbf81_0000;
    let words = (1..40_000u32).map(|i| if i % 100 == 0 { BRANCH } else { ADD });
    let code: Vec<u8> = words.chain([END]).flat_map(u32::to_le_bytes).collect();
    let kernel = Kernel {
        name: "large",
        processor: Processor::by_name("gfx900").expect("it is known"),
        descriptor: KernelDescriptor::default(),
        workgroup: [64, 1, 1],
        parameters: &[],
        code: &code,
    };
    kernel.file()
}

/// The browser has little to do for what is not seen. Its time is printed, since other programs have
/// their part in it.
#[test]
fn a_page_of_a_large_kernel_stays_light() {
    let home = folder("browser-large");
    let code_object = file(&home, "large.co", large());
    let text = format!(
        "[[dispatch]]\ncode_object = {code_object:?}\nkernel = \"large\"\ngrid = [64]\nworkgroup = [64]\nargs = []\n"
    );
    let manifest = file(&home, "large.toml", text);
    let page = page(&home, &manifest);
    assert!(page.len() < 8 << 20, "{} bytes", page.len());
    assert!(
        page.matches("v_add_f32").count() >= 39_000,
        "all instructions are there"
    );
    // No element for each instruction.
    let elements = page.matches("</").count();
    assert!(elements < 20_000, "{elements} elements");
    assert!(page.contains("content-visibility:auto"));
    if !browser() {
        return;
    }
    let value = measure(&home, &page, 375, false);
    assert_eq!(value["openAtFirst"], 0);
    let seconds = value["opened"].as_f64().expect("a number") / 1000.0;
    println!("a page of 40,000 instructions opened in {seconds:.3} s");
}

/// Pictures for the eyes of those who change the page: the files are named in the output.
#[test]
fn pictures_are_taken() {
    if !browser() {
        return;
    }
    let home = folder("browser-pictures");
    let manifest = super::profile::norms(&home);
    let page = page(&home, &manifest);
    for (width, dark) in [(375, false), (375, true), (1280, false), (1280, true)] {
        let framed = file(&home, "frame.html", frame_for_picture(&page, width));
        let scheme = if dark { "dark" } else { "light" };
        let picture = home.join(format!("{width}-{scheme}.png"));
        let options = [
            format!("--screenshot={}", picture.display()),
            format!("--window-size={},2400", width.max(500)),
        ];
        run(
            &home,
            dark,
            &options.each_ref().map(String::as_str),
            &framed,
        );
        let bytes = std::fs::read(&picture).expect("it was taken");
        assert!(
            bytes.starts_with(b"\x89PNG") && bytes.len() > 10_000,
            "{}",
            picture.display()
        );
        println!("{}", picture.display());
    }
}

/// The page with everything open.
fn frame_for_picture(page: &str, width: u32) -> String {
    let open = page.replace("<details ", "<details open ");
    let source = open.replace('&', "&amp;").replace('"', "&quot;");
    format!(
        "<!DOCTYPE html><html><head><meta charset=\"utf-8\"><meta name=\"color-scheme\" content=\"light dark\">\
         <style>body{{margin:0}}iframe{{border:0;width:{width}px;height:2400px}}</style></head><body>\
         <iframe srcdoc=\"{source}\"></iframe></body></html>"
    )
}
