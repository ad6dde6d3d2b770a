use super::*;

/// Bytes that compress a little.
fn content(bytes: usize) -> Vec<u8> {
    (0u32..)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 27).to_le_bytes()[0])
        .take(bytes)
        .collect()
}

/// A frame whose header has the size of its content.
fn sized(bytes: usize) -> Vec<u8> {
    zstd::bulk::compress(&content(bytes), 1).unwrap()
}

fn without_size(bytes: usize) -> Vec<u8> {
    zstd::encode_all(&*content(bytes), 1).unwrap()
}

fn with_checksum(bytes: usize) -> Vec<u8> {
    let mut compressor = zstd::bulk::Compressor::new(1).unwrap();
    compressor.include_checksum(true).unwrap();
    compressor.compress(&content(bytes)).unwrap()
}

fn skippable(bytes: u32) -> Vec<u8> {
    let mut frame = b"\x50\x2A\x4D\x18".to_vec();
    frame.extend(bytes.to_le_bytes());
    frame.resize(8 + bytes as usize, 7);
    frame
}

fn changed(mut file: Vec<u8>, at: usize) -> Vec<u8> {
    file[at] ^= 0x55;
    file
}

/// All bytes of a stream, read by so many at a time, and the error behind them.
fn all_of(mut stream: impl Read, step: usize) -> (Vec<u8>, Option<String>) {
    let (mut bytes, mut buffer) = (Vec::new(), vec![0; step]);
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return (bytes, None),
            Ok(read) => bytes.extend_from_slice(&buffer[..read]),
            Err(error) => return (bytes, Some(error.to_string())),
        }
    }
}

fn on_threads<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build().unwrap().install(run)
}

/// Compares a file with the same as a stream.
fn check(file: &[u8], step: usize, name: &str) {
    let expected = all_of(Compression::Zstd.reader(file).unwrap(), step);
    for (threads, ahead) in [(1, 1), (1, 3), (3, 1), (3, 8)] {
        let read = on_threads(threads, || all_of(FramesReader::new(file, ahead), step));
        assert_eq!(read.1, expected.1, "{name}, {ahead} ahead");
        assert!(read.0 == expected.0, "{name}, {ahead} ahead");
    }
}

#[test]
fn frames_read_as_a_stream_does() {
    let whole = [sized(0), sized(FRAME), skippable(9), sized(5), sized(BATCH)].concat();
    let three = [sized(100), sized(3 * BATCH), sized(100)].concat();
    let in_the_middle = three.len() / 2;
    let checked = [with_checksum(70_000), with_checksum(9)].concat();
    let in_the_checksum = with_checksum(70_000).len() - 1;
    // The size of the content, behind the magic number and the descriptor of the frame.
    let wrong_size = changed(sized(70_000), 5);
    let files = [
        ("an empty file", Vec::new()),
        ("an empty frame", sized(0)),
        ("several frames", whole.clone()),
        ("a cut frame", whole[..whole.len() - 1].to_vec()),
        ("other bytes behind", [&*whole, b"no frame"].concat()),
        ("zeros behind", [&*whole, &[0; 20]].concat()),
        ("small frames", sized(300).repeat(9_000)),
        (
            "a frame without a size",
            [sized(9), without_size(BATCH), sized(9)].concat(),
        ),
        (
            "a large frame",
            [sized(9), sized(LARGEST + 1), sized(9)].concat(),
        ),
        (
            "a large skipped frame",
            [skippable(1 << 20), sized(9), skippable(3)].concat(),
        ),
        ("damage", changed(three, in_the_middle)),
        ("checksums", checked.clone()),
        ("a wrong checksum", changed(checked, in_the_checksum)),
        ("a wrong size", [sized(8), wrong_size, sized(8)].concat()),
    ];
    for (name, file) in files {
        check(&file, 1 << 20, name);
        check(&file, 1_000, name);
    }
    let frames = [sized(3), skippable(2), with_checksum(5), sized(0)].concat();
    for end in 0..=frames.len() {
        check(&frames[..end], 4, &format!("{end} bytes"));
    }
}

/// A file that cannot be read to its end.
struct BrokenDisk;

impl Read for BrokenDisk {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("the disk is broken"))
    }
}

#[test]
fn what_could_be_read_comes_before_the_error() {
    let file = [sized(FRAME), sized(9), sized(3 * BATCH)].concat();
    for end in [3, 100, file.len() - 100, file.len()] {
        let read = || file[..end].chain(BrokenDisk);
        let expected = all_of(Compression::Zstd.reader(read()).unwrap(), 1 << 20);
        assert_eq!(all_of(FramesReader::new(read(), 3), 1 << 20), expected);
        assert_eq!(expected.1.unwrap(), "the disk is broken");
    }
}

#[test]
fn a_batch_waits_while_another_is_read() {
    let file = sized(FRAME).repeat(6);
    on_threads(2, || {
        let mut reader = FramesReader::new(&*file, 3);
        reader.read_exact(&mut [0; 9]).unwrap();
        assert_eq!(reader.waiting.len(), 3);
    });
}

#[test]
fn no_more_is_held_than_headers_say() {
    // A mebibyte by its header, and 20,000 blocks of 128 KiB each.
    let mut bomb = b"\x28\xB5\x2F\xFD\x80\x38\x00\x00\x10\x00".to_vec();
    bomb.extend(b"\x02\x00\x10\x41".repeat(20_000));
    bomb.extend(b"\x03\x00\x10\x41");
    let mut file = Compressed {
        file: &*bomb,
        bytes: Vec::new(),
        error: None,
        has_frames: false,
    };
    let batch = file.next_batch().unwrap();
    assert_eq!(batch.content, 1 << 20);
    assert_eq!(batch.decompress(), Err(bomb));
}

#[test]
fn only_threads_that_stand_still_decompress_ahead() {
    for (threads, files, ahead) in [(1, 1, 0), (7, 1, 0), (8, 1, 1), (32, 1, 4), (32, 4, 1)] {
        assert_eq!(on_threads(threads, || frames_ahead(files)), ahead);
    }
    assert_eq!(frames_ahead(1), 0);
}
