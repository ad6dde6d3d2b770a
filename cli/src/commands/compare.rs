//! `simgpu compare`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use simgpu::engine::Engine;
use simgpu::error::with_flags;
use simgpu::pipeline::{Banding, Comparison, Measure, SequenceUnit, Weighting, compare};

use crate::Usage;
use crate::arguments::{BandingArguments, SigningArguments};
use crate::options::Given;
use crate::streams::{is_stream, print, read_text_of};
use crate::terminal::{harmless, print_error};

/// Compare two texts: exact similarity, estimate, shared shingles, distances
///
/// Reads each file as one text, whatever its name: to compare records of JSON Lines, CSV, Parquet or Arrow, use pairs.
///
/// Prints one result per line. The keys of --json are in parentheses; an undefined value is null.
/// The first lines tell what dedup and pairs see: sets of shingles, and signatures.
///
/// A and B: number of distinct shingles of each text, or of all with --count (shingles_a, shingles_b).
///
/// shared: number of shingles that both texts contain, of those that either contains (shared, union).
///
/// Jaccard: shared divided by union (jaccard).
///
/// estimate: share of signature slots that agree (estimate, standard_error; matches of num_perm slots).
///
/// interval: confidence interval of the similarity, from the signatures alone (interval, confidence).
///
/// candidate: probability that dedup and pairs compare two texts of this similarity (candidate_probability,
/// threshold, bands, rows).
///
/// The further lines are other distances of Mining of Massive Datasets, 3.1 and 3.5. Those down to Linf count each
/// shingle as often as it occurs (occurrences_a, occurrences_b); the last three compare sequences of characters of the
/// normalised texts, or of words if a text has more than 100,000 characters (sequence_unit, length_a, length_b).
///
/// contained: share of A's distinct shingles that are in B, and of B's that are in A (containment_a, containment_b).
///
/// bag: sum of the smaller counts of each shingle, divided by the sum of the greater counts (bag_jaccard), and by the
/// sum of all counts, which is at most 1/2 (bag_similarity).
///
/// cosine: scalar product of the counts divided by the lengths of both vectors, and their angle in degrees (cosine,
/// angle_degrees).
///
/// L1, L2, Linf: sum of the differences of the counts, root of the sum of their squares, greatest difference (l1, l2,
/// linf).
///
/// edit: least number of insertions and deletions that turn A into B (edit_distance).
///
/// LCS: length of the longest common subsequence (lcs). Null, as edit is, if a text has more than 300,000 words.
///
/// Hamming: number of positions that differ, of texts of equal length (hamming).
#[derive(Args, Debug)]
pub(crate) struct CompareArguments {
    /// Text file, also compressed by gzip, zstd, xz or bzip2; - reads stdin
    #[arg(value_name = "A")]
    a: PathBuf,

    /// Text file to compare with A; - reads stdin
    #[arg(value_name = "B")]
    b: PathBuf,

    /// Print one JSON object instead of lines
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    banding: BandingArguments,

    #[command(flatten)]
    sign: SigningArguments,
}

/// Confidence level of the interval.
const CONFIDENCE: f64 = 0.95;

pub(crate) fn run(arguments: &CompareArguments, given: &Given) -> anyhow::Result<()> {
    let names = [&*arguments.a, &*arguments.b];
    if names.iter().all(|name| is_stream(name)) {
        return Err(Usage::error(
            "only one of the two texts can be stdin; name a file for the other",
        ));
    }
    let comparer = TextComparer::new(&arguments.sign, &arguments.banding, given)?;
    let texts = [read_text_of(names[0])?, read_text_of(names[1])?];
    let name = |path: &Path| match path.display().to_string() {
        stdin if stdin == "-" => "stdin".to_owned(),
        path => path,
    };
    let report = comparer.compare(names.map(name), [&*texts[0], &*texts[1]])?;
    for notice in comparer.notices() {
        print_error(&format!("warning: {}", with_flags(&notice)));
    }
    let page = if arguments.json {
        report.json()?
    } else {
        harmless(&report.page()?).into_owned()
    };
    Ok(print(&page)?)
}

/// Compares pairs of texts.
#[derive(Debug)]
pub struct TextComparer {
    engine: Engine,
    threshold: f64,
    banding: Banding,
}

impl TextComparer {
    /// A comparer with these arguments, of which some are `given`.
    ///
    /// # Errors
    /// A usage error if the arguments contradict each other, and those of [`SigningArguments::resolve`].
    pub fn new(
        sign: &SigningArguments,
        banding: &BandingArguments,
        given: &Given,
    ) -> anyhow::Result<Self> {
        given.check(&sign.modes()?)?;
        let engine = sign.resolve()?;
        let (threshold, banding) = banding.resolve(engine.scheme(), Measure::Jaccard)?;
        if engine.takes_tokens() {
            return Err(Usage::error(
                "compare reads texts, not tokens; choose another `unit`",
            ));
        }
        Ok(TextComparer {
            engine,
            threshold,
            banding,
        })
    }

