import type { Body } from "../../domain/event/envelope.ts";
import type { OverflowBucket } from "../s3/overflow-bucket.ts";

/** The body of a webhook. Reconciliation's facts have no text. */
export type WebhookBody = Exclude<Body, { type: "facts" }>;

/** The text of a body, which may be in S3. @throws permanent failure if the body was not kept */
export async function bodyText(body: WebhookBody, overflow: Pick<OverflowBucket, "get">): Promise<string> {
  switch (body.type) {
    case "text":
      return body.text;
    case "base64":
      return Buffer.from(body.base64, "base64").toString("utf8");
    case "object": {
      const content = Buffer.from(await overflow.get(body.key)).toString("utf8");
      return body.encoding === "base64" ? Buffer.from(content, "base64").toString("utf8") : content;
    }
  }
}
