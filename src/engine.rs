//! Scheme, shingler and signer in one checked value.

use std::sync::Arc;

use crate::backend::{Backend, Hardware};
use crate::documents::{DocumentRange, Documents};
use crate::error::{Conflict, Result};
use crate::pipeline::{DeviceSigner, Shingler, Shingling, Signatures, SignaturesMut, Signer, Unit};
use crate::progress::{Progress, Silent, advance};
use crate::scheme::{BaseHash, Scheme};

/// Bytes of text that each thread signs between two calls of [`Progress::advance`]: some 5 ms.
const BYTES_PER_THREAD: usize = 2 << 20;

/// Signs documents: a scheme with a shingler and a signer that fit it.
///
/// All searches, in memory ([`search`](crate::search)) and over files, start from an engine.
///
/// ```
/// use simgpu::engine::Engine;
/// use simgpu::pipeline::{Shingling, Unit};
/// use simgpu::scheme::Scheme;
///
/// let engine = Engine::builder()
///     .scheme(Scheme::named("affine32")?.with_num_perm(256)?)
///     .shingling(Shingling::of(Unit::Words))
///     .build()?;
/// let signatures = engine.sign(&["a rose is a rose is a rose", "a rose is a rose is a tulip"])?;
/// assert_eq!((signatures.len(), signatures.num_perm()), (2, 256));
/// println!("{}", signatures.estimate(0, 1));
/// # Ok::<(), simgpu::Error>(())
/// ```
///
/// One engine serves any number of threads. Each call spreads its work over the current rayon pool: the global
/// one, unless the call is made inside another pool's `install`.
pub struct Engine {
    scheme: Scheme,
    shingler: Shingler,
    signer: Arc<dyn Signer>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine")
            .field("scheme", &self.scheme)
            .field("shingler", &self.shingler)
            .field("signer", &self.signer.describe())
            .finish()
    }
}

impl Engine {
    /// A builder with the default scheme, the default shingles of that scheme, and automatic choice of hardware.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// Combines a scheme with a shingler and a signer, for example your own implementation of [`Signer`].
    ///
    /// # Errors
    /// [`Conflict::EngineParts`] unless the hash width of the shingler, and the slot width and number of slots
    /// of the signer, are those of the scheme.
    pub fn from_parts(scheme: Scheme, shingler: Shingler, signer: Box<dyn Signer>) -> Result<Self> {
        let family = scheme.family();
        let fits = shingler.width() == family.hash_width()
            && signer.num_perm() == scheme.num_perm()
            && signer.slot_width() == family.slot_width();
        if !fits {
            return Err(Conflict::EngineParts {
                scheme: scheme.to_string(),
            }
            .into());
        }
        Ok(Engine {
            scheme,
            shingler,
            signer: signer.into(),
        })
    }

    /// The same engine with a shingler for other weights.
    #[doc(hidden)]
    pub fn with_shingler(&self, shingler: Shingler) -> Self {
        Engine {
            scheme: self.scheme.clone(),
            shingler,
            signer: Arc::clone(&self.signer),
        }
    }

    /// The scheme, which defines the values.
    pub fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// The shingler, which turns documents into sets.
    pub fn shingler(&self) -> &Shingler {
        &self.shingler
    }

    /// The signer, which computes signatures.
    pub fn signer(&self) -> &dyn Signer {
        &*self.signer
    }

