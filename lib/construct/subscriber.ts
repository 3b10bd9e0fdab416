import { Lazy, Stack, Token } from "aws-cdk-lib";
import type { Metric, MetricOptions } from "aws-cdk-lib/aws-cloudwatch";
import * as iam from "aws-cdk-lib/aws-iam";
import type * as sqs from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { ReadingMode } from "../../domain/read/route.ts";
import type { ReadApi } from "../reading/read-api.ts";
import type { WorkQueue } from "../receiving/work-queue.ts";

/** Condition key: true for a call by the function URL; false or absent for a direct invocation. */
const viaUrl = "lambda:InvokedViaFunctionUrl";

type SubscriberParts = {
  readonly scope: Construct;
  readonly name: string;
  readonly work: WorkQueue;
  /** ARNs that a grant lets read documents, by subscriber name. */
  readonly readers: Map<string, string[]>;
  readonly readApi: () => ReadApi;
  readonly reading: ReadingMode;
  /** Former keys of `encryption.previousKeyArns`, with which messages may be encrypted. */
  readonly previousKeyArns: readonly string[];
};

/** A subscriber of the pipeline, with its queues, grants and metrics. */
export class Subscriber {
  /** Name of the subscriber in the settings. */
  readonly name: string;
  /** Queue of its messages, each delivered at least once, in any order. */
  readonly queue: sqs.IQueue;
  /** Messages that the subscriber failed to process. */
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
   * Base address of its documents, with a trailing slash: a function URL, or the ARN of an alias to invoke. Known at
   * deploy time.
   */
  get documentsUrl(): string {
    const addressOf = (api: ReadApi) => (api.mode === "invoke" ? `${api.aliasArn(this.name)}/` : api.url);
    return Lazy.string({ produce: () => addressOf(this.#readApi()) });
  }

  /** Allows a principal to receive, delete and decrypt messages, also with keys of `encryption.previousKeyArns`. */
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
   * Allows a role or user of this account to read, at `documentsUrl`, the states and documents that the subscriber's
   * filter allows. If that is a function URL, the grant denies direct invocations, whatever other policies allow.
   * @throws for another kind of principal; for a role of another stack without a name, because the pipeline's stack
   * must know its ARN; if the setting `reading` is `none`
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
    // A direct invocation can carry any event, with any caller's name in it.
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

  /** Number of messages in the dead-letter queue. */
  metricDeadLetters(props?: MetricOptions): Metric {
    return this.deadLetterQueue.metricApproximateNumberOfMessagesVisible({ statistic: "Maximum", ...props });
  }

  /** Number of messages that wait in the queue. */
  metricMessagesWaiting(props?: MetricOptions): Metric {
    return this.queue.metricApproximateNumberOfMessagesVisible({ statistic: "Maximum", ...props });
  }

  /** Age in seconds of the oldest message that is not deleted yet. */
  metricOldestMessage(props?: MetricOptions): Metric {
    return this.queue.metricApproximateAgeOfOldestMessage({ statistic: "Maximum", ...props });
  }
}

/** ARN of a role or user, without a reference to a stack that depends on this one, which would be a cycle. */
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
