"""PyTorch archives that mean harm, or are merely broken, each with a part of the error it must give.

    hostile_pth.py FOLDER        writes NAME.pth, and expected.json: {NAME.pth: text}; files under good/ must be read
"""
import json
import os
import struct
import sys
import zipfile

folder = sys.argv[1]
expected = {}


def text(value):
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def number(value):
    return b"J" + struct.pack("<i", value) if -2**31 <= value < 2**31 else b"\x8a\x08" + struct.pack("<q", value)


def numbers(*values):
    return b"(" + b"".join(number(v) for v in values) + b"t"


def storage(key="0", count=6, kind="FloatStorage"):
    return b"(" + text("storage") + b"ctorch\n" + kind.encode() + b"\n" + text(key) + text("cpu") + number(count) + b"tQ"


def tensor(shape=(2, 3), strides=(3, 1), offset=0, where=None):
    return (b"ctorch._utils\n_rebuild_tensor_v2\n(" + (where or storage()) + number(offset) + numbers(*shape) +
            numbers(*strides) + b"\x89ccollections\nOrderedDict\n)RtR")


def state(value, name="a"):
    return b"\x80\x02}" + text(name) + value + b"s."


def archive(name, pickle, problem, files=None, method=zipfile.ZIP_STORED, force_zip64=False, comment=b""):
    path = f"{folder}/{name}.pth"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    files = {"data/0": struct.pack("<6f", *range(6))} if files is None else files
    with zipfile.ZipFile(path, "w", method) as out:
        for file, content in ({"data.pkl": pickle} | files).items():
            with out.open(f"archive/{file}", "w", force_zip64=force_zip64) as entry:
                entry.write(content)
        out.comment = comment
    if problem:
        expected[f"{name}.pth"] = problem
    return path


# --- what must be read ---
archive("good/plain", state(tensor()), None)
archive("good/zip64_local", state(tensor()), None, force_zip64=True)
archive("good/comment", state(tensor()), None, comment=b"PK\x05\x06 not the end" + b"x" * 1000)
archive("good/transposed", state(tensor((3, 2), (1, 3))), None)
archive("good/long_integer", state(tensor(offset=0)).replace(b"J\0\0\0\0", b"\x8a\x00"), None)



def write_zip64(source, target):
    """The same archive with every size and offset of its directory moved into zip64 fields, as if it were huge."""
    raw = open(source, "rb").read()
    end, at = raw.rindex(b"PK\5\6"), raw.index(b"PK\1\2")
    directory, count, start = b"", 0, at
    while at < end:
        size, length = struct.unpack_from("<I", raw, at + 24)[0], struct.unpack_from("<H", raw, at + 28)[0]
        offset = struct.unpack_from("<I", raw, at + 42)[0]
        extra = struct.pack("<HHI", 0x7777, 4, 1) + struct.pack("<HHQQQ", 1, 24, size, size, offset)
        entry = bytearray(raw[at:at + 46 + length])
        struct.pack_into("<II", entry, 20, 0xffffffff, 0xffffffff)
        struct.pack_into("<H", entry, 30, len(extra))
        struct.pack_into("<I", entry, 42, 0xffffffff)
        directory, count, at = directory + entry + extra, count + 1, at + 46 + length
    end64 = b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, count, count, len(directory), start)
    locator = b"PK\6\7" + struct.pack("<IQI", 0, start + len(directory), 1)
    last = b"PK\5\6" + struct.pack("<HHHHIIH", 0xffff, 0xffff, 0xffff, 0xffff, 0xffffffff, 0xffffffff, 0)
    open(target, "wb").write(raw[:start] + directory + end64 + locator + last)


write_zip64(f"{folder}/good/plain.pth", f"{folder}/good/zip64.pth")

