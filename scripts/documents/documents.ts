import { asyncApi } from "./asyncapi.ts";
import { eventsPage } from "./events-page.ts";
import { messageTypes, schemaFile } from "./message-schema.ts";

/** A file that is written by a program: the same text each time, of nothing but the code. */
export type Document = { readonly file: string; readonly text: () => string };

/** All of them. A test fails where the file in the repository is not this text. */
export const documents: readonly Document[] = [
  { file: "docs/events.md", text: eventsPage },
  { file: "docs/asyncapi.json", text: asyncApi },
  ...messageTypes.map((type) => ({ file: `docs/schemas/${type}.json`, text: () => schemaFile(type) })),
];
