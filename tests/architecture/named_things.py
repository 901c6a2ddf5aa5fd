"""Every file of src/ and include/ reaches, by its own includes, the headers of what it names:  named_things.py

The presets that compile several files as one would not notice. Read as text, so that it is quick for the whole tree:
types, constants and functions of ours that a header declares, and the names of std:: that have a header in STANDARD. A
name counts as known where any header that the file reaches has it too, so it finds nothing that compiles alone; what only
a compiler sees (members, overloads) is left to lone_files.py.
"""

import collections
import functools
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Header -> names of std:: that are taken from nowhere else. Left out: what nearly every header brings (std::size_t,
# std::move), and what a container stands for (std::less).
STANDARD = {
    "algorithm": "min max sort stable_sort copy copy_n fill fill_n find find_if clamp equal transform unique count count_if any_of"
                 " all_of none_of partial_sort nth_element min_element max_element minmax minmax_element adjacent_find is_sorted"
                 " binary_search lower_bound upper_bound rotate reverse",
    "array": "array",
    "atomic": "atomic memory_order_relaxed",
    "bit": "bit_cast endian rotl rotr",
    "charconv": "from_chars to_chars",
    "chrono": "chrono",
    "cmath": "sqrt isfinite exp pow log lround cos sin ceil floor isnan erfc log1p round nextafter isinf exp2 llround log10 hypot"
             " ilogb copysign atan",
    "concepts": "same_as integral convertible_to movable default_initializable constructible_from",
    "condition_variable": "condition_variable",
    "csetjmp": "jmp_buf longjmp",
    "csignal": "sig_atomic_t",
    "cstdint": "uint64_t uint32_t uint16_t uint8_t int64_t int32_t int16_t int8_t uintptr_t",
    "cstdio": "fflush snprintf ferror fwrite fputs FILE sscanf",
    "cstdlib": "getenv strtoull",
    "cstring": "memcpy memcmp memmove strerror strlen",
    "deque": "deque",
    "filesystem": "filesystem",
    "fstream": "ifstream ofstream",
    "functional": "function ref plus",
    "future": "async future",
    "iterator": "back_inserter istreambuf_iterator",
    "limits": "numeric_limits",
    "list": "list",
    "map": "map multimap",
    "memory": "unique_ptr make_unique shared_ptr make_shared enable_shared_from_this",
    "mutex": "mutex lock_guard unique_lock call_once once_flag",
    "numbers": "numbers",
    "numeric": "iota accumulate inner_product",
    "optional": "optional nullopt",
    "random": "random_device",
    "set": "set multiset",
    "shared_mutex": "shared_mutex shared_lock",
    "span": "span as_bytes as_writable_bytes",
    "sstream": "istringstream ostringstream",
    "string": "string to_string stod",
    "string_view": "string_view",
    "thread": "thread this_thread",
    "tuple": "tuple",
    "type_traits": "is_trivially_copyable_v is_same_v is_arithmetic_v remove_cvref_t conditional_t"
                   " has_unique_object_representations_v",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    "variant": "variant visit get_if holds_alternative",
    "vector": "vector",
}
HEADER_OF = {name: header for header, names in STANDARD.items() for name in names.split()}

# Not code: raw strings, comments, strings, characters.
ASIDE = re.compile(r'R"(\w*)\((?:.|\n)*?\)\1"|//[^\n]*|/\*(?:.|\n)*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'')
# What a header offers, at the beginning of a line.
TYPE = re.compile(r"^(?:struct|class|enum class|enum) (\w+)(?: final)?(?: [:{].*)?$|^using (\w+) =", re.M)
CONSTANT = re.compile(r"^(?:inline |constexpr |extern |const )+[^=(\n]*?\b(k[A-Z]\w*)\b", re.M)
FUNCTION = re.compile(r"^(?!using|return|namespace|friend|struct|class|enum)[A-Za-z_][\w:<>,&* ]*?[ &*](\w+)\(", re.M)
# Functions that a template calls of the types it is given, wherever those come from.
OF_ITS_ARGUMENTS = {"pack_fields"}
WORDS_BEFORE_A_CALL = re.compile(r"\b(?:return|throw|case|else|do|co_return) ")


class Tree:
    def __init__(self, root):
        self.root = root
        self.files = sorted(path for top in ("src", "include") for path in (root / top).rglob("*") if path.suffix in (".cc", ".h"))
        self.text = functools.cache(lambda path: ASIDE.sub(" ", re.sub(r"^#.*$", "", path.read_text(), flags=re.M)))
        self.words = functools.cache(lambda path: set(re.findall(r"\w+", self.text(path))))
        self.includes = functools.cache(lambda path: re.findall(r'^#include ["<]([^">]+)[">]', path.read_text(), re.M))
        self.offered = collections.defaultdict(set)  # name -> headers
        for path in self.files:
            if path.suffix == ".h":
                for kind in (TYPE, CONSTANT, FUNCTION):
                    for match in kind.finditer(self.text(path)):
                        self.offered[next(filter(None, match.groups()))].add(path)

    def ours(self, include):
        return next((path for top in ("src", "include") if (path := self.root / top / include).is_file()), None)

    def reached(self, path):
        """(our headers, those of others) that a file includes, directly or through our own."""
        headers, others, left = set(), set(), [path]
        while left:
            for include in self.includes(left.pop()):
                header = self.ours(include)
                if header is None:
                    others.add(include)
                elif header not in headers:
                    headers.add(header)
                    left.append(header)
        return headers - {path}, others

    def named(self, path):
        """Names of types, constants and functions, not those of members or of other namespaces."""
        text = self.text(path)
        calls = re.findall(r"(?<![\w.:>~])([a-z]\w*)\(", text)
        return set(re.findall(r"(?<![\w.:>])(?:k?[A-Z]\w*)\b", text)).union(calls) & self.offered.keys() - OF_ITS_ARGUMENTS

    def declares(self, path, name):
        """Whether a file has the name of its own: a type, a variable, a parameter, a member, a function, a macro."""
        if re.search(rf"\b(?:struct|class|enum|using|namespace|typename) {name}\b", self.text(path)):
            return True
        if re.search(rf"^#define {name}\b", path.read_text(), re.M):
            return True
        text = WORDS_BEFORE_A_CALL.sub("", self.text(path))
        is_type = name[0].isupper()  # "const Parcel& parcel" uses one and declares the other
        return not is_type and re.search(rf"[\w>&*\]] [&*]?{name}\b(?! [<>=!]=)|\(\*{name}\)|, {name} = ", text)


def problems(root=ROOT):
    tree = Tree(root)
    for path in tree.files:
        headers, others = tree.reached(path)
        where = path.relative_to(root)
        for name in sorted(tree.named(path)):
            if not any(name in tree.words(header) for header in headers) and path not in tree.offered[name]:
                if not tree.declares(path, name):
                    offers = ", ".join(sorted(str(header.relative_to(root)) for header in tree.offered[name]))
                    yield f"{where}: names {name}, and includes nothing that has it; it is in {offers}"
        for name in sorted(set(re.findall(r"\bstd::(\w+)", tree.text(path))) & HEADER_OF.keys()):
            if HEADER_OF[name] not in others:
                yield f"{where}: names std::{name}, and includes <{HEADER_OF[name]}> nowhere"


if __name__ == "__main__":
    found = list(problems())
    print(*found, sep="\n")
    sys.exit(1 if found else 0)
