import * as echarts from "echarts";
import type { Row } from "../rows/row.ts";

const [width, rowHeight, margin] = [860, 22, 90];

/** Each ratio with its interval, and the goal that it is held against, as an SVG; left of the line is less than theirs. */
export function plotOf(rows: readonly Row[]): string {
  const points = rows
    .flatMap(({ name, comparisons }) =>
      comparisons
        .filter(({ over }) => over !== "goal")
        .map(({ over, ratio, goal, isMet }) => ({
          label: `${name} over ${over}`,
          ratio,
          goal: Number(goal.slice(2)),
          isMet,
        })),
    )
    .reverse();
  const chart = echarts.init(null, null, {
    renderer: "svg",
    ssr: true,
    width,
    height: points.length * rowHeight + margin,
  });
  chart.setOption({
    animation: false,
    backgroundColor: "#fff",
    grid: { left: 220, right: 30, top: 40, bottom: 40 },
    legend: { top: 5, data: ["goal", "median"] },
    xAxis: { type: "log", logBase: 2, name: "ours over theirs", nameLocation: "middle", nameGap: 25 },
    yAxis: { type: "category", data: points.map(({ label }) => label), axisTick: { show: false } },
    series: [
      {
        name: "interval of 95 %",
        type: "custom",
        data: points.map(({ ratio }, index) => [index, ratio.low, ratio.high]),
        renderItem: (_: unknown, api: IntervalApi) => intervalLine(api),
      },
      {
        name: "goal",
        type: "scatter",
        symbol: "rect",
        symbolSize: [2, 14],
        itemStyle: { color: "#888" },
        data: points.map(({ goal, label }) => [goal, label]),
      },
      {
        name: "median",
        type: "scatter",
        symbolSize: 8,
        data: points.map(({ ratio, label, isMet }) => ({
          value: [ratio.median, label],
          itemStyle: { color: isMet ? "#2a7d4f" : "#b4442c" },
        })),
      },
    ],
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}

/** Of echarts' interface, what a line between two values needs. */
type IntervalApi = {
  readonly value: (dimension: number) => number;
  readonly coord: (point: readonly [number, number]) => readonly [number, number];
};

function intervalLine(api: IntervalApi) {
  const [x1, y1] = api.coord([api.value(1), api.value(0)]);
  const [x2, y2] = api.coord([api.value(2), api.value(0)]);
  return { type: "line", shape: { x1, y1, x2, y2 }, style: { stroke: "#999", lineWidth: 2 } };
}
