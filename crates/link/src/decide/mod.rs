//! Which candidate pairs are links.
//!
//! With two files, `auto` takes text where its runners-up tell how many links are right, and else points where theirs do: of
//! 24 pairs of tables, text told on long texts (Abt-Buy, DBLP-ACM, also drawn from), where points are at most 0.01 better,
//! and points alone on people, where they are 0.2 better. Of 36 pairs of tables that share no record, neither told in any, so
//! that points, which link more of these, were never taken.
//!
//! Where nothing tells, a contest shows whether the files share records at all.

mod evidence;

mod files;

mod entities;

mod similarities;

use rayon::prelude::*;

pub(crate) use self::entities::large_entities;
use self::files::match_files;
use self::similarities::Similarities;
use crate::candidates::{Candidates, RecordPair};
use crate::contest::{Contest, contest};
use crate::evidence::Evidence;
use crate::links::{Accepted, Choice, Scorer};
use crate::matching::{Matching, Rounds};
use crate::parameters::Link;
use crate::points::{Points, SimilarityLevels, Start};
use crate::score::Score;
use crate::symbols::{Lists, Symbols};
use crate::tables::RecordTables;
use crate::textbook::FieldTexts;
use simgpu::error::{Error, Result};
use simgpu::progress::{Progress, Timings, grouped};

/// A search whose records are weighed.
#[derive(Clone, Copy)]
pub(crate) struct Decision<'a> {
    pub(crate) tables: &'a RecordTables<'a>,
    pub(crate) symbols: &'a Symbols,
    pub(crate) lists: &'a Lists,
    pub(crate) task: &'a Link,
    pub(crate) progress: &'a dyn Progress,
}

