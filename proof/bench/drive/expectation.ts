import { createHash } from "node:crypto";
import { z } from "zod";
import { identify } from "../../../domain/event/identify.ts";
import { documentOf, usual } from "../provider.ts";
import type { Webhook } from "../workload.ts";
import { type Snapshot, sortedSnapshot } from "./snapshot.ts";

const payload = z.union([
  z.object({ action: z.string(), data: z.object({ id: z.string() }) }),
  z.object({ event: z.string(), account_id: z.string(), endpoint: z.string().optional() }),
]);

/**
 * What anybody must have in the end who got these deliveries and lost nothing. Loads hold whole lives of users only:
 * each account is connected, and announces the data that is fetched when it is.
 */
export function expectationOf(deliveries: readonly Webhook[]): Snapshot {
  const lists = { events: new Set<string>(), states: new Set<string>(), data: new Set<string>() };
  const messages = new Set<string>();
  for (const { kind, body } of deliveries) {
    const id = identify(kind, Buffer.from(body));
    lists.events.add(id);
    messages.add(id);
    const reported = payload.parse(JSON.parse(body));
    if ("action" in reported) {
      lists.states.add(`USER#${reported.data.id} false`);
    } else if (reported.endpoint === undefined) {
      lists.states.add(`ACCOUNT#${reported.account_id} true`);
    } else {
      const name = `${reported.account_id}/${reported.endpoint}`;
      const content = createHash("sha256").update(documentOf(name, usual.items)).digest("base64url");
      lists.data.add(`ACCOUNT#${name} ${content}`);
      messages.add(`account/${name} ${content}`);
    }
  }
  return sortedSnapshot({ ...lists, messages });
}
