import type { Happening } from "@income-events/cli/events/event-tail.ts";

/** A message, with an id that is unique among consoles. */
export type Told = { readonly id: string; readonly happening: Happening };

export type TailState = {
  readonly state: "connecting" | "following" | "waiting" | "failed";
  readonly reason?: string;
};

/** A message for a watching page, one JSON object on a line. A new connection resumes after its id. */
export type TailLine =
  | ({ readonly type: "happening" } & Told)
  | { readonly type: "state"; readonly id?: string; readonly state: TailState }
  /** Messages were missed that are no longer stored; the history has them. */
  | { readonly type: "missed" };

/** The messages that a returning page missed. */
export type Backlog = {
  readonly add: (happening: Happening) => Told;
  /** Marks a possible gap. */
  readonly interrupt: () => void;
  /**
   * @param last the id of the last message that the page has; undefined for a new page, which gets only later
   * messages
   */
  readonly since: (last: string | undefined) => {
    readonly sent: readonly Told[];
    readonly isMissing: boolean;
    /** The id of the last of them. */
    readonly at: string;
  };
};

const kept = 2_000;

/** @param console distinguishes it from an earlier console at the same address */
export function createBacklog(console: string): Backlog {
  const told: { readonly number: number; readonly happening: Happening }[] = [];
  let last = 0;
  let begin = 0;
  const named = ({ number, happening }: (typeof told)[number]): Told => ({
    id: `${console}-${number}`,
    happening,
  });
  return {
    add: (happening) => {
      last += 1;
      const added = { number: last, happening };
      told.push(added);
      if (told.length > kept) told.shift();
      return named(added);
    },
    interrupt: () => {
      // Every page, even an up-to-date one, has a gap before the next message.
      last += 1;
      begin = last;
      told.length = 0;
    },
    since: (seen) => {
      const at = `${console}-${last}`;
      if (seen === undefined) return { sent: [], isMissing: false, at };
      const [whose = "", number = ""] = seen.split("-");
      const from = Number(number);
      if (whose !== console || !/^\d+$/.test(number)) return { sent: told.map(named), isMissing: true, at };
      const first = told[0]?.number ?? last + 1;
      const isMissing = from < Math.max(begin, first - 1);
      return { sent: told.filter((each) => each.number > from).map(named), isMissing, at };
    },
  };
}
