//! What a run tells while it runs, and what it remembers of its time.

/// Takes note of how far a run has come. The command line draws it; the library never prints.
pub trait Progress: Sync {
    /// A stage begins; how far it will go is `total`, in the unit of [`Progress::advance`].
    fn begin(&self, stage: &'static str, total: u64);

    /// The stage has come to `done`, with so many documents and bytes of text so far.
    fn advance(&self, done: u64, documents: u64, bytes: u64);

    /// Something the user may want to know.
    fn tell(&self, message: &str);

    /// Something the user should know.
    fn warn(&self, message: &str);
}

/// Says nothing.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _: &'static str, _: u64) {}

    fn advance(&self, _: u64, _: u64, _: u64) {}

    fn tell(&self, _: &str) {}

    fn warn(&self, _: &str) {}
}

/// How long a stage took.
#[derive(Clone, Debug)]
pub struct StageTime {
    /// The stage.
    pub stage: &'static str,
    /// Seconds by the clock on the wall.
    pub elapsed_s: f64,
    /// Bytes of input that passed, decompressed; 0 where none did.
    pub bytes: u64,
    /// Whether it is a part of the stage before it, in whose time its own is contained.
    pub is_part: bool,
}

/// The times of a run's stages, in order.
#[derive(Clone, Debug, Default)]
pub struct Timings(pub Vec<StageTime>);

impl Timings {
    /// Runs a stage and notes its time.
    #[cfg(feature = "io")]
    pub(crate) fn time<T>(
        &mut self,
        stage: &'static str,
        bytes: u64,
        run: impl FnOnce() -> T,
    ) -> T {
        let start = std::time::Instant::now();
        let result = run();
        self.0.push(StageTime {
            stage,
            elapsed_s: start.elapsed().as_secs_f64(),
            bytes,
            is_part: false,
        });
        result
    }
}
