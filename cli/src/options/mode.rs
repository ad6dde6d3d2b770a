//! Modes of a run in which some options have no effect.

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
    pub(super) fn refusal(self, options: &[&String]) -> String {
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

/// Names of options: `` `a`, `b` and `c` ``.
fn quoted(options: &[&String]) -> String {
    let quoted: Vec<_> = options.iter().map(|name| format!("`{name}`")).collect();
    match &quoted[..] {
        [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        all => all.concat(),
    }
}
