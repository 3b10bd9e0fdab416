import type { Subject } from "../../../domain/event/subjects.ts";
import { CommandError } from "./command-error.ts";

const longestReason = 500;

/** Why something is done, as the audit trail keeps it, which names nobody. @throws CommandError naming the flag */
export function reasonFlag(flag: string, text: string, { id }: Subject): string {
  const reason = text.trim();
  if (reason === "" || reason.length > longestReason)
    throw new CommandError("usage", `${flag}: give a reason of 1 to ${longestReason} characters.`);
  if (reason.toLowerCase().includes(id.toLowerCase()))
    throw new CommandError("usage", `${flag} names the id: leave it out, for the audit trail names nobody.`);
  return reason;
}