    /// What signs on a device; `None` without a device.
    pub(crate) fn device_signer(&self) -> Option<DeviceSigner<'_>> {
        self.signer.device_signer()
    }

    /// Whether documents must be lists of tokens ([`Unit::Tokens`]) rather than texts.
    pub fn takes_tokens(&self) -> bool {
        self.shingler.shingling().unit == Unit::Tokens
    }

    /// Signs documents: one row per document, in order.
    ///
    /// Time is linear in the bytes of text. Memory beyond the signatures is bounded.
    ///
    /// # Errors
    /// [`Conflict::TextsForTokens`] or [`Conflict::TokensForTexts`] if the unit needs the other form of
    /// document, and the errors of [`Signer::sign_sets`].
    pub fn sign<D: Documents + ?Sized>(&self, documents: &D) -> Result<Signatures> {
        self.sign_with(documents, &Silent)
    }

    /// Signs documents as [`Engine::sign`] does, reports the stage `sign` and the signer's notices, and can be stopped
    /// after every few milliseconds of work. A single document is signed without a pause.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use simgpu::engine::Engine;
    /// use simgpu::progress::Progress;
    ///
    /// struct Impatient;
    ///
    /// impl Progress for Impatient {
    ///     fn advance(&self, _done: u64, _documents: u64, _bytes: u64) -> ControlFlow<()> {
    ///         ControlFlow::Break(())
    ///     }
    /// }
    ///
    /// let engine = Engine::builder().build()?;
    /// let stopped = engine.sign_with(&["a rose is a rose is a rose"], &Impatient);
    /// assert!(matches!(stopped, Err(simgpu::Error::Stopped)));
    /// # Ok::<(), simgpu::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Engine::sign`], and [`Error::Stopped`](crate::Error::Stopped) if `progress` stops the work.
    pub fn sign_with<D: Documents + ?Sized>(
        &self,
        documents: &D,
        progress: &dyn Progress,
    ) -> Result<Signatures> {
        let mut signatures = Signatures::new(self.scheme.num_perm(), self.signer.slot_width());
        let rows = signatures.push_rows(documents.len());
        self.sign_into(documents, rows, progress)?;
        Ok(signatures)
    }

    /// Signs documents as [`Engine::sign_with`] does, into the caller's memory: document i into row i of `signatures`.
    /// After an error, the rows hold any values.
    ///
    /// ```
    /// use simgpu::engine::Engine;
    /// use simgpu::pipeline::SignaturesMut;
    /// use simgpu::progress::Silent;
    /// use simgpu::scheme::SlotsMut;
    ///
    /// let engine = Engine::builder().build()?;
    /// let mut slots = [0; 2 * 128];
    /// let signatures = SignaturesMut::new(128, SlotsMut::U32(&mut slots))?;
    /// engine.sign_into(&["a rose is a rose is a rose", ""], signatures, &Silent)?;
    /// assert_eq!(slots[128..], [u32::MAX; 128]); // the empty text
    /// # Ok::<(), simgpu::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Engine::sign_with`], and [`Conflict::SignatureShape`] unless `signatures` has one row of the scheme's
    /// `num_perm` slots per document.
    pub fn sign_into<D: Documents + ?Sized>(
        &self,
        documents: &D,
        signatures: SignaturesMut<'_>,
        progress: &dyn Progress,
    ) -> Result<()> {
        let documents: &dyn Documents = &documents;
        let (total, num_perm) = (documents.len(), self.scheme.num_perm());
        let mut rest = signatures.slots_for_rows(total, num_perm)?;
        progress.begin("sign", total as u64);
        let (mut first, mut bytes) = (0, 0);
        while first < total {
            let (end, batch_bytes) = batch_from(documents, first);
            let batch = DocumentRange::new(documents, first..end);
            let (slots, others) = rest.split_at((end - first) * num_perm);
            rest = others;
            let rows = SignaturesMut::new(num_perm, slots)?;
            self.signer.sign_documents(&batch, &self.shingler, rows)?;
            // Warn at once: after the loss of a GPU, the rest may take much longer.
            for notice in self.signer.notices() {
                progress.warn(&notice);
            }
            first = end;
            bytes += batch_bytes;
            advance(progress, end as u64, end as u64, bytes)?;
        }
        Ok(())
    }
}

/// The end of the batch that begins at row `first`, and its bytes.
fn batch_from(documents: &dyn Documents, first: usize) -> (usize, u64) {
    let enough = BYTES_PER_THREAD * rayon::current_num_threads();
    let (mut end, mut bytes) = (first, 0);
    while end < documents.len() && bytes < enough {
        bytes += documents.get(end).bytes();
        end += 1;
    }
    (end, bytes as u64)
}

