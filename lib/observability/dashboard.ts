import { Duration } from "aws-cdk-lib";
import {
  Dashboard as CloudWatchDashboard,
  GraphWidget,
  type IWidget,
  LogQueryVisualizationType,
  LogQueryWidget,
  PeriodOverride,
  Row,
  TextWidget,
} from "aws-cdk-lib/aws-cloudwatch";
import { Construct } from "constructs";
import { pipelineName } from "../instance.ts";
import { type DashboardParts, type DashboardRow, dashboardRows } from "./dashboard-rows.ts";

const columns = 24;

/**
 * A dashboard in the order of the data flow. CloudFormation names it, because the dashboards of all regions of an
 * account share one namespace. Source: CloudFormation template reference, "AWS::CloudWatch::Dashboard".
 */
export class Dashboard extends Construct {
  /** An app can add widgets before all subscribers are known. They are shown below the pipeline's own. */
  readonly dashboard: CloudWatchDashboard;
  readonly #below: LaterWidgets;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.#below = new LaterWidgets(this, "Dashboard", {
      defaultInterval: Duration.hours(3),
      periodOverride: PeriodOverride.INHERIT,
    });
    this.dashboard = this.#below;
  }

  show(parts: DashboardParts): void {
    const about = `# ${pipelineName(this)}\nFrom the webhook to the subscriber, row by row. When an alarm goes off: \`docs/operate/runbook.md\`.`;
    const title = new TextWidget({ markdown: about, width: columns, height: 2 });
    this.#below.addOnTop([[title], ...dashboardRows(parts).map(widgetsOf)]);
  }
}

/** Keeps the app's widgets back until those above them are added. */
class LaterWidgets extends CloudWatchDashboard {
  #later: (readonly IWidget[])[] | undefined = [];

  override addWidgets(...widgets: IWidget[]): void {
    if (this.#later === undefined) super.addWidgets(...widgets);
    else this.#later.push(widgets);
  }

  addOnTop(rows: readonly (readonly IWidget[])[]): void {
    const later = this.#later ?? [];
    this.#later = undefined;
    for (const row of [...rows, ...later]) super.addWidgets(...row);
  }
}

function widgetsOf({ heading, text, panels }: DashboardRow): readonly IWidget[] {
  const size = { width: Math.floor(columns / panels.length), height: 6 };
  const graphs = panels.map((panel) =>
    "left" in panel
      ? new GraphWidget({
          ...size,
          title: panel.title,
          left: [...panel.left],
          right: [...(panel.right ?? [])],
          leftYAxis: { min: 0 },
        })
      : new LogQueryWidget({
          ...size,
          title: panel.title,
          view: LogQueryVisualizationType.LINE,
          logGroupNames: [panel.logGroupName],
          queryLines: [...panel.queryLines],
        }),
  );
  return [
    new TextWidget({ markdown: `## ${heading}\n${text}`, width: columns, height: 2 }),
    new Row(...graphs),
  ];
}
