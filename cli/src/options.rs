//! Which option acts in which mode of which command: one table, which the command line and the Python package read.
//!
//! To add an option, add its name to the row of [`TABLE`] for its commands whose effect and modes it shares, or add a
//! row; then give it a value in `cli/tests/options.rs`. That test fails for an option without a row. It runs each option
//! in each mode: the option must change what its row says, or be refused.
//!
//! To add a mode, add a variant to [`Mode`], tell in `Mode::refusal` why options are idle in it, and have the arguments
//! that lead to it name it in their `modes`.
//!
//! An option is refused because it is given, whatever its value; Python passes the arguments that are not at their
//! defaults. What the library refuses itself is not repeated here, such as a `size` of stop words, a `delimiter` without CSV
//! or a `compression_level` without a compressed output. `dry_run` is no mode: it leaves out the writing alone, so that the
//! same command runs with it and without it.

use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory};

use crate::{Cli, Usage};

/// Options of some commands, what they change, and where they are refused.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The commands.
    pub commands: &'static [&'static str],
    /// The options, as parameters: `batch_mib`. Inputs without a flag need no row.
    pub options: &'static [&'static str],
    /// What they change.
    pub effect: Effect,
    /// The modes in which they cannot act.
    pub idle_in: &'static [Mode],
}

/// What an option changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Results, or what is printed in their place.
    Results,
    /// Time alone.
    Speed,
    /// Memory or disk space alone.
    Memory,
    /// Which inputs and outputs are refused, replaced or taken up again. Where there are none such, nothing changes.
    Checks,
    /// Messages and reports on the screen.
    Messages,
}

/// A state of a call in which some options cannot act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Stored signatures are read in place of documents.
    Signatures,
    /// A file of pairs says how they were found.
    FromPairs,
    /// An exact join was requested.
    Join,
    /// An exact join, which compares no buckets.
    NoBuckets,
    /// A search by distance, which is an exact join.
    Distance,
    /// A search by distance, which has no threshold of similarity.
    NoSimilarity,
    /// LSH finds the candidates, and no shingles are counted.
    NoJoin,
    /// Inputs are compared with each other alone.
    NoReference,
    /// Inputs are compared with no index.
    NoIndex,
    /// Inputs are compared with a reference alone.
    OnlyReference,
    /// No document is read a second time.
    ReadOnce,
    /// Documents are lists of tokens.
    Tokens,
    /// Documents are lists of tokens, and have no field of texts.
    NoTextField,
    /// Documents are texts.
    NotTokens,
    /// The unit is another than stop words.
    NotStopWords,
    /// All documents are added to an index.
    NotIfNew,
    /// An index finds documents by bands.
    LshIndex,
    /// An index finds documents by shingles.
    ExactIndex,
    /// Shingles hold no white space of the text.
    NoWhiteSpace,
    /// Tokens have no weights.
    NoWeights,
    /// Every input is the name of a file.
    NamedFiles,
    /// Every input is a text file.
    TextFiles,
    /// All documents are in one file.
    OneFile,
    /// Results go to stdout.
    Stdout,
    /// The backend is scalar.
    Scalar,
    /// The backend is gpu.
    Gpu,
    /// The backend is none that needs a device.
    NoDevice,
    /// `tune` reads no sample.
    NoSample,
    /// `tune` plans no run.
    NoPlan,
    /// The records of one input are linked.
    OneInput,
    /// The truth of an evaluation is pairs of ids.
    TruthPairs,
    /// The truth of an evaluation is the entity of each record.
    TruthEntities,
    /// Passages are of bytes.
    PassagesOfBytes,
    /// Each passage is one unit, a line or paragraph.
    PassagesOfLines,
    /// Passages are of several units in a row.
    PassagesOfWords,
    /// Passages are listed, and stay in the documents.
    PassagesStay,
    /// No documents are dropped for their passages.
    PassagesDropNone,
    /// Records get no field of their passages.
    PassagesUnmarked,
    /// All of each document is kept.
    PassagesRemoveNone,
    /// Passages are not cut out of documents.
    PassagesUncut,
    /// Documents that hold items are listed, and stay.
    ItemsStay,
    /// Any n-gram in common makes a document contaminated.
    AnyNgram,
    /// No report is printed.
    NoReport,
    /// No page is written.
    NoPage,
    /// Ratings count as seen, whatever their stars.
    Seen,
    /// Ratings count as copies, and nothing is recommended.
    Stars,
    /// Nothing counts as hated.
    NothingHated,
    /// Nothing is recommended.
    NoRecommendations,
    /// Items have no names.
    NoNames,
    /// Users are the neighbours of users.
    UsersOnly,
    /// `bench` measures no throughput.
    NoThroughput,
    /// `bench` measures neither throughput nor errors.
    LshOnly,
}

