import { Stack, type StackProps } from "aws-cdk-lib";
import type { Construct } from "constructs";
import {
  IncomeEvents,
  type IncomeEventsProps,
  type SettingsFileProps,
  type WrittenProps,
} from "./construct/income-events.ts";
import { claimStack, leftOutOfIds } from "./instance.ts";
import { readSettings } from "./settings/settings.ts";

/** A stack that holds the pipeline of one stage alone. */
export class IncomeEventsStack extends Stack {
  /**
   * The stack of a settings file, whose keys are those of the properties.
   * @throws SettingsError naming the file, each setting in error and its remedy
   */
  static fromSettingsFile(
    scope: Construct,
    id: string,
    props: SettingsFileProps & StackProps,
  ): IncomeEventsStack {
    const { file, ...options } = props;
    return new IncomeEventsStack(scope, id, {
      ...options,
      written: readSettings(options.stage, file),
      where: file,
    });
  }

  /** The pipeline. */
  readonly events: IncomeEvents;

  /**
   * @param props the stack's name is `income-events-<stage>` where they give none
   * @throws SettingsError naming each setting in error and its remedy
   */
  constructor(scope: Construct, id: string, props: IncomeEventsProps & StackProps);
  /** @internal */
  constructor(scope: Construct, id: string, props: WrittenProps & StackProps);
  constructor(scope: Construct, id: string, props: (IncomeEventsProps | WrittenProps) & StackProps) {
    super(scope, id, {
      stackName: `income-events-${props.stage}`,
      description: `Income events (${props.stage}): from an income-data service's webhooks to subscribers' queues`,
      analyticsReporting: false,
      ...props,
    });
    claimStack(this);
    this.events = new IncomeEvents(this, leftOutOfIds, withoutStackProps(props));
    this.terminationProtection = props.terminationProtection ?? this.events.isProduction;
  }
}

/** What is left is the pipeline's, which refuses what it does not know. */
function withoutStackProps(props: (IncomeEventsProps | WrittenProps) & StackProps) {
  const {
    analyticsReporting,
    crossRegionReferences,
    description,
    env,
    notificationArns,
    permissionsBoundary,
    propertyInjectors,
    stackName,
    suppressTemplateIndentation,
    synthesizer,
    tags,
    terminationProtection,
    ...ofPipeline
  } = props;
  return ofPipeline;
}
