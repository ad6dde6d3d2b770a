//! Compressed bytes.

use std::io::{Read, Write};

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}

pub(crate) fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 6);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// The bytes decompressed, if they are compressed.
pub(crate) fn decompressed(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    match bytes {
        [0x1F, 0x8B, ..] => flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut plain),
        [0x28, 0xB5, 0x2F, 0xFD, ..] => zstd::Decoder::new(bytes).unwrap().read_to_end(&mut plain),
        [0xFD, b'7', b'z', ..] => {
            liblzma::read::XzDecoder::new_multi_decoder(bytes).read_to_end(&mut plain)
        }
        [b'B', b'Z', b'h', ..] => bzip2::read::MultiBzDecoder::new(bytes).read_to_end(&mut plain),
        _ => (&mut &*bytes).read_to_end(&mut plain),
    }
    .unwrap();
    plain
}