impl Mode {
    /// Why these options cannot act, and what to do. Parameters are in back quotes.
    fn refusal(self, options: &[&String]) -> String {
        let (is, s, applies, ies) = match options.len() {
            1 => ("is", "s", "applies", "ies"),
            _ => ("are", "", "apply", "y"),
        };
        let words = [
            ("{is}", is),
            ("{s}", s),
            ("{applies}", applies),
            ("{ies}", ies),
            ("{o}", &quoted(options)),
        ];
        let refusal = self.refusal_of_any().to_owned();
        let fill = |refusal: String, (place, word): (&str, &str)| refusal.replace(place, word);
        words.into_iter().fold(refusal, fill)
    }

    /// The same with places for the options, `{o}`, and for the ends of words, which depend on how many they are.
    #[rustfmt::skip] // A refusal is a line.
    const fn refusal_of_any(self) -> &'static str {
        match self {
            Mode::Signatures => "`signatures` are read in place of documents; omit {o}, or give documents as INPUT instead",
            Mode::FromPairs => "the report beside the pairs of `from_pairs` says how they were found; omit {o}, or omit `from_pairs` to search again",
            Mode::Join => "`candidates=join` computes no signatures; omit {o}, or pass `candidates=lsh`",
            Mode::NoBuckets => "an exact join compares no buckets; omit {o}, or pass `candidates=lsh`",
            Mode::Distance => "a search by `distance` is an exact join, which computes no signatures; omit {o}",
            Mode::NoSimilarity => "{o} limit{s} a similarity, and `within` a distance; omit {o}, or `distance` and `within`",
            Mode::NoJoin => "{o} limit{s} an exact join and the counts of `weights=rarity`, and this search has neither; omit {o}, or pass `candidates=join`",
            Mode::NoReference => "{o} {is} for the files of `against`; add `against`, or omit {o}",
            Mode::NoIndex => "{o} {is} for an index among `against`; name one, or omit {o}",
            Mode::OnlyReference => "`only_against` takes all passages of `against`, and no others; omit {o}, or omit `only_against`",
            Mode::ReadOnce => "no document is read a second time, so no input is held; omit {o}, or pass `verify=exact`",
            Mode::Tokens => "{o} {is} for texts, and tokens stay as they are; omit {o}, or choose another `unit`",
            Mode::NoTextField => "{o} name{s} a field of texts, which `unit=tokens` does not read; pass `tokens_field`, or choose another `unit`",
            Mode::NotTokens => "{o} need{s} `unit=tokens`; add `unit=tokens`, or omit {o}",
            Mode::NotStopWords => "{o} need{s} `unit=stopwords`; add `unit=stopwords`, or omit {o}",
            Mode::NoWhiteSpace => "shingles of this `unit` hold no white space of the text; omit {o}, or choose another `unit`, such as `unit=chars`",
            Mode::NoWeights => "{o} {is} for `weights_field`; add `weights_field`, or omit {o}",
            Mode::NamedFiles => "every input is the name of a file, and only files of folders and globs are chosen; omit {o}, or give a folder, or a glob in quotes",
            Mode::TextFiles => "text files have no fields; omit {o}, or give files of records, such as JSON Lines",
            Mode::OneFile => "there is one file of documents; omit {o}, or give several",
            Mode::UsersOnly => "only items have names; omit {o}, or pass `by=item`",
            Mode::Stdout => "`output` - writes the results to stdout and nothing else; omit {o}, or name an output file or folder",
            Mode::Scalar => "{o} {applies} to the backend simd, not scalar; omit {o}",
            Mode::Gpu => "{o} {applies} to the backend simd, not gpu; omit {o}",
            Mode::NoDevice => "{o} {applies} to the backends gpu and hybrid; add `backend=gpu`, or omit {o}",
            Mode::NoSample => "{o} need{s} a `sample`; pass `sample`, or omit {o}",
            Mode::NoPlan => "{o} need{s} a run to plan; pass `bytes`, or omit {o}",
            Mode::OneInput => "{o} {is} for two inputs: the records of one form entities of any size; omit {o}, or give a second input",
            Mode::TruthPairs => "{o} {is} for `entity_field`, and the truth is pairs of ids; add `entity_field`, or omit {o}",
            Mode::TruthEntities => "{o} {is} for pairs of ids, and `entity_field` names the entity of each record; omit {o}, or `entity_field`",
            Mode::PassagesOfBytes => "bytes stay as they are; omit {o}, or choose another `unit`, such as `unit=chars`",
            Mode::PassagesOfLines => "a passage is one line or paragraph, and nothing stands within it beside its unit; omit {o}, or choose another `unit`",
            Mode::PassagesOfWords => "{o} {is} for `unit=lines` and `unit=paragraphs`; add one of them, or omit {o}",
            Mode::PassagesStay => "`action=report` writes no documents; omit {o}, or pass `action=cut`",
            Mode::PassagesDropNone => "{o} {is} for `action=drop`; add `action=drop`, or omit {o}",
            Mode::PassagesUnmarked => "{o} {is} for `action=mark`; add `action=mark`, or omit {o}",
            Mode::PassagesRemoveNone => "`action=mark` removes nothing; omit {o}, or pass `action=cut`",
            Mode::PassagesUncut => "{o} {is} for `action=cut`; add `action=cut`, or omit {o}",
            Mode::ItemsStay => "`action=report` writes no documents; omit {o}, or pass `action=drop`",
            Mode::AnyNgram => "{o} {is} for `rule=simgpu`: by the others, any n-gram counts; omit {o}, or pass `rule=simgpu`",
            Mode::LshIndex => "{o} {is} for `kind=exact`, and bands find documents by the Jaccard similarity; omit {o}, or pass `kind=exact`",
            Mode::ExactIndex => "`kind=exact` computes no signatures and compares shingles; omit {o}, or pass `kind=lsh`",
            Mode::NotIfNew => "{o} {is} for what `if_new` says of each document; add `if_new`, or omit {o}",
            Mode::NoReport => "the report holds what {o} ask{s} for, and is not printed; add `report=json`, or omit {o}",
            Mode::NoPage => "{o} {is} for the page; add `page`, or omit {o}",
            Mode::Seen => "`as=seen` takes everything rated, whatever its stars; omit {o}, or choose another `as`",
            Mode::Stars => "`as=stars` counts all stars; omit {o}, or choose another `as`",
            Mode::NothingHated => "only `as=liked-hated` tells what is hated; omit {o}, or pass `as=liked-hated`",
            Mode::NoRecommendations => "{o} vote for recommendations; add `recommend` or `hold_out`, or choose how many to write with `top`",
            Mode::NoNames => "without `names`, items have no names; add `names`, or omit {o}",
            Mode::NoThroughput => "{o} var{ies} the measurements of throughput alone; add throughput to `parts`, or omit {o}",
            Mode::LshOnly => "{o} var{ies} the measurements of throughput and errors alone; add one of them to `parts`, or omit {o}",
        }
    }
}

