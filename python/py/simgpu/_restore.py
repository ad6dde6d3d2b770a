"""What pickles name: functions that make objects from their parts."""

from ._simgpu import Scheme, Shingling, Signer


def scheme(name, num_perm, seed):
    """Makes a scheme."""
    return Scheme(name, num_perm=num_perm, seed=seed)


def shingling(
    unit, size, lowercase, strip_punctuation, keep_whitespace, stop_words, hash_name,
    count=False, weight_scale=None,
):
    """Makes a shingling."""
    return Shingling(
        unit,
        size,
        lowercase=lowercase,
        strip_punctuation=strip_punctuation,
        keep_whitespace=keep_whitespace,
        count=count,
        weight_scale=weight_scale,
        stop_words=stop_words,
        hash=hash_name,
    )


def signer(scheme, shingling, backend, threads):
    """Makes a signer."""
    return Signer(scheme, shingling=shingling, backend=backend, threads=threads)
