//! `simgpu ratings`.

mod rated;

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use simgpu_io::{Inputs, PairsFormat};
use simgpu_ratings::{
    By, LEAST_LIKED, NeighbourTask, RatedAs, RatingsOutcome, RatingsRun, RatingsTask,
    RecommendTask, Recommendees, Scale,
};

use super::execute;
use super::pairs::with_output;
use crate::arguments::{Caller, ProcessArguments, number, whole_number};
use crate::options::{Given, Mode};
use crate::outputs::{Destination, OutputArguments};
use crate::streams::with_stdin;
use crate::terminal::{Lines, counted, share};
use crate::{Usage, terminal, usage};

pub use rated::{AsArgument, ByArgument, RatedArguments};

/// Find what is rated alike, and recommend
///
/// Reads ratings of items by users, and compares items as sets of the users who rated them, or users as sets of items
/// (Mining of Massive Datasets, 3.1.3). Writes the neighbours of each, exactly: id, neighbour_id, rank, similarity
/// (Jaccard), support (how many they have in common), and the 95 % confidence interval of the similarity (low, high).
///
/// With --recommend, writes instead what to recommend: user, rank, item, score (the sum of the similarities to what the
/// user liked) and because (what added most to it). With --hold-out, hides one liked item of each user, and writes
/// whether it is recommended: user, item, rank, popularity_rank.
///
/// With --names, names stand beside the ids of items.
#[derive(Args, Debug)]
pub struct RatingsArguments {
    /// Files, folders or globs of ratings in CSV, TSV, JSON Lines, JSON arrays, Parquet or Arrow, also compressed by
    /// gzip, zstd, xz or bzip2; - reads stdin
    #[arg(value_name = "FILE", required = true)]
    pub inputs: Vec<PathBuf>,

    /// File for the results; its ending selects the format: .jsonl, .csv or .parquet; .jsonl and .csv can be
    /// compressed: .jsonl.zst, .csv.gz; - writes JSON Lines to stdout
    #[arg(long, short, value_name = "FILE", required_unless_present = "dry_run")]
    pub output: Option<PathBuf>,

    /// What to write.
    #[command(flatten)]
    pub outputs: OutputArguments,

    /// The fields of a rating.
    #[command(flatten)]
    pub rated: RatedArguments,

    /// What to compare.
    #[command(flatten)]
    pub search: NeighbourArguments,

    /// Threads and messages.
    #[command(flatten)]
    pub process: ProcessArguments,
}

/// What to compare, and what to make of it.
#[derive(Args, Debug)]
pub struct NeighbourArguments {
    /// What to compare
    #[arg(long, value_enum, default_value = "item", help_heading = "Search")]
    pub by: ByArgument,

    /// What is in a set
    #[arg(
        long = "as",
        value_enum,
        value_name = "READING",
        default_value = "liked",
        help_heading = "Search"
    )]
    pub rated_as: AsArgument,

    /// Liked from this number of stars on
    #[arg(
        long,
        value_name = "STARS",
        value_parser = number,
        default_value_t = Scale::default().liked_from,
        allow_negative_numbers = true,
        help_heading = "Search"
    )]
    pub liked_from: f64,

    /// Hated up to this number of stars, for --as liked-hated
    #[arg(
        long,
        value_name = "STARS",
        value_parser = number,
        default_value_t = Scale::default().hated_to,
        allow_negative_numbers = true,
        help_heading = "Search"
    )]
    pub hated_to: f64,

    /// Most neighbours of each, or recommendations per user
    #[arg(
        long,
        value_name = "N",
        value_parser = whole_number::<NonZeroUsize>,
        default_value = "10",
        help_heading = "Search"
    )]
    pub top: NonZeroUsize,

    /// Fewest elements in common: for --by item, users who rated both
    #[arg(
        long,
        value_name = "N",
        value_parser = whole_number::<NonZeroU32>,
        default_value = "5",
        help_heading = "Search"
    )]
    pub min_support: NonZeroU32,

    /// Recommend items to the user with this id, or to all
    #[arg(
        long,
        value_name = "USER|all",
        conflicts_with = "hold_out",
        allow_hyphen_values = true,
        help_heading = "Recommendations"
    )]
    pub recommend: Option<String>,

    /// Hide the item that each user liked last, and look for it among the recommendations; users with more than ten
    /// liked items take part
    #[arg(
        long,
        value_enum,
        value_name = "WHICH",
        help_heading = "Recommendations"
    )]
    pub hold_out: Option<HoldOutArgument>,

    /// Most neighbours of each item or user that vote for recommendations [default: 50]
    #[arg(
        long,
        value_name = "N",
        value_parser = whole_number::<NonZeroUsize>,
        help_heading = "Recommendations"
    )]
    pub neighbours: Option<NonZeroUsize>,
}