const DOCUMENTS: &[&str] = &["dedup", "pairs", "sign"];
const SEARCHES: &[&str] = &["dedup", "pairs"];
const SIGNERS: &[&str] = &["dedup", "pairs", "sign", "compare"];
const INDEXED: &[&str] = &["index build", "index add", "index query"];
const RUNS: &[&str] = &[
    "dedup", "pairs", "sign", "link", "passages", "contain", "ratings",
];

const fn row(
    commands: &'static [&'static str],
    options: &'static [&'static str],
    effect: Effect,
    idle_in: &'static [Mode],
) -> Row {
    Row {
        commands,
        options,
        effect,
        idle_in,
    }
}

use Effect::{Checks, Memory, Messages, Results, Speed};
use Mode::{
    AnyNgram, Distance, ExactIndex, FromPairs, Gpu, ItemsStay, Join, LshIndex, LshOnly, NamedFiles,
    NoBuckets, NoDevice, NoIndex, NoJoin, NoNames, NoPage, NoPlan, NoRecommendations, NoReference,
    NoReport, NoSample, NoSimilarity, NoTextField, NoThroughput, NoWeights, NoWhiteSpace, NotIfNew,
    NotStopWords, NotTokens, NothingHated, OneFile, OneInput, OnlyReference, PassagesDropNone,
    PassagesOfBytes, PassagesOfLines, PassagesOfWords, PassagesRemoveNone, PassagesStay,
    PassagesUncut, PassagesUnmarked, ReadOnce, Scalar, Seen, Signatures, Stars, Stdout, TextFiles,
    Tokens, TruthEntities, TruthPairs, UsersOnly,
};

