//! A comparison as text.

use std::fmt;

use super::{Comparison, LEAST_DIFFERENCE, Timed, Verdict};
use crate::bench::record::Case;
use crate::bench::summary::table::{Table, digits, percent, seconds};

/// Rows that are only in one folder and are named.
const NAMED: usize = 20;

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::Equal => "equal",
            Verdict::Unknown => "too few runs",
        })
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_folders(f)?;
        self.write_checksums(f)?;
        self.write_times(f)?;
        self.write_errors(f)?;
        self.write_found(f)?;
        self.write_only(f)
    }
}

impl Comparison {
    fn write_folders(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (letter, (path, environment)) in ["A", "B"]
            .iter()
            .zip(self.paths.iter().zip(&self.environments))
        {
            let said = |what: &str| environment[what].as_str().unwrap_or("unknown").to_owned();
            let commit: String = said("commit").chars().take(12).collect();
            writeln!(
                f,
                "{letter}  {path}: {}, {}, commit {commit}",
                said("date"),
                said("cpu")
            )?;
        }
        let [a, b] = self
            .environments
            .each_ref()
            .map(|environment| &environment["cpu"]);
        if a != b {
            writeln!(
                f,
                "These are different machines: ratios are about them as much as about the program."
            )?;
        }
        Ok(())
    }

    /// What comes first, since times of different computations say nothing.
    fn write_checksums(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let others: Vec<&Timed> = self
            .timed
            .iter()
            .filter(|timed| timed.has_other_checksum)
            .collect();
        if others.is_empty() {
            return Ok(());
        }
        writeln!(
            f,
            "\nChecksums differ: A and B did not compute the same in {} cases.",
            others.len()
        )?;
        others
            .iter()
            .try_for_each(|timed| writeln!(f, "  {}", timed.case.describe()))
    }

    fn write_times(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.timed.is_empty() {
            return writeln!(f, "\nNo case was timed in both.");
        }
        writeln!(
            f,
            "\nRule: A and B are the least times of a case, for what others do on a machine only adds to them. From and to are how far their \
             ratio may be off by what the measurements show of noise. Slower or faster is what excludes 1 and is {} or more away from it.",
            percent(LEAST_DIFFERENCE)
        )?;
        if let Some(ratio) = self.reference_ratio {
            writeln!(
                f,
                "A fixed loop took {} times as long in B; ratios are divided by that.",
                digits(ratio, 3)
            )?;
        }
        let mut table = Table::new(["case", "A", "B", "B / A", "from", "to", "verdict"]);
        for timed in self.in_order() {
            let Timed {
                case,
                least_s: [a, b],
                ratio,
                interval: [low, high],
                verdict,
                ..
            } = timed;
            let numbers =
                [ratio, low, high].map(|number| format!("{number:.2}").replace("NaN", "-"));
            let [ratio, low, high] = numbers;
            table.push([
                case.describe(),
                seconds(*a),
                seconds(*b),
                ratio,
                low,
                high,
                match timed.is_noisy() {
                    true => format!("{verdict}, noisy"),
                    false => verdict.to_string(),
                },
            ]);
        }
        write!(f, "\n{}", table.markdown())?;
        let all = self.timed.len();
        let count = |verdict| self.count(verdict);
        writeln!(
            f,
            "\n{all} cases: {} equal ({}), {} of them so noisy that a fifth more or less would not show; {} slower, {} faster, {} with too few runs.",
            count(Verdict::Equal),
            percent(count(Verdict::Equal) as f64 / all as f64),
            self.timed.iter().filter(|timed| timed.is_noisy()).count(),
            count(Verdict::Slower),
            count(Verdict::Faster),
            count(Verdict::Unknown)
        )
    }

    /// What changed before what did not, the most first.
    fn in_order(&self) -> Vec<&Timed> {
        let mut timed: Vec<&Timed> = self.timed.iter().collect();
        let change = |timed: &Timed| match timed.verdict {
            Verdict::Slower | Verdict::Faster => timed.ratio.ln().abs(),
            Verdict::Equal | Verdict::Unknown => 0.0,
        };
        timed.sort_by(|a, b| change(b).total_cmp(&change(a)));
        timed
    }

    fn write_errors(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.erred.len();
        let others: Vec<_> = self.erred.iter().filter(|erred| !erred.is_equal).collect();
        if all > 0 {
            writeln!(
                f,
                "\n{all} cells of errors: {} equal within their noise.",
                all - others.len()
            )?;
        }
        if others.is_empty() {
            return Ok(());
        }
        let header = [
            "scheme",
            "input",
            "n",
            "J",
            "K",
            "bias of A",
            "of B",
            "z",
            "error B / A",
            "z",
        ];
        let mut table = Table::new(header);
        for erred in others {
            let (cell, [a, b]) = (&erred.cell, erred.bias);
            table.push([
                cell.name(),
                cell.input.clone(),
                cell.set_size.to_string(),
                format!("{:.2}", cell.similarity),
                cell.num_perm.to_string(),
                format!("{a:+.4}"),
                format!("{b:+.4}"),
                format!("{:+.1}", erred.bias_z),
                digits(erred.error_ratio, 3),
                format!("{:+.1}", erred.error_z),
            ]);
        }
        write!(f, "\n{}", table.markdown())
    }

    fn write_found(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.found.is_empty() {
            return Ok(());
        }
        writeln!(f, "\nPipelines found something else, A > B:")?;
        for [a, b] in &self.found {
            let kept =
                |kept: Option<u64>| kept.map_or_else(|| "-".to_owned(), |kept| kept.to_string());
            writeln!(
                f,
                "  {} {} of {}, threshold {}, seed {}: true pairs {} > {}, false {} > {}, kept {} > {}",
                a.tool,
                a.scheme,
                a.corpus,
                a.threshold,
                a.seed,
                a.true_found,
                b.true_found,
                a.false_found,
                b.false_found,
                kept(a.kept),
                kept(b.kept)
            )?;
        }
        Ok(())
    }

    fn write_only(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (letter, cases) in ["A", "B"].iter().zip(&self.only) {
            write_cases(f, letter, cases)?;
        }
        for (letter, cells) in ["A", "B"].iter().zip(self.only_erred) {
            if cells > 0 {
                writeln!(f, "\nCells of errors only in {letter}: {cells}.")?;
            }
        }
        Ok(())
    }
}

fn write_cases(f: &mut fmt::Formatter<'_>, letter: &str, cases: &[Case]) -> fmt::Result {
    if cases.is_empty() {
        return Ok(());
    }
    writeln!(f, "\nCases only in {letter}: {}.", cases.len())?;
    for case in cases.iter().take(NAMED) {
        writeln!(f, "  {}", case.describe())?;
    }
    match cases.len().saturating_sub(NAMED) {
        0 => Ok(()),
        more => writeln!(f, "  and {more} more"),
    }
}
