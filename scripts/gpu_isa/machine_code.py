"""Machine code as a graph of blocks, and the loops of a signing kernel that are counted.

A kernel stages shingles in workgroup memory (the tile) in one loop, and reads them in others, which
make the updates. They are found by what they do, so that their place and their names may change.
"""

import heapq
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
    """The natural loops: sets of block numbers by the number of the block where the loop begins."""
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
    return bodies


def way(blocks, body, start, goal):
    """The cheapest way from a block of a loop to another within the loop, without the start."""
    seen, todo = set(), [(0, start, ())]
    while todo:
        cost, number, path = heapq.heappop(todo)
        if path and number == goal:
            return path
        if number in seen:
            continue
        seen.add(number)
        for successor in body.intersection(blocks[number].successors):
            step = sum(i.issued for i in blocks[successor].instructions)
            heapq.heappush(todo, (cost + step, successor, (*path, successor)))
    return ()


def turn(blocks, head, body):
    """The instructions of a turn: the cheapest way round through the block that loads most.

    A compiler may keep what it does on leaving, once, in a block of the loop.
    """
    most = max(body, key=lambda number: sum(i.loaded for i in blocks[number].instructions))
    path = way(blocks, body, head, most) if most != head else ()
    path += way(blocks, body, most, head)
    return [i for number in path for i in blocks[number].instructions]


@dataclass
class Counted:
    """What loops of updates do for one update, and what staging a quad costs a lane."""

    # Of the cheapest loop.
    instructions: float
    cycles: float
    # Instructions of the others, in their order.
    others: list[float]
    # None where the loop that stages holds loops, whose turns are not known.
    staging: float | None


class LoopNotFound(Exception):
    """The listing has no loop that reads the tile."""


def quads_loaded(instructions, slot_words):
    """Quads of shingles that instructions load: the tile holds vectors, and no single words."""
    return sum(i.loaded for i in instructions if i.loaded > 1) / (4 * slot_words)


def evaluates_chunks(blocks, body):
    """Whether a loop lowers slots in workgroup memory: it loads, stores, and waits for no threads."""
    instructions = [i for number in body for i in blocks[number].instructions]
    return (
        any(i.stored for i in instructions)
        and not any(i.fetches for i in instructions)
        and not any(i.has_effect for i in instructions)
    )


def count(blocks, slot_words, permutations):
    """Counts the loops of a signing kernel.

    A loop of updates has no loop in it, loads quads from workgroup memory and changes no memory. A
    kernel has several: for short and for long parts, and those that compute a few slots again. An
    update takes an instruction at least, or the loop only folds minima. Not counted is a loop within
    one that stores to workgroup memory and does not wait: it evaluates a chunk for one permutation.

    The loop that stages loads from global memory and stores to workgroup memory. Of several, it is
    the one that stores most in a turn.
    """
    updating, staging = [], None
    found = loops(blocks)
    of_one = [body for body in found.values() if evaluates_chunks(blocks, body)]
    for head, body in found.items():
        instructions = [i for number in body for i in blocks[number].instructions]
        within = {number for other in found.values() if other < body for number in other}
        stored = sum(i.stored for i in instructions)
        changes_memory = stored or any(i.has_effect for i in instructions)
        if not within and not changes_memory and not any(body < other for other in of_one):
            of_turn = turn(blocks, head, body)
            updates = quads_loaded(of_turn, slot_words) * 4 * permutations
            issued = sum(i.issued for i in of_turn)
            if issued >= updates > 0:
                updating.append((issued / updates, sum(i.cycles for i in of_turn) / updates))
        stores_within = any(i.stored for number in within for i in blocks[number].instructions)
        stages = stored and not stores_within and any(i.fetches for i in instructions)
        stages = stages and not quads_loaded(instructions, slot_words)
        if stages and (staging is None or stored > staging[0]):
            per_quad = sum(i.issued for i in instructions) / (stored / (4 * slot_words))
            staging = (stored, None if within else per_quad)
    if not updating:
        raise LoopNotFound("no loop reads workgroup memory and changes nothing")
    (instructions, cycles), *others = sorted(updating)
    return Counted(
        instructions=instructions,
        cycles=cycles,
        others=[issued for issued, _ in others],
        staging=staging[1] if staging else None,
    )
