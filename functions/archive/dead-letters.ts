import { S3Client } from "@aws-sdk/client-s3";
import { SQSClient } from "@aws-sdk/client-sqs";
import { letterArchive } from "../../adapters/sqs/dead-letter-archive.ts";
import { queueLetters } from "../../adapters/sqs/queue-dead-letters.ts";
import { fieldsOf, numberOf, parseJson, textOf } from "../../domain/core/parse.ts";
import { settlingInSeconds } from "../../domain/fetch/provider-settings.ts";
import { readSettings, variable } from "../runtime/environment.ts";
import { log, logged } from "../runtime/log.ts";
import { withOwnReasons } from "../runtime/sanitize-errors.ts";
import { archiver } from "./archiver.ts";

const settings = readSettings();
const queues = new SQSClient({});
const urls = fieldsOf(parseJson(variable("DEAD_LETTER_QUEUES"), "DEAD_LETTER_QUEUES"), "DEAD_LETTER_QUEUES");

const handle = withOwnReasons(
  archiver({
    places: (secondsLeft) => {
      // What a run that was ended by force has hidden comes back when its time is over.
      const hiddenSeconds = () => Math.ceil(secondsLeft()) + 1;
      return new Map(
        Object.keys(urls).map((name) => [name, queueLetters(queues, textOf(urls, name), hiddenSeconds)]),
      );
    },
    put: letterArchive(new S3Client({}), variable("ARCHIVE_BUCKET")).put,
    retentionSeconds: numberOf(settings, "retentionSeconds"),
    beforeEndSeconds: numberOf(settings, "beforeEndSeconds"),
    settlingSeconds: settlingInSeconds(numberOf(settings, "timeoutSeconds")),
    now: () => new Date(),
    log,
  }),
);

export const handler = logged(handle);
