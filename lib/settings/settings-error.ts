/** What is wrong with a stage's settings: all of it, one line for each setting. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}