/// The table. Each option of a command is in one row.
#[rustfmt::skip] // A row is a line.
pub const TABLE: &[Row] = &[
    // Input
    row(DOCUMENTS, &["format", "delimiter", "quote"], Results, &[Signatures]),
    row(DOCUMENTS, &["limit", "weights_field"], Results, &[Signatures, FromPairs]),
    row(SEARCHES, &["weights"], Results, &[Signatures, FromPairs]),
    row(&["sign"], &["weights"], Checks, &[]),
    row(DOCUMENTS, &["hidden", "include", "exclude"], Results, &[Signatures, NamedFiles]),
    row(DOCUMENTS, &["text_field"], Results, &[Signatures, FromPairs, NoTextField, TextFiles]),
    row(DOCUMENTS, &["tokens_field"], Results, &[Signatures, FromPairs, NotTokens]),
    row(DOCUMENTS, &["weight_scale"], Results, &[Signatures, FromPairs, NoWeights]),
    row(DOCUMENTS, &["id_field"], Results, &[Signatures, FromPairs, TextFiles]),
    row(SEARCHES, &["against"], Results, &[Signatures, FromPairs]),
    row(SEARCHES, &["against_text_field"], Results, &[Signatures, FromPairs, NoReference, NoTextField]),
    row(SEARCHES, &["against_id_field"], Results, &[Signatures, FromPairs, NoReference]),
    row(DOCUMENTS, &["unique_ids", "on_bad_record"], Checks, &[Signatures, FromPairs]),
    // Shingles
    row(SIGNERS, &["unit", "size", "count"], Results, &[Signatures, FromPairs]),
    row(SIGNERS, &["stop_words"], Results, &[Signatures, FromPairs, NotStopWords]),
    row(SIGNERS, &["lowercase", "strip_punctuation"], Results, &[Signatures, FromPairs, Tokens]),
    row(SIGNERS, &["keep_whitespace"], Results, &[Signatures, FromPairs, Tokens, NoWhiteSpace]),
    // Signatures
    row(SIGNERS, &["scheme", "hash", "num_perm", "seed"], Results, &[Signatures, FromPairs, Join, Distance]),
    row(SIGNERS, &["backend"], Speed, &[Signatures, FromPairs, Join, Distance]),
    row(SIGNERS, &["device", "lose_device_after"], Speed, &[Signatures, FromPairs, Join, Distance, NoDevice]),
    row(SIGNERS, &["isa"], Speed, &[Signatures, FromPairs, Scalar, Gpu]),
    // Search
    row(SEARCHES, &["threshold"], Results, &[FromPairs, NoSimilarity]),
    row(SEARCHES, &["bands", "rows"], Results, &[FromPairs, Join, Distance]),
    row(SEARCHES, &["verify"], Results, &[FromPairs]),
    row(SEARCHES, &["measure"], Results, &[Signatures, FromPairs]),
    row(SEARCHES, &["candidates"], Results, &[Signatures, FromPairs]),
    row(SEARCHES, &["join_mib"], Memory, &[Signatures, FromPairs, NoJoin]),
    row(&["pairs"], &["signatures", "identical", "max_pairs"], Results, &[]),
    row(&["pairs"], &["distance", "within"], Results, &[Signatures]),
    row(&["dedup"], &["cluster", "keep", "from_pairs"], Results, &[]),
    row(&["dedup"], &["add"], Checks, &[FromPairs, NoIndex]),
    row(&["dedup"], &["min_shingles", "drop_short", "drop_empty"], Results, &[FromPairs]),
    row(&["dedup"], &["prefer_source"], Results, &[OneFile]),
    row(&["dedup"], &["keep_by"], Results, &[TextFiles]),
    row(&["dedup"], &["source_field"], Results, &[Stdout, TextFiles]),
    row(&["dedup"], &["max_bucket"], Results, &[FromPairs, NoBuckets]),
    // Machine
    row(DOCUMENTS, &["batch_mib"], Memory, &[Signatures]),
    row(SEARCHES, &["memory"], Memory, &[Signatures, FromPairs]),
    row(SEARCHES, &["temp_dir"], Memory, &[Signatures]),
    row(SEARCHES, &["hold_mib"], Memory, &[Signatures, ReadOnce]),
    row(SEARCHES, &["restart"], Checks, &[Signatures, FromPairs, Stdout]),
    row(RUNS, &["threads"], Speed, &[]),
    row(RUNS, &["quiet"], Messages, &[]),
    // Output
    row(RUNS, &["output"], Results, &[]),
    row(RUNS, &["overwrite"], Checks, &[Stdout]),
    row(&["dedup", "pairs", "ratings", "link", "passages", "contain"], &["dry_run"], Results, &[]),
    row(&["dedup", "pairs", "ratings", "link", "passages", "contain"], &["report"], Messages, &[Stdout]),
    row(&["dedup", "pairs", "ratings"], &["compression_level"], Results, &[]),
    row(&["dedup"], &["removed_format", "action", "no_samples"], Results, &[Stdout]),
    row(&["pairs"], &["page"], Results, &[Signatures, Stdout]),
    row(&["pairs"], &["no_samples"], Results, &[Signatures, Stdout, NoPage]),
    // Links
    row(&["link"], &["fields", "format", "delimiter", "quote", "id_field"], Results, &[]),
    row(&["link"], &["equivalents", "score", "threshold"], Results, &[]),
    row(&["link"], &["match", "share"], Results, &[OneInput]),
    row(&["link"], &["unique_ids", "on_bad_record"], Checks, &[]),
    // Passages
    row(&["passages"], &["format", "delimiter", "quote", "limit"], Results, &[]),
    row(&["passages"], &["hidden", "include", "exclude"], Results, &[NamedFiles]),
    row(&["passages"], &["text_field"], Results, &[NoTextField, TextFiles]),
    row(&["passages"], &["tokens_field"], Results, &[NotTokens]),
    row(&["passages"], &["id_field"], Results, &[TextFiles]),
    row(&["passages"], &["unique_ids", "on_bad_record"], Checks, &[]),
    row(&["passages"], &["against", "unit", "min_length", "min_count", "action"], Results, &[]),
    row(&["passages"], &["against_text_field"], Results, &[NoReference, NoTextField]),
    row(&["passages"], &["against_id_field", "only_against"], Results, &[NoReference]),
    row(&["passages"], &["prefer_source"], Results, &[OnlyReference, OneFile]),
    row(&["passages"], &["occurrences", "same_document"], Results, &[OnlyReference]),
    row(&["passages"], &["bytes_equal"], Results, &[Tokens, PassagesOfBytes, PassagesOfLines]),
    row(&["passages"], &["lowercase", "mask_digits"], Results, &[Tokens, PassagesOfBytes]),
    row(&["passages"], &["strip_punctuation", "merge_whitespace"], Results, &[Tokens, PassagesOfBytes, PassagesOfWords]),
    row(&["passages"], &["max_covered"], Results, &[PassagesDropNone]),
    row(&["passages"], &["snap"], Results, &[PassagesUncut]),
    row(&["passages"], &["mark_field"], Results, &[PassagesUnmarked]),
    row(&["passages"], &["min_left"], Results, &[PassagesStay, PassagesRemoveNone]),
    row(&["passages"], &["compression_level"], Results, &[PassagesStay]),
    row(&["passages"], &["no_samples", "passages_format"], Results, &[]),
    row(&["passages"], &["memory", "temp_dir"], Memory, &[]),
    row(&["passages"], &["restart"], Checks, &[]),
    // Items
    row(&["contain"], &["format", "delimiter", "quote", "limit"], Results, &[]),
    row(&["contain"], &["hidden", "include", "exclude"], Results, &[NamedFiles]),
    row(&["contain"], &["text_field", "id_field"], Results, &[TextFiles]),
    row(&["contain"], &["unique_ids", "on_bad_record"], Checks, &[]),
    row(&["contain"], &["against", "item_fields", "item_id_field", "benchmark_field"], Results, &[]),
    row(&["contain"], &["rule", "size", "ignore", "action"], Results, &[]),
    row(&["contain"], &["threshold", "min_ngrams", "phrases"], Results, &[AnyNgram]),
    row(&["contain"], &["hits_format", "no_samples", "suggest_ignore"], Results, &[]),
    row(&["contain"], &["classes", "compression_level"], Results, &[ItemsStay]),
    row(&["contain"], &["mark_field"], Results, &[PassagesUnmarked]),
    row(&["contain"], &["temp_dir"], Memory, &[]),
    row(&["contain", "link", "sign", "index add", "index query"], &["memory"], Memory, &[]),
    // Indexes
    row(INDEXED, &["index"], Results, &[]),
    row(INDEXED, &["format", "delimiter", "quote", "limit"], Results, &[Signatures]),
    row(INDEXED, &["hidden", "include", "exclude"], Results, &[Signatures, NamedFiles]),
    row(INDEXED, &["text_field"], Results, &[Signatures, NoTextField, TextFiles]),
    row(INDEXED, &["tokens_field"], Results, &[Signatures, NotTokens]),
    row(INDEXED, &["id_field"], Results, &[Signatures, TextFiles]),
    row(INDEXED, &["weights", "weights_field", "weight_scale", "unique_ids", "on_bad_record"], Checks, &[Signatures]),
    row(INDEXED, &["report", "quiet"], Messages, &[]),
    row(INDEXED, &["threads"], Speed, &[]),
    row(&["index build"], &["signatures"], Results, &[ExactIndex]),
    row(&["index build"], &["unit", "size", "count"], Results, &[Signatures]),
    row(&["index build"], &["stop_words"], Results, &[Signatures, NotStopWords]),
    row(&["index build"], &["lowercase", "strip_punctuation"], Results, &[Signatures, Tokens]),
    row(&["index build"], &["keep_whitespace"], Results, &[Signatures, Tokens, NoWhiteSpace]),
    row(&["index build"], &["threshold"], Results, &[]),
    row(&["index build"], &["kind"], Results, &[Signatures]),
    row(&["index build"], &["measure"], Results, &[Signatures, LshIndex]),
    row(&["index build"], &["bands", "rows", "verify"], Results, &[ExactIndex]),
    row(&["index build"], &["scheme", "hash", "num_perm", "seed"], Results, &[Signatures, ExactIndex]),
    row(&["index build"], &["backend"], Speed, &[Signatures, ExactIndex]),
    row(&["index build"], &["device", "lose_device_after"], Speed, &[Signatures, ExactIndex, NoDevice]),
    row(&["index build"], &["isa"], Speed, &[Signatures, Scalar, Gpu]),
    row(&["index build"], &["batch_mib"], Memory, &[Signatures]),
    row(&["index build"], &["memory"], Memory, &[]),
    row(&["index build"], &["temp_dir"], Memory, &[ExactIndex]),
    row(&["index build"], &["on_known_id"], Checks, &[]),
    row(&["index build"], &["restart"], Checks, &[Signatures]),
    row(&["index add"], &["if_new", "on_known_id"], Results, &[]),
    row(&["index add"], &["output"], Results, &[NotIfNew]),
    row(&["index add"], &["overwrite"], Checks, &[NotIfNew]),
    row(&["index query"], &["threshold", "top", "output"], Results, &[]),
    row(&["index query"], &["overwrite"], Checks, &[]),
    row(&["index delete"], &["index", "ids"], Results, &[]),
    row(&["index stats"], &["index", "json", "report"], Results, &[]),
    row(&["index compact", "index verify", "index export"], &["index"], Results, &[]),
    row(&["index delete", "index compact", "index verify", "index export", "index snapshot"], &["threads"], Speed, &[]),
    row(&["index delete", "index compact", "index verify", "index export", "index snapshot"], &["quiet"], Messages, &[]),
    // Evaluations
    row(&["evaluate"], &["truth", "format", "delimiter", "quote", "entity_field"], Results, &[]),
    row(&["evaluate"], &["truth_fields"], Results, &[TruthEntities]),
    row(&["evaluate"], &["id_field"], Results, &[TruthPairs]),
    row(&["evaluate"], &["examples"], Results, &[NoReport]),
    row(&["evaluate"], &["threads"], Speed, &[]),
    row(&["evaluate"], &["report", "quiet"], Messages, &[]),
    // Ratings
    row(&["ratings"], &["format", "delimiter", "quote", "user_field", "item_field"], Results, &[]),
    row(&["ratings"], &["names"], Results, &[UsersOnly]),
    row(&["ratings"], &["rating_field", "time_field"], Results, &[Seen]),
    row(&["ratings"], &["on_bad_record"], Checks, &[]),
    row(&["ratings"], &["name_id_field", "name_field"], Results, &[NoNames]),
    row(&["ratings"], &["by", "as", "top", "min_support", "recommend", "hold_out"], Results, &[]),
    row(&["ratings"], &["liked_from"], Results, &[Seen, Stars]),
    row(&["ratings"], &["hated_to"], Results, &[NothingHated]),
    row(&["ratings"], &["neighbours"], Results, &[NoRecommendations]),
    // Tools
    row(&["show"], &["no_text", "json"], Results, &[]),
    row(&["compare"], &["json", "threshold", "bands", "rows"], Results, &[]),
    row(&["tune"], &["threshold", "scheme", "num_perm", "bands", "rows"], Results, &[]),
    row(&["tune"], &["sample", "documents", "bytes"], Results, &[]),
    row(&["tune"], &["limit", "unit"], Results, &[NoSample]),
    row(&["tune"], &["text_field"], Results, &[NoSample, NoTextField]),
    row(&["tune"], &["tokens_field"], Results, &[NoSample, NotTokens]),
    row(&["tune"], &["memory"], Results, &[NoPlan]),
    row(&["tune"], &["temp_dir"], Memory, &[NoPlan]),
    row(&["selftest"], &["backend"], Results, &[]),
    row(&["selftest"], &["isa"], Results, &[Scalar, Gpu]),
    row(&["selftest"], &["device", "lose_device_after"], Results, &[NoDevice]),
    row(&["bench"], &["quick", "full", "parts", "schemes", "num_perm", "input"], Results, &[]),
    row(&["bench"], &["threads"], Results, &[NoThroughput]),
    row(&["bench"], &["backends", "isas", "device", "lengths"], Results, &[LshOnly]),
    row(&["bench"], &["results"], Results, &[]),
    row(&["bench"], &["quiet"], Messages, &[]),
];

