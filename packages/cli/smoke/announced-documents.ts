import { readPromised } from "./contract.ts";

/** A version of a document that a message announces. */
export type AnnouncedDocument = {
  /** `account/<id>/<endpoint>`, as in the message. */
  readonly subject: string;
  readonly href: string;
  readonly sha256: string;
  /** In milliseconds: since when the data is known. */
  readonly observedAt: number;
};

/** What messages announce of documents, without the messages. */
export type AnnouncedDocuments = {
  /** Takes one message of any type; what is no message of the contract announces nothing. */
  readonly add: (body: string) => void;
  /** The versions, each once. */
  readonly all: () => readonly AnnouncedDocument[];
  /** Whether a message replaced this version, or said that its subject was erased. */
  readonly isSuperseded: (document: AnnouncedDocument) => boolean;
};

export function announcedDocuments(): AnnouncedDocuments {
  const announced = new Map<string, AnnouncedDocument & { readonly sequence: string }>();
  const newest = new Map<string, string>();
  const erased = new Set<string>();
  return {
    add: (body) => {
      const message = readPromised(body);
      if ("problem" in message) return;
      const { subject, type } = message;
      if (type.endsWith(".erased")) erased.add(subject);
      if (type !== "data.updated") return;
      const { sequence, data } = message;
      if (sequence > (newest.get(subject) ?? "")) newest.set(subject, sequence);
      const { document } = data;
      if (document === undefined) return;
      const { href, sha256, observedAt } = document;
      announced.set(href, { subject, href, sha256, observedAt: Date.parse(observedAt), sequence });
    },
    all: () => [...announced.values()],
    isSuperseded: ({ subject, href }) => {
      const [kind = "", id = ""] = subject.split("/");
      return (
        erased.has(`${kind}/${id}`) || (newest.get(subject) ?? "") > (announced.get(href)?.sequence ?? "")
      );
    },
  };
}
