import { Stack, type StackProps } from "aws-cdk-lib";
import type { Construct } from "constructs";
import {
  IncomeEvents,
  type IncomeEventsProps,
  type SettingsFileProps,
  type WrittenProps,
} from "./construct/income-events.ts";
import { regionOfKey } from "./construct/own-settings.ts";
import { claimStack, leftOutOfIds } from "./instance.ts";
import { readSettings } from "./settings/settings.ts";

/** A stack that contains only the pipeline of one stage. */
export class IncomeEventsStack extends Stack {
  /**
   * Creates a stack from a settings file, which has the same keys as the properties.
   * @throws SettingsError with the file, each invalid setting and its remedy
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

  readonly events: IncomeEvents;

  /**
   * @param props the stack name defaults to `income-events-<stage>`
   * @throws SettingsError with each invalid setting and its remedy
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
      ...envOf(props),
    });
    claimStack(this);
    this.events = new IncomeEvents(this, leftOutOfIds, withoutStackProps(props));
    this.terminationProtection = props.terminationProtection ?? this.events.isProduction;
  }
}

/** A table with a key of your own needs the stack's region, which is the key's. */
function envOf(props: (IncomeEventsProps | WrittenProps) & StackProps): Pick<StackProps, "env"> {
  const region = regionOfKey(props, "written" in props ? props.written : props);
  return region === undefined ? {} : { env: { ...props.env, region: props.env?.region ?? region } };
}

/** The remaining properties are the pipeline's, which refuses unknown ones. */
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
