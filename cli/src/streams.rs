//! Stdin and stdout.

use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use simgpu_io::{Inputs, read_text};

use crate::threads::no_threads;

/// Bytes per read.
const BLOCK: usize = 1 << 18;

/// How long a read waits before the run checks whether it was stopped.
const PATIENCE: Duration = Duration::from_millis(50);

/// Whether a name means stdin or stdout.
pub(crate) fn is_stream(name: &Path) -> bool {
    name.as_os_str() == "-"
}

/// Writes to stdout.
pub(crate) fn print(bytes: impl AsRef<[u8]>) -> simgpu::Result<()> {
    let written = io::stdout().write_all(bytes.as_ref());
    written
        .and_then(|()| io::stdout().flush())
        .map_err(simgpu::Error::io("write to", "stdout"))
}

/// Connects stdin to inputs that name it.
pub(crate) fn with_stdin(inputs: Inputs) -> simgpu::Result<Inputs> {
    Ok(if inputs.names_stream() {
        inputs.with_stream(Stdin::open()?)
    } else {
        inputs
    })
}

/// Reads one text from a file, or from stdin if its name is `-`.
pub(crate) fn read_text_of(name: &Path) -> simgpu::Result<String> {
    if is_stream(name) {
        return read_text(io::stdin().lock(), Path::new("stdin"));
    }
    read_file(name)
}

/// Reads the text of a file that an option names: UTF-8, with or without a byte order mark, also compressed.
pub(crate) fn read_file(name: &Path) -> simgpu::Result<String> {
    let file = File::open(name).map_err(simgpu::Error::io("read", name))?;
    read_text(file, name)
}

/// Stdin, read by a separate thread. A read returns `WouldBlock` when no input arrives within `PATIENCE`, so
/// that a run can stop while it waits for input.
struct Stdin {
    blocks: Receiver<io::Result<Vec<u8>>>,
    block: Vec<u8>,
    read: usize,
    /// Whether the end of the input has come.
    is_ended: bool,
}

impl Stdin {
    fn open() -> simgpu::Result<Self> {
        let (sender, blocks) = sync_channel(4);
        let reader = thread::Builder::new().spawn(move || {
            let mut stdin = io::stdin().lock();
            loop {
                let read = read_block(&mut stdin);
                let is_end = read.as_ref().map_or(true, Vec::is_empty);
                if sender.send(read).is_err() || is_end {
                    return;
                }
            }
        });
        reader.map_err(|error| no_threads(1, &error))?;
        Ok(Stdin {
            blocks,
            block: Vec::new(),
            read: 0,
            is_ended: false,
        })
    }
}

/// The next bytes of a stream; none at its end. A signal that interrupts the read is no error and no end.
fn read_block(stream: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut block = vec![0; BLOCK];
    loop {
        match stream.read(&mut block) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            Ok(read) => {
                block.truncate(read);
                return Ok(block);
            }
        }
    }
}

impl Read for Stdin {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.read == self.block.len() {
            match self.blocks.recv_timeout(PATIENCE) {
                Ok(block) => (self.block, self.read) = (block?, 0),
                Err(RecvTimeoutError::Timeout) => return Err(io::ErrorKind::WouldBlock.into()),
                Err(RecvTimeoutError::Disconnected) if self.is_ended => return Ok(0),
                // After an error, what follows is unknown: it is no end.
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(io::Error::other("stdin could not be read further"));
                }
            }
            self.is_ended = self.block.is_empty();
        }
        let unread = &self.block[self.read..];
        let count = unread.len().min(buffer.len());
        buffer[..count].copy_from_slice(&unread[..count]);
        self.read += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails once with each of these errors, and then lends bytes.
    struct Failing<'a>(Vec<io::ErrorKind>, &'a [u8]);

    impl Read for Failing<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.pop() {
                Some(kind) => Err(kind.into()),
                None => self.1.read(buffer),
            }
        }
    }

    #[test]
    fn a_signal_is_no_end_of_the_input() {
        let interrupted = vec![io::ErrorKind::Interrupted; 3];
        let mut stream = Failing(interrupted, b"a line\n");
        assert_eq!(read_block(&mut stream).unwrap(), b"a line\n");
        assert_eq!(read_block(&mut stream).unwrap(), b"");
        let mut broken = Failing(vec![io::ErrorKind::BrokenPipe], b"a line\n");
        assert!(read_block(&mut broken).is_err());
    }

    #[test]
    fn nothing_ends_an_input_but_its_end() {
        let stdin = |blocks: Vec<io::Result<Vec<u8>>>| {
            let (sender, receiver) = sync_channel(4);
            blocks
                .into_iter()
                .for_each(|block| sender.send(block).unwrap());
            Stdin {
                blocks: receiver,
                block: Vec::new(),
                read: 0,
                is_ended: false,
            }
        };
        let buffer = &mut [0; 8];
        let mut whole = stdin(vec![Ok(b"abc".to_vec()), Ok(Vec::new())]);
        let read: Vec<usize> = (0..4).map(|_| whole.read(buffer).unwrap()).collect();
        assert_eq!(read, [3, 0, 0, 0]);
        let mut broken = stdin(vec![
            Ok(b"abc".to_vec()),
            Err(io::ErrorKind::BrokenPipe.into()),
        ]);
        assert_eq!(broken.read(buffer).unwrap(), 3);
        // The error comes once; whoever reads on learns that there is no more.
        assert!(broken.read(buffer).is_err());
        assert!(broken.read(buffer).is_err());
    }
}