    /// Compares two texts, which the report calls by these names.
    ///
    /// # Errors
    /// Those of [`compare`].
    pub fn compare(&self, names: [String; 2], texts: [&str; 2]) -> anyhow::Result<Report> {
        let compared = compare(texts, self.engine.shingler(), self.engine.signer())?;
        self.report(names, &compared)
    }

    fn report(&self, names: [String; 2], compared: &Comparison) -> anyhow::Result<Report> {
        let (engine, banding) = (&self.engine, self.banding);
        let (scheme, shingling) = (engine.scheme(), engine.shingler().shingling());
        let [a, b] = names;
        let estimate = compared.estimate();
        let interval = estimate.map(|estimate| estimate.interval(CONFIDENCE));
        Ok(Report {
            shingles: crate::terminal::shingles_name(shingling),
            a,
            b,
            shingles_a: compared.shingles[0],
            shingles_b: compared.shingles[1],
            shared: compared.shared,
            union: compared.union(),
            jaccard: compared.jaccard(),
            estimate: estimate.map(|estimate| estimate.jaccard()),
            standard_error: estimate.map(|estimate| estimate.standard_error()),
            confidence: CONFIDENCE,
            interval: interval.transpose()?,
            matches: estimate.map(|estimate| estimate.matches()),
            num_perm: scheme.num_perm(),
            threshold: self.threshold,
            bands: banding.bands(),
            rows: banding.rows(),
            candidate_probability: compared
                .jaccard()
                .map(|jaccard| banding.candidate_probability(jaccard)),
            distances: Distances::of(compared),
            scheme: scheme.to_string(),
            hash: engine.shingler().hash().to_string(),
            seed: scheme.seed(),
            unit: shingling.unit.to_string(),
            size: shingling.unit.takes_size().then(|| shingling.size.get()),
            count: shingling.weighting == Weighting::Counts,
        })
    }

    /// Warnings of the signer.
    pub fn notices(&self) -> Vec<String> {
        self.engine.signer().notices()
    }
}

/// The printed results. The fields are the keys of `--json`; `None` is null.
#[derive(Debug, Serialize)]
pub struct Report {
    #[serde(skip)]
    shingles: String,
    a: String,
    b: String,
    shingles_a: usize,
    shingles_b: usize,
    shared: usize,
    union: usize,
    jaccard: Option<f64>,
    estimate: Option<f64>,
    standard_error: Option<f64>,
    confidence: f64,
    interval: Option<(f64, f64)>,
    matches: Option<usize>,
    num_perm: usize,
    threshold: f64,
    bands: usize,
    rows: usize,
    candidate_probability: Option<f64>,
    #[serde(flatten)]
    distances: Distances,
    scheme: String,
    hash: String,
    seed: u32,
    unit: String,
    size: Option<usize>,
    count: bool,
}

impl Report {
    /// One JSON object, as a line.
    ///
    /// # Errors
    /// None that can occur: the report holds nothing that JSON lacks.
    pub fn json(&self) -> anyhow::Result<String> {
        let mut line = serde_json::to_string(self)?;
        line.push('\n');
        Ok(line)
    }

    /// One result per line.
    ///
    /// # Errors
    /// None that can occur.
    pub fn page(&self) -> Result<String, std::fmt::Error> {
        let mut page = String::new();
        self.write(&mut page)?;
        Ok(page)
    }

    fn write(&self, page: &mut String) -> std::fmt::Result {
        self.write_similarity(page)?;
        self.distances.write(page)
    }

    fn write_similarity(&self, page: &mut String) -> std::fmt::Result {
        let shingles = &self.shingles;
        let digits = self.shingles_a.max(self.shingles_b).max(self.union);
        let digits = digits.to_string().len();
        writeln!(
            page,
            "        A  {:>digits$} {shingles}, {}",
            self.shingles_a, self.a
        )?;
        writeln!(
            page,
            "        B  {:>digits$} {shingles}, {}",
            self.shingles_b, self.b
        )?;
        writeln!(
            page,
            "   shared  {:>digits$} of {}",
            self.shared, self.union
        )?;
        let (Some(jaccard), Some(estimate)) = (self.jaccard, self.estimate) else {
            return writeln!(
                page,
                "  Jaccard  undefined: neither text has a shingle; such documents are never a pair"
            );
        };
        writeln!(page, "  Jaccard  {jaccard:.4}")?;
        let standard_error = self.standard_error.unwrap_or_default();
        let (low, high) = self.interval.unwrap_or_default();
        writeln!(
            page,
            " estimate  {estimate:.4} with a standard error of {standard_error:.4}: {} of {} slots agree ({})",
            self.matches.unwrap_or_default(),
            self.num_perm,
            self.scheme
        )?;
        writeln!(
            page,
            " interval  {low:.4} to {high:.4}, at {:.0} % confidence",
            100.0 * self.confidence
        )?;
        let percent = 100.0 * self.candidate_probability.unwrap_or_default();
        writeln!(
            page,
            "candidate  with a probability of {percent:.1} %, by {} bands of {} (threshold {})",
            self.bands, self.rows, self.threshold
        )
    }
}

