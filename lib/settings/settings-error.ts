/** Reports every invalid setting of a stage, one on each line. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}
