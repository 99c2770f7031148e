"""The subject that the last set was made with, kept for the next set with the same weights: building a module of large layers, drawing
its weights and writing them takes longer than all the rest of a set. A module that a call changed is not used again."""

import hashlib
import os
import pathlib
from dataclasses import dataclass, field

import torch

from kw_oracle.loading import load_problem
from kw_oracle.state import entries_of
from kw_oracle.storage import write_tensors
from kw_oracle.subject import Subject
from kw_oracle.weights import install_fresh, known_weights

_PLAIN = (bool, int, float, str, bytes, type(None))


def _marks(subject: Subject) -> list:
    """What a call of forward() may leave behind: tensors written to, replaced or new, and plain values of modules and of the file."""
    tensors = [(entry.name, entry.get().data_ptr(), entry.get()._version) for entry in entries_of(subject.problem, subject.model)]
    holders = [vars(module) for module in subject.model.modules()] + [vars(subject.problem.module)]
    return tensors + [[(key, value if isinstance(value, _PLAIN) else id(value)) for key, value in holder.items()] for holder in holders]


@dataclass
class Prepared:
    """A subject with its weights, what was used as weights, and notes on that."""

    subject: Subject
    used: str
    notes: list[str] = field(default_factory=list)
    known: list[str] = field(default_factory=list)  # of drawn constants: weights that are the same whatever the seed is
    file_: int = -1  # the file of the weights, where it was written

    def write_weights(self, path: pathlib.Path) -> None:
        """All sets with these weights share one file: its folder may have been moved meanwhile."""
        if self.file_ >= 0:
            try:
                # With a descriptor of a folder, which an absolute path ignores, Python follows the link to the file itself.
                os.link(f"/proc/self/fd/{self.file_}", path, src_dir_fd=self.file_, follow_symlinks=True)
                return
            except OSError:
                self.close()
        write_tensors(path, self.subject.state())
        self.file_ = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def close(self) -> None:
        if self.file_ >= 0:
            os.close(self.file_)
        self.file_ = -1


def prepare(file: str, weights: str, weights_seed: int) -> Prepared:
    subject = Subject(load_problem(file), weights_seed, drawn_constants=weights == "seeded")
    if weights == "fresh":
        return Prepared(subject, *install_fresh(subject, weights_seed))
    return Prepared(subject, weights, [], known_weights(subject, weights_seed) if weights == "seeded" else [])


class LastPrepared:
    def __init__(self):
        self.key_, self.last_, self.marks_ = None, None, None

    def get(self, file: str, weights: str, weights_seed: int) -> Prepared:
        try:
            source = hashlib.sha256(pathlib.Path(file).read_bytes()).hexdigest()
        except OSError:
            source = None  # what is wrong is said by load_problem
        key = (file, source, weights, weights_seed, torch.get_default_dtype())
        if self.last_ is None or key != self.key_ or _marks(self.last_.subject) != self.marks_:
            self.forget()
            self.last_ = prepare(file, weights, weights_seed)
            self.key_, self.marks_ = key, _marks(self.last_.subject)
        return self.last_

    def modules(self) -> set[str]:
        return {self.last_.subject.problem.module.__name__} if self.last_ else set()

    def forget(self) -> None:
        if self.last_ is not None:
            self.last_.close()
        self.key_ = self.last_ = self.marks_ = None
