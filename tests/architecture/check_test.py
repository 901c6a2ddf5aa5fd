"""Each check of the tree is shown a small tree with one fault in it, and must find it."""

import json
import tempfile
import unittest
from pathlib import Path

import check
import lone_files
import named_things

MAP = "| folder | what | may include |\n|---|---|---|\n| `base` | a | |\n| `merge` | b | base |\n"
HEADER = "// What it is.\n#pragma once\n"


class Checks(unittest.TestCase):
    def problems(self, name, changes={}):
        """The problems that a check finds in a sound tree with some files added or replaced."""
        tree = {"src/README.md": MAP, "src/base/a.h": HEADER, "src/merge/m.h": HEADER + '#include "base/a.h"\n'}
        tree.update(changes)
        with tempfile.TemporaryDirectory() as folder:
            for path, text in tree.items():
                file = Path(folder, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            check.ROOT = Path(folder)
            return list(check.CHECKS[name]())

    def assert_finds(self, name, tree, text):
        self.assertEqual(self.problems(name), [])
        self.assertIn(text, "\n".join(self.problems(name, tree)))

    def test_an_include_against_the_map(self):
        name = "folders_include_only_what_the_map_allows"
        self.assert_finds(name, {"src/base/b.cc": '#include "merge/m.h"\n'}, "b.cc:1: base includes merge/m.h")
        self.assert_finds(name, {"src/base/b.cc": '#include "a.h"\n'}, "write the path from src/")

    def test_a_permission_that_nobody_uses(self):
        self.assert_finds("the_map_allows_nothing_that_nobody_uses", {"src/merge/m.h": HEADER},
                          "merge may include base, and does not")

    def test_a_private_include_in_a_public_header(self):
        self.assert_finds("public_headers_include_only_public_headers",
                          {"include/dfrost/x.h": HEADER + '#include "base/a.h"\n'}, "not installed")

    def test_a_folder_without_a_row_and_a_row_without_a_folder(self):
        name = "the_map_and_the_folders_agree"
        self.assert_finds(name, {"src/extra/e.h": HEADER}, "src/extra has no row")
        self.assert_finds(name, {"src/README.md": MAP + "| `gone` | c | |\n"}, "a row for gone")
        self.assert_finds(name, {"src/README.md": MAP.replace("| a | |", "| a | merge |")}, "does not stand above")

    def test_a_header_without_its_opening(self):
        name = "headers_have_pragma_once_and_say_what_they_are"
        self.assert_finds(name, {"src/base/b.h": "// What it is.\n"}, "b.h: needs one #pragma once")
        self.assert_finds(name, {"src/base/b.h": "#pragma once\n"}, "opens without a comment")

    def test_a_giant(self):
        self.assert_finds("no_file_is_a_giant", {"src/base/b.cc": "\n" * 601}, "601 lines")

    def test_private_places(self):
        name = "nothing_names_a_private_machine"
        for place in ("/ho" + "me/ann/x", "http" + "://10.0.0.7/a", "https" + "://npm.corp/x", "http" + "://mirror:80/x"):
            self.assert_finds(name, {"docs/a.md": f"see {place}\n"}, "others do not have")
        self.assertEqual(self.problems(name, {"docs/a.md": "http://127.0.0.1:80/ https://arxiv.org/abs/1\n"}), [])

    def test_a_parser_that_nobody_bounds(self):
        name = "texts_from_outside_are_parsed_where_their_nesting_is_bounded"
        for call in ("nlohmann::json::parse(text)", "Json::parse(text)", "toml::parse(text)"):
            self.assert_finds(name, {"src/base/b.cc": f"auto a = {call};\n"}, "bound its nesting")
        self.assertEqual(self.problems(name, {"src/base/json.cc": "auto a = nlohmann::json::parse(text);\n"}), [])

    def test_a_dead_link(self):
        name = "links_in_the_documentation_lead_somewhere"
        self.assert_finds(name, {"docs/a.md": "[b](b.md)\n"}, "links to b.md")
        self.assertEqual(self.problems(name, {"docs/a.md": "[b](../src/README.md#map)\n"}), [])

    def test_an_unformatted_file(self):
        self.assert_finds("every_file_is_formatted", {"src/base/b.cc": "int  x ;\n"}, "b.cc: run clang-format")


class LoneFiles(unittest.TestCase):
    """One library whose files compile as one, in the order in which they stand."""

    def unread(self, **files):
        """The files that do not compile alone, of a folder with these texts."""
        with tempfile.TemporaryDirectory() as folder:
            root = lone_files.ROOT = Path(folder)
            lone_files.reached.cache_clear()
            source = root / "src/base"
            source.mkdir(parents=True)
            for name, text in files.items():
                (source / name.replace("_", ".")).write_text(text)
            unit = "src/base/CMakeFiles/dfrost_base.dir/Unity/unity_0_cxx.cxx"
            command = f"c++ -I{root}/src -O3 -Werror -std=c++20 -o {unit}.o -c {unit}"
            (root / "compile_commands.json").write_text(json.dumps([{"command": command, "file": str(root / unit)}]))
            return [path.name for path, _, said in lone_files.read_all(root, []) if said]

    def test_a_source_that_lives_on_the_includes_of_another(self):
        self.assertEqual(self.unread(a_cc="#include <string>\nstd::string a;\n", b_cc="std::string b;\n"), ["b.cc"])

    def test_a_header_that_lives_on_what_stands_before_it(self):
        header, includes = HEADER + "std::string a();\n", '#include <string>\n#include "base/a.h"\n'
        self.assertEqual(self.unread(a_h=header, a_cc=includes), ["a.h"])
        self.assertEqual(self.unread(a_h=header, a_cc='#include "base/a.h"\n#include <string>\n'), ["a.cc"])

    def unreached(self, **files):
        """What the check of names says of a folder with these texts, beside a header that offers something."""
        offer = HEADER + "#include <string>\nstruct Parcel {\n  int weight;\n};\nstd::string label_of(const Parcel& parcel);\n"
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "src/base")
            source.mkdir(parents=True)
            for name, text in {"parcel_h": offer, **files}.items():
                Path(source, name.replace("_", ".")).write_text(text)
            return "\n".join(named_things.problems(Path(folder)))

    def test_a_name_whose_header_is_not_reached(self):
        use = "int weigh(const Parcel& parcel) { return parcel.weight; }\n"
        self.assertIn("x.cc: names Parcel", self.unreached(x_cc=use))
        self.assertEqual(self.unreached(x_cc='#include "base/parcel.h"\n' + use), "")
        self.assertEqual(self.unreached(h_h='#include "base/parcel.h"\n', x_cc='#include "base/h.h"\n' + use), "")
        self.assertEqual(self.unreached(x_cc="struct Parcel;\n" + use), "")
        self.assertIn("x.cc: names label_of", self.unreached(x_cc="auto said = label_of({});\n"))
        self.assertEqual(self.unreached(x_cc="auto said = box.label_of({});  // label_of(Parcel)\n"), "")
        self.assertIn("x.cc: names std::sort", self.unreached(x_cc="void order(int* a) { std::sort(a, a + 2); }\n"))
        self.assertEqual(self.unreached(x_cc='#include "base/parcel.h"\nstd::string name;\n'), "")

    def test_what_may_no_longer_compile_alone_since_something_changed(self):
        files = {"a.h": HEADER, "b.h": HEADER + '#include "base/a.h"\n', "a.cc": '#include "base/a.h"\n', "b.cc": '#include "base/b.h"\n',
                 "c.cc": "#include <string>\n"}
        with tempfile.TemporaryDirectory() as folder:
            root = lone_files.ROOT = Path(folder)
            lone_files.reached.cache_clear()
            (root / "src/base").mkdir(parents=True)
            for name, text in files.items():
                (root / "src/base" / name).write_text(text)

            def touched(**changed):
                lines = {f"src/base/{name.replace('_', '.')}": count for name, count in changed.items()}
                return [path.name for path in lone_files.touched(sorted(root.rglob("*.cc")), lines)]

            self.assertEqual(touched(), [])
            self.assertEqual(touched(c_cc=(1, 0)), ["c.cc"])
            self.assertEqual(touched(a_h=(1, 0)), ["a.cc"])  # it may need more now, and is read first there
            self.assertEqual(touched(a_h=(0, 1)), ["a.cc", "b.cc"])  # it may give less

    def test_a_header_that_takes_what_is_read_beforehand_for_its_own(self):
        header, source = HEADER + "nlohmann::json a();\n", '#include "base/a.h"\n#include <nlohmann/json.hpp>\n'
        others = {f"{name}_cc": "#include <nlohmann/json.hpp>\n" for name in "bcde"}
        self.assertEqual(self.unread(a_h=header, a_cc=source, **others), ["a.cc"])


if __name__ == "__main__":
    unittest.main()
