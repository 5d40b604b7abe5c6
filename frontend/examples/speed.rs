use std::hint::black_box;
fn main() {
    for g in ["gfx700", "gfx900"] {
        let gfx: frontend::Gfx = g.parse().unwrap();
        let text = std::fs::read_to_string(format!("/tmp/{g}.txt")).unwrap();
        let words: Vec<Vec<u8>> = text
            .lines()
            .map(|h| {
                (0..h.len() / 2)
                    .map(|i| u8::from_str_radix(&h[2 * i..2 * i + 2], 16).unwrap())
                    .collect()
            })
            .filter(|b: &Vec<u8>| frontend::decode(gfx, b).is_ok())
            .collect();
        let mut best = f64::MAX;
        for _ in 0..20 {
            let t = std::time::Instant::now();
            for w in &words {
                let r = frontend::decode(gfx, black_box(w));
                black_box(&r);
            }
            best = best.min(t.elapsed().as_secs_f64());
        }
        println!(
            "{g}: {:.1} M/s, Inst {} bytes",
            words.len() as f64 / best / 1e6,
            std::mem::size_of::<frontend::Inst>()
        );
    }
}
