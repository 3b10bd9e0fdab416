// What a subscriber imports, as the package income-events-subscriber.
export type { DataOf, Message, MessageOf } from "../../domain/message/message-schemas.ts";
export type { MessageType } from "../../domain/message/message-types.ts";
export { type ReadMessage, readMessage, type UnknownMessage } from "../../domain/message/read-message.ts";
export { lambdaHandler } from "./lambda.ts";
export { type Handled, inMemory, keptDays, type Memory, type Remembered } from "./memory.ts";
export { createReader, type Read, type ReaderOptions, type Result } from "./reader.ts";
