import { open } from "node:fs/promises";

/** Writes a file that only its owner can read, also where one stood there that others could. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  await using file = await open(path, "w", 0o600);
  // The mode above is that of a new file. A device is not ours to change.
  if ((await file.stat()).isFile()) await file.chmod(0o600);
  await file.writeFile(text);
}