/// Distances beside the similarity, with the keys of `--json`.
#[derive(Debug, Serialize)]
struct Distances {
    occurrences_a: u64,
    occurrences_b: u64,
    containment_a: Option<f64>,
    containment_b: Option<f64>,
    bag_jaccard: Option<f64>,
    bag_similarity: Option<f64>,
    cosine: Option<f64>,
    angle_degrees: Option<f64>,
    l1: u128,
    l2: f64,
    linf: u64,
    #[serde(serialize_with = "serialize_name")]
    sequence_unit: SequenceUnit,
    length_a: usize,
    length_b: usize,
    edit_distance: Option<usize>,
    lcs: Option<usize>,
    hamming: Option<usize>,
}

fn serialize_name<S: serde::Serializer>(
    unit: &SequenceUnit,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(unit)
}

impl Distances {
    fn of(compared: &Comparison) -> Self {
        let (bags, sequences) = (&compared.bags, &compared.sequences);
        let [containment_a, containment_b] = compared.containment();
        Distances {
            occurrences_a: bags.sizes[0],
            occurrences_b: bags.sizes[1],
            containment_a,
            containment_b,
            bag_jaccard: bags.jaccard(),
            bag_similarity: bags.similarity(),
            cosine: bags.vectors.cosine(),
            angle_degrees: bags.vectors.angle_degrees(),
            l1: bags.vectors.l1(),
            l2: bags.vectors.l2(),
            linf: bags.vectors.linf(),
            sequence_unit: sequences.unit,
            length_a: sequences.lengths[0],
            length_b: sequences.lengths[1],
            edit_distance: sequences.edit_distance(),
            lcs: sequences.common,
            hamming: sequences.hamming,
        }
    }

    fn write(&self, page: &mut String) -> std::fmt::Result {
        writeln!(page)?;
        self.write_counts(page)?;
        self.write_sequences(page)
    }

    /// The distances of shingles and their counts. A page without shingles lacks them.
    fn write_counts(&self, page: &mut String) -> std::fmt::Result {
        let share =
            |share: Option<f64>| share.map_or("undefined".to_owned(), |s| format!("{s:.4}"));
        if let (None, None) = (self.containment_a, self.containment_b) {
            return Ok(());
        }
        writeln!(
            page,
            "contained  {} of A in B, {} of B in A",
            share(self.containment_a),
            share(self.containment_b)
        )?;
        writeln!(
            page,
            "      bag  {} of the greater counts, {} of all counts: {} shingles in A, {} in B",
            share(self.bag_jaccard),
            share(self.bag_similarity),
            self.occurrences_a,
            self.occurrences_b
        )?;
        let angle = self.angle_degrees;
        let angle = angle.map_or(": a text has no shingle".to_owned(), |angle| {
            format!(", an angle of {angle:.2} degrees")
        });
        writeln!(page, "   cosine  {}{angle}", share(self.cosine))?;
        writeln!(page, "       L1  {}", self.l1)?;
        writeln!(page, "       L2  {:.4}", self.l2)?;
        writeln!(page, "     Linf  {}", self.linf)
    }

    fn write_sequences(&self, page: &mut String) -> std::fmt::Result {
        let (unit, limit) = match self.sequence_unit {
            SequenceUnit::Chars => ("characters", SequenceUnit::Chars.limit()),
            SequenceUnit::Words => ("words", SequenceUnit::Words.limit()),
        };
        let (a, b) = (self.length_a, self.length_b);
        if let (Some(distance), Some(common)) = (self.edit_distance, self.lcs) {
            writeln!(page, "     edit  {distance} {unit} inserted or deleted")?;
            writeln!(page, "      LCS  {common} {unit}, of {a} in A and {b} in B")?;
        } else {
            let reason = format!("not computed: a text has more than {limit} {unit}");
            writeln!(page, "     edit  {reason}")?;
            writeln!(page, "      LCS  {reason}")?;
        }
        match self.hamming {
            Some(distance) => writeln!(page, "  Hamming  {distance} of {a} {unit}"),
            None => writeln!(page, "  Hamming  undefined: A has {a} {unit}, B has {b}"),
        }
    }
}
