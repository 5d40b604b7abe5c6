//! `wavelift profile` and `wavelift bench --profile`.

use super::{file, folder, json, root, wavelift};

/// Instructions and lane-instructions of each dispatch, as the interpreter counts.
fn counted(manifest: &str) -> Vec<(u64, u64)> {
    let run = wavelift(&[
        "run",
        manifest,
        "--engine",
        "interp",
        "--count",
        "--threads",
        "1",
        "--json",
        "--out",
        "target/tmp/counted",
    ]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let value = json(&run);
    let dispatches = value["dispatches"].as_array().expect("a list");
    let count = |dispatch: &serde_json::Value, key: &str| dispatch[key].as_u64().expect("counted");
    dispatches
        .iter()
        .map(|d| (count(d, "instructions"), count(d, "lane_instructions")))
        .collect()
}

/// An instruction of a page's disassembly.
#[derive(Debug)]
struct Row {
    executions: u64,
    lanes: String,
    text: String,
    shape: String,
}

/// Text without tags.
fn plain(html: &str) -> String {
    let mut text = String::new();
    for piece in html.split('<') {
        text.push_str(piece.split_once('>').map_or(piece, |(_, text)| text));
    }
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&amp;", "&"),
    ];
    let replace = |text: String, (from, to): (&str, &str)| text.replace(from, to);
    entities.into_iter().fold(text, replace)
}

/// The instructions of a part of a page.
fn rows(html: &str) -> Vec<Row> {
    let parts = html.split("<div class=\"part").skip(1);
    let code = parts.filter_map(|part| part.split_once("<pre>")?.1.split_once("</pre>"));
    // Lines without an address are source lines.
    let lines = code.flat_map(|(code, _)| code.lines());
    let lines = lines.filter(|line| !line.starts_with("        "));
    let rows = lines.map(|line| {
        let text = plain(line);
        let column = |from: usize, to: usize| -> String {
            let text: String = text.chars().skip(from).take(to - from).collect();
            text.trim().to_owned()
        };
        let text = column(38, usize::MAX);
        let (text, shape) = text.split_once("  // ").unwrap_or((&text, ""));
        Row {
            executions: column(8, 21).parse().expect("a number"),
            lanes: column(21, 27),
            text: text.to_owned(),
            shape: shape.to_owned(),
        }
    });
    rows.collect()
}

#[test]
fn a_profile_counts_what_the_interpreter_counts() {
    // On one thread, because compare-and-swap loops depend on scheduling. Divergent loops, LDS and
    // barriers, several kernels, many launches of one kernel.
    for example in [
        "mandelbrot",
        "matmul",
        "reduction",
        "histogram",
        "calls",
        "bitonic",
        "sha256",
    ] {
        let manifest = format!("examples/{example}/{example}.gfx900.toml");
        let mut wanted = counted(&manifest);
        let bench = wavelift(&[
            "bench",
            &manifest,
            "--seconds",
            "0.001",
            "--profile",
            "--threads",
            "1",
            "--json",
        ]);
        assert_eq!(bench.status, 0, "{}", bench.stderr);
        let value = json(&bench);
        let kernels = value["profile"].as_array().expect("a list");
        let names = value["dispatches"].as_array().expect("a list");
        for kernel in kernels {
            let mut sum = (0, 0);
            for (dispatch, count) in names.iter().zip(&mut wanted) {
                if dispatch["kernel"] == kernel["kernel"] {
                    let (instructions, lanes) = std::mem::take(count);
                    sum = (sum.0 + instructions, sum.1 + lanes);
                }
            }
            let got = |key: &str| kernel[key].as_u64().expect("a number");
            assert_eq!(
                (got("instructions"), got("lane_instructions")),
                sum,
                "{example}"
            );
            let shares: f64 = kernel["regions"]
                .as_array()
                .expect("a list")
                .iter()
                .flat_map(|region| region["blocks"].as_array().expect("a list"))
                .map(|block| block["share"].as_f64().expect("a number"))
                .sum();
            assert!((shares - 1.0).abs() < 1e-6, "{example}: {shares}");
        }
        assert!(
            wanted.iter().all(|&rest| rest == (0, 0)),
            "{example}: a kernel is missing"
        );
    }
}