/// All commands with their names: `sign`, `index build`. One that has options of its own stands for those below it.
pub fn commands(all: &clap::Command) -> Vec<(String, &clap::Command)> {
    let mut found = Vec::new();
    for command in all.get_subcommands() {
        let name = command.get_name();
        let has_options = command.get_arguments().any(|it| it.get_long().is_some());
        if has_options || !command.has_subcommands() {
            found.push((name.to_owned(), command));
            continue;
        }
        let below = commands(command).into_iter();
        found.extend(below.map(|(below, command)| (format!("{name} {below}"), command)));
    }
    found
}

/// The row of an option of a command.
pub fn row_of(command: &str, option: &str) -> Option<&'static Row> {
    TABLE
        .iter()
        .find(|row| row.commands.contains(&command) && row.options.contains(&option))
}

/// The options that a call gives, by name.
#[derive(Clone, Debug, Default)]
pub struct Given {
    command: String,
    options: Vec<String>,
}

impl Given {
    /// These options of a command.
    pub fn new(command: &str, options: impl IntoIterator<Item = String>) -> Self {
        Given {
            command: command.to_owned(),
            options: options.into_iter().collect(),
        }
    }

    /// The options on the command line, in the order of the help.
    pub(crate) fn of(matches: &ArgMatches) -> Self {
        let all = Cli::command();
        let commands = commands(&all);
        let (mut name, mut matches) = (String::new(), matches);
        let command = loop {
            let Some((word, of_word)) = matches.subcommand() else {
                return Given::default();
            };
            name = format!("{name} {word}").trim_start().to_owned();
            matches = of_word;
            if let Some((_, command)) = commands.iter().find(|(it, _)| *it == name) {
                break command;
            }
        };
        let options = command.get_arguments();
        let is_given = |option: &&clap::Arg| {
            matches.value_source(option.get_id().as_str()) == Some(ValueSource::CommandLine)
        };
        Given::new(&name, options.filter(is_given).filter_map(parameter))
    }

    /// Whether one of these options is given.
    pub(crate) fn has_any(&self, options: &[&str]) -> bool {
        self.options.iter().any(|given| options.contains(&&**given))
    }

    /// Refuses options that cannot act in one of these modes.
    ///
    /// # Errors
    /// A usage error that names all options which the first such mode leaves idle.
    pub fn check(&self, modes: &[Mode]) -> anyhow::Result<()> {
        for mode in modes {
            let is_idle = |option: &&String| {
                row_of(&self.command, option).is_some_and(|row| row.idle_in.contains(mode))
            };
            let idle: Vec<_> = self.options.iter().filter(is_idle).collect();
            if !idle.is_empty() {
                return Err(Usage::error(&mode.refusal(&idle)));
            }
        }
        Ok(())
    }
}

/// The name of an option as a parameter: `batch_mib` for `--batch-mib`.
pub fn parameter(option: &clap::Arg) -> Option<String> {
    option.get_long().map(|long| long.replace('-', "_"))
}

/// Names of options: `` `a`, `b` and `c` ``.
fn quoted(options: &[&String]) -> String {
    let quoted: Vec<_> = options.iter().map(|name| format!("`{name}`")).collect();
    match &quoted[..] {
        [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        all => all.concat(),
    }
}
