import { isDeepStrictEqual } from "node:util";
import type { TableSnapshot } from "../scenario/snapshot.ts";

/** What became of the tasks. `lost` says in words what is missing or wrong. */
export type Assessment = { readonly done: number; readonly lost: readonly string[] };

/**
 * A task is done where the data that the provider serves is stored and marked as fetched; it is lost where it is
 * neither done nor in a dead-letter queue.
 * @param served what the provider answers, by task: `<account>/<endpoint>`
 * @param asDeadLetters names of the tasks in dead-letter queues
 */
export function assessTasks(
  served: ReadonlyMap<string, unknown>,
  { data, contents }: Pick<TableSnapshot, "data" | "contents">,
  asDeadLetters: ReadonlySet<string>,
): Assessment {
  const faults = [...served].flatMap(([name, answer]) => {
    if (!data.has(name)) return [{ name, fault: "is not fetched" }];
    const content = contents.get(name);
    const isSame = content !== undefined && isDeepStrictEqual(JSON.parse(content), asJson(answer));
    return isSame ? [] : [{ name, fault: "differs from what the provider serves" }];
  });
  return {
    done: served.size - faults.length,
    lost: faults.filter(({ name }) => !asDeadLetters.has(name)).map(({ name, fault }) => `${name} ${fault}`),
  };
}

function asJson(answer: unknown): unknown {
  return answer === undefined ? undefined : JSON.parse(JSON.stringify(answer));
}
