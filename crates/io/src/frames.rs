//! Decompresses the frames of a zstd file side by side.
//!
//! A thread decompresses 1 to 2 GB/s, and signs a fifth to an eighth of that. So a file that one thread at a time decompresses
//! keeps some eight threads busy, and more of them stand still, unless it has several frames: those that simgpu writes, or those
//! of files that were joined. A frame is found without decompressing it if its header says how large its content is.
//!
//! **With fewer threads nothing is decompressed ahead.** Frames of 8 MiB do not stay in a cache: where threads had other work, that
//! took a tenth more processor time. What it gains with sixteen cores is arithmetic, and was not measured.

use std::collections::VecDeque;
use std::io::{self, Cursor, ErrorKind, Read};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};

use zstd::zstd_safe::{compress_bound, find_frame_compressed_size, get_frame_content_size};

use super::compression::{Compression, FRAME};

/// About how many threads one decompressing thread keeps busy.
const KEPT_BUSY: usize = 8;

/// The most batches of frames of a file that are decompressed ahead.
const AT_MOST: usize = 8;

/// Bytes of small frames that are decompressed together, at least: frames of a line each would cost more to hand over than to
/// decompress.
const BATCH: usize = 1 << 20;

/// The largest frame that is held as a whole.
const LARGEST: usize = 2 * FRAME;

/// Compressed bytes that are read at a time, at least.
const STEP: usize = 1 << 18;

/// How many batches of frames of each file to decompress ahead, if the current pool reads this many files.
pub(super) fn frames_ahead(files: usize) -> usize {
    let threads = match rayon::current_thread_index() {
        Some(_) => rayon::current_num_threads(),
        None => 1,
    };
    let open = files.clamp(1, threads);
    (threads / open / KEPT_BUSY).min(AT_MOST)
}

/// The frames of a zstd file, of which threads of the current pool decompress some ahead. Bytes and errors are those of a
/// [stream](Compression::reader); how many bytes come before damage depends on buffers, as it does there. The file is read
/// ahead, too, by what waits.
///
/// **To wait for a frame is no wait for a job that may wait**: a batch that another thread has begun is decompressed without a
/// call to the pool, and one that none has begun is decompressed by the thread that reads.
pub(super) struct FramesReader<'a, R> {
    file: FrameRest<'a, R>,
    ahead: usize,
    waiting: VecDeque<BatchAhead>,
    /// Content of the batches that wait.
    waiting_bytes: usize,
    current: Current,
    /// Memory for the content of batches: new memory for each took longer, and left holes.
    spare: Vec<Vec<u8>>,
}

/// The batch that is read.
enum Current {
    Content(Cursor<Vec<u8>>),
    /// Of what is damaged, the bytes before the damage, and the error.
    Stream(Box<dyn Read + Send>),
}

impl Current {
    fn none() -> Self {
        Current::Content(Cursor::default())
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Current::Content(content) => content.read(buffer),
            Current::Stream(stream) => stream.read(buffer),
        }
    }
}

/// What is left of the file.
enum FrameRest<'a, R> {
    /// Frames that may be held as a whole.
    Frames(Compressed<R>),
    /// What may not, as a stream.
    Stream(Box<dyn Read + Send + 'a>),
    Ended,
}

/// A file of frames.
struct Compressed<R> {
    file: R,
    /// What was read, and is in no batch.
    bytes: Vec<u8>,
    /// The error behind it.
    error: Option<io::Error>,
    /// Whether a frame was found.
    has_frames: bool,
}

/// Frames of a file, one after the other.
struct Batch {
    compressed: Vec<u8>,
    /// Bytes of their content, as their headers say.
    content: usize,
    /// Where their content goes.
    memory: Vec<u8>,
}

/// A batch that was given to the pool.
struct BatchAhead {
    /// `None` once a thread has begun.
    batch: Arc<Mutex<Option<Batch>>>,
    content: usize,
    decompressed: Receiver<Decompressed>,
}

/// The content of a batch; or its compressed bytes, if they are damaged, or hold more than their headers say.
type Decompressed = Result<Vec<u8>, Vec<u8>>;

impl<'a, R: Read + Send + 'a> FramesReader<'a, R> {
    /// Decompresses this many batches ahead, which is more than none.
    pub(super) fn new(file: R, ahead: usize) -> Self {
        FramesReader {
            file: FrameRest::Frames(Compressed {
                file,
                bytes: Vec::new(),
                error: None,
                has_frames: false,
            }),
            ahead,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            current: Current::none(),
            spare: Vec::new(),
        }
    }

    /// Gives frames to the pool, as many as may wait.
    fn send(&mut self) -> io::Result<()> {
        while self.waiting.len() < self.ahead && self.waiting_bytes < self.ahead * FRAME {
            let FrameRest::Frames(file) = &mut self.file else {
                return Ok(());
            };
            if let Some(mut batch) = file.next_batch() {
                batch.memory = self.spare.pop().unwrap_or_default();
                self.waiting_bytes += batch.content;
                self.waiting.push_back(BatchAhead::start(batch));
            } else if let FrameRest::Frames(file) =
                std::mem::replace(&mut self.file, FrameRest::Ended)
            {
                self.file = file.rest()?;
            }
        }
        Ok(())
    }

    /// Goes on to the next batch. Returns whether there was one.
    fn next_batch(&mut self) -> io::Result<bool> {
        if let Current::Content(read) = std::mem::replace(&mut self.current, Current::none()) {
            self.spare.push(read.into_inner());
        }
        self.send()?;
        let Some(first) = self.waiting.pop_front() else {
            return Ok(false);
        };
        self.waiting_bytes -= first.content;
        // Others decompress these beside the first one.
        self.send()?;
        self.current = match first.decompressed()? {
            Ok(content) => Current::Content(Cursor::new(content)),
            Err(compressed) => Current::Stream(Compression::Zstd.reader(Cursor::new(compressed))?),
        };
        Ok(true)
    }
}

