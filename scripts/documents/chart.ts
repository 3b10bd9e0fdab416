import * as echarts from "echarts";

export type ChartSize = { readonly width: number; readonly height: number };

/** Colours that differ in lightness too, on white: a page's own background may be dark. */
export const palette = [
  "#2b5c8a",
  "#e08e0b",
  "#4a9c6d",
  "#b4442c",
  "#7b5ea7",
  "#8a8a8a",
  "#59b4d6",
  "#5c4a32",
];

/** Where no browser measures texts, they are reckoned too narrow. */
export const legend = { top: 8, left: 10, right: 10, itemGap: 34 };

/** Draws a chart as an SVG, the same text each time. @param title for those who can't see it */
export function svgOf(title: string, option: echarts.EChartsCoreOption, size: ChartSize): string {
  const chart = echarts.init(null, null, { renderer: "svg", ssr: true, ...size });
  chart.setOption({ animation: false, backgroundColor: "#fff", color: palette, ...option });
  const svg = chart.renderToSVGString();
  chart.dispose();
  // Styles are for a pointer over it; their names, as those of clips, count the charts of the process.
  const titled = svg.replace(/(<svg[^>]*>)/, (tag) => `${tag}\n<title>${title}</title>`);
  const plain = titled.replace(/<style[\s\S]*?<\/style>\s*/g, "").replace(/ class="[^"]*"/g, "");
  const clips = [...new Set(plain.match(/zr\d+-c\d+/g))];
  const named = clips.reduce(
    (text, name, index) => text.replace(new RegExp(`${name}(?=[")])`, "g"), `clip-${index}`),
    plain,
  );
  return `${named}\n`;
}
