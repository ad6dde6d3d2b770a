//! A comparison as text.

use std::fmt;

use super::comparison::{CaseChange, FolderComparison, LEAST_DIFFERENCE, Verdict};
use crate::case::Case;
use crate::summary::table::{Table, digits, percent, seconds};

/// Most named rows of those in one folder only.
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

impl fmt::Display for FolderComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_folders(f)?;
        self.write_checksums(f)?;
        self.write_times(f)?;
        self.write_errors(f)?;
        self.write_found(f)?;
        self.write_only(f)
    }
}

impl FolderComparison {
    fn write_folders(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (letter, (path, environment)) in ["A", "B"]
            .iter()
            .zip(self.paths.iter().zip(&self.environments))
        {
            let known = |what: &str| environment[what].as_str().unwrap_or("unknown").to_owned();
            let commit: String = known("commit").chars().take(12).collect();
            writeln!(
                f,
                "{letter}  {path}: {}, {}, commit {commit}",
                known("date"),
                known("cpu")
            )?;
        }
        let [a, b] = self
            .environments
            .each_ref()
            .map(|environment| &environment["cpu"]);
        if a != b {
            writeln!(
                f,
                "The machines differ, so ratios compare machines as well as programs."
            )?;
        }
        Ok(())
    }

    /// Comes first, because times of different computations are not comparable.
    fn write_checksums(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let others: Vec<&CaseChange> = self
            .cases
            .iter()
            .filter(|change| change.has_different_checksum)
            .collect();
        if others.is_empty() {
            return Ok(());
        }
        writeln!(
            f,
            "\nChecksums differ: A and B computed different results in {} cases.",
            others.len()
        )?;
        others
            .iter()
            .try_for_each(|change| writeln!(f, "  {}", change.case.describe()))
    }

    fn write_times(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.cases.is_empty() {
            return writeln!(f, "\nA and B have no case in common.");
        }
        writeln!(
            f,
            "\nRule: A and B are the least times of a case, because other programs only add to them. From and to bound their ratio, given the noise of \
             the measurements. A case is slower or faster if these bounds exclude 1 and the ratio differs from it by at least {}.",
            percent(LEAST_DIFFERENCE)
        )?;
        if let Some(ratio) = self.reference_ratio {
            writeln!(
                f,
                "A fixed loop took {} times as long in B; ratios are divided by this factor.",
                digits(ratio, 3)
            )?;
        }
        let mut table = Table::new(["case", "A", "B", "B / A", "from", "to", "verdict"]);
        for change in self.in_order() {
            let CaseChange {
                case,
                least_s: [a, b],
                ratio,
                interval: [low, high],
                verdict,
                ..
            } = change;
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
                if change.is_noisy() {
                    format!("{verdict}, noisy")
                } else {
                    verdict.to_string()
                },
            ]);
        }
        write!(f, "\n{}", table.markdown())?;
        let all = self.cases.len();
        let count = |verdict| self.count(verdict);
        writeln!(
            f,
            "\n{all} cases: {} equal ({}), {} of them too noisy to show a change by a fifth; {} slower, {} faster, {} with too few runs.",
            count(Verdict::Equal),
            percent(count(Verdict::Equal) as f64 / all as f64),
            self.cases.iter().filter(|change| change.is_noisy()).count(),
            count(Verdict::Slower),
            count(Verdict::Faster),
            count(Verdict::Unknown)
        )
    }

    /// Changed cases first, by the size of the change.
    fn in_order(&self) -> Vec<&CaseChange> {
        let mut changes: Vec<&CaseChange> = self.cases.iter().collect();
        let size = |change: &CaseChange| match change.verdict {
            Verdict::Slower | Verdict::Faster => change.ratio.ln().abs(),
            Verdict::Equal | Verdict::Unknown => 0.0,
        };
        changes.sort_by(|a, b| size(b).total_cmp(&size(a)));
        changes
    }

    fn write_errors(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.cells.len();
        let others: Vec<_> = self
            .cells
            .iter()
            .filter(|cell_change| !cell_change.is_equal)
            .collect();
        if all > 0 {
            writeln!(
                f,
                "\n{all} cells of errors: {} equal within noise.",
                all - others.len()
            )?;
        }
        if others.is_empty() {
            return Ok(());
        }
        let header = [
            "scheme",
            "computed by",
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
        for cell_change in others {
            let (cell, [a, b]) = (&cell_change.cell, cell_change.bias);
            table.push([
                cell.name(),
                cell.computer(),
                cell.input.clone(),
                cell.set_size.to_string(),
                format!("{:.2}", cell.similarity),
                cell.num_perm.to_string(),
                format!("{a:+.4}"),
                format!("{b:+.4}"),
                format!("{:+.1}", cell_change.bias_z),
                digits(cell_change.error_ratio, 3),
                format!("{:+.1}", cell_change.error_z),
            ]);
        }
        write!(f, "\n{}", table.markdown())
    }

    fn write_found(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.found.is_empty() {
            return Ok(());
        }
        writeln!(f, "\nPipelines found different pairs, A > B:")?;
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
        for (letter, cases) in ["A", "B"].iter().zip(&self.only_cases) {
            write_cases(f, letter, cases)?;
        }
        for (letter, cells) in ["A", "B"].iter().zip(self.only_cells) {
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