/// The value of `--hold-out`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum HoldOutArgument {
    /// The item that the user liked last
    Last,
}

impl NeighbourArguments {
    /// The modes that the task leads to.
    pub fn modes(&self) -> Vec<Mode> {
        let is_neighbours = self.recommend.is_none() && self.hold_out.is_none();
        let mut modes = Vec::new();
        match self.rated_as {
            // What is held out was liked.
            AsArgument::Seen if self.hold_out.is_none() => modes.push(Mode::Seen),
            AsArgument::Stars if is_neighbours => modes.push(Mode::Stars),
            _ => {}
        }
        if !matches!(self.rated_as, AsArgument::LikedHated) {
            modes.push(Mode::NothingHated);
        }
        if is_neighbours {
            modes.push(Mode::NoRecommendations);
            if let ByArgument::User = self.by {
                modes.push(Mode::UsersOnly);
            }
        }
        modes
    }

    /// What to find.
    ///
    /// # Errors
    /// A usage error if arguments contradict each other.
    pub fn task(&self) -> anyhow::Result<RatingsTask> {
        let scale = Scale {
            liked_from: self.liked_from,
            hated_to: match self.rated_as {
                AsArgument::LikedHated => self.hated_to,
                // Nothing counts as hated, so the default does not limit `liked_from`.
                _ if self.hated_to >= self.liked_from => self.liked_from - 1.0,
                _ => self.hated_to,
            },
        };
        scale.check().map_err(usage)?;
        let neighbours = |top| NeighbourTask {
            by: match self.by {
                ByArgument::Item => By::Item,
                ByArgument::User => By::User,
            },
            rated_as: match self.rated_as {
                AsArgument::Seen => RatedAs::Seen,
                AsArgument::Liked => RatedAs::Liked,
                AsArgument::LikedHated => RatedAs::LikedHated,
                AsArgument::Stars => RatedAs::Stars,
            },
            scale,
            top,
            min_support: self.min_support.get(),
        };
        let default = RecommendTask::default().neighbours.top;
        let recommend = RecommendTask {
            neighbours: neighbours(self.neighbours.map_or(default, NonZeroUsize::get)),
            top: self.top.get(),
        };
        match (&self.recommend, self.hold_out) {
            (Some(user), None) => Ok(RatingsTask::Recommend(
                recommend,
                match &**user {
                    "all" => Recommendees::All,
                    user => Recommendees::Users(vec![user.to_owned()]),
                },
            )),
            (None, Some(HoldOutArgument::Last)) => Ok(RatingsTask::HoldOut(recommend)),
            (Some(_), Some(_)) => Err(Usage::error(
                "`recommend` and `hold_out` exclude each other; omit one of them",
            )),
            (None, None) => Ok(RatingsTask::Neighbours(neighbours(self.top.get()))),
        }
    }
}

