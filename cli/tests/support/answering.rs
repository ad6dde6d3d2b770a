//! A command that answers line by line.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use serde_json::Value;

use super::{Place, SIMGPU};

/// A running program that answers lines of JSON on stdin with lines of JSON.
pub(crate) struct Answering {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Answering {
    pub(crate) fn start(place: &Place, arguments: &str) -> Self {
        let mut child = Command::new(SIMGPU)
            .args(arguments.split(' '))
            .current_dir(place.path(""))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Answering {
            stdin: child.stdin.take().unwrap(),
            stdout: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    /// The number of the process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Writes a line, and does not wait for its answer.
    pub(crate) fn tell(&mut self, line: impl std::fmt::Display) {
        writeln!(self.stdin, "{line}").unwrap();
    }

    /// Waits for the answer to a line.
    pub(crate) fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Writes a line, and waits for its answer.
    pub(crate) fn ask(&mut self, line: impl std::fmt::Display) -> Value {
        self.tell(line);
        self.answer()
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends the input, and waits for the end of the program.
    pub(crate) fn end(self) -> ExitStatus {
        let Answering {
            mut child, stdin, ..
        } = self;
        drop(stdin);
        child.wait().unwrap()
    }
}