/// Builds an [`Engine`]; every setting has a default.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct EngineBuilder {
    scheme: Scheme,
    shingling: Option<Shingling>,
    hash: Option<BaseHash>,
    backend: Backend,
    hardware: Hardware,
    work_bytes: Option<u64>,
}

impl EngineBuilder {
    /// Sets the scheme. The default is `affine32` with 128 permutations and seed 1.
    pub fn scheme(self, scheme: Scheme) -> Self {
        EngineBuilder { scheme, ..self }
    }

    /// Sets the shingles. The default is those of the scheme ([`Shingling::of_scheme`]).
    pub fn shingling(self, shingling: Shingling) -> Self {
        EngineBuilder {
            shingling: Some(shingling),
            ..self
        }
    }

    /// Sets the base hash of shingles. The default is the scheme's or, if it has none, the unit's
    /// ([`Shingler::new`]).
    pub fn hash(self, hash: BaseHash) -> Self {
        EngineBuilder {
            hash: Some(hash),
            ..self
        }
    }

    /// Sets where signatures are computed; default [`Backend::Auto`]. Every backend computes the same values.
    pub fn backend(self, backend: Backend) -> Self {
        EngineBuilder { backend, ..self }
    }

    /// Sets vector instructions and device. The default is the fastest instructions and the first device. No
    /// value depends on them.
    pub fn hardware(self, hardware: Hardware) -> Self {
        EngineBuilder { hardware, ..self }
    }

    /// States how many bytes of text the engine will sign in all, as far as known. With little work,
    /// [`Backend::Auto`] chooses the CPU at once: the search for a GPU would take longer than signing. By default the
    /// amount is unknown, and [`Backend::Auto`] then searches for a GPU. No value depends on it.
    ///
    /// ```
    /// use simgpu::engine::Engine;
    ///
    /// let texts = ["a rose is a rose", "is a rose is a rose"];
    /// let bytes = texts.iter().map(|text| text.len() as u64).sum();
    /// let engine = Engine::builder().work_bytes(bytes).build()?;
    /// assert!(engine.signer().describe().starts_with("simd"));
    /// # Ok::<(), simgpu::Error>(())
    /// ```
    pub fn work_bytes(self, work_bytes: u64) -> Self {
        EngineBuilder {
            work_bytes: Some(work_bytes),
            ..self
        }
    }

    /// Opens the backend and makes the engine.
    ///
    /// # Errors
    /// [`Conflict::HashWidth`] and [`Conflict::HashUnit`] if the hash does not fit the scheme or the unit;
    /// [`Error::Unsupported`] if the chosen backend cannot run on this machine.
    ///
    /// [`Error::Unsupported`]: crate::Error::Unsupported
    pub fn build(self) -> Result<Engine> {
        let scheme = self.scheme;
        let shingling = self.shingling;
        let shingling = shingling.unwrap_or_else(|| Shingling::of_scheme(&scheme));
        let shingler = Shingler::new(shingling, &scheme, self.hash)?.with_isa(self.hardware.isa);
        let updates = self.work_bytes.map(|bytes| {
            let shingles = bytes / bytes_per_shingle(&shingler.shingling().unit);
            shingles.saturating_mul(scheme.num_perm() as u64)
        });
        let signer = self.backend.signer_for(&scheme, &self.hardware, updates)?;
        Engine::from_parts(scheme, shingler, signer)
    }
}

