import { synthesize } from "../lib/app.ts";
import { SettingsError } from "../lib/settings/settings.ts";

try {
  await synthesize();
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