impl Decision<'_> {
    /// Decides which candidates are links. `evidence` decides in one file, if there is any; `choice` is why.
    pub(crate) fn decide(
        &self,
        evidence: Option<Evidence>,
        candidates: &mut Candidates,
        choice: &mut Choice,
        timings: &mut Timings,
    ) -> Result<(Scorer, Accepted)> {
        if let Some(evidence) = evidence {
            let scorer = Scorer::Evidence(Box::new(evidence));
            let accepted = timings.time("match", 0, || self.accept(candidates, &scorer, choice))?;
            return Ok((scorer, accepted));
        }
        let (scorer, accepted) = self.link_by_scores(candidates, choice, timings)?;
        if !self.may_be_chance(&scorer, &accepted) {
            return Ok((scorer, accepted));
        }
        let outcome = timings.time("contest", 0, || {
            contest(self.tables, self.lists, self.symbols, self.progress)
        })?;
        choice.contest = Some(outcome);
        if outcome.is_chance {
            let accepted = self.accept_equal(candidates, &scorer, outcome)?;
            Ok((scorer, accepted))
        } else {
            Ok((scorer, accepted))
        }
    }

    /// Whether the links of two files by text may be chance: nothing else tells how many are right.
    fn may_be_chance(&self, scorer: &Scorer, accepted: &Accepted) -> bool {
        let task = self.task;
        let is_given = task.threshold.is_some() || task.share.is_some();
        self.tables.has_two_files()
            && matches!(scorer, Scorer::Text)
            && accepted.estimate.expected_precision.is_none()
            && !is_given
    }

    /// Links records of two files that are equal in every field, and no others, since a contest shows nothing else.
    fn accept_equal(
        &self,
        candidates: &Candidates,
        scorer: &Scorer,
        outcome: Contest,
    ) -> Result<Accepted> {
        let (tables, pairs) = (self.tables, &candidates.pairs);
        let mut accepted = match_files(tables, pairs, scorer, self.task, Some(1.0))?;
        let [larger, smaller] = if outcome.of_second {
            ["second", "first"]
        } else {
            ["first", "second"]
        };
        accepted.estimate.share = None;
        accepted.estimate.withhold(format!(
            "nothing to link: records of the {larger} file resemble each other as much as those of the {smaller} one: {} have a more similar one there, and {} in their own file; state `share` or `threshold` if you know better",
            grouped(outcome.across),
            grouped(outcome.inside),
        ));
        Ok(accepted)
    }

    /// The links by text, or by the score that is asked for; if that is `auto`, `choice` gets to know why by this one.
    fn link_by_scores(
        &self,
        candidates: &mut Candidates,
        choice: &mut Choice,
        timings: &mut Timings,
    ) -> Result<(Scorer, Accepted)> {
        let asked = self.task.score;
        let scorer = timings.time("score", 0, || self.score(asked, candidates))?;
        let accepted = timings.time("match", 0, || self.accept(candidates, &scorer, choice))?;
        let chooses =
            asked == Score::Auto && self.tables.has_two_files() && self.task.threshold.is_none();
        if !chooses || self.task.matching == Matching::ManyToMany {
            return Ok((scorer, accepted));
        }
        if accepted.estimate.expected_precision.is_some() {
            choice.because = Some(
                "how many of its links are right can be told, so points were not tried".to_owned(),
            );
            return Ok((scorer, accepted));
        }
        let (linked_by_points, because) =
            timings.time("points", 0, || self.link_by_points(candidates, choice))?;
        choice.because = Some(because);
        Ok(linked_by_points.unwrap_or((scorer, accepted)))
    }

    /// The links by points, if they tell how many are right, and why they are taken or not. Otherwise, the candidates are as
    /// they were, by text.
    fn link_by_points(
        &self,
        candidates: &mut Candidates,
        choice: &Choice,
    ) -> Result<(Option<(Scorer, Accepted)>, String)> {
        let scorer = match self.score(Score::Points, candidates) {
            Ok(scorer) => scorer,
            Err(Error::CannotLearn(because)) => {
                let because = format!("points cannot be learned: {because}");
                return Ok((None, because));
            }
            Err(error) => return Err(error),
        };
        let accepted = self.accept(candidates, &scorer, choice)?;
        if accepted.estimate.expected_precision.is_some() {
            let because = "how many of its links are right can be told, and not so by text";
            return Ok((Some((scorer, accepted)), because.to_owned()));
        }
        let pairs = &mut candidates.pairs;
        pairs
            .iter_mut()
            .for_each(|pair| pair.score = pair.similarity);
        pairs.par_sort_unstable_by(RecordPair::before);
        let because = "how many links are right can be told neither by text nor by points";
        Ok((None, because.to_owned()))
    }

    /// Which of the scored candidates are links.
    fn accept(
        &self,
        candidates: &Candidates,
        scorer: &Scorer,
        choice: &Choice,
    ) -> Result<Accepted> {
        let (tables, task) = (self.tables, self.task);
        match (tables.has_two_files(), scorer) {
            (_, Scorer::Evidence(evidence)) => {
                Ok(self.accept_by_evidence(candidates, scorer, evidence, choice))
            }
            (true, _) => match_files(tables, &candidates.pairs, scorer, task, task.threshold),
            (false, _) => Ok(self.form_entities(candidates, scorer, choice)),
        }
    }

    /// Scores the candidate pairs, and brings them into the order of acceptance.
    fn score(&self, score: Score, candidates: &mut Candidates) -> Result<Scorer> {
        let (tables, equivalents) = (self.tables, &self.task.equivalents);
        let pairs = &mut candidates.pairs;
        let (scorer, scores) = match score {
            Score::Auto | Score::Evidence | Score::Text => return Ok(Scorer::Text),
            Score::Points => {
                let progress = self.progress;
                let levels =
                    SimilarityLevels::compare(tables, self.symbols, equivalents, pairs, progress)?;
                let start = self.start_of_points(pairs, candidates.floor)?;
                let points = Points::learn(&levels, pairs, tables.rows(), &start, progress)?;
                let scores = points.score_pairs(&levels);
                (Scorer::Points(points), scores)
            }
            Score::Textbook => {
                let texts = FieldTexts::from_records(tables, equivalents, self.progress)?;
                let scores = texts.score_pairs(pairs, self.progress)?;
                (Scorer::Textbook(texts), scores)
            }
        };
        for (pair, score) in pairs.iter_mut().zip(scores) {
            pair.score = score;
        }
        pairs.par_sort_unstable_by(RecordPair::before);
        Ok(scorer)
    }

    /// Pairs that are taken for the same thing at first.
    fn start_of_points(&self, pairs: &[RecordPair], floor: f64) -> Result<Start> {
        let (distinct, matching) = (self.tables.distinct, self.task.matching);
        if self.tables.has_two_files() {
            let [mut accepted, ..] = Rounds::accept(pairs, distinct, matching).places;
            accepted.sort_unstable();
            accepted.dedup();
            let both = matching == Matching::OneToOne;
            return Ok(Start::OnePartner { accepted, both });
        }
        let similarities = Similarities::new(pairs, distinct, floor);
        let estimate = similarities.estimate(None);
        match estimate.unknown_because {
            Some(because) => Err(Error::CannotLearn(because)),
            None => Ok(Start::FirstPairs(similarities.reaching(estimate.threshold))),
        }
    }
}
