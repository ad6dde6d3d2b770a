//! Decompresses the frames of a zstd file side by side.
//!
//! A thread decompresses 1 to 2 GB/s, and signs a fifth of that. So a single file keeps some five threads busy, and more of
//! them stand still, unless the file has several frames: those that simgpu writes, that pzstd writes, or of files that were
//! joined. Their headers say how large they are, so that they are found without decompressing them. A file of one frame is
//! decompressed by one thread at a time.

use std::collections::VecDeque;
use std::io::{self, Cursor, Read};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};

use zstd::zstd_safe::{compress_bound, find_frame_compressed_size, get_frame_content_size};

use super::compression::{Compression, FRAME};

/// Threads that one thread which decompresses keeps busy, about.
const KEPT_BUSY: usize = 4;

/// The most batches of frames of a file that are decompressed ahead.
const AT_MOST: usize = 8;

/// Bytes of small frames that are decompressed together, at least: frames of a line each would cost more to hand over than to
/// decompress.
const BATCH: usize = 1 << 20;

/// The largest frame that is held as a whole.
const LARGEST: usize = 2 * FRAME;

/// Compressed bytes that are read at a time.
const STEP: u64 = 1 << 18;

/// How many batches of frames of each file to decompress ahead, if the current pool reads so many files.
pub(super) fn frames_ahead(files: usize) -> usize {
    let threads = match rayon::current_thread_index() {
        Some(_) => rayon::current_num_threads(),
        None => 1,
    };
    let open = files.clamp(1, threads);
    (threads / open / KEPT_BUSY).min(AT_MOST)
}

/// The frames of a zstd file, of which threads of the current pool decompress some ahead. It reads as a
/// [stream](Compression::reader) does, up to the message of an error.
///
/// **To wait for a frame is no wait for a job**: what another thread has begun to decompress waits for nothing, and what none
/// has begun is decompressed by the thread that reads.
pub(super) struct FramesReader<'a, R> {
    file: Rest<'a, R>,
    ahead: usize,
    waiting: VecDeque<Waiting>,
    /// Content of the batches that wait.
    waiting_bytes: usize,
    current: Cursor<Vec<u8>>,
}

/// What is left of the file.
enum Rest<'a, R> {
    /// Frames that may be held as a whole.
    Frames(Compressed<R>),
    /// What may not, as a stream.
    Stream(Box<dyn Read + Send + 'a>),
    /// Nothing; or the error that ended it, behind what waits.
    Ended(Option<io::Error>),
}

/// A file of frames.
struct Compressed<R> {
    file: R,
    /// What was read, and is in no batch.
    bytes: Vec<u8>,
}

/// Frames of a file, one after the other.
struct Batch {
    compressed: Vec<u8>,
    /// Bytes of their content.
    content: usize,
}

/// A batch that somebody decompresses.
struct Waiting {
    /// `None` once somebody has begun.
    batch: Arc<Mutex<Option<Batch>>>,
    content: usize,
    decompressed: Receiver<Decompressed>,
}

/// The bytes of a batch, and the error behind them.
type Decompressed = (Vec<u8>, Option<io::Error>);

impl<'a, R: Read + Send + 'a> FramesReader<'a, R> {
    /// Decompresses so many batches ahead.
    pub(super) fn new(file: R, ahead: usize) -> Self {
        FramesReader {
            file: Rest::Frames(Compressed {
                file,
                bytes: Vec::new(),
            }),
            ahead,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            current: Cursor::default(),
        }
    }

    /// Gives frames to the pool, as many as may wait.
    fn send(&mut self) {
        while self.waiting.len() < self.ahead && self.waiting_bytes < self.ahead * FRAME {
            self.file = match std::mem::replace(&mut self.file, Rest::Ended(None)) {
                Rest::Frames(mut file) => match file.next_batch() {
                    Ok(Some(batch)) => {
                        self.waiting_bytes += batch.content;
                        self.waiting.push_back(Waiting::start(batch));
                        Rest::Frames(file)
                    }
                    Ok(None) => {
                        let rest = Cursor::new(file.bytes).chain(file.file);
                        let stream = Compression::Zstd.reader(rest);
                        stream.map_or_else(|error| Rest::Ended(Some(error)), Rest::Stream)
                    }
                    Err(error) => Rest::Ended(Some(error)),
                },
                rest => {
                    self.file = rest;
                    return;
                }
            };
        }
    }
}

