//! Items of benchmarks, and by which rules documents contain them.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use simgpu_contain::{ItemFields, Rule, RuleOf};
use simgpu_io::FieldPath;

use crate::Usage;
use crate::arguments::check_field;
use crate::options::Mode;

/// The items.
#[derive(Args, Debug)]
pub struct ItemArguments {
    /// File, folder or glob of records with the items, in any format but text; repeat it for more
    #[arg(long, value_name = "ITEMS", required = true, help_heading = "Items")]
    pub against: Vec<PathBuf>,

    /// Fields of an item's question, passage, options and answer, in this order; leave out trailing names, or use an empty
    /// one to skip a part: question,,options
    #[arg(
        long,
        value_name = "FIELDS",
        default_value = "question,passage,options,answer",
        help_heading = "Items"
    )]
    pub item_fields: String,

    /// Field with the id of an item; records with one id are one item [default: eval_key and eval_instance_index, or else
    /// id]
    #[arg(long, value_name = "FIELD", help_heading = "Items")]
    pub item_id_field: Option<String>,

    /// Field with the name of the benchmark [default: eval_key, or else the name of the file]
    #[arg(long, value_name = "FIELD", help_heading = "Items")]
    pub benchmark_field: Option<String>,

    /// What decides whether an item is in a document.
    #[command(flatten)]
    pub decision: ItemRuleArguments,

    /// `phrases.parquet` of an earlier run with these items; hits on common phrases do not count [default: no hit is excused
    /// because its words are frequent]
    #[arg(long, value_name = "FILE", help_heading = "Items")]
    pub phrases: Option<PathBuf>,

    /// File of phrases that are no evidence, one a line; lines that begin with # are notes
    #[arg(long, value_name = "FILE", help_heading = "Items")]
    pub ignore: Option<PathBuf>,
}

/// What decides whether an item is in a document.
#[derive(Args, Debug)]
pub struct ItemRuleArguments {
    /// Whose rule decides. By those of others, any n-gram in common makes a document contaminated
    #[arg(
        long,
        value_name = "RULE",
        default_value = "simgpu",
        help_heading = "Items"
    )]
    pub rule: RuleArgument,

    /// Words of an n-gram, from 2 to 32 [default: that of the rule]
    #[arg(long, value_name = "N", help_heading = "Items")]
    pub size: Option<usize>,

    /// Minimum share of a question's distinctive words that must be present
    #[arg(
        long,
        value_name = "SHARE",
        default_value = "0.7",
        help_heading = "Items"
    )]
    pub threshold: f64,

    /// Minimum number of matching n-grams that occur in at most two questions
    #[arg(long, value_name = "N", default_value = "2", help_heading = "Items")]
    pub min_ngrams: usize,
}

/// The modes that a rule leads to.
pub fn rule_modes(rule: RuleArgument) -> &'static [Mode] {
    match rule {
        RuleArgument::Simgpu => &[],
        RuleArgument::Gpt3 | RuleArgument::Datatrove | RuleArgument::S1 => &[Mode::AnyNgram],
    }
}

/// The value of `--rule`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RuleArgument {
    /// The question is asked; n-grams of 5 words
    Simgpu,
    /// 13 words in a row of a question or passage; --action cut takes 200 characters around them
    Gpt3,
    /// 12 words in a row of an answer, or of a question and its answer behind it
    Datatrove,
    /// 8 words in a row of a question
    S1,
}

impl ItemRuleArguments {
    /// The rule.
    pub fn rule(&self) -> Rule {
        let rule = Rule::of(match self.rule {
            RuleArgument::Simgpu => RuleOf::Simgpu,
            RuleArgument::Gpt3 => RuleOf::Gpt3,
            RuleArgument::Datatrove => RuleOf::Datatrove,
            RuleArgument::S1 => RuleOf::S1,
        });
        Rule {
            size: self.size.unwrap_or(rule.size),
            threshold: self.threshold,
            min_ngrams: self.min_ngrams,
            ..rule
        }
    }
}

impl ItemArguments {
    /// The fields of the items.
    ///
    /// # Errors
    /// A usage error for more fields than an item has, or without a question.
    pub fn fields(&self) -> anyhow::Result<ItemFields> {
        check_field("item_id_field", self.item_id_field.as_ref())?;
        check_field("benchmark_field", self.benchmark_field.as_ref())?;
        let names: Vec<&str> = self.item_fields.split(',').map(str::trim).collect();
        let path = |name: &&str| (!name.is_empty()).then(|| FieldPath::new(name));
        let mut paths = names.iter().map(path);
        let (Some(question), 1..=4) = (paths.next().flatten(), names.len()) else {
            return Err(Usage::error(
                "`item_fields` names the fields of question, passage, options and answer; the first is required",
            ));
        };
        let mut next = || paths.next().flatten();
        Ok(ItemFields {
            question,
            passage: next(),
            options: next(),
            answer: next(),
            id: self.item_id_field.as_deref().map(FieldPath::new),
            benchmark: self.benchmark_field.as_deref().map(FieldPath::new),
        })
    }
}
