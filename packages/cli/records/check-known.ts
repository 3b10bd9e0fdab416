import { partitions } from "../../../adapters/dynamodb/partitions.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import type { Operation } from "../core/command.ts";
import { unknownSubject } from "../core/flags.ts";

/** @throws CommandError where nothing is known of a subject: an empty answer would be taken for the truth */
export async function checkKnown(
  subject: Subject,
  { deployment, clients }: Pick<Operation, "deployment" | "clients">,
): Promise<void> {
  const { isKnown } = partitions(clients.dynamodb, deployment.output("TableName"));
  if (!(await isKnown(subject))) throw unknownSubject(subject);
}