#[test]
fn bench_says_how_a_kernel_was_translated() {
    let bench = wavelift(&[
        "bench",
        "examples/saxpy/saxpy.gfx900.toml",
        "--seconds",
        "0.001",
        "--profile",
        "--emitter",
        "cranelift",
    ]);
    assert_eq!((bench.status, bench.stderr.as_str()), (0, ""));
    for part in [
        "profile of saxpy: 1 launch, 80 waves, 2544 instructions (86796 by lane), ",
        "\n  region saxpy: cranelift, v0 counts lanes, v1 and v2 uniform, 32 instructions to ",
        " host bytes, entered 80 times, 100.0 % of time\n",
        "\n    block saxpy: 15 instructions, 80 executions, 64.0 lanes, ",
        "\n      loop 1: 16 lanes or masked (0 of 80), ",
        "; ends: scalar code reads a mask\n",
        "\n    block saxpy+0x4c: 16 instructions, 79 executions, 63.3 lanes, ",
        "global_load_dword v2, v[2:3], off: inline, affine with stride 4, checked\n",
    ] {
        assert!(bench.stdout.contains(part), "{part:?} in {}", bench.stdout);
    }
}

#[test]
fn loops_inside_the_lane_groups_are_shown() {
    // Buffers of a few KiB: the guest's memory is small.
    for (manifest, iterations) in [
        ("benches/manifests/small/matmul-512.gfx900.toml", 4096),
        ("benches/manifests/small/alu-64k.gfx900.toml", 256),
    ] {
        let profile = wavelift(&[
            "bench",
            manifest,
            "--seconds",
            "0.001",
            "--profile",
            "--json",
        ]);
        assert_eq!(profile.status, 0, "{}", profile.stderr);
        let value = json(&profile);
        let blocks: Vec<_> = value["profile"][0]["regions"]
            .as_array()
            .expect("a list")
            .iter()
            .flat_map(|region| region["blocks"].as_array().expect("a list"))
            .collect();
        let shown: Vec<_> = blocks
            .iter()
            .filter(|block| !block["interchanged"].is_null())
            .collect();
        assert_eq!(shown.len(), 1, "{manifest}");
        let (block, form) = (shown[0], &shown[0]["interchanged"]);
        assert_eq!(
            (&form["iterations"], &block["executions"]),
            (&iterations.into(), &iterations.into())
        );
        assert!(form["host_bytes"].as_u64().expect("a number") > 100);
        assert!(block["share"].as_f64().expect("a number") > 0.5, "{block}");
        let group = &form["group"];
        let line = format!(
            "\n      runs inside the lane groups, {group} lanes ({iterations} of {iterations}), "
        );
        let text = wavelift(&["profile", manifest]);
        assert!(text.stdout.contains(&line), "{line} in {}", text.stdout);
    }
}

