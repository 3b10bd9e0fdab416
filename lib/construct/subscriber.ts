import { Lazy } from "aws-cdk-lib";
import type { Metric, MetricOptions } from "aws-cdk-lib/aws-cloudwatch";
import * as iam from "aws-cdk-lib/aws-iam";
import type * as sqs from "aws-cdk-lib/aws-sqs";
import type { ReadApi } from "../reading/read-api.ts";
import type { WorkQueue } from "../receiving/work-queue.ts";

/** What a subscriber's handle is made of. */
type SubscriberParts = {
  readonly name: string;
  readonly work: WorkQueue;
  /** Whether the settings name who reads for it. */
  readonly namesPrincipals: boolean;
  readonly readApi: () => ReadApi;
};

/** A subscriber of the pipeline: where its messages are, and who may read what it may read. */
export class Subscriber {
  /** As the settings name it. */
  readonly name: string;
  /** Holds its messages: at least once each, unordered. */
  readonly queue: sqs.IQueue;
  /** Holds the messages that its reader could not process. */
  readonly deadLetterQueue: sqs.IQueue;
  readonly #namesPrincipals: boolean;
  readonly #readApi: () => ReadApi;

  /** @internal */
  constructor({ name, work, namesPrincipals, readApi }: SubscriberParts) {
    this.name = name;
    this.queue = work.queue;
    this.deadLetterQueue = work.deadLetterQueue;
    this.#namesPrincipals = namesPrincipals;
    this.#readApi = readApi;
  }

  /** Documents are read below this address, with a slash at its end. Known at deploy time. */
  get documentsUrl(): string {
    return Lazy.string({ produce: () => this.#readApi().url });
  }

  /** Lets somebody receive and delete the messages, and decrypt them. */
  grantConsume(grantee: iam.IGrantable): iam.Grant {
    return this.queue.grantConsumeMessages(grantee);
  }

  /**
   * Lets a role of this account read the states and documents behind the messages at `documentsUrl`.
   * @throws where the subscriber names `principals`: only they read for it
   */
  grantReadDocuments(grantee: iam.IGrantable): iam.Grant {
    if (this.#namesPrincipals) {
      throw new Error(
        `The subscriber ${this.name} names principals, so that only they read its documents: ` +
          "leave principals out, or grant it for another subscriber",
      );
    }
    return iam.Grant.addToPrincipal({
      grantee,
      actions: ["lambda:InvokeFunctionUrl", "lambda:InvokeFunction"],
      resourceArns: [Lazy.string({ produce: () => this.#readApi().lambda.functionArn })],
    });
  }

  /** Messages in its dead-letter queue. */
  metricDeadLetters(props?: MetricOptions): Metric {
    return this.deadLetterQueue.metricApproximateNumberOfMessagesVisible({ statistic: "Maximum", ...props });
  }

  /** Messages that wait for its reader. */
  metricMessagesWaiting(props?: MetricOptions): Metric {
    return this.queue.metricApproximateNumberOfMessagesVisible({ statistic: "Maximum", ...props });
  }

  /** The age of the oldest message that its reader has not deleted, in seconds. */
  metricOldestMessage(props?: MetricOptions): Metric {
    return this.queue.metricApproximateAgeOfOldestMessage({ statistic: "Maximum", ...props });
  }
}
