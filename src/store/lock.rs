//! A lock on a file, by which a run keeps others out.

use std::fs::{File, TryLockError};

/// A file that is locked as long as this lives.
///
/// To close the file is not enough: a program that another thread is about to start has a copy of it until it begins, and
/// with it the lock.
#[derive(Debug)]
#[doc(hidden)]
pub struct Locked(File);

impl Locked {
    /// Locks a file that nobody else has locked.
    #[doc(hidden)]
    pub fn try_new(file: File) -> Result<Self, TryLockError> {
        file.try_lock()?;
        Ok(Locked(file))
    }

    /// Locks a file that others may lock so, too, and nobody for itself alone.
    #[doc(hidden)]
    pub fn try_shared(file: File) -> Result<Self, TryLockError> {
        file.try_lock_shared()?;
        Ok(Locked(file))
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // The lock of a file that cannot be unlocked ends with its last copy.
        let _ = self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_ends_although_a_copy_of_the_file_is_open() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let open = || File::open(file.path()).unwrap();
        let first = open();
        let copy = first.try_clone().unwrap();
        let locked = Locked::try_new(first).unwrap();
        let refused = Locked::try_new(open());
        assert!(matches!(refused, Err(TryLockError::WouldBlock)));
        drop(locked);
        Locked::try_new(open()).unwrap();
        drop(copy);
    }
}