impl<'a, R: Read + Send + 'a> Read for FramesReader<'a, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.current.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            self.send();
            let Some(first) = self.waiting.pop_front() else {
                return match &mut self.file {
                    Rest::Stream(stream) => stream.read(buffer),
                    Rest::Ended(error) => error.take().map_or(Ok(0), Err),
                    Rest::Frames(_) => Ok(0),
                };
            };
            self.waiting_bytes -= first.content;
            let (bytes, error) = first.decompressed();
            self.current = Cursor::new(bytes);
            if error.is_some() {
                self.waiting.clear();
                self.file = Rest::Ended(error);
            }
        }
    }
}

impl Waiting {
    fn start(batch: Batch) -> Self {
        let content = batch.content;
        let batch = Arc::new(Mutex::new(Some(batch)));
        let (sender, decompressed) = channel();
        let for_job = Arc::clone(&batch);
        rayon::spawn(move || {
            if let Some(batch) = take(&for_job) {
                // Nobody receives it once reading has ended.
                let _ = sender.send(batch.decompress());
            }
        });
        Waiting {
            batch,
            content,
            decompressed,
        }
    }

    fn decompressed(self) -> Decompressed {
        match take(&self.batch) {
            Some(batch) => batch.decompress(),
            None => self.decompressed.recv().unwrap_or_else(|_| {
                let error = io::Error::other("a frame was not decompressed");
                (Vec::new(), Some(error))
            }),
        }
    }
}

fn take(batch: &Mutex<Option<Batch>>) -> Option<Batch> {
    // No code panics while it holds the lock.
    batch.lock().unwrap_or_else(PoisonError::into_inner).take()
}

impl Batch {
    fn decompress(self) -> Decompressed {
        let mut bytes = vec![0; self.content];
        if let Ok(len) = zstd::bulk::decompress_to_buffer(&self.compressed, &mut bytes) {
            bytes.truncate(len);
            return (bytes, None);
        }
        // A stream yields what stands before the damage, and says what is wrong.
        bytes.clear();
        let stream = Compression::Zstd.reader(&*self.compressed);
        let read = stream.and_then(|mut stream| stream.read_to_end(&mut bytes));
        (bytes, read.err())
    }
}

impl<R: Read> Compressed<R> {
    /// The next frames, of [`BATCH`] bytes or more if there are as many; `None` if the file ends, or if the next frame may not be
    /// held as a whole.
    fn next_batch(&mut self) -> io::Result<Option<Batch>> {
        let (mut end, mut content) = (0, 0);
        while content < BATCH && end < FRAME {
            let Some((frame, bytes)) = self.next_frame(end)? else {
                break;
            };
            end += frame;
            content += bytes;
        }
        let rest = self.bytes.split_off(end);
        let compressed = std::mem::replace(&mut self.bytes, rest);
        Ok((end > 0).then_some(Batch {
            compressed,
            content,
        }))
    }

    /// The bytes of the frame that begins here, and of its content; `None` if there is none that may be held as a whole.
    fn next_frame(&mut self, start: usize) -> io::Result<Option<(usize, usize)>> {
        /// The longest header of a frame.
        const HEADER: usize = 18;
        while self.bytes.len() < start + HEADER && self.read_more()? {}
        let content = get_frame_content_size(&self.bytes[start..]).ok().flatten();
        let content = content.and_then(|content| usize::try_from(content).ok());
        let Some(content) = content.filter(|content| *content <= LARGEST) else {
            return Ok(None);
        };
        loop {
            let frame = &self.bytes[start..];
            if let Ok(size) = find_frame_compressed_size(frame) {
                return Ok(Some((size, content)));
            }
            // It is damaged, is cut off, or holds more than its header says.
            if frame.len() > compress_bound(content) || !self.read_more()? {
                return Ok(None);
            }
        }
    }

