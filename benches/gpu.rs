//! scratch
#![allow(
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    reason = "scratch"
)]
use simgpu::backend::gpu::{GpuOptions, Integers};
use simgpu::backend::{Backend, Hardware};
use simgpu::pipeline::*;
use simgpu::scheme::*;
use std::time::Instant;
fn cpu_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let rest = stat.rsplit(')').next().unwrap();
    let f: Vec<&str> = rest.split_whitespace().collect();
    (f[11].parse::<f64>().unwrap() + f[12].parse::<f64>().unwrap()) / 100.0
}
fn main() {
    let n = 2_000_000usize;
    let wide: Vec<u64> = (0..n as u64).map(fmix64).collect();
    let narrow: Vec<u32> = wide.iter().map(|x| *x as u32).collect();
    let offsets: Vec<i64> = (0..=n / 1000).map(|i| (i * 1000) as i64).collect();
    for (name, integers) in [
        ("scalar", None),
        ("affine32", Some(Integers::U32)),
        ("mersenne31", Some(Integers::U32)),
        ("mersenne31", Some(Integers::U64)),
        ("mersenne61", Some(Integers::U32)),
        ("mersenne61", Some(Integers::U64)),
        ("affine64", Some(Integers::U64)),
        ("mersenne61-wide", Some(Integers::U64)),
    ] {
        let scheme = Scheme::named(if name == "scalar" { "affine32" } else { name }).unwrap();
        let hardware = Hardware {
            gpu: GpuOptions {
                integers,
                ..Default::default()
            },
            ..Default::default()
        };
        let backend = if integers.is_none() {
            Backend::Scalar
        } else {
            Backend::Gpu
        };
        let signer = backend.signer_with(&scheme, &hardware).unwrap();
        let hashes = match signer.slot_width() {
            Width::U32 => Hashes::U32(&narrow),
            _ => Hashes::U64(&wide),
        };
        let sets = ShingleSets::new(hashes, &offsets).unwrap();
        let mut s = Signatures::new(128, signer.slot_width());
        s.sign(&*signer, &sets).unwrap();
        let (c, t) = (cpu_s(), Instant::now());
        for _ in 0..2 {
            s.clear();
            s.sign(&*signer, &sets).unwrap();
        }
        let (c, t) = (cpu_s() - c, t.elapsed().as_secs_f64());
        let u = 2.0 * n as f64 * 128.0 / 1e9;
        println!(
            "{name} {integers:?}: {:.2} G/s wall, {:.2} G/CPU-s",
            u / t,
            u / c
        );
    }
    // text
    let text: String = (0..400_000u64)
        .map(|i| format!("{} ", fmix64(i) % 10000))
        .collect();
    let texts: TextBatch = text
        .as_bytes()
        .chunks(4000)
        .map(|c| std::str::from_utf8(c).unwrap())
        .collect();
    for name in ["affine32", "mersenne61"] {
        let scheme = Scheme::named(name).unwrap();
        let shingler = Shingler::new(Shingling::of(Unit::Bytes), &scheme, None).unwrap();
        let signer = Backend::Gpu.signer(&scheme).unwrap();
        Signatures::of_texts(&*signer, &texts, &shingler).unwrap();
        let (c, t) = (cpu_s(), Instant::now());
        Signatures::of_texts(&*signer, &texts, &shingler).unwrap();
        let (c, t) = (cpu_s() - c, t.elapsed().as_secs_f64());
        let u = text.len() as f64 * 128.0 / 1e9;
        println!("text {name}: {:.2} G/s wall, {:.2} G/CPU-s", u / t, u / c);
    }
}
