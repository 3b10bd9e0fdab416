import type { PartialList } from "../../adapters/s3/overflow-bucket.ts";
import type { SecretReader } from "../../adapters/secrets/secret-reader.ts";
import type { Outgoing } from "../../adapters/sqs/sqs-sender.ts";
import type { AttributeExpressions } from "../../domain/event/attributes.ts";
import type { KindMapping } from "../../domain/event/mapping.ts";
import type { TokenVersion } from "../../domain/fetch/token.ts";
import type { ReadinessSettings } from "../../domain/readiness/readiness.ts";
import type { Log } from "../../functions/runtime/log.ts";
import type { ProviderRead } from "../chaos/audit/find-unready.ts";
import type { Do } from "./processes.ts";
import type { Provider } from "./provider.ts";
import type { Reads } from "./reads.ts";
import type { Secret } from "./secret.ts";
import type { Table } from "./table.ts";

/** Surroundings of the model's functions. Times are milliseconds since 1970. */
export type Surroundings = {
  readonly provider: Provider;
  readonly table: Table;
  readonly secret: Secret;
  readonly reads: Reads;
  readonly pages: Map<string, PartialList>;
  readonly subscribers: readonly string[];
  readonly accountsMapping: KindMapping;
  /** Absent if the stage has no such setting. */
  readonly readiness: ReadinessSettings | undefined;
  readonly attributes: AttributeExpressions;
  /** Calls that the provider answered with data, by SQS's clock. */
  readonly answered: ProviderRead[];
  readonly log: Log;
  /** By DynamoDB's clock. */
  readonly time: number;
  readonly queueTime: number;
  readonly now: () => Date;
  /** @param url name of a queue or dead-letter queue */
  send(url: string, message: Outgoing): void;
  hide(url: string, receipt: string, seconds: number): void;
  tokenReaderOf(step: Do): SecretReader<TokenVersion>;
  refresh(): void;
};