/// Times are of code without counters, in whose loops iterations cannot be counted; executions are
/// of code with counters.
#[test]
fn uncounted_forms_are_shown_with_executions() {
    for (benchmark, form, words) in [
        (
            "mandelbrot-2048",
            serde_json::json!({"form": "groups", "lanes": 8, "unmasked": true}),
            "runs inside the lane groups, 8 lanes, unmasked while all active lanes continue",
        ),
        (
            "reduction-16m",
            serde_json::json!({"form": "peeled", "lanes": 16}),
            "runs the iterations common to all lanes inside the lane groups, 16 lanes",
        ),
        (
            "spmv-256k",
            serde_json::json!({"form": "lane_serial"}),
            "runs lane by lane, all iterations of each",
        ),
    ] {
        let manifest = format!("benches/manifests/small/{benchmark}.gfx900.toml");
        let bench = wavelift(&[
            "bench",
            &manifest,
            "--seconds",
            "0.001",
            "--profile",
            "--json",
            "--emitter",
            "cranelift",
        ]);
        assert_eq!(bench.status, 0, "{}", bench.stderr);
        let value = json(&bench);
        let list =
            |value: &serde_json::Value, key: &str| value[key].as_array().expect("a list").clone();
        let kernels = list(&value, "profile");
        let instructions = kernels
            .iter()
            .map(|kernel| kernel["instructions"].as_u64().expect("a number"))
            .sum::<u64>();
        let counted = counted(&manifest);
        assert_eq!(
            instructions,
            counted.iter().map(|dispatch| dispatch.0).sum::<u64>()
        );
        let regions: Vec<_> = kernels
            .iter()
            .flat_map(|kernel| list(kernel, "regions"))
            .collect();
        assert!(regions.iter().all(|region| region.get("only").is_none()));
        let blocks: Vec<_> = regions
            .iter()
            .flat_map(|region| list(region, "blocks"))
            .collect();
        let loops = blocks.iter().find(|block| {
            let mut told = block["uncounted"].clone();
            let bytes = told
                .as_object_mut()
                .and_then(|told| told.remove("host_bytes"));
            bytes.is_some_and(|bytes| bytes.as_u64() > Some(100)) && told == form
        });
        let head = loops.unwrap_or_else(|| panic!("{form} in {blocks:?}"));
        // The loop, all its blocks together, dominates the time.
        let share: f64 = blocks
            .iter()
            .filter(|block| *block == head || block["part_of"] == head["place"])
            .map(|block| block["share"].as_f64().expect("a number"))
            .sum();
        assert!(share > 0.5, "{benchmark}: {share}");
        let (place, executions) = (&head["place"], &head["executions"]);
        let place = place.as_str().expect("a name");
        assert!(executions.as_u64() > Some(100), "{head}");
        let text = wavelift(&["profile", &manifest, "--emitter", "cranelift"]);
        assert_eq!((text.status, text.stderr.as_str()), (0, ""));
        let block = format!("\n    block {place}: ");
        let (_, block) = text.stdout.split_once(&block).expect("the loop is there");
        let (first, rest) = block.split_once('\n').expect("it has lines");
        assert!(
            first.contains(&format!(" {executions} executions, ")),
            "{first}"
        );
        let line = format!("      {words}, ");
        assert!(rest.starts_with(&line), "{line} in {rest}");
    }
}