    /// Returns whether there was more.
    fn read_more(&mut self) -> io::Result<bool> {
        let file = self.file.by_ref().take(STEP);
        Ok({ file }.read_to_end(&mut self.bytes)? > 0)
    }
}

#[cfg(test)]
mod tests {
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

    /// A frame whose header has no size.
    fn unsized_(bytes: usize) -> Vec<u8> {
        zstd::encode_all(&*content(bytes), 1).unwrap()
    }

    fn skippable(bytes: u32) -> Vec<u8> {
        let mut frame = b"\x50\x2A\x4D\x18".to_vec();
        frame.extend(bytes.to_le_bytes());
        frame.resize(8 + bytes as usize, 7);
        frame
    }

    /// All bytes of a stream, and the error behind them.
    fn all_of(mut stream: impl Read) -> (Vec<u8>, Option<String>) {
        let mut bytes = Vec::new();
        let read = stream.read_to_end(&mut bytes);
        (bytes, read.err().map(|error| error.to_string()))
    }

    #[test]
    fn frames_read_as_a_stream_does() {
        let mut damaged = [sized(100), sized(3 * BATCH), sized(100)].concat();
        let middle = damaged.len() / 2;
        damaged[middle] ^= 0x55;
        let mut wrong_size = sized(70_000);
        // The size of the content, behind the magic number and the descriptor of the frame.
        wrong_size[5] ^= 1;
        let whole = [sized(0), sized(FRAME), skippable(9), sized(5), sized(BATCH)].concat();
        let files = [
            Vec::new(),
            sized(0),
            whole.clone(),
            whole[..whole.len() - 1].to_vec(),
            whole[..7].to_vec(),
            [&*whole, b"no frame"].concat(),
            [&*whole, &[0; 20]].concat(),
            std::iter::repeat_n(sized(300), 9_000).flatten().collect(),
            [sized(9), unsized_(BATCH), sized(9)].concat(),
            [sized(9), sized(LARGEST + 1), sized(9)].concat(),
            [skippable(1 << 20), sized(9), skippable(3)].concat(),
            damaged,
            [sized(8), wrong_size, sized(8)].concat(),
        ];
        for (number, file) in files.iter().enumerate() {
            let expected = all_of(Compression::Zstd.reader(&**file).unwrap());
            for (threads, ahead) in [(1, 1), (1, 3), (3, 1), (3, 8)] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                let read = pool.build().unwrap();
                let read = read.install(|| all_of(FramesReader::new(&**file, ahead)));
                assert!(read == expected, "file {number}, {ahead} ahead");
            }
        }
        let (bytes, error) = all_of(Compression::Zstd.reader(&*files[11]).unwrap());
        assert!(!bytes.is_empty() && error.is_some());
    }

    /// A file that cannot be read to its end.
    struct Broken;

    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is broken"))
        }
    }

    #[test]
    fn what_could_be_read_comes_before_the_error() {
        let file = [sized(FRAME), sized(9)].concat();
        let (bytes, error) = all_of(FramesReader::new(file.chain(Broken), 3));
        assert_eq!(bytes, [content(FRAME), content(9)].concat());
        assert_eq!(error.unwrap(), "the disk is broken");
    }

    #[test]
    fn only_threads_that_stand_still_decompress_ahead() {
        for (threads, files, ahead) in [(1, 1, 0), (3, 1, 0), (4, 1, 1), (16, 1, 4), (16, 4, 1)] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let pool = pool.build().unwrap();
            assert_eq!(pool.install(|| frames_ahead(files)), ahead);
        }
        assert_eq!(frames_ahead(1), 0);
    }
}
