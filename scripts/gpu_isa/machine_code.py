"""Machine code as a graph of blocks, and the two loops of a signing kernel that are counted.

A kernel stages shingles in workgroup memory (the tile) in one loop, and reads them in another, the
inner loop, which makes the updates. Both are found by what they do, so that their place and their
names may change.
"""

from collections import deque
from dataclasses import dataclass, field


@dataclass
class Instruction:
    """One instruction as a lane sees it."""

    name: str
    # 32-bit words of workgroup memory that it loads and stores.
    loaded: int | float = 0
    stored: int | float = 0
    # How often it is issued: below 1 where one instruction serves a part of the lanes.
    issued: float = 1
    cycles: float = 0
    # Whether it loads from global memory.
    fetches: bool = False
    # Whether it writes global memory, waits for threads, or changes workgroup memory atomically.
    has_effect: bool = False


@dataclass
class Block:
    """Instructions that run one after the other."""

    instructions: list[Instruction] = field(default_factory=list)
    successors: list[int] = field(default_factory=list)


class Listing:
    """Collects instructions, labels and branches in their order, and makes blocks of them."""

    def __init__(self):
        self.instructions = []
        self.branches = {}
        self.labels = {}

    def label(self, name):
        """Names the next instruction."""
        self.labels[name] = len(self.instructions)

    def add(self, instruction, targets=(), falls_through=True):
        """Adds an instruction, which may branch to labels."""
        if targets or not falls_through:
            self.branches[len(self.instructions)] = (targets, falls_through)
        self.instructions.append(instruction)

    def blocks(self):
        """The blocks by number; 0 is the entry."""
        count = len(self.instructions)
        starts = {0} | {at + 1 for at in self.branches}
        for targets, _ in self.branches.values():
            starts |= {self.labels[target] for target in targets if target in self.labels}
        starts = sorted(start for start in starts if start < count)
        number = {start: index for index, start in enumerate(starts)}
        blocks = {}
        for start, end in zip(starts, starts[1:] + [count]):
            targets, falls_through = self.branches.get(end - 1, ((), True))
            successors = [number[self.labels[t]] for t in targets if self.labels.get(t) in number]
            if falls_through and end in number:
                successors.append(number[end])
            blocks[number[start]] = Block(self.instructions[start:end], successors)
        return blocks


def loops(blocks):
    """The natural loops, as sets of block numbers, in the order of their first blocks."""
    entry = min(blocks)
    reached, todo = {entry}, deque([entry])
    while todo:
        for successor in blocks[todo.popleft()].successors:
            if successor not in reached:
                reached.add(successor)
                todo.append(successor)
    predecessors = {number: [] for number in reached}
    for number in reached:
        for successor in blocks[number].successors:
            predecessors[successor].append(number)

    dominators = {number: set(reached) for number in reached}
    dominators[entry] = {entry}
    changed = True
    while changed:
        changed = False
        for number in sorted(reached - {entry}):
            of_all = set.intersection(*(dominators[before] for before in predecessors[number]))
            if of_all | {number} != dominators[number]:
                dominators[number] = of_all | {number}
                changed = True

    bodies = {}
    for number in reached:
        for head in blocks[number].successors:
            if head in dominators[number]:
                body, todo = bodies.setdefault(head, {head}), [number]
                while todo:
                    block = todo.pop()
                    if block not in body:
                        body.add(block)
                        todo.extend(predecessors[block])
    return sorted(bodies.values(), key=min)


@dataclass
class Counted:
    """What a turn of the inner loop does, for one update, and what staging a quad costs a lane."""

    instructions: float
    cycles: float
    # None where the loop that stages holds loops, whose turns are not known.
    staging: float | None


class LoopNotFound(Exception):
    """The listing has no loop that reads the tile."""


def count(blocks, slot_words, permutations):
    """Counts the loops of a signing kernel.

    Candidates for the inner loop have no loop in them, read workgroup memory and change no memory.
    It is the one that reads most in a turn, and the first of equals: a second one may compute a few
    slots again, or fold partial minima. Candidates for the loop that stages load from global memory
    and store to workgroup memory. It is the one that stores most in a turn.
    """
    inner, staging = None, None
    found = loops(blocks)
    for body in found:
        instructions = [i for number in sorted(body) for i in blocks[number].instructions]
        loaded = sum(i.loaded for i in instructions)
        stored = sum(i.stored for i in instructions)
        is_innermost = not any(other < body for other in found)
        changes_memory = any(i.has_effect for i in instructions)
        if is_innermost and loaded and not stored and not changes_memory:
            if inner is None or loaded > inner[0]:
                inner = (loaded, instructions)
        within = {number for other in found if other < body for number in other}
        stores_within = any(i.stored for number in within for i in blocks[number].instructions)
        stages = stored and not stores_within and any(i.fetches for i in instructions)
        if stages and (staging is None or stored > staging[0]):
            staging = (stored, instructions, is_innermost)
    if inner is None:
        raise LoopNotFound("no loop reads workgroup memory and changes nothing")
    loaded, instructions = inner
    updates = loaded / slot_words * permutations
    per_quad = None
    if staging is not None and staging[2]:
        quads = staging[0] / (4 * slot_words)
        per_quad = sum(i.issued for i in staging[1]) / quads
    return Counted(
        instructions=sum(i.issued for i in instructions) / updates,
        cycles=sum(i.cycles for i in instructions) / updates,
        staging=per_quad,
    )
