import { S3Client } from "@aws-sdk/client-s3";
import { SQSClient } from "@aws-sdk/client-sqs";
import { s3Client } from "../../adapters/s3/overflow-bucket.ts";
import { deadLetterArchive } from "../../adapters/sqs/dead-letter-archive.ts";
import { queueDeadLetters } from "../../adapters/sqs/queue-dead-letters.ts";
import { numberOf, textsOf } from "../../domain/core/parse.ts";
import { reservedSecondsOf } from "../../domain/fetch/task.ts";
import { namesIn, queuesBeside, readSettings, variable } from "../runtime/environment.ts";
import { log, logged, sanitizeErrors } from "../runtime/log.ts";
import { archiver } from "./archiver.ts";

const settings = readSettings();
const queues = new SQSClient({});
const urls = queuesBeside(
  variable("DEAD_LETTER_QUEUE_URL"),
  textsOf(settings, "queues"),
  namesIn("DEAD_LETTER_QUEUES"),
);

const handle = sanitizeErrors(
  archiver({
    sources: (secondsLeft) => {
      // After a run is killed, its messages reappear when its time would have ended.
      const visibilitySeconds = () => Math.ceil(secondsLeft()) + 1;
      return new Map(urls.map(([name, url]) => [name, queueDeadLetters(queues, url, visibilitySeconds)]));
    },
    put: deadLetterArchive(s3Client(S3Client), variable("ARCHIVE_BUCKET")).put,
    retentionSeconds: numberOf(settings, "retentionSeconds"),
    beforeEndSeconds: numberOf(settings, "beforeEndSeconds"),
    reservedSeconds: reservedSecondsOf(numberOf(settings, "timeoutSeconds")),
    now: () => new Date(),
    log,
  }),
);

export const handler = logged(handle);
