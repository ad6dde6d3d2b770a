//! Sends texts to a device that does nothing and collects its rows, on one thread, in bytes of text per second: the
//! host's side of a run on a GPU.
//!
//!     cargo bench --features internals,gpu --bench device_host

#[allow(dead_code, reason = "each bench uses a part of the module")]
mod stages;

use criterion::{Criterion, Throughput};
use simgpu::internals::HostSide;
use simgpu::pipeline::{Banding, Shingler, Shingling, Unit};
use simgpu::scheme::Scheme;

fn main() {
    stages::run(&[bench_texts]);
}

/// Pieces of 1 MiB, of long and of short texts.
fn bench_texts(criterion: &mut Criterion) {
    let words = [
        "the ", "quick ", "brown ", "fox ", "jumps ", "over ", "a ", "lazy ", "dog. ",
    ];
    let mut group = criterion.benchmark_group("device_host");
    for (shown, length) in [("50 kB", 50_000), ("5 kB", 5_000), ("500 B", 500)] {
        let text = |number: usize| {
            // Paragraphs of 100 words.
            let word = |i: usize| match i % 100 {
                0 => "\n\n",
                _ => words[i * i % words.len()],
            };
            let mut text: String = (number..).map(word).take(length / 4).collect();
            text.truncate(length);
            text + &number.to_string()
        };
        let texts: Vec<String> = (0..(64 << 20) / length).map(text).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let pieces: Vec<&[&str]> = texts.chunks((1 << 20) / length).collect();
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        group.throughput(Throughput::Bytes(bytes as u64));
        for unit in [Unit::Bytes, Unit::Chars] {
            let scheme = Scheme::default();
            let shown = format!("{shown} {unit}");
            let shingler = Shingler::new(Shingling::of(unit), &scheme, None);
            let shingler = shingler.expect("the unit suits the scheme");
            let banding = Banding::new(16, 8, 128).expect("there are enough slots");
            let host = HostSide::new(&scheme, shingler, banding).expect("wgpu has the device");
            group.bench_function(shown, |bencher| {
                bencher.iter(|| host.run(&pieces).expect("the device accepts everything"));
            });
        }
    }
    group.finish();
}
