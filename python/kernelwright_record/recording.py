"""What launch() did: memory that it asked for, fills and launches, in order."""

import os


class Memory:
    """A tensor of the problem or one that launch() made, by its address here. Nothing is in it."""

    def __init__(self, storage, dtype, index, name, argument):
        self.storage, self.dtype, self.index, self.name, self.argument = storage, dtype, index, name, argument
        self.begin, self.bytes = storage.data_ptr(), storage.nbytes

    def place(self):
        return {"argument" if self.argument else "memory": self.index}


class Recording:
    """The one recording of this process: `current`."""

    current = None

    def __init__(self, folder):
        self.folder = folder
        self.steps, self.memories, self.modules, self.names, self.facts = [], [], [], {}, {}
        self.by_begin = {}
        self.estimating = False  # a benchmark is under way: launches run, and are not written down
        self.taken = set()

    def add_argument(self, storage, dtype, index, name):
        return self._known(Memory(storage, dtype, index, name, True))

    def add_memory(self, storage, dtype):
        memory = self._known(Memory(storage, dtype, len(self.memories), f"temporary {len(self.memories)}", False))
        self.memories.append(memory)
        return memory

    def _known(self, memory):
        self.by_begin[memory.begin] = memory
        return memory

    def fill(self, memory, offset, size, byte):
        if not self.estimating:
            self.steps.append({"do": "fill", **memory.place(), "offset": offset, "bytes": size, "byte": byte})

    def module(self, key, name, text, extension, facts):
        """The number of a module of device code and the kernel's name in it, which no other module has."""
        known = self.names.get(key)
        if known is None:
            unique, number = name, 2
            while unique in self.taken:
                unique, number = f"{name}_{number}", number + 1
            self.taken.add(unique)
            if unique != name:
                text = text.replace(f" {name}(", f" {unique}(").replace(f"\t{name}(", f"\t{unique}(")
            file = f"module{len(self.modules)}.{extension}"
            with open(os.path.join(self.folder, file), "w", encoding="utf-8") as out:
                out.write(text)
            self.modules.append({"file": file, "kernel": unique})
            self.facts[unique] = facts
            known = self.names[key] = len(self.modules) - 1
        return known

    def launch(self, module, grid, block, shared, arguments, cooperative=False):
        self.steps.append({"do": "launch", "module": module, "grid": list(grid), "block": list(block), "shared": shared,
                           "cooperative": cooperative, "arguments": arguments})

    def to_json(self):
        return {"memories": [memory.bytes for memory in self.memories], "modules": self.modules, "facts": self.facts,
                "steps": self.steps}
