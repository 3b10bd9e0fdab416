import type { Access } from "@income-events/local-stack/system.ts";

export type ObserverOptions = {
  readonly access: Access;
  readonly queues: readonly { readonly name: string; readonly queueUrl: string }[];
  readonly streamArn: string;
  readonly messagesFile: string;
  readonly recordsFile: string;
};

export type ObserverMethods = {
  /** Resolves when everything written before the call is recorded. */
  finish(): Promise<void>;
};
