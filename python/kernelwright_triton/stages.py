"""What is kept of Triton's compilation: PTX with the lines of the user's source, and what ptxas said, in place of machine code."""

import json
import os
import re
import struct

import triton

MAGIC = b"kernelwright ptx 1\n"
_TRITON_FOLDER = os.path.dirname(os.path.abspath(triton.__file__)) + os.sep
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"((?:[^"\\]|\\.)*)"', re.MULTILINE)
_LOC = re.compile(r"(\s*\.loc\s+)(\d+) (\d+) (\d+)(?:, function_name \S+, inlined_at (\d+) (\d+) (\d+))?")
_FRAME_SIZE, _REGISTERS = 0x11, 0x2F  # attributes of a cubin's .nv.info


def with_users_lines(ptx):
    """Every .loc names a line of the user's source, which is what findings and counters are about.

    Where Triton's own library was inlined, it is the line that called it. LLVM counts on from line to line inside of inline
    assembler, past the statement that it belongs to: there it is the line before."""
    library = {number for number, path in _FILE.findall(ptx) if path.startswith(_TRITON_FOLDER)}
    called_from, lines, here, inside = {}, [], None, False
    for line in ptx.splitlines():
        match = _LOC.match(line)
        if match is None:
            inside = (inside or "// begin inline asm" in line) and "// end inline asm" not in line
        elif inside and here:
            line = here
        else:
            place, outer, seen = match.group(2, 3, 4), match.group(5, 6, 7), set()
            if outer[0] is not None:
                called_from[place] = outer
            while place[0] in library and place in called_from and place not in seen:
                seen.add(place)
                place = called_from[place]
            line = here = match.group(1) + " ".join(place)
        lines.append(line)
    return "\n".join(lines) + "\n"


def _sections(cubin):
    """Name -> bytes of an ELF file's sections."""
    offset, = struct.unpack_from("<Q", cubin, 40)
    size, count, names = struct.unpack_from("<HHH", cubin, 58)
    headers = [struct.unpack_from("<IIQQQQ", cubin, offset + i * size) for i in range(count)]
    strings = headers[names][4]
    return {cubin[strings + h[0]:cubin.index(b"\0", strings + h[0])].decode(): cubin[h[4]:h[4] + h[5]] for h in headers}


def ptxas_facts(cubin):
    """Registers of a thread and bytes of its stack, from the attributes of a cubin with one kernel; 0 where they are not told."""
    facts = {"registers": 0, "stack_bytes": 0}
    try:
        info, at = _sections(cubin).get(".nv.info", b""), 0
        while at + 4 <= len(info):
            form, attribute, size = struct.unpack_from("<BBH", info, at)
            if form == 4 and size == 8 and attribute in (_REGISTERS, _FRAME_SIZE):
                value = struct.unpack_from("<I", info, at + 8)[0]
                key = "registers" if attribute == _REGISTERS else "stack_bytes"
                facts[key] = max(facts[key], value)
            at += 4 + (size if form == 4 else 0)
    except (struct.error, IndexError, ValueError):
        pass  # another form of cubin: nothing is known, which the estimate can do without
    return facts


def package(ptx, cubin):
    return MAGIC + json.dumps(ptxas_facts(cubin)).encode() + b"\n" + with_users_lines(ptx).encode()


def unpackage(binary):
    """(PTX, facts) of what package() made."""
    header, _, ptx = binary[len(MAGIC):].partition(b"\n")
    return ptx.decode(), json.loads(header)


def stages_hook(backend=None, stages=None, options=None, language=None, capability=None):
    """For triton.knobs.runtime.add_stages_inspection_hook: ptxas runs as ever, for it knows best what a GPU takes."""
    if stages is None:
        return "kernelwright", MAGIC.decode().strip()
    make_cubin = stages["cubin"]
    stages["cubin"] = lambda ptx, metadata: package(ptx, make_cubin(ptx, metadata))
    return None
