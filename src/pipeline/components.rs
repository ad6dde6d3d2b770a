//! Connected components.

/// Union-find over numbers from 0. The root of a component is its least index.
pub(super) struct Components {
    parents: Vec<u32>,
}

impl Components {
    pub(super) fn new(documents: usize) -> Self {
        Components {
            parents: (0..).take(documents).collect(),
        }
    }

    /// The root of a component.
    pub(super) fn root(&self, mut index: u32) -> u32 {
        while self.parents[index as usize] != index {
            index = self.parents[index as usize];
        }
        index
    }

    /// Unites two components. Returns whether they were different.
    pub(super) fn unite(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.halve(a), self.halve(b));
        self.parents[a.max(b) as usize] = a.min(b);
        a != b
    }

    /// The root of a component. Halves the path to it.
    fn halve(&mut self, mut index: u32) -> u32 {
        while self.parents[index as usize] != index {
            let above = self.parents[self.parents[index as usize] as usize];
            self.parents[index as usize] = above;
            index = above;
        }
        index
    }
}