#[test]
fn the_page_stands_alone_and_counts_every_instruction() {
    let folder = folder("profile");
    let page = folder.join("page.html");
    let page = page.to_str().expect("the path is text");
    let manifest = "examples/matmul/matmul.gfx803.toml";
    let profile = wavelift(&["profile", manifest, "--html", page]);
    assert_eq!((profile.status, profile.stderr.as_str()), (0, ""));
    assert_eq!(profile.stdout, format!("wrote {page}\n"));
    let text = std::fs::read_to_string(page).expect("it was written");
    assert!(text.starts_with("<!DOCTYPE html>\n") && text.ends_with("</html>\n"));
    for foreign in ["http", "<script", "src=", "@import", "javascript:"] {
        assert!(!text.contains(foreign), "{foreign}");
    }
    // Links lead to what is on the page.
    for (before, after) in [("href=\"", "\""), ("url(", ")")] {
        for link in text.split(before).skip(1) {
            let link = link.split(after).next().expect("a link");
            let name = link.strip_prefix('#').unwrap_or_else(|| panic!("{link}"));
            assert!(text.contains(&format!("id=\"{name}\"")), "{link}");
        }
    }
    let anchors: Vec<&str> = text
        .split(" id=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    let unique: std::collections::BTreeSet<_> = anchors.iter().collect();
    assert_eq!(unique.len(), anchors.len(), "each name is one place");
    for part in ["CPU", "Vector extensions", "Threads", "Version", "Date"] {
        assert!(text.contains(&format!("<dt>{part}</dt><dd>")), "{part}");
    }
    for tag in [
        "table", "div", "section", "details", "summary", "span", "tr", "h2", "pre", "a", "svg",
    ] {
        let open =
            text.matches(&format!("<{tag}>")).count() + text.matches(&format!("<{tag} ")).count();
        assert_eq!(open, text.matches(&format!("</{tag}>")).count(), "{tag}");
        assert_ne!(open, 0, "{tag}");
    }
    let wanted = counted(manifest);
    for (i, (section, name)) in text
        .split("<section>")
        .skip(1)
        .zip(["matmul_naive", "matmul_tiled"])
        .enumerate()
    {
        assert!(section.starts_with(&format!("\n<h2 id=\"k{i}\">{name}</h2>\n")));
        let rows = rows(section);
        let sum: u64 = rows.iter().map(|row| row.executions).sum();
        assert_eq!(sum, wanted[i].0, "{name}");
        // Scalar instructions have no lanes, vector instructions that ran have.
        for row in &rows {
            let kinds = ["v_", "flat_", "ds_"];
            let vector = kinds.iter().any(|kind| row.text.starts_with(kind));
            let counted = vector && row.executions != 0;
            assert_eq!(!row.lanes.is_empty(), counted, "{row:?}");
        }
        // The listing is what the disassembler prints, with its labels.
        let disasm = wavelift(&[
            "disasm",
            "examples/matmul/matmul.gfx803.co",
            "--kernel",
            name,
        ]);
        for row in &rows {
            let line = format!("\t{}\n", row.text);
            assert!(disasm.stdout.contains(&line), "{row:?}");
        }
        let branches = rows.iter().filter(|row| row.text.contains("branch"));
        for branch in branches {
            let (_, label) = branch.text.split_once(' ').expect("a branch has a target");
            let address = label.strip_prefix(".L").expect("it is a label");
            let link = format!("<a href=\"#k{i}-{address}\">{label}</a>");
            assert!(section.contains(&link), "{link}");
        }
        // Shapes stand where blocks begin and where memory is accessed.
        let memory = |text: &str| text.starts_with("flat_") || text.starts_with("ds_");
        assert!(rows.iter().any(|row| row.shape.contains("lanes")), "{name}");
        for row in rows
            .iter()
            .filter(|row| row.executions != 0 && memory(&row.text))
        {
            let how = ["inline, ", "inline for each lane", "call of the runtime"];
            assert!(how.iter().any(|how| row.shape.contains(how)), "{row:?}");
        }
        flame_fits(&text);
        hottest_first(section);
    }
}

/// Checks that no row of a page's flame is wider than what is above it.
fn flame_fits(page: &str) {
    let (_, flame) = page.split_once("<div class=\"flame\">").expect("a flame");
    let (flame, _) = flame.split_once("<p ").expect("it ends");
    // Sums of the widths of the cells, for each open row.
    let mut open: Vec<(bool, f64)> = Vec::new();
    let mut cells = 0;
    for tag in flame.split('<').skip(1) {
        if tag.starts_with("/div") {
            open.pop();
        } else if let Some(cell) = tag.strip_prefix("div class=\"cell\" style=\"width:") {
            let width = cell.split('%').next().expect("a number");
            let width: f64 = width.parse().expect("a number");
            let (is_row, sum) = open.last_mut().expect("it is in a row");
            *sum += width;
            assert!(*is_row && *sum <= 100.0, "{sum}");
            open.push((false, 0.0));
            cells += 1;
        } else if tag.starts_with("div") {
            open.push((true, 0.0));
        }
    }
    assert!(cells > 4, "{cells} cells");
}

/// Checks the order of the list of blocks.
fn hottest_first(section: &str) {
    let (_, table) = section
        .split_once("<table class=\"hottest\">")
        .expect("a list");
    let (table, _) = table.split_once("</table>").expect("it ends");
    let shares: Vec<f64> = table
        .lines()
        .filter_map(|row| {
            row.strip_prefix("<tr><td class=\"n\">")?
                .split(' ')
                .next()?
                .parse()
                .ok()
        })
        .collect();
    assert!(
        !shares.is_empty() && shares.is_sorted_by(|a, b| a >= b),
        "{shares:?}"
    );
}

#[test]
fn a_page_has_source_lines_and_names() {
    let folder = folder("profile-source");
    let manifest = norms(&folder);
    let profile = wavelift(&["profile", &manifest, "--html", "-"]);
    assert_eq!((profile.status, profile.stderr.as_str()), (0, ""));
    let page = profile.stdout;
    for part in [
        ">void norms&lt;float&gt;(float*, float const*, int)</h2>",
        "<th>source line</th>",
        "Code of filter::clamp(int, filter::Range): ",
        "<i>lines.hip:16:9, float norm&lt;float&gt;(float, float) inlined at lines.hip:41:16</i>",
        "Control flow of void norms&lt;float&gt;",
        " (not taken)",
        "; calls <a href=",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let value = json(&wavelift(&[
        "bench",
        &manifest,
        "--seconds",
        "0.001",
        "--profile",
        "--json",
    ]));
    let kernel = &value["profile"][0];
    // 64 lanes load in[i] and store out[at]; the others are loads of the scalar unit.
    let memory = kernel["work"]["memory_bytes"].as_u64().expect("a number");
    assert!(memory >= 64 * 8 && memory.is_multiple_of(4), "{memory}");
    assert_eq!(kernel["work"]["lds_bytes"], 0);
    assert!(kernel["work"]["vector_operations"].as_u64() > Some(64 * 10));
    let first = &kernel["regions"][0]["blocks"][0]["source"];
    assert!(
        first
            .as_str()
            .is_some_and(|line| line.starts_with("lines.hip:")),
        "{first}"
    );
}

/// A manifest that runs the kernel of `tests/kernels/source`.
pub(super) fn norms(folder: &std::path::Path) -> String {
    let code_object = root().join("tests/kernels/source/lines.gfx906.co");
    let text = format!(
        "[buffers]\nout = {{ type = \"f32\", count = 64 }}\nin = {{ type = \"f32\", count = 64 }}\n[[dispatch]]\n\
         code_object = {code_object:?}\nkernel = \"_Z5normsIfEvPT_PKS0_i\"\ngrid = [64]\nworkgroup = [64]\n\
         args = [\"@out\", \"@in\", {{ i32 = 40 }}]\n"
    );
    file(folder, "norms.toml", text)
}

#[test]
fn accesses_to_own_scratch_are_shown_as_inline() {
    let profile = wavelift(&["profile", "benches/open/small/solve-32.gfx906.toml"]);
    assert_eq!(profile.status, 0, "{}", profile.stderr);
    let lines = profile.stdout.lines();
    let accesses: Vec<&str> = lines.filter(|line| line.contains("  buffer_")).collect();
    assert!(accesses.len() > 4, "{}", profile.stdout);
    let inline = accesses.iter();
    let inline = inline.filter(|line| line.contains("inline in the wave's scratch"));
    assert!(inline.count() > 4, "{accesses:#?}");
}

#[test]
fn profiles_tell_accumulation_registers() {
    for (target, line) in [
        ("gfx908", "  24 VGPRs, 16 accumulation registers\n"),
        (
            "gfx90a",
            "  48 VGPRs, 16 accumulation registers, which follow 28 of these VGPRs\n",
        ),
    ] {
        let manifest = format!("tests/kernels/matrix/gemm.{target}.toml");
        let profile = wavelift(&["profile", &manifest]);
        assert_eq!(profile.status, 0, "{}", profile.stderr);
        let text = profile.stdout;
        assert_eq!(text.matches("accumulation").count(), 1, "{text}");
        assert!(text.contains(line), "{text}");
        let page = wavelift(&["profile", &manifest, "--html", "-"]).stdout;
        assert!(page.contains(line.trim()), "{target}");
    }
}

#[test]
fn a_fault_ends_a_profile() {
    let folder = folder("profile-fault");
    let code_object = root().join("tests/kernels/faults/faults.gfx900.co");
    let text = format!(
        "[buffers]\nb = {{ bytes = 256 }}\n[[dispatch]]\ncode_object = {code_object:?}\nkernel = \"wild_load\"\n\
         grid = [64]\nworkgroup = [64]\nargs = [\"@b\", {{ u64 = 8 }}]\n"
    );
    let manifest = file(&folder, "m.toml", text);
    let profile = wavelift(&["profile", &manifest]);
    assert_eq!(profile.status, 3, "{}", profile.stderr);
    assert!(profile.stderr.starts_with("fault: "), "{}", profile.stderr);
    let bad = wavelift(&[
        "profile",
        "examples/saxpy/saxpy.gfx900.toml",
        "--html",
        "/nowhere/page.html",
    ]);
    assert_eq!(bad.status, 2);
    assert!(
        bad.stderr.contains("cannot write /nowhere/page.html"),
        "{}",
        bad.stderr
    );
}

#[test]
fn reasons_are_ranked_by_time() {
    let profile = wavelift(&[
        "bench",
        "benches/open/small/sobel.gfx906.toml",
        "--seconds",
        "0.001",
        "--profile",
        "--json",
    ]);
    assert_eq!(profile.status, 0, "{}", profile.stderr);
    let value = json(&profile);
    let reasons = value["profile"][0]["reasons"].as_array().expect("a list");
    let shares: Vec<f64> = reasons
        .iter()
        .map(|reason| reason["share"].as_f64().expect("a number"))
        .collect();
    assert!(shares.is_sorted_by(|a, b| a >= b), "{shares:?}");
    assert!(
        shares.iter().all(|share| (0.01..=1.0).contains(share)),
        "{shares:?}"
    );
    let whats: Vec<_> = reasons
        .iter()
        .filter_map(|reason| reason["what"].as_str())
        .collect();
    // Four tests of the pixel's place, each of which ends a block.
    let cut = "values go through the wave's registers, cut by: scalar code reads a mask";
    assert!(whats.contains(&cut), "{whats:?}");
    let text = wavelift(&[
        "profile",
        "benches/open/small/sobel.gfx906.toml",
        "--threads",
        "1",
    ]);
    assert_eq!(text.status, 0, "{}", text.stderr);
    assert!(
        text.stdout.contains(&format!("where {cut} (most: sobel")),
        "{}",
        text.stdout
    );
    let page = wavelift(&[
        "profile",
        "benches/open/small/sobel.gfx906.toml",
        "--html",
        "-",
    ]);
    assert_eq!((page.status, page.stderr.as_str()), (0, ""));
    assert!(page.stdout.starts_with("<!DOCTYPE html>") && page.stdout.ends_with("</html>\n"));
    assert!(page.stdout.contains(&format!("<td>{cut}</td>")));
}

/// The two runs of a profile have the place one after the other.
#[test]
fn a_manifest_with_a_place_for_memory_is_profiled() {
    let manifest = "tests/kernels/trace/placed.toml";
    for words in [
        &["profile", manifest][..],
        &["bench", manifest, "--seconds", "0.1", "--profile"],
    ] {
        let run = wavelift(words);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{}", run.stdout);
        assert!(run.stdout.contains("trace"), "{}", run.stdout);
    }
}
