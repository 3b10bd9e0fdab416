const marks: readonly (readonly [format: "gzip" | "zstd" | "deflate", bytes: readonly number[]])[] = [
  ["gzip", [0x1f, 0x8b]],
  ["zstd", [0x28, 0xb5, 0x2f, 0xfd]],
  ...[0x01, 0x5e, 0x9c, 0xda].map((level) => ["deflate", [0x78, level]] as const),
];

/** The compression format that the first bytes indicate. Brotli and raw deflate have no signature. */
export function compressionFormatOf(bytes: Uint8Array): "gzip" | "zstd" | "deflate" | undefined {
  return marks.find(([, mark]) => mark.every((byte, index) => bytes[index] === byte))?.[0];
}
