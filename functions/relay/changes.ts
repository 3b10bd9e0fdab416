import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SQSClient } from "@aws-sdk/client-sqs";
import { linkTable } from "../../adapters/links.ts";
import { revisions } from "../../adapters/revisions.ts";
import { sqsSender } from "../../adapters/sqs-sender.ts";
import { parseJson, textOf } from "../../domain/parse.ts";
import { parseReadByRange } from "../../domain/provider-settings.ts";
import { parseSubscribers } from "../../domain/subscribers.ts";
import { readSettings, variable } from "../runtime/environment.ts";
import { log } from "../runtime/log.ts";
import { joinQueues, outbox } from "./outbox.ts";
import { relay } from "./relay.ts";

const settings = readSettings();
const table = new DynamoDBClient({});
const queues = parseJson(variable("SUBSCRIBER_QUEUES"), "SUBSCRIBER_QUEUES");
const subscribers = joinQueues(parseSubscribers(settings.subscribers), queues);

export const handler = relay({
  revisions: revisions(table, variable("TABLE_NAME")),
  link: linkTable(table, variable("TABLE_NAME")),
  outbox: outbox(sqsSender(new SQSClient({})), variable("FETCH_QUEUE_URL"), subscribers, log),
  readByRange: parseReadByRange(settings.readByRange),
  eventSource: textOf(settings, "eventSource"),
  log,
});
