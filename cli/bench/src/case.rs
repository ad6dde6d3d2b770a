//! What all runs of one case have in common.

use super::stage::Stage;

/// Ends the name of a device that is emulated by the CPU, in all tables and charts.
pub(crate) const SOFTWARE: &str = " (software)";

/// What all runs of a case have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Case {
    /// As in [`TimedRun`](crate::TimedRun), like all other fields.
    pub stage: Stage,
    #[allow(missing_docs, reason = "as in TimedRun")]
    pub input: String,
    #[allow(missing_docs, reason = "as in TimedRun")]
    pub tool: String,
    #[allow(missing_docs, reason = "as in TimedRun")]
    pub scheme: String,
    #[allow(missing_docs, reason = "as in TimedRun")]
    pub backend: String,
    #[allow(missing_docs, reason = "as in TimedRun")]
    pub hardware: String,
    #[allow(missing_docs, reason = "as in TimedRun")]
    pub shingles: u64,
    #[allow(missing_docs, reason = "as in TimedRun")]
    pub documents: u64,
    #[allow(missing_docs, reason = "as in TimedRun")]
    pub num_perm: u32,
    #[allow(missing_docs, reason = "as in TimedRun")]
    pub threads: u32,
}

impl Case {
    /// The case without backend, hardware and threads, on which results do not depend.
    #[must_use]
    pub fn anywhere(self) -> Case {
        Case {
            backend: String::new(),
            hardware: String::new(),
            threads: 0,
            ..self
        }
    }

    /// What computes: the backend and its instruction set or device.
    pub fn computer(&self) -> String {
        computer(&self.backend, &self.hardware)
    }

    /// Whether a GPU computes some or all of it.
    pub fn is_on_device(&self) -> bool {
        matches!(self.backend.as_str(), "gpu" | "hybrid")
    }

    /// Whether a GPU in software computes it.
    pub fn is_on_software(&self) -> bool {
        self.hardware.ends_with(SOFTWARE)
    }

    /// Threads in words.
    pub fn threads(&self) -> String {
        match self.threads {
            1 => "1 thread".to_owned(),
            threads => format!("{threads} threads"),
        }
    }

    /// The case in words, distinct from all others.
    pub fn describe(&self) -> String {
        let mut words = vec![self.stage.name().to_owned()];
        if self.tool != "simgpu" {
            words.push(self.tool.clone());
        }
        words.extend([self.scheme.clone(), self.computer()]);
        words.retain(|word| !word.is_empty());
        if !self.input.is_empty() {
            words.push(format!("on {}", self.input));
        }
        let mut sizes = Vec::new();
        if self.shingles > 0 {
            sizes.push(format!("{} shingles", self.shingles));
        }
        if self.num_perm > 0 {
            sizes.push(format!("K = {}", self.num_perm));
        }
        sizes.push(format!("{} documents", self.documents));
        sizes.push(self.threads());
        format!("{}, {}", words.join(" "), sizes.join(", "))
    }
}

/// A backend and its instruction set or device, in words.
pub(crate) fn computer(backend: &str, hardware: &str) -> String {
    if hardware == backend {
        backend.to_owned()
    } else {
        format!("{backend} {hardware}").trim().to_owned()
    }
}
