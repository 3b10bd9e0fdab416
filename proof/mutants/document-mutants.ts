import type { ProtocolMutant } from "./protocol-mutant.ts";

const starting = ["test/functions/fetch/starting.int.test.ts"];
const documents = ["test/adapters/dynamodb/documents.int.test.ts"];

/** Rules of the table's protocol that the code keeps where the model has steps of its own, done wrong there. */
export const documentMutants: readonly ProtocolMutant[] = [
  {
    name: "want the documents of a start from before its check was sent",
    breaks: "Fetched",
    file: "functions/fetch/start-fetch.ts",
    code: "documentTask(subject, { endpoint }, delivery.sentAt, cause)",
    instead: "documentTask(subject, { endpoint }, delivery.sentAt - 30_000, cause)",
    tests: starting,
  },
  {
    name: "take what was read during a start's call for its answer",
    breaks: "Fetched",
    file: "functions/fetch/verify-start.ts",
    code: "isVoid({ messageId, since }, document, clock())",
    instead: "isVoid({ messageId, since: since - 30_000 }, document, clock())",
    tests: starting,
  },
  {
    name: "let SQS take the tasks of two checks for the same",
    breaks: "Fetched",
    file: "functions/fetch/start-fetch.ts",
    code: "delivery.messageId}`, correlationId, userId };",
    instead: '""}`, correlationId, userId };',
    tests: starting,
  },
  {
    name: "name a document's object by when it was read",
    breaks: "A message is the same whenever it is sent again",
    file: "adapters/dynamodb/documents.ts",
    code: "announced = asOf } = document;",
    instead: "announced: _, asOf: announced } = document;",
    tests: documents,
  },
  {
    name: "put an object again whose content is the same",
    breaks: "A message is the same whenever it is sent again",
    file: "adapters/dynamodb/documents.ts",
    code: "const place = isSame ? known?.place : content && ",
    instead: "const place = content && ",
    tests: documents,
  },
];