impl<'a, R: Read + Send + 'a> Read for FramesReader<'a, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            match self.current.read(buffer) {
                Ok(0) => {}
                Err(error) if error.kind() != ErrorKind::Interrupted => {
                    self.waiting.clear();
                    self.file = FrameRest::Ended;
                    self.current = Current::none();
                    return Err(error);
                }
                read => return read,
            }
            if !self.next_batch()? {
                return match &mut self.file {
                    FrameRest::Stream(stream) => stream.read(buffer),
                    FrameRest::Frames(_) | FrameRest::Ended => Ok(0),
                };
            }
        }
    }
}

impl BatchAhead {
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
        BatchAhead {
            batch,
            content,
            decompressed,
        }
    }

    fn decompressed(&self) -> io::Result<Decompressed> {
        match take(&self.batch) {
            Some(batch) => Ok(batch.decompress()),
            None => {
                let lost = |_| io::Error::other("a frame was not decompressed");
                self.decompressed.recv().map_err(lost)
            }
        }
    }
}

impl Drop for BatchAhead {
    fn drop(&mut self) {
        // No thread begins what nobody reads.
        take(&self.batch);
    }
}

fn take(batch: &Mutex<Option<Batch>>) -> Option<Batch> {
    // No code panics while it holds the lock.
    batch.lock().unwrap_or_else(PoisonError::into_inner).take()
}

impl Batch {
    /// Decompresses the batch as a stream, which refuses what a stream refuses. Holds no more than its headers say.
    fn decompress(self) -> Decompressed {
        let mut content = self.memory;
        content.clear();
        content.reserve_exact(self.content);
        let read = Compression::Zstd.reader(&*self.compressed);
        let read = read.and_then(|stream| {
            let most = self.content as u64 + 1;
            stream.take(most).read_to_end(&mut content)
        });
        match read {
            Ok(bytes) if bytes == self.content => Ok(content),
            _ => Err(self.compressed),
        }
    }
}

impl<R: Read> Compressed<R> {
    /// The next frames, of [`BATCH`] bytes or more if there are as many; `None` if nothing follows, or if the next frame may not
    /// be held as a whole.
    fn next_batch(&mut self) -> Option<Batch> {
        let (mut end, mut content) = (0, 0);
        while content < BATCH && end < FRAME {
            let Some((frame, bytes)) = self.next_frame(end) else {
                break;
            };
            end += frame;
            content += bytes;
        }
        let rest = self.bytes.split_off(end);
        let compressed = std::mem::replace(&mut self.bytes, rest);
        self.has_frames |= end > 0;
        (end > 0).then_some(Batch {
            compressed,
            content,
            memory: Vec::new(),
        })
    }

    /// The sizes of the frame that begins at `start`, and of its content; `None` if there is none that may be held as a whole.
    fn next_frame(&mut self, start: usize) -> Option<(usize, usize)> {
        /// The longest header of a frame.
        const HEADER: usize = 18;
        while self.bytes.len() < start + HEADER && self.read_more() {}
        let content = get_frame_content_size(&self.bytes[start..]).ok()??;
        let content = usize::try_from(content).ok()?;
        let most = match content {
            // A frame that is skipped may have any size.
            0 => LARGEST,
            1..=LARGEST => compress_bound(content),
            _ => return None,
        };
        loop {
            let frame = &self.bytes[start..];
            if let Ok(size) = find_frame_compressed_size(frame) {
                return Some((size, content));
            }
            // It is damaged, is cut off, or holds more than its header says.
            if frame.len() > most || !self.read_more() {
                return None;
            }
        }
    }

    /// Reads as much as is there, so that a frame is looked through few times. Returns whether there was more.
    fn read_more(&mut self) -> bool {
        if self.error.is_some() {
            return false;
        }
        let before = self.bytes.len();
        let mut step = self.file.by_ref().take(STEP.max(before) as u64);
        self.error = step.read_to_end(&mut self.bytes).err();
        self.bytes.len() > before
    }
}

impl<'a, R: Read + Send + 'a> Compressed<R> {
    /// What follows the last batch.
    fn rest(self) -> io::Result<FrameRest<'a, R>> {
        if self.bytes.is_empty() && self.has_frames {
            return Ok(FrameRest::Stream(Box::new(Failing(self.error))));
        }
        let rest = Cursor::new(self.bytes).chain(Failing(self.error));
        let stream = Compression::Zstd.reader(rest.chain(self.file));
        stream.map(FrameRest::Stream)
    }
}

/// Nothing, or an error in its place.
struct Failing(Option<io::Error>);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

#[cfg(test)]
mod tests;
