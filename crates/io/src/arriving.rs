//! JSON Lines from a stream, as they arrive: whoever writes one line and waits for its answer gets it.

use std::io::{self, Read};
use std::path::Path;

use super::chunk::{CHUNK, Chunk, Contents};
use super::longest::LongestRecord;
use simgpu::error::{Error, Result};
use simgpu::progress::{Progress, advance};

/// The lines of a stream.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only sibling crates see it")]
pub struct ArrivingLines {
    stream: Box<dyn Read + Send>,
    /// Bytes of lines that are not passed on yet.
    buffer: Vec<u8>,
    is_ended: bool,
    first_number: u64,
    chunks: u64,
    bytes: u64,
    longest: LongestRecord,
}

/// Bytes that are read at a time.
const BLOCK: usize = 1 << 16;

impl ArrivingLines {
    /// The lines of a stream, if it begins with an object of JSON; otherwise the stream as it was.
    pub(super) fn new(
        stream: Box<dyn Read + Send>,
        longest: LongestRecord,
        progress: &dyn Progress,
    ) -> Result<std::result::Result<Self, Box<dyn Read + Send>>> {
        let mut lines = ArrivingLines {
            stream,
            buffer: Vec::new(),
            is_ended: false,
            first_number: 1,
            chunks: 0,
            bytes: 0,
            longest,
        };
        while lines.buffer.trim_ascii_start().is_empty() && lines.read(progress)? {}
        Ok(match lines.buffer.trim_ascii_start().first() {
            None | Some(b'{') => Ok(lines),
            Some(_) => Err(Box::new(io::Cursor::new(lines.buffer).chain(lines.stream))),
        })
    }

    /// Reads what has arrived; waits until something has. False at the end.
    fn read(&mut self, progress: &dyn Progress) -> Result<bool> {
        let mut block = [0; BLOCK];
        loop {
            match self.stream.read(&mut block) {
                Ok(0) => {
                    self.is_ended = true;
                    return Ok(false);
                }
                Ok(read) => {
                    self.buffer.extend_from_slice(&block[..read]);
                    self.bytes += read as u64;
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    advance(progress, self.bytes, 0, self.bytes)?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io("read", Path::new("stdin"))(error)),
            }
        }
    }

    /// The next whole lines: those that have arrived, about 1 MiB at most. `None` at the end.
    #[doc(hidden)]
    pub fn next(&mut self, progress: &dyn Progress) -> Result<Option<Chunk>> {
        let mut searched = 0;
        let end = loop {
            // The last line break of the first MiB or, if a line is longer, the first one.
            let new = &self.buffer[searched..];
            let first = &new[..new.len().min(CHUNK)];
            let found = memchr::memrchr(b'\n', first).or_else(|| memchr::memchr(b'\n', new));
            if let Some(found) = found {
                break searched + found + 1;
            }
            searched = self.buffer.len();
            if searched as u64 > self.longest.bytes() {
                return Err(self.too_long(progress)?);
            }
            if self.is_ended || !self.read(progress)? {
                break self.buffer.len();
            }
        };
        if end == 0 {
            return Ok(None);
        }
        let rest = self.buffer.split_off(end);
        let bytes = std::mem::replace(&mut self.buffer, rest);
        let (first_number, number) = (self.first_number, self.chunks);
        self.first_number += memchr::memchr_iter(b'\n', &bytes).count() as u64;
        self.chunks += 1;
        Ok(Some(Chunk {
            file: 0,
            number,
            contents: Contents::Lines {
                bytes,
                first_number,
            },
        }))
    }

    /// The error for a line that is too long. Reads its rest to learn its length.
    fn too_long(&mut self, progress: &dyn Progress) -> Result<Error> {
        let mut all = self.buffer.len() as u64;
        while !LongestRecord::is_beyond_measure(all) {
            self.buffer.clear();
            let has_more = self.read(progress)?;
            let end = memchr::memchr(b'\n', &self.buffer);
            all += end.unwrap_or(self.buffer.len()) as u64;
            if !has_more || end.is_some() {
                break;
            }
        }
        let record = format!("the record that starts on line {}", self.first_number);
        Ok(self
            .longest
            .refusal(&record, all)
            .for_file(Path::new("stdin")))
    }

    /// Bytes read so far.
    #[doc(hidden)]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simgpu::progress::Silent;

    /// Returns so many bytes per read, and now and then that nothing has arrived.
    struct Dripping {
        bytes: io::Cursor<Vec<u8>>,
        step: usize,
        waits: bool,
    }

    impl Dripping {
        fn new(bytes: Vec<u8>, step: usize) -> Box<Self> {
            Box::new(Dripping {
                bytes: io::Cursor::new(bytes),
                step,
                waits: false,
            })
        }
    }

    impl Read for Dripping {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.waits = !self.waits;
            if self.waits {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let step = self.step.min(buffer.len());
            self.bytes.read(&mut buffer[..step])
        }
    }

    #[test]
    fn lines_arrive_whole_and_in_order() {
        let long = format!("{{\"text\": \"{}\"}}\n", "a".repeat(3 * CHUNK));
        let texts = [
            String::new(),
            "\n\n".to_owned(),
            "\n{\"a\": 1}\n{\"b\": 2}\n\n{\"c\": 3}".to_owned(),
            format!("{{}}\n{long}{{}}\n{long}"),
        ];
        for text in texts {
            for step in [1, 7, 100, BLOCK] {
                if text.len() / step > 1_000_000 {
                    continue;
                }
                let stream = Dripping::new(text.clone().into_bytes(), step);
                let Ok(mut lines) =
                    ArrivingLines::new(stream, LongestRecord::within(None), &Silent).unwrap()
                else {
                    panic!("{text}");
                };
                let (mut all, mut number) = (Vec::new(), 1);
                while let Some(chunk) = lines.next(&Silent).unwrap() {
                    let Contents::Lines {
                        bytes,
                        first_number,
                    } = chunk.contents
                    else {
                        panic!("no lines");
                    };
                    assert_eq!(first_number, number);
                    number += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
                    assert!(bytes.ends_with(b"\n") || all.len() + bytes.len() == text.len());
                    all.extend(bytes);
                }
                assert!(all == text.as_bytes());
            }
        }
    }

    #[test]
    fn another_stream_is_handed_back_as_it_was() {
        let text = b"\n id,text\n1,a\n".to_vec();
        let stream = Dripping::new(text.clone(), 2);
        let Err(mut stream) =
            ArrivingLines::new(stream, LongestRecord::within(None), &Silent).unwrap()
        else {
            panic!("no lines");
        };
        let mut read = Vec::new();
        loop {
            let mut block = [0; 5];
            match stream.read(&mut block) {
                Ok(0) => break,
                Ok(bytes) => read.extend_from_slice(&block[..bytes]),
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
            }
        }
        assert_eq!(read, text);
    }
}
