import type { Access } from "@income-events/local-stack/system.ts";
import { contract, type Message } from "../../../domain/message/message-schemas.ts";
import { readBodies } from "../../../proof/scenario/snapshot.ts";
import { contractMessage } from "../contract-message.ts";

/** Every copy of every message of a subscriber's queue, taken out. */
export async function readMessages(access: Access, queueUrl: string): Promise<readonly Message[]> {
  return (await readBodies(access, queueUrl)).map((body) => contractMessage(body));
}

/** Describes duplicates: an event or answer at two places of its series, or two events at one place. */
export function duplicatesIn(messages: readonly Message[]): readonly string[] {
  const placeOf = ({ id, type, subject, sequence }: Message) => {
    const place = contract[type].newestOf === "subject" ? subject : `${subject} ${type}`;
    // Two events of an endpoint may be received in the same millisecond.
    return [place, sequence, ...(type === "endpoint.updated" ? [id] : [])].join(" ");
  };
  const clash = (name: (message: Message) => string, of: (message: Message) => string) => {
    const known = Map.groupBy(messages, name);
    return [...known].flatMap(([key, copies]) => {
      const others = new Set(copies.map(of));
      return others.size > 1 ? [`${key} is ${[...others].join(" and ")}`] : [];
    });
  };
  return [...clash(({ id }) => id, placeOf), ...clash(placeOf, ({ id }) => id)];
}
