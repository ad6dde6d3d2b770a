//! Texts by row.

/// Texts, concatenated: ids as JSON, or values of a field.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct Texts {
    text: String,
    /// The end of each text.
    ends: Vec<u64>,
}

impl Texts {
    /// Appends the text of the next document.
    #[doc(hidden)]
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len() as u64);
    }

    /// Appends the texts of the next documents.
    #[doc(hidden)]
    pub fn append(&mut self, texts: &Texts) {
        let before = self.text.len() as u64;
        self.text.push_str(&texts.text);
        self.ends.extend(texts.ends.iter().map(|end| before + end));
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "the ends are lengths of a string in memory"
    )]
    #[doc(hidden)]
    pub fn get(&self, row: usize) -> &str {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.text[start as usize..self.ends[row] as usize]
    }

    /// The number of texts.
    #[doc(hidden)]
    #[allow(
        clippy::len_without_is_empty,
        reason = "no caller asks whether there is none"
    )]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// All texts, by row.
    #[doc(hidden)]
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|row| self.get(row))
    }

    /// Bytes of memory used.
    #[doc(hidden)]
    pub fn bytes(&self) -> u64 {
        self.text.len() as u64 + 8 * self.ends.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_by_row() {
        let texts = ["", "\"ä\"", "7", "", "long enough"];
        let mut all = Texts::default();
        texts.iter().for_each(|text| all.push(text));
        assert_eq!(all.len(), texts.len());
        assert!(all.iter().eq(texts));
        assert_eq!(all.get(1), texts[1]);
        assert_eq!(all.bytes(), texts.concat().len() as u64 + 8 * 5);
        let mut twice = Texts::default();
        twice.append(&all);
        twice.append(&all);
        assert!(twice.iter().eq(texts.iter().chain(&texts).copied()));
    }
}
