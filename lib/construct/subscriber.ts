import { Lazy, Stack, Token } from "aws-cdk-lib";
import type { Metric, MetricOptions } from "aws-cdk-lib/aws-cloudwatch";
import * as iam from "aws-cdk-lib/aws-iam";
import type * as sqs from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { ReadingMode } from "../../domain/read/reading-mode.ts";
import type { ReadApi } from "../reading/read-api.ts";
import type { WorkQueue } from "../receiving/work-queue.ts";

/** Whether a function is invoked by its URL: absent, or false, where it is invoked directly. */
const viaUrl = "lambda:InvokedViaFunctionUrl";

/** What a subscriber's handle is made of. */
type SubscriberParts = {
  readonly scope: Construct;
  readonly name: string;
  readonly work: WorkQueue;
  /** ARNs of those that read documents by a grant, by the name of the subscriber. */
  readonly readers: Map<string, string[]>;
  readonly readApi: () => ReadApi;
  readonly reading: ReadingMode;
  /** Keys that encrypted its messages before the one in use. */
  readonly previousKeyArns: readonly string[];
};

/** A subscriber of the pipeline: where its messages are, and who may read what it may read. */
export class Subscriber {
  /** As the settings name it. */
  readonly name: string;
  /** Holds its messages: at least once each, unordered. */
  readonly queue: sqs.IQueue;
  /** Holds the messages that its reader could not process. */
  readonly deadLetterQueue: sqs.IQueue;
  readonly #scope: Construct;
  readonly #readers: Map<string, string[]>;
  readonly #readApi: () => ReadApi;
  readonly #reading: ReadingMode;
  readonly #previousKeyArns: readonly string[];

  /** @internal */
  constructor({ scope, name, work, readers, readApi, reading, previousKeyArns }: SubscriberParts) {
    this.name = name;
    this.queue = work.queue;
    this.deadLetterQueue = work.deadLetterQueue;
    this.#scope = scope;
    this.#readers = readers;
    this.#readApi = readApi;
    this.#reading = reading;
    this.#previousKeyArns = previousKeyArns;
  }

  /**
   * Documents are read below this address, with a slash at its end: a function's URL, or the ARN of an alias that the
   * subscriber invokes. Known at deploy time.
   */
  get documentsUrl(): string {
    const addressOf = (api: ReadApi) => (api.mode === "invoke" ? `${api.aliasArn(this.name)}/` : api.url);
    return Lazy.string({ produce: () => addressOf(this.#readApi()) });
  }

  /** Lets somebody receive and delete the messages, and decrypt them, those of `encryption.previousKeyArns` too. */
  grantConsume(grantee: iam.IGrantable): iam.Grant {
    const granted = this.queue.grantConsumeMessages(grantee);
    if (this.#previousKeyArns.length === 0) return granted;
    return granted.combine(
      iam.Grant.addToPrincipal({
        grantee,
        actions: ["kms:Decrypt"],
        resourceArns: [...this.#previousKeyArns],
      }),
    );
  }

  /**
   * Lets a role or user of this account read, at `documentsUrl`, the states and documents that this subscriber's filter
   * lets through. By a URL it can't invoke the function in another way, whatever its other policies allow.
   * @throws for other principals, and for a role of another stack that has no name: the pipeline's stack must know its ARN;
   * where the setting `reading` is none
   */
  grantReadDocuments(grantee: iam.IGrantable): iam.Grant {
    if (this.#reading === "none")
      throw new Error(`${this.name} reads no documents: the setting reading is none, and messages hold them`);
    if (this.#reading === "invoke") {
      const aliasArn = Lazy.string({ produce: () => this.#readApi().aliasArn(this.name) });
      return iam.Grant.addToPrincipal({
        grantee,
        actions: ["lambda:InvokeFunction"],
        resourceArns: [aliasArn],
      });
    }
    const arn = arnIn(Stack.of(this.#scope), grantee.grantPrincipal);
    const granted = this.#readers.get(this.name) ?? [];
    if (!granted.includes(arn)) this.#readers.set(this.name, [...granted, arn]);
    const resourceArns = [Lazy.string({ produce: () => this.#readApi().lambda?.functionArn })];
    const invoke = ["lambda:InvokeFunction"];
    // A direct invocation carries any event, and with it any caller's name.
    grantee.grantPrincipal.addToPrincipalPolicy(
      new iam.PolicyStatement({
        effect: iam.Effect.DENY,
        actions: invoke,
        resources: resourceArns,
        conditions: { BoolIfExists: { [viaUrl]: "false" } },
      }),
    );
    return iam.Grant.addToPrincipal({
      grantee,
      actions: ["lambda:InvokeFunctionUrl"],
      resourceArns,
    }).combine(
      iam.Grant.addToPrincipal({
        grantee,
        actions: invoke,
        resourceArns,
        conditions: { Bool: { [viaUrl]: "true" } },
      }),
    );
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

/** The ARN of a role or user as a stack can write it: a reference to another stack that uses this one would be a cycle. */
function arnIn(stack: Stack, principal: iam.IPrincipal): string {
  const arn = "roleArn" in principal ? principal.roleArn : "userArn" in principal && principal.userArn;
  if (typeof arn !== "string") throw new Error(`Grant reading to a role or a user: ${principal} is neither`);
  if (!Token.isUnresolved(arn) || !Construct.isConstruct(principal) || Stack.of(principal) === stack)
    return arn;
  const { defaultChild } = principal.node;
  const name = defaultChild instanceof iam.CfnRole ? defaultChild.roleName : undefined;
  if (name === undefined || Token.isUnresolved(name))
    throw new Error(
      `${principal.node.path} is in another stack than the pipeline, which must know its ARN: give it a roleName, ` +
        `or make it in ${stack.node.path}`,
    );
  return stack.formatArn({ service: "iam", region: "", resource: "role", resourceName: name });
}
