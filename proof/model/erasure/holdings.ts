import { eventPrefix, partitionOf } from "../../../adapters/dynamodb/keys.ts";
import { nameOf } from "../../../domain/event/subjects.ts";
import type { Person } from "./people.ts";
import { type Piece, placeOfItem } from "./world.ts";

/**
 * Places of a person's data: with their mark, and under their names. An event without the mark may name two
 * people, and is stored with one of them. A body that was not text is in base64.
 */
export function holdingsOf({ userId, accountId, mark }: Person, pieces: readonly Piece[]): readonly string[] {
  const subjects = [
    { kind: "user", id: userId },
    { kind: "account", id: accountId },
  ] as const;
  const begins = subjects.flatMap((subject) => [
    placeOfItem({ pk: partitionOf(subject), sk: "" }),
    `object data/${nameOf(subject)}/`,
  ]);
  const isTheirs = ({ place, text }: Piece) =>
    text.includes(mark) ||
    (place.startsWith("object bodies/") && Buffer.from(text, "base64").includes(mark)) ||
    begins.some((begin) => place.startsWith(begin) && !place.startsWith(`${begin}${eventPrefix}`));
  return pieces
    .filter(isTheirs)
    .map(({ place }) => place)
    .toSorted();
}
