import type * as s3 from "aws-cdk-lib/aws-s3";
import { Construct } from "constructs";
import type { WebhookKind } from "../../domain/event/events.ts";
import { wholeDays } from "../settings/durations.ts";
import type { Settings } from "../settings/settings.ts";
import { dataKeyOf } from "./encryption.ts";
import { backedUp, privateBucket } from "./private-bucket.ts";

/** Maximum days that a message with a pointer to a body stays in a queue and its DLQ before it is archived. */
export const longestInQueuesInDays = 28;

/** Longer than a task stays in a dead-letter queue. Missing pages are read again. */
const pagesInDays = 15;

/** Stores what is too large for a message or an item: webhook bodies and fetched data. */
export class OverflowStorage extends Construct {
  readonly bucket: s3.Bucket;
  /** ARNs of webhook bodies, which expire after their events. */
  readonly bodies: string;
  readonly bodiesOf: (kind: WebhookKind) => string;
  /** ARNs of fetched data. It does not expire: the relay deletes an object once no item points to it. */
  readonly data: string;
  /** ARNs of lists that are still being read, page by page. */
  readonly pages: string;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const { eventsDays, archiveDays } = settings.retention;
    const bodiesInDays = eventsDays + longestInQueuesInDays + archiveDays;
    const rules = [
      { prefix: "bodies/", expiration: wholeDays(bodiesInDays) },
      { prefix: "pages/", expiration: wholeDays(pagesInDays) },
    ];
    this.bucket = privateBucket(this, "Bucket", rules, {
      key: dataKeyOf(this, settings),
      ...backedUp(settings),
    });
    this.bodies = this.bucket.arnForObjects("bodies/*");
    this.bodiesOf = (kind) => this.bucket.arnForObjects(`bodies/${kind}/*`);
    this.data = this.bucket.arnForObjects("data/*");
    this.pages = this.bucket.arnForObjects("pages/*");
  }
}