# --- pickles that ask for more than a state dict needs ---
archive("os_system", b"\x80\x02cposix\nsystem\n" + text("touch pwned") + b"\x85R.", "'posix.system'")
archive("builtins_eval", b"\x80\x04\x8c\x08builtins\x8c\x04eval\x93" + text("1") + b"\x85R.", "'builtins.eval'")
archive("sys_exit_in_value", state(b"csys\nexit\n)R"), "'sys.exit'")
archive("numpy", state(b"cnumpy.core.multiarray\nscalar\n)R"), "'numpy.core.multiarray.scalar'")
archive("inst", b"\x80\x02(iposix\nsystem\n.", "INST")
archive("obj", b"\x80\x02(ccollections\nOrderedDict\no.", "OBJ")
archive("newobj", b"\x80\x02ccollections\nOrderedDict\n)\x81.", "NEWOBJ")
archive("extension", b"\x80\x02\x82\x01.", "EXT1")
archive("persid", b"\x80\x02Pstorage\n.", "PERSID")
archive("call_of_a_tensor", state(tensor() + b")R"), "not a known function")
archive("call_of_a_text", state(text("os.system") + b")R"), "not a known function")
archive("build_on_a_tensor", state(tensor() + b"}b"), "BUILD")
archive("ordered_dict_of_pairs", state(b"ccollections\nOrderedDict\n(" + text("x") + b"tR"), "OrderedDict from arguments")
archive("protocol_0", b"(dp0\n.", "opcode")
archive("protocol_9", b"\x80\x09}.", "protocol 9")
archive("unknown_opcode", b"\x80\x02\xff.", "0xff")

# --- pickles that want memory, time or stack ---
archive("laughs", b"\x80\x02]q\x00" + b"".join(b"](" + b"h%c" % i * 10 + b"eq%c" % (i + 1) for i in range(60)) + b".",
        "does not hold a dict")
archive("deep_tuples", b"\x80\x02)" + b"\x85" * 900_000 + b".", "does not hold a dict")
archive("too_many_objects", b"\x80\x02(" + b")" * 1_100_000 + b"t.", "more than 1000000 objects")
archive("too_long", b"\x80\x02" + b"N" * (9 << 20) + b".", "expected at most")
archive("holds_itself", b"\x80\x02}q\x00" + text("a") + b"h\x00s.", "'a' is not a tensor")
archive("model_holds_itself", b"\x80\x02}q\x00" + text("model") + b"h\x00s.", "'model' is not a tensor")
archive("text_of_2_63_bytes", b"\x80\x04\x8d" + struct.pack("<Q", 1 << 63) + b"a.", "truncated")
archive("text_of_4_gb", b"\x80\x02X\xff\xff\xff\xffa.", "truncated")
archive("huge_frame", b"\x80\x04\x95" + b"\xff" * 8 + b"]", "truncated")
archive("no_stop", b"\x80\x02}", "truncated")
archive("no_newline", b"\x80\x02cposix", "truncated")
archive("empty_pickle", b"", "truncated")
archive("integer_of_255_bytes", b"\x80\x02\x8a\xff" + b"\x01" * 255 + b".", "integer of 255 bytes")

# --- memo and stack abuse ---
archive("memo_never_stored", b"\x80\x02h\x07.", "memo 7")
archive("memo_of_nothing", b"\x80\x02q\x00.", "empty stack")
archive("memo_of_a_mark", b"\x80\x02(q\x00.", "empty stack")
archive("far_memo", b"\x80\x02]r\xff\xff\xff\xffj\xff\xff\xff\xff.", "does not hold a dict")
archive("stack_empty", b"\x80\x02.", "empty stack")
archive("tuple_without_mark", b"\x80\x02t.", "no mark")
archive("reduce_nothing", b"\x80\x02R.", "empty stack")
archive("odd_items", b"\x80\x02}(Nu.", "cannot hold")
archive("append_to_dict", b"\x80\x02}Na.", "cannot hold")
archive("set_item_of_a_mark", b"\x80\x02}(Ns.", "empty stack")
archive("global_of_numbers", b"\x80\x04K\x01K\x02\x93.", "not a text")

# --- state dicts that are not ---
archive("a_list", b"\x80\x02].", "does not hold a dict")
archive("a_number", state(number(3)), "'a' is not a tensor")
archive("key_is_a_number", b"\x80\x02}" + number(1) + tensor() + b"s.", "key that is not a text")
archive("twice", b"\x80\x02}(" + text("a") + tensor() + text("a") + tensor() + b"u.", "'a' appears twice")
archive("no_arguments", state(b"ctorch._utils\n_rebuild_tensor_v2\n)R"), "arguments")
archive("empty_parameter", state(b"ctorch._utils\n_rebuild_parameter\n)R"), "a parameter")
archive("storage_is_none", state(tensor(where=b"N")), "the storage")
archive("storage_id_is_short", state(tensor(where=text("storage") + b"\x85Q")), "the storage")
archive("storage_of_a_function",
        state(tensor(where=storage().replace(b"ctorch\nFloatStorage\n", b"ctorch._utils\n_rebuild_tensor_v2\n"))), "class")
