/** Versions of GNU's libraries that jazzer.js 4 was linked with, and older systems lack. */
const tooNew: ReadonlySet<string> = new Set(["GLIBC_2.38", "GLIBCXX_3.4.32"]);

/** Functions of C23 that older C libraries have without this beginning of their names. */
const c23 = "__isoc23_";

const weakVersion = 0x2;
const weakSymbol = 0x20;
const anyVersion = 1;

/**
 * Jazzer's native part for a system whose libraries are older than those that it was linked with (Debian 12, for
 * example): its symbols that name too new a version take any. There are three: strtol and strtoul, which read numbers of
 * its options, and a mark that is never called. The rest needs nothing new.
 * @param addon the bytes of a shared library, ELF of 64 bits, little-endian
 */
export function loosenAddon(addon: Uint8Array): Uint8Array {
  const bytes = Buffer.from(addon);
  const sections = sectionsOf(bytes);
  const strings = sections.named(".dynstr");
  const nameAt = (at: number) => textAt(bytes, strings.start + at);
  const loose = loosenVersions(bytes, sections.named(".gnu.version_r"), nameAt);
  const [symbols, versions] = [sections.named(".dynsym"), sections.named(".gnu.version")];
  for (let index = 0; index * 24 < symbols.size; index += 1) {
    const [symbol, version] = [symbols.start + index * 24, versions.start + index * 2];
    if (!loose.has(bytes.readUInt16LE(version) & 0x7fff)) continue;
    bytes.writeUInt16LE(anyVersion, version);
    const name = bytes.readUInt32LE(symbol);
    if (nameAt(name).startsWith(c23)) bytes.writeUInt32LE(name + c23.length, symbol);
    else bytes.writeUInt8((bytes.readUInt8(symbol + 4) & 0x0f) | weakSymbol, symbol + 4);
  }
  return bytes;
}

type Section = { readonly start: number; readonly size: number };

function sectionsOf(bytes: Buffer): { readonly named: (name: string) => Section } {
  const table = Number(bytes.readBigUInt64LE(0x28));
  const [size, count, names] = [0x3a, 0x3c, 0x3e].map((at) => bytes.readUInt16LE(at));
  const at = (index = 0): Section & { readonly name: number } => {
    const header = table + index * (size ?? 0);
    return {
      name: bytes.readUInt32LE(header),
      start: Number(bytes.readBigUInt64LE(header + 0x18)),
      size: Number(bytes.readBigUInt64LE(header + 0x20)),
    };
  };
  const all = Array.from({ length: count ?? 0 }, (_, index) => at(index));
  return {
    named: (name) => {
      const found = all.find((section) => textAt(bytes, at(names).start + section.name) === name);
      if (found === undefined) throw new Error(`the addon has no section ${name}`);
      return found;
    },
  };
}

/** Lets the loader do without the versions that are too new. @returns the numbers by which symbols name them */
function loosenVersions(bytes: Buffer, needed: Section, nameAt: (at: number) => string): ReadonlySet<number> {
  const loose = new Set<number>();
  for (let file = needed.start; ; file += bytes.readUInt32LE(file + 12)) {
    let version = file + bytes.readUInt32LE(file + 8);
    for (let left = bytes.readUInt16LE(file + 2); left > 0; left -= 1) {
      if (tooNew.has(nameAt(bytes.readUInt32LE(version + 8)))) {
        bytes.writeUInt16LE(bytes.readUInt16LE(version + 4) | weakVersion, version + 4);
        loose.add(bytes.readUInt16LE(version + 6));
      }
      version += bytes.readUInt32LE(version + 12);
    }
    if (bytes.readUInt32LE(file + 12) === 0) return loose;
  }
}

function textAt(bytes: Buffer, start: number): string {
  return bytes.toString("latin1", start, bytes.indexOf(0, start));
}
