import { permanent } from "../../domain/core/failures.ts";

/** The URL of a queue by its name. It lies beside a queue whose URL is known: all URLs would not fit into an environment. */
export function queueBeside(url: string, name: string): string {
  return url.slice(0, url.lastIndexOf("/") + 1) + name;
}

/**
 * Joins owners of queues with the queues that the environment names in the same order.
 * @returns each owner with its queue's URL
 * @throws permanent failure where a name is missing
 */
export function queuesBeside(
  url: string,
  owners: readonly string[],
  names: readonly string[],
): readonly (readonly [string, string])[] {
  return owners.map((owner, index) => {
    const name = names[index];
    if (name === undefined) throw permanent(`the environment names no queue of ${owner}`);
    return [owner, queueBeside(url, name)];
  });
}
