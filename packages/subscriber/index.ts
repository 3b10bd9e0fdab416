// What a subscriber imports, as the package @income-events/subscriber.
export type { DataOf, Message, MessageOf, MessageType } from "./contract.ts";
export { lambdaHandler } from "./lambda.ts";
export { type Handled, inMemory, keptDays, type Memory, type Remembered } from "./memory.ts";
export { type ReadMessage, readMessage, type UnknownMessage } from "./read-message.ts";
export { createReader, type Read, type ReaderOptions, type Result } from "./reader.ts";