/// About how many bytes of text make one more shingle.
fn bytes_per_shingle(unit: &Unit) -> u64 {
    match unit {
        Unit::Bytes | Unit::Chars => 1,
        Unit::Words | Unit::Pieces | Unit::Tokens => 6,
        Unit::Code => 3,
        Unit::StopWords(_) => 12,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::Error;
    use crate::documents::{TextBatch, TokenBatch};
    use crate::pipeline::ShingleSets;
    use crate::scheme::{Slots, SlotsMut, Width};

    #[test]
    fn parts_of_different_schemes_are_refused() {
        let (narrow, wide) = (Scheme::default(), Scheme::named("affine64").unwrap());
        let shingler = |scheme| Shingler::new(Shingling::default(), scheme, None).unwrap();
        let signer = |scheme| Backend::Scalar.signer(scheme).unwrap();
        let few = narrow.clone().with_num_perm(64).unwrap();
        assert!(Engine::from_parts(narrow.clone(), shingler(&narrow), signer(&narrow)).is_ok());
        for (shingled, signed) in [(&wide, &narrow), (&narrow, &wide), (&narrow, &few)] {
            let engine = Engine::from_parts(narrow.clone(), shingler(shingled), signer(signed));
            assert!(matches!(
                engine,
                Err(Error::Conflict(Conflict::EngineParts { .. }))
            ));
        }
    }

    #[test]
    fn documents_of_the_wrong_form_are_refused() {
        let mut tokens = TokenBatch::default();
        tokens.push_token(b"a");
        tokens.finish_document();
        let words = Engine::builder().build().unwrap();
        let token_engine = Engine::builder().shingling(Shingling::of(Unit::Tokens));
        let token_engine = token_engine.build().unwrap();
        assert!(words.sign(&tokens).is_err() && token_engine.sign(&["a"]).is_err());
        assert_eq!(token_engine.sign(&tokens).unwrap().len(), 1);
        assert_eq!(words.sign(&TextBatch::default()).unwrap().len(), 0);
    }

    #[test]
    fn signing_into_memory_checks_its_shape() {
        let texts = ["a rose is a rose", "is a rose"];
        let engine = Engine::builder().build().unwrap();
        let sign = |num_perm, slots: SlotsMut<'_>| {
            let signatures = SignaturesMut::new(num_perm, slots).unwrap();
            engine.sign_into(&texts, signatures, &Silent)
        };
        let mut slots = vec![7; 2 * 128];
        sign(128, SlotsMut::U32(&mut slots)).unwrap();
        let expected = engine.sign(&texts).unwrap();
        assert_eq!(expected.slots(), Slots::U32(&slots));
        assert!(sign(128, SlotsMut::U32(&mut [7; 3 * 128])).is_err());
        assert!(sign(64, SlotsMut::U32(&mut [7; 2 * 128])).is_err());
        assert!(sign(128, SlotsMut::U64(&mut [7; 2 * 128])).is_err());
    }

    /// Signs as another signer does, and has a notice after each call.
    struct Talkative(Box<dyn Signer>);

    impl Signer for Talkative {
        fn describe(&self) -> String {
            self.0.describe()
        }

        fn num_perm(&self) -> usize {
            self.0.num_perm()
        }

        fn slot_width(&self) -> Width {
            self.0.slot_width()
        }

        fn sign_sets(&self, sets: &ShingleSets<'_>, signatures: SignaturesMut<'_>) -> Result<()> {
            self.0.sign_sets(sets, signatures)
        }

        fn notices(&self) -> Vec<String> {
            vec!["the device failed".to_owned()]
        }
    }

    #[test]
    fn notices_of_the_signer_are_warnings() {
        #[derive(Default)]
        struct Heard(Mutex<Vec<String>>);
        impl Progress for Heard {
            fn warn(&self, message: &str) {
                self.0.lock().unwrap().push(message.to_owned());
            }
        }
        let scheme = Scheme::default();
        let signer = Talkative(Backend::Scalar.signer(&scheme).unwrap());
        let shingler = Shingler::new(Shingling::default(), &scheme, None).unwrap();
        let engine = Engine::from_parts(scheme, shingler, Box::new(signer)).unwrap();
        let heard = Heard::default();
        engine.sign_with(&["a rose"], &heard).unwrap();
        assert_eq!(heard.0.into_inner().unwrap(), ["the device failed"]);
    }
}
