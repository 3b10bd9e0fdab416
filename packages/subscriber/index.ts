// The public API of the package @income-events/subscriber.
export type { DataOf, Message, MessageOf, MessageType } from "./contract.ts";
export { type CachedDocument, type DocumentCache, inMemoryCache } from "./document-cache.ts";
export { type DocumentOf, type Endpoint, endpoints } from "./document-shapes.ts";
export { ExactNumber, type Json, parseJson } from "./json.ts";
export { lambdaHandler } from "./lambda.ts";
export { type Handled, inMemory, keptDays, type Memory, type Remembered } from "./memory.ts";
export { type IncomeDocument, type MonthlyIncome, monthlyIncome } from "./monthly-income.ts";
export {
  DocumentError,
  type DocumentOptions,
  type DocumentResult,
  type ReadDocument,
  readDocument,
} from "./read-document.ts";
export { type ReadMessage, readMessage, type UnknownMessage } from "./read-message.ts";
export { createReader, type Read, type ReaderOptions, type Result } from "./reader.ts";
export type { Credentials } from "./sign.ts";