impl RatingsArguments {
    /// Where the results go. Refuses a file whose ending is no format.
    fn destination(&self) -> anyhow::Result<Destination<'_>> {
        let destination = self.outputs.destination(self.output.as_ref())?;
        if let Destination::Path(path) = destination {
            PairsFormat::of_path(path).map_err(usage)?;
        }
        Ok(destination)
    }

    /// Finds what the arguments ask for, on the current rayon pool.
    ///
    /// # Errors
    /// A usage error if the arguments contradict each other, and the errors of [`RatingsRun::run`].
    pub fn execute(&self, caller: &Caller<'_>) -> anyhow::Result<RatingsOutcome> {
        let destination = self.destination()?;
        caller.given.check(destination.modes())?;
        caller.given.check(&self.search.modes())?;
        if self.rated.names.is_none() {
            caller.given.check(&[Mode::NoNames])?;
        }
        let task = self.search.task()?;
        let fields = self.rated.fields()?;
        let inputs = Inputs::find_with(&self.inputs, self.rated.format.naming())?;
        let inputs = with_stdin(inputs)?;
        let names = self.rated.names_file()?;
        let run = RatingsRun {
            fields,
            names: names.as_ref(),
            on_bad_record: self.rated.bad.on_bad_record.resolve(),
            options: self.outputs.options(caller),
            ..RatingsRun::new(&inputs)
        };
        Ok(with_output(destination, |output| run.run(&task, output))?)
    }

    /// The lines of the summary.
    ///
    /// # Errors
    /// Those of the output's name.
    pub fn summary(&self, outcome: &RatingsOutcome) -> anyhow::Result<Lines> {
        let mut lines = Lines::default();
        let report = &outcome.report;
        let counts = &report.counts;
        let of = format!(
            "{} by {} of {}",
            counted(counts.ratings, "rating"),
            counted(counts.users, "user"),
            counted(counts.items, "item")
        );
        lines.row("ratings", of);
        lines.row("repeated", counted(counts.repeated, "earlier rating"));
        lines.row("skipped", counted(counts.skipped, "record"));
        let subject = match (report.parameters.recommend.is_some(), self.search.by) {
            (true, _) | (false, ByArgument::User) => "user",
            (false, ByArgument::Item) => "item",
        };
        let results = match report.parameters.recommend {
            Some(_) => "recommendation",
            None => "neighbour",
        };
        if let Some(without) = counts.without_result {
            let without = counted(without, subject);
            let found = counted(counts.results, results);
            lines.row("found", format!("{found}; {without} without any"));
        }
        if let Some(unsupported) = counts.unsupported_pairs {
            let pairs = counted(unsupported, "pair");
            let least = report.parameters.min_support;
            let left_out = format!("{pairs} with fewer than {least} in common");
            lines.row("left out", left_out);
        }
        if let Some(rates) = &report.hit_rates {
            let held = counted(rates.users, "user");
            let held = format!("the last liked item of {held} with {LEAST_LIKED} more");
            lines.row("held out", held);
            let rate = |hits, (low, high): (f64, f64)| {
                let interval = format!("95 % interval {:.1} to {:.1} %", 100.0 * low, 100.0 * high);
                format!("{}; {interval}", share(hits, rates.users))
            };
            lines.row("recommended", rate(rates.hits, rates.interval));
            let popular = rate(rates.popularity_hits, rates.popularity_interval);
            lines.row("popular", popular);
            let times = rates.hits as f64 / rates.popularity_hits as f64;
            if times.is_finite() {
                lines.row("ratio", format!("{times:.2} times the hits of popularity"));
            }
        }
        terminal::times_of_ratings(&mut lines, outcome);
        self.destination()?.summarise(&mut lines);
        Ok(lines)
    }
}

pub(crate) fn run(
    arguments: &RatingsArguments,
    given: &Given,
    command: &[String],
) -> anyhow::Result<()> {
    let (outcome, terminal) = execute(&arguments.process, given, command, |caller| {
        arguments.execute(caller)
    })?;
    let report = &outcome.report;
    arguments
        .outputs
        .shown
        .print_report(|bytes| report.write_json(bytes))?;
    terminal.summary(&arguments.summary(&outcome)?);
    Ok(())
}
