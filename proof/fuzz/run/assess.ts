/** What breaks a promise. */
export type Finding = "crash" | "hang" | "loss" | "growth";

type Ended = {
  readonly exitCode: number | null;
  readonly said: string;
  readonly isSilent: boolean;
  readonly growthBytes: number;
};

/** libFuzzer's exit code where an input took too long. */
const timedOut = 70;

/** @returns undefined where all went well */
export function findingOf(
  { exitCode, said, isSilent, growthBytes }: Ended,
  { mostGrowthBytes }: { readonly mostGrowthBytes: number },
): Finding | undefined {
  if (isSilent || exitCode === timedOut || said.includes("libFuzzer: timeout")) return "hang";
  if (said.includes("libFuzzer: out-of-memory") || growthBytes > mostGrowthBytes) return "growth";
  if (said.includes("EventLost")) return "loss";
  return exitCode === 0 ? undefined : "crash";
}