archive("unknown_storage", state(tensor(where=storage(kind="ComplexDoubleStorage"))), "'torch.ComplexDoubleStorage'")
archive("storage_absent", state(tensor(where=storage(key="1"))), "no data/1")
archive("storage_outside", state(tensor(where=storage(key="../data.pkl"))), "no data/../data.pkl")
archive("storage_too_short", state(tensor(where=storage(count=7))), "expected 7 values")
archive("storage_of_2_62", state(tensor(where=storage(count=1 << 62))), "expected 4611686018427387904 values")
archive("storage_negative", state(tensor(where=storage(count=-6))), "size")
archive("shape_beyond", state(tensor((2, 4), (4, 1))), "does not lie in its 6")
archive("offset_beyond", state(tensor(offset=1)), "does not lie in its 6")
archive("offset_huge", state(tensor(offset=2**63 - 1)), "does not lie in its 6")
archive("stride_huge", state(tensor((2, 3), (2**62, 1))), "does not lie in its 6")
archive("stride_wraps", state(tensor((3, 2), (2**63 - 1, 2))), "does not lie in its 6")
archive("stride_negative", state(tensor((2, 3), (-3, 1))), "strides")
archive("shape_negative", state(tensor((-2, 3))), "shape")
archive("shape_wraps", state(tensor((2**33, 2**33), (0, 0))), "does not lie in its 6")
archive("broadcast_to_a_terabyte", state(tensor((2**38,), (0,))), "does not lie in its 6")
archive("one_stride_missing", state(tensor((2, 3), (1,))), "number of strides")
archive("shape_is_a_text", state(tensor()).replace(numbers(2, 3), text("2")), "shape")
archive("too_many_dimensions", state(tensor((1,) * 17, (1,) * 17)), "shape")

# --- archives that are not as PyTorch writes them ---
archive("compressed", state(tensor()), "compressed", method=zipfile.ZIP_DEFLATED)
archive("torchscript", state(tensor()), "TorchScript", {"constants.pkl": b"x", "data/0": b"\0" * 24})
archive("big_endian", state(tensor()), "'big'", {"byteorder": b"big", "data/0": b"\0" * 24})
with zipfile.ZipFile(f"{folder}/no_pickle.pth", "w") as out:
    out.writestr("readme.txt", "hello")
expected["no_pickle.pth"] = "no data.pkl"


def patched(name, problem, patch):
    """A good archive with some of its bytes changed."""
    raw = bytearray(open(f"{folder}/good/plain.pth", "rb").read())
    end, directory = raw.rindex(b"PK\5\6"), raw.index(b"PK\1\2")
    raw = patch(raw, end, directory) or raw
    open(f"{folder}/{name}.pth", "wb").write(raw)
    expected[f"{name}.pth"] = problem


def put(offset, form, value):
    return lambda raw, end, directory: struct.pack_into(form, raw, {"end": end, "directory": directory}[offset[0]] + offset[1], value)


patched("directory_outside", "zip directory", put(("end", 16), "<I", 0x7fffffff))
patched("directory_too_long", "zip directory", put(("end", 12), "<I", 0x7fffffff))
patched("directory_elsewhere", "no entry", put(("end", 16), "<I", 1))
patched("more_entries_than_there_are", "truncated", put(("end", 10), "<H", 9))
patched("entry_outside", "outside the archive", put(("directory", 42), "<I", 0x7fffffff))
patched("entry_elsewhere", "no header", put(("directory", 42), "<I", 1))
patched("entry_size_unlike", "compressed", put(("directory", 24), "<I", 0x7fffffff))
patched("entry_encrypted", "encrypted", put(("directory", 8), "<H", 1))
patched("name_too_long", "truncated", put(("directory", 28), "<H", 0xffff))


def both_sizes(raw, end, directory):
    struct.pack_into("<II", raw, directory + 20, 0x7ffffff0, 0x7ffffff0)


def locator_to_nowhere(raw, end, directory):
    return raw[:end] + b"PK\6\7" + struct.pack("<IQI", 0, (1 << 64) - 1, 1) + raw[end:]


def locator_to_elsewhere(raw, end, directory):
    return raw[:end] + b"PK\6\7" + struct.pack("<IQI", 0, 0, 1) + raw[end:]


patched("entry_too_long", "outside the archive", both_sizes)
patched("zip64_nowhere", "zip64", locator_to_nowhere)
patched("zip64_elsewhere", "zip64", locator_to_elsewhere)
open(f"{folder}/legacy.pth", "wb").write(b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.")
expected["legacy.pth"] = "before version 1.6"
open(f"{folder}/empty.pth", "wb").close()
expected["empty.pth"] = "not a zip archive"
json.dump(expected, open(f"{folder}/expected.json", "w"))
