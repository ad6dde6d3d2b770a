//! What signs documents: a scheme, its shingler and its signer in one value that has been checked.

use crate::backend::{Backend, Hardware};
use crate::documents::{DocumentBatch, Documents};
use crate::error::{Conflict, Result};
use crate::pipeline::{Shingler, Shingling, Signatures, Signer, Unit};
use crate::scheme::{BaseHash, Scheme};

/// Bytes of text signed at a time.
const BATCH: usize = 16 << 20;

/// Scheme, shingler and signer, made for each other. Runs, benchmarks and bindings take one of these.
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
/// One engine serves any number of threads. A batch is shared out among the threads of the rayon pool that the
/// call is made in: the global one, unless another pool's `install` makes the call.
pub struct Engine {
    scheme: Scheme,
    shingler: Shingler,
    signer: Box<dyn Signer>,
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
    /// An engine of the default scheme and its shingles, on the fastest hardware, until told otherwise.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// An engine of a shingler and a signer that were made elsewhere, such as a signer of your own.
    ///
    /// # Errors
    /// [`Conflict::EngineParts`] unless both fit the scheme: the width of hashes, the number and the width of
    /// slots.
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
            signer,
        })
    }

    /// The scheme: what the values are.
    pub fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// The shingler: how documents become sets.
    pub fn shingler(&self) -> &Shingler {
        &self.shingler
    }

    /// The signer: where signatures are computed.
    pub fn signer(&self) -> &dyn Signer {
        &*self.signer
    }

    /// Whether documents are lists of tokens, not texts.
    pub fn takes_tokens(&self) -> bool {
        self.shingler.shingling().unit == Unit::Tokens
    }

    /// Signs documents: one row per document, in order. Time grows with the bytes of text; memory beyond the
    /// signatures does not grow.
    ///
    /// # Errors
    /// [`Conflict::TextsForTokens`] or [`Conflict::TokensForTexts`] for documents of the form that the unit
    /// does not take; those of [`Signer::sign_sets`].
    pub fn sign<D: Documents + ?Sized>(&self, documents: &D) -> Result<Signatures> {
        let mut batch = documents.empty_batch();
        self.check_form(&batch)?;
        let mut signatures = Signatures::new(self.scheme.num_perm(), self.signer.slot_width());
        let mut bytes = 0;
        for row in 0..documents.len() {
            documents.append_to(row, &mut batch);
            bytes += batch.bytes(batch.len() - 1);
            if bytes >= BATCH || row + 1 == documents.len() {
                self.sign_batch(&batch, &mut signatures)?;
                batch.restart(0);
                bytes = 0;
            }
        }
        Ok(signatures)
    }

    fn sign_batch(&self, batch: &DocumentBatch, signatures: &mut Signatures) -> Result<()> {
        match batch {
            DocumentBatch::Texts(texts) => {
                let rows = signatures.push_rows(texts.len());
                self.signer.sign_texts(texts, &self.shingler, rows)
            }
            DocumentBatch::Tokens(_) => {
                let shingles = self.shingler.shingle_documents(batch);
                signatures.sign(&*self.signer, &shingles.sets())
            }
        }
    }

    /// Refuses documents of the form that the unit does not take.
    pub(crate) fn check_form(&self, documents: &DocumentBatch) -> Result<()> {
        match (documents, self.takes_tokens()) {
            (DocumentBatch::Texts(_), true) => Err(Conflict::TextsForTokens.into()),
            (DocumentBatch::Tokens(_), false) => Err(Conflict::TokensForTexts {
                unit: self.shingler.shingling().unit.to_string(),
            }
            .into()),
            _ => Ok(()),
        }
    }
}

/// Makes an [`Engine`].
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct EngineBuilder {
    scheme: Scheme,
    shingling: Option<Shingling>,
    hash: Option<BaseHash>,
    backend: Backend,
    hardware: Hardware,
}

impl EngineBuilder {
    /// The scheme; default `affine32` with 128 permutations and seed 1.
    pub fn scheme(self, scheme: Scheme) -> Self {
        EngineBuilder { scheme, ..self }
    }

    /// What documents are cut into; default the scheme's ([`Shingling::of_scheme`]).
    pub fn shingling(self, shingling: Shingling) -> Self {
        EngineBuilder {
            shingling: Some(shingling),
            ..self
        }
    }

    /// The base hash of a shingle; default the scheme's, or the native one of the unit.
    pub fn hash(self, hash: BaseHash) -> Self {
        EngineBuilder {
            hash: Some(hash),
            ..self
        }
    }

    /// What computes the signatures; default [`Backend::Auto`]. The values are the same.
    pub fn backend(self, backend: Backend) -> Self {
        EngineBuilder { backend, ..self }
    }

    /// Instructions and device; default the fastest instructions and the first device. The values are the same.
    pub fn hardware(self, hardware: Hardware) -> Self {
        EngineBuilder { hardware, ..self }
    }

    /// Opens the backend.
    ///
    /// # Errors
    /// [`Conflict::HashWidth`] and [`Conflict::HashUnit`] for a hash that does not fit; [`Error::Unsupported`]
    /// when a backend that was named cannot run here.
    ///
    /// [`Error::Unsupported`]: crate::Error::Unsupported
    pub fn build(self) -> Result<Engine> {
        let scheme = self.scheme;
        let shingling = self.shingling;
        let shingling = shingling.unwrap_or_else(|| Shingling::of_scheme(&scheme));
        let shingler = Shingler::new(shingling, &scheme, self.hash)?.with_isa(self.hardware.isa);
        let signer = self.backend.signer_with(&scheme, &self.hardware)?;
        Engine::from_parts(scheme, shingler, signer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use crate::documents::{TextBatch, TokenBatch};

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
        let of_tokens = Engine::builder().shingling(Shingling::of(Unit::Tokens));
        let of_tokens = of_tokens.build().unwrap();
        assert!(words.sign(&tokens).is_err() && of_tokens.sign(&["a"]).is_err());
        assert_eq!(of_tokens.sign(&tokens).unwrap().len(), 1);
        assert_eq!(words.sign(&TextBatch::default()).unwrap().len(), 0);
    }
}
