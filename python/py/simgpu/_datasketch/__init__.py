"""What ``simgpu.datasketch`` is made of: datasketch's names and results over native tables.

The modules of ``simgpu.datasketch`` only name what is here, because Python may import them twice: as
``simgpu.datasketch.lsh``, and as ``datasketch.lsh`` where a program puts ``simgpu.datasketch`` in
datasketch's place. An index whose subclass or program takes datasketch's insides into its own hands gets datasketch's
dictionaries.
"""
