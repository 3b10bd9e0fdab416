import { legend, palette, svgOf } from "../../scripts/documents/chart.ts";
import type { SimulationResult } from "./simulations.ts";
import type { Sample } from "./summarize.ts";

type Line = { readonly name: string; readonly of: (sample: Sample) => number; readonly color: number };
type Panel = { readonly title: string; readonly lines: readonly Line[] };

const panels: readonly Panel[] = [
  {
    title: "deliveries a second",
    lines: [
      { name: "sent by the provider", of: ({ sentPerSecond }) => sentPerSecond, color: 5 },
      { name: "stored", of: ({ storedPerSecond }) => storedPerSecond, color: 0 },
    ],
  },
  {
    title: "messages",
    lines: [
      { name: "refused, sent again later", of: ({ refused }) => refused, color: 3 },
      { name: "tasks waiting for the provider", of: ({ tasksWaiting }) => tasksWaiting, color: 1 },
      { name: "of these in flight", of: ({ inFlight }) => inFlight, color: 4 },
    ],
  },
  {
    title: "calls a minute",
    lines: [{ name: "made to the provider", of: ({ callsPerMinute }) => callsPerMinute, color: 2 }],
  },
];

const [top, height, gap] = [75, 130, 60];

/** A simulation as three panels over one time, in hours; what is out of the usual is shaded. */
export function simulationChart(
  title: string,
  { samples, disturbance, limitPerMinute }: SimulationResult,
): string {
  const hours = (seconds: number) => Math.round((seconds / 3_600) * 1_000) / 1_000;
  const grids = panels.map((_, index) => ({
    left: 80,
    right: 25,
    top: top + index * (height + gap),
    height,
  }));
  const last = panels.length - 1;
  return svgOf(
    title,
    {
      title: { text: title, left: 10, top: 5, textStyle: { fontSize: 14 } },
      legend: panels.map(({ lines }, index) => ({
        data: lines.map(({ name }) => name),
        itemGap: legend.itemGap,
        right: 40,
        top: top + index * (height + gap) - 31,
      })),
      grid: grids,
      xAxis: panels.map((_, gridIndex) => ({
        type: "value",
        gridIndex,
        max: Math.ceil(hours(samples.at(-1)?.seconds ?? 0)),
        axisLabel: { show: gridIndex === last },
        name: gridIndex === last ? "hours since the beginning" : "",
        nameLocation: "middle",
        nameGap: 28,
      })),
      yAxis: panels.map((panel, gridIndex) => ({
        type: "value",
        gridIndex,
        splitNumber: 3,
        name: panel.title,
        nameTextStyle: { align: "left", padding: [0, 0, 0, -60] },
      })),
      series: panels.flatMap((panel, index) =>
        panel.lines.map(({ name, of, color }, place) => ({
          name,
          type: "line",
          showSymbol: false,
          xAxisIndex: index,
          yAxisIndex: index,
          color: palette[color],
          lineStyle: { width: 1.5 },
          data: samples.map((sample) => [hours(sample.seconds), Math.round(of(sample) * 10) / 10]),
          ...(place === 0 && { markArea: areaOf(disturbance, hours) }),
          ...(index === last && { markLine: limitAt(limitPerMinute) }),
        })),
      ),
    },
    { width: 860, height: top + panels.length * (height + gap) + 5 },
  );
}

function areaOf({ from, to }: SimulationResult["disturbance"], hours: (seconds: number) => number) {
  return {
    silent: true,
    itemStyle: { color: "#f2d9d5" },
    data: [[{ xAxis: hours(from) }, { xAxis: hours(to) }]],
  };
}

function limitAt(perMinute: number) {
  return {
    silent: true,
    symbol: "none",
    lineStyle: { color: "#444", type: "dashed" },
    label: { formatter: "the provider's rate", position: "insideEndTop" },
    data: [{ yAxis: perMinute }],
  };
}
