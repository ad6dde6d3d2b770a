//! Compression: detected by the first bytes of an input, and used for its output.

use std::io::Write;

use super::samples::{in_pieces, records};
use crate::support::{Place, bzip2, gzip, json_lines, text, xz, zstd};

/// A zstd frame with a window so large that `zstd` needs `--long` to decode it.
fn zstd_long(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.long_distance_matching(true).unwrap();
    encoder.window_log(30).unwrap();
    // Without this flush the encoder would know the size and choose a small window.
    encoder.write_all(&bytes[..1]).unwrap();
    encoder.flush().unwrap();
    encoder.write_all(&bytes[1..]).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn outputs_are_compressed_like_their_inputs() {
    let lines = [records().join(&b"\n"[..]), b"\n".to_vec()].concat();
    let kept_lines = json_lines([text(1, 20), text(2, 20), text(3, 20)]);
    let skippable = b"\x50\x2A\x4D\x18\x04\x00\x00\x00skip";
    let long = zstd_long(&lines);
    let needs_long = zstd::decode_all(&long[..]).is_err();
    assert!(needs_long, "the window is not long");
    let gzip_magic = &b"\x1F\x8B"[..];
    let zstd_magic = &b"\x28\xB5\x2F\xFD"[..];
    let xz_magic = &b"\xFD7zXZ\0"[..];
    let bzip2_magic = &b"BZh9"[..];
    let place = Place::new();
    for (name, bytes, magic) in [
        ("in.jsonl", lines.clone(), &b"{"[..]),
        ("in.jsonl.gz", gzip(&lines), gzip_magic),
        ("members.jsonl.gz", in_pieces(gzip, &lines), gzip_magic),
        (
            "empty-member.jsonl.gz",
            [gzip(b""), gzip(&lines), gzip(b"")].concat(),
            gzip_magic,
        ),
        ("in.jsonl.zst", zstd(&lines), zstd_magic),
        ("frames.jsonl.zst", in_pieces(zstd, &lines), zstd_magic),
        (
            "skippable.jsonl.zst",
            [skippable, &zstd(&lines)[..], skippable].concat(),
            zstd_magic,
        ),
        ("long.jsonl.zst", long, zstd_magic),
        ("in.jsonl.xz", xz(&lines), xz_magic),
        ("streams.jsonl.xz", in_pieces(xz, &lines), xz_magic),
        (
            "padded.jsonl.xz",
            [&xz(&lines)[..], &[0; 8]].concat(),
            xz_magic,
        ),
        ("in.jsonl.bz2", bzip2(&lines), bzip2_magic),
        ("streams.jsonl.BZ2", in_pieces(bzip2, &lines), bzip2_magic),
        (
            "empty-stream.jsonl.bz2",
            [bzip2(b""), bzip2(&lines)].concat(),
            bzip2_magic,
        ),
        // The name does not decide the compression.
        ("misnamed.jsonl", gzip(&lines), gzip_magic),
        ("misnamed.jsonl.gz", lines.clone(), b"{"),
    ] {
        place.write(name, bytes);
        for verify in ["signature", "exact"] {
            let results = place.dedup(&format!("{name} --verify {verify}"));
            assert_eq!(results.kept_names(), [name]);
            assert!(results.stored(name).starts_with(magic), "{name}");
            assert_eq!(results.kept(name), kept_lines, "{name}");
        }
    }
}
