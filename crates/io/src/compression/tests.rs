use super::*;

#[test]
fn frames_do_not_depend_on_threads() {
    let folder = tempfile::tempdir().unwrap();
    let bytes: Vec<u8> = (0..3 * FRAME + 5)
        .map(|i| (i / 7).to_le_bytes()[0])
        .collect();
    for compression in [
        Compression::None,
        Compression::Gzip,
        Compression::Zstd,
        Compression::Xz,
        Compression::Bzip2,
    ] {
        let write = |threads: usize, bytes: &[u8]| {
            let path = folder.path().join(format!("{threads}"));
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build().unwrap().install(|| {
                let file = File::create(&path).unwrap();
                let mut writer = FrameWriter::new(file, compression, None);
                bytes
                    .chunks(999_983)
                    .for_each(|c| writer.write_all(c).unwrap());
                writer.finish().unwrap();
            });
            let mut back = Vec::new();
            let file = File::open(&path).unwrap();
            compression
                .reader(file)
                .unwrap()
                .read_to_end(&mut back)
                .unwrap();
            assert!(back == bytes, "{compression:?}");
            std::fs::read(&path).unwrap()
        };
        assert!(write(1, &bytes) == write(3, &bytes), "{compression:?}");
        write(1, &bytes[..FRAME]);
        write(2, &[]);
    }
}
