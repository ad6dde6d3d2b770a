//! Which options act in which commands, and where they are refused.

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

use super::mode::Mode;

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
