import type { Finding } from "./assess.ts";
import type { CampaignResult } from "./campaign.ts";

/** A target's result, as a line for people. */
export function lineOf({ name, inputs, corpus, growthBytes, residentBytes, found }: CampaignResult): string {
  const numbers = `${inputs} inputs, ${corpus} kept as new, heap ${mebibytes(growthBytes)} MiB more, ${mebibytes(residentBytes)} MiB resident`;
  return `${name}: ${numbers}, ${found ?? "nothing"} found`;
}

/** The counts of all targets on one line, which scripts read: of how many targets each was found. */
export function lastLine(results: readonly CampaignResult[]): string {
  const count = (finding: Finding) => results.filter(({ found }) => found === finding).length;
  const inputs = results.reduce((sum, result) => sum + result.inputs, 0);
  return `fuzz: inputs ${inputs} crashes ${count("crash")} hangs ${count("hang")} lost ${count("loss")} growth ${count("growth")}`;
}

function mebibytes(bytes: number): string {
  return (bytes / 1_048_576).toFixed(1);
}
