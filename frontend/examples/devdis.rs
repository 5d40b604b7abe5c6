//! dev only
use std::io::{BufRead, Write};
fn main() {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for l in std::io::stdin().lock().lines() {
        let l = l.unwrap();
        let (g, h) = l.split_once(' ').unwrap();
        let gfx: frontend::Gfx = g.parse().unwrap();
        let bytes: Vec<u8> = (0..h.len() / 2)
            .map(|i| u8::from_str_radix(&h[2 * i..2 * i + 2], 16).unwrap())
            .collect();
        match frontend::decode(gfx, &bytes) {
            Ok(i) => writeln!(out, "{}\t{}", i.len, i.text(gfx)).unwrap(),
            Err(e) => writeln!(out, "0\t!{e}").unwrap(),
        }
    }
}
