"""latin_letters.py FILE: the accented letters from U+00C0 to U+017F, a line each: the letter, its base, base and accents apart."""
import sys
import unicodedata

with open(sys.argv[1], "w", encoding="utf-8") as out:
    for code in range(0xC0, 0x180):
        parts = unicodedata.normalize("NFD", chr(code))
        if len(parts) > 1 and parts[0].isascii():
            out.write(f"{chr(code)} {parts[0]} {parts}\n")
