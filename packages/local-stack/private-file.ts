import { open } from "node:fs/promises";

/** Writes a file that only its owner can read, tightening the mode of an existing file. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  await using file = await open(path, "w", 0o600);
  // The mode above applies only to new files. Devices keep theirs.
  if ((await file.stat()).isFile()) await file.chmod(0o600);
  await file.writeFile(text);
}
