//! Signs documents in files.

use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::outcome::Outcome;
use super::run::Run;
use super::source::FileSource;
use simgpu::error::{Error, Result};
use simgpu::progress::{Counts, Timings, advance};
use simgpu::search::{
    Corpus, FirstPass, SignedBatch, SignedForm, Sink, Source, Wanted, warn_of_few_shingles,
};
use simgpu::store::unnamed_file;
use simgpu_io::{
    HEADER, OutputFile, REPORT_VERSION, Report, SignatureDescription, SignatureTable,
    SignaturesFormat, SlotWriter, description_of, folder_of, header, write_description,
};

impl Run<'_> {
    /// Signs all documents and writes their signatures, one row per document in order, in the format of the
    /// extension of `output` ([`SignaturesFormat::of_path`]).
    ///
    /// # Errors
    /// Any error of reading the inputs or writing the output, and [`Error::Stopped`] if the progress stops the
    /// run. After an error there is no new output file, and an earlier one is unchanged.
    pub fn sign(self, output: &Path) -> Result<Outcome> {
        let run = Run {
            against: None,
            ..self
        };
        run.sign_inputs(output)
    }

    fn sign_inputs(self, output: &Path) -> Result<Outcome> {
        let format = SignaturesFormat::of_path(output)?;
        self.check_outputs(&OutputFile::names(output, ".json"))?;
        let (target, file) = OutputFile::create(output, self.options.overwrite)?;
        let scheme = self.engine.scheme();
        let width = scheme.family().slot_width();
        let mut timings = Timings::default();
        let mut source = FileSource::open(&self, 0, folder_of(output).to_owned(), &mut timings)?;
        let counts = match format {
            SignaturesFormat::Npy => {
                let beside = description_of(output);
                // A description without a matrix is left from an interrupted run, so overwrite it. A matrix was refused by now.
                let (description, mut json) = OutputFile::create(&beside, true)?;
                let mut matrix =
                    SignatureSink::new(SlotWriter::new(file, target.partial(), HEADER)?);
                let corpus = self.read(&mut source, &mut matrix, &mut timings)?;
                let digest = matrix.slots.digest();
                matrix.slots.finish(|file| {
                    file.seek(SeekFrom::Start(0))?;
                    file.write_all(&header(corpus.documents(), scheme.num_perm(), width))
                })?;
                let described = self.describe(&source, &corpus, digest);
                write_description(&mut json, &described).map_err(Error::io("write", &beside))?;
                // Last chance to stop the run.
                self.advance_to_end(&source, &corpus)?;
                OutputFile::commit_all(vec![description, target], &[], self.options.progress)?;
                described.counts
            }
            SignaturesFormat::Parquet => {
                // The column of ids depends on whether every document has one, which only the end shows.
                let folder: PathBuf = folder_of(output).to_owned();
                let spool = unnamed_file(&folder)
                    .map_err(Error::io("create a temporary file in", &folder))?;
                let mut matrix = SignatureSink::new(SlotWriter::new(spool, target.partial(), 0)?);
                let corpus = self.read(&mut source, &mut matrix, &mut timings)?;
                let digest = matrix.slots.digest();
                let mut spool = matrix.slots.finish(|_| Ok(()))?;
                let described = self.describe(&source, &corpus, digest);
                timings.time("write", 0, || {
                    let table = SignatureTable {
                        path: output,
                        places: &source.places,
                        scheme,
                        description: &described,
                    };
                    table.write(&mut spool, file)
                })?;
                self.advance_to_end(&source, &corpus)?;
                OutputFile::commit_all(vec![target], &[], self.options.progress)?;
                described.counts
            }
        };
        self.warn_of_oddities(&counts);
        let report = source.report("sign", counts, None);
        let elapsed_s = timings.complete(self.options.started);
        Ok(Outcome {
            report,
            timings,
            elapsed_s,
            resumed: 0,
        })
    }

    fn read(
        &self,
        source: &mut FileSource<'_>,
        rows: &mut SignatureSink,
        timings: &mut Timings,
    ) -> Result<Corpus> {
        let pass = FirstPass::new(self.engine, self.options.progress, rows);
        let corpus = source.read(pass, &mut timings.0)?;
        let shingling = self.engine.shingler().shingling();
        warn_of_few_shingles(shingling, &corpus, self.options.progress);
        Ok(corpus)
    }

    fn advance_to_end(&self, source: &FileSource<'_>, corpus: &Corpus) -> Result<()> {
        let (documents, bytes) = (corpus.documents(), corpus.bytes);
        advance(
            self.options.progress,
            source.stored_bytes(),
            documents,
            bytes,
        )
    }

    fn describe(
        &self,
        source: &FileSource<'_>,
        corpus: &Corpus,
        matrix_digest: String,
    ) -> SignatureDescription {
        let mut counts: Counts = corpus.counts();
        source.complete(&mut counts);
        let Report {
            command,
            counts,
            parameters,
            empty_files,
            skipped,
            ..
        } = source.report("sign", counts, None);
        SignatureDescription {
            simgpu_report: REPORT_VERSION,
            command: command.to_owned(),
            counts,
            parameters,
            empty_files,
            skipped,
            files: source.places.first_rows(),
            matrix_blake3_128: Some(matrix_digest),
        }
    }
}

/// Writes the signature of every document.
struct SignatureSink {
    slots: SlotWriter,
}

impl SignatureSink {
    fn new(slots: SlotWriter) -> Self {
        SignatureSink { slots }
    }
}

impl Sink for SignatureSink {
    fn wants(&self) -> Wanted {
        Wanted {
            distinct_only: false,
            signed: SignedForm::Signatures,
            sets: false,
            empty_sets: false,
        }
    }

    fn take(&mut self, batch: SignedBatch, _: &[u32]) -> Result<()> {
        match batch {
            SignedBatch::Signatures(signatures) => self.slots.write(signatures.slots()),
            // `wants` requests signatures.
            SignedBatch::Keys(_) | SignedBatch::Known { .. } | SignedBatch::Nothing => Ok(()),
        }
    }
}
